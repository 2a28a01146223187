"""Pictures: copied with their pixels and without their origin, and refused where they are no still picture."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms

from support.media_folders import AGAIN, cut, load, noise, problems, write


@pytest.mark.parametrize("suffix", [".png", ".webp", ".tif", ".bmp", ".gif", ".jpg", ".avif"])
def test_every_picture_is_served_as_lossless_webp_of_the_same_pixels(tmp_path: Path, suffix: str) -> None:
    options: dict[str, Any] = {"lossless": True} if suffix == ".webp" else {}
    path = tmp_path / "stimuli" / "a" / f"x{suffix}"
    path.parent.mkdir(parents=True)
    noise().save(path, **options)
    with Image.open(path) as source:
        pixels = source.convert("RGB").tobytes()
    (stimulus,) = load(tmp_path).stimuli
    assert (stimulus.medium, stimulus.served.suffix) == ("image", ".webp")
    assert (stimulus.probe.width, stimulus.probe.height) == (24, 16)
    assert stimulus.served.read_bytes()[12:16] == b"VP8X"
    with Image.open(stimulus.served) as copy:
        assert (copy.format, copy.mode, copy.convert("RGB").tobytes()) == ("WEBP", "RGB", pixels)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK"])
def test_pictures_of_every_kind_keep_their_pixels_and_their_transparency(tmp_path: Path, mode: str) -> None:
    picture = noise("RGBA" if mode == "P" else mode) if mode not in ("1", "P") else noise("RGB").convert(mode)
    write(tmp_path, {f"stimuli/a/x.{'tif' if mode == 'CMYK' else 'png'}": picture})
    (stimulus,) = load(tmp_path).stimuli
    wanted = "RGBA" if mode in ("LA", "RGBA") else "RGB"
    with Image.open(stimulus.served) as copy:
        assert copy.mode == wanted
        assert copy.tobytes() == picture.convert(wanted).tobytes()


def test_a_picture_of_16_bits_keeps_its_brightness(tmp_path: Path) -> None:
    values = np.array([[0, 256, 32768, 65535]], dtype=np.uint16)
    write(tmp_path, {"stimuli/a/x.png": Image.fromarray(values)})
    (stimulus,) = load(tmp_path).stimuli
    with Image.open(stimulus.served) as copy:
        assert list(copy.convert("L").tobytes()) == [0, 1, 128, 255]


def test_a_picture_is_turned_upright_and_loses_what_the_camera_wrote(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "MARKDESCRIPTION"
    path = tmp_path / "stimuli" / "a" / "x.png"
    path.parent.mkdir(parents=True)
    noise().save(path, exif=exif)
    assert b"MARKDESCRIPTION" in path.read_bytes()
    (stimulus,) = load(tmp_path).stimuli
    assert (stimulus.probe.width, stimulus.probe.height) == (16, 24)
    assert b"MARK" not in stimulus.served.read_bytes()
    with Image.open(stimulus.served) as copy:
        assert copy.tobytes() == noise().transpose(Image.Transpose.ROTATE_270).tobytes()


def test_colours_of_a_profile_become_those_of_srgb(tmp_path: Path) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB"))
    lab = ImageCms.profileToProfile(
        Image.new("RGB", (4, 4), (200, 40, 90)), ImageCms.createProfile("sRGB"), profile, outputMode="LAB"
    )
    assert lab is not None
    file = io.BytesIO()
    lab.save(file, "TIFF", icc_profile=profile.tobytes())
    broken = io.BytesIO()
    noise().save(broken, "PNG", icc_profile=b"this is no profile")
    write(tmp_path, {"stimuli/a/x.tif": file.getvalue(), "stimuli/a/y.png": broken.getvalue()})
    one, other = load(tmp_path).stimuli
    with Image.open(one.served) as copy:
        colour = np.frombuffer(copy.tobytes(), dtype=np.uint8)[:3].astype(int)
        assert np.abs(colour - (200, 40, 90)).max() <= 3
        assert "icc_profile" not in copy.info
    with Image.open(other.served) as copy:
        assert copy.tobytes() == noise().tobytes()


def animated(kind: str) -> bytes:
    file = io.BytesIO()
    frames = [Image.new("RGB", (8, 8), (shade, 0, 0)) for shade in (0, 90, 180)]
    frames[0].save(file, kind, save_all=True, append_images=frames[1:])
    return file.getvalue()


def png(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


STILL = "Allowed: still images. Save it as a video, or save one frame."
VECTOR = (
    "is SVG, a drawing that has no size in pixels. Allowed: PNG, JPEG, WebP, AVIF, TIFF, BMP. "
    "Export it as PNG in the size that people should see."
)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.gif", animated("GIF"), f"is animated: 3 frames. {STILL}"),
        ("a.webp", animated("WEBP"), f"is animated: 3 frames. {STILL}"),
        ("a.tif", animated("TIFF"),
         "has 3 pages. Allowed: one picture a file. Save each page as a picture of its own."),
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", VECTOR),
        ("b.png", b"<?xml version='1.0'?>\n<svg/>", VECTOR),
        ("c.png", b"", f"cannot be read as image: the file is empty. {AGAIN}"),
        ("d.png", b"hello", f"cannot be read as image: it is no png, jpeg, webp, avif, gif, tiff or bmp. {AGAIN}"),
        ("g.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
         f"cannot be read as image: it is no png, jpeg, webp, avif, gif, tiff or bmp. {AGAIN}"),
        ("e.png", cut(png(noise())), f"cannot be read as image: it is cut off or damaged. {AGAIN}"),
        ("f.png", png(Image.new("1", (16384, 1))),
         "has 16384 x 1 pixels. Allowed: 16383 a side at most. Scale it down, or cut out the part that matters."),
    ],
)  # fmt: skip
def test_a_file_that_is_no_still_picture_is_named(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    write(tmp_path, {f"stimuli/a/{name}": data})
    assert problems(tmp_path) == [f"stimuli/a/{name}  {message}"]


def test_a_picture_of_unknown_brightness_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"stimuli/a/x.tif": Image.fromarray(np.ones((2, 2), dtype=np.float32))})
    assert problems(tmp_path) == [
        "stimuli/a/x.tif  has 32 bits for each pixel, and how bright they are meant to be is not known. "
        "Allowed: 8 or 16 bits. Export it again as PNG."
    ]
