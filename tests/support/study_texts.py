"""Small studies as YAML text: loaded, or refused with their problems."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import StudyError
from beholder.methods import load_study
from beholder.study.model import Study

HEAD = "beholder: 1\nname: tiny\ntitle: Tiny\nmethod: acr\nstimuli: stimuli\n"


def load(folder: Path, text: str) -> Study:
    (folder / "study.yaml").write_text(text, "utf-8")
    return load_study(folder / "study.yaml")


def refusal(folder: Path, text: str) -> list[str]:
    with pytest.raises(StudyError) as caught:
        load(folder, text)
    return str(caught.value).splitlines()


INSIDE = "Allowed: a path inside the study folder, with / between folders."
