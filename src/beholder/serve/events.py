"""The event log of a step, checked for shape."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

from beholder.errors import Refused
from beholder.types import Json

Event: TypeAlias = tuple[float, str, str | None, Json]
"""When on the step's clock, what, in which slot, and more of it; a list of four on the wire."""

KINDS = frozenset(
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
    """Return the events of a log as they are, checked for shape, or raise Refused."""
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
        return 0 <= ms < LATEST_MS and kind in KINDS and (slot is None or isinstance(slot, str))
    except (TypeError, ValueError):  # cheaper than asking for each type: almost all events are well formed
        return False
