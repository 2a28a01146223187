"""The figure of votes needed."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from beholder.analysis.figures.theme import COLUMN, WIDE
from beholder.analysis.figures.votes_needed import votes_needed_chart
from beholder.analysis.votes_needed import default_curves
from beholder.reporting.figures import to_svg
from support.planted_votes import planted


@pytest.mark.parametrize("layout", [COLUMN, WIDE])
def test_the_figure_marks_how_many_votes_there_are(layout: Any) -> None:
    result = default_curves(planted())
    assert result is not None
    drawn = to_svg(lambda layout: votes_needed_chart(result.table, layout=layout), layout)
    assert "12 now" in drawn
    assert "Correlation r" in drawn
    assert "RMSE" in drawn
    two = pd.concat([result.table.assign(question=name) for name in ("Größe 2", "01")])
    both = to_svg(lambda layout: votes_needed_chart(two, layout=layout), layout)
    assert "Größe 2" in both
    assert "RMSE" not in both
