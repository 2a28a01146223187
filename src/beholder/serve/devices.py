"""Which device somebody sits at: what it said of itself, and whether it is still the same one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from beholder.serve.script import Planned
from beholder.store.contract import SessionFacts, Told
from beholder.types import Json

MOVED = "device:"
"""Keys under which it is told that somebody went on with another device, numbered from 1."""
VOID = "moved"
"""The reason of an attempt that was posed for another device: nobody answered it, and it costs nothing."""


def moves(told: Mapping[str, Told]) -> list[Told]:
    """Return every change of device, in order."""
    return sorted(
        (one for key, one in told.items() if key.startswith(MOVED)), key=lambda one: int(one.key[len(MOVED) :])
    )


def moved_at(told: Mapping[str, Told]) -> datetime | None:
    """Return when somebody last went on with another device."""
    return max((one.at for one in moves(told)), default=None)


def device_of(first: Mapping[str, Json], told: Mapping[str, Told], at: datetime | None = None) -> Mapping[str, Json]:
    """Return the device of a session, now or at a moment; `first` is the one it began with."""
    for one in reversed(moves(told)):
        device = one.evidence.get("device") if isinstance(one.evidence, Mapping) else None
        if isinstance(device, Mapping) and (at is None or one.at <= at):
            return device
    return first


def is_same(one: Mapping[str, Json], other: Mapping[str, Json]) -> bool:
    """Return whether two can be one device: screen, pixels and platform agree as far as both tell them."""
    pairs = [(_screen(one), _screen(other)), *((one.get(name), other.get(name)) for name in ("dpr", "platform"))]
    return all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)


def _screen(device: Mapping[str, Json]) -> list[float] | None:
    """Return the sides of a screen, the short one first: who turns a phone still has the same one."""
    sides = device.get("screen")
    if not isinstance(sides, list | tuple) or not all(isinstance(side, int | float) for side in sides):
        return None
    return sorted(side for side in sides if isinstance(side, int | float))


def move(facts: SessionFacts, device: Mapping[str, Json], here: Planned | None, now: datetime) -> list[Told]:
    """Return what is told where somebody goes on with another device; nothing where it is the same one.

    An attempt that was posed for the other device is void.
    """
    if is_same(device_of(facts.session.device, facts.told), device):
        return []
    session, number = facts.session.session, len(moves(facts.told)) + 1
    told = [Told(session, f"{MOVED}{number}", "device", "unknown", VOID, {"device": dict(device)}, now)]
    if here is not None and here.check is not None:
        told.append(Told(session, here.key, here.check.name, "unknown", VOID, {"again": True}, now))
    return told
