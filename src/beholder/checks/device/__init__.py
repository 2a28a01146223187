"""device, remote, refresh: the kind of device, remote desktops, and the refresh rate of the screen (checks 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import get_args

from numpy.random import Generator

from beholder.checks.contract import Verdict
from beholder.checks.page_contract import (
    Attempt,
    CheckContext,
    CheckTask,
    PageCheck,
    RobotAbilities,
    WordKey,
    read_flag,
    read_numbers,
    read_pair,
    read_whole_number,
    refuse,
)
from beholder.study import qualification as rules
from beholder.study.qualification import Kind
from beholder.types import Json

KINDS: tuple[Kind, ...] = get_args(Kind)
_POINTERS = ("fine", "coarse", "none")
_PHONE_BELOW = 600
"""CSS pixels of the short side."""
_DESK = ("win", "mac", "linux", "chrome", "cros")
"""How platform names of computers begin; iPadOS says Mac, and has more than one touch point."""


class DeviceCheck(PageCheck[rules.Device]):
    """A computer, a tablet or a phone, recognised by pointer and size, never by the name of the browser alone."""

    name = "device"
    stage = "device"
    scope = "device"
    seconds = 2
    screens = 0

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        """Return a task; where the signals disagreed in the last attempt, the participant is asked."""
        last = context.answers.get(self.name)
        if not isinstance(last, Mapping) or "pointer" not in last:
            return CheckTask({"ask": False, "before": None})
        signals: Json = {"pointer": last["pointer"], "screen": last["screen"]}
        return CheckTask({"ask": kind_of(last) is None, "before": signals})

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        pointer, said = answer.get("pointer"), answer.get("said")
        if pointer not in _POINTERS:
            raise refuse("pointer", "The kind of pointer is missing", ", ".join(_POINTERS))
        if said is not None and said not in KINDS:
            raise refuse("said", "The device is none of those that were offered", ", ".join(KINDS))
        system = answer.get("system")
        return {
            "pointer": pointer,
            "hover": read_flag(answer, "hover"),
            "fine": read_flag(answer, "fine"),
            "touches": read_whole_number(answer, "touches", 0, 1000),
            "mobile": read_flag(answer, "mobile"),
            "screen": list(read_pair(answer, "screen", 1, 100_000)),
            "system": system[:40] if isinstance(system, str) else "",
            "said": said,
        }

    def judge(self, attempt: Attempt) -> Verdict:
        kind, said = kind_of(attempt.answer), attempt.answer["said"]
        needed: Json = list(self.rule.allow)
        if kind is None and said is None:
            return self.verdict("unknown", "signals", needed=needed, again=True)
        device = said if kind is None else kind
        if device not in self.rule.allow:
            return self.verdict("fail", str(device), measured=device, needed=needed)
        if kind is None:
            return self.verdict("unknown", "said", measured=device, needed=needed)
        return self.verdict("pass", measured=device, needed=needed)

    def message_values(self, verdict: Verdict) -> Mapping[str, str | float]:
        return {"kind": WordKey(f"kind.{verdict.measured}"), "needed": WordKey(f"needed.{_all(self.rule.allow)}")}

    def needs(self) -> Mapping[str, str | float]:
        return {"devices": WordKey(f"needs.{_all(self.rule.allow)}")}

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        kind = self.rule.allow[0] if robot.can(self.name) else next((k for k in KINDS if k not in self.rule.allow), "")
        touched: dict[str, Json] = {
            "pointer": "coarse", "hover": False, "fine": False, "touches": 5, "mobile": True, "system": "Android",
        }  # fmt: skip
        if kind == "phone":
            return {**touched, "screen": [390, 844]}
        if kind == "tablet":
            return {**touched, "screen": [820, 1180]}
        # Where everything is allowed there is no wrong kind, only an unclear one.
        pointer = "fine" if kind else "none"
        return {
            "pointer": pointer, "hover": True, "fine": True, "touches": 0, "mobile": False, "system": "Linux",
            "screen": [1920, 1080],
        }  # fmt: skip


def kind_of(signals: Mapping[str, Json]) -> Kind | None:
    """Return the kind of a device by its signals; None where they disagree."""
    pointer, is_mobile, touches = signals["pointer"], signals["mobile"] is True, signals["touches"]
    assert isinstance(touches, int)
    system = str(signals["system"]).lower()
    is_pad = system.startswith("mac") and touches > 1
    if pointer == "fine":
        return None if is_mobile or is_pad else "desktop"
    if pointer == "none":
        return None
    if system.startswith(_DESK) and not (is_mobile or is_pad):
        return None  # a laptop with a touch screen, which some browsers report as the primary pointer
    return "phone" if _short(signals) < _PHONE_BELOW else "tablet"


def _short(signals: Mapping[str, Json]) -> float:
    sides = signals["screen"]
    assert isinstance(sides, list | tuple)
    return min(side for side in sides if isinstance(side, int | float))


def _all(kinds: Iterable[Kind]) -> str:
    return "+".join(sorted(set(kinds)))


# Remote desktop

HINTS = ("software", "depth", "bursts")
"""What the page can measure: drawn without a graphics card, few colours, a pointer that moves in bursts."""
ENOUGH = 2
_SLOW_HZ = 40
_UNEVEN, _UNEVEN_SHARE = 0.5, 0.2
"""An interval is uneven when it differs from the median by more than half; a larger share of them is a hint."""


class RemoteCheck(PageCheck[rules.Remote]):
    """No remote desktop: the participant is asked. Hints only flag, at least two of them.

    Stored is whether each hint was there, never what it was read from. Reduced motion is an accessibility setting:
    recorded, and no hint.
    """

    name = "remote"
    stage = "device"
    scope = "device"
    seconds = 8

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        refresh = context.answers.get("refresh")
        return CheckTask({}, {"refresh": _is_slow(refresh) if isinstance(refresh, Mapping) else None})

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        said = answer.get("remote")
        if not isinstance(said, bool):
            raise refuse("remote", "The question is not answered", "true or false")
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


def _is_slow(refresh: Mapping[str, Json]) -> bool | None:
    """Return whether the screen is drawn as slowly or unevenly as a remote desktop; None where unmeasured."""
    intervals = intervals_of(refresh)
    rate = rate_of(intervals)
    if rate is None or refresh.get("hidden"):
        return None
    middle = median(intervals)
    uneven = sum(abs(ms - middle) > _UNEVEN * middle for ms in intervals)
    return rate < _SLOW_HZ or uneven > _UNEVEN_SHARE * len(intervals)


# Refresh rate

WARM_UP, INTERVALS = 20, 120
_FEWEST = 60
_NEAR = 0.95
"""A screen of 29.97 Hz is one of 30."""
_LONG_MS, _LONG_SHARE = 100, 0.1


class RefreshCheck(PageCheck[rules.Refresh]):
    """The refresh rate of the screen, by the median of many intervals."""

    name = "refresh"
    stage = "device"
    scope = "device"
    seconds = 3
    screens = 0

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        return CheckTask({"warm_up": WARM_UP, "intervals": INTERVALS}, {"fps": context.needs.fps})

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        intervals = read_numbers(answer, "intervals", 0, 600_000, INTERVALS)
        return {"intervals": [round(ms, 2) for ms in intervals], "hidden": read_flag(answer, "hidden") is True}

    def judge(self, attempt: Attempt) -> Verdict:
        intervals, needed = intervals_of(attempt.answer), self.rule.min_hz
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
            "need": self.rule.min_hz,
            "fps": round(fps) if isinstance(fps, int | float) else "?",
        }

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        fast = 1000 / max(60.0, self.rule.min_hz)
        ms = fast if robot.can(self.name) else 2000 / self.rule.min_hz
        return {"intervals": [round(ms + float(step), 2) for step in rng.normal(0, 0.05, INTERVALS)], "hidden": False}


def intervals_of(answer: Mapping[str, Json]) -> list[float]:
    """Return the intervals of an answer, in milliseconds."""
    values = answer.get("intervals")
    return [float(ms) for ms in values if isinstance(ms, int | float)] if isinstance(values, list | tuple) else []


def rate_of(intervals: list[float]) -> float | None:
    """Return the refresh rate in Hz; None with too few intervals."""
    if len(intervals) < _FEWEST or median(intervals) <= 0:
        return None
    return round(1000 / median(intervals), 2)
