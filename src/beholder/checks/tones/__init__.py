"""tones: soft tones are counted in a quiet room with audible sound (reference: checks 5, Tone counting).

The softest tone has the same level in every attempt, so that no attempt is easier. At a comfortable volume, with clips
of about 65 dB, it is about 40 dB: clear in a quiet room, masked by a television.
"""

from __future__ import annotations

from collections.abc import Mapping
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

FEWEST, MOST = 4, 8
LENGTH_S, LEAD_S, TAIL_S = 8.0, 0.6, 0.4
TONE_S, GAP_S, RAMP_S = 0.3, 0.35, 0.03
LOUDEST_DB, SOFTEST_DB = -4.0, -24.0
"""Relative to the test sound of the volume page: the softest is 50 dB below full scale."""
LOWEST_HZ, HIGHEST_HZ = 400.0, 2000.0
"""Small loudspeakers still play these, and most people still hear them at an old age."""
HIGHEST_COUNT = 20
"""The largest answer that the page accepts."""


class Tones(PageCheck):
    """How many tones are in each clip?"""

    name = "tones"
    title = "Counting tones"
    summary = "Counting tones."
    reasons: ClassVar[Mapping[str, str]] = {"missed": "tones missed", "count": "not counted right"}
    sense = "ears"
    stage = "setup"
    order = 270
    scope = "device"
    seconds = 30
    is_of_device = True

    class Options(CheckOptions):
        """A quiet room and audible volume: tones to count."""

        attempts: int = Field(default=3, ge=1, le=20, description="How often it can be tried; each time is a new one.")
        valid: Validity | None = Field(default="30 min", description="How long a pass counts on the same device.")
        clips: int = Field(default=2, ge=1, le=10, description="How many clips have to be counted right.")

    options: Options

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        clips: list[Json] = [_clip(rng) for _ in range(self.options.clips)]
        names = tuple(str(number) for number in range(1, self.options.clips + 1))
        public: dict[str, Json] = {"sounds": list(names), "seconds": LENGTH_S, "plays": sounds.PLAYS}
        return CheckTask({**public, "most": HIGHEST_COUNT}, {"clips": clips}, names)

    def draw(self, private: Mapping[str, Json], name: str) -> DrawnFile:
        tones = _clips(private)[int(name) - 1]
        parts = [(at, sounds.tone(hertz, TONE_S, db, ramp=RAMP_S)) for at, hertz, db in tones]
        return sounds.wav(sounds.arrange(LENGTH_S, parts))

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        if (silent := sounds.read_blocked(answer)) is not None:
            return silent
        number = len(_clips(private))
        counts = sounds.read_choices(answer, "counts", number, range(HIGHEST_COUNT + 1))
        return {"counts": counts, **sounds.read_playback(answer, number)}

    def judge(self, attempt: Attempt) -> Verdict:
        right: list[Json] = [len(clip) for clip in _clips(attempt.private)]
        if attempt.answer.get("blocked"):
            return self.verdict("unknown", "blocked", needed=right, again=True)
        counts: Any = attempt.answer["counts"]
        if counts == right:
            return self.verdict("pass", measured=counts, needed=right)
        return self.verdict("fail", _reason(counts, right), measured=counts, needed=right)

    def guess_rate(self) -> float:
        return float((MOST - FEWEST + 1) ** -self.options.clips)

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        missed = 0 if robot.can(self.name) else 1
        clips = _clips(task.private)
        counts = [len(clip) - missed for clip in clips]
        return {"counts": counts, "plays": [1] * len(clips), "output": {"channels": 2, "rate": 48000}}

    @classmethod
    async def take(cls, page: BrowserPage) -> None:
        for count in page.answer["counts"]:
            await sounds.play(page)
            await page.write("#count", count)
            await page.leave()


def _clip(rng: Generator) -> list[Json]:
    """Return the start, pitch and level of each tone: apart, with levels from loudest to softest in random order."""
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
    """Return `missed` where no count is too high, which depends on what can be heard; else `count`."""
    return "missed" if all(count <= true for count, true in zip(counts, right, strict=True)) else "count"


def _clips(private: Mapping[str, Json]) -> list[list[list[float]]]:
    clips: Any = private["clips"]
    return list(clips)
