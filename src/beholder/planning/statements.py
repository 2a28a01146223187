"""Statements that are added to a survey: obviously true or false ones, and repetitions.

They stand on its pages, or come in trials of their own where every statement does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.checks.answer_patterns import Repeat
from beholder.checks.known_answers import TrapItem
from beholder.methods.contract import Asked, Method, Scale, Target, Trial, Unit, Units
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.types import MESSAGE_ROLES
from beholder.words import check_words

APART = 4
"""Places between a statement and its repetition, if there are enough statements."""


class Obvious(NamedTuple):
    """A statement with an obvious answer."""

    name: str
    text: str
    is_true: bool


def bank_of(rule: TrapItem.Options, language: str) -> tuple[Obvious, ...]:
    """Return the obvious statements of a study: its own, or ours."""
    if rule.items:
        return tuple(Obvious(f"trap:{n}", item.text, item.agree) for n, item in enumerate(rule.items, 1))
    texts = check_words(language)[TrapItem.name].items()
    statements = [(text, name.startswith("true.")) for name, text in texts if name.startswith(("true.", "false."))]
    return tuple(Obvious(f"trap:{n}", text, is_true) for n, (text, is_true) in enumerate(statements, 1))


def statements_of(trial: Trial) -> list[Asked]:
    """Return the questions of a trial with categories, on the most frequent scale."""
    asked = [one for one in trial.asked if not one.ticks and one.scale.look == "radio"]
    scale = max((one.scale for one in asked), key=[one.scale for one in asked].count, default=None)
    return [one for one in asked if one.scale == scale]


def single_statements(study: Study, catalogue: Catalogue, method: Method, units: Units) -> list[Asked]:
    """Return the statements of a survey in which each comes in a trial of its own; none of one with pages."""
    unit = next(iter(units.items), None)
    if unit is None or not units.asks:
        return []
    dealt = {name for asks in units.asks for name in asks}
    page = method.compose(study, Unit(unit.content, unit.stimuli), catalogue, np.random.default_rng(0))
    return statements_of(replace(page, asked=tuple(one for one in page.asked if one.question in dealt)))


class Statements:
    """Adds statements to the trials of lists; ids are q1, q2, ... in the order shown."""

    def __init__(self, bank: Sequence[Obvious], obvious: int, repeats: int, rng: Generator) -> None:
        self._bank, self._obvious, self._repeats, self._rng = bank, obvious, repeats, rng

    def put(self, trials: Sequence[Trial]) -> list[Trial]:
        """Return a list with statements in each trial; each statement of the bank is used before one is repeated."""
        bank = _drawn_statements(self._bank, self._rng)
        return [self._with(trial, bank) for trial in trials]

    def _with(self, trial: Trial, bank: Iterator[Obvious]) -> Trial:
        asked, targets = list(trial.asked), dict[str, Target]()
        statements = statements_of(trial)
        if not statements:
            return trial
        scale = statements[0].scale
        for _ in range(self._obvious):
            one = next(bank)
            place = int(self._rng.integers(len(asked) + 1))
            asked.insert(place, Asked("", one.name, TrapItem.purpose, one.text, scale))
            targets[one.name] = _target(scale, is_true=one.is_true)
        for _ in range(self._repeats):
            _repeat(asked, statements, self._rng)
        return _with_questions(trial, asked, targets)


def _drawn_statements(bank: Sequence[Obvious], rng: Generator) -> Iterator[Obvious]:
    """Yield the bank repeatedly in new orders, true and false ones in equal parts as long as there are both."""
    while True:
        piles = [[one for one in bank if one.is_true == is_true] for is_true in (True, False)]
        piles = [[pile[place] for place in rng.permutation(len(pile))] for pile in piles]
        while any(piles):
            for turn in rng.permutation(2):
                if piles[turn]:
                    yield piles[turn].pop()


def _repeat(asked: list[Asked], statements: Sequence[Asked], rng: Generator) -> None:
    """Repeat a statement that was not repeated yet, somewhere after its first place."""
    repeated = {one.question for one in asked if one.purpose == Repeat.purpose}
    names = {one.question for one in statements if f"repeat:{one.question}" not in repeated}
    places = [place for place, one in enumerate(asked) if one.purpose == "ask" and one.question in names]
    far = [place for place in places if place + APART <= len(asked)]
    if not places:
        return
    first = far[int(rng.integers(len(far)))] if far else places[0]
    last = int(rng.integers(first + APART, len(asked) + 1)) if far else len(asked)
    one = asked[first]
    asked.insert(last, one._replace(question=f"repeat:{one.question}", purpose=Repeat.purpose))


def _with_questions(trial: Trial, asked: Sequence[Asked], obvious: dict[str, Target]) -> Trial:
    """Return the trial with these questions, and its targets under the new ids."""
    shown = tuple(one._replace(id=f"q{place}") for place, one in enumerate(asked, 1))
    new_ids = {before.id: after.id for before, after in zip(asked, shown, strict=True) if before.purpose == "ask"}
    targets = {}
    for where, target in trial.targets.items():
        name, _, slot = where.partition(".")
        targets[f"{new_ids[name]}.{slot}"] = target
    rated = [slot for slot in trial.slots if slot.rated]
    # A message stimulus asks for one answer everywhere, here as well: then these are not checked.
    if not any(slot.role in MESSAGE_ROLES for slot in rated):
        targets |= {f"{one.id}.{slot.id}": obvious[one.question] for one in shown for slot in rated
                    if one.purpose == TrapItem.purpose}  # fmt: skip
    return replace(trial, asked=shown, targets=targets)


def _target(scale: Scale, *, is_true: bool) -> Target:
    """Return the answer to an obvious statement: everything on its side of the middle is right."""
    steps = np.ceil((scale.max - scale.min) / (2 * scale.step) - 1e-9) - 1
    return Target(scale.max if is_true else scale.min, float(steps) * scale.step, "", True)


# Trials of their own


class ObviousTrials:
    """Makes trials that ask an obvious statement about a stimulus of the list, all of its stimuli equally often."""

    def __init__(self, bank: Sequence[Obvious], scale: Scale, rng: Generator) -> None:
        self._bank, self._scale, self._rng = bank, scale, rng
        self._statements: Iterator[Obvious] = iter(())
        self._trials: dict[str, Trial] = {}
        self._times: dict[str, int] = {}

    def begin(self, trials: Sequence[Trial]) -> None:
        """Begin another list: each statement of the bank is used before one is repeated in it."""
        self._statements = _drawn_statements(self._bank, self._rng)
        self._trials = {slot.stimulus: trial for trial in trials for slot in trial.slots if slot.rated}
        self._times = dict.fromkeys(self._trials, 0)

    def fits(self, neighbours: Collection[str]) -> bool:
        """Return whether the next trial can be of a content that is not in `neighbours`."""
        return any(self._trials[name].content not in neighbours for name in self._due())

    def make(self, shown: Collection[str], neighbours: Collection[str]) -> Trial:
        """Return a trial; preferably not of a content in `neighbours`."""
        due = [name for name in self._due() if self._trials[name].content not in neighbours] or self._due()
        name = due[int(self._rng.integers(len(due)))]
        self._times[name] += 1
        trial, statement = self._trials[name], next(self._statements)
        asked = Asked("q1", statement.name, TrapItem.purpose, statement.text, self._scale)
        target = _target(self._scale, is_true=statement.is_true)
        return replace(
            trial,
            slots=tuple(slot._replace(role=TrapItem.role) if slot.rated else slot for slot in trial.slots),
            asked=(asked,),
            targets={f"{asked.id}.{slot.id}": target for slot in trial.slots if slot.rated},
        )

    def _due(self) -> list[str]:
        """Return the stimuli that came least often so far."""
        least = min(self._times.values())
        return [name for name, times in self._times.items() if times == least]
