"""Pictures: opened by Pillow, served as lossless WebP, upright, in sRGB and without metadata."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.errors import Problem, StimuliError
from beholder.stimuli.catalogue import Probe
from beholder.stimuli.streams import Measurement, copy_error, read_error

if TYPE_CHECKING:
    from PIL import Image

_MAX_SIDE = 16383
"""WebP has no room for more (RFC 9649, 2.6)."""
RECIPE = ("picture", "upright", "sRGB", "8 bits", "WebP lossless, extended, exact")

_NO_PIXELS = "is SVG, a drawing that has no size in pixels"
_ALLOWED = "PNG, JPEG, WebP, AVIF, TIFF, BMP"
_FORMATS = ("PNG", "JPEG", "WEBP", "AVIF", "GIF", "TIFF", "BMP")
"""Nothing but these: Pillow would hand some of the others to programs outside."""


def measure_image(path: Path, where: str) -> Measurement:
    """Return what a picture holds, its size as it is shown: after the rotation that a camera notes."""
    if _is_svg(path):
        fix = "Export it as PNG in the size that people should see."
        raise StimuliError(Problem(where, _NO_PIXELS, _ALLOWED, fix))
    image, container = _open_upright(path, where)
    width, height = image.size
    if max(width, height) > _MAX_SIDE:
        fix = "Scale it down, or cut out the part that matters."
        raise StimuliError(Problem(where, f"has {width} x {height} pixels", f"{_MAX_SIDE} a side at most", fix))
    return Measurement(
        Probe(
            bytes=path.stat().st_size,
            container=container,
            duration_ms=0,
            width=width,
            height=height,
            fps=0.0,
            codec=container,
            audio_codec="",
            channels=0,
        )
    )


def copy_image(path: Path, part: Path, measured: Measurement, where: str) -> None:
    """Write a picture as lossless WebP with the same pixels, and read it back."""
    from PIL import Image

    image, _ = _open_upright(path, where)
    converted = _to_8_bits(image, where)
    # Pillow would carry colour profile, EXIF and XMP over from here.
    converted.info.clear()
    file = io.BytesIO()
    converted.save(file, "WEBP", lossless=True, quality=30, method=2, exact=True)
    part.write_bytes(_extended(file.getvalue(), converted.size))
    with Image.open(part) as copy:
        if copy.convert(converted.mode).tobytes() != converted.tobytes():
            raise copy_error(where, "the copy does not look like it", "Export it again as PNG.")


def _is_svg(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return (
        path.suffix.lower() == ".svg" or start.startswith(b"<svg") or (start.startswith(b"<?xml") and b"<svg" in start)
    )


def _open_upright(path: Path, where: str) -> tuple[Image.Image, str]:
    """Return the decoded picture, upright, and the name of its format."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.init()
    try:
        with Image.open(path, formats=[name for name in _FORMATS if name in Image.OPEN]) as image:
            container = "jpeg" if image.format == "MPO" else (image.format or "").lower()
            # Cameras put a second, smaller picture behind a JPEG and call it MPO: no animation.
            frames = 1 if image.format == "MPO" else getattr(image, "n_frames", 1)
            if frames > 1:
                raise StimuliError(_frames_problem(where, frames, container))
            image.load()
            upright = ImageOps.exif_transpose(image)
            upright.info = {key: image.info[key] for key in ("icc_profile", "transparency") if key in image.info}
            return upright, container
    except (StimuliError, FileNotFoundError, PermissionError):
        raise
    except UnidentifiedImageError:
        raise read_error(where, "image", "it is no png, jpeg, webp, avif, gif, tiff or bmp") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        fix = "Scale it down, or cut out the part that matters."
        raise read_error(where, "image", "it has far too many pixels", fix) from None
    except Exception:
        # Decoders of damaged files raise whatever they stumble over: OSError, TypeError, RuntimeError, SyntaxError.
        raise read_error(where, "image", "it is cut off or damaged") from None


def _frames_problem(where: str, frames: int, container: str) -> Problem:
    if container == "tiff":
        return Problem(where, f"has {frames} pages", "one picture a file", "Save each page as a picture of its own.")
    return Problem(where, f"is animated: {frames} frames", "still images", "Save it as a video, or save one frame.")


def _to_8_bits(image: Image.Image, where: str) -> Image.Image:
    """Return the picture in 8 bits of sRGB, with its transparency if it has any."""
    profile = image.info.get("icc_profile")
    if image.mode.startswith("I;16"):
        image = image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    elif image.mode in ("I", "F"):
        what = "has 32 bits for each pixel, and how bright they are meant to be is not known"
        raise StimuliError(Problem(where, what, "8 or 16 bits", "Export it again as PNG."))
    if image.mode in ("P", "PA", "1") or (image.mode in ("L", "RGB") and "transparency" in image.info):
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    alpha = image.getchannel("A") if image.mode in ("RGBA", "LA") else None
    if alpha is not None:
        image = image.convert("RGB" if image.mode == "RGBA" else "L")
    plain = _to_srgb(image, profile) if profile else image.convert("RGB")
    if alpha is not None:
        plain.putalpha(alpha)
    return plain


def _to_srgb(image: Image.Image, profile: bytes) -> Image.Image:
    """Return the picture in sRGB; a profile that does not fit the picture counts as none, as in browsers."""
    from PIL import ImageCms

    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        target = ImageCms.createProfile("sRGB")
        converted = ImageCms.profileToProfile(image, source, target, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError):
        converted = None
    return image.convert("RGB") if converted is None else converted


def _extended(data: bytes, size: tuple[int, int]) -> bytes:
    """Return a lossless WebP in its extended form, the only one that may end in unknown chunks (RFC 9649, 2.7)."""
    if data[12:16] == b"VP8X":
        return data
    # Bit 28 of what follows the signature of the stream says whether it has transparency (RFC 9649, 3.4).
    flags = 0x10 if int.from_bytes(data[21:25], "little") >> 28 & 1 else 0
    canvas = b"".join((side - 1).to_bytes(3, "little") for side in size)
    body = b"WEBP" + b"VP8X" + (10).to_bytes(4, "little") + bytes((flags, 0, 0, 0)) + canvas + data[12:]
    return b"RIFF" + len(body).to_bytes(4, "little") + body
