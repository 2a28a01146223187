"""Holm's correction for several tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

CITATION = "Holm (1979), Scandinavian Journal of Statistics 6"


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Return the adjusted p-values of one family, in the order given. A test that was not made (NaN) does not count."""
    raw = np.asarray(p, dtype=float)
    adjusted = np.full(raw.shape, np.nan)
    made = np.flatnonzero(~np.isnan(raw))
    order = made[np.argsort(raw[made], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * raw[order]))
    return adjusted
