"""Studies whose stimuli come from folders, patterns and manifests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from beholder.errors import StimuliError
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.ingestion import load_catalogue
from beholder.study.checks import installed_checks
from beholder.study.loading import build_study
from beholder.study.model import Study
from beholder.study.yaml import read_document

SUFFIXES = (
    ".mp4, .m4v, .mov, .webm, .mkv, .wav, .mp3, .flac, .ogg, .oga, .opus, .m4a, .aac, .aif, .aiff, .png, .jpg, .jpeg, "
    ".webp, .avif, .gif, .bmp, .tif, .tiff, .svg, .txt, .md, .html, .htm"
)


def write(folder: Path, files: Mapping[str, bytes | str]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())


def study_in(folder: Path, stimuli: object = "stimuli", conditions: Sequence[str] = ()) -> Study:
    keys = {"beholder": 1, "name": "tiny", "title": "Tiny", "method": "acr", "stimuli": stimuli}
    (folder / "study.yaml").write_text(json.dumps({**keys, **({"conditions": conditions} if conditions else {})}))
    return build_study(read_document(folder), None, installed_checks())


def problems(folder: Path, stimuli: object = "stimuli") -> list[str]:
    with pytest.raises(StimuliError) as caught:
        load_catalogue(study_in(folder, stimuli))
    return [str(problem) for problem in caught.value.problems]


def warnings(catalogue: Catalogue) -> list[str]:
    return [str(warning) for warning in catalogue.warnings]
