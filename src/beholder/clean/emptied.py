"""Sessions of which nothing is left: every rating was left out for what happened in its own trial."""

from __future__ import annotations

from dataclasses import replace

from beholder.clean.decide import NOTHING_LEFT
from beholder.clean.sessions import Judged


def without_emptied(judged: list[Judged]) -> list[Judged]:
    """Return the sessions; one without a single rating in use is not used, so that nobody is counted for nothing."""
    return [_emptied(one) if _is_emptied(one) else one for one in judged]


def _is_emptied(one: Judged) -> bool:
    return one.decision.use and not any(row.use and row.value is not None for row in one.ratings)


def _emptied(one: Judged) -> Judged:
    before = one.decision
    decision = replace(before, use=False, reasons=(*before.reasons, NOTHING_LEFT), costly=(NOTHING_LEFT,))
    ratings = tuple(row._replace(use=False, reasons=NOTHING_LEFT) if row.use else row for row in one.ratings)
    return replace(one, decision=decision, ratings=ratings)
