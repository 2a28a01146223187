"""Worlds in memory of which power is asked."""

from __future__ import annotations

from beholder.methods import find
from beholder.methods.contract import Catalogue, Study
from beholder.sample_size.design import SimulatedWorld
from beholder.sample_size.request import ladder
from beholder.sample_size.tests import Contents
from beholder.simulation.truth import PUBLIC, Population
from support.method_studies import catalogue_of

CONTENTS = ("city", "no", "Größe 2", "01", "sea")


def world_of(
    study: Study,
    catalogue: Catalogue | None = None,
    *,
    difference: float | None = None,
    people: Population = PUBLIC,
    contents: Contents = "random",
    seed: int = 1,
) -> SimulatedWorld:
    catalogue = catalogue or catalogue_of(study, contents=CONTENTS)
    method = find(study.method)
    return SimulatedWorld(
        study, catalogue, method, ladder(study, catalogue, method, difference), people, contents, seed
    )
