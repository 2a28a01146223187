"""Benjamini and Hochberg's correction: of all differences that are called clear, few are false."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

CITATION = "Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57"


def benjamini_hochberg(p: ArrayLike) -> NDArray[np.float64]:
    """Return the adjusted p-values of one family, in the order given. A test that was not made (NaN) does not count."""
    raw = np.asarray(p, dtype=float)
    adjusted = np.full(raw.shape, np.nan)
    made = np.flatnonzero(~np.isnan(raw))
    order = made[np.argsort(-raw[made], kind="stable")]
    factors = len(order) / np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(factors * raw[order]))
    return adjusted
