"""Frames of a stimulus beside those of its reference, as arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beholder.methods import load_study
from beholder.objective.contract import ComparedPair
from beholder.objective.decoding import Mask, box_round
from beholder.objective.regions import Region
from beholder.stimuli.ingestion import load_catalogue
from support.measured_stimuli import write

COLOURS = {"original": (200, 40, 90), "tinted": (10, 220, 60)}


def pair(folder: Path, region: Region | None = None) -> ComparedPair:
    for name, colour in COLOURS.items():
        (folder / "stimuli" / name).mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (40, 30), colour).save(folder / "stimuli" / name / "wall.png")
    study = load_study(write(folder, [{"name": "original", "role": "reference"}, "tinted"]))
    one = load_catalogue(study).by_cell
    stimuli = {stimulus.condition: stimulus for stimulus in one.values()}
    return ComparedPair(stimuli["tinted"], stimuli["original"], region)


def test_a_picture_is_red_green_and_blue_and_cannot_be_written_to(tmp_path: Path) -> None:
    (frame,) = pair(tmp_path).frames()
    assert frame.own.shape == (30, 40, 3)
    assert tuple(frame.own[0, 0]) == COLOURS["tinted"]
    assert tuple(frame.reference[29, 39]) == COLOURS["original"]
    assert frame.picked is None
    with pytest.raises(ValueError, match="read-only"):
        frame.own[0, 0] = 0


def test_a_region_is_cut_out_and_what_does_not_count_can_be_grey(tmp_path: Path) -> None:
    (frame,) = pair(tmp_path, Region("box", "", box=(10, 4, 20, 6))).frames()
    assert (frame.own.shape, frame.picked) == ((6, 20, 3), None)
    (frame,) = pair(tmp_path, Region("back", "", box=(0, 0, 20, 30), is_outside=True)).frames()
    assert frame.own.shape == (30, 20, 3), "cut to the half that counts"
    picked = np.zeros((30, 40), np.uint8)
    picked[2:6, 3:9] = picked[10, 20] = 255
    Image.fromarray(picked).save(tmp_path / "mask.png")
    (frame,) = pair(tmp_path, Region("mask", "", mask=Mask(tmp_path / "mask.png", "1"))).frames()
    assert frame.own.shape == (9, 18, 3)
    assert frame.picked is not None
    assert frame.picked.sum() == 25
    own, other = frame.filled()
    assert tuple(own[8, 0]) == tuple(other[8, 0]) == (128, 128, 128)
    assert tuple(own[0, 0]) == COLOURS["tinted"]


def test_nothing_that_is_picked_has_no_box() -> None:
    assert box_round(np.zeros((3, 4), bool)) is None
    assert box_round(np.eye(3, dtype=bool)) == (0, 0, 3, 3)
