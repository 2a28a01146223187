"""Accept and use: two decisions from the verdicts, each with every reason (reference: checks 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from beholder.checks.complete import Complete
from beholder.checks.variance import Variance
from beholder.checks.verdict import Check, Evidence, Verdict
from beholder.checks.watched import Watched
from beholder.types import Outcome

ORDER: tuple[Check, ...] = (Complete(), Watched(), Variance())
"""The checks in the order in which they are told."""
COST_SESSION = frozenset({"complete", "variance"})
"""Checks whose failure takes the whole session out of use; a failure of the others costs single ratings."""
TOLD_ONLY = frozenset({"complete:mostly_missing"})
"""Reasons that are told and cost nothing."""
LOOK = frozenset({"complete:nothing_rated"})
"""Reasons for which a person decides about the pay: whoever finished did what they could."""

# Who was turned away by us did what we asked; who left, declined or could not start is for the researcher to look at.
_ACCEPT: Mapping[Outcome | None, bool | None] = {
    "completed": True,
    "screened_out": True,
    "technical": True,
    "failed_checks": False,
    "wrong_device": None,
    "no_consent": None,
    "withdrawn": None,
    None: None,
}

WORDS: Mapping[tuple[str, str], str] = {
    ("complete", "not_finished"): "Did not finish",
    ("complete", "screened_out"): "Screened out before the trials",
    ("complete", "wrong_device"): "Device did not fit",
    ("complete", "no_consent"): "Did not agree to take part",
    ("complete", "failed_checks"): "Ended early by failed checks",
    ("complete", "technical"): "Ended by a technical fault",
    ("complete", "withdrawn"): "Withdrew; answers erased",
    ("complete", "nothing_rated"): "Nothing could be rated",
    ("complete", "mostly_missing"): "More than half could not be rated",
    ("watched", "not_watched"): "Stimulus not watched as asked",
    ("variance", "same_answer"): "Nearly the same answer throughout",
}
"""What a person reads for a check and its reason."""


@dataclass(frozen=True)
class Decision:
    """Whether a session is paid and whether it is analysed. `accept` is None where a person has to look."""

    accept: bool | None
    use: bool
    reasons: tuple[str, ...]
    """Every failed check as `check:reason`, in the order of the checks."""


def judge(evidence: Evidence, checks: Sequence[Check] = ORDER) -> tuple[Verdict, ...]:
    """Return the verdict of every check."""
    return tuple(check.judge(evidence) for check in checks)


def decide(outcome: Outcome | None, verdicts: Sequence[Verdict]) -> Decision:
    """Return both decisions. An unknown verdict changes neither."""
    reasons = tuple(f"{verdict.check}:{verdict.reason}" for verdict in verdicts if verdict.verdict == "fail")
    return Decision(
        accept=_ACCEPT[outcome] if LOOK.isdisjoint(reasons) else None,
        use=not any(costs_session(reason) for reason in reasons),
        reasons=reasons,
    )


def costs_session(reason: str) -> bool:
    """Return whether a session with this `check:reason` is out of use."""
    return reason.partition(":")[0] in COST_SESSION and reason not in TOLD_ONLY


def in_words(reason: str) -> str:
    """Return `check:reason` as a person reads it."""
    check, _, why = reason.partition(":")
    return WORDS.get((check, why), reason)
