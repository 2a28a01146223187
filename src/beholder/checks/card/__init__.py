"""card: the size of a pixel, from the outline of a bank card (ISO/IEC 7810 ID-1; reference: checks 4)."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from numpy.random import Generator
from pydantic import Field

from beholder.checks.contract import Verdict
from beholder.checks.page_contract import (
    Attempt,
    BrowserPage,
    CheckContext,
    CheckTask,
    PageCheck,
    RobotAbilities,
)
from beholder.checks.screen import window_of
from beholder.study.parts import Validity
from beholder.study.qualification import ACTIONS, Action, CheckOptions
from beholder.types import Json

WIDTH_MM, HEIGHT_MM = 85.60, 53.98
MM_PER_INCH = 25.4
APART = 0.03
"""Where two settings differ by more than this share, a third is asked for."""
PPI = (60, 600)
"""Plausible densities of a screen, in device pixels per inch."""
_SMALL, _LARGE = (190, 250), (400, 460)
"""Initial widths of the outline in CSS pixels: for most screens clearly too small, and clearly too large."""
_WIDTHS = (20, 5000)
_RATIOS = (0.25, 8)
_MOST_NUDGES = 200
_ROBOT_PPI = 254
"""Dense enough for the rings of 20/30."""


class Card(PageCheck):
    name = "card"
    title = "Size of a pixel"
    summary = "The size of a pixel, by a bank card."
    measures = ("ppi", "diagonal_inches")
    stage = "qualify"
    order = 130
    scope = "device"
    seconds = 35
    screens = 2
    is_costly = False

    class Options(CheckOptions):
        """The size of a pixel, from the outline of a bank card. `acuity` brings it along."""

        action: Action = Field(default="record", description=ACTIONS)
        attempts: int = Field(default=3, ge=1, le=20, description="How often it can be measured.")
        valid: Validity | None = Field(default="30 d", description="How long it counts on the same device.")

    options: Options

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        small, large, third = (round(float(rng.uniform(*ends))) for ends in (_SMALL, _LARGE, (_SMALL[0], _LARGE[1])))
        starts: list[Json] = [small, large, third] if rng.integers(2) else [large, small, third]
        public: dict[str, Json] = {"starts": starts, "apart": APART, "shape": WIDTH_MM / HEIGHT_MM}
        return CheckTask(public, {"starts": starts, "ratio": window_of(context).ratio})

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        if answer.get("none") is True:
            return {"none": True}
        widths, ratio = answer.get("widths"), answer.get("dpr")
        if not isinstance(widths, list) or not 2 <= len(widths) <= 3 or not all(_is_in(w, _WIDTHS) for w in widths):
            allowed = f"two or three numbers, {_WIDTHS[0]} to {_WIDTHS[1]}"
            raise self.refuse("widths", "no_widths", allowed)
        if not _is_in(ratio, _RATIOS):
            allowed = f"a number, {_RATIOS[0]} to {_RATIOS[1]}"
            raise self.refuse("dpr", "no_pixel_ratio", allowed)
        return {"widths": widths, "dpr": ratio, "moved": answer.get("moved") is True}

    def judge(self, attempt: Attempt) -> Verdict:
        answer = attempt.answer
        needed: Json = list(PPI)
        if answer.get("none") is True:
            return self.verdict("unknown", "no_card", needed=needed)
        per_mm = _device_px_per_mm(answer)
        widths: Any = answer["widths"]
        ppi = round(MM_PER_INCH * per_mm, 2)
        evidence: dict[str, Any] = {
            "ppi": ppi, "css_px_per_mm": round(per_mm / _ratio(answer), 5), "widths": widths,
            "spread": round(max(widths) / min(widths) - 1, 5),
        }  # fmt: skip
        if answer.get("moved") is not True:
            return self.verdict("unknown", "unchanged", measured=ppi, needed=needed, again=True, **evidence)
        if not PPI[0] <= ppi <= PPI[1]:
            return self.verdict("unknown", "implausible", measured=ppi, needed=needed, again=True, **evidence)
        return self.verdict("pass", measured=ppi, needed=needed, **evidence)

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        if not robot.can(self.name):
            return {"none": True}
        ratio: Any = task.private["ratio"]
        width = round(WIDTH_MM * (robot.ppi or _ROBOT_PPI) / MM_PER_INCH / ratio)
        return {"widths": [width, width + 1], "dpr": ratio, "moved": True}

    @classmethod
    async def take(cls, page: BrowserPage) -> None:
        if page.answer.get("none"):
            return await page.leave("#none")
        for wanted in page.answer["widths"]:
            slider = await page.find("#width")
            low, high = [float(await slider.get_attribute(name) or 0) for name in ("min", "max")]
            width = min(wanted, high)
            await page.slide("#width", (width - low) / (high - low))
            for _ in range(_MOST_NUDGES):
                off = width - float(await slider.input_value())
                if abs(off) < 0.5:
                    break
                await page.press("#larger" if off > 0 else "#smaller")
            await page.leave()


def device_px_per_mm(context: CheckContext) -> float | None:
    """Return the device pixels per millimetre of the screen; None where no card was measured."""
    answer = context.answers.get(Card.name)
    if not isinstance(answer, Mapping) or "widths" not in answer or answer.get("moved") is not True:
        return None
    per_mm = _device_px_per_mm(answer)
    return per_mm if PPI[0] <= MM_PER_INCH * per_mm <= PPI[1] else None


def px_per_mm(context: CheckContext) -> float | None:
    """Return the CSS pixels per millimetre of the screen, at the zoom of the arrival."""
    per_mm = device_px_per_mm(context)
    return None if per_mm is None else per_mm / window_of(context).ratio


def _device_px_per_mm(answer: Mapping[str, Json]) -> float:
    """Return the density by a card: the mean of two settings, or the middle one of three."""
    widths: Any = answer["widths"]
    return float(median(widths)) * _ratio(answer) / WIDTH_MM


def _ratio(answer: Mapping[str, Json]) -> float:
    ratio = answer["dpr"]
    assert isinstance(ratio, int | float)
    return float(ratio)


def _is_in(value: Json, ends: tuple[float, float]) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and ends[0] <= value <= ends[1]
