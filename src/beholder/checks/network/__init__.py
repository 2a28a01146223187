"""network: the speed at which media arrive from this server (reference: checks 3).

Everything is downloaded before it plays, so a slow connection costs time, not quality: participants read how long they
will wait, and are stopped only where the wait is hopeless.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    read_number,
)
from beholder.study.qualification import ACTIONS, Action, CheckOptions
from beholder.types import Json

ENOUGH_BYTES, ENOUGH_MS, LONGEST_MS = 2_000_000, 1000, 10_000
"""Enough bytes and time to measure a speed; a slower connection is known after ten seconds."""
_ABOUT = 0.95


class Network(PageCheck):
    name = "network"
    title = "Speed of the network"
    summary = "The speed of the network."
    reasons: ClassVar[Mapping[str, str]] = {"slow": "slow", "hopeless": "the wait would be hopeless"}
    measures = ("mbps",)
    variants = ("slow",)
    stage = "device"
    order = 50
    scope = "device"
    seconds = 5
    is_of_device = True
    screens = 0
    is_costly = False

    class Options(CheckOptions):
        """The speed at which our own media arrive."""

        action: Action = Field(default="warn", description=ACTIONS + " A hopeless wait is always a gate.")
        attempts: int = Field(default=2, ge=1, le=20, description="How often it can be measured.")
        warn_mbps: float = Field(default=40, gt=0, description="Slower than this many megabits a second is told.")
        max_wait_s: float = Field(default=120, gt=0, description="A longer wait for the first trial is hopeless.")

    options: Options

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        public: dict[str, Json] = {"bytes": ENOUGH_BYTES, "ms": ENOUGH_MS, "longest_ms": LONGEST_MS}
        return CheckTask(public, {"first_bytes": context.needs.first_bytes})

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        return {
            "bytes": read_number(answer, "bytes", 0, 1e13),
            "ms": read_number(answer, "ms", 0, 1e9),
            "whole": read_flag(answer, "whole") is True,
        }

    def judge(self, attempt: Attempt) -> Verdict:
        size, ms, first = attempt.answer["bytes"], attempt.answer["ms"], attempt.private["first_bytes"]
        assert isinstance(size, int | float)
        assert isinstance(ms, int | float)
        assert isinstance(first, int | float)
        is_enough = (size >= ENOUGH_BYTES and ms >= ENOUGH_MS) or ms >= _ABOUT * LONGEST_MS
        needed = self.options.warn_mbps
        if not is_enough:
            return self.verdict("unknown", "little", needed=needed)
        if size == 0:
            return self.verdict("unknown", "nothing", needed=needed, again=True)
        mbps = round(8 * size / 1e6 / (ms / 1000), 3)
        wait = round(8 * first / 1e6 / mbps, 1) if mbps > 0 else float(2 * self.options.max_wait_s)
        if wait > self.options.max_wait_s:
            return self.verdict("fail", "hopeless", measured=mbps, needed=needed, action="gate", wait_s=wait)
        if mbps < self.options.warn_mbps:
            return self.verdict("fail", "slow", measured=mbps, needed=needed, wait_s=wait)
        return self.verdict("pass", measured=mbps, needed=needed, wait_s=wait)

    def message_values(self, verdict: Verdict) -> Mapping[str, str | float]:
        mbps, wait = verdict.measured, verdict.evidence.get("wait_s")
        return {
            "mbps": _short(mbps) if isinstance(mbps, int | float) else "?",
            "wait": max(1, round(wait)) if isinstance(wait, int | float) else "?",
            "most": self.options.max_wait_s,
        }

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        first = task.private["first_bytes"]
        assert isinstance(first, int | float)
        mbps = 2 * self.options.warn_mbps
        if not robot.can(f"{self.name}:slow"):
            mbps = 0.5 * self.options.warn_mbps
        if not robot.can(self.name):
            mbps = min(0.5 * 8 * first / 1e6 / self.options.max_wait_s, mbps)
        return {"bytes": round(mbps * 1e6 / 8 * 20), "ms": 20_000, "whole": False}

    def requirement(self) -> str:
        return f"{self.options.warn_mbps:g} Mbit/s"


def _short(mbps: float) -> float:
    """Return a speed rounded for reading."""
    return round(mbps) if mbps >= 10 else round(mbps, 1) if mbps >= 0.1 else round(mbps, 3)
