"""How everything played: one row for each session, trial and slot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beholder.clean.facts import Given, Shown, Visit
from beholder.clean.seen import trial_answers

COLUMNS = (
    "session", "participant", "position", "trial", "slot", "label", "colour", "rated", "role", "content", "condition",
    "stimulus", "plays", "watched_ms", "coverage", "furthest_ms", "length_ms", "duration_ms", "played_ms", "whole_ms",
    "ended_ms", "stalls", "stalled_ms", "dropped", "frames", "blurs", "away", "errors", "changes", "displayed_width",
    "displayed_height", "together", "skew_ms", "first_ms", "exits", "page_blurs", "page_changes", "viewport_width",
    "viewport_height", "screen_width", "screen_height", "dpr", "input",
)  # fmt: skip
_SLOT = (
    "plays", "watched_ms", "coverage", "furthest_ms", "duration_ms", "played_ms", "whole_ms", "ended_ms", "stalls",
    "stalled_ms", "dropped", "frames", "blurs", "away", "errors", "changes",
)  # fmt: skip
_PAGE = {
    "skew_ms": "skew_ms", "first_ms": "first_ms", "exits": "exits", "blurs": "page_blurs", "changes": "page_changes",
    "dpr": "dpr",
}  # fmt: skip
_PAGE_ENTRY = "page"


def playback_rows(visits: Sequence[Visit], stimuli: Mapping[tuple[str, str], Shown]) -> Iterator[dict[str, Any]]:
    """Yield one row for each slot of each trial that was answered, in the order shown."""
    for visit in visits:
        for position, given in trial_answers(visit):
            trial = visit.trials[position - 1]
            page = _page(given)
            for slot in trial.slots:
                shown = stimuli[visit.digest, slot.stimulus]
                played = given.playback.get(slot.id) or {}
                yield {
                    "session": visit.session,
                    "participant": visit.participant,
                    "position": position,
                    "trial": trial.id,
                    "slot": slot.id,
                    "label": slot.label,
                    "colour": slot.colour,
                    "rated": slot.rated,
                    "role": slot.role,
                    "content": shown.content,
                    "condition": shown.condition,
                    "stimulus": slot.stimulus,
                    "length_ms": shown.length_ms,
                    "together": trial.together,
                    **{name: played.get(name) for name in _SLOT},
                    **_size("displayed", played.get("displayed")),
                    **page,
                }


def _page(given: Given) -> dict[str, Any]:
    """Return what is of the page and not of one of its slots."""
    facts = given.playback.get(_PAGE_ENTRY) or {}
    return {
        **{column: facts.get(name) for name, column in _PAGE.items()},
        **_size("viewport", facts.get("viewport")),
        **_size("screen", facts.get("screen")),
        "input": given.input,
    }


def _size(name: str, size: Sequence[int] | None) -> dict[str, int | None]:
    width, height = size or (None, None)
    return {f"{name}_width": width, f"{name}_height": height}
