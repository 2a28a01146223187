"""Pictures that checks show: PNG files, light and its sRGB codes, and images of the study."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.checks.page_contract import DrawnFile
from beholder.types import Json

if TYPE_CHECKING:
    from PIL import Image


_END = 12
"""Bytes of the last chunk of every PNG, and of any other chunk without its data."""
_FILLER = b"fiLl"
"""A private chunk that readers ignore."""
_SRGB = b"\x00"
"""Perceptual rendering; the chunk declares that the colours are sRGB."""


def png(pixels: NDArray[np.uint8], length: int = 0) -> DrawnFile:
    """Return a PNG, grey (height, width) or sRGB (height, width, 3), with nothing in it but its pixels.

    It is padded to `length` bytes, so that its size does not reveal what it shows.
    """
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    about = PngInfo()
    if pixels.ndim == 3:  # greys stay untagged: nothing may change the steps between them
        about.add(b"sRGB", _SRGB)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", pnginfo=about)
    body = file.getvalue()
    room = length - len(body) - _END
    if room >= 0:
        body = body[:-_END] + _chunk(_FILLER, bytes(room)) + body[-_END:]
    return DrawnFile(body, "image/png")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


# What the pages report

_SCALES = (0.01, 100)
_SCALED = 0.02
"""A picture that is scaled by more than this is not judged."""


def read_scale(answer: Mapping[str, Json]) -> float | None:
    """Return the device pixels per pixel of a picture, as measured by its page; None where it was not."""
    value = answer.get("scale")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if _SCALES[0] <= value <= _SCALES[1] else None


def is_scaled(scale: Json) -> bool:
    """Return whether a picture was shown in another size than its own."""
    return isinstance(scale, int | float) and abs(scale - 1) > _SCALED


# Light and its codes: pictures are mixed as light, and stored as sRGB

Light = NDArray[np.float64]
LUMINANCE: Sequence[float] = (0.2126, 0.7152, 0.0722)
"""Weights of red, green and blue light in the luminance (sRGB)."""
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
    result: Light = np.where(y > _EPSILON, 116 * np.cbrt(y) - 16, _KAPPA * y)
    return result


def luminance(lightness: ArrayLike) -> Light:
    """Return the luminance of L*."""
    level = np.asarray(lightness, np.float64)
    result: Light = np.where(level > 8, ((level + 16) / 116) ** 3, level / _KAPPA)
    return result


# Images of the study: their pixels in sRGB, and nothing else of the file


def own_picture(folder: str | Path, file: str, side: int) -> NDArray[np.uint8]:
    """Return an image of a study folder, fitted into a square of this many pixels."""
    from PIL import Image, ImageOps

    with Image.open(Path(folder) / file) as opened:
        image = _in_srgb(ImageOps.exif_transpose(opened))
    fitted = ImageOps.contain(image, (side, side), Image.Resampling.LANCZOS)
    return np.asarray(fitted, np.uint8)


def is_image(file: Path) -> bool:
    """Return whether a file is an image that can be shown."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(file) as opened:
            opened.load()
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError):
        return False
    return True


def _in_srgb(image: Image.Image) -> Image.Image:
    """Return an image converted by its colour profile; without a readable one it counts as sRGB."""
    from PIL import Image, ImageCms

    profile = image.info.get("icc_profile")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        clear = image.convert("RGBA")
        paper = Image.new("RGBA", clear.size, "white")
        image = Image.alpha_composite(paper, clear).convert("RGB")
    if profile and image.mode in ("RGB", "L", "CMYK"):
        try:
            own = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            shown = ImageCms.profileToProfile(image, own, ImageCms.createProfile("sRGB"), outputMode="RGB")
        except ImageCms.PyCMSError:
            shown = None
        if shown is not None:
            return shown
    return image.convert("RGB")
