"""remote: the screen is seen from in front of it, not through a remote desktop (reference: checks 3).

The person is asked. Hints only flag, two of them at least; kept is whether each was there, never what it was read from.
A wish for less motion is an accessibility setting: recorded, and no hint.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from numpy.random import Generator

from beholder.checks.contract import Attempt, Known, Posed, Robot, Step, refuse
from beholder.checks.reading import switch
from beholder.checks.refresh import intervals_of, rate_of
from beholder.checks.verdict import Verdict
from beholder.study import qualification as rules
from beholder.types import Json

HINTS = ("software", "depth", "bursts")
"""What the page can tell: drawn without a graphics card, few colours, a pointer that moves in bursts."""
ENOUGH = 2
_SLOW_HZ = 40
_UNEVEN, _UNEVEN_SHARE = 0.5, 0.2
"""Intervals that are half as long again as the median, or half as short, and how many of them are too many."""


class Remote(Step[rules.Remote]):
    name = "remote"
    stage = "device"
    bound = "device"
    seconds = 8

    def pose(self, rng: Generator, known: Known) -> Posed:
        before = known.answers.get("refresh")
        return Posed({}, {"refresh": _is_slow(before) if isinstance(before, Mapping) else None})

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        said = answer.get("remote")
        if not isinstance(said, bool):
            raise refuse("remote", "The question is not answered", "true or false")
        return {"remote": said, **{name: switch(answer, name) for name in (*HINTS, "reduced_motion")}}

    def judge(self, attempt: Attempt) -> Verdict:
        hints: dict[str, Json] = {name: attempt.answer[name] for name in HINTS}
        hints["refresh"] = attempt.private.get("refresh")
        points = sum(hint is True for hint in hints.values())
        if attempt.answer["remote"]:
            return self.verdict("fail", "remote", measured=points, needed=ENOUGH, hints=hints)
        if points >= ENOUGH:
            return self.verdict("fail", "hints", measured=points, needed=ENOUGH, action="flag", hints=hints)
        return self.verdict("pass", measured=points, needed=ENOUGH, hints=hints)

    def respond(self, posed: Posed, robot: Robot, rng: Generator) -> Json:
        is_hinted = not robot.can(f"{self.name}:hints")
        said = not robot.can(self.name)
        return {"remote": said, "software": is_hinted, "depth": is_hinted, "bursts": None, "reduced_motion": False}


def _is_slow(refresh: Mapping[str, Json]) -> bool | None:
    """Return whether the screen is drawn as through a remote desktop; None where nothing was measured."""
    intervals = intervals_of(refresh)
    rate = rate_of(intervals)
    if rate is None or refresh.get("hidden"):
        return None
    middle = median(intervals)
    uneven = sum(abs(ms - middle) > _UNEVEN * middle for ms in intervals)
    return rate < _SLOW_HZ or uneven > _UNEVEN_SHARE * len(intervals)
