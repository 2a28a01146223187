"""The flow of participants: how many came how far, and why the others went no further (as CONSORT asks)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from beholder.clean.decide import WORDS, in_words
from beholder.clean.qualification import NOT_MET, UNDER_WAY
from beholder.clean.sessions import Judged
from beholder.clean.titles import title_of
from beholder.study.model import Study

_TURNED_AWAY = ("screened_out", "wrong_device")
_ASKED_BEFORE = "questions:before"
_LEFT: Mapping[str, str] = {
    "agreed": "Left at the first page",
    "qualified": "Left during the checks",
    "rated": "Left before the first rating",
}
"""Who has no end left, or is still at it. By the step that was not reached; else before the end."""


def flow(study: Study, judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Return the steps in order, each with the people and sessions that reached it and those that went no further.

    A person came as far as the furthest of their sessions, and each counts under one reason, the first. So what a step
    has lost and what the next one has are together what it had.
    """
    steps = _steps(study, judged)
    names = ["came", *steps]
    reached = [max((place for place, name in enumerate(steps, 1) if steps[name](one)), default=0) for one in judged]
    reasons = [
        _reason(one, names[far + 1]) if far < len(steps) else ("", "") for one, far in zip(judged, reached, strict=True)
    ]
    people: dict[str, tuple[int, tuple[str, str]]] = {}
    for one, far, reason in zip(judged, reached, reasons, strict=True):
        before = people.get(one.visit.participant)
        if before is None or far >= before[0]:
            people[one.visit.participant] = far, reason
    rows = []
    for place, name in enumerate(names):
        of_sessions = Counter(reason for far, reason in zip(reached, reasons, strict=True) if far == place < len(steps))
        of_people = Counter(reason for far, reason in people.values() if far == place < len(steps))
        rows.append(
            {
                "step": name,
                "people": sum(far >= place for far, _ in people.values()),
                "sessions": sum(far >= place for far in reached),
                "lost": [
                    {"reason": why[0], "words": why[1], "people": of_people[why], "sessions": n}
                    for why, n in sorted(of_sessions.items(), key=lambda item: (-of_people[item[0]], -item[1], item[0]))
                ],
            }
        )
    return rows


def _steps(study: Study, judged: Sequence[Judged]) -> dict[str, Callable[[Judged], bool]]:
    """Return what it takes to reach each step; nobody has to qualify where nothing turns anybody away."""
    gates = any(one.qualified.settled or one.visit.outcome in _TURNED_AWAY for one in judged)
    gates = gates or any(ask.correct for ask in study.before)
    steps: dict[str, Callable[[Judged], bool]] = {"agreed": _has_agreed}
    if gates:
        steps["qualified"] = lambda one: _has_qualified(study, one)
    return steps | {
        "rated": lambda one: "trial:1" in one.visit.answers,
        "finished": lambda one: one.visit.outcome == "completed",
        "accepted": lambda one: one.visit.outcome == "completed" and one.decision.accept is True,
        "used": lambda one: one.decision.use,
    }


def _has_agreed(one: Judged) -> bool:
    return "consent" in one.visit.answers and one.visit.outcome != "no_consent"


def _has_qualified(study: Study, one: Judged) -> bool:
    """Return whether somebody came past everything that can turn people away, as far as they met it."""
    if one.visit.outcome in _TURNED_AWAY or not _has_agreed(one):
        return False
    is_open = any(settled.verdict.reason in (NOT_MET, UNDER_WAY) for settled in one.qualified.settled)
    # In a later session nobody is asked again.
    return not is_open and (not study.before or _ASKED_BEFORE in one.visit.answers or "trial:1" in one.visit.answers)


def _reason(one: Judged, step: str) -> tuple[str, str]:
    """Return why a session did not reach a step, as `check:reason` and in words."""
    outcome, why = one.visit.outcome, one.visit.end_reason
    if step in ("accepted", "used"):
        reason = next(iter(one.decision.costly or one.decision.reasons), "")
        words = in_words(reason) if reason else ""
        if step == "used":
            return reason, words
        told = "Not to be paid" if one.decision.accept is False else "For a person to look at"
        return reason, f"{told}: {words}" if words else told
    if outcome is None:
        return "complete:not_finished", _LEFT.get(step, "Left before the end")
    if outcome in _TURNED_AWAY and why.startswith(f"{_ASKED_BEFORE}."):
        return why, f"Questions before: {why.partition('.')[2]}"
    if outcome in (*_TURNED_AWAY, "failed_checks") and why:
        check, _, at = why.partition(":")
        named = WORDS.get((check, at)) or title_of(why)
        if named:
            return why, named
    return f"complete:{outcome}", in_words(f"complete:{outcome}")
