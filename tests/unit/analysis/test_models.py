"""Models: `--model NAME` adds the quality of every stimulus to the scores, or says what is wrong."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import beholder
from beholder.analysis.models import MODELS, quality
from beholder.analysis.result import read_result
from beholder.cli import cli
from beholder.errors import UserError

KNOWN = "bradley-terry, bt500, mos, p910, p913, shrunken, thurstone"
CHOICES = pd.DataFrame(
    [
        {
            "participant": f"p{n}", "content": content, "condition": "NA", "other_condition": "Größe 2",
            "value": 1 if n % 3 else -1, "kind": "choice",
        }
        for n in range(9)
        for content in ("no", "01")
    ]
)  # fmt: skip
SCORES = pd.DataFrame(
    [
        {"participant": f"p{n}", "content": "t", "condition": name, "value": value + n % 2}
        for n in range(6)
        for name, value in (("a", 2), ("b", 4))
    ]
)


def write(folder: Path, table: pd.DataFrame) -> Path:
    path = folder / "ratings.csv"
    table.to_csv(path, index=False, encoding="utf-8", lineterminator="\n")
    return path


def test_bradley_terry_adds_its_columns_to_the_scores(tmp_path: Path) -> None:
    path, out = write(tmp_path, CHOICES), tmp_path / "out"
    done = CliRunner().invoke(cli, ["analyse", str(path), "--model", "bradley-terry", "--out", str(out)])
    assert done.exit_code == 0, done.output
    table = read_result(out / "scores.csv")
    ends = [f"bradley_terry_{column}" for column in ("quality", "se", "low", "high")]
    assert list(table.columns)[-4:] == ends
    one = table.set_index("stimulus")["bradley_terry_quality"]
    np.testing.assert_allclose(one["NA/no"], math.log(2) / 2, atol=1e-8)
    np.testing.assert_allclose(one["NA/no"], -one["Größe 2/no"])
    assert table[ends].notna().all(axis=None)
    notes = json.loads((out / "notes.json").read_text(encoding="utf-8"))
    assert set(notes["models"]) == {"bradley-terry"}
    assert notes["models"]["bradley-terry"]["citation"].startswith("Bradley and Terry (1952), Biometrika 39")
    assert notes["seeds"]["ranks"] > 0
    assert {"preferences", "strengths", "strength_pairs", "ranks"} <= set(notes["analyses"])


def test_every_table_of_pairs_reads_back_as_it_was(tmp_path: Path) -> None:
    results = beholder.analyse(write(tmp_path, CHOICES), out=tmp_path / "out")
    for name in ("preferences", "strengths", "strength_pairs", "ranks"):
        table = read_result(tmp_path / "out" / f"{name}.csv")
        pd.testing.assert_frame_equal(table, results.also[name], check_dtype=False, check_exact=False, rtol=1e-8)


def test_mos_is_the_mean_with_its_interval(tmp_path: Path) -> None:
    results = beholder.analyse(write(tmp_path, SCORES), out=tmp_path / "out", model="mos")
    actual: Any = results.scores.set_index("stimulus").loc["a/t"]
    assert actual["mos_quality"] == actual["mean"] == 2.5
    assert actual["mos_se"] == pytest.approx(actual["sd"] / math.sqrt(6))
    assert (actual["mos_low"], actual["mos_high"]) == (actual["ci_low"], actual["ci_high"])


def test_without_a_model_the_scores_have_no_quality(tmp_path: Path) -> None:
    results = beholder.analyse(write(tmp_path, SCORES), out=tmp_path / "out")
    assert not [name for name in results.scores.columns if name.endswith("_quality")]
    assert "models" not in results.notes


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("elo", f"model  is elo, which is not a model. Allowed: {KNOWN}."),
        ("thurston", f"model  is thurston, which is not a model. Allowed: {KNOWN}. Did you mean thurstone?"),
        ("", f"model  is empty, which is not a model. Allowed: {KNOWN}."),
    ],
)  # fmt: skip
def test_an_unknown_model_lists_the_known(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(UserError) as caught:
        beholder.analyse(tmp_path / "nowhere.csv", model=name)
    assert str(caught.value) == text


def test_a_model_that_finds_nothing_says_what_it_needs(tmp_path: Path) -> None:
    path = write(tmp_path, SCORES)
    with pytest.raises(UserError) as caught:
        beholder.analyse(path, model="thurstone", out=tmp_path / "out")
    assert str(caught.value) == (
        "model  is thurstone, which finds nothing in these ratings. Allowed: choices between two (kind choice, with "
        "other_condition)."
    )
    assert not (tmp_path / "out").exists()
    with pytest.raises(UserError) as caught:
        quality(CHOICES, "mos")
    assert str(caught.value) == "model  is mos, which finds nothing in these ratings. Allowed: scores or grades."


def test_several_models_stand_side_by_side(tmp_path: Path) -> None:
    path, out = write(tmp_path, SCORES), tmp_path / "out"
    asked = ["--model", "shrunken", "--model", "p910", "--model", "shrunken"]
    done = CliRunner().invoke(cli, ["analyse", str(path), "--out", str(out), *asked])
    assert done.exit_code == 0, done.output
    table = read_result(out / "scores.csv")
    ends = [f"{model}_{column}" for model in ("shrunken", "p910") for column in ("quality", "se", "low", "high")]
    assert list(table.columns)[-8:] == ends
    assert table[ends].notna().all(axis=None)
    notes = json.loads((out / "notes.json").read_text(encoding="utf-8"))
    assert set(notes["models"]) == {"p910", "shrunken"}
    assert notes["models"]["shrunken"]["note"].startswith("Ours, no standard: ")
    results = beholder.analyse(path, out=out, model=["p913", "bt500"])
    assert {"p913_quality", "bt500_quality"} <= set(results.scores.columns)


def test_every_unknown_model_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        beholder.analyse(tmp_path / "nowhere.csv", model=["elo", "shrunk"])
    assert str(caught.value) == (
        f"model  is elo, which is not a model. Allowed: {KNOWN}.\n"
        f"model  is shrunk, which is not a model. Allowed: {KNOWN}. Did you mean shrunken?"
    )


@pytest.mark.parametrize("name", ["bt500", "p910", "p913", "shrunken"])
def test_a_rater_model_needs_scores(name: str) -> None:
    with pytest.raises(UserError) as caught:
        quality(CHOICES, name)
    assert str(caught.value) == f"model  is {name}, which finds nothing in these ratings. Allowed: scores or grades."


def test_every_model_gives_the_same_columns() -> None:
    for name in MODELS:
        table = quality(CHOICES if name in ("bradley-terry", "thurstone") else SCORES, name).table
        assert list(table.columns) == ["question", "stimulus", "content", "quality", "se", "low", "high"]
        assert not table.duplicated(["question", "stimulus", "content"]).any()
