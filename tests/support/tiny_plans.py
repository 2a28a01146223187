"""One small study with two questions, its stimuli and its plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beholder.methods import find
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan
from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus
from beholder.study.model import Study, installed_study_model

TINY_PROBE = Probe(1000, "mp4", 2000, 320, 180, 25.0, "h264", "", 0)


def tiny_catalogue(sha256: str = "00") -> Catalogue:
    conditions, contents = ("a", "b", "c"), ("t", "u", "v", "w")
    stimuli = tuple(
        Stimulus(f"{t}-{c}", t, c, "test", "video", f"{c}/{t}.mp4", sha256, TINY_PROBE, Path("served"))
        for t in contents
        for c in conditions
    )
    return Catalogue(stimuli, conditions, contents)


def tiny_study(text: str = "How good?", scale: str = "cont100", title: str = "Tiny", **design: Any) -> Study:
    return installed_study_model().model_validate(
        {
            "beholder": 1,
            "name": "tiny",
            "title": title,
            "method": "parallel",
            "stimuli": "stimuli",
            "questions": [{"id": "quality", "text": text, "scale": scale}, {"id": "fit", "text": "Does it fit?"}],
            "design": {"participants": 5, "contents": "once", "per_trial": 2, "breaks": 2, **design},
        }
    )


def tiny_plan() -> Plan:
    return make_plan(tiny_study(), tiny_catalogue(), find("parallel"))
