"""Accept and use: two decisions from the verdicts, each with every reason (reference: checks 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from beholder.checks.complete import Complete
from beholder.checks.variance import Variance
from beholder.checks.verdict import Check, Evidence, Verdict
from beholder.checks.watched import Watched
from beholder.clean.qualification import Settled
from beholder.clean.titles import title_of
from beholder.types import Outcome

ORDER: tuple[Check, ...] = (Complete(), Watched(), Variance())
"""The checks in the order in which they are told."""
COST_SESSION = frozenset({"complete", "variance"})
"""Checks whose failure takes the whole session out of use; a failure of the others costs single ratings."""
TOLD_ONLY = frozenset({"complete:mostly_missing"})
"""Reasons that are told and cost nothing."""
LOOK = frozenset({"complete:nothing_rated"})
"""Reasons for which a person decides about the pay: whoever finished did what they could."""

_BY_CHECKS = ("screened_out", "wrong_device")
_TURNED_AWAY = frozenset(f"complete:{outcome}" for outcome in _BY_CHECKS)

# Who was turned away by us did what we asked; who left, declined or withdrew is for the researcher to look at.
_ACCEPT: Mapping[Outcome | None, bool | None] = {
    "completed": True,
    "screened_out": True,
    "technical": True,
    "failed_checks": False,
    "wrong_device": True,
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
    costly: tuple[str, ...] = ()
    """Those of them for which the session is not used."""


def judge(evidence: Evidence, checks: Sequence[Check] = ORDER) -> tuple[Verdict, ...]:
    """Return the verdict of every check."""
    return tuple(check.judge(evidence) for check in checks)


def decide(outcome: Outcome | None, verdicts: Sequence[Verdict], settled: Sequence[Settled] = ()) -> Decision:
    """Return both decisions, from the verdicts on the session and on what it came to at each check with a page.

    An unknown verdict changes neither. Who was turned away at a check has that for a reason, and not the end as well.
    """
    rules = {f"{verdict.check}:{verdict.reason}": verdict for verdict in verdicts if verdict.verdict == "fail"}
    turned_away = any(one.costs for one in settled) and outcome in _BY_CHECKS
    reasons = {reason: costs_session(reason) for reason in rules if not (turned_away and reason in _TURNED_AWAY)}
    reasons |= {one.reason: one.costs for one in settled if one.is_told}
    return Decision(
        accept=_ACCEPT[outcome] if LOOK.isdisjoint(reasons) else None,
        use=not any(reasons.values()),
        reasons=tuple(reasons),
        costly=tuple(reason for reason, costs in reasons.items() if costs),
    )


def costs_session(reason: str) -> bool:
    """Return whether a session with this `check:reason` of a rule over whole sessions is out of use."""
    return reason.partition(":")[0] in COST_SESSION and reason not in TOLD_ONLY


def in_words(reason: str) -> str:
    """Return `check:reason` as a person reads it; a check with a page by its title."""
    check, _, why = reason.partition(":")
    return WORDS.get((check, why)) or title_of(reason) or reason
