"""How the ratings of one person compare with those of all others so far: what the last page can show of them.

Nothing of it is sent before the last answer of a person, and nothing of it has a name: neither of a condition nor of
a stimulus.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from beholder.methods.contract import Trial, all_questions
from beholder.server.attempts import last_answer
from beholder.server.flow import answers_of
from beholder.server.script import Script, ServedStudy
from beholder.store.contract import SessionFacts, Store
from beholder.study.markdown import marked
from beholder.study.recruitment import is_person
from beholder.types import UNRATED_ROLES, Json

_FEWEST_OTHERS = 5
"""A mean of fewer others is not shown: it would tell what somebody answered."""
_FEWEST_COMPARISONS = 5
"""Of fewer comparisons of two stimuli no share is shown."""
_FRESH = timedelta(minutes=1)
"""So long the results of the others are shown as they were gathered."""


class _RatedStimulus(NamedTuple):
    """What was rated: a question, a stimulus, and of a comparison the other one."""

    question: str
    stimulus: str
    other: str


class _OwnRating(NamedTuple):
    """One rating as it was given."""

    rated: _RatedStimulus
    value: float
    is_turned: bool
    """Whether the two of a comparison stood the other way round than in `rated`."""
    limits: tuple[float, float]


class _Compared(NamedTuple):
    """A rating of the person, and the mean of the others."""

    rating: _OwnRating
    mean: float


class CrowdResults:
    """The ratings of all who have finished, gathered anew at most once a minute; those of people and robots apart."""

    def __init__(self, served: ServedStudy, store: Store) -> None:
        self._served, self._store = served, store
        self._gathering = asyncio.Lock()
        self._gathered_at: datetime | None = None
        self._forget()

    def _forget(self) -> None:
        self._sessions: dict[str, bool] = {}
        self._values: dict[tuple[bool, _RatedStimulus], dict[str, float]] = defaultdict(dict)

    async def compared(self, facts: SessionFacts, script: Script, now: datetime) -> Json:
        """Return how a session compares with the others, as the study wants it shown."""
        wanted = self._served.study.ending
        await self._gather(now)
        pairs = [
            _Compared(rating, mean)
            for rating in self._ratings(facts, script)
            if (mean := self._mean_of_others(rating, facts)) is not None
        ]
        shown: dict[str, Json] = {}
        if wanted.agreement:
            shown["agreement"] = _agreement(pairs)
        if wanted.crowd:
            shown["questions"] = self._by_question(pairs)
        return shown

    async def _gather(self, now: datetime) -> None:
        """Add the sessions that were finished since; begin again where one of them was erased."""
        async with self._gathering:
            if self._gathered_at is not None and now - self._gathered_at < _FRESH:
                return
            self._gathered_at = now
            erased = {row["session"] async for row in self._store.rows("erasures")}
            if erased & self._sessions.keys():
                self._forget()
            ends = [row["session"] async for row in self._store.rows("ends") if row["outcome"] == "completed"]
            for session in ends:
                if session in self._sessions or session in erased:
                    continue
                facts = await self._store.session_facts(session)
                if facts is None or facts.list is None or facts.session.run != self._served.study.run:
                    continue
                if facts.list <= len(self._served.lists):  # else of lists that were added and are not read yet
                    self._add(facts, self._served.script(facts.list))

    def _add(self, facts: SessionFacts, script: Script) -> None:
        population = is_person(facts.session.mode)
        self._sessions[facts.session.session] = population
        for rating in self._ratings(facts, script):
            value = -rating.value if rating.is_turned else rating.value
            self._values[population, rating.rated][facts.session.participant] = value

    def _ratings(self, facts: SessionFacts, script: Script) -> Iterator[_OwnRating]:
        """Yield the ratings of a session; without those of checks and of stimuli that are the person's own."""
        questions = {one.id for one in all_questions(self._served.study, self._served.method)}
        answers = answers_of(facts)
        person = self._served.bound.get(facts.list or 0)
        own = person.relations if person is not None else {}
        for step in script.steps:
            if step.trial is not None and any(slot.stimulus in own for slot in step.trial.slots):
                continue  # what somebody sees of themselves is held against nobody's
            answer = last_answer(answers, step.key) if step.is_rated and step.trial is not None else None
            if step.trial is None or not isinstance(answer, Mapping):
                continue
            for one in self._served.method.judgements(step.trial, answer):
                stimuli = _stimuli(step.trial, [one.slot, *([one.other_slot] if one.other_slot else [])])
                if one.question in questions and one.value is not None and stimuli:
                    rated = _RatedStimulus(one.question, *sorted(stimuli), *([] if one.other_slot else [""]))
                    limits = (one.scale_min, one.scale_max)
                    yield _OwnRating(rated, one.value, stimuli[0] != rated.stimulus, limits)

    def _mean_of_others(self, rating: _OwnRating, facts: SessionFacts) -> float | None:
        values = self._values.get((is_person(facts.session.mode), rating.rated), {})
        others = [value for participant, value in values.items() if participant != facts.session.participant]
        if len(others) < _FEWEST_OTHERS:
            return None
        return -fmean(others) if rating.is_turned else fmean(others)

    def _by_question(self, pairs: Sequence[_Compared]) -> Json:
        """Return the ratings of each question beside the means of the others, the highest mean first."""
        shown: list[Json] = []
        for question in all_questions(self._served.study, self._served.method):
            own = [one for one in pairs if one.rating.rated.question == question.id]
            if own:
                low, high = own[0].rating.limits
                rows: list[Json] = [list(row) for row in sorted(map(_row, own), key=lambda row: -row[1])]
                is_compared = bool(own[0].rating.rated.other)
                shown.append(
                    {"text": marked(question.text), "min": low, "max": high, "compared": is_compared, "rows": rows}
                )
        return shown


def _row(one: _Compared) -> tuple[float, float]:
    """Return the rating of the person and the mean of the others; of a comparison above zero for what the person chose.

    Which of the two that is, and on which side a condition stands in our tables, is not told by that.
    """
    value, mean = one.rating.value, round(one.mean, 2)
    if not one.rating.rated.other:
        return value, mean
    return abs(value), mean if value > 0 else -mean if value < 0 else abs(mean)


def _stimuli(trial: Trial, slots: Sequence[str]) -> list[str]:
    """Return the stimuli of these slots; none where one of them is of a check."""
    by_id = {slot.id: slot for slot in trial.slots}
    named = [by_id[slot] for slot in slots]
    return [] if any(slot.role in UNRATED_ROLES for slot in named) else [slot.stimulus for slot in named]


def _agreement(pairs: Sequence[_Compared]) -> Json:
    """Return in how many of 100 comparisons of two stimuli person and others agree; None of too few.

    Of scores, every two stimuli of a question that both tell apart are one comparison; of comparisons, each is one.
    """
    agreed: list[bool] = []
    scored: dict[str, list[_Compared]] = defaultdict(list)
    for one in pairs:
        if not one.rating.rated.other:
            scored[one.rating.rated.question].append(one)
        elif one.rating.value and one.mean:
            agreed.append((one.rating.value > 0) == (one.mean > 0))
    for own in scored.values():
        for first, second in combinations(own, 2):
            mine, theirs = first.rating.value - second.rating.value, first.mean - second.mean
            if mine and theirs:
                agreed.append((mine > 0) == (theirs > 0))
    return round(100 * fmean(agreed)) if len(agreed) >= _FEWEST_COMPARISONS else None
