"""Measuring: in parallel, never twice, with a reason for each gap."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import beholder
from beholder.errors import UserError
from beholder.stimuli.ffmpeg import file_argument
from support.measured_stimuli import film, note, value, write


def test_what_cannot_be_measured_is_empty_and_says_why(measured: pd.DataFrame) -> None:
    assert np.isnan(value(measured, "same/city", "psnr"))
    assert note(measured, "same/city", "psnr") == "identical to the reference"
    assert value(measured, "same/city", "ssim") == 1
    assert note(measured, "coarse/city", "ms-ssim", "box") == "needs 176 pixels a side, here 60"
    assert {note(measured, "coarse/city", metric, "nothing") for metric in ("psnr", "ssim", "vmaf")} == {
        "nothing to measure"
    }
    assert not np.isinf(measured["value"]).any()


def test_nothing_is_measured_twice(material: Path, measured: pd.DataFrame, tmp_path: Path) -> None:
    shutil.copytree(material, tmp_path / "again")
    told: list[tuple[int, int]] = []

    def again() -> pd.DataFrame:
        told.clear()
        return beholder.metrics(
            tmp_path / "again", metric=["psnr", "ssim"], progress=lambda *step: told.append(step)
        ).values

    first = again()
    assert told == []
    film(tmp_path / "again" / "stimuli" / "fine" / "city.mp4",
         "-i", file_argument(material / "stimuli" / "original" / "city.mp4"), "-crf", "35")  # fmt: skip
    second = again()
    assert told == [(1, 1)]
    changed = first["value"].fillna(0) != second["value"].fillna(0)
    assert set(first[changed]["stimulus"]) == {"fine/city"}
    # A run that is killed in the middle of a line leaves the others.
    cache = tmp_path / "again" / "metrics" / "cache.jsonl"
    lines = cache.read_text("utf-8").splitlines()
    cache.write_text("\n".join([*lines[:-1], lines[-1][:20]]), "utf-8")
    third = again()
    assert told == [(1, 1)]
    pd.testing.assert_frame_equal(third, second)
    assert json.loads(cache.read_text("utf-8").splitlines()[-1])[2] == ""


def test_a_metric_without_a_number_and_a_reference_without_sound(tmp_path: Path) -> None:
    source = ["-f", "lavfi", "-i", "testsrc2=size=192x192:rate=25"]
    film(tmp_path / "stimuli" / "original" / "city.mp4", *source, "-frames:v", "3", "-crf", "8")
    sound = ["-f", "lavfi", "-i", "sine=duration=0.12", "-c:a", "aac"]
    film(tmp_path / "stimuli" / "turned" / "city.mp4", *source, *sound, "-vf", "transpose,negate", "-frames:v", "3")
    study = write(tmp_path, [{"name": "original", "role": "reference"}, "turned"])
    table = beholder.metrics(study, metric=["ms-ssim", "vmaf"]).values
    assert np.isnan(value(table, "turned/city", "ms-ssim"))
    assert note(table, "turned/city", "ms-ssim") == "nothing to measure"
    with pytest.raises(UserError) as caught:
        beholder.metrics(study, metric=["si-sdr"])
    assert str(caught.value) == (
        "stimuli/original/city.mp4  is the reference and has no sound, which si-sdr would compare with. Allowed: "
        "audio, or video with sound."
    )
