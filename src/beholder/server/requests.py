"""The bodies of requests: an answer or a batch of events, checked strictly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from beholder.errors import Refused
from beholder.types import Json

# Event log

Event: TypeAlias = tuple[float, str, str | None, Json]
"""Time on the step's clock, kind, slot and data; a list of four in JSON."""

EVENT_KINDS = frozenset(
    [
        "shown",
        "load",
        "play",
        "pause",
        "ended",
        "seek",
        "rate",
        "stall",
        "error",
        "frames",
        "fullscreen",
        "visibility",
        "focus",
        "change",
        "key",
        "click",
        "measure",
    ]
)
LATEST_MS = 1e15


def read_events(events: Json) -> list[Event]:
    """Return the events of a log unchanged, or raise Refused where one is malformed."""
    if not isinstance(events, list):
        raise Refused("The event log is not a list", where="events", allowed="[[ms, kind, slot, data], ...]")
    for index, event in enumerate(events):
        if not _is_event(event):
            raise Refused(
                "An event has the wrong shape", where=f"events.{index}", allowed="[ms, kind, slot or null, data]"
            )
    return cast("list[Event]", events)


def _is_event(event: Any) -> bool:
    try:
        ms, kind, slot, _ = event
        return 0 <= ms < LATEST_MS and kind in EVENT_KINDS and (slot is None or isinstance(slot, str))
    except (TypeError, ValueError):  # faster than checking types first: almost all events are well formed
        return False


# Answers

_INPUTS = ("mouse", "touch", "keyboard", "robot", "")


@dataclass(frozen=True)
class SubmittedAnswer:
    """An answer with the whole event log of its step; the first `first` events were stored before."""

    answer: Json
    events: list[Event] = field(default_factory=list)
    first: int = 0
    tab: str = ""
    shown_ms: float = 0
    sent_ms: float = 0
    input: str = ""


def read_submission(body: Json, *, with_answer: bool) -> SubmittedAnswer:
    """Return the submission in a request body, or raise Refused with what is wrong."""
    if not isinstance(body, Mapping):
        raise Refused("The body is not an object", where="body", allowed="a JSON object")
    if with_answer and "answer" not in body:
        raise Refused("There is no answer", where="answer", allowed="an answer")
    events = read_events(body.get("events", []))
    first = body.get("from", 0)
    if isinstance(first, bool) or not isinstance(first, int) or not 0 <= first <= 1_000_000:
        raise Refused("from is not a place in the log", where="from", allowed="a whole number from 0")
    return SubmittedAnswer(
        answer=body.get("answer"),
        events=events,
        first=first,
        tab=_text(body.get("tab", ""), "tab", 64),
        shown_ms=_number(body.get("shown_ms", 0), "shown_ms"),
        sent_ms=_number(body.get("sent_ms", 0), "sent_ms"),
        input=_choice(body.get("input", "")),
    )


def _text(value: Json, where: str, longest: int) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise Refused(f"{where} is not a short text", where=where, allowed=f"up to {longest} characters")
    return value


def _number(value: Json, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise Refused(f"{where} is not a time", where=where, allowed="milliseconds, from 0")
    return float(value)


def _choice(value: Json) -> str:
    if value not in _INPUTS:
        raise Refused("input is not known", where="input", allowed="mouse, touch, keyboard")
    return str(value)
