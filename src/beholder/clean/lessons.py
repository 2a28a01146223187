"""The training judged again: every answer to an example, and what the session came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from beholder.checks.training import NAME, VERSION, judge_training
from beholder.checks.verdict import Say, Verdict
from beholder.clean.facts import Given, Visit
from beholder.clean.qualification import NOT_MET
from beholder.methods.contract import Method
from beholder.types import Json


@dataclass(frozen=True)
class Lesson:
    """One answer to a training example, from 1."""

    number: int
    attempt: int
    given: Given
    verdict: Verdict


def judge_lessons(method: Method, visit: Visit) -> tuple[Lesson, ...]:
    """Return every answer to an example, in the order in which they were given."""
    return tuple(sorted(_lessons(method, visit), key=lambda one: one.given.at)) if visit.lessons else ()


def _lessons(method: Method, visit: Visit) -> Iterator[Lesson]:
    for key, given in visit.answers.items():
        kind, _, rest = key.partition(":")
        number, _, attempt = rest.partition(":")
        if kind == "training" and 0 < int(number) <= len(visit.lessons):
            verdict = judge_training(method, visit.lessons[int(number) - 1], given.answer)
            yield Lesson(int(number), int(attempt), given, verdict)


def training_verdict(visit: Visit, lessons: Sequence[Lesson]) -> Verdict | None:
    """Return what the training came to, by the last answer to each example; None where the plan has none."""
    if not visit.lessons:
        return None
    last = {one.number: one.verdict for one in lessons}
    failed = [number for number, verdict in last.items() if verdict.verdict == "fail"]
    passed = sum(verdict.verdict == "pass" for verdict in last.values())
    say: Say = "fail" if failed else "pass" if last and passed == len(last) else "unknown"
    reasons = [last[number].reason for number in failed]
    # Not to do what a trap asks for says more than to be further off than expected.
    reason = "trap" if "trap" in reasons else reasons[0] if reasons else "" if say == "pass" else NOT_MET
    if last and say == "unknown":
        reason = next(verdict.reason for verdict in last.values() if verdict.verdict == "unknown")
    evidence: dict[str, Json] = {"attempts": len(lessons), "action": "flag", "failed": [*failed]}
    return Verdict(NAME, VERSION, say, reason, passed, len(visit.lessons), evidence)
