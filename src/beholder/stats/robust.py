"""Robust z: how far each number is from the median, in standard deviations that outliers do not widen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_NORMAL = 1.4826
"""A standard deviation of normal numbers in median absolute deviations."""


def robust_z(values: NDArray[np.float64], least: float = 0.0) -> NDArray[np.float64] | None:
    """Return (value - median) / (1.4826 MAD) of each; None where more than half are equal, or there is nothing.

    The deviation is taken to be `least` at least.
    """
    if not len(values):
        return None
    off = values - np.median(values)
    width = _NORMAL * float(np.median(np.abs(off)))
    return off / max(width, least) if width > 0 else None
