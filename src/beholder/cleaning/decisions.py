"""Accept and use: two decisions from the verdicts, each with every reason (reference: checks 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from beholder.checks.answer_patterns import CompleteRule, Quota, Variance
from beholder.checks.contract import Rule, SessionEvidence, SessionRule, Verdict, Watch
from beholder.checks.page_registry import reason_title
from beholder.checks.playback import WatchedRule
from beholder.checks.registry import FINISHED, may_refuse, rule_reason, study_rules
from beholder.cleaning.facts import NAME as PERSON
from beholder.cleaning.facts import UseDecision
from beholder.cleaning.qualification import CheckOutcome
from beholder.study.model import Study
from beholder.study.recruitment import Mode
from beholder.types import Outcome

ORDER: tuple[Rule, ...] = (CompleteRule(), WatchedRule(), Variance(Variance.Options()), Quota(Quota.Options()))
"""The rules of a study that switches none on or off, in the order in which they are reported."""
NOTED_ONLY = frozenset({"complete:mostly_missing"})
"""Reasons that are noted and exclude nothing."""
LOOK = frozenset({"complete:nothing_rated"})
"""Reasons for which a person decides about the pay, as the participant finished."""
NOTHING_LEFT = "complete:nothing_left"
"""Why a session is not used of which every single rating is left out."""

_BY_CHECKS = ("screened_out", "wrong_device")
_TURNED_AWAY = frozenset(f"complete:{outcome}" for outcome in _BY_CHECKS)
_ENDED = "complete:failed_checks"

# Who was turned away by us did what we asked; who left, declined or withdrew is for the researcher to look at.
_ACCEPT: Mapping[Outcome | None, bool | None] = {
    "completed": True,
    "screened_out": True,
    "technical": True,
    "failed_checks": None,
    "wrong_device": True,
    "no_consent": None,
    "withdrawn": None,
    None: None,
}

_OTHER_WORDS: Mapping[tuple[str, str], str] = {
    ("rater", "few_used"): "Too few of this person's sessions are used",
    ("rater", "mostly_unused"): "Hardly any of this person's sessions is used",
    ("person", "left_out"): "Left out by hand",
    ("person", "returned"): "Returned on the platform",
    ("person", "no_submission"): "Came from elsewhere",
    ("outliers", "far"): "Vote far from the others on the same stimulus",
}
"""What a person reads for reasons that are of no rule over a session."""


@dataclass(frozen=True)
class Decision:
    """Whether a session is paid and whether it is analysed. `accept` is None where a person has to look."""

    accept: bool | None
    use: bool
    reasons: tuple[str, ...]
    """Every failed check as `check:reason`, in the order of the checks."""
    costly: tuple[str, ...] = ()
    """Those of them for which the session is not used."""
    is_refusable: bool = False
    """Whether a person may decide not to pay: what a stimulus itself asked for was not done, and often enough."""


def judge(evidence: SessionEvidence, checks: Sequence[Rule] = ORDER) -> tuple[Verdict, ...]:
    """Return the verdict of every check."""
    return tuple(check.judge(evidence) for check in checks)


def session_rules(study: Study, watch: Watch | None = None) -> tuple[Rule, ...]:
    """Return the rules over a session: that it is whole and watched, and those that the study switches on.

    `watch` is what people were asked to watch, where the study has changed since.
    """
    watched = () if WatchedRule.name in study.clean.without else (WatchedRule(),)
    return (CompleteRule(), *watched, *study_rules(study, watch))


def decide(
    outcome: Outcome | None,
    verdicts: Sequence[Verdict],
    settled: Sequence[CheckOutcome] = (),
    rules: Sequence[Rule] = ORDER,
    mode: Mode = "link",
    minutes: float | None = None,
) -> Decision:
    """Return both decisions, from the verdicts on the session and on what it came to at each check with a page.

    An unknown verdict changes neither. Whom a check turned away, or sent home, has that for a reason, and not the end
    as well. `minutes` is how long the study usually takes.
    """
    by_name = {rule.name: rule for rule in rules}
    failed = {f"{verdict.check}:{verdict.reason}": verdict for verdict in verdicts if verdict.verdict == "fail"}
    ends = set(_TURNED_AWAY if any(one.costs for one in settled) and outcome in _BY_CHECKS else ())
    if any(_is_ending(by_name.get(verdict.check)) for verdict in failed.values()):
        ends.add(_ENDED)
    reasons = {
        reason: verdict.check in by_name and by_name[verdict.check].is_costly and reason not in NOTED_ONLY
        for reason, verdict in failed.items()
        if reason not in ends
    }
    reasons |= {one.reason: one.costs for one in settled if one.is_told}
    refusing = [
        verdict
        for reason, verdict in failed.items()
        if outcome in FINISHED
        and reasons.get(reason)
        and _may_refuse(by_name.get(verdict.check), verdict, mode, minutes)
    ]
    accept = _ACCEPT[outcome]
    if refusing:
        # Who did once what was asked for was there: a person looks.
        accept = None if all(_was_followed(verdict) for verdict in refusing) else False
    return Decision(
        accept=accept if LOOK.isdisjoint(reasons) else None,
        use=not any(reasons.values()),
        reasons=tuple(reasons),
        costly=tuple(reason for reason, costs in reasons.items() if costs),
        is_refusable=bool(refusing),
    )


def _is_ending(rule: Rule | None) -> bool:
    """Return whether a session can have been ended by this rule."""
    return isinstance(rule, SessionRule) and getattr(rule.options, "end_after", None) is not None and rule.is_costly


def _may_refuse(rule: Rule | None, verdict: Verdict, mode: Mode, minutes: float | None) -> bool:
    """Return whether not to pay may be proposed for a verdict."""
    return isinstance(verdict.measured, int) and may_refuse(rule, verdict.measured, mode, minutes)


def _was_followed(verdict: Verdict) -> bool:
    """Return whether any of the stimuli that asked for an answer got it."""
    met, unknown, failed = (verdict.evidence.get(name) for name in ("met", "unknown", "failed"))
    if not isinstance(met, int) or not isinstance(unknown, int) or not isinstance(failed, list | tuple):
        return False
    return met - unknown - len(failed) > 0


def apply_use_decision(decision: Decision, act: UseDecision | None) -> Decision:
    """Return the decision as a person has changed it: about use, never about pay. The reasons of the rules stay."""
    if act is None:
        return decision
    if not act.is_left_out:
        return replace(decision, use=True, costly=())
    reason = f"{PERSON}:{act.reason}"
    return replace(decision, use=False, reasons=(*decision.reasons, reason), costly=(*decision.costly, reason))


def reason_words(reason: str) -> str:
    """Return `check:reason` as a person reads it; a check with a page by its title."""
    return known_reason(reason) or reason


def known_reason(reason: str) -> str | None:
    """Return `check:reason` as a person reads it; None where nobody has words for it."""
    check, _, why = reason.partition(":")
    return rule_reason(check, why) or _OTHER_WORDS.get((check, why)) or reason_title(reason)
