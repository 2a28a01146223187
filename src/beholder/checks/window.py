"""The window and the screen behind it, as the browser told them: what a picture has to fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from beholder.checks.contract import Known
from beholder.types import Json

_USUAL = (1280.0, 720.0)
_SIDES = (200, 20_000)
_RATIOS = (0.5, 5)
_MOST_LINES = 8640
"""Twice those of the finest screens. Who claims more would keep the server drawing for minutes."""
_SCALES = (0.01, 100)
_SCALED = 0.02
"""A picture that is shown this much larger or smaller than it is proves nothing."""


@dataclass(frozen=True)
class Window:
    """Width and height of the window in CSS pixels, and of the screen; `ratio` device pixels make a CSS pixel."""

    width: float
    height: float
    screen_width: float
    screen_height: float
    ratio: float

    @property
    def lines(self) -> float:
        """How many device pixels the screen is high, as far as one can be: what is drawn grows with its lines."""
        return min(self.screen_height * self.ratio, _MOST_LINES)


def window(known: Known) -> Window:
    """Return the window of a device. What was not told, or is not possible, is taken as usual."""
    device = _latest(known)
    screen = _size(device.get("screen"), _USUAL)
    # A phone held upright may tell of a window that is wider than its screen; a picture has to fit both.
    width, height = _size(device.get("viewport"), screen)
    ratio = _number(device.get("dpr"), _RATIOS) or 1.0
    return Window(min(width, screen[0]), min(height, screen[1]), *screen, ratio)


def _latest(known: Known) -> Mapping[str, Json]:
    """Return what was told last: who set the zoom to 100 % for the check of the screen has another ratio since."""
    measured = known.answers.get("screen")
    if not isinstance(measured, Mapping) or "dpr" not in measured:
        return known.device
    return {**known.device, "screen": measured["screen"], "viewport": measured["inner"], "dpr": measured["dpr"]}


def read_scale(answer: Mapping[str, Json]) -> float | None:
    """Return how many device pixels each pixel of a picture covered, as its page measured it; None: not measured."""
    return _number(answer.get("scale"), _SCALES)


def is_scaled(scale: Json) -> bool:
    """Return whether a picture was shown in another size than its own."""
    return isinstance(scale, int | float) and abs(scale - 1) > _SCALED


def _size(told: Json, usual: tuple[float, float]) -> tuple[float, float]:
    if not isinstance(told, list | tuple) or len(told) != 2:
        return usual
    width, height = (_number(side, _SIDES) for side in told)
    return (width, height) if width and height else usual


def _number(told: Json, within: tuple[float, float]) -> float | None:
    if isinstance(told, bool) or not isinstance(told, int | float):
        return None
    return float(told) if within[0] <= told <= within[1] else None
