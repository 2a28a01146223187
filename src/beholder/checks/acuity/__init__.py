"""acuity: the gaps of small Landolt rings (reference: checks 4).

The size of a pixel comes from the card. Where the screen cannot draw the gap with two device pixels, a coarser ring is
shown: who sees it may or may not see the finer one (unknown), who does not see it fails.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, model_validator

from beholder.checks.card import MM_PER_INCH, Card, device_px_per_mm
from beholder.checks.contract import Verdict
from beholder.checks.page_contract import (
    Attempt,
    BrowserPage,
    CheckContext,
    CheckTask,
    DrawnFile,
    PageCheck,
    RobotAbilities,
)
from beholder.checks.pictures import encode, is_scaled, png, read_scale
from beholder.study.parts import Fault, Validity, raise_faults
from beholder.study.qualification import CheckOptions
from beholder.types import Json

FINEST = 2
"""Least gap that can be drawn, in device pixels."""
_SNELLEN = 20
_MM_PER_CM = 10
_LONGEST_MS = 3_600_000


class Acuity(PageCheck):
    name = "acuity"
    title = "Visual acuity"
    summary = "Visual acuity."
    reasons: ClassVar[Mapping[str, str]] = {"rings": "gaps of the rings not found"}
    sense = "eyes"
    brings = (Card.name,)
    stage = "qualify"
    order = 140
    scope = "device"
    lasting_reasons = frozenset(["coarse"])
    seconds = 28
    screens = 2

    class Options(CheckOptions):
        """Visual acuity: the gap of Landolt rings."""

        valid: Validity | None = Field(default="30 d", description="How long a pass counts on the same device.")
        distance_mm: float = Field(
            default=500, ge=200, le=2000, description="How far away participants are asked to sit."
        )
        mar: float = Field(default=1.5, gt=0, le=5, description="Minutes of arc to resolve: 1.5 is 20/30.")
        rings: int = Field(default=5, ge=1, le=20, description="How many rings are shown.")
        right: int = Field(default=3, ge=1, le=20, description="How many have to be right.")

        @model_validator(mode="after")
        def _fits(self) -> Self:
            if self.right > self.rings:
                raise_faults([Fault(f"is {self.right}, of {self.rings} rings", f"1 to {self.rings}", "", ("right",))])
            return self

    options: Options

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        per_mm = device_px_per_mm(context)
        if per_mm is None:
            return CheckTask({"skip": True}, {"skip": True})
        needed = gap_mm(self.options.mar, self.options.distance_mm) * per_mm
        gap = max(needed, FINEST)
        directions: list[Json] = [int(direction) for direction in rng.integers(0, DIRECTIONS, self.options.rings)]
        private: dict[str, Json] = {
            "directions": directions, "gap_px": gap, "px_per_mm": per_mm, "distance_mm": self.options.distance_mm,
            "is_coarse": needed < FINEST,
        }  # fmt: skip
        names = tuple(f"r{place + 1}" for place in range(self.options.rings))
        return CheckTask({"rings": list(names), "distance": self.options.distance_mm / _MM_PER_CM}, private, names)

    def draw(self, private: Mapping[str, Json], name: str) -> DrawnFile:
        gap, directions = _number(private, "gap_px"), _directions(private)
        picture = ring(gap, directions[int(name[1:]) - 1])
        return png(picture, picture.size + 1024)  # padded to its uncompressed size: a slanted gap compresses worse

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        if private.get("skip") is True:
            return {}
        needed, last = len(_directions(private)), DIRECTIONS - 1
        value, times = answer.get("directions"), answer.get("ms")
        directions = value if isinstance(value, list) else []
        if len(directions) != needed or not all(type(one) is int and 0 <= one <= last for one in directions):
            raise self.refuse("directions", "no_direction", f"{needed} whole numbers, 0 to {last}")
        spent: list[Json] = [*times] if isinstance(times, list) and len(times) == needed else [None] * needed
        taken: list[Json] = [_milliseconds(one) for one in spent]
        return {"directions": directions, "ms": taken, "scale": read_scale(answer)}

    def judge(self, attempt: Attempt) -> Verdict:
        private, answer = attempt.private, attempt.answer
        if private.get("skip") is True:
            return self.verdict("unknown", "no_card", needed=self.options.right)
        gap, distance = _number(private, "gap_px"), _number(private, "distance_mm")
        per_mm = _number(private, "px_per_mm")
        mar = mar_of(gap / per_mm, distance)
        directions: Any = answer["directions"]
        measured = sum(one == other for one, other in zip(directions, _directions(private), strict=True))
        needed, scale = self.options.right, answer.get("scale")
        evidence: dict[str, Any] = {
            "rings": len(directions), "gap_px": round(gap, 4), "ppi": round(per_mm * MM_PER_INCH, 2),
            "mar": round(mar, 4), "distance_mm": distance, "snellen": f"{_SNELLEN}/{_SNELLEN * mar:.0f}",
            "scale": scale,
        }  # fmt: skip
        if is_scaled(scale):
            return self.verdict("unknown", "scaled", measured=measured, needed=needed, again=True, **evidence)
        if measured < needed:
            return self.verdict("fail", "rings", measured=measured, needed=needed, **evidence)
        # At least as sharp as `snellen` says, which is coarser than what the study asks for.
        if private["is_coarse"] is True:
            return self.verdict("unknown", "coarse", measured=measured, needed=needed, **evidence)
        return self.verdict("pass", measured=measured, needed=needed, **evidence)

    def message_values(self, verdict: Verdict) -> Mapping[str, str | float]:
        measured, rings_shown = verdict.measured, verdict.evidence.get("rings")
        return {
            "right": measured if isinstance(measured, int) else 0,
            "rings": rings_shown if isinstance(rings_shown, int) else self.options.rings,
            **self.needs(),
        }

    def needs(self) -> Mapping[str, str | float]:
        return {"needed": self.options.right, "distance": self.options.distance_mm / _MM_PER_CM}

    def guess_rate(self) -> float:
        shown, chance = self.options.rings, 1 / DIRECTIONS
        hits = range(self.options.right, shown + 1)
        return sum(math.comb(shown, hit) * chance**hit * (1 - chance) ** (shown - hit) for hit in hits)

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        if task.private.get("skip") is True:
            return {}
        turn = 0 if robot.can(self.name) else DIRECTIONS // 2
        directions: list[Json] = [(direction + turn) % DIRECTIONS for direction in _directions(task.private)]
        return {"directions": directions, "ms": [900] * len(directions), "scale": 1}

    @classmethod
    async def take(cls, page: BrowserPage) -> None:
        if "directions" not in page.answer:
            return  # without a card no ring is shown, and nothing is asked
        await page.find(".acuity-list")
        await page.leave()
        for place, direction in enumerate(page.answer["directions"]):
            ring = await page.find(".acuity-patch img")
            if place == 0:
                await page.on_screen()
            shown = await ring.element_handle()
            await page.press(f'[data-direction="{direction}"]')
            await shown.wait_for_element_state("hidden")
        # The page goes on by itself after the last ring.
        await page.page.wait_for_selector(f'body:not([data-step="{page.key}"]), main .notice', state="attached")


def _directions(private: Mapping[str, Json]) -> list[int]:
    directions: Any = private["directions"]
    return list(directions)


def _number(private: Mapping[str, Json], key: str) -> float:
    value = private[key]
    assert isinstance(value, int | float), key
    return float(value)


def _milliseconds(value: Json) -> float | None:
    """Return how long a ring was looked at, as reported by its page."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LONGEST_MS:
        return None
    return round(float(value), 1)


# Landolt rings: drawn at device pixels by supersampling; pictures are never scaled or rotated

DIRECTIONS = 8
"""Directions of the gap: 0 is right, then anticlockwise in eighths of a turn."""
RING = 5
"""Diameter of a ring in gaps; its stroke is as wide as the gap."""
_MARGIN = 2
_FINE = 16
"""Samples along each side of a pixel."""


def gap_mm(mar: float, distance_mm: float) -> float:
    """Return the size of a gap that subtends `mar` minutes of arc at a distance."""
    return 2 * distance_mm * math.tan(math.radians(mar / 60) / 2)


def mar_of(gap_mm: float, distance_mm: float) -> float:
    """Return the minutes of arc that a gap subtends at a distance."""
    return math.degrees(2 * math.atan(gap_mm / (2 * distance_mm))) * 60


def picture_side(gap: float) -> int:
    """Return the side of the picture of a ring in pixels; even, so that the middle is between pixels."""
    return 2 * math.ceil(RING * gap / 2) + 2 * _MARGIN


def ring(gap: float, direction: int) -> NDArray[np.uint8]:
    """Return the picture of a black ring on white; `gap` in pixels. Edges are mixed as light, by their area."""
    side = picture_side(gap)
    down, across = (np.mgrid[: side * _FINE, : side * _FINE] + 0.5) / _FINE - side / 2
    angle = direction * 2 * math.pi / DIRECTIONS
    outwards = across * math.cos(angle) - down * math.sin(angle)
    sideways = across * math.sin(angle) + down * math.cos(angle)
    radius = np.hypot(across, down)
    is_ring = (radius <= RING * gap / 2) & (radius >= (RING / 2 - 1) * gap)
    is_black = is_ring & ~((outwards > 0) & (np.abs(sideways) <= gap / 2))
    cover = is_black.reshape(side, _FINE, side, _FINE).mean((1, 3))
    return encode(1 - cover)
