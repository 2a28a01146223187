"""Judging an attempt at a check: on the server at once, and in `clean` again from what was kept."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.checks.contract import Attempt
from beholder.checks.steps import AnyStep
from beholder.checks.verdict import Say, Verdict
from beholder.study.qualification import Action
from beholder.types import Json

CANNOT: Mapping[str, Json] = {"cannot": True}
"""The answer of somebody who cannot take a check, on any of their pages."""


def judge_attempt(check: AnyStep, attempt: Attempt) -> Verdict:
    """Return the verdict on an attempt, also of somebody who cannot take the check."""
    if attempt.answer == CANNOT:
        say: Say = "fail" if check.action == "gate" else "unknown"
        return check.verdict(say, "cannot")
    return check.judge(attempt)


def acts(check: AnyStep, verdict: Verdict) -> Action:
    """Return what a verdict does: what it says itself, else what the study says of the check."""
    return verdict.action or check.action


def costs_session(check: AnyStep, verdict: Verdict) -> bool:
    """Return whether a session with this verdict is not used. A mere hint, which says so itself, costs nothing."""
    if verdict.verdict != "fail":
        return False
    action = acts(check, verdict)
    return action == "gate" or (action == "flag" and verdict.action is None and check.is_lost)
