"""Correlation of metrics with ratings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.objective.correlation import SCORE_COLUMNS, between, relate
from support.metric_tables import CONDITIONS


def tables(x: list[float], y: list[float], **more: list[float]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return scores y of as many stimuli, and the metrics x and others of them."""
    names = [f"s{place}" for place in range(len(y))]
    scores = pd.DataFrame({"stimulus": names, "question": "quality", "mean": y})
    values = [
        pd.DataFrame({"stimulus": names, "metric": metric, "value": given})
        for metric, given in {"x": x, **more}.items()
    ]
    return scores, pd.concat(values)


def test_correlations_are_those_of_scipy() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=40)
    y = 0.8 * x + rng.normal(size=40)
    row = relate(*tables(list(x), list(y)), "stimulus").table.iloc[0]
    pearson, spearman, tau = stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y)
    line = stats.linregress(x, y)
    left = y - line.intercept - line.slope * x
    assert row[["pearson", "spearman", "tau_b"]].tolist() == pytest.approx(
        [pearson.statistic, spearman.statistic, tau.statistic]
    )
    assert row[["pearson_p", "spearman_p", "tau_b_p"]].tolist() == pytest.approx(
        [pearson.pvalue, spearman.pvalue, tau.pvalue]
    )
    ends = pearson.confidence_interval()
    assert row[["pearson_low", "pearson_high"]].tolist() == pytest.approx([ends.low, ends.high])
    assert row["tau_b_low"] < row["tau_b"] < row["tau_b_high"]
    assert row[["slope", "intercept"]].tolist() == pytest.approx([line.slope, line.intercept])
    assert row["rmse_mapped"] == pytest.approx(np.sqrt(np.mean(left**2)))
    assert row["rmse_mapped_unbiased"] == pytest.approx(np.sqrt(np.sum(left**2) / 38))
    assert row["n"] == 40
    assert list(row.index) == SCORE_COLUMNS


numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 3))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), max_size=12))
def test_nothing_breaks_it_and_a_lower_is_better_metric_only_turns_the_sign(pairs: list[tuple[float, float]]) -> None:
    x, y = [one for one, _ in pairs], [other for _, other in pairs]
    table = relate(*tables(x, y, turned=[-one for one in x]), "stimulus").table
    assert len(table) == (2 if pairs else 0)
    if not pairs:
        return
    up, down = table.iloc[0], table.iloc[1]
    for name in ("pearson", "spearman", "tau_b"):
        assert (np.isnan(up[name]) and np.isnan(down[name])) or up[name] == pytest.approx(-down[name])
        assert np.isnan(up[name]) or abs(up[name]) <= 1 + 1e-9
    assert np.isnan(up["pearson"]) or len(pairs) >= 3
    assert not np.isinf(table.select_dtypes("number").to_numpy(dtype=float)).any()


def test_several_values_of_a_condition_are_averaged_and_regions_stand_apart() -> None:
    values = pd.DataFrame(
        {
            "condition": [*CONDITIONS * 2, *CONDITIONS],
            "metric": "lpips",
            "region": [*["face"] * 14, *["torso"] * 7],
            "value": [*range(7), *range(2, 9), *[1.0] * 7],
        }
    )
    scores = pd.DataFrame({"condition": CONDITIONS, "question": "real", "mean": [7.0, 6, 5, 4, 3, 2, 1]})
    table = relate(scores, values, "condition").table
    assert table[["metric", "region", "n"]].to_numpy().tolist() == [["lpips", "face", 7], ["lpips", "torso", 7]]
    assert table["pearson"].iloc[0] == pytest.approx(-1)
    assert np.isnan(table["pearson"].iloc[1])


def test_two_metrics_are_compared_on_what_both_have_and_without_their_signs() -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(size=60)
    good, poor = -(y + rng.normal(0, 0.3, 60)), y + rng.normal(0, 2, 60)
    found = between(*tables(list(good), list(y), poor=list(poor)), "stimulus")
    assert found is not None
    row = found.table.iloc[0]
    assert row["pearson"] > row["other_pearson"] > 0
    assert row["z"] > 0
    assert row["p"] == row["p_holm"] < 0.001
    same = between(*tables(list(good), list(y), poor=list(2 * good + 1)), "stimulus")
    assert same is not None
    assert same.table["p"].iloc[0] == pytest.approx(1)
    assert between(*tables([1, 2, 3], [1, 2, 4], poor=[3, 2, 1]), "stimulus") is None
    assert between(*tables([1, 2, 3, 4, 5], [1, 2, 4, 3, 5], poor=[0.3] * 4 + [0.1 + 0.2]), "stimulus") is None
