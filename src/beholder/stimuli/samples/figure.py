"""The figure of the sample videos and portraits: a person from the waist up, drawn from a pose."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from PIL import Image, ImageDraw

Colour: TypeAlias = tuple[int, int, int]
_Pose: TypeAlias = Mapping[str, float]

OVERSAMPLING = 3
"""Figures are drawn this many times larger and averaged down: Pillow draws hard edges."""
_UPPER, _FORE = 55.0, 51.0


@dataclass(frozen=True)
class FigureStyle:
    """Colours and hair of one person, and the wall behind."""

    skin: Colour
    hair: Colour
    top: Colour
    shirt: Colour
    wall: Colour
    hair_style: str
    long_sleeves: bool


FIGURES: tuple[FigureStyle, ...] = (
    FigureStyle((222, 172, 135), (74, 48, 36), (58, 104, 138), (236, 232, 222), (150, 158, 162), "short", False),
    FigureStyle((146, 98, 68), (38, 28, 28), (196, 140, 62), (250, 240, 220), (138, 150, 146), "curly", True),
    FigureStyle((238, 196, 164), (164, 96, 50), (88, 122, 92), (240, 236, 226), (160, 154, 148), "bob", True),
    FigureStyle((190, 136, 98), (30, 26, 32), (142, 74, 82), (238, 226, 218), (146, 150, 162), "bun", False),
    FigureStyle((114, 76, 54), (26, 22, 24), (98, 92, 146), (234, 230, 238), (152, 156, 150), "short", True),
    FigureStyle((230, 184, 150), (196, 160, 96), (64, 124, 124), (244, 238, 224), (156, 150, 158), "bun", True),
    FigureStyle((206, 156, 118), (54, 40, 36), (172, 98, 66), (240, 232, 220), (142, 152, 160), "bob", False),
    FigureStyle((166, 116, 82), (44, 34, 34), (82, 98, 122), (240, 236, 230), (158, 158, 150), "curly", False),
)


def draw_figure(pose: _Pose, look: FigureStyle, wall: Image.Image) -> Image.Image:
    """Return the picture of a pose in front of `wall`, which `paint_wall` made for this look."""
    image = wall.copy()
    pen = _Pen(image)
    body = (240.0 + pose["sway"], 0.9 * pose["breath"])
    head = _Turned(body[0] + 0.35 * pose["sway"], 122 + body[1], pose["tilt"])
    if look.hair_style == "bob":
        pen.fill([head.at(*p) for p in _BOB_BACK], _shade(look.hair, 0.82))
    if look.hair_style == "bun":
        pen.fill([head.at(*p) for p in _ellipse(0, -95, 15, 14)], _shade(look.hair, 0.9))
    _draw_torso(pen, look, body)
    _draw_head(pen, look, head, pose)
    for side, sign in (("left", -1), ("right", 1)):
        _draw_arm(pen, look, body, sign, {joint: pose[f"{side}_{joint}"] for joint in _JOINTS})
    return image.reduce(OVERSAMPLING)


@lru_cache(maxsize=len(FIGURES))
def paint_wall(look: FigureStyle, size: tuple[int, int]) -> Image.Image:
    """Return a calm wall with soft light from above, at drawing size; to be copied, not drawn on."""
    width, height = size[0] * OVERSAMPLING, size[1] * OVERSAMPLING
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    light = np.exp(-(((x / width - 0.42) / 0.55) ** 2) - ((y / height - 0.3) / 0.75) ** 2)
    shadow = np.exp(-(((x / width - 0.53) / 0.2) ** 2) - ((y / height - 0.72) / 0.42) ** 2)
    level = 0.8 + 0.3 * light - 0.1 * shadow
    pixels = np.clip(level[..., None] * np.asarray(look.wall, dtype=np.float32), 0, 255)
    return Image.fromarray(pixels.astype(np.uint8), "RGB")


_JOINTS = ("shoulder", "forearm", "wrist", "spread")


class _Pen:
    """Draws in units of a 480 x 270 picture, whatever its size."""

    def __init__(self, image: Image.Image) -> None:
        self.pen = ImageDraw.Draw(image)
        self.unit = min(image.width / 480, image.height / 270)
        self.left = image.width / 2 - 240 * self.unit
        self.top = image.height - 270 * self.unit

    def fill(self, points: Sequence[_Point], colour: Colour) -> None:
        self.pen.polygon([(self.left + x * self.unit, self.top + y * self.unit) for x, y in points], fill=colour)

    def dot(self, centre: _Point, radius: float, colour: Colour) -> None:
        x, y, r = self.left + centre[0] * self.unit, self.top + centre[1] * self.unit, radius * self.unit
        self.pen.ellipse((x - r, y - r, x + r, y + r), fill=colour)

    def limb(self, start: _Point, end: _Point, wide: float, narrow: float, colour: Colour) -> None:
        """Draw a limb with round ends, `wide` across at its start and `narrow` at its end."""
        angle = math.atan2(end[1] - start[1], end[0] - start[0]) + math.pi / 2
        across = (math.cos(angle) / 2, math.sin(angle) / 2)
        self.dot(start, wide / 2, colour)
        self.dot(end, narrow / 2, colour)
        self.fill(
            [
                (start[0] + wide * across[0], start[1] + wide * across[1]),
                (end[0] + narrow * across[0], end[1] + narrow * across[1]),
                (end[0] - narrow * across[0], end[1] - narrow * across[1]),
                (start[0] - wide * across[0], start[1] - wide * across[1]),
            ],
            colour,
        )

    def stroke(self, points: Sequence[_Point], width: float, colour: Colour) -> None:
        for start, end in pairwise(points):
            self.limb(start, end, width, width, colour)


class _Turned:
    """A place of its own, tilted: points of the head are measured from the base of the neck."""

    def __init__(self, x: float, y: float, degrees: float) -> None:
        self.x, self.y = x, y
        self.cos, self.sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))

    def at(self, x: float, y: float) -> _Point:
        return (self.x + x * self.cos - y * self.sin, self.y + x * self.sin + y * self.cos)


def _draw_torso(pen: _Pen, look: FigureStyle, body: _Point) -> None:
    def at(x: float, y: float) -> _Point:
        return (body[0] + x, y + body[1] * (1 if y < 200 else 0))

    pen.fill([at(*p) for p in _TORSO], look.top)
    pen.fill([at(*p) for p in _SIDE], _shade(look.top, 0.94))
    pen.limb(at(0, 100), at(0, 121), 27, 31, _shade(look.skin, 0.86))
    pen.fill(
        [at(*p) for p in ((-23, 116), (-14, 119), (0, 152), (14, 119), (23, 116), (4, 168), (-4, 168))], look.shirt
    )
    pen.fill([at(*p) for p in ((-14.5, 118), (0, 150), (14.5, 118), (0, 128))], _shade(look.skin, 0.93))


def _draw_head(pen: _Pen, look: FigureStyle, head: _Turned, pose: _Pose) -> None:
    turn, nod = 3.4 * pose["turn"], 1.6 * pose["nod"]
    at = head.at
    dark = _shade(look.hair, 0.55)
    for sign in (-1, 1):
        pen.fill([at(*p) for p in _ellipse(sign * 33 - 0.5 * turn, -44 + nod, 5.5, 8.5)], _shade(look.skin, 0.88))
    pen.fill([at(*p) for p in _face(nod)], look.skin)
    for sign in (-1, 1):
        pen.fill(
            [at(*p) for p in _ellipse(sign * 19 + turn, -33 + nod, 6.5, 4.2)], _mix(look.skin, (224, 110, 96), 0.2)
        )
        x, y = sign * 13 + turn, -48 + nod
        pen.fill([at(*p) for p in _ellipse(x, y, 3.3, max(0.7, 4.3 * (1 - pose["blink"])))], (38, 30, 30))
        if pose["blink"] < 0.4:
            pen.dot(at(x + 1.1, y - 1.5), 1.0, (246, 244, 240))
        lift = -59 + nod - 3.2 * pose["brow"]
        pen.stroke([at(x - 6, lift + 1.2), at(x, lift - 1.2), at(x + 6, lift + 1.2)], 2.3, dark)
    pen.stroke([at(1.4 * turn, -44 + nod), at(2.2 + 1.4 * turn, -36 + nod), at(-1 + 1.4 * turn, -35 + nod)], 1.9,
               _shade(look.skin, 0.78))  # fmt: skip
    _draw_mouth(pen, at, 1.1 * turn, -24 + nod, pose)
    fringe = [at(x - 0.35 * turn, y + 0.5 * nod) for x, y in _FRINGES[look.hair_style]]
    pen.fill(fringe, look.hair)
    if look.hair_style == "curly":
        for x, y, radius in _CURLS:
            pen.dot(at(x - 0.35 * turn, y + 0.5 * nod), radius, look.hair)


def _draw_mouth(pen: _Pen, at: Callable[[float, float], _Point], x: float, y: float, pose: _Pose) -> None:
    opened, smile = 7.2 * pose["mouth"], 2.0 + 2.0 * pose["smile"]
    half = 9.0 - 2.0 * pose["mouth"]
    corners = [(x + half * k, y - smile * k * k + smile * 0.6) for k in (-1, -0.6, -0.2, 0.2, 0.6, 1)]
    if opened > 1.2:
        lower = [(px, py + opened * (1 - ((px - x) / half) ** 2)) for px, py in reversed(corners)]
        pen.fill([at(*p) for p in (*corners, *lower)], (104, 42, 44))
        teeth = [(px, py + min(2.0, 0.35 * opened)) for px, py in reversed(corners[1:-1])]
        pen.fill([at(*p) for p in (*corners[1:-1], *teeth)], (244, 240, 234))
    pen.stroke([at(*p) for p in corners], 2.0, (134, 66, 58))


def _draw_arm(pen: _Pen, look: FigureStyle, body: _Point, sign: int, arm: Mapping[str, float]) -> None:
    def along(start: _Point, degrees: float, length: float) -> _Point:
        angle = math.radians(degrees)
        return (start[0] + sign * length * math.sin(angle), start[1] + length * math.cos(angle))

    shoulder = (body[0] + sign * 47.0, 142.0 + body[1])
    elbow = along(shoulder, arm["shoulder"], _UPPER)
    hand = along(elbow, arm["forearm"], _FORE)
    sleeve = look.top if look.long_sleeves else look.skin
    # A darker rim keeps an arm apart from the body it passes over.
    pen.limb(elbow, hand, 22.5, 17.5, _shade(sleeve, 0.8))
    pen.limb(along(shoulder, arm["shoulder"], 0.45 * _UPPER), elbow, 28, 26.5, _shade(look.top, 0.8))
    pen.limb(elbow, hand, 20, 15, _shade(sleeve, 1.04))
    if not look.long_sleeves:
        pen.limb(shoulder, along(elbow, arm["forearm"], 5), 28, 25, look.top)
    pen.limb(shoulder, elbow, 28, 24, look.top)
    if look.long_sleeves:
        pen.limb(elbow, hand, 22, 16, look.top)
        pen.limb(along(elbow, arm["forearm"], _FORE - 7), along(elbow, arm["forearm"], _FORE - 3), 18, 18, look.shirt)
    _draw_hand(pen, look, sign, hand, arm)


def _draw_hand(pen: _Pen, look: FigureStyle, sign: int, wrist: _Point, arm: Mapping[str, float]) -> None:
    heading = arm["forearm"] + arm["wrist"]

    def at(ahead: float, outward: float) -> _Point:
        angle = math.radians(heading)
        sin, cos = math.sin(angle), math.cos(angle)
        return (wrist[0] + sign * (ahead * sin + outward * cos), wrist[1] + ahead * cos - outward * sin)

    spread = 5.0 + 15.0 * min(max(arm["spread"], 0.0), 1.2)
    rim, skin = _shade(look.skin, 0.8), _shade(look.skin, 1.03)
    fingers = []
    for number, length in enumerate((11.5, 14.0, 13.5, 11.0)):
        place = number - 1.5
        angle = math.radians(place * spread)
        root = (11.0 - 0.5 * place * place, 3.7 * place)
        fingers.append((at(*root), at(root[0] + length * math.cos(angle), root[1] + length * math.sin(angle)), 4.7))
    thumb = math.radians(-40 - 1.4 * spread)
    fingers.append((at(4.0, -6.0), at(4.0 + 11 * math.cos(thumb), -6.0 + 11 * math.sin(thumb)), 5.4))
    for colour, more in ((rim, 1.8), (skin, 0.0)):
        pen.fill([at(x, y) for x, y in _ellipse(6.5, 0, 8.8 + more / 2, 8.4 + more / 2)], colour)
        for root, tip, width in fingers:
            pen.limb(root, tip, width + more, width - 0.6 + more, colour)
    pen.fill([at(x, y) for x, y in _ellipse(6.5, 0, 8.6, 8.2)], skin)


def _shade(colour: Colour, level: float) -> Colour:
    return (min(255, int(colour[0] * level)), min(255, int(colour[1] * level)), min(255, int(colour[2] * level)))


def _mix(one: Colour, other: Colour, share: float) -> Colour:
    r, g, b = (round(p * (1 - share) + q * share) for p, q in zip(one, other, strict=True))
    return (r, g, b)


_Point: TypeAlias = tuple[float, float]


def _ellipse(x: float, y: float, across: float, down: float, count: int = 28) -> list[_Point]:
    """Return an ellipse as a polygon."""
    turns = (2 * math.pi * k / count for k in range(count))
    return [(x + across * math.cos(t), y + down * math.sin(t)) for t in turns]


def smooth(points: Sequence[_Point], parts: int = 6) -> list[_Point]:
    """Return a closed curve through the points (Catmull-Rom)."""
    curve = []
    count = len(points)
    for place in range(count):
        a, b, c, d = (points[(place + k) % count] for k in (-1, 0, 1, 2))
        for part in range(parts):
            t = part / parts
            w = (-t + 2 * t**2 - t**3, 2 - 5 * t**2 + 3 * t**3, t + 4 * t**2 - 3 * t**3, t**3 - t**2)
            x = sum(weight * point[0] for weight, point in zip(w, (a, b, c, d), strict=True)) / 2
            y = sum(weight * point[1] for weight, point in zip(w, (a, b, c, d), strict=True)) / 2
            curve.append((x, y))
    return curve


_TORSO = smooth((
    (-15, 118), (-36, 126), (-53, 136), (-59, 156), (-52, 196), (-47, 236), (-49, 284),
    (49, 284), (47, 236), (52, 196), (59, 156), (53, 136), (36, 126), (15, 118),
))  # fmt: skip
_SIDE = smooth((
    (34, 150), (26, 196), (24, 240), (26, 284), (49, 284), (47, 236), (52, 196), (57, 160), (47, 142),
))  # fmt: skip
_BOB_BACK = smooth((
    (-36, -60), (-42, -30), (-43, 0), (-34, 12), (-14, 8), (14, 8), (34, 12), (43, 0), (42, -30), (36, -60), (0, -92),
))  # fmt: skip
_FRINGES: Mapping[str, list[_Point]] = {
    "short": smooth((
        (-34, -46), (-37, -66), (-30, -84), (-10, -94), (14, -93), (32, -83), (37, -64), (34, -46), (29, -60),
        (16, -70), (-4, -68), (-22, -66), (-30, -58),
    )),
    "bob": smooth((
        (-37, -28), (-41, -56), (-33, -82), (-10, -93), (14, -93), (34, -81), (41, -55), (37, -28), (31, -44),
        (27, -62), (10, -72), (-8, -74), (-24, -62), (-31, -44),
    )),
    "bun": smooth((
        (-34, -46), (-37, -64), (-28, -84), (0, -92), (28, -84), (37, -64), (34, -46), (30, -60), (18, -74),
        (0, -70), (-18, -74), (-30, -60),
    )),
    "curly": smooth((
        (-33, -46), (-36, -64), (-28, -82), (0, -90), (28, -82), (36, -64), (33, -46), (28, -62), (0, -70), (-28, -62),
    )),
}  # fmt: skip
_CURLS: tuple[tuple[float, float, float], ...] = (
    (-34, -50, 9), (-37, -62, 10), (-33, -76, 11), (-23, -87, 12), (-9, -93, 12), (7, -94, 12), (22, -88, 12),
    (32, -77, 11), (37, -63, 10), (34, -50, 9), (-18, -74, 9), (-4, -77, 10), (11, -76, 9), (23, -71, 8),
)  # fmt: skip


def _face(nod: float) -> list[_Point]:
    """Return the outline of the face, the chin moved by a nod."""
    return smooth([
        (-33, -52), (-31, -36), (-25, -21 + nod), (-14, -10 + nod), (0, -6 + nod), (14, -10 + nod), (25, -21 + nod),
        (31, -36), (33, -52), (29, -72), (16, -84), (0, -87), (-16, -84), (-29, -72),
    ])  # fmt: skip
