"""Coded clips of a small study, and their values by every metric."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

import beholder
from beholder.errors import UserError
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg

SIZE, FRAMES = (192, 180), 8


def film(path: Path, *words: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    ran = run_ffmpeg(["-v", "error", "-y", *words, "-c:v", "libx264", "-pix_fmt", "yuv420p", file_argument(path)])
    assert ran.code == 0, ran.log
    return path


def write(folder: Path, conditions: list[object], **keys: object) -> Path:
    study = {
        "beholder": 1, "name": "measured", "title": "Measured", "method": "acr", "stimuli": "stimuli",
        "conditions": conditions,
        "questions": [{"id": "quality", "text": "How good is it?"}], "contact": "me@example.org", **keys,
    }  # fmt: skip
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(study, allow_unicode=True), "utf-8")
    return path


@pytest.fixture(scope="session")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of real clips: finely and coarsely coded, at half size and rate, shorter, and a copy of the reference."""
    folder = tmp_path_factory.mktemp("measured")
    stimuli = folder / "stimuli"
    for content, picture in (("city", "testsrc2"), ("Größe 2", "mandelbrot")):
        source = ["-f", "lavfi", "-i", f"{picture}=size={SIZE[0]}x{SIZE[1]}:rate=25"]
        original = film(stimuli / "original" / f"{content}.mp4", *source, "-frames:v", str(FRAMES), "-crf", "8")
        again = ["-i", file_argument(original)]
        film(stimuli / "fine" / f"{content}.mp4", *again, "-crf", "26")
        film(stimuli / "coarse" / f"{content}.mp4", *again, "-crf", "44")
        if content != "city":
            continue
        film(stimuli / "small" / f"{content}.mp4", *again, "-vf", "scale=96:90,fps=12.5", "-crf", "20")
        film(stimuli / "short" / f"{content}.mp4", *again, "-frames:v", "6", "-crf", "30")
        (stimuli / "same").mkdir(exist_ok=True)
        shutil.copy(original, stimuli / "same" / f"{content}.mp4")
    write(folder, [{"name": "original", "role": "reference"}, "fine", "coarse", "small", "short", "same"])
    mask = np.zeros((SIZE[1], SIZE[0]), np.uint8)
    mask[40:100, 20:90] = 255
    Image.fromarray(mask).save(folder / "mask.png")
    Image.fromarray(np.full_like(mask, 255)).save(folder / "all.png")
    Image.fromarray(np.zeros_like(mask)).save(folder / "none.png")
    return folder


@pytest.fixture(scope="session")
def measured(material: Path) -> pd.DataFrame:
    """Every metric of pictures, of every clip, on the whole and on regions."""
    rows = ["stimulus,content,region,x,y,width,height,mask", "coarse/city,,box,20,40,70,60,"]
    rows += ["coarse/city,,part,0.5,0,0.5,1,", "coarse/city,,mask,,,,,mask.png", "coarse/city,,nothing,,,,,none.png"]
    rows += [f"{condition}/city,,everything,,,,,all.png" for condition in ("coarse", "small", "short")]
    (material / "regions.csv").write_text("\n".join(rows) + "\n", "utf-8")
    names = ("psnr", "psnr-y", "ssim", "ssim-y", "ms-ssim", "vmaf")
    return beholder.metrics(material / "study.yaml", metric=names, regions=material / "regions.csv").values


def value(table: pd.DataFrame, stimulus: str, metric: str, region: str = "") -> float:
    rows = table[(table["stimulus"] == stimulus) & (table["metric"] == metric) & (table["region"] == region)]
    return float(rows["value"].iloc[0])


def note(table: pd.DataFrame, stimulus: str, metric: str, region: str = "") -> str:
    rows = table[(table["stimulus"] == stimulus) & (table["metric"] == metric) & (table["region"] == region)]
    return str(rows["note"].iloc[0])


def refused(call: Callable[[], object]) -> list[str]:
    with pytest.raises(UserError) as caught:
        call()
    return str(caught.value).splitlines()
