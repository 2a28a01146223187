"""Answers that are known beforehand: what a stimulus asks for, and what a gold stimulus is worth."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.checks.trust import MEDIA_ERROR, Seen
from beholder.checks.verdict import Say
from beholder.methods.contract import Target
from beholder.types import Json, Role

_NEAR = 1e-9


def targets_of(seen: Seen, role: Role, tolerance: float | None = None) -> dict[str, Target]:
    """Return the targets at slots of a role, by question and slot; not those of statements that are there to check.

    A tolerance that the study has by now counts in place of the one it was planned with.
    """
    if role not in seen.trial.roles:
        return {}
    slots = {slot.id for slot in seen.trial.slots if slot.role == role}
    places = {f"{asked.id}.{slot}" for asked in seen.trial.asked for slot in slots if asked.purpose == "ask"}
    found = {where: target for where, target in seen.trial.targets.items() if where in places}
    if tolerance is None:
        return found
    return {where: target._replace(tolerance=tolerance) for where, target in found.items()}


def hold(seen: Seen, targets: Mapping[str, Target]) -> tuple[Say, str, dict[str, Json]]:
    """Return whether every answer is near its target, why not, and which were off.

    What would not play is unknown, also where it is only a part of it: nobody has to guess.
    """
    off: dict[str, Json] = {}
    is_missing = False
    for where, target in targets.items():
        value = seen.given.get(where)
        if value is None or where.partition(".")[2] in seen.missing:
            is_missing = True
        elif not any(abs(value - right) <= target.tolerance + _NEAR for right in (target.value, *target.also)):
            off[where] = value
    if is_missing:
        return "unknown", MEDIA_ERROR, {}
    return ("fail", "wrong", off) if off else ("pass", "", {})


def asked_for(targets: Mapping[str, Target]) -> dict[str, Json]:
    """Return the targets as evidence."""
    return {where: [target.value, target.tolerance] for where, target in targets.items()}
