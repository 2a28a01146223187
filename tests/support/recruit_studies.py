"""Small studies without stimuli, for recruiting."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from beholder.methods import load_study
from beholder.study.model import Study


def panel_study(folder: Path, recruit: Mapping[str, Any] | None = None, **keys: Any) -> Study:
    """Return a study of a panel."""
    return recruit_study(folder, {"mode": "panel", **({"id_parameter": "pid"} if recruit is None else recruit)}, **keys)


def recruit_study(folder: Path, recruit: Mapping[str, Any], **keys: Any) -> Study:
    """Return a study with these settings of `recruit`."""
    study = {
        "beholder": 1,
        "name": "tiny",
        "title": "A tiny study",
        "method": "acr",
        "stimuli": "stimuli",
        "questions": [{"id": "quality", "text": "How good is it?"}],
        "recruit": dict(recruit),
        "contact": "tiny@example.org",
        **keys,
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(study, allow_unicode=True), "utf-8")
    return load_study(folder)
