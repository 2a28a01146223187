"""Objective metrics: equal to ffmpeg's own filters and to decoded frames, on regions, cached, all problems at once."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from PIL import Image

import beholder
from beholder.cli import cli
from beholder.errors import UserError
from beholder.objective.registry import tool_version
from beholder.stimuli.ffmpeg import file_argument, find_ffmpeg, run_ffmpeg

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


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of real clips: well and badly coded, at half the size and rate, shorter, and the reference again."""
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


@pytest.fixture(scope="module")
def measured(material: Path) -> pd.DataFrame:
    """Every metric of pictures, of every clip, on the whole and on regions."""
    rows = ["stimulus,content,region,x,y,width,height,mask", "coarse/city,,box,20,40,70,60,"]
    rows += ["coarse/city,,part,0.5,0,0.5,1,", "coarse/city,,mask,,,,,mask.png", "coarse/city,,nothing,,,,,none.png"]
    rows += [f"{condition}/city,,everything,,,,,all.png" for condition in ("coarse", "small", "short")]
    (material / "regions.csv").write_text("\n".join(rows) + "\n", "utf-8")
    names = ("psnr", "psnr-y", "ssim", "ssim-y", "ms-ssim", "vmaf")
    return beholder.metrics(material / "study.yaml", metric=names, regions=material / "regions.csv").values


def value(table: pd.DataFrame, stimulus: str, metric: str, region: str = "") -> float:
    found = table[(table["stimulus"] == stimulus) & (table["metric"] == metric) & (table["region"] == region)]
    return float(found["value"].iloc[0])


def note(table: pd.DataFrame, stimulus: str, metric: str, region: str = "") -> str:
    found = table[(table["stimulus"] == stimulus) & (table["metric"] == metric) & (table["region"] == region)]
    return str(found["note"].iloc[0])


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


@pytest.mark.parametrize("content", ["city", "Größe 2"])
@pytest.mark.parametrize("condition", ["fine", "coarse"])
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


def test_what_cannot_be_measured_is_empty_and_says_why(measured: pd.DataFrame) -> None:
    assert np.isnan(value(measured, "same/city", "psnr"))
    assert note(measured, "same/city", "psnr") == "identical to the reference"
    assert value(measured, "same/city", "ssim") == 1
    assert note(measured, "coarse/city", "ms-ssim", "box") == "needs 176 pixels a side, here 60"
    assert {note(measured, "coarse/city", metric, "nothing") for metric in ("psnr", "ssim", "vmaf")} == {
        "nothing to measure"
    }
    assert not np.isinf(measured["value"]).any()


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
    assert tool_version("psnr").startswith("ffmpeg version ")


def test_sounds_are_measured_by_what_is_left_of_the_signal(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    time = np.arange(32_000) / 16_000
    clean = sum(np.sin(2 * np.pi * f * time) for f in (220, 440, 1760)) * (1 + np.sin(2 * np.pi * 3 * time)) / 8
    noise = rng.normal(0, 0.05, len(time))
    for condition, signal in (("original", clean), ("noisy", 0.5 * (clean + noise)), ("silent", 0 * clean)):
        path = tmp_path / "stimuli" / condition / "talk.wav"
        path.parent.mkdir(parents=True)
        write_wav(path, signal)
    path = write(tmp_path, [{"name": "original", "role": "reference"}, "noisy", "silent"])
    found = beholder.metrics(path, metric=["si-sdr", "stoi", "estoi"]).values
    rest = noise - clean * (noise @ clean) / (clean @ clean)
    expected = 10 * np.log10((clean @ clean) / (rest @ rest))
    assert value(found, "noisy/talk", "si-sdr") == pytest.approx(expected, abs=0.05)
    assert 0 < value(found, "noisy/talk", "estoi") < value(found, "noisy/talk", "stoi") < 1
    assert np.isnan(value(found, "silent/talk", "si-sdr"))
    assert note(found, "silent/talk", "si-sdr") == "nothing to measure"


def write_wav(path: Path, signal: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    import wave

    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes((np.clip(signal, -1, 1) * 32767).round().astype("<i2").tobytes())


def refused(call: Callable[[], object]) -> list[str]:
    with pytest.raises(UserError) as caught:
        call()
    return str(caught.value).splitlines()


def test_what_cannot_be_chosen_is_said_all_at_once(material: Path) -> None:
    study = material / "study.yaml"
    assert refused(lambda: beholder.metrics(study, metric=["pnsr", "lpips"], reference="orignal")) == [
        "--metric  is pnsr, which is not measured here. Allowed: psnr, psnr-y, ssim, ssim-y, ms-ssim, vmaf, stoi, "
        "estoi, si-sdr. Did you mean psnr?",
        "--metric  is lpips, which is not measured here. Allowed: psnr, psnr-y, ssim, ssim-y, ms-ssim, vmaf, stoi, "
        "estoi, si-sdr. Bring values of any other metric with --values.",
        "--reference  is orignal, which is no condition. Allowed: original, fine, coarse, small, short, same. "
        "Did you mean original?",
    ]
    assert refused(lambda: beholder.metrics(study, metric=["stoi"])) == [
        "--metric  is stoi, and the stimuli are video. Allowed: audio, or video with sound."
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="the other ffmpeg is a shell script")
def test_what_is_not_installed_is_said_with_how_to_get_it(
    material: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poor = tmp_path / "ffmpeg"
    poor.write_text(f'#!/bin/sh\n"{find_ffmpeg()}" "$@" | sed s/libvmaf/gone/\n', "utf-8")
    poor.chmod(0o755)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(poor))
    monkeypatch.setitem(sys.modules, "pystoi", None)
    assert refused(lambda: beholder.metrics(material / "study.yaml", metric=["vmaf", "stoi"])) == [
        "--metric  is vmaf, and this ffmpeg has no filter libvmaf. Allowed: psnr, psnr-y, ssim, ssim-y, si-sdr. Set "
        "IMAGEIO_FFMPEG_EXE to an ffmpeg that has it, or bring the values with --values.",
        "--metric  is stoi, which needs pystoi. Install it with `pip install 'beholder[audio]'`.",
    ]


def test_without_a_reference_nothing_is_measured(material: Path, tmp_path: Path) -> None:
    shutil.copytree(material, tmp_path / "study", ignore=shutil.ignore_patterns("metrics"))
    path = write(tmp_path / "study", ["original", "fine"])
    assert refused(lambda: beholder.metrics(path, metric=["psnr"])) == [
        "conditions  have no reference to compare with. Write role: reference at a condition, or name one with "
        "--reference."
    ]
    found = beholder.metrics(path, metric=["psnr"], reference="original").values
    assert list(found["stimulus"]) == ["fine/Größe 2", "fine/city"]
    (tmp_path / "study" / "stimuli" / "original" / "city.mp4").unlink()
    assert refused(lambda: beholder.metrics(path, metric=["psnr"], reference="original")) == [
        "content city  has no reference under original, so its 1 stimulus cannot be measured."
    ]


def test_regions_that_cannot_be_are_said_with_their_lines(material: Path, tmp_path: Path) -> None:
    table = tmp_path / "regions.csv"
    table.write_text(
        "region,x,y,width,height,mask\nface,0,0,0,10,\n,1,1,10,10,\nhead,,,,,\ntorso,,,,,gone.png\n", "utf-8"
    )
    study = material / "study.yaml"

    def measure() -> object:
        return beholder.metrics(study, metric=["psnr"], regions=table, out=tmp_path / "out")

    assert refused(measure) == [
        f"{table}:2  is the box 0, 0, 0, 10. Allowed: x and y from 0, width and height above 0. White pixels of a mask "
        "count; x and y of a box are of its upper left corner.",
        f"{table}:3  region is empty. Allowed: a name, such as face.",
        f"{table}:4  has neither a box nor a mask. Allowed: numbers for x, y, width and height. White pixels of a mask "
        "count; x and y of a box are of its upper left corner.",
        f"{table}:5  mask is gone.png, which does not exist. Allowed: an image or a video beside the table.",
    ]
    table.write_text("stimulus,region,x,y,width,height\nfine/city,face,100,100,100,40\n", "utf-8")
    assert refused(measure) == [f"{table}:2  face ends at 200, 140, outside the picture of 192 x 180 of fine/city."]
    table.write_text("name,x\nface,1\n", "utf-8")
    assert refused(measure) == [
        f"{table}  has not the columns of regions. Allowed: region, then x, y, width and height, or mask; stimulus or "
        "content where they differ."
    ]


def test_the_command_prints_values_and_once_there_are_ratings_how_they_agree(
    material: Path, measured: pd.DataFrame
) -> None:
    study = material / "study.yaml"
    command = ["metrics", str(study), "--metric", "psnr,vmaf", "--jobs", "1"]
    ran = CliRunner().invoke(cli, command)
    assert ran.exit_code == 0, ran.output
    assert ran.output.splitlines()[0].split() == ["condition", "metric", "value"]
    assert ran.output.splitlines()[-3:] == [
        "There are no ratings yet, so these are values only.", "", f"Page: {material / 'metrics' / 'index.html'}",
    ]  # fmt: skip
    beholder.simulate(study, participants=3)
    beholder.clean(study)
    ran = CliRunner().invoke(cli, command)
    assert ran.exit_code == 0, ran.output
    table = pd.read_csv(material / "metrics" / "correlations.csv")
    # Identical clips have no PSNR.
    assert table[["level", "metric", "n"]].to_numpy().tolist() == [
        ["stimulus", "psnr", 6], ["stimulus", "vmaf", 7], ["condition", "psnr", 4], ["condition", "vmaf", 5],
    ]  # fmt: skip
    assert "agrees best with what people said: r = " in ran.output
    assert "With 7 stimuli the intervals are wide" in ran.output


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


def test_regions_of_nothing_and_a_folder_that_cannot_be_written_are_told_before_anything_is_measured(
    material: Path, tmp_path: Path
) -> None:
    table = tmp_path / "regions.csv"
    table.write_text(
        "stimulus,content,region,x,y,width,height\n,town,face,0,0,1,1\ncoarse/town,,face,0,0,1,1\n", "utf-8"
    )
    study = material / "study.yaml"
    with pytest.raises(UserError) as caught:
        beholder.metrics(study, metric=["psnr"], regions=table, out=tmp_path / "out")
    assert str(caught.value).splitlines() == [
        f"{table}:2  content is town, which is none. Allowed: such as Größe 2.",
        f"{table}:3  stimulus is coarse/town, which is none. Allowed: such as coarse/Größe 2.",
    ]
    (tmp_path / "out" / "cache.jsonl").unlink()
    (tmp_path / "out" / "cache.jsonl").mkdir()
    with pytest.raises(UserError) as caught:
        beholder.metrics(study, metric=["psnr"], out=tmp_path / "out")
    assert str(caught.value) == (
        f"{tmp_path / 'out' / 'cache.jsonl'}  cannot be written: Is a directory. Allowed: a folder in which you may "
        "write."
    )
