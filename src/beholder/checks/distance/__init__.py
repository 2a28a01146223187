"""distance: the viewing distance, by which blur is seen (reference: checks 5).

Three pairs of pictures, in each of which one is blurred. The radii are for a screen of 1080 lines and scale with its
lines, so that the same blur covers the same visual angle from the same number of screen heights.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations, product
from math import ceil, pi
from statistics import fmean
from typing import Annotated, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, model_validator

from beholder.checks.card import px_per_mm
from beholder.checks.contract import Verdict
from beholder.checks.device import PHONE_BELOW
from beholder.checks.page_contract import (
    Attempt,
    BrowserPage,
    CheckContext,
    CheckTask,
    DrawnFile,
    PageCheck,
    RobotAbilities,
    WordKey,
)
from beholder.checks.pictures import is_scaled, png, read_scale
from beholder.checks.screen import Window, window_of
from beholder.study.parts import Fault, Validity, raise_faults
from beholder.study.qualification import ACTIONS, Action, CheckOptions
from beholder.study.value_kinds import Allowed
from beholder.types import Json

STRENGTHS = ("weak", "middle", "strong")
SIDES = ("a", "b")
CHOICES = (*SIDES, "none")
_LARGEST_RADIUS = 50
_LINES = 1080
_BESIDE = 900
"""Least width of a window, in CSS pixels, in which the pictures of a pair are side by side."""

Choice = Literal["right", "wrong", "none"]


class Distance(PageCheck):
    name = "distance"
    title = "Viewing distance"
    summary = "Viewing distance."
    reasons: ClassVar[Mapping[str, str]] = {"far": "too far away"}
    sense = "eyes"
    variants = ("near", "far", "unclear")
    stage = "setup"
    order = 240
    seconds = 25
    screens = 3
    is_costly = False

    class Options(CheckOptions):
        """Viewing distance: three pairs, of which one picture is blurred."""

        action: Action = Field(default="warn", description=ACTIONS)
        attempts: int = Field(default=3, ge=1, le=20, description="How often it can be tried; each time is a new one.")
        valid: Validity | None = Field(default="30 min", description="How long a pass counts on the same device.")
        heights: float = Field(default=1.5, gt=0, le=10, description="How far to sit, in heights of the screen.")
        radii: Annotated[tuple[float, float, float] | None, Allowed("three radii in pixels, such as [3, 5, 7]")] = (
            Field(
                default=None,
                description="Weak, middle and strong blur, on a screen of 1080 lines; by the just noticeable "
                "difference at `heights` when left out.",
            )
        )

        @property
        def blurs(self) -> tuple[float, float, float]:
            """The radii as written, else those of the just noticeable difference."""
            return self.radii or radii_at(self.heights)

        def blurs_at(self, heights: float) -> tuple[float, float, float]:
            """Return the radii for a seat at so many heights: written ones cover the same angle from there."""
            if self.radii is None:
                return radii_at(heights)
            weak, middle, strong = (min(_LARGEST_RADIUS, radius * heights / self.heights) for radius in self.radii)
            return weak, middle, strong

        @model_validator(mode="after")
        def _grows(self) -> Self:
            weak, middle, strong = self.blurs
            if not 0 < weak < middle < strong <= _LARGEST_RADIUS:
                allowed = f"above 0 and up to {_LARGEST_RADIUS}, from the weakest blur to the strongest"
                raise_faults([Fault(f"is {weak:g}, {middle:g}, {strong:g}", allowed, "", ("radii",))])
            return self

    options: Options

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        on = window_of(context)
        scale = on.lines / _LINES
        width, height = _size(on)
        seat = _seat(context, on, self.options.heights)
        blurs = self.options.blurs_at(seat.heights)
        pairs: list[Json] = []
        for which in rng.permutation(len(STRENGTHS)):
            blurred = SIDES[int(rng.integers(2))]
            radius = round(blurs[which] * scale, 4)
            seed = int(rng.integers(2**53))
            pairs.append({"strength": STRENGTHS[which], "radius": radius, "blurred": blurred, "seed": seed})
        where: dict[str, Json] = {"cm": seat.cm, "held": seat.is_held}
        private: dict[str, Json] = {
            "pairs": pairs, "width": width, "height": height, "scale": round(scale, 4), "lines": on.lines, **where,
        }  # fmt: skip
        names = tuple(f"{side}{number}" for number in range(1, len(pairs) + 1) for side in SIDES)
        shown: dict[str, Json] = {"pairs": len(pairs), "heights": self.options.heights, **where}
        return CheckTask({**shown, "size": [width, height]}, private, names)

    def draw(self, private: Mapping[str, Json], name: str) -> DrawnFile:
        side, pair = name[0], _pairs(private)[int(name[1:]) - 1]
        width, height, scale, radius, seed = (
            private["width"], private["height"], private["scale"], pair["radius"], pair["seed"],
        )  # fmt: skip
        assert isinstance(width, int)
        assert isinstance(height, int)
        assert isinstance(scale, int | float)
        assert isinstance(radius, int | float)
        assert isinstance(seed, int)
        # Drawn with a margin, so that the blur at the edge is that of a larger picture.
        rim = ceil(radius)
        pixels = sharp_picture(seed, width + 2 * rim, height + 2 * rim, scale)
        if side == pair["blurred"]:
            pixels = box_blur(pixels, radius)
        inner: NDArray[np.uint8] = np.ascontiguousarray(pixels[rim : rim + height, rim : rim + width])
        # Padded: a blurred picture would make a shorter file.
        return png(inner, _length(width, height, scale))

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        better, pairs = answer.get("better"), len(_pairs(private))
        if not isinstance(better, list | tuple) or len(better) != pairs or any(one not in CHOICES for one in better):
            raise self.refuse("better", "pair_without_answer", f"a list of {pairs} of {', '.join(CHOICES)}")
        return {"better": list(better), "scale": read_scale(answer)}

    def judge(self, attempt: Attempt) -> Verdict:
        choices = _choices(attempt)
        scale, cm, is_held = attempt.answer.get("scale"), attempt.private.get("cm"), attempt.private.get("held")
        measured: Json = dict(choices)
        needed: Json = {"weak": "none", "middle": "right", "strong": "right"}
        say, reason = _verdict(choices)
        if is_scaled(scale):
            say, reason = "unknown", "scaled"
        return self.verdict(
            say, reason, measured=measured, needed=needed, again=say == "unknown", scale=scale, cm=cm, held=is_held
        )

    def message_values(self, verdict: Verdict) -> Mapping[str, str | float]:
        cm, is_held = verdict.evidence.get("cm"), verdict.evidence.get("held") is True
        place = "place.held" if is_held else "place.heights" if cm is None else "place.cm"
        return {"heights": float(self.options.heights), "cm": str(cm), "where": WordKey(place)}

    def needs(self) -> Mapping[str, str | float]:
        return {"heights": float(self.options.heights)}

    def guess_rate(self) -> float:
        """Return the probability that the best blind answer passes, over all orders and sides."""
        orders = [dict(zip(STRENGTHS, places, strict=True)) for places in permutations(range(len(STRENGTHS)))]
        sides = list(product(SIDES, repeat=len(STRENGTHS)))

        def passes(guess: tuple[str, ...]) -> float:
            return fmean(
                _verdict({strength: _choice(guess[place], blurred[place]) for strength, place in order.items()})[0]
                == "pass"
                for order in orders
                for blurred in sides
            )

        return max(passes(guess) for guess in product(CHOICES, repeat=len(STRENGTHS)))

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        """Return the answer of a participant who sits right, too near, too far, or does not look."""
        visible_at = {"distance:near": STRENGTHS, "distance:far": STRENGTHS[2:], "distance:unclear": ()}
        visible_at["distance"] = visible_at["distance:far"]
        visible = next((seen for place, seen in visible_at.items() if not robot.can(place)), STRENGTHS[1:])
        better: list[Json] = [
            _other(str(pair["blurred"])) if pair["strength"] in visible else "none" for pair in _pairs(task.private)
        ]
        return {"better": better, "scale": 1}

    @classmethod
    async def take(cls, page: BrowserPage) -> None:
        for better in page.answer["better"]:
            await page.find(".check-picture")
            await page.tick(f"#better-{better}")
            await page.leave()


def _verdict(choices: Mapping[str, Choice]) -> tuple[Literal["pass", "fail", "unknown"], str]:
    """Return the verdict of three pairs: seeing the weak blur is too near, seeing only the strong one too far."""
    weak, middle, strong = (choices[strength] for strength in STRENGTHS)
    if strong == "right" and middle == "right" and weak != "wrong":
        return "pass", "near" if weak == "right" else ""
    if strong == "right" and middle != "right":
        return "fail", "far"
    return "unknown", "unclear"


def _choices(attempt: Attempt) -> dict[str, Choice]:
    better = attempt.answer["better"]
    assert isinstance(better, list)
    pairs = zip(_pairs(attempt.private), better, strict=True)
    choices = {str(pair["strength"]): _choice(str(choice), str(pair["blurred"])) for pair, choice in pairs}
    return {strength: choices[strength] for strength in STRENGTHS}


def _choice(choice: str, blurred: str) -> Choice:
    return "none" if choice == "none" else "wrong" if choice == blurred else "right"


def _other(side: str) -> str:
    return SIDES[1 - SIDES.index(side)]


def _pairs(private: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    pairs = private["pairs"]
    assert isinstance(pairs, list)
    return [pair for pair in pairs if isinstance(pair, Mapping)]


def _size(on: Window) -> tuple[int, int]:
    """Return the size of a picture in device pixels, so that a pair and its answers fit into one view."""
    if on.width >= _BESIDE:
        width, height = min(390.0, (on.width - 104) / 2), min(300.0, max(220.0, on.height - 540))
    else:
        width, height = min(390.0, on.width - 64), min(260.0, max(140.0, (on.height - 480) / 2))
    return int(width * on.ratio), int(height * on.ratio)


_NEAREST_CM, _FURTHEST_CM = 10, 400  # what a card may say of a phone and of a wall
_HELD_CM = 30
"""Nobody looks at a screen from nearer than they hold a phone, whatever its height."""
_PHONE_MM = (67, 145)
"""Width and height of a usual phone, where no card was measured."""


def _length(width: int, height: int, scale: float) -> int:
    """Return the bytes that hold any picture of this size, sharp or blurred; finer leaves need more."""
    return int((0.85 if scale < 1.5 else 0.6) * width * height) + 4096


class _Seat(NamedTuple):
    """Where to look from: heights of the screen, centimetres if they are known, and whether the screen is in a hand."""

    heights: float
    cm: int | None
    is_held: bool


def _seat(context: CheckContext, on: Window, heights: float) -> _Seat:
    """Return where to look from. A small screen would be too near to be seen sharply: it is held further away."""
    per_mm = px_per_mm(context)
    upright = on.screen_height >= on.screen_width
    is_phone = min(on.screen_width, on.screen_height) < PHONE_BELOW
    height = on.screen_height / per_mm if per_mm is not None else _PHONE_MM[upright] if is_phone else None
    if height is None or not _NEAREST_CM <= heights * height / 10 <= _FURTHEST_CM:
        return _Seat(heights, None, is_held=False)
    is_held = heights * height / 10 < _HELD_CM
    if is_held:
        heights = _HELD_CM * 10 / height
    return _Seat(heights, 5 * round(heights * height / 10 / 5), is_held)


# Radii: what is just noticeable at the expected distance

JND_ARCMIN = 1.0
"""Standard deviation of the blur that people just notice on sharp edges, in minutes of arc."""
_NOTICED = (0.85, 1.7, 5.5)
"""Weak, middle and strong blur at the expected distance, in just noticeable differences: the weak one is noticed from
0.85 times the distance or less, the middle one up to 1.7 times, the strong one up to 5.5 times."""
_DRAWABLE = ((0.02, _LARGEST_RADIUS / 4), (0.05, _LARGEST_RADIUS / 2), (0.1, _LARGEST_RADIUS))
"""What can be told apart in a picture, for very small and very large distances."""
_ARCMIN = 180 * 60 / pi


def radii_at(heights: float) -> tuple[float, float, float]:
    """Return weak, middle and strong radius on a screen of 1080 lines, seen from so many heights of it."""
    arcmin_per_pixel = _ARCMIN / (_LINES * heights)
    weak, middle, strong = (
        min(most, max(least, _radius_of(JND_ARCMIN * times / arcmin_per_pixel)))
        for times, (least, most) in zip(_NOTICED, _DRAWABLE, strict=True)
    )
    return weak, middle, strong


def _radius_of(sigma: float) -> float:
    """Return the radius of a box whose blur has this standard deviation in pixels; to two decimals."""
    low, high = 0.0, 200.0
    for _ in range(60):
        radius = (low + high) / 2
        low, high = (radius, high) if _box_sigma(radius) < sigma else (low, radius)
    return round(high, 2)


def _box_sigma(radius: float) -> float:
    """Return the standard deviation of a box blur, its outermost pixels counting in part."""
    reach = ceil(radius)
    inner = sum(2 * step * step for step in range(1, reach))
    return float(((inner + 2 * (radius - reach + 1) * reach * reach) / (2 * radius + 1)) ** 0.5) if reach else 0.0


# Pictures: dead leaves of every size, sharp and blurred

_RADII = (64, 32, 16, 8, 4, 2)
"""Least radii of leaves on a screen of 1080 lines, in the order in which they are drawn; at most 1.5 times that."""
_LAYERS = 3
_COVER = 0.35
"""Share of the picture that the leaves of one size cover in one layer."""
_SHAPES = 4
"""Different radii within a size and a layer."""
_GREYS = (40, 216)


def sharp_picture(seed: int, width: int, height: int, scale: float) -> NDArray[np.uint8]:
    """Return a picture with hard edges and leaves of every size; `scale` is the height of the screen in 1080 lines.

    Every size covers the same area, as in photographs, so that any blur is visible.
    """
    rng = np.random.default_rng(seed)
    pixels = np.full((height, width), sum(_GREYS) // 2, np.uint8)
    for _ in range(_LAYERS):
        for least in _RADII:
            radii = rng.uniform(least, 1.5 * least, _SHAPES) * scale
            count = _COVER * width * height / (pi * (1.25 * least * scale) ** 2)
            _draw_leaves(pixels, rng, radii, ceil(count / _SHAPES))
    return pixels


def _draw_leaves(pixels: NDArray[np.uint8], rng: Generator, radii: NDArray[np.float64], count: int) -> None:
    """Draw `count` leaves of each radius on a picture."""
    height, width = pixels.shape
    for radius in radii:
        reach = int(radius)
        rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
        inside = rows**2 + columns**2 <= radius**2
        down = rng.integers(-reach, height + reach, count)[:, None] + rows[inside]
        across = rng.integers(-reach, width + reach, count)[:, None] + columns[inside]
        greys = np.broadcast_to(rng.integers(*_GREYS, (count, 1)), down.shape)
        inside_picture = (down >= 0) & (down < height) & (across >= 0) & (across < width)
        pixels[down[inside_picture], across[inside_picture]] = greys[inside_picture]


def box_blur(pixels: NDArray[np.uint8], radius: float) -> NDArray[np.uint8]:
    """Return a picture blurred by a box: each pixel is the mean of a square of 2 radius + 1, edges repeated.

    A radius need not be whole: the outermost pixels then count in part.
    """
    reach = ceil(radius)
    kernel = np.ones(2 * reach + 1)
    kernel[[0, -1]] = radius - reach + 1
    kernel /= kernel.sum()
    blurred = pixels.astype(np.float64)
    for _ in range(2):  # columns, then rows of the transposed picture
        rows = len(blurred)
        wide = np.pad(blurred, ((reach, reach), (0, 0)), mode="edge")
        blurred = np.zeros_like(blurred)
        for start, weight in enumerate(kernel):
            blurred += weight * wide[start : start + rows]
        blurred = np.ascontiguousarray(blurred.T)
    return np.rint(blurred).astype(np.uint8)
