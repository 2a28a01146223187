"""The figures of a comparison: what is drawn of two sides, and of the correlations of all."""

from __future__ import annotations

import pandas as pd
import pytest

from beholder.comparison.figures import MOST_DOTS, difference_chart, matrix_chart, scatter_chart
from beholder.comparison.sides import MatchedScores
from support.charts import marks, tooltips

AGREEMENT = {
    "n": 3, "pearson": 0.995, "pearson_low": 0.9, "pearson_high": 1.0, "rmse": 0.25, "rmse_mapped": 0.125,
    "slope": 1.0, "intercept": -0.25,
}  # fmt: skip


def matched(size: int = 3) -> MatchedScores:
    """Return scores of two sides; the other side is higher by 0, 0.1 and 0.2 in turn."""
    rows = [
        {"name": f"c{place}", "n": 9, "mean": 1.0 + place, "se": 0.1, "df": 8.0, "other_n": 9,
         "other_mean": 1.0 + place + 0.1 * (place % 3), "other_se": float("nan"), "other_df": float("nan")}
        for place in range(size)
    ]  # fmt: skip
    return MatchedScores("condition", "quality", "ours", "theirs", pd.DataFrame(rows))


def test_a_scatter_plot_has_a_named_dot_for_each_condition_and_marks_clear_differences() -> None:
    chart = scatter_chart(matched(), AGREEMENT, [False, False, True], labels={"c2": "Größe 2"})
    dots = {row["name"]: row for row in marks(chart) if "tip" in row}
    assert {name: (row["x"], row["y"], row["clear"]) for name, row in dots.items()} == {
        "c0": (1.0, 1.0, False), "c1": (2.0, 2.1, False), "Größe 2": (3.0, 3.2, True),
    }  # fmt: skip
    assert {row["name"] for row in marks(chart) if "align" in row} == {"c0", "c1", "Größe 2"}


def test_an_interval_is_drawn_only_where_its_side_has_one() -> None:
    chart = scatter_chart(matched(), AGREEMENT, [False] * 3)
    first = next(row for row in marks(chart) if row.get("name") == "c0" and "tip" in row)
    assert first["x_high"] - first["x"] == pytest.approx(2.306 * 0.1, abs=1e-4)
    assert "y_low" not in first
    assert first["tip"] == "c0\nours: 1.00, 95 % interval 0.77 to 1.23\ntheirs: 1.00"


def test_the_corner_of_a_scatter_plot_says_how_well_both_agree() -> None:
    (lines,) = (row["line"] for row in marks(scatter_chart(matched(), AGREEMENT, [False] * 3)) if "line" in row)
    assert lines == ["r = 0.995 (0.900 to 1.000)", "RMSE 0.25, mapped 0.13", "n = 3"]


def test_a_plot_of_differences_has_the_mean_and_the_limits_of_agreement() -> None:
    chart = difference_chart(matched(), [False, True, False])
    assert tooltips(chart) == {"c0\n+0.00", "c1\n−0.10", "c2\n−0.20"}
    assert [row["word"] for row in marks(chart) if "word" in row][:3] == ["−0.10", "−0.30", "+0.10"]
    assert [row["x"] for row in marks(chart) if row.get("clear")] == [pytest.approx(2.05)]


def test_many_stimuli_are_thinned_out() -> None:
    size = MOST_DOTS + 1
    assert len(tooltips(difference_chart(matched(size), [False] * size))) == MOST_DOTS // 2 + 1


def test_a_matrix_has_a_cell_for_every_two_sides_and_none_without_a_correlation() -> None:
    table = pd.DataFrame([
        {"side": "a", "a": 1.0, "b": 0.95, "c": float("nan")},
        {"side": "b", "a": 0.95, "b": 1.0, "c": 0.5},
        {"side": "c", "a": float("nan"), "b": 0.5, "c": 1.0},
    ])  # fmt: skip
    assert tooltips(matrix_chart(table, ("a", "b", "c"))) == {
        "a and b\nr = 0.950", "b and a\nr = 0.950", "b and c\nr = 0.500", "c and b\nr = 0.500",
    }  # fmt: skip
