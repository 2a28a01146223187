"""How long the power curve of HEMVIP's design takes: 8 conditions on a page, 10 pages, 5 numbers of participants."""

from __future__ import annotations

import time
from pathlib import Path

from beholder.methods import find
from beholder.sample_size.design import SimulatedWorld, plan_for
from beholder.sample_size.request import ladder
from beholder.sample_size.simulation import simulate_point
from beholder.simulation.truth import Population
from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus
from beholder.study.model import Study, installed_study_model
from bench.table import Row, below

_LIMIT_S = 60
_SIZES = (10, 20, 46, 60, 80)
"""HEMVIP asked 46 people for each of its questions."""
_REPETITIONS = 1000
_CONDITIONS, _CONTENTS, _PAGES = 8, 40, 10
_SECONDS = 10


def measure_power() -> list[Row]:
    """Return the time of the whole curve, plans, answers and tests, false alarms beside it."""
    study, catalogue = _study(), _catalogue()
    method = find(study.method)
    world = SimulatedWorld(study, catalogue, method, ladder(study, catalogue, method, None), Population(), "random", 1)
    began = time.perf_counter()
    for size in _SIZES:
        simulate_point(plan_for(world, size), _REPETITIONS)
    spent = time.perf_counter() - began
    return [below(f"Power of HEMVIP's design, {len(_SIZES)} sizes, {_REPETITIONS:,} repetitions", spent, _LIMIT_S, "s")]


def _study() -> Study:
    return installed_study_model().model_validate(
        {
            "beholder": 1,
            "name": "hemvip",
            "title": "HEMVIP",
            "method": "parallel",
            "stimuli": "stimuli",
            "questions": [{"id": "quality", "text": "How natural?", "scale": "cont100"}],
            "design": {"participants": 46, "trials": _PAGES, "contents": "once"},
        }
    )


def _catalogue() -> Catalogue:
    conditions = tuple(f"condition{number}" for number in range(_CONDITIONS))
    contents = tuple(f"content{number}" for number in range(_CONTENTS))
    probe = Probe(1000, "mp4", 1000 * _SECONDS, 640, 360, 25.0, "h264", "", 0)
    stimuli = tuple(
        Stimulus(f"{one}/{other}", other, one, "test", "video", f"{one}/{other}.mp4", "", probe, Path("served"))
        for other in contents
        for one in conditions
    )
    return Catalogue(stimuli, conditions, contents)
