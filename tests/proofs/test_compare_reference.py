"""Comparison of two halves of a laboratory's panel (VQEG HD3): they agree as expected of two panels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.analysis.ratings import as_ratings
from beholder.analysis.sides import side_from_ratings
from beholder.comparison.agreement import effects
from beholder.comparison.result import ComparisonTables, find
from beholder.comparison.sides import open_sides
from support.data import DATA


@pytest.fixture(scope="module")
def raw() -> pd.DataFrame:
    path = DATA / "ratings/vqeghd3_raw.csv"
    if not path.is_file():
        pytest.skip(f"ratings/vqeghd3_raw.csv is not in {DATA}; set BEHOLDER_TEST_DATA")
    table = pd.read_csv(path)
    people = sorted(table["subject"].unique())
    return table.rename(columns={"subject": "participant", "score": "value"}).assign(
        half=table["subject"].map({name: place % 2 for place, name in enumerate(people)})
    )


@pytest.fixture(scope="module")
def halves(raw: pd.DataFrame) -> ComparisonTables:
    sides = [side_from_ratings(as_ratings(raw[raw["half"] == half]), f"half {half}") for half in (0, 1)]
    return find(open_sides(sides), None)


def test_correlations_are_those_of_scipy(raw: pd.DataFrame, halves: ComparisonTables) -> None:
    means = raw.groupby(["stimulus", "half"])["value"].mean().unstack("half")
    table = halves.table("agreement")
    row = table[table["level"] == "stimulus"].iloc[0]
    assert row["n"] == 72
    assert row["pearson"] == pytest.approx(stats.pearsonr(means[0], means[1]).statistic, abs=1e-12)
    assert row["spearman"] == pytest.approx(stats.spearmanr(means[0], means[1]).statistic, abs=1e-12)
    assert row["tau_b"] == pytest.approx(stats.kendalltau(means[0], means[1]).statistic, abs=1e-12)
    line = stats.linregress(means[1], means[0])
    assert (row["slope"], row["intercept"]) == pytest.approx((line.slope, line.intercept), abs=1e-9)
    left = means[0] - line.slope * means[1] - line.intercept
    assert row["rmse_mapped"] == pytest.approx(float(np.sqrt((left**2).mean())), abs=1e-9)
    assert row["rmse_mapped_unbiased"] == pytest.approx(float(np.sqrt((left**2).sum() / 70)), abs=1e-9)


def test_the_test_of_every_stimulus_is_that_of_scipy(raw: pd.DataFrame, halves: ComparisonTables) -> None:
    table = halves.table("stimuli").set_index("stimulus")
    tested = {
        name: stats.ttest_ind(*(part[part["half"] == half]["value"] for half in (0, 1)), equal_var=False).pvalue
        for name, part in raw.groupby("stimulus")
    }
    known = pd.Series(tested).dropna()
    np.testing.assert_allclose(table["p"].dropna()[known.index], known, atol=1e-12)
    np.testing.assert_allclose(table["p_bh"].dropna()[known.index], stats.false_discovery_control(known), atol=1e-12)
    assert (table["clear"] == 1).sum() == 0


def test_people_of_one_panel_agree_on_what_differs(halves: ComparisonTables) -> None:
    counts = halves.table("contrast_counts").iloc[0]
    assert counts["contrasts"] == counts["tested"] == 36
    assert counts["same_direction"] >= 34
    assert counts["opposite_clear"] == 0
    assert counts["agree"] >= 28
    effect = halves.table("effects").iloc[0]
    assert effect["ci_low"] < 0 < effect["ci_high"]
    assert effect["equivalent"] == "undecided"


@pytest.mark.variant
def test_five_runs_in_one_table_have_the_likelihood_ratio_that_others_computed(tmp_path: Path) -> None:
    paths = [DATA / f"ratings/lmm_runs_synth_{name}.csv" for name in ("raw", "reference")]
    if not all(path.is_file() for path in paths):
        pytest.skip(f"ratings/lmm_runs_synth_raw.csv is not in {DATA}; set BEHOLDER_TEST_DATA")
    table = pd.read_csv(paths[0]).rename(columns={"subject": "participant", "score": "value"})
    table = table.assign(run=table["run"].str[1:], condition="all", content=table["stimulus"])
    table.to_csv(tmp_path / "runs.csv", index=False)
    sides = open_sides([tmp_path / "runs.csv"])
    result = effects(sides.sides, sides.questions)
    assert result is not None
    known = pd.read_csv(paths[1]).set_index("method").loc["profiled_ml"]
    assert len(result.table) == 10
    assert result.table["chi2"].iloc[0] == pytest.approx(known["chi2"], abs=1e-6)
    assert result.table["chi2_p"].iloc[0] == pytest.approx(known["p"], abs=1e-6)
    assert result.table["chi2_df"].iloc[0] == 4
