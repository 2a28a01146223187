"""Wilcoxon's signed rank test with zeros kept in the ranking (Pratt)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

_EXACT_UP_TO = 50
_EXHAUSTIVE_UP_TO = 13
# Means of sliders are sums of fractions: differences that are equal on paper may differ in the last bits.
_DECIMALS = 9


class SignedRank(NamedTuple):
    """The smaller rank sum, the two-sided p-value, and how it was found."""

    statistic: float
    p: float
    method: str


def signed_rank(differences: ArrayLike) -> SignedRank:
    """Return the test of symmetry about zero; p is 1 when every difference is zero and NaN for fewer than two.

    Exact without ties and zeros up to 50 differences; all sign patterns up to 13; else the normal approximation
    without continuity correction.
    """
    d = np.round(np.asarray(differences, dtype=float), _DECIMALS)
    if len(d) < 2:
        return SignedRank(math.nan, math.nan, "")
    if not d.any():
        return SignedRank(0.0, 1.0, "Wilcoxon (Pratt), all differences zero")
    has_ties = not d.all() or len(np.unique(np.abs(d))) < len(d)
    if has_ties and len(d) <= _EXHAUSTIVE_UP_TO:
        return _every_sign_pattern(d)
    method = "exact" if not has_ties and len(d) <= _EXACT_UP_TO else "asymptotic"
    found = stats.wilcoxon(d, zero_method="pratt", correction=False, method=method)
    return SignedRank(float(found.statistic), float(found.pvalue), f"Wilcoxon (Pratt), {method}")


def _every_sign_pattern(d: NDArray[np.float64]) -> SignedRank:
    """Return the exact p-value under random signs of the differences that are not zero."""
    ranks = stats.rankdata(np.abs(d))[d != 0]
    up = float(ranks[d[d != 0] > 0].sum())
    total = float(ranks.sum())
    patterns = (np.arange(2 ** len(ranks))[:, None] >> np.arange(len(ranks))) & 1
    sums = patterns @ ranks
    as_far = np.abs(2 * sums - total) >= abs(2 * up - total) - 1e-9
    return SignedRank(min(up, total - up), float(as_far.mean()), "Wilcoxon (Pratt), all sign patterns")
