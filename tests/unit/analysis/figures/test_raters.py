"""The figures of raters."""

from __future__ import annotations

from beholder.analysis.figures.raters import raters_chart
from beholder.analysis.figures.theme import COLUMN
from beholder.analysis.participants import raters
from beholder.reporting.figures import to_svg
from support.rating_frames import crowd, table_of


def test_one_rater_has_no_map_and_few_ratings_are_shown_by_their_spread() -> None:
    assert raters(crowd(1)) is None
    data = crowd()
    table = table_of(raters(data[data["content"].isin(["x0", "x5", "x9"])]))
    assert table["agreement"].isna().all()
    assert "Spread round the others" in to_svg(lambda layout: raters_chart(table, layout=layout), COLUMN)
