"""The figure of scores: dots with intervals."""

from __future__ import annotations

import pandas as pd

from beholder.analysis.distributions import distributions
from beholder.analysis.figures.distributions import distributions_chart
from beholder.analysis.figures.pairs import preferences_chart, ranks_chart
from beholder.analysis.figures.raters import raters_chart
from beholder.analysis.figures.scores import medians_chart, scores_chart, strengths_chart
from beholder.analysis.figures.theme import COLUMN
from beholder.analysis.participants import raters
from beholder.reporting.figures import to_svg
from support.charts import marks
from support.rating_frames import crowd, means_frame, table_of


def test_every_result_that_has_a_picture_draws_a_valid_chart() -> None:
    pair = {"question": "q", "condition": "a", "other_condition": "b"}
    medians = means_frame().assign(median=50.0, q1=40.0, q3=60.0)
    strength = {"question": "q", "model": "bradley-terry", "level": "condition", "stimulus": "", "comparisons": 4}
    charts = [
        scores_chart(means_frame()),
        scores_chart(pd.concat([means_frame(), means_frame().assign(question="r")])),
        medians_chart(medians),
        preferences_chart(pd.DataFrame([{**pair, "wins": 3, "ties": 0, "losses": 5}])),
        strengths_chart(pd.DataFrame([{**strength, "condition": "a", "quality": 0.5, "low": -1.0, "high": 2.0}])),
        ranks_chart(pd.DataFrame([{"question": "q", "condition": "a", "rank": 1, "probability": 1.0}])),
        raters_chart(table_of(raters(crowd(unused=("p001",))))),
        distributions_chart(table_of(distributions(crowd()))),
    ]
    for chart in charts:
        assert chart.to_dict()["config"]["font"].startswith("Helvetica")


def test_an_interval_with_these_contents_is_a_thick_bar_inside_the_thin_one() -> None:
    both = means_frame().assign(mean=50.0, ci_low=30.0, ci_high=70.0, these_low=45.0, these_high=55.0, contents=4)
    rows = [row for row in marks(scores_chart(both)) if "inner_low" in row]
    ends = {(row["low"], row["inner_low"], row["inner_high"], row["high"]) for row in rows}
    assert ends == {(30.0, 45.0, 55.0, 70.0)}
    assert "; with these contents 45." in rows[0]["tip"]
    assert not [row for row in marks(scores_chart(both.assign(contents=1))) if "inner_low" in row]


def test_a_condition_without_an_interval_and_numbers_without_spread_are_drawn() -> None:
    bare = means_frame(("a", "b")).assign(mean=3.0, ci_low=float("nan"), ci_high=float("nan"), n=1)
    svg = to_svg(lambda layout: scores_chart(bare, layout=layout), COLUMN)
    assert "NaN" not in svg
    assert svg.count(">3.00<") == 2
