"""Text in figures: names of dots that hide nothing, and sentences about a line and a dip."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from beholder.analysis.figures.theme import INK, PAPER, SOFT, Layout, chart_of
from beholder.formats import interval, number
from beholder.stats.intervals import LEVEL, Floats
from beholder.stats.regression import Dip, FittedLine

MAX_NAMES = 24
"""More names than this hide the picture."""
_REACHES = (0, 12, 26, 42, 60)
"""Distances of a name from its dot in pixels; from the second on, a thin line connects them."""


_Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom."""


class PlacedName(NamedTuple):
    """The position of a name in pixels, and the line to its dot."""

    name: str
    x: float
    y: float
    """The middle of its height."""
    is_left: bool
    """Whether x is the right end of the name, to the left of its dot."""
    is_led: bool
    """Whether the name is far from its dot and needs a line."""
    from_x: float
    from_y: float
    to_x: float
    to_y: float
    """Its dot."""


def place_names(
    names: Sequence[str], dots: Floats, size: float, area: tuple[float, float], near: Floats, radius: float
) -> list[PlacedName]:
    """Return the positions of names; names without a free position are left out.

    `dots` are x and y of each name's dot in pixels, `near` places that a name should not cover but may, `room` is the
    radius of a dot, and `size` that of the letters.
    """
    gaps = np.hypot(*(dots[:, None, :] - dots[None, :, :]).transpose(2, 0, 1))
    # The most crowded first: they have the fewest places to go.
    crowd = np.sum(1 / (gaps + 8), axis=1)
    occupied: list[_Box] = []
    placed: dict[int, PlacedName] = {}
    for mine in np.argsort(-crowd, kind="stable"):
        width, height = len(names[mine]) * size * 0.6, size * 1.1
        best, least = None, math.inf
        for reach in _REACHES:
            for turn in range(16):
                angle = 2 * math.pi * turn / 16
                box = _box(dots[mine], angle, reach + radius + 4, width, height)
                if _is_outside(box, area) or any(_is_over(box, other) for other in occupied):
                    continue
                if _inside(box, dots, radius + 1):
                    continue
                # A name is read most easily to the right or left of its dot; then above and below.
                cost = reach + 3 * abs(math.sin(angle)) + 2 * _inside(box, near, 0) + 0.5 * (math.cos(angle) < 0)
                if cost < least:
                    best, least = (box, reach), cost
        if best is not None:
            box, reach = best
            occupied.append(box)
            x, y = dots[mine]
            start = (min(max(x, box[0] - 1), box[2] + 1), min(max(y, box[1] + 2), box[3] - 2))
            is_left = bool(box[0] + box[2] < 2 * x)
            end = box[2] if is_left else box[0]
            ends = map(float, (*start, x, y))
            placed[int(mine)] = PlacedName(names[mine], end, (box[1] + box[3]) / 2, is_left, reach > 0, *ends)
    return [placed[place] for place in sorted(placed)]


def name_layers(names: Sequence[PlacedName], layout: Layout) -> list[Any]:
    """Return the names as layers of a chart, with thin lines to distant dots."""
    import altair as alt

    places: dict[str, Any] = {"scale": None, "axis": None}
    where = {"x": alt.X("x:Q", **places), "y": alt.Y("y:Q", **places)}
    led = [{"x": one.from_x, "y": one.from_y, "x2": one.to_x, "y2": one.to_y} for one in names if one.is_led]
    rule = chart_of(led).mark_rule(color=SOFT, strokeWidth=0.6, opacity=0.8, aria=False)
    layers = [rule.encode(**where, x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))]
    for is_left, align in ((True, "right"), (False, "left")):
        style: dict[str, Any] = {"align": align, "baseline": "middle", "fontSize": layout.small, "aria": False}
        texts = chart_of([{"name": one.name, "x": one.x, "y": one.y} for one in names if one.is_left is is_left])
        # What is under a name is held off by an edge in the colour of the paper.
        edge = texts.mark_text(color=PAPER, stroke=PAPER, strokeWidth=3, strokeJoin="round", opacity=0.85, **style)
        name = texts.mark_text(color=INK, **style)
        layers += [mark.encode(**where, text=alt.Text("name:N")) for mark in (edge, name)]
    return layers


def _box(dot: Floats, angle: float, reach: float, width: float, height: float) -> _Box:
    """Return left, top, right and bottom of a name in this direction from its dot."""
    x, y = float(dot[0]) + reach * math.cos(angle), float(dot[1]) + reach * math.sin(angle)
    left = x - width * (1 - math.cos(angle)) / 2
    top = y - height * (1 - math.sin(angle)) / 2
    return left, top, left + width, top + height


def _is_outside(box: _Box, area: tuple[float, float]) -> bool:
    return box[0] < 2 or box[1] < 2 or box[2] > area[0] - 2 or box[3] > area[1] - 2


def _is_over(box: _Box, other: _Box) -> bool:
    return box[0] < other[2] + 6 and other[0] < box[2] + 6 and box[1] < other[3] and other[1] < box[3]


def _inside(box: _Box, places: Floats, air: float) -> int:
    """Return the number of places inside a box, or nearer to it than `air`."""
    x, y = places[:, 0], places[:, 1]
    return int(((x > box[0] - air) & (x < box[2] + air) & (y > box[1] - air) & (y < box[3] + air)).sum())


# Sentences about a line and a dip


def line_text(fitted: FittedLine) -> str:
    """Return R² and the slope with its interval; for too few points, that they have no line."""
    if math.isnan(fitted.r_squared):
        return f"{fitted.n} points: no line"
    decimals = _decimals(fitted.slope)
    slope = f"{number(fitted.slope, decimals)} ({interval(fitted.low, fitted.high, decimals)})"
    return f"R² = {number(fitted.r_squared, 3)}, slope {slope}"


def dip_text(dip: Dip) -> str:
    """Return a short sentence about the dip."""
    p = "p < 0.001" if dip.p < 0.001 else f"p = {number(dip.p, 3)}"
    if dip.verdict == "yes":
        return f"A dip at {number(dip.low_at, 2)}, {number(dip.depth, 2)} deep ({p})"
    if dip.verdict == "no":
        deeper = f" deeper than {number(dip.depth_most, 2)}" if dip.depth_most >= 0.005 else ""
        return f"No dip{deeper} (curve against line: {p})"
    if dip.p < 1 - LEVEL:
        return f"A curve fits better, without a dip inside the data ({p})"
    return f"No dip found, and none ruled out ({p})"


def _decimals(slope: float) -> int:
    """Return how many decimals show two digits of a slope."""
    return 2 if slope == 0 else min(6, max(2, 1 - math.floor(math.log10(abs(slope)))))
