"""Studies that were written for an earlier version load unchanged: the same plan under the same digest."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from beholder.methods import find, load_study
from beholder.methods.contract import Catalogue, Study
from beholder.planning.builder import make_plan
from beholder.planning.digest import plan_digest
from beholder.planning.model import Plan
from beholder.types import Medium
from support.method_studies import make_catalogue

EARLIER: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("earlier_studies.yaml").read_text("utf-8"))
CONTENTS = [f"content{number:02}" for number in range(12)]
OF_SOUNDS = ("mushra", "abx")


@pytest.mark.parametrize("name", EARLIER)
def test_it_has_the_digest_that_it_had(name: str, tmp_path: Path) -> None:
    study = load(name, tmp_path)
    assert plan_digest(study, stimuli_of(study)) == EARLIER[name]["plan_digest"]


@pytest.mark.parametrize("name", [name for name in EARLIER if EARLIER[name]["lists"]])
def test_the_same_seed_makes_the_plan_that_it_made(name: str, tmp_path: Path) -> None:
    study = load(name, tmp_path)
    assert hash_of(make_plan(study, stimuli_of(study), find(study.method))) == EARLIER[name]["lists"]


def load(name: str, folder: Path) -> Study:
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(EARLIER[name]["study"], sort_keys=False, allow_unicode=True), "utf-8")
    return load_study(path)


def stimuli_of(study: Study) -> Catalogue:
    roles = {one.name: one.role for one in study.conditions} or dict.fromkeys(("a", "b", "c"), "test")
    medium: Medium = "audio" if study.method in OF_SOUNDS else "video"
    return make_catalogue(list(roles), contents=CONTENTS, roles=roles, medium=medium)


def hash_of(plan: Plan) -> str:
    """Return the first half of the hash of all slots of all trials in all lists."""
    lists = [
        [[trial.id, [[slot.id, slot.stimulus, slot.role, slot.label] for slot in trial.slots]] for trial in one.trials]
        for one in plan.lists
    ]
    return sha256(json.dumps(lists).encode()).hexdigest()[:32]
