"""The figure of one question against another."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.figures.profile import profile_chart
from beholder.analysis.figures.relation import relation_chart, spread_chart
from beholder.analysis.figures.theme import COLUMN, WIDE, Layout
from beholder.reporting.figures import to_svg
from support.charts import NAMES, marks, profile_rows, tooltips


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
    assert tooltips(profile_chart(alone, layout=layout)) == {"no\n1.00\nn = 12"}


def test_names_and_dots_survive_the_drawing() -> None:
    points = pd.DataFrame({"name": NAMES, "x": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 2.2, 2.9, 4.1]})
    svg = to_svg(lambda layout: relation_chart(points, across="real", up="liked", layout=layout), COLUMN)
    assert all(name in svg for name in NAMES)
    assert "NaN" not in svg
