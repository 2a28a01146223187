"""Which metrics can be measured of what."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

import beholder
from beholder.objective.registry import names
from beholder.stimuli.ffmpeg import find_ffmpeg
from support.installed_packages import CONTRAST, install, install_contrast
from support.measured_stimuli import refused, value, write

ALL = "psnr, psnr-y, ssim, ssim-y, ms-ssim, vmaf, stoi, estoi, si-sdr, lmd, lpips, fid, fvd"


def test_what_cannot_be_chosen_is_said_all_at_once(material: Path) -> None:
    study = material / "study.yaml"
    assert refused(lambda: beholder.metrics(study, metric=["pnsr", "dists"], reference="orignal")) == [
        f"--metric  is pnsr, which is not measured here. Allowed: {ALL}. Did you mean psnr?",
        f"--metric  is dists, which is not measured here. Allowed: {ALL}. Bring values of any other metric with "
        "--values.",
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
    monkeypatch.delenv("BEHOLDER_FVD_MODEL", raising=False)
    for package in ("lpips", "pytorch_fid", "torch"):
        monkeypatch.setitem(sys.modules, package, None)
    there = "Allowed: psnr, psnr-y, ssim, ssim-y, si-sdr, lmd."
    otherwise = "or bring the values with --values."
    assert refused(
        lambda: beholder.metrics(material / "study.yaml", metric=["vmaf", "stoi", "lpips", "fid", "fvd"])
    ) == [
        f"--metric  is vmaf, and this ffmpeg has no filter libvmaf. {there} Set IMAGEIO_FFMPEG_EXE to an ffmpeg that "
        f"has it, {otherwise}",
        f"--metric  is stoi, which needs pystoi. {there} Install it with `pip install 'beholder[audio]'`.",
        f"--metric  is lpips, which needs lpips and torch. {there} Install it with `pip install 'beholder[lpips]'`, "
        f"{otherwise}",
        f"--metric  is fid, which needs pytorch_fid and torch. {there} Install it with `pip install 'beholder[fid]'`, "
        f"{otherwise}",
        f"--metric  is fvd, which needs torch. {there} Install it with `pip install 'beholder[fvd]'`, {otherwise}",
    ]


def test_without_a_reference_nothing_is_measured(material: Path, tmp_path: Path) -> None:
    shutil.copytree(material, tmp_path / "study", ignore=shutil.ignore_patterns("metrics"))
    path = write(tmp_path / "study", ["original", "fine"])
    assert refused(lambda: beholder.metrics(path, metric=["psnr"])) == [
        "conditions  have no reference to compare with. Write role: reference at a condition, or name one with "
        "--reference."
    ]
    path.write_text(path.read_text("utf-8").replace("original", "{name: original, label: Source}", 1), "utf-8")
    found = beholder.metrics(path, metric=["psnr"], reference="Source").values
    assert list(found["stimulus"]) == ["fine/Größe 2", "fine/city"]
    (tmp_path / "study" / "stimuli" / "original" / "city.mp4").unlink()
    assert refused(lambda: beholder.metrics(path, metric=["psnr"], reference="original")) == [
        "content city  has no reference under original, so its 1 stimulus cannot be measured."
    ]


def test_a_metric_of_another_package_is_measured(
    material: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_contrast(tmp_path / "site", monkeypatch)
    assert names()[-1] == "contrast"
    found = beholder.metrics(material / "study.yaml", metric=["contrast"], out=tmp_path / "out").values
    assert value(found, "same/city", "contrast") == 0
    assert (tmp_path / "out" / "cache.jsonl").read_text("utf-8").count("\n") == len(found)


def test_a_package_that_fails_is_named_and_costs_nobody_else_their_metrics(
    material: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = CONTRAST.replace("        return sum", '        raise RuntimeError("no weights")\n        return sum')
    install_contrast(tmp_path / "one", monkeypatch, failing)
    install(tmp_path / "two", monkeypatch, "gone", "1 / 0", "[beholder.metrics]\ngone = gone:GONE\n")
    assert "gone" not in names()
    assert refused(lambda: beholder.metrics(material / "study.yaml", metric=["gone"])) == [
        "--metric  metric gone, entry point gone:GONE of the package gone, cannot be imported: ZeroDivisionError: "
        "division by zero. Repair, update or uninstall that package."
    ]
    said = refused(lambda: beholder.metrics(material / "study.yaml", metric=["contrast"], out=tmp_path / "out"))
    assert said[0] == (
        "stimuli/coarse/Größe 2.mp4  cannot be measured by contrast: RuntimeError: no weights. Update that package, or "
        "leave the metric out."
    )
