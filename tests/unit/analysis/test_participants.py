"""Participants: their agreement with the others, and the time they took."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis import analyse
from beholder.analysis.participants import raters, times
from support.crossed_ratings import crossed, write_csv
from support.rating_frames import crowd, ratings_frame, table_of


def test_a_page_counts_once_however_many_ratings_are_on_it() -> None:
    rows = [(f"p{n}", "x", name, 3.0, f"s{n}", 1, 8000.0) for n in range(3) for name in "ab"]
    rows += [(f"p{n}", "y", name, 3.0, f"s{n}", 2, 4000.0) for n in range(3) for name in "ab"]
    table = table_of(times(ratings_frame(rows, "session", "position", "response_ms")))
    text = [(row.of, row.n, row.median_s) for row in table.itertuples()]
    assert text == [("page", 6, 6), ("page", 3, 8), ("page", 3, 4), ("rating", 6, 3), ("comparison", 6, 6)]


def test_a_page_has_its_mean_per_comparison_and_in_each_group_as_papers_print_it() -> None:
    """HEMVIP: 176 s a page with 8 videos are 22 s a rating, and 28 comparisons."""
    rows = [(f"p{n}", "x", name, 3.0, f"s{n}", 1, 176_000.0 + 2000 * n) for n in (-1, 1) for name in "abcdefgh"]
    data = ratings_frame(rows, "session", "position", "response_ms")
    table = table_of(times(data)).set_index("of")
    assert table.loc[["page"], "mean_s"].iloc[0] == 176
    assert table["mean_s"]["rating"] == 22
    assert table["mean_s"]["comparison"] == pytest.approx(176 / 28)
    assert set(table["group"]) == {""}
    grouped = data.assign(factor_asked=data["participant"].map({"p-1": "Q1", "p1": "Q2"}), factor_speaker="one")
    by_group = table_of(times(grouped))
    pages = by_group[(by_group["of"] == "page") & (by_group["group"] != "")]
    assert dict(zip(pages["group"], pages["mean_s"], strict=True)) == {"asked: Q1": 174, "asked: Q2": 178}
    of_stimuli = data.assign(factor_kind=data["condition"].map(lambda name: "odd" if name in "ace" else "even"))
    assert set(table_of(times(of_stimuli))["group"]) == {""}


def test_pages_of_one_condition_tell_its_time() -> None:
    rows = [("p1", "x", "a", 3.0, "s1", 1, 8000.0), ("p1", "x", "b", 3.0, "s1", 2, 2000.0)]
    table = table_of(times(ratings_frame(rows, "session", "position", "response_ms")))
    named = table[table["of"] == "condition"]
    assert dict(zip(named["condition"], named["median_s"], strict=True)) == {"a": 8, "b": 2}


def test_ratings_without_times_have_none() -> None:
    data = ratings_frame([("p1", "x", "a", 3.0)])
    assert times(data) is None
    assert times(data.assign(response_ms=float("nan"), position=1.0, session="s1")) is None


def test_the_rater_map_finds_who_is_higher_and_who_disagrees() -> None:
    table = table_of(raters(crowd())).set_index("participant")
    assert table["offset"].idxmax() == "p000"
    assert table["agreement"].idxmin() == "p001"
    assert table["agreement"]["p001"] < -0.9
    assert table.drop(index="p001")["agreement"].min() > 0.9


def test_people_who_are_not_used_are_on_the_map_and_change_nobody_else() -> None:
    table = table_of(raters(crowd(unused=("p001",)))).set_index("participant")
    everybody = crowd()
    alone = table_of(raters(everybody[everybody["participant"] != "p001"])).set_index("participant")
    assert not table["use"]["p001"]
    assert table["agreement"]["p001"] < -0.9
    pd.testing.assert_frame_equal(table.drop(index="p001"), alone)


def test_agreement_leaves_the_participant_out(tmp_path: Path) -> None:
    table = crossed({f"x{n:02}": float(n) for n in range(12)}, 4, contents=1, noise=0.1)
    opposed = table["participant"] == "p0"
    table.loc[opposed, "value"] = -table.loc[opposed, "value"]
    analysis = analyse(write_csv(tmp_path, table)).participants.set_index("participant")["agreement"]
    assert analysis["p0"] == pytest.approx(-1)
    assert analysis["p1"] > 0.9
