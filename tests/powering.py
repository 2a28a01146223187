"""Worlds in memory of which power is asked."""

from __future__ import annotations

from beholder.methods import find
from beholder.methods.contract import Catalogue, Study
from beholder.power.asking import ladder
from beholder.power.tested import Contents
from beholder.power.world import World
from beholder.simulate.population import PUBLIC, Population
from rating import catalogue_of

CONTENTS = ("city", "no", "Größe 2", "01", "sea")


def world_of(
    study: Study,
    catalogue: Catalogue | None = None,
    *,
    difference: float | None = None,
    people: Population = PUBLIC,
    contents: Contents = "random",
    seed: int = 1,
) -> World:
    catalogue = catalogue or catalogue_of(study, contents=CONTENTS)
    method = find(study.method)
    return World(study, catalogue, method, ladder(study, catalogue, method, difference), people, contents, seed)
