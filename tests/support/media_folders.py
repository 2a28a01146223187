"""Sounds, pictures and texts in a folder, and their catalogue or problems."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beholder.errors import StimuliError
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.ingestion import load_catalogue
from beholder.study.checks import installed_checks
from beholder.study.loading import build_study
from beholder.study.model import Study
from beholder.study.yaml import read_document

AGAIN = "Export or copy it again, or take it out."


def write(folder: Path, files: Mapping[str, bytes | str | Path | Image.Image]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, Path):
            shutil.copy(data, path)
        elif isinstance(data, Image.Image):
            data.save(path)
        else:
            path.write_bytes(data if isinstance(data, bytes) else data.encode())


def study_in(folder: Path, conditions: Sequence[object] = (), **more: object) -> Study:
    keys: dict[str, object] = {"beholder": 1, "name": "tiny", "title": "Tiny", "method": "acr", "stimuli": "stimuli"}
    if conditions:
        keys["conditions"] = conditions
    (folder / "study.yaml").write_text(json.dumps({**keys, **more}))
    return build_study(read_document(folder), None, installed_checks())


def load(folder: Path, conditions: Sequence[object] = (), **more: object) -> Catalogue:
    return load_catalogue(study_in(folder, conditions, **more))


def problems(folder: Path, conditions: Sequence[object] = (), **more: object) -> list[str]:
    with pytest.raises(StimuliError) as caught:
        load(folder, conditions, **more)
    return [str(problem) for problem in caught.value.problems]


def noise(mode: str = "RGB", size: tuple[int, int] = (24, 16)) -> Image.Image:
    bands = len(Image.new(mode, (1, 1)).getbands())
    values = np.random.default_rng(3).integers(0, 256, (size[1], size[0], bands), dtype=np.uint8)
    return Image.frombytes(mode, size, values.tobytes())


def cut(whole: bytes) -> bytes:
    return whole[: len(whole) * 6 // 10]
