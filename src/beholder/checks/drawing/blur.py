"""Pictures to tell the viewing distance by: fallen leaves of every size, and the same ones blurred."""

from __future__ import annotations

from math import ceil, pi

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

_RADII = (64, 32, 16, 8, 4, 2)
"""Radii of leaves on a screen of 1080 lines, up to half as much again, in the order in which they fall."""
_LAYERS = 3
_COVER = 0.35
"""How much of the picture the leaves of one size cover in one layer."""
_SHAPES = 4
"""Different radii within a size and a layer."""
_GREYS = (40, 216)


def sharp(seed: int, width: int, height: int, scale: float) -> NDArray[np.uint8]:
    """Return a picture with hard edges and things of every size; `scale` is the height of the screen in 1080 lines.

    Every size covers as much, as in photographs, so that any blur takes something away.
    """
    rng = np.random.default_rng(seed)
    pixels = np.full((height, width), sum(_GREYS) // 2, np.uint8)
    for _ in range(_LAYERS):
        for least in _RADII:
            radii = rng.uniform(least, 1.5 * least, _SHAPES) * scale
            count = _COVER * width * height / (pi * (1.25 * least * scale) ** 2)
            _fall(pixels, rng, radii, ceil(count / _SHAPES))
    return pixels


def _fall(pixels: NDArray[np.uint8], rng: Generator, radii: NDArray[np.float64], count: int) -> None:
    """Let `count` leaves of each radius fall on a picture."""
    height, width = pixels.shape
    for radius in radii:
        reach = int(radius)
        rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
        inside = rows**2 + columns**2 <= radius**2
        down = rng.integers(-reach, height + reach, count)[:, None] + rows[inside]
        across = rng.integers(-reach, width + reach, count)[:, None] + columns[inside]
        greys = np.broadcast_to(rng.integers(*_GREYS, (count, 1)), down.shape)
        seen = (down >= 0) & (down < height) & (across >= 0) & (across < width)
        pixels[down[seen], across[seen]] = greys[seen]


def box(pixels: NDArray[np.uint8], radius: float) -> NDArray[np.uint8]:
    """Return a picture blurred by a box: each pixel is the mean of a square of 2 radius + 1, edges repeated.

    A radius need not be whole: the outermost pixels then count in part.
    """
    reach = ceil(radius)
    kernel = np.ones(2 * reach + 1)
    kernel[[0, -1]] = radius - reach + 1
    kernel /= kernel.sum()
    blurred = pixels.astype(np.float64)
    for _ in range(2):  # down, then turned and down again
        rows = len(blurred)
        wide = np.pad(blurred, ((reach, reach), (0, 0)), mode="edge")
        blurred = np.zeros_like(blurred)
        for start, weight in enumerate(kernel):
            blurred += weight * wide[start : start + rows]
        blurred = np.ascontiguousarray(blurred.T)
    return np.rint(blurred).astype(np.uint8)
