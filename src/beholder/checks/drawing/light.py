"""Light and its codes: pictures are mixed as light, and stored as sRGB."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Light = NDArray[np.float64]
LUMINANCE: Sequence[float] = (0.2126, 0.7152, 0.0722)
"""How much red, green and blue light add to the luminance (sRGB)."""
_KAPPA, _EPSILON = 24389 / 27, 216 / 24389


def decode(code: ArrayLike) -> Light:
    """Return the light, 0 to 1, of sRGB codes 0 to 255."""
    share = np.asarray(code, np.float64) / 255
    light: Light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return light


def encode(light: ArrayLike) -> NDArray[np.uint8]:
    """Return the nearest sRGB codes of light."""
    light = np.clip(np.asarray(light, np.float64), 0, 1)
    share = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    code: NDArray[np.uint8] = np.rint(255 * share).astype(np.uint8)
    return code


def lightness(luminance: ArrayLike) -> Light:
    """Return L* of luminance, 0 to 100 for 0 to 1."""
    y = np.asarray(luminance, np.float64)
    found: Light = np.where(y > _EPSILON, 116 * np.cbrt(y) - 16, _KAPPA * y)
    return found


def luminance(lightness: ArrayLike) -> Light:
    """Return the luminance of L*."""
    level = np.asarray(lightness, np.float64)
    found: Light = np.where(level > 8, ((level + 16) / 116) ** 3, level / _KAPPA)
    return found
