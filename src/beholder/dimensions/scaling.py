"""Questions on different scales, brought to one before they are averaged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from beholder.dimensions.joined import Joined
from beholder.dimensions.levels import Rows
from beholder.stats.clustered import Floats


def factors(joined: Joined, questions: Sequence[str]) -> Floats:
    """Return by what each question is stretched so that all scales are as wide as the first; 1 where nobody tells."""
    widths = _widths(joined)
    first = next((widths[name] for name in joined.questions if name in widths), 1.0)
    return np.array([first / widths[name] if name in widths else 1.0 for name in questions])


def scaled(rows: Rows, joined: Joined, questions: Sequence[str]) -> Rows:
    """Return rows with all questions on scales of one width."""
    return rows._replace(value=rows.value * factors(joined, questions))


def scaling_note(joined: Joined) -> str:
    """Return what was done to scales of different widths."""
    if len(set(_widths(joined).values())) < 2:
        return ""
    return " Scales differ: before questions are averaged, each is stretched to the width of the first question's."


def _widths(joined: Joined) -> dict[str, float]:
    return {
        name: ends.high - ends.low
        for part in joined.parts
        if part.items is not None
        for name, ends in part.items.ends.items()
        if ends.high > ends.low
    }
