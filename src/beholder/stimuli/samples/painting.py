"""What the sample images are painted with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from beholder.stimuli.samples.figure import FINER, Colour

_WIDE, _HIGH = 640.0, 400.0


class Canvas:
    """Paints in units of a 640 x 400 picture, whatever its size, larger than asked for and averaged down."""

    def __init__(self, size: tuple[int, int], ground: Image.Image) -> None:
        self.image = ground.resize((size[0] * FINER, size[1] * FINER), Image.Resampling.BILINEAR)
        self.pen = ImageDraw.Draw(self.image)
        self.across, self.down = self.image.width / _WIDE, self.image.height / _HIGH

    def row(self, y: float) -> int:
        return round(y * self.down)

    def fill(self, points: list[tuple[float, float]], colour: Colour) -> None:
        self.pen.polygon([(x * self.across, y * self.down) for x, y in points], fill=colour)

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour) -> None:
        if right > left and bottom > top:
            self.fill([(left, top), (right, top), (right, bottom), (left, bottom)], colour)

    def disc(self, x: float, y: float, radius: float, colour: Colour) -> None:
        cx, cy, r = x * self.across, y * self.down, radius * min(self.across, self.down)
        self.pen.ellipse((cx - r, cy - r, cx + r, cy + r), fill=colour)

    def line(self, points: list[tuple[float, float]], width: float, colour: Colour) -> None:
        wide = max(1, round(width * min(self.across, self.down)))
        self.pen.line([(x * self.across, y * self.down) for x, y in points], fill=colour, width=wide)

    def paste(self, part: Image.Image, x: float, y: float, wide: float = 0, high: float = 0) -> None:
        if wide:
            part = part.resize((round(wide * self.across), round(high * self.down)), Image.Resampling.BILINEAR)
        self.image.paste(part, (round(x * self.across), round(y * self.down)))

    def done(self) -> Image.Image:
        return self.image.reduce(FINER)


def faded(size: tuple[int, int], top: Colour, bottom: Colour, until: float) -> Image.Image:
    """Return a surface whose colour turns from one to another, down to a share of its height."""
    way = np.clip(np.linspace(0, 1, max(2, size[1])) / until, 0, 1)[:, None, None]
    column = np.asarray(top) * (1 - way) + np.asarray(bottom) * way
    return Image.fromarray(np.broadcast_to(column, (len(way), 2, 3)).astype(np.uint8), "RGB").resize(size)


def ridge(rng: np.random.Generator, rough: int) -> list[tuple[float, float]]:
    """Return points of a ridge from left to right, heights between -1 and 1 or so."""
    x = np.linspace(0, _WIDE, 160)
    height: NDArray[np.float64] = np.zeros_like(x)
    for octave in range(1, 7):
        height += np.sin(x / _WIDE * rough * octave**1.4 + rng.uniform(0, 7)) / octave**1.25
    return [(float(a), float(b)) for a, b in zip(x, height / 1.4, strict=True)]


def tint(colour: Colour, other: Colour, share: float) -> Colour:
    """Return a colour on the way to another."""
    r, g, b = (round(p * (1 - share) + q * share) for p, q in zip(colour, other, strict=True))
    return (r, g, b)


def tinted(image: Image.Image, colour: Colour, share: float) -> Image.Image:
    """Return an image with a veil of colour over it."""
    return Image.blend(image, Image.new("RGB", image.size, colour), share)


def shift(colour: Colour, rng: np.random.Generator, by: float) -> Colour:
    """Return a colour that is, by chance, a little lighter or darker."""
    steps = by * rng.standard_normal() + 0.3 * by * rng.standard_normal(3)
    r, g, b = (int(min(255, max(0, c + step))) for c, step in zip(colour, steps, strict=True))
    return (r, g, b)
