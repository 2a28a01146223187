"""Analysis of the laboratory ratings of VQEG HD3 reproduces independently computed numbers."""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.analysis.dmos import crush_votes, dmos
from beholder.analysis.means import conditions
from beholder.analysis.result import Result
from beholder.analysis.scores import scores
from support.data import data_file


def reference(name: str, index: str) -> pd.DataFrame:
    return pd.read_csv(data_file(f"ratings/vqeghd3_{name}_reference.csv")).set_index(index)


@pytest.fixture(scope="module")
def vqeg() -> pd.DataFrame:
    raw = pd.read_csv(data_file("ratings/vqeghd3_raw.csv"))
    table = raw.rename(columns={"subject": "participant", "score": "value"})
    return table.assign(role=np.where(raw["is_ref"] == 1, "reference", "test"))


def half(table: pd.DataFrame, name: str) -> Any:
    return (table[f"{name}_high"] - table[f"{name}_low"]) / 2


def by_stimulus(result: Result | None) -> pd.DataFrame:
    assert result is not None
    table = result.table
    return (
        table[table["level"] == "stimulus"].set_index("stimulus") if "level" in table else table.set_index("stimulus")
    )


def test_scores_of_stimuli(vqeg: pd.DataFrame) -> None:
    known = reference("mos", "stimulus")
    actual = by_stimulus(scores(vqeg)).loc[known.index]
    assert len(actual) == 72
    assert (actual["n"] == known["n"]).all()
    np.testing.assert_allclose(actual["mean"].astype(float), known["mos"], atol=1e-6)
    np.testing.assert_allclose(actual["sd"].astype(float), known["sd"], atol=1e-6)
    np.testing.assert_allclose(half(actual, "ci"), known["ci95_t"], atol=1e-6)


def test_the_narrower_intervals_of_conditions(vqeg: pd.DataFrame) -> None:
    known = reference("hrc", "condition")
    actual = conditions(vqeg).table.set_index("condition").loc[known.index]
    for mine, theirs in (("n", "n_votes"), ("participants", "n_subjects"), ("contents", "n_pvs")):
        assert (actual[mine] == known[theirs]).all()
    np.testing.assert_allclose(actual["mean"], known["mean_of_pvs"], atol=1e-6)
    np.testing.assert_allclose(half(actual, "these"), known["ci_by_subject_t"], atol=1e-6)
    np.testing.assert_allclose(half(actual, "contents"), known["ci_by_content_t"], atol=1e-6)
    # The pooled votes of the reference have 1.96 in place of Student's t.
    pooled = half(actual, "ratings") * 1.96 / stats.t.ppf(0.975, actual["n"] - 1)
    np.testing.assert_allclose(pooled, known["ci_pooled_votes"], atol=1e-6)


def test_the_default_interval_of_a_condition_is_wider_than_that_of_pooled_votes(vqeg: pd.DataFrame) -> None:
    actual = conditions(vqeg).table
    assert set(actual["interval"]) == {"clustered t over participants and contents"}
    assert (half(actual, "ci") > 1.4 * half(actual, "ratings")).all()


@pytest.mark.parametrize(("crush", "column"), [("none", "dmos"), ("crush", "dmos_crushed"), ("clip", "dmos_clip_vote")])
def test_dmos_of_stimuli(vqeg: pd.DataFrame, crush: Literal["none", "crush", "clip"], column: str) -> None:
    known = reference("acrhr", "stimulus")
    actual = by_stimulus(dmos(vqeg, crush=crush)).loc[known.index]
    assert len(actual) == 64
    assert (actual["n"] == known["n"]).all()
    assert set(actual["pairing"]) == {"paired"}
    np.testing.assert_allclose(actual["mean"], known[column], atol=1e-6)
    if crush == "none":
        np.testing.assert_allclose(actual["sd"], known["dmos_sd"], atol=1e-6)
        np.testing.assert_allclose(half(actual, "ci"), known["ci95_t"], atol=1e-6)


def test_dmos_says_how_often_a_vote_beat_the_reference(vqeg: pd.DataFrame) -> None:
    result = dmos(vqeg)
    assert result is not None
    assert "rating: 8.3 % of the votes are above that on the reference." in result.note
    assert "it is taken as 5" in result.note


def test_crushing_gives_the_published_values() -> None:
    known = json.loads(data_file("tables/unit_values.json").read_text())["crush"]
    actual = {name: float(crush_votes(float(name), 5)) for name in known}
    assert actual == pytest.approx(known)
