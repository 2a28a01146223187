"""Studies and plans that request a number of votes."""

from __future__ import annotations

from typing import Any

from beholder.methods import find
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study, installed_study_model
from support.plans import make_study, with_clips


def vote_study(method: str, checks: dict[str, Any] | None = None, **design: Any) -> Study:
    written = make_study(**design).model_dump()
    written |= {"method": method, "checks": checks or {}}
    if method == "pair":
        written["questions"] = [{"id": "preference", "text": "Which one?", "scale": "pref2"}]
    return installed_study_model().model_validate(written)


def vote_plan(method: str, catalogue: Catalogue, checks: dict[str, Any] | None = None, **design: Any) -> Plan:
    study = vote_study(method, checks, **design)
    stimuli = with_clips(study, catalogue, find(method)) if checks else catalogue
    return make_plan(study, stimuli, find(method))
