"""playback.csv: how every slot of every answered trial played, rated or not. loops.csv: the parts that were looped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from beholder.cleaning import columns as c
from beholder.cleaning.facts import AnswerRecord, SessionRecord, ShownStimulus, trial_answers
from beholder.columns import Column, names_of
from beholder.study.model import Study

_WATCHED = (
    Column("plays", "integer", "How often it was begun from the start; rounds of a loop do not count."),
    Column("watched_ms", "number", "How long it was played in all."),
    Column("coverage", "number", "Share of it that was played at least once, 0 to 1."),
    Column("furthest_ms", "number", "The latest moment that was reached."),
)
_PLAYED = (
    Column("duration_ms", "number", "Its length as the browser decodes it."),
    Column("played_ms", "number", "How long the last whole play took by the clock, stalls included."),
    Column("whole_ms", "number", "How long the first whole play took."),
    Column("ended_ms", "number", "When, since the page was shown, it first came to its end."),
    Column("stalls", "integer", "How often it halted for data."),
    Column("stalled_ms", "number", "The longest halt: in the calmest whole play or, where there is none, in all."),
    Column("dropped", "integer", "Frames that were dropped."),
    Column("frames", "integer", "Frames that were drawn."),
    Column("blurs", "integer", "How often the window was left while it played."),
    Column(
        "away",
        "integer",
        "How often window or full screen was left while it played, until it was played whole without that.",
    ),
    Column("errors", "integer", "Failures to load or decode."),
    Column("changes", "integer", "How often an answer about it was changed."),
)
_PAGE = {
    "skew_ms": Column(
        "skew_ms", "number", "How far the slots of the page were apart at most, where they play on one clock."
    ),
    "first_ms": Column("first_ms", "number", "Of the page: time to the first action."),
    "exits": Column("exits", "integer", "Of the page: how often full screen was left."),
    "blurs": Column("page_blurs", "integer", "Of the page: how often the window was left."),
    "changes": Column("page_changes", "integer", "Of the page: changes of answers that belong to no single slot."),
}
"""What the evidence of a page holds, by its name there."""
PLAYBACK = (
    c.SESSION, c.PARTICIPANT, c.POSITION, c.TRIAL, c.SLOT,
    Column("label", "text", "Its letter or name on the page."),
    Column("colour", "text", "Its colour on the page."),
    Column("rated", "boolean", "Whether it was to be rated."),
    c.ROLE, c.CONTENT, c.CONDITION, c.STIMULUS,
    *_WATCHED,
    Column("length_ms", "number", "Its length by our probe; of images and texts, how long they must be in view."),
    *_PLAYED,
    Column("displayed_width", "number", "Its width on the page, in CSS pixels."),
    Column("displayed_height", "number", "Its height on the page, in CSS pixels."),
    Column("together", "boolean", "Whether all slots of the page played at once, on one clock."),
    *_PAGE.values(),
    Column("viewport_width", "number", "Of the page: width of the window, in CSS pixels."),
    Column("viewport_height", "number", "Of the page: height of the window, in CSS pixels."),
    Column("screen_width", "number", "Of the page: width of the screen, in CSS pixels."),
    Column("screen_height", "number", "Of the page: height of the screen, in CSS pixels."),
    Column("dpr", "number", "Of the page: device pixels per CSS pixel."),
    c.INPUT,
)  # fmt: skip
INTERRUPTED = Column(
    "interrupted",
    "integer",
    "Of the page, only with `stage: separate`: how often what played there did not come to its end, as when it was "
    "lost.",
)
"""The column that a study with `stage: separate` has beside the others."""
_PAGE_ENTRY = "page"


def playback_columns(study: Study) -> tuple[Column, ...]:
    """Return the columns of playback.csv."""
    return PLAYBACK if study.stage == "same" else (*PLAYBACK, INTERRUPTED)


def playback_lines(
    visits: Sequence[SessionRecord], stimuli: Mapping[tuple[str, str], ShownStimulus], *, is_apart: bool = False
) -> Iterator[Sequence[Any]]:
    """Yield one line for each slot of each trial that was answered, in the order shown.

    `is_apart`: with the column that only a study with a separate stage has.
    """
    watched, played = names_of(_WATCHED), names_of(_PLAYED)
    for visit in visits:
        for position, given in trial_answers(visit):
            trial, page = visit.trials[position - 1], _page(given)
            if is_apart:
                page = (*page, (given.playback.get(_PAGE_ENTRY) or {}).get(INTERRUPTED.name))
            for slot in trial.slots:
                shown = stimuli[visit.digest, slot.stimulus]
                get = (given.playback.get(slot.id) or {}).get
                yield (
                    visit.session, visit.participant, position, trial.id, slot.id, slot.label, slot.colour, slot.rated,
                    slot.role, shown.content, shown.condition, slot.stimulus, *map(get, watched), shown.length_ms,
                    *map(get, played), *_size(get("displayed")), trial.together, *page,
                )  # fmt: skip


def _page(given: AnswerRecord) -> Sequence[Any]:
    """Return what is of the page and not of one of its slots."""
    get = (given.playback.get(_PAGE_ENTRY) or {}).get
    return (*map(get, _PAGE), *_size(get("viewport")), *_size(get("screen")), get("dpr"), given.input)


def _size(size: Sequence[int] | None) -> Sequence[int | None]:
    width, height = size or (None, None)
    return width, height


# loops.csv: only of studies in which somebody looped a part


LOOPS = (
    c.SESSION, c.PARTICIPANT, c.POSITION, c.TRIAL, c.CONTENT,
    Column("number", "integer", "Which part of the page it is, from 1, in the order in which they were first played."),
    Column("from_ms", "number", "Where it begins."),
    Column("to_ms", "number", "Where it ends."),
)  # fmt: skip


def loop_rows(visits: Sequence[SessionRecord]) -> Iterator[dict[str, Any]]:
    """Yield one row for each part that was looped on a page of an answered trial."""
    for visit in visits:
        for position, given in trial_answers(visit):
            trial = visit.trials[position - 1]
            parts = (given.playback.get(_PAGE_ENTRY) or {}).get("loops") or ()
            for number, (start, end) in enumerate(parts, 1):
                yield {
                    "session": visit.session,
                    "participant": visit.participant,
                    "position": position,
                    "trial": trial.id,
                    "content": trial.content,
                    "number": number,
                    "from_ms": start,
                    "to_ms": end,
                }


def loop_counts(visits: Sequence[SessionRecord]) -> dict[str, float]:
    """Return on how many answered pages a part was looped, of how many, and how long these parts were (median)."""
    rows = list(loop_rows(visits))
    if not rows:
        return {}
    pages = {(row["session"], row["position"]) for row in rows}
    return {
        "pages": len(pages),
        "of": sum(len(trial_answers(visit)) for visit in visits),
        "median_ms": median(row["to_ms"] - row["from_ms"] for row in rows),
    }
