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
_WATCHED = ("plays", "watched_ms", "coverage", "furthest_ms")
_PLAYED = (
    "duration_ms", "played_ms", "whole_ms", "ended_ms", "stalls", "stalled_ms", "dropped", "frames", "blurs", "away",
    "errors", "changes",
)  # fmt: skip
_PAGE = ("skew_ms", "first_ms", "exits", "blurs", "changes")
_PAGE_ENTRY = "page"


def playback_lines(visits: Sequence[Visit], stimuli: Mapping[tuple[str, str], Shown]) -> Iterator[Sequence[Any]]:
    """Yield one line for each slot of each trial that was answered, in the order shown."""
    for visit in visits:
        for position, given in trial_answers(visit):
            trial, page = visit.trials[position - 1], _page(given)
            for slot in trial.slots:
                shown = stimuli[visit.digest, slot.stimulus]
                get = (given.playback.get(slot.id) or {}).get
                yield (
                    visit.session, visit.participant, position, trial.id, slot.id, slot.label, slot.colour, slot.rated,
                    slot.role, shown.content, shown.condition, slot.stimulus, *map(get, _WATCHED), shown.length_ms,
                    *map(get, _PLAYED), *_size(get("displayed")), trial.together, *page,
                )  # fmt: skip


def _page(given: Given) -> Sequence[Any]:
    """Return what is of the page and not of one of its slots."""
    get = (given.playback.get(_PAGE_ENTRY) or {}).get
    return (*map(get, _PAGE), *_size(get("viewport")), *_size(get("screen")), get("dpr"), given.input)


def _size(size: Sequence[int] | None) -> Sequence[int | None]:
    width, height = size or (None, None)
    return width, height
