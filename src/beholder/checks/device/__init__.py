"""device: a computer, a tablet or a phone, as the study allows (reference: checks 3).

Told by what points at the screen and how large it is, never by the name of the browser alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import get_args

from numpy.random import Generator

from beholder.checks.contract import Attempt, Known, Posed, Robot, Step, Word, refuse
from beholder.checks.reading import pair, switch, whole
from beholder.checks.verdict import Verdict
from beholder.study import qualification as rules
from beholder.study.qualification import Kind
from beholder.types import Json

KINDS: tuple[Kind, ...] = get_args(Kind)
_POINTERS = ("fine", "coarse", "none")
_PHONE_BELOW = 600
"""CSS pixels of the short side."""
_DESK = ("win", "mac", "linux", "chrome", "cros")
"""How the names begin that systems of computers give themselves; iPadOS says Mac, and has more than one touch point."""


class Device(Step[rules.Device]):
    name = "device"
    stage = "device"
    bound = "device"
    seconds = 2
    screens = 0

    def pose(self, rng: Generator, known: Known) -> Posed:
        """Return an attempt; where the signals disagreed the last time, the person is asked."""
        before = known.answers.get(self.name)
        if not isinstance(before, Mapping) or "pointer" not in before:
            return Posed({"ask": False, "before": None})
        was: Json = {"pointer": before["pointer"], "screen": before["screen"]}
        return Posed({"ask": kind_of(before) is None, "before": was})

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
            "hover": switch(answer, "hover"),
            "fine": switch(answer, "fine"),
            "touches": whole(answer, "touches", 0, 1000),
            "mobile": switch(answer, "mobile"),
            "screen": list(pair(answer, "screen", 1, 100_000)),
            "system": system[:40] if isinstance(system, str) else "",
            "said": said,
        }

    def judge(self, attempt: Attempt) -> Verdict:
        kind, said = kind_of(attempt.answer), attempt.answer["said"]
        needed: Json = list(self.rule.allow)
        if kind is None and said is None:
            return self.verdict("unknown", "signals", needed=needed, again=True)
        met = said if kind is None else kind
        if met not in self.rule.allow:
            return self.verdict("fail", str(met), measured=met, needed=needed)
        if kind is None:
            return self.verdict("unknown", "said", measured=met, needed=needed)
        return self.verdict("pass", measured=met, needed=needed)

    def told(self, verdict: Verdict) -> Mapping[str, str | float]:
        return {"kind": Word(f"kind.{verdict.measured}"), "needed": Word(f"needed.{_all(self.rule.allow)}")}

    def needs(self) -> Mapping[str, str | float]:
        return {"devices": Word(f"needs.{_all(self.rule.allow)}")}

    def respond(self, posed: Posed, robot: Robot, rng: Generator) -> Json:
        kind = self.rule.allow[0] if robot.can(self.name) else next((k for k in KINDS if k not in self.rule.allow), "")
        touched: dict[str, Json] = {
            "pointer": "coarse", "hover": False, "fine": False, "touches": 5, "mobile": True, "system": "Android",
        }  # fmt: skip
        if kind == "phone":
            return {**touched, "screen": [390, 844]}
        if kind == "tablet":
            return {**touched, "screen": [820, 1180]}
        # Where everything is allowed, there is no wrong kind to be: only one that nobody can tell.
        pointer = "fine" if kind else "none"
        return {
            "pointer": pointer, "hover": True, "fine": True, "touches": 0, "mobile": False, "system": "Linux",
            "screen": [1920, 1080],
        }  # fmt: skip


def kind_of(signals: Mapping[str, Json]) -> Kind | None:
    """Return what a device is by its signals, None where they disagree."""
    pointer, is_mobile, touches = signals["pointer"], signals["mobile"] is True, signals["touches"]
    assert isinstance(touches, int)
    system = str(signals["system"]).lower()
    is_pad = system.startswith("mac") and touches > 1
    if pointer == "fine":
        return None if is_mobile or is_pad else "desktop"
    if pointer == "none":
        return None
    if system.startswith(_DESK) and not (is_mobile or is_pad):
        return None  # a laptop with a touch screen, which some browsers take for the first pointer
    return "phone" if _short(signals) < _PHONE_BELOW else "tablet"


def _short(signals: Mapping[str, Json]) -> float:
    sides = signals["screen"]
    assert isinstance(sides, list | tuple)
    return min(side for side in sides if isinstance(side, int | float))


def _all(kinds: Iterable[Kind]) -> str:
    return "+".join(sorted(set(kinds)))
