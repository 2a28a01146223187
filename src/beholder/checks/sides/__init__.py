"""sides: on which side a sound is, so that each ear is reached by its own channel (reference: checks 5)."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from pydantic import Field

from beholder.checks import sounds
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
from beholder.study.parts import Validity
from beholder.study.qualification import CheckOptions
from beholder.types import Json

SIDES = ("left", "middle", "right")
NOTHING = "nothing"
"""The answer that no sound was heard. It is never right."""
LEAD_S, LASTS_S, TAIL_S, RAMP_S = 0.3, 0.8, 0.1, 0.04
LENGTH_S = round(LEAD_S + LASTS_S + TAIL_S, 3)
LOWEST_HZ, HIGHEST_HZ = 300.0, 600.0
MIDDLE_DB = -3.0103
"""Relative to one side: a sound in both ears has the power of one in a single ear."""
_MIRROR = {"left": "right", "right": "left", "middle": "middle", NOTHING: NOTHING}


class Sides(PageCheck):
    """On which side is each sound?"""

    name = "sides"
    title = "Left and right"
    summary = "Left and right."
    reasons: ClassVar[Mapping[str, str]] = {
        "swapped": "swapped",
        "mono": "mono",
        "silent": "one side silent",
        "sides": "not told apart",
    }
    sense = "ears"
    variants = ("mono", "swapped")
    stage = "setup"
    order = 280
    scope = "device"
    seconds = 20
    is_of_device = True

    class Options(CheckOptions):
        """Left and right: on which side a sound is."""

        valid: Validity | None = Field(default="30 min", description="How long a pass counts on the same device.")
        sounds: int = Field(default=6, ge=1, le=20, description="How many sounds are played; all have to be right.")

    options: Options

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        number = self.options.sounds
        while not set(_required_sides(number)) <= set(
            sides := [SIDES[side] for side in rng.integers(len(SIDES), size=number)]
        ):
            pass
        pitches = np.exp(rng.uniform(np.log(LOWEST_HZ), np.log(HIGHEST_HZ), number))
        private: list[Json] = [[side, round(float(hertz), 1)] for side, hertz in zip(sides, pitches, strict=True)]
        names = tuple(str(place) for place in range(1, number + 1))
        public: dict[str, Json] = {"sounds": list(names), "seconds": LENGTH_S, "plays": sounds.PLAYS}
        return CheckTask(public, {"sounds": private}, names)

    def draw(self, private: Mapping[str, Json], name: str) -> DrawnFile:
        side, hertz = _sounds(private)[int(name) - 1]
        one = sounds.chime(hertz, LASTS_S, MIDDLE_DB if side == "middle" else 0.0, ramp=RAMP_S)
        ears = [one if side in (ear, "middle") else np.zeros_like(one) for ear in ("left", "right")]
        return sounds.wav(sounds.arrange(LENGTH_S, [(LEAD_S, sounds.stereo(*ears))]))

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        if (silent := sounds.read_blocked(answer)) is not None:
            return silent
        number = len(_sounds(private))
        return {
            "sides": sounds.read_choices(answer, "sides", number, (*SIDES, NOTHING)),
            **sounds.read_playback(answer, number),
        }

    def judge(self, attempt: Attempt) -> Verdict:
        true: list[Json] = [side for side, _ in _sounds(attempt.private)]
        if attempt.answer.get("blocked"):
            return self.verdict("unknown", "blocked", needed=len(true), again=True)
        answers: Any = attempt.answer["sides"]
        right = sum(one == side for one, side in zip(answers, true, strict=True))
        if answers == true:
            return self.verdict("pass", measured=right, needed=len(true), sides=answers, keys=true)
        return self.verdict("fail", _reason(answers, true), measured=right, needed=len(true), sides=answers, keys=true)

    def message_values(self, verdict: Verdict) -> Mapping[str, str | float]:
        return {"right": verdict.measured if isinstance(verdict.measured, int) else 0, "sounds": self.options.sounds}

    def guess_rate(self) -> float:
        """Return the probability of one order: all orders that can be drawn are equally likely."""
        number, required = self.options.sounds, len(_required_sides(self.options.sounds))
        orders = sum(
            (-1) ** lost * comb(required, lost) * (len(SIDES) - lost) ** number for lost in range(required + 1)
        )
        return float(1 / orders)

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        true = [side for side, _ in _sounds(task.private)]
        answers = true
        if not robot.can(f"{self.name}:mono"):
            answers = ["middle"] * len(true)
        elif not robot.can(self.name) or not robot.can(f"{self.name}:swapped"):
            answers = [_MIRROR[side] for side in true]
        return {"sides": list(answers), "plays": [1] * len(true), "output": {"channels": 2, "rate": 48000}}

    @classmethod
    async def take(cls, page: BrowserPage) -> None:
        await sounds.choose_tiles(page, page.answer["sides"])


def _required_sides(number: int) -> tuple[str, ...]:
    """Return the sides that every task with this number of sounds contains."""
    return SIDES if number >= len(SIDES) else ("left", "right") if number == 2 else ()


def _reason(answers: list[str], true: list[Any]) -> str:
    """Return the likeliest cause, in the order in which it is fixed: a dead side, mono, swapped sides."""
    if NOTHING in answers:
        return "silent"
    if set(answers) == {"middle"}:
        return "mono"
    if answers == [_MIRROR[side] for side in true]:
        return "swapped"
    return "sides"


def _sounds(private: Mapping[str, Json]) -> list[tuple[str, float]]:
    sounds: Any = private["sounds"]
    return [(side, hertz) for side, hertz in sounds]
