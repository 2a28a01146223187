"""Time marks: marks.csv, and viewings.csv with everything that could be marked, whether anybody marked it or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beholder.cleaning import columns as c
from beholder.cleaning.facts import Facts, ShownStimulus, trial_answers
from beholder.cleaning.playback import PLAYBACK
from beholder.cleaning.sessions import JudgedSession
from beholder.columns import Column, pick
from beholder.methods.contract import Slot
from beholder.methods.time_marks import markable_slots, marking

_KEPT = Column("kept", "boolean", "Whether it is analysed: as the ratings of this stimulus on this page are.")
_PLACE = (c.SESSION, c.PARTICIPANT, c.POSITION, c.TRIAL, c.CONTENT, c.CONDITION, c.STIMULUS, c.ROLE, c.SLOT)
MARKS = (
    *_PLACE,
    Column("ms", "integer", "Where in the clip, in milliseconds from its beginning; reaction time is not taken off."),
    Column("label", "text", "What the mark says; `mark` where the study has no labels."),
    _KEPT,
)
VIEWINGS = (
    *_PLACE,
    Column("length_ms", "number", "The length of the clip."),
    *pick(PLAYBACK, "watched_ms"),
    Column("marks", "integer", "How many marks it got; 0 where nothing was marked."),
    _KEPT,
)


def has_marks(facts: Facts) -> bool:
    """Return whether anybody could mark anything in these sessions."""
    return any(marking(trial) is not None for visit in facts.visits for trial in visit.trials)


def mark_rows(
    judged: Sequence[JudgedSession], stimuli: Mapping[tuple[str, str], ShownStimulus]
) -> Iterator[dict[str, Any]]:
    """Yield the marks as rows of marks.csv, in the order of sessions, trials, slots and time."""
    for place, given, _ in _viewings(judged, stimuli):
        for mark in given:
            yield {**place, "ms": mark["ms"], "label": mark["label"]}


def viewing_rows(
    judged: Sequence[JudgedSession], stimuli: Mapping[tuple[str, str], ShownStimulus]
) -> Iterator[dict[str, Any]]:
    """Yield a row of viewings.csv for each stimulus of an answered trial that could be marked."""
    for place, given, played in _viewings(judged, stimuli):
        yield {**place, **played, "marks": len(given)}


def _viewings(
    judged: Sequence[JudgedSession], stimuli: Mapping[tuple[str, str], ShownStimulus]
) -> Iterator[tuple[dict[str, Any], list[Any], dict[str, Any]]]:
    """Yield what was shown in each slot that could be marked, with its marks; what would not play is left out."""
    for one in judged:
        visit, used = one.visit, {(rating.position, rating.slot) for rating in one.ratings if rating.use}
        for position, given in trial_answers(visit):
            trial = visit.trials[position - 1]
            if marking(trial) is None or not isinstance(given.answer, Mapping):
                continue
            missing, marks = given.answer.get("missing", {}), given.answer.get("marks", ())
            for name in markable_slots(trial):
                if name in missing:
                    continue
                slot = trial.slot_by_id[name]
                shown = stimuli[visit.digest, slot.stimulus]
                place = {
                    "session": visit.session, "participant": visit.participant, "position": position,
                    "trial": trial.id, "content": shown.content, "condition": shown.condition,
                    "stimulus": slot.stimulus, "role": slot.role, "slot": name,
                    "kept": _is_kept(one, position, slot, used),
                }  # fmt: skip
                watched = (given.playback.get(name) or {}).get("watched_ms")
                yield (
                    place,
                    [mark for mark in marks if mark["slot"] == name],
                    {"length_ms": shown.length_ms, "watched_ms": watched},
                )


def _is_kept(one: JudgedSession, position: int, slot: Slot, used: set[tuple[int, str]]) -> bool:
    """Return whether marks in a slot are analysed: where it is not rated, as the session is."""
    return (position, slot.id) in used if slot.rated else one.decision.use
