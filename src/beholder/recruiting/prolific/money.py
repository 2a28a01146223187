"""Completion codes as Prolific takes them: one for each way in which a session ends, and what happens with it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from beholder.study.money import Sum
from beholder.types import Outcome

SCREEN_OUT = "FIXED_SCREEN_OUT_PAYMENT"
_SCREEN_OUT_TYPE = "SCREENED_OUT"  # the document also lists FIXED_SCREENOUT; what is published uses this one
_REVIEW = {"action": "MANUALLY_REVIEW"}
_KINDS: Mapping[Outcome, tuple[str, str | None]] = {
    "completed": ("COMPLETED", None),
    "screened_out": (_SCREEN_OUT_TYPE, "Did not fit what this study needs"),
    "wrong_device": ("INCOMPATIBLE_DEVICE", "The device does not fit this study"),
    "no_consent": ("NO_CONSENT", "Withdrew consent"),
    "failed_checks": ("FAILED_ATTENTION_CHECK", None),
    "technical": ("OTHER", None),
}
"""The code's type, and the reason for which a return is asked for; without one, a person reviews."""


def slots_for(places: int) -> int:
    """Return how many people may be screened out and paid for it until the study pauses: half of its places."""
    return math.ceil(places / 2)


def completion_codes(
    codes: Mapping[Outcome, str], *, places: int, screen_out: Sum | None, group: str | None
) -> list[dict[str, Any]]:
    """Return what each code does. Nobody is approved or rejected by a code alone.

    `screen_out` pays those who did not fit by their code; without it they are asked to return, and paid by a bonus.
    Everybody joins `group`, whom other studies of the family keep out.
    """
    joins = [] if group is None else [{"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": group}]
    entries = []
    for outcome, (kind, reason) in _KINDS.items():
        if outcome not in codes:
            continue
        action: dict[str, Any] = _REVIEW if reason is None else {"action": "REQUEST_RETURN", "return_reason": reason}
        if outcome == "screened_out" and screen_out is not None:
            action = screen_out_action(screen_out.minor, slots_for(places))
        entries.append({"code": codes[outcome], "code_type": kind, "actions": [action, *joins]})
    return entries


def screen_out_action(reward: int, slots: int) -> dict[str, Any]:
    """Return the action that pays whoever did not fit, so many people at most."""
    return {"action": SCREEN_OUT, "fixed_screen_out_reward": reward, "slots": slots}


def screen_out_of(study: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the code of a study as Prolific shows it that pays those who did not fit; None where there is none."""
    for entry in study.get("completion_codes") or ():
        if any(action.get("action") == SCREEN_OUT for action in entry.get("actions") or ()):
            return dict(entry)
    return None


def with_slots(entry: Mapping[str, Any], slots: int) -> dict[str, Any]:
    """Return the whole code again with so many slots: a part of it is refused by Prolific's own schema."""
    actions = [
        screen_out_action(action["fixed_screen_out_reward"], slots) if action["action"] == SCREEN_OUT else dict(action)
        for action in entry["actions"]
    ]
    return {"code": entry["code"], "code_type": entry["code_type"], "actions": actions}


def slots_of(entry: Mapping[str, Any]) -> int:
    """Return how many slots a code has that pays those who did not fit."""
    return next(int(action["slots"]) for action in entry["actions"] if action["action"] == SCREEN_OUT)


def reward_of(entry: Mapping[str, Any]) -> int:
    """Return what a code pays those who did not fit, in hundredths."""
    return next(int(action["fixed_screen_out_reward"]) for action in entry["actions"] if action["action"] == SCREEN_OUT)
