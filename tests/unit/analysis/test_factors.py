"""factors and levels: levels of factors against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.analysis.factors import levels
from beholder.analysis.result import records
from support.pair_ratings import ratings


def _rows(data: pd.DataFrame) -> list[dict[str, Any]]:
    result = levels(data)
    assert result is not None
    return records(result.table)


def test_groups_of_people_are_compared_as_groups() -> None:
    data = ratings({"a": 40, "b": 50}, people=16, contents=5)
    group = data["participant"].str[1:].astype(int) % 2
    (row,) = _rows(data.assign(value=data["value"] + 15 * group, factor_side=np.where(group == 1, "right", "left")))
    assert (row["factor"], row["level"], row["other_level"]) == ("side", "left", "right")
    assert (row["comparison"], row["verdict"]) == ("between", "beyond")
    own = (data["value"] + 15 * group).groupby(data["participant"]).mean()
    is_right = own.index.str[1:].astype(int) % 2 == 1
    assert row["mean_difference"] == pytest.approx(own[~is_right].mean() - own[is_right].mean())
    welch = stats.ttest_ind(own[~is_right], own[is_right], equal_var=False)
    assert row["these_p"] == pytest.approx(welch.pvalue, rel=0.2)


def test_levels_of_stimuli_are_compared_within_people_and_corrected_together() -> None:
    data = ratings({"a": 40, "b": 50, "c": 60}, people=10, contents=6)
    rows = _rows(data.assign(factor_rate=data["condition"].map({"a": "low", "b": "mid", "c": "high"})))
    assert [(row["level"], row["other_level"]) for row in rows] == [("high", "low"), ("high", "mid"), ("low", "mid")]
    assert {row["comparison"] for row in rows} == {"within"}
    assert all(row["p"] <= row["p_holm"] for row in rows)
    assert all(row["these_p"] <= row["p"] for row in rows)


def test_levels_that_are_contents_are_told_but_not_tested() -> None:
    data = ratings({"a": 40, "b": 50}, people=10, contents=6)
    (row,) = _rows(data.assign(factor_genre=np.where(data["content"] < "c3", "news", "sport")))
    assert row["verdict"] == ""
    assert row["note"] == "no content in common: not tested, as contents may make the difference"


def test_without_factors_there_are_no_levels() -> None:
    data = ratings({"a": 40, "b": 50}, people=4)
    assert levels(data) is None
    assert levels(data.assign(factor_rate="low")) is None
