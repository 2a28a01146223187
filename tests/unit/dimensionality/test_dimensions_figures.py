"""The figures of dimensions: what they show, on every layout and on what is hardly anything."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.analysis.figures.labels import placed
from beholder.analysis.figures.profile import heat_chart, profile_chart, scree_chart
from beholder.analysis.figures.relation import relation_chart, spread_chart
from beholder.analysis.figures.theme import COLUMN, WIDE, Layout
from beholder.dimensionality.figures import components_chart, correlations_chart
from beholder.reporting.figures import to_svg

NAMES = ("no", "01", "NA", "Größe 2")


def marks(chart: Any) -> list[dict[str, Any]]:
    """Return every row of data that a chart draws."""

    def walk(part: Any) -> list[dict[str, Any]]:
        if isinstance(part, list):
            return [row for one in part for row in walk(one)]
        if not isinstance(part, dict):
            return []
        own = part["data"]["values"] if isinstance(part.get("data"), dict) and "values" in part["data"] else []
        return [*own, *(row for key, one in part.items() if key != "data" for row in walk(one))]

    return walk(chart.to_dict())


def told(chart: Any) -> set[str]:
    return {row["tip"] for row in marks(chart) if "tip" in row}


def profile_rows(levels: tuple[str, ...] = ("",)) -> pd.DataFrame:
    return pd.DataFrame([
        {
            "question": question, "condition": name, "level": level, "n": 12, "mean": 1 + place + 0.1 * shift,
            "ci_low": 0.8 + place, "ci_high": 1.3 + place,
        }
        for question in ("real", "liked")
        for place, name in enumerate(NAMES)
        for shift, level in enumerate(levels)
    ])  # fmt: skip


def test_profile_shows_every_mean() -> None:
    found = told(profile_chart(profile_rows()))
    assert len(found) == 4
    assert "Größe 2\n4.00, 95 % interval 3.80 to 4.30\nn = 12" in found


def test_profile_by_level_leaves_out_the_average() -> None:
    found = told(profile_chart(profile_rows(("", "0°", "45°")), factor="angle"))
    assert len(found) == 8
    assert "01, angle 45°\n2.20, 95 % interval 1.80 to 2.30\nn = 12" in found
    rows = profile_rows(("", "0°", "45°"))
    assert len(told(profile_chart(rows[(rows["level"] == "") & (rows["question"] == "real")]))) == 4


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
    found = {row["word"]: row["bold"] for row in marks(chart) if "word" in row}
    assert found == {"0.999": True, "−0.50": False, "1.00": True}
    weights = [layer["mark"]["fontWeight"] for layer in chart.to_dict()["layer"] if "fontWeight" in layer["mark"]]
    assert weights == ["normal", "bold"]


def test_heat_without_room_for_numbers_still_tells_them() -> None:
    names = [f"question {place}" for place in range(24)]
    table = pd.DataFrame([{"row": a, "column": b, "value": 0.25} for a in names for b in names])
    chart = heat_chart(table, row="row", column="column", value="value", layout=COLUMN)
    assert all(layer["mark"]["type"] == "rect" for layer in chart.to_dict()["layer"])
    assert "question 0, question 1: 0.25" in told(chart)


def test_several_levels_stand_under_each_other() -> None:
    pairs = pd.DataFrame([
        {
            "level": level, "question": a, "other_question": b, "n": 8, "pearson": 0.5, "pearson_low": -0.3,
            "pearson_high": 0.9, "pearson_p": 0.2,
        }
        for level in ("condition", "within")
        for a, b in combinations(NAMES, 2)
    ])  # fmt: skip
    whole = correlations_chart(pairs).to_dict()
    assert [part["title"]["text"] for part in whole["vconcat"]] == ["Between conditions", "Within people"]
    assert "config" in whole
    one = correlations_chart(pairs[pairs["level"] == "within"])
    assert "no, 01: 0.50\n95 % interval −0.30 to 0.90, p = 0.200\nn = 8" in {
        tip.replace("01, no", "no, 01") for tip in told(one)
    }


def test_scree_says_how_many() -> None:
    table = pd.DataFrame({
        "level": "condition", "component": [1, 2], "eigenvalue": [1.5, 0.5], "share": [0.75, 0.25],
        "chance": [1.2, 0.9], "kept": [True, False],
    })  # fmt: skip
    for chart in (scree_chart(table), components_chart(table)):
        assert {"said": "1 of 2 above chance, 75 % of the variance"} in marks(chart)


@pytest.mark.parametrize("layout", [COLUMN, WIDE])
def test_hardly_anything_is_drawn_without_complaint(layout: Layout) -> None:
    for count in (0, 1, 2, 3):
        points = pd.DataFrame({"name": NAMES[:count], "x": [2.0] * count, "y": np.arange(count, dtype=float)})
        said = {
            row["said"] for row in marks(relation_chart(points, across="x", up="y", layout=layout)) if "said" in row
        }
        assert said == {f"{count} points: no line"}
        spreads = pd.DataFrame({"condition": NAMES[:count], "of": "real", "x": 1.0, "spread": 0.5, "range": 1.0})
        spread_chart(spreads, measure="range", layout=layout).to_dict()
    alone = profile_rows()[:1].assign(ci_low=math.nan, ci_high=math.nan)
    assert told(profile_chart(alone, layout=layout)) == {"no\n1.00\nn = 12"}


def test_names_and_dots_survive_the_drawing() -> None:
    points = pd.DataFrame({"name": NAMES, "x": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 2.2, 2.9, 4.1]})
    svg = to_svg(lambda layout: relation_chart(points, across="real", up="liked", layout=layout), COLUMN)
    assert all(name in svg for name in NAMES)
    assert "NaN" not in svg


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(5, 270), st.integers(5, 230)), min_size=1, max_size=14))
def test_names_hide_neither_dots_nor_each_other(dots: list[tuple[int, int]]) -> None:
    names = [f"condition {place}" for place in range(len(dots))]
    found = placed(names, np.array(dots, dtype=float), 10, (278, 239), np.zeros((0, 2)), 2.5)
    boxes = []
    for one in found:
        width = len(one.name) * 5.6
        left = one.x - width if one.is_left else one.x
        boxes.append((left, one.y - 5, left + width, one.y + 5))
    for box in boxes:
        assert -1 <= box[0] <= box[2] <= 279
        assert not any(box[0] < x < box[2] and box[1] < y < box[3] for x, y in dots)
    for mine, other in combinations(boxes, 2):
        assert mine[2] <= other[0] or other[2] <= mine[0] or mine[3] <= other[1] or other[3] <= mine[1]
