"""Placing checks into allocated lists: attention stimuli, check trials between the rated ones, and statements."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.random import Generator

from beholder.checks.answer_patterns import Repeat
from beholder.checks.known_answers import Attention, Gold, MessageRule, TrapItem
from beholder.methods.contract import Asked, Method, Trial, Units
from beholder.planning.attention import Replacement, Replacer
from beholder.planning.check_counts import CheckCounts
from beholder.planning.check_trials import EvenDraw, GoldTrialMaker, MessageTrialMaker, Repeater
from beholder.planning.message_trials import protected_conditions, sample_trial
from beholder.planning.statements import ObviousTrials, Statements, bank_of, single_statements
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.types import MESSAGE_ROLES, CheckRole, Role

_REPLACE, _INSERT, _STATE, _MAKE = 30, 31, 32, 33
"""Random streams: gold trials do not change where attention stimuli are placed."""


class Placer:
    """Places the checks of a study into the lists of one plan."""

    def __init__(self, study: Study, catalogue: Catalogue, method: Method, units: Units, counts: CheckCounts) -> None:
        self._study, self._catalogue, self._method, self._units = study, catalogue, method, units
        self._counts = counts

    def place(self, lists: Sequence[Sequence[Trial]]) -> Replacement:
        """Return the lists with all checks, trials named by their position."""
        placed = self._with_attention(lists)
        inserter, statements = self._inserter(max(len(trials) for trials in lists)), self._statements()
        complete = []
        for before, trials in zip(lists, placed.lists, strict=True):
            full = inserter.put(before, trials) if inserter else trials
            full = statements.put(full) if statements else full
            complete.append([_with_id(trial, position) for position, trial in enumerate(full, 1)])
        return Replacement(complete, placed.conditions, placed.stimuli)

    def _with_attention(self, lists: Sequence[Sequence[Trial]]) -> Replacement:
        rule = self._study.checks.of(Attention.Options)
        if not self._counts.replaced or rule is None:
            return Replacement([list(trials) for trials in lists], {}, {})
        kept = protected_conditions(self._study, self._catalogue, self._units, rule)
        replacer = Replacer(self._catalogue, kept, rule, self._rng(_REPLACE))
        return replacer.put(lists, self._counts.replaced)

    def _inserter(self, trials: int) -> Inserter | None:
        counts = self._counts.inserted
        if not any(counts.values()):
            return None
        makers = {role: maker for role in counts if counts[role] and (maker := self._maker(role)) is not None}
        repeat = self._study.checks.of(Repeat.Options)
        statements = [one.question for one in self._single_statements()] if repeat and repeat.items_per_trial else []
        return Inserter(trials, makers, counts, counts.get(Repeat.role, 0), self._rng(_INSERT), statements)

    def _maker(self, role: CheckRole) -> CheckTrialMaker | None:
        study, catalogue, method = self._study, self._catalogue, self._method
        rule = study.checks.of_role(role)
        if isinstance(rule, Gold.Options):
            return GoldTrialMaker(study, catalogue, method, rule, self._rng(_MAKE, 0))
        if isinstance(rule, MessageRule.Options):
            sample = sample_trial(study, catalogue, method)
            assert sample is not None, "allocated trials can be composed"
            messages = MessageTrialMaker(
                role,
                study,
                catalogue,
                method,
                rule,
                sample,
                self._rng(_MAKE, 1 + list[Role](MESSAGE_ROLES).index(role)),
            )
            return messages if messages.are_any else None
        if isinstance(rule, TrapItem.Options):
            (scale, *_) = (one.scale for one in self._single_statements())
            return ObviousTrials(bank_of(rule, study.language), scale, self._rng(_STATE))
        return None

    def _single_statements(self) -> list[Asked]:
        return single_statements(self._study, self._catalogue, self._method, self._units)

    def _statements(self) -> Statements | None:
        obvious, repeated = self._counts.obvious, self._counts.repeated
        if not obvious and not repeated:
            return None
        rule = self._study.checks.of(TrapItem.Options)
        bank = bank_of(rule, self._study.language) if rule is not None else ()
        return Statements(bank, obvious, repeated, self._rng(_STATE))

    def _rng(self, *stream: int) -> np.random.Generator:
        return np.random.default_rng([*self._study.seeds, *stream])


class CheckTrialMaker(Protocol):
    """Makes trials of one role, one after the other."""

    def make(self, shown: Collection[str], neighbours: Collection[str]) -> Trial: ...


class Inserter:
    """Inserts check trials, at most one between two rated trials: never first, last, or next to another."""

    def __init__(
        self,
        trials: int,
        makers: Mapping[CheckRole, CheckTrialMaker],
        counts: Mapping[CheckRole, int],
        repeats: int,
        rng: Generator,
        statements: Collection[str] = (),
    ) -> None:
        self._makers, self._counts, self._repeats = makers, counts, repeats
        # Each role comes in each place equally often.
        self._gaps = {role: EvenDraw(range(trials - 1), rng) for role in makers}
        self._repeater = Repeater(trials, rng, statements)

    def put(self, before: Sequence[Trial], trials: Sequence[Trial]) -> list[Trial]:
        """Return a list with its check trials; repetitions show trials as they were `before` attention stimuli."""
        # Repeated trials first: they have fewer places to choose from.
        inserted = self._repeater.make(before, trials, self._repeats)
        last = len(trials) - 2
        shown = {slot.stimulus for trial in trials for slot in trial.slots}
        for role, maker in self._makers.items():
            obvious = maker if isinstance(maker, ObviousTrials) else None
            if obvious:
                obvious.begin(trials)

            def faults(gap: int, obvious: ObviousTrials | None = obvious) -> int | None:
                if gap in inserted or gap > last:
                    return None
                return int(obvious is not None and not obvious.fits(_contents_at(trials, gap)))

            for _ in range(self._counts[role]):
                gap = self._gaps[role].draw(faults)
                assert gap is not None, "a list is only promised what it has room for"
                check_trial = maker.make(shown, _contents_at(trials, gap))
                shown.update(slot.stimulus for slot in check_trial.slots)
                inserted[gap] = check_trial
        return [
            one for gap, trial in enumerate(trials) for one in (trial, *([inserted[gap]] if gap in inserted else []))
        ]


def _contents_at(trials: Sequence[Trial], gap: int) -> set[str]:
    """Return the contents of the trials before and after a place."""
    return {trials[gap].content, trials[gap + 1].content}


def _with_id(trial: Trial, position: int) -> Trial:
    name = f"trial:{position}"
    return trial if trial.id == name else replace(trial, id=name)
