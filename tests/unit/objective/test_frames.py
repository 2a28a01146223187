"""Objective metrics: equal to ffmpeg's own filters and to decoded frames, on regions, cached, all problems at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import beholder
from beholder.objective.registry import find
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from support.measured_stimuli import SIZE, film, note, value, write
from support.variants import variant


def by_ffmpeg(material: Path, condition: str, content: str, metric: str, before: str = "null") -> dict[str, float]:
    """Return what ffmpeg's own filter prints of two files, nothing else done to them."""
    own, other = (file_argument(material / "stimuli" / name / f"{content}.mp4") for name in (condition, "original"))
    graph = f"[0:v]{before}[a];[1:v]{before}[b];[a][b]{metric}"
    log = run_ffmpeg(["-i", own, "-i", other, "-lavfi", graph, "-f", "null", "-"]).log
    line = next(line for line in log.splitlines() if line.startswith(f"[Parsed_{metric}"))
    words = [word.split(":") for word in line.split() if ":" in word]
    return {name: float(number) for name, number in words if number}


def planes(
    path: Path, width: int = SIZE[0], height: int = SIZE[1]
) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    raw = run_ffmpeg(["-i", file_argument(path), "-f", "rawvideo", "-pix_fmt", "yuv420p", "pipe:1"]).out
    data = np.frombuffer(raw, np.uint8).reshape(-1, width * height * 3 // 2).astype(float)
    return [data[:, : width * height], data[:, width * height :]]


@pytest.mark.parametrize(
    ("condition", "content"),
    [("fine", "Größe 2"), ("coarse", "city"), variant("fine", "city"), variant("coarse", "Größe 2")],
)
def test_values_are_those_of_ffmpegs_own_filters(
    material: Path, measured: pd.DataFrame, condition: str, content: str
) -> None:
    name = f"{condition}/{content}"
    psnr, ssim = (by_ffmpeg(material, condition, content, one) for one in ("psnr", "ssim"))
    assert value(measured, name, "psnr") == psnr["average"]
    assert value(measured, name, "psnr-y") == psnr["y"]
    assert value(measured, name, "ssim") == ssim["All"]
    assert value(measured, name, "ssim-y") == ssim["Y"]
    own, other = (file_argument(material / "stimuli" / one / f"{content}.mp4") for one in (condition, "original"))
    ran = run_ffmpeg(["-i", own, "-i", other, "-lavfi", "libvmaf", "-f", "null", "-"])
    assert value(measured, name, "vmaf") == float(ran.log.rpartition("VMAF score: ")[2].split()[0])


def test_a_box_is_measured_as_if_it_were_cut_out(material: Path, measured: pd.DataFrame) -> None:
    cut = {name: by_ffmpeg(material, "coarse", "city", name, "crop=70:60:20:40") for name in ("psnr", "ssim")}
    assert value(measured, "coarse/city", "psnr", "box") == cut["psnr"]["average"]
    assert value(measured, "coarse/city", "ssim", "box") == cut["ssim"]["All"]
    half = by_ffmpeg(material, "coarse", "city", "psnr", "crop=96:180:96:0")
    assert value(measured, "coarse/city", "psnr", "part") == half["average"]


def test_psnr_is_what_decoded_frames_give(material: Path, measured: pd.DataFrame) -> None:
    own, other = (planes(material / "stimuli" / name / "city.mp4") for name in ("coarse", "original"))
    squares = [(a - b) ** 2 for a, b in zip(own, other, strict=True)]
    luma, whole = squares[0].mean(), np.concatenate([one.ravel() for one in squares]).mean()
    assert value(measured, "coarse/city", "psnr-y") == pytest.approx(10 * np.log10(255**2 / luma), abs=1e-5)
    assert value(measured, "coarse/city", "psnr") == pytest.approx(10 * np.log10(255**2 / whole), abs=1e-5)


@pytest.mark.parametrize("metric", ["psnr", "psnr-y", "ssim", "ssim-y", "ms-ssim", "vmaf"])
@pytest.mark.parametrize("condition", ["coarse", "small", "short"])
def test_a_mask_that_picks_everything_changes_nothing(measured: pd.DataFrame, condition: str, metric: str) -> None:
    whole, masked = (value(measured, f"{condition}/city", metric, region) for region in ("", "everything"))
    assert masked == pytest.approx(whole, abs=1e-5)


def test_a_mask_of_a_box_gives_the_psnr_of_the_box(measured: pd.DataFrame) -> None:
    for metric in ("psnr", "psnr-y"):
        box, mask = (value(measured, "coarse/city", metric, region) for region in ("box", "mask"))
        assert mask == pytest.approx(box, abs=1e-5)
    # SSIM looks at windows: those at the edge of a mask see beyond it, those of a box do not.
    assert value(measured, "coarse/city", "ssim", "mask") == pytest.approx(
        value(measured, "coarse/city", "ssim", "box"), abs=0.03
    )
    assert value(measured, "coarse/city", "vmaf", "mask") == value(measured, "coarse/city", "vmaf", "box")
    assert note(measured, "coarse/city", "vmaf", "mask") == "on the box round the mask"


def test_what_was_done_to_bring_two_together_is_noted(material: Path, measured: pd.DataFrame) -> None:
    assert note(measured, "small/city", "psnr") == (
        "frames held or dropped from 12.5 to 25 a second; scaled from 96 x 90 to 192 x 180 (bicubic)"
    )
    assert note(measured, "short/city", "psnr") == "frames: 6 beside 8 of the reference, of which the first 6"
    own, other = (planes(material / "stimuli" / name / "city.mp4")[0] for name in ("short", "original"))
    apart = ((own - other[:6]) ** 2).mean()
    assert value(measured, "short/city", "psnr-y") == pytest.approx(10 * np.log10(255**2 / apart), abs=1e-5)


def test_worse_coding_is_worse_by_every_metric(measured: pd.DataFrame) -> None:
    for metric in ("psnr", "psnr-y", "ssim", "ssim-y", "ms-ssim", "vmaf"):
        for content in ("city", "Größe 2"):
            assert value(measured, f"coarse/{content}", metric) < value(measured, f"fine/{content}", metric)


def test_images_are_compared_in_their_colours(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    clean = rng.integers(0, 256, (64, 80, 3), np.uint8)
    noisy = np.clip(clean.astype(int) + rng.integers(-20, 21, clean.shape), 0, 255).astype(np.uint8)
    for condition, pixels in (("original", clean), ("noisy", noisy)):
        (tmp_path / "stimuli" / condition).mkdir(parents=True)
        Image.fromarray(pixels).save(tmp_path / "stimuli" / condition / "wall.png")
    path = write(tmp_path, [{"name": "original", "role": "reference"}, "noisy"])
    found = beholder.metrics(path)
    apart = ((clean.astype(float) - noisy) ** 2).mean()
    assert value(found.values, "noisy/wall", "psnr") == pytest.approx(10 * np.log10(255**2 / apart), abs=1e-5)
    assert list(found.values["metric"]) == ["psnr", "ssim", "ms-ssim", "vmaf"]
    assert found.words == ("There are no ratings yet, so these are values only.",)
    assert found.page.is_file()
    assert find("psnr").version().startswith("ffmpeg version ")


def test_pixels_that_are_not_square_are_compared_as_they_are_shown(tmp_path: Path) -> None:
    source = ["-f", "lavfi", "-i", "testsrc2=size=192x64:rate=25", "-frames:v", "3"]
    for name in ("wide", "worse"):
        squeezed = ["-vf", "scale=96:64,setsar=2", "-crf", "10" if name == "wide" else "40"]
        film(tmp_path / "stimuli" / name / "city.mp4", *source, *squeezed)
    film(tmp_path / "stimuli" / "plain" / "city.mp4", *source, "-crf", "10")
    study = write(tmp_path, ["plain", "wide", "worse"])
    (tmp_path / "regions.csv").write_text("region,mask\nall,all.png\n", "utf-8")
    Image.new("L", (192, 64), 255).save(tmp_path / "all.png")
    for reference, other in (("plain", "wide"), ("wide", "plain"), ("wide", "worse")):
        table = beholder.metrics(
            study, metric=["psnr"], reference=reference, regions=tmp_path / "regions.csv", out=tmp_path / reference
        ).values
        found = value(table, f"{other}/city", "psnr")
        assert 15 < found < 40
        assert value(table, f"{other}/city", "psnr", "all") == pytest.approx(found, abs=1e-5)
        assert note(table, f"{other}/city", "psnr") == "pixels made square, as they are shown"
