"""screen: the resolution in device pixels (reference: checks 3).

A laptop of 1920 x 1080 pixels at 175 % reports 1097 x 617, so the pixel ratio is needed. Browsers differ in whether
the size of the screen follows the zoom of the page, so a zoomed page is measured again at 100 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

from numpy.random import Generator
from pydantic import Field, model_validator

from beholder.checks.contract import Verdict
from beholder.checks.page_contract import (
    Attempt,
    CheckContext,
    CheckTask,
    PageCheck,
    RobotAbilities,
    read_number,
    read_pair,
)
from beholder.study.parts import Fault, raise_faults
from beholder.study.qualification import CheckOptions
from beholder.study.value_kinds import Allowed
from beholder.types import Json

_LARGEST_SIDE = 20_000
ZOOM = (0.95, 1.05)
_SAME = 0.02
"""A zoom that changes by less than this between attempts is no zoom: a side bar looks the same."""


class Screen(PageCheck):
    name = "screen"
    title = "Resolution of the screen"
    summary = "The resolution of the screen."
    reasons: ClassVar[Mapping[str, str]] = {"small": "too small"}
    measures = ("screen_width", "screen_height")
    stage = "device"
    order = 20
    scope = "device"
    seconds = 2
    is_of_device = True
    screens = 0

    class Options(CheckOptions):
        """The resolution of the screen in device pixels."""

        attempts: int = Field(default=3, ge=1, le=20, description="How often it can be measured.")
        min: Annotated[tuple[int, int], Allowed("two numbers of pixels, such as [1280, 720]")] = Field(
            default=(1280, 720), description="Long and short side at least, in device pixels."
        )

        @model_validator(mode="after")
        def _can_be_bought(self) -> Self:
            if not all(1 <= side <= _LARGEST_SIDE for side in self.min):
                sides = f"is {self.min[0]}, {self.min[1]}"
                raise_faults([Fault(sides, f"two numbers of pixels, 1 to {_LARGEST_SIDE:,}", "", ("min",))])
            return self

    options: Options

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        last = context.answers.get(self.name)
        last_zoom = zoom_of(last) if isinstance(last, Mapping) and "inner" in last else None
        size = context.needs.size
        return CheckTask({}, {"size": list(size) if size else None, "zoom": last_zoom})

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        measured: dict[str, Json] = {
            "screen": list(read_pair(answer, "screen", 1, 100_000)),
            "inner": list(read_pair(answer, "inner", 0, 100_000)),
            "outer": list(read_pair(answer, "outer", 0, 100_000)),
            "dpr": read_number(answer, "dpr", 0.01, 100),
        }
        if not pixels_of(measured)[1]:
            raise self.refuse("screen", "screen_without_pixels", "a screen of at least one pixel")
        return measured

    def judge(self, attempt: Attempt) -> Verdict:
        zoom, pixels = zoom_of(attempt.answer), pixels_of(attempt.answer)
        long, short = self._needed(attempt.private.get("size"))
        measured: Json = list(pixels)
        needed: Json = [long, short]
        if zoom is not None and not ZOOM[0] <= zoom <= ZOOM[1]:
            last = attempt.private.get("zoom")
            stays = isinstance(last, int | float) and abs(last - zoom) <= _SAME * zoom
            return self.verdict("unknown", "zoom", measured=measured, needed=needed, again=not stays, zoom=zoom)
        if pixels[0] < long or pixels[1] < short:
            return self.verdict("fail", "small", measured=measured, needed=needed, zoom=zoom)
        return self.verdict("pass", measured=measured, needed=needed, zoom=zoom)

    def _needed(self, size: Json) -> tuple[int, int]:
        """Return the long and the short side that the study and its largest clip need."""
        long, short = max(self.options.min), min(self.options.min)
        if isinstance(size, list | tuple):
            sides = [side for side in size if isinstance(side, int)]
            return max(long, *sides), max(short, min(sides))
        return long, short

    def message_values(self, verdict: Verdict) -> Mapping[str, str | float]:
        zoom = verdict.evidence.get("zoom")
        return {
            **_sides(verdict.measured, "width", "height"),
            **_sides(verdict.needed, "need_width", "need_height"),
            "zoom": round(100 * zoom) if isinstance(zoom, int | float) else "?",
        }

    def needs(self) -> Mapping[str, str | float]:
        return {"width": max(self.options.min), "height": min(self.options.min)}

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        long, short = self._needed(task.private.get("size"))
        own = _ROBOT_SCREENS[rng.choice(len(_ROBOT_SCREENS), p=_ROBOT_SHARES)]
        fitting = [max(long, own[0]), max(short, own[1])]
        screen: list[Json] = [*fitting] if robot.can(self.name) else [long // 2, short // 2]
        return {"screen": screen, "inner": screen, "outer": screen, "dpr": 1}

    def requirement(self) -> str:
        return f"at least {self.options.min[0]} by {self.options.min[1]} pixels"

    def device_facts(self, verdict: Verdict) -> Mapping[str, Json]:
        """Return the long and the short side in device pixels; a page that was zoomed does not tell them."""
        if verdict.reason == "zoom":
            return {"screen_width": None, "screen_height": None}
        return {**_sides(verdict.measured, *self.measures)} if isinstance(verdict.measured, list | tuple) else {}


def pixels_of(answer: Mapping[str, Json]) -> tuple[int, int]:
    """Return the long and the short side of a screen in device pixels."""
    (width, height), ratio = _two(answer["screen"]), answer["dpr"]
    assert isinstance(ratio, int | float)
    sides = round(width * ratio), round(height * ratio)
    return max(sides), min(sides)


def zoom_of(answer: Mapping[str, Json]) -> float | None:
    """Return the zoom of the page by the size of its window; None where the page is wider than its window."""
    inner, outer = _two(answer["inner"])[0], _two(answer["outer"])[0]
    return round(outer / inner, 3) if 0 < inner <= outer else None


def _two(sides: Json) -> tuple[float, float]:
    assert isinstance(sides, Sequence)
    width, height = sides
    assert isinstance(width, int | float)
    assert isinstance(height, int | float)
    return width, height


def _sides(sides: Json, long: str, short: str) -> dict[str, str | float]:
    return dict(zip((long, short), (int(side) for side in _two(sides)), strict=True)) if sides else {}


# The window that a picture has to fit

_ROBOT_SCREENS, _ROBOT_SHARES = ((1920, 1080), (1536, 864), (1366, 768), (2560, 1440)), (0.5, 0.2, 0.15, 0.15)
"""Screens of simulated participants and how many have them; what the study needs at the least."""
_USUAL = (1280.0, 720.0)
_SIDES = (200, 20_000)
_RATIOS = (0.5, 5)
_MOST_LINES = 8640
"""Twice those of the finest screens. Drawing for more would take the server minutes."""


@dataclass(frozen=True)
class Window:
    """Size of the window and of the screen in CSS pixels; `ratio` is device pixels per CSS pixel."""

    width: float
    height: float
    screen_width: float
    screen_height: float
    ratio: float

    @property
    def lines(self) -> float:
        """Height of the screen in device pixels, within plausible limits: pictures grow with it."""
        return min(self.screen_height * self.ratio, _MOST_LINES)


def window_of(context: CheckContext) -> Window:
    """Return the window of a device, with usual values where its report is missing or impossible."""
    device = _latest(context)
    screen = _size(device.get("screen"), _USUAL)
    # A phone held upright may report a window that is wider than its screen; a picture has to fit both.
    width, height = _size(device.get("viewport"), screen)
    ratio = _number(device.get("dpr"), _RATIOS) or 1.0
    return Window(min(width, screen[0]), min(height, screen[1]), *screen, ratio)


def _latest(context: CheckContext) -> Mapping[str, Json]:
    """Return the latest report: the ratio changes when the zoom is set to 100 % for the screen check."""
    measured = context.answers.get(Screen.name)
    if not isinstance(measured, Mapping) or "dpr" not in measured:
        return context.device
    return {**context.device, "screen": measured["screen"], "viewport": measured["inner"], "dpr": measured["dpr"]}


def _size(value: Json, usual: tuple[float, float]) -> tuple[float, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return usual
    width, height = (_number(side, _SIDES) for side in value)
    return (width, height) if width and height else usual


def _number(value: Json, within: tuple[float, float]) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if within[0] <= value <= within[1] else None
