"""Studies of small videos, and metadata that their copies must not keep."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from beholder.errors import StimuliError
from beholder.stimuli.ingestion import load_catalogue
from beholder.study.checks import installed_checks
from beholder.study.loading import build_study
from beholder.study.model import Study
from beholder.study.yaml import read_document

H264 = ("-c:v", "libx264", "-pix_fmt", "yuv420p")


Make = Callable[..., Path]


VP9 = ("-c:v", "libvpx-vp9", "-cpu-used", "8")


def put(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def study_in(folder: Path, stimuli: object = "stimuli", conditions: Sequence[object] = ()) -> Study:
    keys = {"beholder": 1, "name": "tiny", "title": "Tiny", "method": "acr", "stimuli": stimuli}
    (folder / "study.yaml").write_text(json.dumps({**keys, **({"conditions": conditions} if conditions else {})}))
    return build_study(read_document(folder), None, installed_checks())


def problems_of(study: Study) -> list[str]:
    with pytest.raises(StimuliError) as caught:
        load_catalogue(study)
    return [str(problem) for problem in caught.value.problems]


MARKS = (
    "-metadata", "title=MARKTITLE", "-metadata", "comment=MARKCOMMENT", "-metadata", "encoder=MARKENCODER",
    "-metadata:s:v", "handler_name=MARKHANDLER", "-metadata", "creation_time=2019-08-07T06:05:04Z",
)  # fmt: skip
