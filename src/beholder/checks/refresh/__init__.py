"""refresh: the refresh rate of the screen (reference: checks 3)."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import ClassVar

from numpy.random import Generator
from pydantic import Field

from beholder.checks.contract import Verdict
from beholder.checks.page_contract import (
    Attempt,
    CheckContext,
    CheckTask,
    PageCheck,
    RobotAbilities,
    read_flag,
    read_numbers,
)
from beholder.study.qualification import CheckOptions
from beholder.types import Json

WARM_UP, INTERVALS = 20, 120
_FEWEST = 60
_NEAR = 0.95
"""A screen of 29.97 Hz is one of 30."""
_LONG_MS, _LONG_SHARE = 100, 0.1
_ROBOT_RATES, _ROBOT_SHARES = (60.0, 75.0, 144.0), (0.8, 0.1, 0.1)
"""Rates of the screens of simulated participants, and how many have them."""


class Refresh(PageCheck):
    """The refresh rate of the screen, by the median of many intervals."""

    name = "refresh"
    title = "Refresh rate"
    summary = "How often the screen is drawn."
    reasons: ClassVar[Mapping[str, str]] = {"slow": "too low"}
    measures = ("refresh_hz",)
    stage = "device"
    order = 30
    scope = "device"
    seconds = 3
    is_of_device = True
    screens = 0

    class Options(CheckOptions):
        """How often the screen is drawn."""

        min_hz: float = Field(default=30, gt=0, le=1000, description="Pictures a second at least.")

    options: Options

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        return CheckTask({"warm_up": WARM_UP, "intervals": INTERVALS}, {"fps": context.needs.fps})

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        intervals = read_numbers(answer, "intervals", 0, 600_000, INTERVALS)
        return {"intervals": [round(ms, 2) for ms in intervals], "hidden": read_flag(answer, "hidden") is True}

    def judge(self, attempt: Attempt) -> Verdict:
        intervals, needed = intervals_of(attempt.answer), self.options.min_hz
        rate = rate_of(intervals)
        if attempt.answer["hidden"] or rate is None:
            return self.verdict("unknown", "hidden", measured=rate, needed=needed, again=True)
        if sum(ms > _LONG_MS for ms in intervals) > _LONG_SHARE * len(intervals):
            return self.verdict("unknown", "irregular", measured=rate, needed=needed, again=True)
        fps = attempt.private.get("fps")
        if rate < _NEAR * needed:
            return self.verdict("fail", "slow", measured=rate, needed=needed)
        if isinstance(fps, int | float) and rate < _NEAR * fps:
            return self.verdict("pass", "below_clips", measured=rate, needed=needed, fps=fps)
        return self.verdict("pass", measured=rate, needed=needed)

    def message_values(self, verdict: Verdict) -> Mapping[str, str | float]:
        rate, fps = verdict.measured, verdict.evidence.get("fps")
        return {
            "hz": round(rate) if isinstance(rate, int | float) else "?",
            "need": self.options.min_hz,
            "fps": round(fps) if isinstance(fps, int | float) else "?",
        }

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        fast = 1000 / max(rng.choice(_ROBOT_RATES, p=_ROBOT_SHARES), self.options.min_hz)
        ms = fast if robot.can(self.name) else 2000 / self.options.min_hz
        return {"intervals": [round(ms + float(step), 2) for step in rng.normal(0, 0.05, INTERVALS)], "hidden": False}

    def requirement(self) -> str:
        return f"at least {self.options.min_hz:g} Hz"


def intervals_of(answer: Mapping[str, Json]) -> list[float]:
    """Return the intervals of an answer, in milliseconds."""
    values = answer.get("intervals")
    return [float(ms) for ms in values if isinstance(ms, int | float)] if isinstance(values, list | tuple) else []


def rate_of(intervals: list[float]) -> float | None:
    """Return the refresh rate in Hz; None with too few intervals."""
    if len(intervals) < _FEWEST or median(intervals) <= 0:
        return None
    return round(1000 / median(intervals), 2)
