"""The figures of pairs: differences, preferences, ranks."""

from __future__ import annotations

import pandas as pd

from beholder.analysis.figures.pairs import pairs_chart, preferences_chart, ranks_chart
from beholder.analysis.pairs import pairs
from support.charts import marks, tooltips
from support.pair_ratings import ratings


def test_a_pair_is_drawn_with_the_better_one_first_and_filled_where_it_is_clear() -> None:
    table = pairs(ratings({"low": 20.0, "high": 60.0, "twin": 60.0})).table
    rows = [row for row in marks(pairs_chart(table)) if "difference" in row]
    names = {row["name"]: row["verdict"] for row in rows}
    assert all(row["difference"] >= 0 for row in rows)
    assert names["high − low"] == "beyond"
    assert names["twin − low"] == "beyond"
    assert {"key": "filled: clear, 2 of 3"} in marks(pairs_chart(table))


def test_a_pair_has_nested_bars_and_is_pale_where_it_is_clear_on_these_contents_only() -> None:
    rows = [
        (f"p{person}", f"c{content}", name, mean + spread * (-1) ** content + person % 3)
        for person in range(12)
        for content in range(4)
        for name, mean, spread in (("a", 60, 12), ("b", 50, 0))
    ]
    table = pairs(pd.DataFrame(rows, columns=["participant", "content", "condition", "value"])).table
    drawn = marks(pairs_chart(table))
    row = next(row for row in drawn if "inner_low" in row)
    assert row["low"] < row["inner_low"] < row["difference"] < row["inner_high"] < row["high"]
    assert {"key": "filled: clear beyond, 0 of 1; pale: on these contents, 1"} in drawn


def test_of_two_the_one_that_was_chosen_more_often_stands_at_the_left() -> None:
    pair = {"question": "q", "condition": "a", "other_condition": "b", "wins": 1, "ties": 0, "losses": 3}
    tips = tooltips(preferences_chart(pd.DataFrame([pair])))
    assert tips == {"b against a\nb chosen: 75 %\nn = 3", "b against a\na chosen: 25 %\nn = 1"}


def test_small_probabilities_of_a_rank_are_not_called_zero() -> None:
    rows = [{"question": "q", "condition": "a", "rank": 1, "probability": 0.999},
            {"question": "q", "condition": "a", "rank": 2, "probability": 0.001}]  # fmt: skip
    tips = tooltips(ranks_chart(pd.DataFrame(rows)))
    assert "a\nrank 2: < 1 %" in tips
