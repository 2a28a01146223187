"""What Prolific asks of a draft in prose only: held here, before anything is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from beholder.errors import Problem
from beholder.recruit.prolific.codes import SCREEN_OUT
from beholder.study.recruiting import longest_minutes

PLACEHOLDERS = ("{{%PROLIFIC_PID%}}", "{{%STUDY_ID%}}", "{{%SESSION_ID%}}")
_DAY = 24 * 60


def draft_problems(body: Mapping[str, Any], *, is_any_address: bool = False) -> list[Problem]:
    """Return everything for which Prolific would refuse a draft, or should; any address: also one without https."""
    return [
        *_texts(body),
        *_numbers(body),
        *_address(str(body["external_study_url"]), is_any_address),
        *_codes(body["completion_codes"], body["reward"]),
    ]


def _texts(body: Mapping[str, Any]) -> list[Problem]:
    return [
        Problem(f"Prolific {field}", "is empty", "a text that people read before they begin")
        for field in ("name", "description")
        if not str(body[field]).strip()
    ]


def _numbers(body: Mapping[str, Any]) -> list[Problem]:
    found = [
        Problem(f"Prolific {field}", f"is {body[field]}", "a whole number, 1 or more")
        for field in ("reward", "total_available_places", "estimated_completion_time")
        if not isinstance(body[field], int) or body[field] < 1
    ]
    limit, minutes = body["maximum_allowed_time"], body["estimated_completion_time"]
    if isinstance(minutes, int) and minutes >= 1:
        least = longest_minutes(minutes)
        if not least <= limit < _DAY:
            found.append(
                Problem(
                    "Prolific maximum_allowed_time",
                    f"is {limit:g} minutes for an estimate of {minutes}",
                    f"{least} to {_DAY - 1} minutes",
                    f"Write recruit: {{time_limit: {least} min}} or longer, or leave it out.",
                )
            )
    return found


def _address(url: str, is_any_address: bool) -> list[Problem]:
    where, found = "Prolific external_study_url", []
    if urlsplit(url).scheme != "https" and not is_any_address:
        found.append(Problem(where, f"is {url}", "https://", "Serve the study over https and name it by --public-url."))
    missing = [word for word in PLACEHOLDERS if word not in url]
    if missing:
        found.append(Problem(where, f"is without {', '.join(missing)}", ", ".join(PLACEHOLDERS)))
    return found


def _codes(codes: Sequence[Mapping[str, Any]], reward: Any) -> list[Problem]:
    where, found = "Prolific completion_codes", []
    if not any(entry["code_type"] == "COMPLETED" for entry in codes):
        found.append(Problem(where, "have none for those who completed", "one at least"))
    for code, count in Counter(entry["code"] for entry in codes).items():
        if count > 1:
            found.append(Problem(where, f"have {code} {count} times", "every code once"))
    for entry in codes:
        names = {action["action"] for action in entry["actions"]}
        if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= names:
            found.append(
                Problem(where, f"approve {entry['code_type']} by themselves and by hand", "one of the two for a code")
            )
    outs = [action for entry in codes for action in entry["actions"] if action["action"] == SCREEN_OUT]
    if len(outs) > 1:
        found.append(Problem(where, f"pay for {len(outs)} kinds of screen-out", "one at most"))
    for out in outs:
        if not 0 < out["fixed_screen_out_reward"] < reward:
            what = f"pay {out['fixed_screen_out_reward']} to those who did not fit, and {reward} to those who did"
            found.append(Problem(where, what, f"1 to {reward - 1}", "Write a smaller recruit: {screen_out: ..}."))
    return found
