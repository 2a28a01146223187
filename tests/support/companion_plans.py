"""Methods that show each content with its reference, or each stimulus once for each question."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from beholder.methods.acr import Acr
from beholder.methods.contract import Generator, Method, Trial, Unit, Units
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from beholder.types import Role
from support.plans import make_catalogue


class WithReference(Acr):
    """One stimulus at a time, the reference of each content among them."""

    apart = 2

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        companions = {
            stimulus.id: (catalogue.references[stimulus.content].id,)
            for stimulus in catalogue.stimuli
            if stimulus.role != "reference"
        }
        return replace(super().units(study, catalogue), companions=companions, apart=self.apart)

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        trial = super().compose(study, unit, catalogue, rng)
        is_reference = catalogue.by_id[unit.stimuli[0]].role == "reference"
        role: Role = "hidden_reference" if is_reference else "test"
        return replace(trial, slots=(trial.slots[0]._replace(role=role),))


class FarFromReference(WithReference):
    apart = 4


class OneByOne(Acr):
    """Each stimulus once for each question."""

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return replace(super().units(study, catalogue), asks=(("one",), ("two",), ("three", "four")))

    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        return replace(super().compose(study, unit, catalogue, rng), draws={"asks": list(unit.asks)})


with_reference, far, one_by_one = (cast("Method", kind()) for kind in (WithReference, FarFromReference, OneByOne))


def make_referenced(contents: int, tests: int, missing: frozenset[tuple[int, int]] = frozenset()) -> Catalogue:
    return make_catalogue(contents, tests + 1, missing, roles={0: "reference"})
