"""Rules of a study that the published document tells in prose only, and its schemas let pass."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Set
from typing import Any
from urllib.parse import urlsplit

PLACEHOLDERS = ("{{%PROLIFIC_PID%}}", "{{%STUDY_ID%}}", "{{%SESSION_ID%}}")
STUDY_NEEDS = (
    "name", "description", "external_study_url", "prolific_id_option", "total_available_places",
    "estimated_completion_time", "reward",
)  # fmt: skip
_DAY_MINUTES = 24 * 60
_TAGS = {"b", "i", "em", "strong", "s", "u", "h1", "h2", "ol", "ul", "li", "p"}
_HERE = {"127.0.0.1", "localhost", "::1"}


def least_time(minutes: float) -> int:
    """Return the least `maximum_allowed_time` for an estimate, in minutes."""
    return math.ceil(2 + 2 * minutes + 2 * math.sqrt(minutes))


def study_problems(body: Mapping[str, Any], features: Set[str]) -> dict[str, list[str]]:
    """Return what is wrong with a study, by field."""
    found = {
        "reward": _reward(body), "total_available_places": _places(body), "external_study_url": _url(body),
        "maximum_allowed_time": _time(body), "description": _description(body), "filters": _filters(body),
        "completion_codes": _codes(body, features),
    }  # fmt: skip
    return {field: problems for field, problems in found.items() if problems}


def _reward(body: Mapping[str, Any]) -> list[str]:
    return [] if is_whole(body["reward"]) and body["reward"] > 0 else ["Reward must be a positive integer, in cents."]


def _places(body: Mapping[str, Any]) -> list[str]:
    places = body["total_available_places"]
    return [] if is_whole(places) and places >= 1 else ["There must be 1 place at least."]


def _url(body: Mapping[str, Any]) -> list[str]:
    url = body["external_study_url"]
    parts = urlsplit(url)
    # Nobody else can reach this machine, so that a rehearsal on it needs no certificate.
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _HERE)
    problems = [] if is_safe and parts.hostname else ["The URL must begin with https://."]
    if body["prolific_id_option"] == "url_parameters":
        problems += [f"The URL has no {one}." for one in PLACEHOLDERS if one not in url]
    return problems


def _time(body: Mapping[str, Any]) -> list[str]:
    estimate = body["estimated_completion_time"]
    if not (is_whole(estimate) and estimate >= 1):
        return ["The estimated completion time must be 1 minute at least."]
    least, allowed = least_time(estimate), body.get("maximum_allowed_time", _DAY_MINUTES - 1)
    return [] if least <= allowed < _DAY_MINUTES else [f"The maximum allowed time must be {least} minutes at least."]


def _description(body: Mapping[str, Any]) -> list[str]:
    tags = {tag.lower() for tag in re.findall(r"</?([a-zA-Z][a-zA-Z0-9]*)", body["description"])}
    return [f"The tags {sorted(tags - _TAGS)} are not allowed."] if tags - _TAGS else []


def _filters(body: Mapping[str, Any]) -> list[str]:
    both = body.get("filters") and body.get("filter_set_id")
    return ["Give filters or filter_set_id, not both."] if both else []


def _codes(body: Mapping[str, Any], features: Set[str]) -> list[str]:
    codes = body.get("completion_codes", [])
    problems = [
        f"The code {code} is there {times} times."
        for code, times in Counter(one["code"] for one in codes).items()
        if times > 1
    ]
    for one in codes:
        actions = {act["action"] for act in one["actions"]}
        if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= actions:
            problems.append("A code cannot both approve and leave it to a review.")
    paying = [act for one in codes for act in one["actions"] if act["action"] == "FIXED_SCREEN_OUT_PAYMENT"]
    if paying and "screen_out" not in features:
        problems.append("This workspace does not have access to FIXED_SCREEN_OUT_PAYMENT.")
    if any(act["action"] == "DYNAMIC_PAYMENT" for one in codes for act in one["actions"]) and "dynamic" not in features:
        problems.append("This workspace does not have access to DYNAMIC_PAYMENT.")
    if len(paying) > 1:
        problems.append("Only one code may pay a screen-out.")
    for act in paying:
        if not 0 < act["fixed_screen_out_reward"] < body["reward"]:
            problems.append("The screen-out reward must be below the reward.")
        if act["slots"] < 1:
            problems.append("There must be 1 screen-out slot at least.")
    return problems


def is_whole(number: Any) -> bool:
    return (isinstance(number, int) and not isinstance(number, bool)) or (
        isinstance(number, float) and number.is_integer()
    )
