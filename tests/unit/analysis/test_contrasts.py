"""Contrasts: which pages are compared, and how."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from beholder.analysis.pairs import pairs
from beholder.analysis.ratings import RowOrder, tidy
from beholder.analysis.ratings_table import fill_columns
from beholder.analysis.tests import TESTS
from support.pair_ratings import by_pair, four, ratings


def test_pages_that_lack_one_of_the_two_are_left_out_of_this_pair_only() -> None:
    data = ratings({"a": 40, "b": 50, "c": 60})
    data = data[~((data["condition"] == "b") & (data["content"] == "c0"))]
    table = by_pair(data)
    assert table["n"].to_dict() == {("a", "b"): 84, ("a", "c"): 96, ("b", "c"): 84}


def test_few_common_pages_are_compared_by_the_two_means_and_say_so() -> None:
    data = ratings({"a": 40, "b": 60}, people=20, contents=10)
    odd = data["content"].isin(["c1", "c3", "c5", "c7"])
    (row,) = pairs(data[odd == (data["condition"] == "a")]).table.to_dict("records")
    assert (row["comparison"], row["n"], row["df"]) == ("unpaired", 20 * 4 + 20 * 6, 3)
    assert row["note"] == (
        "unpaired, as few rated both on the same content: 0 of 80 pages; few participants or contents of one (4): a "
        "wide interval"
    )
    assert row["effect"] < 0  # the same people rated both
    page_level = four(data[odd == (data["condition"] == "a")]).set_index("test")
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
        ("a", "b"): "paired", ("a", "film"): "direct", ("b", "film"): "direct", ("c", "scan"): "direct",
    }  # fmt: skip
    assert mine.loc[("a", "b"), "note"] == "both compared with film"


def test_a_contrast_that_nobody_rated_is_told_as_such() -> None:
    table = by_pair(ratings({"a": 50, "b": 52}), contrasts=[("a", "Größe 2"), ("a", "b")])
    assert table.loc[("a", "Größe 2"), "note"] == "no rating of Größe 2"
    assert table["n"].tolist() == [0, 96]
