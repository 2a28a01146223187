"""Small studies of which only recruiting is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from beholder.methods import load_study
from beholder.study.model import Study


def panel(folder: Path, recruit: Mapping[str, Any] | None = None, **keys: Any) -> Study:
    """Return a study of a panel, without stimuli: nothing of recruiting needs them."""
    return asked(folder, {"mode": "panel", **({"id_parameter": "pid"} if recruit is None else recruit)}, **keys)


def asked(folder: Path, recruit: Mapping[str, Any], **keys: Any) -> Study:
    """Return a study without stimuli whose people come in this way."""
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
