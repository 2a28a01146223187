"""remote: no remote desktop, by a question and by hints (reference: checks 3)."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import ClassVar

from numpy.random import Generator

from beholder.checks.contract import Verdict
from beholder.checks.page_contract import (
    Attempt,
    BrowserPage,
    CheckContext,
    CheckTask,
    PageCheck,
    RobotAbilities,
    read_flag,
)
from beholder.checks.refresh import Refresh, intervals_of, rate_of
from beholder.study.qualification import CheckOptions
from beholder.types import Json

HINTS = ("software", "depth", "bursts")
"""What the page can measure: drawn without a graphics card, few colours, a pointer that moves in bursts."""
ENOUGH = 2
_SLOW_HZ = 40
_UNEVEN, _UNEVEN_SHARE = 0.5, 0.2
"""An interval is uneven when it differs from the median by more than half; a larger share of them is a hint."""


class Remote(PageCheck):
    """No remote desktop: the participant is asked. Hints only flag, at least two of them.

    Stored is whether each hint was there, never what it was read from. Reduced motion is an accessibility setting:
    recorded, and no hint.
    """

    name = "remote"
    title = "Remote desktop"
    summary = "Whether the screen is seen from afar."
    reasons: ClassVar[Mapping[str, str]] = {"remote": "said to be used", "hints": "hints that it is used"}
    variants = ("hints",)
    stage = "device"
    order = 60
    scope = "device"
    seconds = 8

    class Options(CheckOptions):
        """Whether the screen is seen through a remote desktop: asked, and hints that only flag."""

    options: Options

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        refresh = context.answers.get(Refresh.name)
        return CheckTask({}, {"refresh": _is_slow(refresh) if isinstance(refresh, Mapping) else None})

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        said = answer.get("remote")
        if not isinstance(said, bool):
            raise self.refuse("remote", "not_answered", "true or false")
        return {"remote": said, **{name: read_flag(answer, name) for name in (*HINTS, "reduced_motion")}}

    def judge(self, attempt: Attempt) -> Verdict:
        hints: dict[str, Json] = {name: attempt.answer[name] for name in HINTS}
        hints["refresh"] = attempt.private.get("refresh")
        points = sum(hint is True for hint in hints.values())
        if attempt.answer["remote"]:
            return self.verdict("fail", "remote", measured=points, needed=ENOUGH, hints=hints)
        if points >= ENOUGH:
            return self.verdict("fail", "hints", measured=points, needed=ENOUGH, action="flag", hints=hints)
        return self.verdict("pass", measured=points, needed=ENOUGH, hints=hints)

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        is_hinted = not robot.can(f"{self.name}:hints")
        said = not robot.can(self.name)
        return {"remote": said, "software": is_hinted, "depth": is_hinted, "bursts": None, "reduced_motion": False}

    @classmethod
    async def take(cls, page: BrowserPage) -> None:
        await page.pass_row("#remote-yes" if page.answer.get("remote") is True else "#remote-no")


def _is_slow(refresh: Mapping[str, Json]) -> bool | None:
    """Return whether the screen is drawn as slowly or unevenly as a remote desktop; None where unmeasured."""
    intervals = intervals_of(refresh)
    rate = rate_of(intervals)
    if rate is None or refresh.get("hidden"):
        return None
    middle = median(intervals)
    uneven = sum(abs(ms - middle) > _UNEVEN * middle for ms in intervals)
    return rate < _SLOW_HZ or uneven > _UNEVEN_SHARE * len(intervals)
