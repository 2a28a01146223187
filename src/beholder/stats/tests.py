"""Tests of paired differences and corrections for several tests.

Wilcoxon's signed rank test with a named rule for zeros, the sign test, Holm's and Benjamini and Hochberg's corrections,
and a robust z for outliers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.stats.intervals import LEVEL

Zeros: TypeAlias = Literal["pratt", "wilcox", "zsplit"]
"""Differences of zero: ranked and then left out (Pratt), left out first (Wilcoxon), or half up and half down."""
ZERO_RULES: Mapping[Zeros, str] = {"pratt": "Pratt", "wilcox": "zeros left out", "zsplit": "zeros split"}
"""What the rule for zeros is called."""
_WILCOXON = "Wilcoxon (1945), Biometrics Bulletin 1"
_PRATT = "Pratt (1959), Journal of the American Statistical Association 54"
SIGNED_RANK_CITATIONS: Mapping[Zeros, str] = {
    "pratt": f"{_WILCOXON}; {_PRATT}",
    "wilcox": _WILCOXON,
    "zsplit": _WILCOXON,
}
_EXACT_UP_TO = 50
_EXHAUSTIVE_UP_TO = 13
# Means of sliders are sums of fractions: differences that are equal on paper may differ in the last bits.
_DECIMALS = 9


class SignedRank(NamedTuple):
    """The smaller rank sum, the two-sided p-value, and the method."""

    statistic: float
    p: float
    method: str
    biserial: float
    """Matched rank-biserial correlation: rank sums up minus down, as a share of both (Kerby 2014); zeros left out."""


def signed_rank(differences: ArrayLike, *, zeros: Zeros = "pratt", correction: bool = False) -> SignedRank:
    """Return the test of symmetry about zero; p is 1 when every difference is zero and NaN for fewer than two.

    Exact without ties and zeros up to 50 differences; all sign patterns up to 13; else the normal approximation,
    without continuity correction unless it is asked for.
    """
    d = np.round(np.asarray(differences, dtype=float), _DECIMALS)
    name = f"Wilcoxon ({ZERO_RULES[zeros]})"
    if len(d) < 2:
        return SignedRank(math.nan, math.nan, "", math.nan)
    if not d.any():
        return SignedRank(0.0, 1.0, f"{name}, all differences zero", math.nan)
    up, down = _rank_sums(d[d != 0])
    biserial = (up - down) / (up + down)
    has_ties = not d.all() or len(np.unique(np.abs(d))) < len(d)
    if has_ties and len(d) <= _EXHAUSTIVE_UP_TO:
        return SignedRank(*_every_sign_pattern(d, zeros), f"{name}, all sign patterns", biserial)
    method = "asymptotic" if has_ties or len(d) > _EXACT_UP_TO else "exact"
    test = scipy.stats.wilcoxon(d, zero_method=zeros, correction=correction, method=method)
    return SignedRank(float(test.statistic), float(test.pvalue), f"{name}, {method}", biserial)


def _rank_sums(d: NDArray[np.float64]) -> tuple[float, float]:
    """Return the rank sums up and down."""
    ranks = scipy.stats.rankdata(np.abs(d))
    return float(ranks[d > 0].sum()), float(ranks[d < 0].sum())


def _every_sign_pattern(d: NDArray[np.float64], zeros: Zeros) -> tuple[float, float]:
    """Return the smaller rank sum and the exact p under random signs of the differences that are not zero.

    What scipy does by default; but it calls Python for each pattern, seconds for 13 differences.
    """
    d = d if zeros != "wilcox" else d[d != 0]
    up, down = _rank_sums(d)
    every = scipy.stats.rankdata(np.abs(d))
    ranks = every[d != 0]
    patterns = (np.arange(2 ** len(ranks))[:, None] >> np.arange(len(ranks))) & 1
    as_far = np.abs(2 * (patterns @ ranks) - up - down) >= abs(up - down) - 1e-9
    half = float(every[d == 0].sum()) / 2 if zeros == "zsplit" else 0.0
    return min(up, down) + half, float(as_far.mean())


# The sign test


class Proportion(NamedTuple):
    """A share with Clopper and Pearson's exact interval, and its two-sided p-value against one half."""

    share: float
    low: float
    high: float
    p: float


class SignTest(NamedTuple):
    """How many differences are above zero, below zero and zero, and the share of those above among the first two."""

    above: int
    below: int
    ties: int
    proportion: Proportion


def clopper_pearson(k: int, n: int, level: float = LEVEL) -> Proportion:
    """Return the share of k in n with its exact interval, and the exact binomial test of one half; NaN for none."""
    if n == 0:
        return Proportion(math.nan, math.nan, math.nan, math.nan)
    tail = (1 - level) / 2
    low = float(special.betaincinv(k, n - k + 1, tail)) if k else 0.0
    high = float(special.betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    return Proportion(k / n, low, high, min(1.0, float(2 * special.bdtr(min(k, n - k), n, 0.5))))


def sign_test(differences: ArrayLike, level: float = LEVEL) -> SignTest:
    """Return how often differences are above zero, ties ignored, with the exact interval and test."""
    d = np.round(np.asarray(differences, dtype=float), _DECIMALS)
    above, below = int((d > 0).sum()), int((d < 0).sum())
    return SignTest(above, below, len(d) - above - below, clopper_pearson(above, above + below, level))


# Two one-sided tests against a margin (Schuirmann 1987)


EQUIVALENCE_CITATION = "Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15"


class MarginTests(NamedTuple):
    """One-sided p-values of differences against a margin on either side."""

    not_below: NDArray[np.float64]
    """Of the hypothesis that the difference is the margin below zero, or further."""
    not_above: NDArray[np.float64]

    @property
    def within(self) -> NDArray[np.float64]:
        """Of the hypothesis that the difference is not within the margin: both have to be refuted."""
        return np.maximum(self.not_below, self.not_above)


def margin_tests(difference: ArrayLike, se: ArrayLike, df: ArrayLike, margin: ArrayLike) -> MarginTests:
    """Return the two one-sided t tests of differences; NaN where there is no standard error."""
    d, error, freedom, m = (np.asarray(one, np.float64) for one in (difference, se, df, margin))
    return MarginTests(special.stdtr(freedom, -(d + m) / error), special.stdtr(freedom, (d - m) / error))


# Holm's correction


HOLM_CITATION = "Holm (1979), Scandinavian Journal of Statistics 6"


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Return the adjusted p-values of one family, in the order given. A test that was not made (NaN) does not count.

    Of a table every row is a family.
    """
    raw = np.asarray(p, dtype=float)
    order = np.argsort(raw, axis=-1, kind="stable")  # what was not made comes last
    tested = np.count_nonzero(~np.isnan(raw), axis=-1)[..., np.newaxis]
    factors = tested - np.arange(raw.shape[-1])
    adjusted = np.empty(raw.shape)
    steps = np.maximum.accumulate(factors * np.take_along_axis(raw, order, -1), axis=-1)
    np.put_along_axis(adjusted, order, np.minimum(1.0, steps), -1)
    return adjusted


# Benjamini and Hochberg's correction


FALSE_DISCOVERY_CITATION = "Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57"


def benjamini_hochberg(p: ArrayLike) -> NDArray[np.float64]:
    """Return the adjusted p-values of one family, in the order given. A test that was not made (NaN) does not count."""
    raw = np.asarray(p, dtype=float)
    adjusted = np.full(raw.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(raw))
    order = tested[np.argsort(-raw[tested], kind="stable")]
    factors = len(order) / np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(factors * raw[order]))
    return adjusted


# Robust z: distance from the median in standard deviations that outliers do not widen


_NORMAL = 1.4826
"""A standard deviation of normal numbers in median absolute deviations."""


def robust_z(values: NDArray[np.float64], least: float = 0.0) -> NDArray[np.float64] | None:
    """Return (value - median) / (1.4826 MAD) of each; None where more than half are equal, or without values.

    The deviation is taken to be `least` at least.
    """
    if not len(values):
        return None
    off = values - np.median(values)
    width = _NORMAL * float(np.median(np.abs(off)))
    return off / max(width, least) if width > 0 else None
