"""What the rules of a study put into its lists: stimuli that ask, gold, statements, repeats. Drawn by the seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from beholder.methods.contract import Method, Trial, Units
from beholder.plan.placing.amounts import Amounts
from beholder.plan.placing.attention import Replaced, Replacer
from beholder.plan.placing.clips import ASKING, protected, sample_trial
from beholder.plan.placing.extras import Askers, Golds
from beholder.plan.placing.inserting import Inserter, Maker
from beholder.plan.placing.statements import Statements, bank_of
from beholder.stimuli.catalogue import Catalogue
from beholder.study.checks import Asking, Gold, TrapItem
from beholder.study.model import Study
from beholder.types import Role

_REPLACE, _INSERT, _STATE, _MAKE = 30, 31, 32, 33
"""Streams of chance: whether there is gold changes nothing of where attention is asked for."""


class Placer:
    """Places what the rules need into the lists of one plan."""

    def __init__(self, study: Study, catalogue: Catalogue, method: Method, units: Units, amounts: Amounts) -> None:
        self._study, self._catalogue, self._method, self._units = study, catalogue, method, units
        self._amounts = amounts

    def place(self, lists: Sequence[Sequence[Trial]]) -> Replaced:
        """Return the lists with everything that belongs into them, trials named by their position."""
        placed = self._with_attention(lists)
        inserter, statements = self._inserter(max(len(trials) for trials in lists)), self._statements()
        made = []
        for before, trials in zip(lists, placed.lists, strict=True):
            whole = inserter.put(before, trials) if inserter else trials
            whole = statements.put(whole) if statements else whole
            made.append([_named(trial, position) for position, trial in enumerate(whole, 1)])
        return Replaced(made, placed.conditions, placed.gave_way)

    def _with_attention(self, lists: Sequence[Sequence[Trial]]) -> Replaced:
        rule = self._study.checks.rule("attention")
        if not self._amounts.replaced or not isinstance(rule, Asking):
            return Replaced([list(trials) for trials in lists], {}, {})
        kept = protected(self._study, self._catalogue, self._units, rule)
        replacer = Replacer(self._catalogue, kept, rule, self._rng(_REPLACE))
        return replacer.put(lists, self._amounts.replaced)

    def _inserter(self, trials: int) -> Inserter | None:
        counts = self._amounts.inserted
        if not any(counts.values()):
            return None
        makers = {role: maker for role in counts if counts[role] and (maker := self._maker(role)) is not None}
        return Inserter(trials, makers, counts, counts.get("repeat", 0), self._rng(_INSERT))

    def _maker(self, role: Role) -> Maker | None:
        study, catalogue, method = self._study, self._catalogue, self._method
        rule = study.checks.rule(role)
        if isinstance(rule, Gold):
            return Golds(study, catalogue, method, rule, self._rng(_MAKE, 0))
        if isinstance(rule, Asking):
            sample = sample_trial(study, catalogue, method)
            assert sample is not None, "what has been dealt can be shown"
            askers = Askers(role, study, catalogue, method, rule, sample, self._rng(_MAKE, 1 + ASKING.index(role)))
            return askers if askers.are_any else None
        return None

    def _statements(self) -> Statements | None:
        obvious, again = self._amounts.obvious, self._amounts.again
        if not obvious and not again:
            return None
        rule = self._study.checks.rule("trap_item")
        bank = bank_of(rule, self._study.language) if isinstance(rule, TrapItem) else ()
        return Statements(bank, obvious, again, self._rng(_STATE))

    def _rng(self, *stream: int) -> np.random.Generator:
        return np.random.default_rng([*self._study.draw, *stream])


def _named(trial: Trial, position: int) -> Trial:
    name = f"trial:{position}"
    return trial if trial.id == name else replace(trial, id=name)
