"""device: the kind of device (reference: checks 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal, get_args

from numpy.random import Generator
from pydantic import Field

from beholder.checks.contract import Verdict
from beholder.checks.page_contract import (
    Attempt,
    BrowserPage,
    CheckContext,
    CheckTask,
    PageCheck,
    RobotAbilities,
    WordKey,
    read_flag,
    read_pair,
    read_whole_number,
)
from beholder.formats import join_names
from beholder.study.qualification import CheckOptions
from beholder.types import Json

Kind = Literal["desktop", "tablet", "phone"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_POINTERS = ("fine", "coarse", "none")
PHONE_BELOW = 600
"""CSS pixels of the short side."""
_DESK = ("win", "mac", "linux", "chrome", "cros")
"""How platform names of computers begin; iPadOS says Mac, and has more than one touch point."""


class Device(PageCheck):
    """A computer, a tablet or a phone, recognised by pointer and size, never by the name of the browser alone."""

    name = "device"
    title = "Kind of device"
    summary = "The kind of device."
    reasons: ClassVar[Mapping[str, str]] = {"phone": "a phone", "tablet": "a tablet", "desktop": "a computer"}
    outcome = "wrong_device"
    measures = ("kind",)
    stage = "device"
    order = 10
    scope = "device"
    seconds = 2
    screens = 0

    class Options(CheckOptions):
        """The kind of device."""

        attempts: int = Field(default=10, ge=1, le=20, description="How often it can be tried, also on another device.")
        allow: tuple[Kind, ...] = Field(default=("desktop",), min_length=1, description="What may be used.")

    options: Options

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
            raise self.refuse("pointer", "no_pointer", ", ".join(_POINTERS))
        if said is not None and said not in KINDS:
            raise self.refuse("said", "device_not_offered", ", ".join(KINDS))
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
        needed: Json = list(self.options.allow)
        if kind is None and said is None:
            return self.verdict("unknown", "signals", needed=needed, again=True)
        device = said if kind is None else kind
        if device not in self.options.allow:
            return self.verdict("fail", str(device), measured=device, needed=needed)
        if kind is None:
            return self.verdict("unknown", "said", measured=device, needed=needed)
        return self.verdict("pass", measured=device, needed=needed)

    def message_values(self, verdict: Verdict) -> Mapping[str, str | float]:
        return {"kind": WordKey(f"kind.{verdict.measured}"), "needed": WordKey(f"needed.{_all(self.options.allow)}")}

    def needs(self) -> Mapping[str, str | float]:
        return {"devices": WordKey(f"needs.{_all(self.options.allow)}")}

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        kind = (
            self.options.allow[0]
            if robot.can(self.name)
            else next((k for k in KINDS if k not in self.options.allow), "")
        )
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

    def requirement(self) -> str:
        return join_names(self.options.allow)

    def allowed_devices(self) -> tuple[str, ...]:
        return self.options.allow if self.action == "gate" else ()

    def device_facts(self, verdict: Verdict) -> Mapping[str, Json]:
        return {"kind": verdict.measured} if isinstance(verdict.measured, str) else {}

    @classmethod
    async def take(cls, page: BrowserPage) -> None:
        await page.pass_row("#say-desktop")


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
    return "phone" if _short(signals) < PHONE_BELOW else "tablet"


def _short(signals: Mapping[str, Json]) -> float:
    sides = signals["screen"]
    assert isinstance(sides, list | tuple)
    return min(side for side in sides if isinstance(side, int | float))


def _all(kinds: Iterable[Kind]) -> str:
    return "+".join(sorted(set(kinds)))
