"""How a trial was played: which of its slots count, one after the other or freely, and how long that takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from beholder.checks.trust import Seen

Manner = Literal["turns", "together", "free"]


def manner(seen: Seen) -> Manner:
    """Return how the slots of a trial follow each other; a single one is a turn by itself.

    On boards, and behind buttons, people go back and forth, and nothing plays by itself.
    """
    if seen.trial.together:
        return "together"
    is_led = len(seen.trial.slots) == 1 or seen.trial.draws.get("presentation") == "sequential"
    return "turns" if is_led else "free"


def moving_slots(seen: Seen) -> list[str]:
    """Return the slots that did play and are neither images nor texts."""
    return [slot for slot in seen.slots if slot not in seen.stills]


def played(seen: Seen, slot: str) -> Mapping[str, Any]:
    """Return what is known of the playing of a slot."""
    return seen.playback.get(slot) or {}


def gap_ms(seen: Seen) -> float:
    """Return how long nothing is shown between the slots of a trial."""
    if len(seen.trial.slots) == 1:
        return 0.0
    gap = seen.trial.draws.get("gap", 0)
    is_waited = manner(seen) == "turns" and isinstance(gap, int | float)
    return 1000 * float(gap) * (len(seen.trial.slots) - 1) if is_waited and isinstance(gap, int | float) else 0.0
