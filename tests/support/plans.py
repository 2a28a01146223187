"""Small catalogues and studies, and the invariants of every plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import PlanError
from beholder.methods import find
from beholder.methods.contract import Method
from beholder.planning.balance import balance
from beholder.planning.builder import make_plan
from beholder.planning.message_trials import study_requests
from beholder.planning.model import Plan
from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus
from beholder.stimuli.known_answers import EVERY_QUESTION, Expectation, KnownAnswer
from beholder.study.model import Study, installed_study_model
from beholder.types import Role

_SCALES: Mapping[str, Mapping[str, Any]] = {"pair": {"scale": {"min": -3, "max": 3, "look": "radio"}}}
"""Studies in memory have no default scale of their method."""

acr, acr_hr, dcr, mushra, parallel = (find(name) for name in ("acr", "acr-hr", "dcr", "mushra", "parallel"))

PROBE = Probe(1000, "mp4", 2000, 320, 180, 25.0, "h264", "", 0)


def make_catalogue(
    contents: int,
    conditions: int,
    missing: frozenset[tuple[int, int]] = frozenset(),
    roles: Mapping[int, Role] | None = None,
) -> Catalogue:
    names = tuple(f"condition{n}" for n in range(conditions))
    sources = tuple(f"content{n}" for n in range(contents))
    stimuli = tuple(
        Stimulus(f"{t}-{c}", t, c, (roles or {}).get(j, "test"), "video", f"{c}/{t}.mp4", "00", PROBE, Path("served"))
        for i, t in enumerate(sources)
        for j, c in enumerate(names)
        if (i, j) not in missing
    )
    return Catalogue(stimuli, names, sources)


def make_study(method: str = "acr", /, **design: Any) -> Study:
    return installed_study_model().model_validate(
        {
            "beholder": 1,
            "name": "tiny",
            "title": "Tiny",
            "method": method,
            "stimuli": "stimuli",
            "questions": [{"id": "quality", "text": "How good?", **_SCALES.get(method, {})}],
            "design": design,
        }
    )


def with_clips(study: Study, catalogue: Catalogue, method: Method) -> Catalogue:
    """Return a catalogue with message stimuli, without their files."""
    clips = [
        replace(
            one.source, id=f"{one.role}:{number}:{one.source.id}", condition=one.role, role=one.role,
            derived_from=one.source.id,
            known_answer=KnownAnswer(
                "", expected={EVERY_QUESTION: Expectation(one.value, one.tolerance, "", one.also)}
            ),
        )
        for number, one in enumerate(study_requests(study, catalogue, method), 1)
    ]  # fmt: skip
    return replace(catalogue, stimuli=(*catalogue.stimuli, *clips))


def assert_promises(plan: Plan, catalogue: Catalogue) -> None:
    for row in balance(plan, catalogue):
        assert row.promised is None or row.difference <= row.promised, row


def problems_of(study: Study, catalogue: Catalogue, method: Method) -> str:
    with pytest.raises(PlanError) as caught:
        make_plan(study, catalogue, method)
    return str(caught.value)
