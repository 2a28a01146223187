"""Verdicts and exclusions of rules, in the form that tests compare."""

from __future__ import annotations

from typing import Any

from beholder.checks.contract import AnsweredTrial, RuleResult, Verdict
from support.answered_trials import LENGTH, one


def parts_of(verdict: Verdict | None) -> tuple[str, str, Any]:
    assert verdict is not None
    return verdict.verdict, verdict.reason, verdict.measured


def exclusions_of(result: RuleResult) -> list[tuple[str, str, list[str] | None]]:
    return [(one.trial, one.reason, None if one.slots is None else sorted(one.slots)) for one in result.exclusions]


def played_for(times: float) -> AnsweredTrial:
    """Return a trial whose playback took this multiple of its length."""
    return one(played={"whole_ms": round(times * LENGTH)})
