"""headphones, pitch: each ear hears its own channel (reference: checks 5, Volume and headphones).

Three tones, of which one is softer and another in antiphase. Through loudspeakers, or in mono, the one in antiphase
cancels itself and seems softest; with headphones it is as loud as the others [Woods 2017]. `strict` adds a pitch that
neither ear can hear alone [Milne 2020].
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from math import comb
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from pydantic import Field, model_validator

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
from beholder.study.parts import Fault, Validity, raise_faults
from beholder.study.qualification import CheckOptions
from beholder.types import Json

INTERVALS = 3
LASTS_S, PAUSE_S, RAMP_S = 1.0, 0.5, 0.1
LEAD_S, TAIL_S = 0.3, 0.1
"""Silence before and after: wireless headphones cut the beginning of a sound."""
STARTS = tuple(round(LEAD_S + place * (LASTS_S + PAUSE_S), 3) for place in range(INTERVALS))
LENGTH_S = round(STARTS[-1] + LASTS_S + TAIL_S, 3)

HERTZ = 200.0
SOFTER_DB = -6.0
PITCH_HERTZ, PITCH_BAND = 600.0, 0.06
NOISE_DB = -6.0
"""White noise is strong where hearing is sensitive, so it is softer than the tones."""


class ThreeIntervals(PageCheck):
    """Base of a check of several trials, in each of which one of three intervals differs from the others."""

    stage = "setup"
    scope = "device"
    sense = "ears"
    seconds = 45
    is_of_device = True
    options: Headphones.Options
    key: ClassVar[str]
    """Private key of the right interval of a trial; intervals count from 1."""

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        trials: list[Json] = [self._trial(rng) for _ in range(self.options.trials)]
        names = tuple(str(number) for number in range(1, self.options.trials + 1))
        intervals: list[Json] = [[start, round(start + LASTS_S, 3)] for start in STARTS]
        public: dict[str, Json] = {"sounds": list(names), "intervals": intervals, "plays": sounds.PLAYS}
        return CheckTask(public, {"trials": trials}, names)

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        if (silent := sounds.read_blocked(answer)) is not None:
            return silent
        number = len(_trials(private))
        allowed = range(1, INTERVALS + 1)
        return {
            "chosen": sounds.read_choices(answer, "chosen", number, allowed),
            **sounds.read_playback(answer, number),
        }

    def judge(self, attempt: Attempt) -> Verdict:
        if attempt.answer.get("blocked"):
            return self.verdict("unknown", "blocked", needed=self.options.right, again=True)
        trials = _trials(attempt.private)
        chosen: Any = attempt.answer["chosen"]
        keys = [trial[self.key] for trial in trials]
        right = sum(one == key for one, key in zip(chosen, keys, strict=True))
        evidence: dict[str, Any] = {"chosen": chosen, "keys": keys, **self._evidence(trials, chosen)}
        if right >= self.options.right:
            return self.verdict("pass", measured=right, needed=self.options.right, **evidence)
        reason = self._reason(evidence, len(trials) - right)
        return self.verdict("fail", reason, measured=right, needed=self.options.right, **evidence)

    def message_values(self, verdict: Verdict) -> Mapping[str, str | float]:
        right = verdict.measured if isinstance(verdict.measured, int) else 0
        return {"right": right, "trials": self.options.trials, "needed": self.options.right}

    def guess_rate(self) -> float:
        trials, right = self.options.trials, self.options.right
        ways = sum(comb(trials, hits) * (INTERVALS - 1) ** (trials - hits) for hits in range(right, trials + 1))
        return float(ways / INTERVALS**trials)

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        trials = _trials(task.private)
        chosen = [trial[self.key] if robot.can(self.name) else self._mistaken(trial) for trial in trials]
        return {"chosen": chosen, "plays": [1] * len(trials), "output": {"channels": 2, "rate": 48000}}

    @abstractmethod
    def _trial(self, rng: Generator) -> dict[str, Json]:
        """Return one trial: the content of its intervals, and which one is right."""

    def _evidence(self, trials: Sequence[Mapping[str, Any]], chosen: Sequence[int]) -> dict[str, Json]:
        return {}

    def _reason(self, evidence: Mapping[str, Any], wrong: int) -> str:
        return self.key

    @abstractmethod
    def _mistaken(self, trial: Mapping[str, Any]) -> int:
        """Return the answer of a participant who cannot hear the difference."""

    @classmethod
    async def take(cls, page: BrowserPage) -> None:
        await sounds.choose_tiles(page, page.answer["chosen"])


class Headphones(ThreeIntervals):
    """Which of three tones is softest?"""

    name = "headphones"
    title = "Headphones"
    summary = "Headphones."
    reasons: ClassVar[Mapping[str, str]] = {
        "speakers": "as through loudspeakers",
        "softest": "the softest tone not found",
    }
    order = 250
    example: ClassVar[Mapping[str, Any]] = {"strict": True}
    key = "softest"

    class Options(CheckOptions):
        """Headphones: which of three tones is softest, where one is in antiphase."""

        valid: Validity | None = Field(default="30 min", description="How long a pass counts on the same device.")
        trials: int = Field(default=6, ge=1, le=20, description="How many times three tones are played.")
        right: int = Field(default=5, ge=1, le=20, description="How many have to be right.")
        strict: bool = Field(default=False, description="Also a pitch that only two ears together can hear.")

        @model_validator(mode="after")
        def _fits(self) -> Self:
            if self.right > self.trials:
                raise_faults(
                    [Fault(f"is {self.right}, of {self.trials} trials", f"1 to {self.trials}", "", ("right",))]
                )
            return self

    options: Options

    def _trial(self, rng: Generator) -> dict[str, Json]:
        softest, antiphase = (int(place) + 1 for place in rng.permutation(INTERVALS)[:2])
        phases: list[Json] = [round(float(phase), 4) for phase in rng.uniform(0, 2 * np.pi, INTERVALS)]
        return {"softest": softest, "antiphase": antiphase, "phases": phases}

    def draw(self, private: Mapping[str, Json], name: str) -> DrawnFile:
        trial = _trial_of(private, name)
        parts = []
        for place, start in enumerate(STARTS, 1):
            db = SOFTER_DB if place == trial["softest"] else 0.0
            one = sounds.tone(HERTZ, LASTS_S, db, ramp=RAMP_S, phase=trial["phases"][place - 1])
            parts.append((start, sounds.stereo(one, -one if place == trial["antiphase"] else one)))
        return sounds.wav(sounds.arrange(LENGTH_S, parts))

    def _evidence(self, trials: Sequence[Mapping[str, Any]], chosen: Sequence[int]) -> dict[str, Json]:
        cancelled = [trial["antiphase"] for trial in trials]
        return {"antiphase": sum(one == place for one, place in zip(chosen, cancelled, strict=True))}

    def _reason(self, evidence: Mapping[str, Any], wrong: int) -> str:
        """Return `speakers` where most mistakes are the tone that cancels itself."""
        return "speakers" if 2 * evidence["antiphase"] > wrong else "softest"

    def _mistaken(self, trial: Mapping[str, Any]) -> int:
        return int(trial["antiphase"])


class Pitch(ThreeIntervals):
    """Which of three noises holds a faint tone that only two ears together can hear?"""

    name = "pitch"
    title = "Pitch by two ears"
    reasons: ClassVar[Mapping[str, str]] = {"tone": "the tone not found"}
    switch = Headphones.name
    summary = "A pitch that only two ears together can hear."
    words = "words/pitch"
    order = 260
    key = "tone"

    @classmethod
    def is_asked(cls, options: Headphones.Options) -> bool:
        return options.strict

    def _trial(self, rng: Generator) -> dict[str, Json]:
        return {"tone": int(rng.integers(INTERVALS)) + 1, "seed": int(rng.integers(2**32))}

    def draw(self, private: Mapping[str, Json], name: str) -> DrawnFile:
        trial = _trial_of(private, name)
        rng = np.random.default_rng(trial["seed"])
        band = (PITCH_HERTZ * (1 - PITCH_BAND), PITCH_HERTZ * (1 + PITCH_BAND))
        parts = []
        for place, start in enumerate(STARTS, 1):
            shifted = band if place == trial["tone"] else None
            parts.append((start, sounds.noise(rng, LASTS_S, NOISE_DB, ramp=RAMP_S, shifted=shifted)))
        return sounds.wav(sounds.arrange(LENGTH_S, parts))

    def _mistaken(self, trial: Mapping[str, Any]) -> int:
        return int(trial["tone"]) % INTERVALS + 1


def _trials(private: Mapping[str, Json]) -> list[dict[str, Any]]:
    """Return the trials of a task."""
    trials: Any = private["trials"]
    return list(trials)


def _trial_of(private: Mapping[str, Json], name: str) -> dict[str, Any]:
    """Return the trial of a sound."""
    return _trials(private)[int(name) - 1]
