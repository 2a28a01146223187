"""Whom we trusted: how all sessions with an answer did by each rule, and what that cost."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from beholder.checks.agreement import Agreement
from beholder.checks.rules import AnyCheck
from beholder.checks.trust import NOT_MET
from beholder.clean.sayings import RULE_TITLES, rater_saying, saying
from beholder.clean.sessions import Judged
from beholder.study.cleaning import Rater

_ASKED = ("attention", "trap", "gold", "trap_item")
"""Rules with right answers, of which it is told how many were."""


def trusted(rules: Sequence[AnyCheck], judged: Sequence[Judged], raters: Rater | None = None) -> list[dict[str, Any]]:
    """Return a row for each rule of the study; sessions without a single answer tell nothing."""
    rated = [one for one in judged if one.evidence.seen]
    rows = [_row(rule, rated) for rule in rules]
    if raters is not None:
        rows.append(_tally("rater", rater_saying(raters), "flag", rated))
    return rows


def _row(rule: AnyCheck, judged: Sequence[Judged]) -> dict[str, Any]:
    row = _tally(rule.name, saying(rule), rule.rule.action, judged)
    if rule.name in _ASKED:
        looks = [look for one in judged for look in one.looked if look.verdict.check == rule.name]
        trials = [verdict.verdict for look in looks for _, verdict in look.trials if verdict.verdict != "unknown"]
        row |= {"asked": len(trials), "right": trials.count("pass")}
    if isinstance(rule, Agreement):
        verdicts = [verdict for one in judged for verdict in one.verdicts if verdict.check == rule.name]
        found = [float(one.measured) for one in verdicts if isinstance(one.measured, int | float)]
        row |= {"median": round(median(found), 2) if found else None, "warn": rule.rule.warn}
    return row


def _tally(name: str, words: str, action: str, judged: Sequence[Judged]) -> dict[str, Any]:
    """Return how the sessions did by a rule, and what that cost."""
    verdicts = [verdict for one in judged for verdict in one.verdicts if verdict.check == name]
    said = [verdict.verdict for verdict in verdicts if verdict.reason != NOT_MET]
    mine = f"{name}:"
    return {
        "check": name,
        "title": RULE_TITLES[name],
        "words": words,
        "action": action,
        "met": len(said),
        "passed": said.count("pass"),
        "failed": said.count("fail"),
        "unknown": said.count("unknown"),
        "alone": sum(_is_alone(one, mine) for one in judged),
        "ratings": sum(_is_lost(rating.reasons, mine) for one in judged for rating in one.ratings if rating.reasons),
    }


def _is_alone(one: Judged, mine: str) -> bool:
    """Return whether a session is not used for this rule, and for nothing else."""
    return bool(one.decision.costly) and all(reason.startswith(mine) for reason in one.decision.costly)


def _is_lost(reasons: str, mine: str) -> bool:
    return any(reason.startswith(mine) for reason in reasons.split("; "))
