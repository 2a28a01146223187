"""Answers to the questions between trials: during.csv, with the trial that each of them follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from beholder.cleaning import columns as c
from beholder.cleaning.facts import SessionRecord, ShownStimulus
from beholder.columns import Column
from beholder.methods.contract import Trial
from beholder.study.questionnaire import RecurringAsk
from beholder.types import UNRATED_ROLES

PREFIX = "questions:during:"
"""Keys of the pages between trials begin so, and end in the number of the trial that they follow."""

DURING = (
    c.SESSION, c.PARTICIPANT,
    Column("position", "integer", "Place in its list of the trial that it follows, from 1."),
    c.TRIAL, c.CONTENT,
    Column("condition", "text", "The condition of that trial; empty of a check, and where it showed several."),
    Column("question", "text", "Id of the item."),
    Column("time", "integer", "Which answer of this session to this item it is, from 1."),
    Column("answer", "text", "The choice, the place among labels from 1, the number, or what was written; several "
                             "choices as JSON."),
)  # fmt: skip


class RecurringAnswer(NamedTuple):
    """One answer to an item between trials."""

    position: int
    time: int
    """Which answer of its session to this item it is, from 1."""
    ask: RecurringAsk
    answer: Any


def recurring_answers(visit: SessionRecord, during: Sequence[RecurringAsk]) -> Iterator[RecurringAnswer]:
    """Yield the answers of a session to these items, in the order of trials and items."""
    times: Counter[str] = Counter()
    pages = {int(key.removeprefix(PREFIX)): given for key, given in visit.answers.items() if key.startswith(PREFIX)}
    for position in sorted(pages):
        answers: Mapping[str, Any] = pages[position].answer["answers"]
        for ask in during:
            if ask.id in answers:
                times[ask.id] += 1
                yield RecurringAnswer(position, times[ask.id], ask, answers[ask.id])


def during_rows(
    visit: SessionRecord,
    during: Sequence[RecurringAsk],
    stimuli: Mapping[tuple[str, str], ShownStimulus],
) -> Iterator[dict[str, Any]]:
    """Yield the answers of a session as rows of during.csv."""
    for one in recurring_answers(visit, during):
        trial = visit.trials[one.position - 1] if one.position <= len(visit.trials) else None
        yield {
            "session": visit.session,
            "participant": visit.participant,
            "position": one.position,
            "trial": trial.id if trial else None,
            "content": trial.content if trial else None,
            "condition": _condition(trial, visit.digest, stimuli) if trial else None,
            "question": one.ask.id,
            "time": one.time,
            "answer": one.answer,
        }


def _condition(trial: Trial, digest: str, stimuli: Mapping[tuple[str, str], ShownStimulus]) -> str | None:
    """Return the condition that a trial is about; None of a check, and where it is about several."""
    rated = [slot for slot in trial.slots if slot.rated]
    if len(rated) != 1 or rated[0].role in UNRATED_ROLES:
        return None
    return stimuli[digest, rated[0].stimulus].condition
