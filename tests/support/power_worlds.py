"""Simulated studies in memory for power analysis."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from beholder.methods import find
from beholder.methods.contract import Catalogue, Study
from beholder.sample_size.design import SimulatedWorld
from beholder.sample_size.estimates import PowerTables
from beholder.sample_size.estimates import estimate_power as find_all
from beholder.sample_size.request import PowerRequest, ladder
from beholder.sample_size.tests import Contents
from beholder.simulation.truth import Population
from beholder.simulation.variance import PopulationSource
from support.method_studies import catalogue_of

CONTENTS = ("city", "no", "Größe 2", "01", "sea")


def world_of(
    study: Study,
    catalogue: Catalogue | None = None,
    *,
    difference: float | None = None,
    people: Population = Population(),
    contents: Contents = "random",
    seed: int = 1,
) -> SimulatedWorld:
    catalogue = catalogue or catalogue_of(study, contents=CONTENTS)
    method = find(study.method)
    return SimulatedWorld(
        study, catalogue, method, ladder(study, catalogue, method, difference), people, contents, seed
    )


def power_tables_of(study: Study, sizes: tuple[int, ...], **keys: Any) -> PowerTables:
    return find_all(
        world_of(study, **keys), PowerRequest(sizes, repetitions=20), PopulationSource(), (), is_ladder=True
    )


def write_study(folder: Path, conditions: Sequence[str] = ("no", "01", "Größe 2"), **keys: Any) -> Path:
    """Write a study of texts, which need no probing."""
    for condition in conditions:
        for content in ("a", "b", "c", "d"):
            path = folder / "stimuli" / condition / f"{content}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{condition} {content}", "utf-8")
    study = {
        "beholder": 1, "name": "tiny", "title": "Which text?", "method": "acr", "stimuli": "stimuli",
        "questions": [{"id": "quality", "text": "How good?"}], "design": {"participants": 6, "trials": 6},
    }  # fmt: skip
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**study, **keys}, allow_unicode=True, sort_keys=False), "utf-8")
    return path
