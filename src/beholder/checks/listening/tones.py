"""tones: a quiet room and audible sound, by soft tones that are counted (reference: checks 5, Tone counting).

The softest tone is as much below the clips in every attempt, so that no attempt is easier than another. At a
comfortable volume, clips of about 65 dB, it is about 40 dB: plain in a quiet room, lost beside a television.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any

import numpy as np
from numpy.random import Generator

from beholder.checks import drawing, listening
from beholder.checks.contract import Verdict
from beholder.checks.page_contract import Attempt, CheckAttempt, CheckContext, DrawnFile, PageCheck, RobotAbilities
from beholder.study import qualification as rules
from beholder.types import Json

FEWEST, MOST = 4, 8
LENGTH_S, LEAD_S, TAIL_S = 8.0, 0.6, 0.4
TONE_S, GAP_S, RAMP_S = 0.3, 0.35, 0.03
LOUDEST_DB, SOFTEST_DB = -4.0, -24.0
"""Against the test sound of the volume page: the softest is 50 dB below full scale."""
LOWEST_HZ, HIGHEST_HZ = 400.0, 2000.0
"""What small loudspeakers still play, and what most ears keep with age."""
HIGHEST_COUNT = 20
"""What the page takes as an answer."""


class TonesCheck(PageCheck[rules.Tones]):
    name = "tones"
    stage = "setup"
    bound = "device"
    seconds = 30

    def pose(self, rng: Generator, known: CheckContext) -> CheckAttempt:
        clips: list[Json] = [_clip(rng) for _ in range(self.rule.clips)]
        names = tuple(str(number) for number in range(1, self.rule.clips + 1))
        public: dict[str, Json] = {"sounds": list(names), "seconds": LENGTH_S, "plays": listening.PLAYS}
        return CheckAttempt({**public, "most": HIGHEST_COUNT}, {"clips": clips}, names)

    def draw(self, private: Mapping[str, Json], name: str) -> DrawnFile:
        tones = _clips(private)[int(name) - 1]
        parts = [(at, drawing.tone(hertz, TONE_S, db, ramp=RAMP_S)) for at, hertz, db in tones]
        return drawing.wav(drawing.laid(LENGTH_S, parts))

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        if (silent := listening.blocked(answer)) is not None:
            return silent
        number = len(_clips(private))
        counts = listening.choices(answer, "counts", number, range(HIGHEST_COUNT + 1))
        return {"counts": counts, **listening.heard(answer, number)}

    def judge(self, attempt: Attempt) -> Verdict:
        right: list[Json] = [len(clip) for clip in _clips(attempt.private)]
        if attempt.answer.get("blocked"):
            return self.verdict("unknown", "blocked", needed=right, again=True)
        counts: Any = attempt.answer["counts"]
        if counts == right:
            return self.verdict("pass", measured=counts, needed=right)
        return self.verdict("fail", _reason(counts, right), measured=counts, needed=right)

    def luck(self) -> float:
        return float((MOST - FEWEST + 1) ** -self.rule.clips)

    def respond(self, posed: CheckAttempt, robot: RobotAbilities, rng: Generator) -> Json:
        missed = 0 if robot.can(self.name) else 1
        clips = _clips(posed.private)
        counts = [len(clip) - missed for clip in clips]
        return {"counts": counts, "plays": [1] * len(clips), "output": {"channels": 2, "rate": 48000}}


def _clip(rng: Generator) -> list[Json]:
    """Return when each tone begins, its pitch and its level: apart, and from loudest to softest in any order."""
    number = int(rng.integers(FEWEST, MOST + 1))
    free = LENGTH_S - LEAD_S - TAIL_S - number * TONE_S - (number - 1) * GAP_S
    waits = np.sort(rng.uniform(0, free, number))
    starts = LEAD_S + waits + np.arange(number) * (TONE_S + GAP_S)
    pitches = np.exp(rng.uniform(np.log(LOWEST_HZ), np.log(HIGHEST_HZ), number))
    levels = rng.permutation(np.linspace(LOUDEST_DB, SOFTEST_DB, number))
    return [
        [round(float(at), 3), round(float(hertz), 1), round(float(db), 2)]
        for at, hertz, db in zip(starts, pitches, levels, strict=True)
    ]


def _reason(counts: list[int], right: list[Any]) -> str:
    """Return which way the counts were off: only too low is a matter of what can be heard."""
    return "missed" if all(given <= true for given, true in zip(counts, right, strict=True)) else "count"


def _clips(private: Mapping[str, Json]) -> list[list[list[float]]]:
    clips: Any = private["clips"]
    return list(clips)


# --- sides: both ears are reached, and each by its own channel: on which side is a sound? ---


SIDES = ("left", "middle", "right")
NOTHING = "nothing"
"""What can be answered besides: no sound was heard. It is never right."""
SIDE_LEAD_S, LASTS_S, SIDE_TAIL_S, SIDE_RAMP_S = 0.3, 0.8, 0.1, 0.04
SIDE_LENGTH_S = round(SIDE_LEAD_S + LASTS_S + SIDE_TAIL_S, 3)
SIDE_LOWEST_HZ, SIDE_HIGHEST_HZ = 300.0, 600.0
MIDDLE_DB = -3.0103
"""Against one side: a sound in both ears has the power of one in a single ear."""
_MIRROR = {"left": "right", "right": "left", "middle": "middle", NOTHING: NOTHING}


class SidesCheck(PageCheck[rules.Sides]):
    name = "sides"
    stage = "setup"
    bound = "device"
    seconds = 20

    def pose(self, rng: Generator, known: CheckContext) -> CheckAttempt:
        number = self.rule.sounds
        while not set(_wanted(number)) <= set(sides := [SIDES[side] for side in rng.integers(len(SIDES), size=number)]):
            pass
        pitches = np.exp(rng.uniform(np.log(SIDE_LOWEST_HZ), np.log(SIDE_HIGHEST_HZ), number))
        private: list[Json] = [[side, round(float(hertz), 1)] for side, hertz in zip(sides, pitches, strict=True)]
        names = tuple(str(place) for place in range(1, number + 1))
        public: dict[str, Json] = {"sounds": list(names), "seconds": SIDE_LENGTH_S, "plays": listening.PLAYS}
        return CheckAttempt(public, {"sounds": private}, names)

    def draw(self, private: Mapping[str, Json], name: str) -> DrawnFile:
        side, hertz = _sounds(private)[int(name) - 1]
        one = drawing.chime(hertz, LASTS_S, MIDDLE_DB if side == "middle" else 0.0, ramp=SIDE_RAMP_S)
        ears = [one if side in (ear, "middle") else np.zeros_like(one) for ear in ("left", "right")]
        return drawing.wav(drawing.laid(SIDE_LENGTH_S, [(SIDE_LEAD_S, drawing.both(*ears))]))

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        if (silent := listening.blocked(answer)) is not None:
            return silent
        number = len(_sounds(private))
        return {
            "sides": listening.choices(answer, "sides", number, (*SIDES, NOTHING)),
            **listening.heard(answer, number),
        }

    def judge(self, attempt: Attempt) -> Verdict:
        true: list[Json] = [side for side, _ in _sounds(attempt.private)]
        if attempt.answer.get("blocked"):
            return self.verdict("unknown", "blocked", needed=len(true), again=True)
        given: Any = attempt.answer["sides"]
        right = sum(one == side for one, side in zip(given, true, strict=True))
        if given == true:
            return self.verdict("pass", measured=right, needed=len(true), sides=given, keys=true)
        return self.verdict(
            "fail", _sides_reason(given, true), measured=right, needed=len(true), sides=given, keys=true
        )

    def told(self, verdict: Verdict) -> Mapping[str, str | float]:
        return {"right": verdict.measured if isinstance(verdict.measured, int) else 0, "sounds": self.rule.sounds}

    def luck(self) -> float:
        """Every order that is drawn at all is as likely as another, so the best guess is any of them."""
        number, kept = self.rule.sounds, len(_wanted(self.rule.sounds))
        orders = sum((-1) ** lost * comb(kept, lost) * (len(SIDES) - lost) ** number for lost in range(kept + 1))
        return float(1 / orders)

    def respond(self, posed: CheckAttempt, robot: RobotAbilities, rng: Generator) -> Json:
        true = [side for side, _ in _sounds(posed.private)]
        given = true
        if not robot.can("sides:mono"):
            given = ["middle"] * len(true)
        elif not robot.can(self.name) or not robot.can("sides:swapped"):
            given = [_MIRROR[side] for side in true]
        return {"sides": list(given), "plays": [1] * len(true), "output": {"channels": 2, "rate": 48000}}


def _wanted(number: int) -> tuple[str, ...]:
    """Return the sides that every attempt has among so many sounds."""
    return SIDES if number >= len(SIDES) else ("left", "right") if number == 2 else ()


def _sides_reason(given: list[str], true: list[Any]) -> str:
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
