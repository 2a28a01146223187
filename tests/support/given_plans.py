"""Studies and catalogues whose plan is given as a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study, installed_study_model
from support.plans import make_catalogue

SCALES = {"pair": "pref2", "ab": "pref2", "abx": "pref2", "ccr": "ccr7", "dcr": "dcr5", "acr": "acr5", "acr-hr": "acr5"}


REFERENCES = {"mushra", "dcr", "acr-hr", "ccr"}


def study_of(method: str, folder: Path, keys: dict[str, Any] | None = None, **design: Any) -> Study:
    """Return a study in a folder, with `mine.csv` as its plan where the design says nothing else."""
    data = {
        "beholder": 1, "name": "tiny", "title": "Tiny", "method": method, "stimuli": "stimuli",
        "questions": [{"id": "quality", "text": "How good?", "scale": SCALES.get(method, "cont100")}],
        "design": design or {"plan": "mine.csv"},
        **({"options": {"mode": "identify"}} if method == "abx" else {}),
        **(keys or {}),
    }  # fmt: skip
    study = installed_study_model().model_validate(data)
    study._folder = folder
    return study


def catalogue_of(method: str, contents: int = 4, conditions: int = 4) -> Catalogue:
    catalogue = make_catalogue(contents, conditions, roles={0: "reference"} if method in REFERENCES else None)
    # As in a real study: condition/content.
    return replace(catalogue, stimuli=tuple(replace(s, id=f"{s.condition}/{s.content}") for s in catalogue.stimuli))
