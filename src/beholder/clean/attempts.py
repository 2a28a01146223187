"""qualification.csv: one row for each session and attempt, at checks and in the training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from beholder.checks.judging import acts
from beholder.checks.verdict import Verdict
from beholder.clean.facts import Given, Visit
from beholder.clean.sessions import Judged

COLUMNS = (
    "session", "participant", "check", "version", "action", "example", "attempt", "verdict", "reason", "measured",
    "needed", "seconds", "input", "answered_at", "answer", "evidence",
)  # fmt: skip


def attempt_rows(judged: Iterable[Judged]) -> Iterator[dict[str, Any]]:
    """Yield every attempt of every session, in the order in which they were answered; `example` is of the training."""
    for one in judged:
        for tried in one.qualified.tried:
            row = _row(one.visit, tried.number, tried.given, tried.verdict)
            yield row | {"action": acts(tried.check, tried.verdict)}
        for lesson in one.lessons:
            row = _row(one.visit, lesson.attempt, lesson.given, lesson.verdict)
            yield row | {"action": "flag", "example": lesson.number}


def _row(visit: Visit, attempt: int, given: Given, verdict: Verdict) -> dict[str, Any]:
    return {
        "session": visit.session,
        "participant": visit.participant,
        "check": verdict.check,
        "version": verdict.version,
        "attempt": attempt,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "measured": verdict.measured,
        "needed": verdict.needed,
        "seconds": given.seconds,
        "input": given.input,
        "answered_at": given.at,
        "answer": given.answer,
        "evidence": dict(verdict.evidence),
    }
