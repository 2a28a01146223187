"""The figures of many questions: profiles, grids of numbers, eigenvalues."""

from __future__ import annotations

import math

import pandas as pd

from beholder.analysis.figures.profile import heat_chart, profile_chart, scree_chart
from beholder.analysis.figures.theme import COLUMN, WIDE
from beholder.dimensionality.figures import components_chart
from support.charts import marks, profile_rows, tooltips


def test_profile_shows_every_mean() -> None:
    tips = tooltips(profile_chart(profile_rows()))
    assert len(tips) == 4
    assert "Größe 2\n4.00, 95 % interval 3.80 to 4.30\nn = 12" in tips


def test_profile_by_level_leaves_out_the_average() -> None:
    tips = tooltips(profile_chart(profile_rows(("", "0°", "45°")), factor="angle"))
    assert len(tips) == 8
    assert "01, angle 45°\n2.20, 95 % interval 1.80 to 2.30\nn = 12" in tips
    rows = profile_rows(("", "0°", "45°"))
    assert len(tooltips(profile_chart(rows[(rows["level"] == "") & (rows["question"] == "real")]))) == 4


def test_profile_of_a_question_without_levels_keeps_its_average() -> None:
    rows = profile_rows(("", "0°"))
    rows = rows[(rows["question"] == "real") | (rows["level"] == "")]
    assert {row["level"] for row in marks(profile_chart(rows)) if "mean" in row} == {"", "0°"}


def test_heat_marks_by_weight_and_never_rounds_up_to_one() -> None:
    table = pd.DataFrame({
        "row": ["a", "a", "b", "b"], "column": ["c", "d", "c", "d"], "value": [0.9991, -0.5, math.nan, 1.0],
        "clear": [True, False, True, True],
    })  # fmt: skip
    chart = heat_chart(table, row="row", column="column", value="value", bold="clear", layout=WIDE)
    actual = {row["word"]: row["bold"] for row in marks(chart) if "word" in row}
    assert actual == {"0.999": True, "−0.50": False, "1.00": True}
    weights = [layer["mark"]["fontWeight"] for layer in chart.to_dict()["layer"] if "fontWeight" in layer["mark"]]
    assert weights == ["normal", "bold"]


def test_heat_without_room_for_numbers_still_tells_them() -> None:
    names = [f"question {place}" for place in range(24)]
    table = pd.DataFrame([{"row": a, "column": b, "value": 0.25} for a in names for b in names])
    chart = heat_chart(table, row="row", column="column", value="value", layout=COLUMN)
    assert all(layer["mark"]["type"] == "rect" for layer in chart.to_dict()["layer"])
    assert "question 0, question 1: 0.25" in tooltips(chart)


def test_scree_says_how_many() -> None:
    table = pd.DataFrame({
        "level": "condition", "component": [1, 2], "eigenvalue": [1.5, 0.5], "share": [0.75, 0.25],
        "chance": [1.2, 0.9], "kept": [True, False],
    })  # fmt: skip
    for chart in (scree_chart(table), components_chart(table)):
        assert {"said": "1 of 2 above chance, 75 % of the variance"} in marks(chart)
