"""What a line and a dip say, in a few words."""

from __future__ import annotations

import math

from beholder.analyse.plots.numbers import interval, number
from beholder.stats.interval import LEVEL
from beholder.stats.relation import Dip, Line


def line_words(fitted: Line) -> str:
    """Return R² and the slope with its interval, or that there is no line."""
    if math.isnan(fitted.r_squared):
        return f"{fitted.n} points: no line"
    decimals = _decimals(fitted.slope)
    slope = f"{number(fitted.slope, decimals)} ({interval(fitted.low, fitted.high, decimals)})"
    return f"R² = {number(fitted.r_squared, 3)}, slope {slope}"


def dip_words(dip: Dip) -> str:
    """Return in a few words whether there is a dip."""
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
