"""Lossless pictures."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from beholder.checks.contract import Drawn

_END = 12
"""Bytes of the chunk with which every PNG ends; any other chunk has as many beside what it holds."""
_FILLER = b"fiLl"
"""A private chunk that readers leave alone."""
_SRGB = b"\x00"
"""Shown as perceived; the chunk says above all that the colours are sRGB."""


def png(pixels: NDArray[np.uint8], length: int = 0) -> Drawn:
    """Return a picture, grey (height, width) or sRGB (height, width, 3), with nothing in it but its pixels.

    It is filled up to `length` bytes where it is shorter, so that its size does not tell what is on it.
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
    return Drawn(body, "image/png")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
