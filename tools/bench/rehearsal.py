"""How long a million ratings of robots take in memory: as over HTTP, and by one stream of chance, as for power."""

from __future__ import annotations

import time
from pathlib import Path

from beholder.methods import find
from beholder.planning.builder import make_plan
from beholder.planning.model import no_collection
from beholder.simulation.memory import rehearse, simulate_sheet
from beholder.simulation.rating_sheet import sheet_of
from beholder.simulation.truth import truth_of
from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus
from beholder.study.model import Study, installed_study_model
from bench.table import Row, below

_PROBE = Probe(800_000, "mp4", 10_000, 640, 360, 25.0, "h264", "aac", 2)
_TRIALS, _SLOTS, _CONDITIONS, _CONTENTS = 10, 8, 12, 500


def measure_rehearse(*, ratings: int = 1_000_000) -> list[Row]:
    """Return the time from a plan to the table of all ratings, and that of one more draw from the same plan."""
    people = ratings // (_TRIALS * _SLOTS)
    study, catalogue = _study(people), _catalogue()
    method = find(study.method)
    plan = make_plan(study, catalogue, method)
    began = time.perf_counter()
    with no_collection():
        made = rehearse(study, catalogue, method, plan, participants=people)
    spent = time.perf_counter() - began
    assert len(made.ratings) == ratings
    sheet = sheet_of(plan, study, catalogue, method, truth_of(study, catalogue, method))
    assert sheet is not None
    began = time.perf_counter()
    simulate_sheet(sheet, made.truth, repetition=1)
    again = time.perf_counter() - began
    what = f"{ratings:,} ratings of {people:,} robots in memory, {_SLOTS} of {_CONDITIONS} conditions a page"
    return [
        below(f"{what}, from the plan to the table", spent, 10, "s"),
        Row("of the same plan, values alone, by one stream of chance", f"{again:.2f} s"),
    ]


def _study(people: int) -> Study:
    design = {"participants": people, "trials": _TRIALS, "per_trial": _SLOTS, "contents": "once", "seed": 1}
    return installed_study_model().model_validate(
        {
            "beholder": 1, "name": "large", "title": "Large", "method": "parallel", "stimuli": "stimuli",
            "questions": [{"id": "quality", "text": "How good is it?"}], "design": design,
        }
    )  # fmt: skip


def _catalogue() -> Catalogue:
    names = tuple(f"condition{number:02}" for number in range(_CONDITIONS))
    sources = tuple(f"content{number:03}" for number in range(_CONTENTS))
    stimuli = tuple(
        Stimulus(f"{name}/{one}", one, name, "test", "video", f"{name}/{one}.mp4", "00", _PROBE, Path("clip.mp4"))
        for name in names
        for one in sources
    )
    return Catalogue(stimuli, names, sources)
