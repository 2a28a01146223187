"""Kendall's W: how far raters who have all rated everything put it in the same order."""

from __future__ import annotations

from typing import NamedTuple

from scipy import stats

from beholder.stats.rater_models.votes import Floats


class Concordance(NamedTuple):
    """Kendall's W, corrected for ties, and Friedman's test of it against no common order."""

    w: float
    chi2: float
    df: int
    p: float


def kendall_w(table: Floats) -> Concordance | None:
    """Return W of a table of things by raters without gaps; None with fewer than two of either, or only ties."""
    n, k = table.shape
    if n < 2 or k < 2:
        return None
    ranks = stats.rankdata(table, axis=0)
    spread = float(((ranks.sum(axis=1) - k * (n + 1) / 2) ** 2).sum())
    # The largest spread that there can be: that of ranks with these ties in one and the same order.
    most = k * float(((ranks - (n + 1) / 2) ** 2).sum())
    if most == 0:
        return None
    w = spread / most
    chi2 = k * (n - 1) * w
    return Concordance(w, chi2, n - 1, float(stats.chi2.sf(chi2, n - 1)))
