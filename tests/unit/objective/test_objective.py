"""The verb `metrics` and its command."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
from click.testing import CliRunner

import beholder
from beholder.cli import cli
from beholder.errors import UserError
from support.metric_tables import CONDITIONS


def test_the_command_prints_values_and_once_there_are_ratings_how_they_agree(
    material: Path, measured: pd.DataFrame, tmp_path: Path
) -> None:
    material = shutil.copytree(material, tmp_path / "measured")
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


def test_the_command_prints_the_finding(rated: Path, tmp_path: Path) -> None:
    values = tmp_path / "fvd.csv"
    values.write_text("condition,FVD\n" + "".join(f"{name},{9 - at}\n" for at, name in enumerate(CONDITIONS)), "utf-8")
    ran = CliRunner().invoke(cli, ["metrics", str(rated), "--values", str(values), "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    lines = ran.output.splitlines()
    assert lines[0].split() == ["level", "question", "metric", "n", "pearson", "spearman", "tau_b"]
    assert lines[2].split()[:4] == ["condition", "rating", "FVD", "7"]
    assert lines[4].startswith("FVD beside what people said: r = −0.99")
    assert lines[-1] == f"Page: {tmp_path / 'out' / 'index.html'}"
    ran = CliRunner().invoke(cli, ["metrics", str(rated)], standalone_mode=False)
    assert isinstance(ran.exception, UserError)
