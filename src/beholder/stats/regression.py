"""The line of one variable on another, and whether a cubic with a dip fits better (the uncanny valley)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from beholder.stats.intervals import LEVEL, Floats

_MIN_POINTS = 6
"""Points below which a curve with four coefficients says nothing."""
_SHALLOW_DIP = 0.2
"""Of the range of y: if the data exclude a fall deeper than this, the verdict is that y has no dip."""
_GRID = 41
_EXACT = 1e-18
"""Of the variance: what is left of it is rounding."""


class FittedLine(NamedTuple):
    """The least-squares line; NaN where it is undefined."""

    n: int
    slope: float
    low: float
    high: float
    intercept: float
    r_squared: float
    p: float
    """Of a slope of zero."""


class Dip(NamedTuple):
    """Whether y rises, falls and rises again along x; NaN where it cannot be said."""

    verdict: str
    """yes, no or undecided."""
    f: float
    p: float
    """Of the line, against the cubic curve."""
    aicc_line: float
    aicc_curve: float
    depth: float
    """How far the curve falls into its dip, and rises again at least; 0 where it has none."""
    depth_most: float
    """The deepest dip that the data leave room for, with 95 % confidence (Scheffé)."""
    high_at: float
    low_at: float
    """Where on x the curve turns down, and up again; NaN where it does not."""
    why: str
    """What hinders the test, where something does."""


class CubicCurve(NamedTuple):
    """A cubic curve on x moved and scaled to -1 to 1, and the variance of its coefficients."""

    middle: float
    half: float
    coefficients: Floats
    variance: Floats
    squares: float

    def at(self, x: ArrayLike) -> Floats:
        """Return the heights of the curve."""
        return _powers((np.asarray(x, dtype=float) - self.middle) / self.half, 4) @ self.coefficients


def line(x: ArrayLike, y: ArrayLike) -> FittedLine:
    """Return the line of y on x, its slope with an interval of Student's t, and R²."""
    at, heights = _complete_pairs(x, y)
    n = len(at)
    if n < 2 or np.ptp(at) == 0:
        return FittedLine(n, *(math.nan,) * 6)
    off = at - at.mean()
    across = float(off @ off)
    slope = float(off @ (heights - heights.mean())) / across
    intercept = float(heights.mean() - slope * at.mean())
    left = float(np.sum((heights - intercept - slope * at) ** 2))
    whole = float(np.sum((heights - heights.mean()) ** 2))
    if n < 3 or whole == 0:
        return FittedLine(n, slope, math.nan, math.nan, intercept, math.nan, math.nan)
    left = 0.0 if left < _EXACT * whole else left
    error = math.sqrt(left / (n - 2) / across)
    reach = float(scipy.stats.t.ppf((1 + LEVEL) / 2, n - 2)) * error
    p = float(2 * scipy.stats.t.sf(abs(slope) / error, n - 2)) if error else 0.0
    return FittedLine(n, slope, slope - reach, slope + reach, intercept, 1 - left / whole, p)


def line_band(x: ArrayLike, y: ArrayLike, places: ArrayLike) -> tuple[Floats, Floats]:
    """Return the ends of the 95 % interval of the line at some places; three points are needed."""
    at, heights = _complete_pairs(x, y)
    fitted = line(at, heights)
    n, off = len(at), at - at.mean()
    left = float(np.sum((heights - fitted.intercept - fitted.slope * at) ** 2))
    there = np.asarray(places, dtype=float)
    error = np.sqrt(left / (n - 2) * (1 / n + (there - at.mean()) ** 2 / float(off @ off)))
    reach = float(scipy.stats.t.ppf((1 + LEVEL) / 2, n - 2)) * error
    middle = fitted.intercept + fitted.slope * there
    return middle - reach, middle + reach


def cubic(x: ArrayLike, y: ArrayLike) -> CubicCurve | None:
    """Return the least-squares cubic; None where x has fewer than four values, or with too few points."""
    at, heights = _complete_pairs(x, y)
    if len(at) < _MIN_POINTS or len(np.unique(at)) < 4:
        return None
    middle, half = float(at.min() + at.max()) / 2, float(np.ptp(at)) / 2
    powers = _powers((at - middle) / half, 4)
    solution, _, rank, _ = np.linalg.lstsq(powers, heights, rcond=None)
    if rank < 4:
        return None
    coefficients = np.asarray(solution, np.float64)
    squares = float(np.sum((heights - powers @ coefficients) ** 2))
    variance = np.asarray(squares / (len(at) - 4) * np.linalg.inv(powers.T @ powers), np.float64)
    return CubicCurve(middle, half, coefficients, variance, squares)


def dip(x: ArrayLike, y: ArrayLike) -> Dip:
    """Return whether a curve with a dip fits better than the line.

    Yes: the cubic fits better (nested F test, 5 %) and, inside the data, turns down and then up again. No: no dip
    deeper than a fifth of the range of y is left room for. Undecided: neither.
    """
    at, heights = _complete_pairs(x, y)
    n = len(at)
    if n < _MIN_POINTS:
        return _undecided(f"too few for a dip: {n} points, {_MIN_POINTS} are needed")
    curve = cubic(at, heights)
    if curve is None:
        return _undecided("too few different values for a dip: 4 are needed")
    whole = float(np.sum((heights - heights.mean()) ** 2))
    if whole == 0:
        return _undecided("all values are equal")
    fitted = line(at, heights)
    left, curved = (
        0.0 if one < _EXACT * whole else one
        for one in (float(np.sum((heights - fitted.intercept - fitted.slope * at) ** 2)), curve.squares)
    )
    f, p = _nested(left, curved, n - 4)
    turns = _turns(curve)
    depth, most = _depths(curve, n)
    verdict = "undecided"
    if p < 1 - LEVEL and turns is not None:
        verdict = "yes"
    elif most < _SHALLOW_DIP * np.ptp(heights):
        verdict = "no"
    high_at, low_at = turns or (math.nan, math.nan)
    return Dip(verdict, f, p, _aicc(left, n, 3), _aicc(curved, n, 5), depth, most, high_at, low_at, "")


def _complete_pairs(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    at, heights = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    is_known = ~(np.isnan(at) | np.isnan(heights))
    return at[is_known], heights[is_known]


def _powers(z: Floats, terms: int) -> Floats:
    return np.vander(z, terms, increasing=True)


def _undecided(why: str) -> Dip:
    return Dip("undecided", *(math.nan,) * 8, why)


def _nested(left: float, curved: float, df: int) -> tuple[float, float]:
    """Return F and p of the line against the curve; F is NaN where nothing is left to divide by."""
    if curved == 0:
        return math.nan, 1.0 if left == 0 else 0.0
    f = max(0.0, left - curved) / 2 / (curved / df)
    return f, float(scipy.stats.f.sf(f, 2, df))


def _aicc(squares: float, n: int, coefficients: int) -> float:
    """Return Akaike's criterion for small samples; NaN where it has no value (the variance counts as a coefficient)."""
    if squares == 0 or n - coefficients - 1 < 1:
        return math.nan
    return n * math.log(squares / n) + 2 * coefficients + 2 * coefficients * (coefficients + 1) / (n - coefficients - 1)


def _turns(curve: CubicCurve) -> tuple[float, float] | None:
    """Return where the curve turns down and where up again, if both are inside the data and in this order."""
    _, one, two, three = curve.coefficients
    under = two**2 - 3 * one * three
    if three <= 0 or under <= 0:
        return None
    high, low = (float((-two + sign * math.sqrt(under)) / (3 * three)) for sign in (-1, 1))
    if not -1 < high < low < 1:
        return None
    return curve.middle + curve.half * high, curve.middle + curve.half * low


def _depths(curve: CubicCurve, n: int) -> tuple[float, float]:
    """Return how deep the dip of the curve is, and how deep it may be."""
    grid = _powers(np.linspace(-1, 1, _GRID), 4)
    between = grid[:, None, :] - grid[None, :, :]
    fall = between @ curve.coefficients
    error = np.sqrt(np.maximum(np.einsum("ijk,ijk->ij", between @ curve.variance, between), 0))
    # Scheffé's factor holds for all falls at once: a difference of two heights has three coefficients in it.
    reach = math.sqrt(3 * float(scipy.stats.f.ppf(LEVEL, 3, n - 4)))
    return _deepest(fall), _deepest(fall + reach * error)


def _deepest(fall: Floats) -> float:
    """Return the largest fall of some point below both an earlier and a later one."""
    place = np.arange(len(fall))
    before = np.where(place[:, None] < place, fall, -np.inf).max(axis=0)
    after = np.where(place[:, None] > place, fall, -np.inf).max(axis=0)
    return max(0.0, float(np.minimum(before, after).max()))
