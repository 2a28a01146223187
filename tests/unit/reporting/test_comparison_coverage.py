"""Coverage of active pairs: effective comparisons, and the warning where few carry an order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import beholder
from beholder.reporting.comparison_coverage import coverage, effective_comparisons
from support.active_studies import write_active_study


def test_effective_comparisons_add_up_as_conductances_do() -> None:
    votes = np.zeros((4, 4))
    votes[0, 1] = votes[1, 0] = 6.0
    votes[1, 2] = votes[2, 1] = 3.0
    effective = effective_comparisons(votes)
    assert effective[0, 1] == pytest.approx(6)
    assert effective[0, 2] == pytest.approx(2), "six and three in a row are as two"
    assert effective[0, 3] == 0, "nothing joins them"
    votes[0, 2] = votes[2, 0] = 4.0
    assert effective_comparisons(votes)[0, 2] == pytest.approx(6), "and four beside them make six"


def rows(*votes: tuple[str, str, float]) -> pd.DataFrame:
    table = pd.DataFrame(votes, columns=["condition", "other_condition", "value"])
    return table.assign(question="q", kind="choice", session="s", trial=[f"trial:{n}" for n in range(len(table))])


def test_neighbours_are_in_the_order_of_strengths() -> None:
    votes = [("b", "a", 1.0)] * 5 + [("a", "c", 1.0)] * 4 + [("a", "c", 0.0)]
    found = coverage(rows(*votes), "q")
    assert [(one.better, one.worse, one.direct) for one in found] == [("b", "a", 5), ("a", "c", 5)]
    assert coverage(rows(*votes), "other") == []


def test_of_pages_every_two_that_were_told_apart_count() -> None:
    table = pd.DataFrame({"condition": list("abcabc"), "value": [1.0, 0, -1, 1, 0, 0]})
    table = table.assign(question="q", kind="score", other_condition="", session="s", trial=["one"] * 3 + ["two"] * 3)
    assert [(one.better, one.worse, one.direct) for one in coverage(table, "q")] == [("a", "b", 2), ("b", "c", 1)]


def test_the_report_tells_how_pairs_were_chosen_and_where_coverage_is_thin(tmp_path: Path) -> None:
    path = write_active_study(tmp_path, conditions="abcdef", design={"participants": 8})
    beholder.simulate(path)
    beholder.clean(path, robots=True)
    beholder.analyse(path, robots=True)
    page = beholder.report(path).read_text("utf-8")
    assert "What carries the order" in page
    assert "Thin coverage." in page
    assert "Pairs were chosen while answers came in" in page
    assert "A share of 20 % was drawn without regard to answers" in page
    assert "Mikhailiuk" in page
    assert "balanced over participants" not in page


def test_a_fixed_plan_has_no_such_section(tmp_path: Path) -> None:
    path = write_active_study(tmp_path, conditions="abc", design={"participants": 3, "pairs": "all"})
    beholder.simulate(path)
    beholder.clean(path, robots=True)
    beholder.analyse(path, robots=True)
    assert "What carries the order" not in beholder.report(path).read_text("utf-8")
    assert "draw_probability" not in (tmp_path / "clean" / "ratings.csv").read_text("utf-8")
