"""Holm's correction for several tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

CITATION = "Holm (1979), Scandinavian Journal of Statistics 6"


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Return the adjusted p-values of one family, in the order given. A test that was not made (NaN) does not count.

    Of a table every row is a family.
    """
    raw = np.asarray(p, dtype=float)
    order = np.argsort(raw, axis=-1, kind="stable")  # what was not made comes last
    made = np.count_nonzero(~np.isnan(raw), axis=-1)[..., np.newaxis]
    factors = made - np.arange(raw.shape[-1])
    adjusted = np.empty(raw.shape)
    steps = np.maximum.accumulate(factors * np.take_along_axis(raw, order, -1), axis=-1)
    np.put_along_axis(adjusted, order, np.minimum(1.0, steps), -1)
    return adjusted
