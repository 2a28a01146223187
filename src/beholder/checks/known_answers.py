"""Training: whether an answer to an example is as expected. On the server at once, and in `clean` again."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.checks.verdict import Verdict
from beholder.methods.contract import Method, Trial
from beholder.types import Json

NAME, VERSION = "training", 1
OUTSIDE, TRAP, MISSING = "outside", "trap", "media_error"
"""Reasons: further from the expected answer than its tolerance, not what a trap asked for, not played."""
_NEAR = 1e-9


def judge_training(method: Method, trial: Trial, answer: Json) -> Verdict:
    """Return whether everything was answered as expected; unknown where something that counts did not play.

    What is expected, and how much nearer it had to be, is kept: other tolerances can be tried on it.
    """
    given = _given(method, trial, answer)
    outside = [
        where
        for where, target in trial.targets.items()
        if (value := given.get(where)) is not None and abs(value - target.value) > target.tolerance + _NEAR
    ]
    missed = [where for where in trial.targets if given.get(where) is None]
    is_broken = isinstance(answer, Mapping) and bool(answer.get("missing"))
    reason = ""
    if outside:
        reason = TRAP if any(trial.targets[where].is_trap for where in outside) else OUTSIDE
    elif missed or is_broken:
        reason = MISSING
    return Verdict(
        check=NAME,
        version=VERSION,
        verdict="fail" if outside else "unknown" if reason else "pass",
        reason=reason,
        measured=given,
        needed={where: [target.value, target.tolerance] for where, target in trial.targets.items()},
        evidence={"outside": outside},
    )


def _given(method: Method, trial: Trial, answer: Json) -> dict[str, float | None]:
    """Return the scores that are held against an expectation, by question and slot."""
    asked = {asked.question: asked.id for asked in trial.asked}
    scores = {
        f"{asked[one.question]}.{one.slot}": one.raw_value
        for one in method.judgements(trial, answer)
        if one.kind == "score" and one.question in asked
    }
    return {where: scores.get(where) for where in trial.targets}
