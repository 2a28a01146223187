"""The axis of a scale: its ends, its ticks, and the bands of its words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from beholder.study.scale import Scale


class Band(NamedTuple):
    """A stretch of the scale with its word."""

    start: float
    stop: float
    middle: float
    text: str


class ScaleAxis(NamedTuple):
    """From where to where values go, and what stands beside them."""

    low: float
    high: float
    bands: tuple[Band, ...]
    scale: Scale | None = None
    zero: float | None = None
    """Where neither side is favoured."""

    def ticks(self, most: int) -> list[float] | None:
        """Return tick values from end to end of the scale: every category, or a few even steps."""
        if self.scale is None:
            return None
        scale, span = self.scale, self.scale.max - self.scale.min
        for parts in (span / scale.step, 5, 4, 6, 2, 1):
            if parts == round(parts) and parts < most and round(span / parts / scale.step, 9).is_integer():
                return [scale.min + span * place / parts for place in range(int(parts) + 1)]
        return [scale.min, scale.max]


def axis_of_scale(scale: Scale, zero: float | None = None) -> ScaleAxis:
    """Return the axis of a scale that is known."""
    low, high, bands = scale_bands(scale)
    return ScaleAxis(low, high, tuple(bands), scale, zero)


def axis_of_values(values: Iterable[float], zero: float | None = None) -> ScaleAxis:
    """Return an axis with some air round all values."""
    found = [value for value in values if not math.isnan(value)]
    low, high = (min(found), max(found)) if found else (0.0, 1.0)
    air = 0.05 * (high - low) or 0.5
    return ScaleAxis(low - air, high + air, (Band(low - air, high + air, (low + high) / 2, ""),), None, zero)


def scale_bands(scale: Scale) -> tuple[float, float, list[Band]]:
    """Return the ends of the axis, and the bands round the labels: each reaches half-way to its neighbours.

    Where a label stands at the very end of the scale, as on category scales, the axis goes on for half a band.
    """
    labels = sorted(scale.labels)
    if len(labels) < 2:
        return scale.min, scale.max, [Band(scale.min, scale.max, (scale.min + scale.max) / 2, "")]
    places = [place for place, _ in labels]
    edges = [(a + b) / 2 for a, b in pairwise(places)]
    low = min(scale.min, places[0] - (edges[0] - places[0])) if places[0] == scale.min else scale.min
    high = max(scale.max, places[-1] + (places[-1] - edges[-1])) if places[-1] == scale.max else scale.max
    starts, stops = [low, *edges], [*edges, high]
    return low, high, [
        Band(start, stop, (start + stop) / 2, text)
        for start, stop, (_, text) in zip(starts, stops, labels, strict=True)
    ]  # fmt: skip
