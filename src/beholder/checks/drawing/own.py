"""Images of the study's own, as a check shows them: pixels in sRGB, and nothing else of the file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL import Image


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
    """Return an image by the profile that it brings; one that cannot be read counts as sRGB."""
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
