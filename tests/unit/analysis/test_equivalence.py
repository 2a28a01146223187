"""Differences that are too small to matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special

from beholder.analysis.equivalence import equivalence
from beholder.analysis.pairs import pairs
from beholder.analysis.ratings import RowOrder, tidy
from beholder.analysis.ratings_table import fill_columns
from beholder.analysis.result import records
from beholder.stats.tests import holm
from beholder.study.cleaning import Analyse
from support.pair_ratings import ODD, ratings

ALIKE = ratings({"a": 50, "b": 50.5, "c": 58})


def found(data: pd.DataFrame, margin: float | dict[str, float], **options: Any) -> pd.DataFrame:
    result = equivalence(data, margin=margin, **options)
    assert result is not None
    return result.table.set_index(["condition", "other_condition"], drop=False)


def test_what_is_near_is_equivalent_and_what_is_far_is_not() -> None:
    table = found(ALIKE, 4)
    assert table["equivalent"].to_dict() == {("a", "b"): "yes", ("a", "c"): "no", ("b", "c"): "no"}
    assert table["these_equivalent"].to_dict() == {("a", "b"): "yes", ("a", "c"): "no", ("b", "c"): "no"}
    # a and b are worse than c by twice the margin.
    assert table["not_worse"].to_dict() == {("a", "b"): "yes", ("a", "c"): "no", ("b", "c"): "no"}
    # With these contents alone one is surer, of either verdict.
    assert table["these_equivalent_p"]["a", "b"] < table["equivalent_p"]["a", "b"]


def test_the_tests_are_those_of_the_difference_and_its_error_in_pairs() -> None:
    table, told = found(ALIKE, 4), pairs(ALIKE).table.set_index(["condition", "other_condition"])
    t = (told["mean_difference"] + 4) / told["se"], (4 - told["mean_difference"]) / told["se"]
    below, above = (special.stdtr(told["df"], -one) for one in t)
    np.testing.assert_allclose(table["not_worse_p"], below)
    np.testing.assert_allclose(table["equivalent_p"], np.maximum(below, above))
    np.testing.assert_allclose(table["equivalent_p_holm"], holm(table["equivalent_p"]))
    is_within = (table["inner_low"] > -4) & (table["inner_high"] < 4)
    assert (is_within == (table["equivalent_p"] < 0.05)).all()


def test_only_named_contrasts_are_judged_each_from_its_first_side() -> None:
    table = found(ALIKE, 4, contrasts=[("c", "a")])
    assert (table["not_worse"]["c", "a"], table["equivalent"]["c", "a"]) == ("yes", "no")
    assert table["equivalent"].drop(index=[("c", "a")]).tolist() == ["", ""]
    assert table["equivalent_p_holm"]["c", "a"] == table["equivalent_p"]["c", "a"]


def test_the_margin_of_the_study_is_taken_question_by_question() -> None:
    data = pd.concat([ALIKE.assign(question=name) for name in ("quality", "fit")])
    study = tidy(fill_columns(data), RowOrder(settings=Analyse(margin={"fit": 4.0})))
    result = equivalence(study)
    assert result is not None
    assert set(result.table["question"]) == {"fit"}
    assert set(result.table["margin"]) == {4.0}
    assert equivalence(ALIKE) is None


@pytest.mark.parametrize("name", sorted(ODD))
def test_odd_ratings_are_never_called_equivalent_without_a_test(name: str) -> None:
    result = equivalence(ODD[name], margin=0.5)
    for row in records(result.table) if result is not None else ():
        has_p = row["equivalent_p"] == row["equivalent_p"]
        assert (row["equivalent"] == "") or has_p
        assert not has_p or row["equivalent_p"] > 0
