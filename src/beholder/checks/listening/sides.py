"""sides: on which side a sound is, so that each ear is reached by its own channel (reference: checks 5)."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any

import numpy as np
from numpy.random import Generator

from beholder.checks.contract import Verdict
from beholder.checks.listening import sounds
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, DrawnFile, PageCheck, RobotAbilities
from beholder.study import qualification as rules
from beholder.types import Json

SIDES = ("left", "middle", "right")
NOTHING = "nothing"
"""What can be answered besides: no sound was heard. It is never right."""
LEAD_S, LASTS_S, TAIL_S, RAMP_S = 0.3, 0.8, 0.1, 0.04
LENGTH_S = round(LEAD_S + LASTS_S + TAIL_S, 3)
LOWEST_HZ, HIGHEST_HZ = 300.0, 600.0
MIDDLE_DB = -3.0103
"""Against one side: a sound in both ears has the power of one in a single ear."""
_MIRROR = {"left": "right", "right": "left", "middle": "middle", NOTHING: NOTHING}


class SidesCheck(PageCheck[rules.Sides]):
    name = "sides"
    stage = "setup"
    scope = "device"
    seconds = 20

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        number = self.rule.sounds
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
        given: Any = attempt.answer["sides"]
        right = sum(one == side for one, side in zip(given, true, strict=True))
        if given == true:
            return self.verdict("pass", measured=right, needed=len(true), sides=given, keys=true)
        return self.verdict("fail", _reason(given, true), measured=right, needed=len(true), sides=given, keys=true)

    def message_values(self, verdict: Verdict) -> Mapping[str, str | float]:
        return {"right": verdict.measured if isinstance(verdict.measured, int) else 0, "sounds": self.rule.sounds}

    def guess_rate(self) -> float:
        """Every order that is drawn at all is as likely as another, so the best guess is any of them."""
        number, kept = self.rule.sounds, len(_required_sides(self.rule.sounds))
        orders = sum((-1) ** lost * comb(kept, lost) * (len(SIDES) - lost) ** number for lost in range(kept + 1))
        return float(1 / orders)

    def respond(self, posed: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        true = [side for side, _ in _sounds(posed.private)]
        given = true
        if not robot.can("sides:mono"):
            given = ["middle"] * len(true)
        elif not robot.can(self.name) or not robot.can("sides:swapped"):
            given = [_MIRROR[side] for side in true]
        return {"sides": list(given), "plays": [1] * len(true), "output": {"channels": 2, "rate": 48000}}


def _required_sides(number: int) -> tuple[str, ...]:
    """Return the sides that every attempt has among so many sounds."""
    return SIDES if number >= len(SIDES) else ("left", "right") if number == 2 else ()


def _reason(given: list[str], true: list[Any]) -> str:
    """Return what is most likely wrong, in the order in which it is mended: a dead side, mono, a turned pair."""
    if NOTHING in given:
        return "silent"
    if set(given) == {"middle"}:
        return "mono"
    if given == [_MIRROR[side] for side in true]:
        return "swapped"
    return "sides"


def _sounds(private: Mapping[str, Json]) -> list[tuple[str, float]]:
    kept: Any = private["sounds"]
    return [(side, hertz) for side, hertz in kept]
