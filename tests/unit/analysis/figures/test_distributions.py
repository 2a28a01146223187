"""The figures of distributions and of times."""

from __future__ import annotations

import re
from itertools import pairwise

import pandas as pd
import pytest

from beholder.analysis.distributions import distributions
from beholder.analysis.figures.distributions import distributions_chart, times_chart
from beholder.analysis.figures.theme import WIDE
from beholder.reporting.figures import to_svg
from support.charts import marks, tooltips
from support.rating_frames import crowd, ratings_frame, table_of


def test_whole_values_are_stacked_to_one_with_their_words() -> None:
    data = ratings_frame([("p1", "x", "a", 1.0), ("p2", "x", "a", 3.0), ("p3", "x", "a", 3.0)])
    table = table_of(distributions(data.assign(scale_min=1.0, scale_max=3.0)))
    chart = distributions_chart(table, words={1.0: "bad", 3.0: "good"})
    assert tooltips(chart) == {"a\nbad: 33 %\nn = 1", "a\ngood: 67 %\nn = 2"}
    assert max(row["stop"] for row in marks(chart) if "stop" in row) == pytest.approx(1)


def test_words_of_a_legend_have_room_in_a_wider_font() -> None:
    words = {1.0: "A clearly better", 2.0: "A slightly better", 3.0: "B clearly better"}
    data = ratings_frame([("p1", "x", "a", 1.0), ("p2", "x", "a", 2.0), ("p3", "x", "a", 3.0)])
    table = table_of(distributions(data.assign(scale_min=1.0, scale_max=3.0)))
    svg = to_svg(lambda layout: distributions_chart(table, words=words, layout=layout), WIDE)
    legend = svg[svg.index("role-legend-entry") :]
    starts = [float(x) for x in re.findall(r'translate\(([\d.]+),0\)"><path class="background"', legend)[1:4]]
    assert len(starts) == 3
    for word, (start, following) in zip(words.values(), pairwise(starts), strict=False):
        assert following - start > 16 + len(word) * WIDE.small * 0.5, "its square, and the word in DejaVu Sans"


def test_long_scales_are_histograms_with_their_quartiles() -> None:
    table = table_of(distributions(crowd()))
    chart = distributions_chart(table, quartiles={"a": (40.0, 50.0, 60.0)})
    assert "a\nmedian 50.0, quartiles 40.0 and 60.0" in tooltips(chart)


def test_times_are_drawn_by_the_page_of_the_session() -> None:
    columns = ["of", "position", "condition", "group", "n", "mean_s", "median_s", "q1_s", "q3_s"]
    nan = float("nan")
    table = pd.DataFrame([("page", 1.0, "", "", 3, 8.5, 8.0, 7.0, 9.0), ("rating", nan, "", "", 6, 4.0, 4.0, 3.0, 5.0)])
    assert tooltips(times_chart(table.set_axis(columns, axis=1))) == {
        "Page 1\nmedian 8.0 s, quartiles 7.0 and 9.0 s\nn = 3"
    }
