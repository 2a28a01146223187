"""Files beside the store that name people by their ids: a platform or a payment needs them, and they are not ours."""

from __future__ import annotations

from beholder.study.model import Study

_WRITTEN = ("launch/links.csv", "pay/payments.csv", "pay/by_hand.csv")


def names_aside(study: Study) -> tuple[str, ...]:
    """Return in words which files name people and are still there; nothing where there are none."""
    named = [*_WRITTEN, *filter(None, (study.recruit.people, study.recruit.block))]
    there = [name for name in named if (study.folder / name).is_file()]
    return (f"These files name people too, and are yours to delete: {', '.join(there)}.",) if there else ()
