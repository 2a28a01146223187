"""How long it takes to plan a study larger than any we know of."""

from __future__ import annotations

import time
from pathlib import Path

from beholder.methods import find
from beholder.plan.digest import study_digest
from beholder.plan.folder import write_plan
from beholder.plan.make import make_plan
from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus
from beholder.study.model import Study
from bench_table import Row, below

_PROBE = Probe(800_000, "mp4", 10_000, 640, 360, 25.0, "h264", "aac", 2)


def measure_plan(scratch: Path, *, participants: int = 10_000, contents: int = 500) -> Row:
    """Return the time to make and write a plan of 12 conditions, 8 in each of 10 trials."""
    catalogue = _catalogue(contents, 12)
    study = Study.model_validate(
        {
            "beholder": 1,
            "name": "large",
            "title": "Large",
            "method": "parallel",
            "stimuli": "stimuli",
            "questions": [{"id": "quality", "text": "How good is it?"}],
            "design": {"participants": participants, "trials": 10, "per_trial": 8, "contents": "once", "seed": 1},
        }
    )
    began = time.perf_counter()
    plan = make_plan(study, catalogue, find(study.method))
    write_plan(plan, catalogue, study_digest(study, catalogue), scratch)
    spent = time.perf_counter() - began
    what = (
        f"plan for {participants:,} participants, 12 conditions (8 per trial), {contents} contents, 10 trials, written"
    )
    return below(what, spent, 10, "s")


def _catalogue(contents: int, conditions: int) -> Catalogue:
    names = tuple(f"condition{number:02}" for number in range(conditions))
    sources = tuple(f"content{number:03}" for number in range(contents))
    stimuli = tuple(
        Stimulus(
            f"{name}/{source}", source, name, "test", "video", f"{name}/{source}.mp4", "00", _PROBE, Path("clip.mp4")
        )
        for name in names
        for source in sources
    )
    return Catalogue(stimuli, names, sources)
