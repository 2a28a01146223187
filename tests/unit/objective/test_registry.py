"""Which metrics can be measured of what; metrics of sounds."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import beholder
from beholder.stimuli.ffmpeg import find_ffmpeg
from support.measured_stimuli import note, refused, value, write


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
