"""Correlations of many samples at once, drawn from the same things with replacement."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
SEED = 1
DRAWS = 1000
# Rows of the matrix of signs that are in memory at a time.
_ROWS = 512
# Sums of fractions: what does not vary on paper may vary in the last bits.
_NO_SPREAD = 1e-12


def drawn_counts(n: int, seed: int = SEED, draws: int = DRAWS) -> Floats:
    """Return how often each of n things is in each sample: one row for each sample of n."""
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws).astype(float)


def pearson_draws(x: Floats, y: Floats, counts: Floats) -> Floats:
    """Return Pearson's r of every sample; NaN where nothing varies."""
    x, y = x - x.mean(), y - y.mean()
    n = counts.sum(axis=1)
    sum_x, sum_y = counts @ x, counts @ y
    spread_x, spread_y = counts @ x**2 - sum_x**2 / n, counts @ y**2 - sum_y**2 / n
    varies = (spread_x > _NO_SPREAD * (x @ x)) & (spread_y > _NO_SPREAD * (y @ y))
    below = np.sqrt(np.where(varies, spread_x * spread_y, 1.0))
    return np.where(varies, np.clip((counts @ (x * y) - sum_x * sum_y / n) / below, -1.0, 1.0), np.nan)


def tau_b_draws(x: Floats, y: Floats, seed: int = SEED, draws: int = DRAWS) -> Floats:
    """Return Kendall's tau-b of every sample; NaN where nothing varies.

    A thing that is drawn twice is tied with itself in both, which tau-b leaves out of account.
    """
    counts = drawn_counts(len(x), seed, draws)
    agree, apart_x, apart_y = np.zeros(draws), np.zeros(draws), np.zeros(draws)
    for start in range(0, len(x), _ROWS):
        rows = slice(start, start + _ROWS)
        sign_x, sign_y = (np.sign(one[rows, None] - one[None, :]) for one in (x, y))
        mine = counts[:, rows]
        agree += np.einsum("dn,dn->d", mine @ (sign_x * sign_y), counts)
        apart_x += np.einsum("dn,dn->d", mine @ np.abs(sign_x), counts)
        apart_y += np.einsum("dn,dn->d", mine @ np.abs(sign_y), counts)
    varies = (apart_x > 0) & (apart_y > 0)
    return np.where(varies, agree / np.sqrt(np.where(varies, apart_x * apart_y, 1.0)), np.nan)
