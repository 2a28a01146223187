"""The funnel: how many met each check, how it went, who was turned away there, and how long it took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean, median
from typing import Any

from beholder.checks.steps import AnyStep
from beholder.clean.facts import Visit
from beholder.clean.sessions import Judged
from beholder.clean.titles import TITLES

_RATED = ("trial:", "break:", "questions:after")
"""Steps that come after the first rating began."""


def funnel(checks: Sequence[AnyStep], judged: Sequence[Judged]) -> dict[str, Any] | None:
    """Return the numbers of all sessions on their way to the first rating; None where nothing stands in it."""
    visits = [one.visit for one in judged]
    has_training = any(visit.lessons for visit in visits)
    if not checks and not has_training:
        return None
    rated = [visit for visit in visits if "trial:1" in visit.answers]
    return {
        "arrived": len(visits),
        "agreed": sum(_agreed(visit) for visit in visits),
        "by_questions": sum(visit.end_reason.startswith("questions:") for visit in visits),
        "rated": len(rated),
        "minutes_before_rating": _median(_minutes(visit) for visit in rated),
        "checks": [*(_check(check, judged) for check in checks), *([_training(judged)] if has_training else [])],
    }


def _check(check: AnyStep, judged: Sequence[Judged]) -> dict[str, Any]:
    """Return how all sessions did at one check."""
    tried = [one for sat in judged for one in sat.qualified.tried if one.check.name == check.name]
    settled = [one for sat in judged for one in sat.qualified.settled if one.check.name == check.name and one.tries]
    return {
        "check": check.name,
        "title": TITLES.get(check.name, check.name),
        "action": check.action,
        **_said([(one.verdict.verdict, one.tries == 1) for one in settled]),
        "turned_away": sum(_is_turned_away(sat.visit, check.name) for sat in judged),
        "attempts": _mean(one.tries for one in settled),
        "seconds": _median(one.given.seconds for one in tried),
    }


def _training(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return the same of the training: at once where no example had to come again, attempts for each example."""
    met = [one for one in judged if one.lessons]
    said = [
        (verdict.verdict, all(lesson.attempt == 1 for lesson in one.lessons))
        for one in met
        for verdict in one.verdicts
        if verdict.check == "training"
    ]
    return {
        "check": "training",
        "title": TITLES["training"],
        "action": "flag",
        **_said(said),
        "turned_away": 0,
        "attempts": _mean(len(one.lessons) / len({lesson.number for lesson in one.lessons}) for one in met),
        "seconds": _median(lesson.given.seconds for one in met for lesson in one.lessons),
    }


def _said(verdicts: Sequence[tuple[str, bool]]) -> dict[str, int]:
    """Return how many passed, failed and were unknown, from each verdict and whether it came at once."""
    return {
        "met": len(verdicts),
        "passed": sum(said == "pass" for said, _ in verdicts),
        "passed_at_once": sum(said == "pass" and at_once for said, at_once in verdicts),
        "failed": sum(said == "fail" for said, _ in verdicts),
        "unknown": sum(said == "unknown" for said, _ in verdicts),
    }


def _is_turned_away(visit: Visit, check: str) -> bool:
    return visit.outcome in ("screened_out", "wrong_device") and visit.end_reason.startswith(f"{check}:")


def _agreed(visit: Visit) -> bool:
    """Return whether somebody agreed; who declined or withdrew left no answers."""
    return "consent" in visit.answers


def _minutes(visit: Visit) -> float:
    """Return how long somebody looked at the pages before the first rating."""
    pages = [given for given in visit.answers.values() if not given.key.startswith(_RATED)]
    return sum(given.sent_ms - given.shown_ms for given in pages) / 60_000


def _median(values: Iterable[float]) -> float | None:
    found = list(values)
    return round(median(found), 2) if found else None


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return round(mean(found), 2) if found else None
