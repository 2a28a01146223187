"""Conformance suites for methods, analyses, metrics, checks, stores, recruiters and targets of others; tiny studies.

analyses     `check_analysis`: an analysis keeps the contract
methods      `check_method`: a method keeps the contract
metrics      `check_metric`: an objective metric keeps the contract
importers    `check_importer`: an importer keeps the contract
checks       `check_step`, `check_rule`: a check with a page, or a rule over sessions, keeps the contract
stores       `check_store`: a store keeps the contract
recruiters   `check_recruiter`: a recruiter keeps the contract
targets      `check_target`: a place to deploy to keeps the contract
engines      a fake container engine, for PATH
tunnels      fake tunnel programs, for PATH
browser      a real browser takes a study
check_pages  how a browser takes the pages of checks
prolific     what we rely on in Prolific's API
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from beholder.stimuli.samples import make_samples
from beholder.testing.analyses import check_analysis
from beholder.testing.checks import check_rule, check_step
from beholder.testing.importers import check_importer
from beholder.testing.methods import check_method
from beholder.testing.metrics import check_metric
from beholder.testing.recruiters import RECRUITER_CHECKS, Scene, check_recruiter
from beholder.testing.stores import STORE_CHECKS, check_store
from beholder.testing.targets import TARGET_CHECKS, check_target
from beholder.workflow.demo import DEFAULT_METHOD

__all__ = [
    "RECRUITER_CHECKS",
    "STORE_CHECKS",
    "TARGET_CHECKS",
    "Scene",
    "check_analysis",
    "check_importer",
    "check_method",
    "check_metric",
    "check_recruiter",
    "check_rule",
    "check_step",
    "check_store",
    "check_target",
    "write_study",
]


# Tiny studies


TINY_CONDITIONS = ("natural", "smooth", "jerky", "frozen")
TINY_SECONDS, TINY_SIZE = 0.4, (96, 54)


def write_study(folder: Path, like: Path | None = None, /, **keys: Any) -> Path:
    """Write a tiny study to a folder and return its study.yaml; `keys` replace, add or (None) drop top-level keys.

    `like` is a folder whose stimuli and media are copied; without it, 4 contents under 4 conditions are drawn.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if like is None:
        make_samples(folder / "stimuli", contents=4, conditions=TINY_CONDITIONS, seconds=TINY_SECONDS, size=TINY_SIZE)
    else:
        for part in ("stimuli", "media"):
            shutil.copytree(like / part, folder / part)
    study: dict[str, Any] = {
        "beholder": 1,
        "name": "tiny",
        "title": "A tiny study",
        "method": DEFAULT_METHOD,
        "stimuli": "stimuli",
        "conditions": list(TINY_CONDITIONS),
        "questions": [{"id": "quality", "text": "How good is it?"}],
        "design": {"participants": 6, "trials": 3, "seed": 3},
        "contact": "tiny@example.org",
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(_merged(study, keys), sort_keys=False, allow_unicode=True), "utf-8")
    return path


def _merged(study: dict[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in keys.items():
        if value is None:
            study.pop(key, None)
        else:
            study[key] = value
    return study
