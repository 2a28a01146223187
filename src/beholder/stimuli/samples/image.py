"""Sample images: drawn places and a portrait, and their degradations."""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from beholder.stimuli.copies import put_in_place
from beholder.stimuli.samples.figure import FIGURES, OVERSAMPLING, Colour, draw_figure, paint_wall
from beholder.stimuli.samples.video import talk_motion

# Canvas and colours

_WIDE, _HIGH = 640.0, 400.0


class _Canvas:
    """Paints in units of a 640 x 400 picture, whatever its size, larger than asked for and averaged down."""

    def __init__(self, size: tuple[int, int], ground: Image.Image) -> None:
        self.image = ground.resize((size[0] * OVERSAMPLING, size[1] * OVERSAMPLING), Image.Resampling.BILINEAR)
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
        return self.image.reduce(OVERSAMPLING)


def _gradient(size: tuple[int, int], top: Colour, bottom: Colour, until: float) -> Image.Image:
    """Return a surface whose colour turns from one to another, down to a share of its height."""
    way = np.clip(np.linspace(0, 1, max(2, size[1])) / until, 0, 1)[:, None, None]
    column = np.asarray(top) * (1 - way) + np.asarray(bottom) * way
    return Image.fromarray(np.broadcast_to(column, (len(way), 2, 3)).astype(np.uint8), "RGB").resize(size)


def _ridge(rng: np.random.Generator, rough: int) -> list[tuple[float, float]]:
    """Return points of a ridge from left to right, heights between -1 and 1 or so."""
    x = np.linspace(0, _WIDE, 160)
    height: NDArray[np.float64] = np.zeros_like(x)
    for octave in range(1, 7):
        height += np.sin(x / _WIDE * rough * octave**1.4 + rng.uniform(0, 7)) / octave**1.25
    return [(float(a), float(b)) for a, b in zip(x, height / 1.4, strict=True)]


def _blend(colour: Colour, other: Colour, share: float) -> Colour:
    """Return a colour on the way to another."""
    r, g, b = (round(p * (1 - share) + q * share) for p, q in zip(colour, other, strict=True))
    return (r, g, b)


def _blend_image(image: Image.Image, colour: Colour, share: float) -> Image.Image:
    """Return an image with a veil of colour over it."""
    return Image.blend(image, Image.new("RGB", image.size, colour), share)


def _vary(colour: Colour, rng: np.random.Generator, by: float) -> Colour:
    """Return a colour that is, by chance, a little lighter or darker."""
    steps = by * rng.standard_normal() + 0.3 * by * rng.standard_normal(3)
    r, g, b = (int(min(255, max(0, c + step))) for c, step in zip(colour, steps, strict=True))
    return (r, g, b)


# Scenes


def write(target: Path, content: int, condition: str, size: tuple[int, int]) -> None:
    """Write one sample as PNG, whole or not at all."""
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        render(content, condition, size).save(part, format="PNG")
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)


def render(content: int, condition: str, size: tuple[int, int]) -> Image.Image:
    """Return one sample."""
    scene = _SCENES[CONTENTS[content % len(CONTENTS)]]
    # A seed of its own for each: the same place under each condition, other noise in each.
    painted = scene(size, content // len(CONTENTS), np.random.default_rng([content, 0]))
    return _DAMAGES[condition](painted, np.random.default_rng([content, 1 + list(_DAMAGES).index(condition)]))


_BOOKS: tuple[Colour, ...] = ((152, 62, 54), (62, 92, 128), (196, 160, 92), (84, 116, 84), (222, 212, 194))


def _lake(size: tuple[int, int], version: int, rng: np.random.Generator) -> Image.Image:
    """Return mountains over water in the evening, with firs on the shore."""
    canvas = _Canvas(size, _gradient(size, (96, 136, 182), (250, 214, 178), 0.58))
    canvas.disc(455 - 60 * version % 300, 150, 22, (255, 244, 214))
    for level, (base, rough, colour) in enumerate(
        ((178, 62, (142, 152, 178)), (204, 44, (104, 118, 146)), (226, 26, (66, 88, 104)))
    ):
        line = [(x, base - rough * height) for x, height in _ridge(rng, 5 + level)]
        canvas.fill([(0, 240), *line, (640, 240)], colour)
    water = canvas.image.crop((0, 0, canvas.image.width, canvas.row(236))).transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    canvas.paste(_blend_image(water, (70, 100, 128), 0.45), 0, 236)
    for _ in range(150):
        y = 240 + 150 * rng.random() ** 0.8
        x, length = 640 * rng.random(), (6 + 34 * rng.random()) * (y - 225) / 100
        canvas.line([(x, y), (x + length, y)], 1.0, _vary((196, 204, 210), rng, 22))
    for _ in range(34):
        x = 640 * (rng.random() ** 1.6 if rng.random() < 0.6 else 1 - 0.3 * rng.random() ** 2)
        _fir(canvas, x, 332 + 40 * rng.random(), 46 + 74 * rng.random(), rng)
    canvas.fill([(0, 372), (120, 362), (330, 378), (640, 366), (640, 400), (0, 400)], (52, 66, 50))
    for _ in range(420):
        x, y = 640 * rng.random(), 374 + 26 * rng.random()
        canvas.line([(x, y), (x + 3 * rng.normal(), y - 5 - 8 * rng.random())], 1.0, _vary((92, 112, 70), rng, 22))
    return canvas.done()


def _room(size: tuple[int, int], version: int, rng: np.random.Generator) -> Image.Image:
    """Return a room with a window, a shelf of books, a lamp and a table."""
    wall: Colour = ((206, 196, 178), (186, 198, 192), (202, 186, 184))[version % 3]
    canvas = _Canvas(size, _gradient(size, wall, _blend(wall, (0, 0, 0), 0.1), 1.0))
    for row in range(9):
        top, bottom = 300 + 1.24 * row**2, 300 + 1.24 * (row + 1) ** 2
        for plank in range(-1, 12):
            left = plank * (52 + 4 * row) - 26 * (row % 2)
            canvas.fill(
                [(left, top), (left + 50 + 4 * row, top), (left + 51 + 4 * row, bottom), (left - 1, bottom)],
                _vary((150, 108, 70), rng, 10),
            )
    canvas.box(44, 52, 232, 236, (238, 234, 226))
    canvas.paste(_gradient((600, 600), (136, 179, 216), (222, 232, 230), 0.8), 54, 62, 168, 164)
    for number in range(7):
        canvas.disc(60 + 26 * number, 218 - 10 * rng.random(), 17 + 8 * rng.random(), _vary((94, 132, 84), rng, 16))
    canvas.box(44, 226, 232, 240, (226, 220, 210))
    canvas.box(134, 62, 142, 226, (238, 234, 226))
    canvas.box(54, 138, 222, 144, (238, 234, 226))
    canvas.box(376, 60, 606, 300, (112, 78, 52))
    for shelf in range(4):
        top = 70 + 57 * shelf
        canvas.box(386, top, 596, top + 48, (70, 48, 34))
        x = 389.0
        while x < 586:
            wide, high = 6 + 9 * rng.random(), 28 + 17 * rng.random()
            colour = _vary(_BOOKS[rng.integers(len(_BOOKS))], rng, 14)
            canvas.box(x, top + 48 - high, min(594, x + wide), top + 48, colour)
            band = _blend(colour, (240, 226, 190), 0.5)
            canvas.box(x + 1, top + 54 - high, min(593, x + wide - 1), top + 56 - high, band)
            x += wide + (0.8 if rng.random() < 0.88 else 12)
    canvas.line([(300, 330), (300, 180)], 4, (62, 60, 60))
    canvas.fill([(276, 182), (324, 182), (340, 226), (260, 226)], (248, 226, 168))
    canvas.fill([(80, 318), (330, 318), (356, 336), (54, 336)], (128, 86, 56))
    for x in (76, 322):
        canvas.box(x, 336, x + 12, 396, (98, 64, 42))
    canvas.fill([(140, 296), (196, 296), (188, 320), (148, 320)], (86, 124, 150))
    for number in range(16):
        x, y = 168 + 42 * np.sin(number), 266 - 26 * rng.random()
        canvas.line([(168, 300), (x, y)], 2.0, _vary((70, 118, 68), rng, 18))
        canvas.disc(x, y, 4.5, _vary((206, 88, 96), rng, 24))
    return canvas.done()


def _portrait(size: tuple[int, int], version: int, rng: np.random.Generator) -> Image.Image:
    """Return the speaker of the sample videos, closer."""
    look = FIGURES[(2 + 3 * version) % len(FIGURES)]
    lines = talk_motion(version, 40, rng)
    larger = (round(size[0] * 1.25), round(size[1] * 1.25))
    posed = draw_figure({name: float(curve[30]) for name, curve in lines.items()}, look, paint_wall(look, larger))
    left, top = (larger[0] - size[0]) // 2, round((larger[1] - size[1]) * 0.35)
    framed = posed.crop((left, top, left + size[0], top + size[1]))
    weave = np.asarray(framed, dtype=np.float32)
    y, x = np.mgrid[0 : size[1], 0 : size[0]]
    grid = 3.2 * (np.sin(x * 1.9) * np.sin(y * 1.9)) + rng.normal(0, 1.2, (size[1], size[0]))
    return Image.fromarray(np.clip(weave + grid[..., None], 0, 255).astype(np.uint8), "RGB")


def _street(size: tuple[int, int], version: int, rng: np.random.Generator) -> Image.Image:
    """Return a row of houses with bricks, windows and a tree."""
    canvas = _Canvas(size, _gradient(size, (150, 182, 210), (232, 232, 222), 0.7))
    walls: tuple[Colour, ...] = ((178, 92, 74), (214, 190, 150), (122, 138, 152), (196, 142, 96), (158, 164, 140))
    x = -20.0
    number = version
    while x < 640:
        wide, top = 108 + 46 * rng.random(), 70 + 56 * rng.random()
        wall = walls[number % len(walls)]
        canvas.box(x, top, x + wide, 344, wall)
        for row in range(int((344 - top) / 7)):
            for brick in range(int(wide / 15) + 1):
                left = x + 15 * brick + 7 * (row % 2)
                canvas.box(left, top + 7 * row, min(x + wide, left + 14), top + 7 * row + 6, _vary(wall, rng, 9))
        canvas.fill([(x - 6, top), (x + wide / 2, top - 44), (x + wide + 6, top)], _blend(wall, (60, 46, 48), 0.7))
        for line in range(6):
            for column in range(3):
                left, above = x + 12 + column * (wide - 22) / 3, top + 16 + line * 52
                if above > 280:
                    continue
                canvas.box(left - 2, above - 2, left + 26, above + 36, (240, 236, 226))
                canvas.box(left, above, left + 24, above + 34, _vary((92, 112, 128), rng, 24))
                canvas.line([(left + 12, above), (left + 12, above + 34)], 1.6, (240, 236, 226))
                canvas.line([(left, above + 15), (left + 24, above + 15)], 1.6, (240, 236, 226))
        canvas.box(x + wide / 2 - 13, 296, x + wide / 2 + 13, 344, _vary((78, 60, 52), rng, 18))
        x += wide
        number += 1
    canvas.box(0, 344, 640, 400, (120, 120, 122))
    for _ in range(900):
        left, top = 640 * rng.random(), 346 + 54 * rng.random()
        canvas.box(left, top, left + 5, top + 2, _vary((122, 122, 124), rng, 14))
    canvas.line([(520, 352), (514, 236)], 9, (84, 66, 52))
    for _ in range(420):
        angle, away = 2 * np.pi * rng.random(), 74 * rng.random() ** 0.6
        canvas.disc(514 + away * np.cos(angle), 196 + 0.8 * away * np.sin(angle), 5.5, _vary((86, 128, 72), rng, 26))
    return canvas.done()


def _fir(canvas: _Canvas, x: float, foot: float, high: float, rng: np.random.Generator) -> None:
    canvas.line([(x, foot), (x, foot - high)], 2.5, (58, 44, 36))
    for branch in range(8):
        y, reach = foot - high * (0.1 + 0.105 * branch), high * 0.24 * (1 - branch / 9)
        green = _vary((40, 66, 52), rng, 9)
        canvas.fill([(x - reach, y + 3), (x, y - high * 0.16), (x + reach, y + 3), (x, y - 2)], green)


_SCENES: Mapping[str, Callable[[tuple[int, int], int, np.random.Generator], Image.Image]] = {
    "lake": _lake,
    "room": _room,
    "portrait": _portrait,
    "street": _street,
}
CONTENTS = tuple(_SCENES)


def _pristine(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    return image


def _soft(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    return image.filter(ImageFilter.GaussianBlur(image.height / 220))


def _grainy(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    pixels = np.asarray(image, dtype=np.float32)
    grain = 11 * rng.standard_normal(pixels.shape) + 17 * rng.standard_normal((*pixels.shape[:2], 1))
    return Image.fromarray(np.clip(pixels + grain, 0, 255).astype(np.uint8), "RGB")


def _blocked(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    coded = io.BytesIO()
    image.save(coded, format="JPEG", quality=5, subsampling=2)
    return Image.open(coded).convert("RGB")


_DAMAGES: Mapping[str, Callable[[Image.Image, np.random.Generator], Image.Image]] = {
    "pristine": _pristine,
    "soft": _soft,
    "grainy": _grainy,
    "blocked": _blocked,
}
