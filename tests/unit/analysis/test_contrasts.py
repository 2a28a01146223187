"""Contrasts: which pages are compared, and how."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.pairs import pairs
from beholder.analysis.ratings import RowOrder, tidy
from beholder.analysis.ratings_table import fill_columns
from beholder.analysis.tests import TESTS
from support.pair_ratings import by_pair, four, ratings


def test_all_ratings_of_both_conditions_count() -> None:
    data = ratings({"a": 40, "b": 50, "c": 60})
    data = data[~((data["condition"] == "b") & (data["content"] == "c0"))]
    table = by_pair(data)
    assert table["n"].to_dict() == {("a", "b"): 96, ("a", "c"): 96, ("b", "c"): 96}
    pages = four(data).set_index(["condition", "other_condition", "test"])["n"]
    assert [pages[("a", "b", test)] for test in TESTS] == [96, 84, 84, 84, 84]


def test_conditions_without_a_common_content_are_told_but_not_tested() -> None:
    data = ratings({"a": 40, "b": 60}, people=20, contents=10)
    odd = data["content"].isin(["c1", "c3", "c5", "c7"])
    apart = data[odd == (data["condition"] == "a")]
    (row,) = pairs(apart).table.to_dict("records")
    assert (row["comparison"], row["n"], row["verdict"]) == ("within", 20 * 4 + 20 * 6, "")
    assert row["note"] == "no content in common: not tested, as contents may make the difference"
    assert row["mean_difference"] == pytest.approx(-20, abs=5)
    assert all(math.isnan(row[name]) for name in ("p", "ci_low", "these_p", "these_low"))


def test_people_who_rated_one_condition_each_are_compared_as_two_groups() -> None:
    data = ratings({"a": 40, "b": 60}, people=20, contents=6)
    is_first = data["participant"].isin([f"p{n}" for n in range(10)])
    (row,) = pairs(data[is_first == (data["condition"] == "a")]).table.to_dict("records")
    assert (row["comparison"], row["participants"], row["contents"]) == ("between", 20, 6)
    assert row["these_p"] <= row["p"] < 0.05
    page_level = four(data[is_first == (data["condition"] == "a")]).set_index("test")
    assert page_level["note"]["sign"] == "fewer than two pages with both: no test"
    assert page_level["p"].notna().to_dict() == {test: test == "clustered t" for test in TESTS}


def test_a_person_on_one_side_makes_no_test() -> None:
    data = ratings({"a": 40, "b": 60}, people=5)
    one = data[(data["participant"] == "p0") == (data["condition"] == "a")]
    (row,) = pairs(one).table.to_dict("records")
    assert math.isnan(row["p"])
    assert row["note"].endswith("one participant of one: no test")


def test_grades_against_different_references_are_not_held_together() -> None:
    rng = np.random.default_rng(6)
    rows = [
        {"participant": f"p{p}", "content": f"c{k}", "condition": one, "other_condition": other, "kind": "diff",
         "value": float(rng.integers(-3, 2)), "role": "test"}
        for p in range(6)
        for k in range(6)
        for one, other in (("a", "film"), ("b", "film"), ("c", "scan"))
    ]  # fmt: skip
    shown = [{**rows[0], "condition": name, "other_condition": "", "kind": "score", "question": "x",
              "role": "reference"} for name in ("film", "scan")]  # fmt: skip
    data = pd.DataFrame(rows).assign(question="q")
    both = tidy(fill_columns(pd.concat([data, pd.DataFrame(shown)])), RowOrder(references=frozenset(("film", "scan"))))
    table = pairs(both).table
    mine = table[table["question"] == "q"].set_index(["condition", "other_condition"])
    assert mine["comparison"].to_dict() == {
        ("a", "b"): "within", ("a", "film"): "direct", ("b", "film"): "direct", ("c", "scan"): "direct",
    }  # fmt: skip
    assert mine.loc[("a", "b"), "note"] == "both compared with film"


def test_a_contrast_that_nobody_rated_is_told_as_such() -> None:
    table = by_pair(ratings({"a": 50, "b": 52}), contrasts=[("a", "Größe 2"), ("a", "b")])
    assert table.loc[("a", "Größe 2"), "note"] == "no rating of Größe 2"
    assert table["n"].tolist() == [0, 96]
