"""Methods that compare two conditions, and plans for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import cast

from beholder.errors import Problem
from beholder.methods.acr import Acr
from beholder.methods.contract import Generator, Method, Slot, Trial, Unit, Units
from beholder.methods.pairs import pair_units, reference_units
from beholder.methods.parallel import Parallel
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.types import Role


class Compare(Acr):
    """Two stimuli in either order."""

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return Units("pair", pair_units(study, catalogue), 2, "order")

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        slots = tuple(Slot(f"s{n}", s, "test", None, True, None) for n, s in enumerate(unit.stimuli, 1))
        return Trial("-".join(unit.stimuli), unit.content, "rate", slots, self.asked(study), together=True)


class Match(Compare):
    """Two stimuli in either order, then a copy of one of them that stays last."""

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        trial = super().compose(study, unit, catalogue, rng)
        copied = unit.stimuli[int(rng.integers(2))]
        slots = (*trial.slots, Slot("s3", copied, "test", "x", False, None))
        return replace(trial, slots=slots, draws={"same_as": copied})


class Degrade(Compare):
    """The reference, which stays first, then one stimulus."""

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return Units("pair", reference_units(catalogue), 2, "none")

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        reference, test = unit.stimuli
        slots = (
            Slot("s1", reference, "reference", "reference", False, None),
            Slot("s2", test, "test", None, True, None),
        )
        return Trial(test, unit.content, "rate", slots, self.asked(study))


class Board(Parallel):
    """All stimuli of a content, preceded by the explicit reference, and an anchor in every trial."""

    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        return ()

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return replace(super().units(study, catalogue), always=("condition0", "condition2"))

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        reference = catalogue.references[unit.content].id
        hidden: Mapping[str, Role] = {reference: "hidden_reference"}
        slots = [Slot("", s, hidden.get(s, "test"), None, True, None) for s in unit.stimuli]
        shown = Slot("", reference, "reference", "reference", False, None)
        return Trial(unit.content, unit.content, "rate", (shown, *slots), self.asked(study))


compare, match, degrade, board = (cast("Method", kind()) for kind in (Compare, Match, Degrade, Board))


def shown(trial: Trial) -> tuple[str, ...]:
    return tuple(slot.stimulus for slot in trial.slots)
