"""Names in a figure: they cover neither dots nor each other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.analysis.figures.labels import place_names


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(5, 270), st.integers(5, 230)), min_size=1, max_size=14))
def test_names_hide_neither_dots_nor_each_other(dots: list[tuple[int, int]]) -> None:
    names = [f"condition {place}" for place in range(len(dots))]
    actual = place_names(names, np.array(dots, dtype=float), 10, (278, 239), np.zeros((0, 2)), 2.5)
    boxes = []
    for one in actual:
        width = len(one.name) * 5.6
        left = one.x - width if one.is_left else one.x
        boxes.append((left, one.y - 5, left + width, one.y + 5))
    for box in boxes:
        assert -1 <= box[0] <= box[2] <= 279
        assert not any(box[0] < x < box[2] and box[1] < y < box[3] for x, y in dots)
    for mine, other in combinations(boxes, 2):
        assert mine[2] <= other[0] or other[2] <= mine[0] or mine[3] <= other[1] or other[3] <= mine[1]
