"""What a check says, what it looks at, and its contract."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeAlias, TypeVar, cast

from beholder.methods.contract import Judgement, Trial
from beholder.study.checks import RuleOptions, TrialRuleOptions
from beholder.study.qualification import Action
from beholder.types import Json, Outcome

VerdictValue = Literal["pass", "fail", "unknown"]
Watch = Literal["whole", "start", "none"]
_NO_EVIDENCE: Mapping[str, Json] = {}


class Verdict(NamedTuple):
    """Pass, fail or unknown, with the reason, what was measured and what was needed. Unknown costs nobody anything."""

    check: str
    version: int
    verdict: VerdictValue
    reason: str = ""
    measured: Json = None
    needed: Json = None
    evidence: Mapping[str, Json] = _NO_EVIDENCE
    again: bool = False
    """Unknown, and worth another try while there are any."""
    action: Action | None = None
    """In place of the action that the study gives to the check."""


class Viewing(NamedTuple):
    """How one slot of one trial played. None where nothing was measured."""

    trial: str
    slot: str
    length_ms: int | None
    plays: int | None
    coverage: float | None
    furthest_ms: float | None
    frames: int | None
    missing: str | None = None


class Click(NamedTuple):
    """One answer as it was clicked, before any sign is turned, with the scale it was given on."""

    question: str
    raw_value: float
    scale_min: float
    scale_max: float
    kind: str = "score"


MeansOfOthers = Mapping[tuple[str, str], float]
"""What the others say on average of (stimulus, question), without this person; only where there are others."""


class Scatter(NamedTuple):
    """How far somebody's votes scatter round those of the others, over all of their sessions."""

    ratings: int
    raters: int
    """Of how many people with enough ratings the usual scatter is taken."""
    z: float | None
    """In robust standard deviations of its logarithm above their median; None where it is not known."""
    width: float = 1.0
    """The scatter itself, as a standard deviation in widths of the scale."""


@dataclass(frozen=True)
class SessionEvidence:
    """What the facts hold about one session. `outcome` is None while the session has not ended."""

    outcome: Outcome | None
    watch: Watch
    viewings: tuple[Viewing, ...] = ()
    clicks: tuple[Click, ...] = ()
    trials: tuple[AnsweredTrial, ...] = ()
    """Every answered trial in the order of the list, each as it was answered last."""
    others: MeansOfOthers = field(default_factory=dict)
    scatter: Scatter | None = None
    """Only where the votes of all have been looked at together."""
    number: int = 1
    """Which of this person's sessions that were finished this is."""
    ignored_pages: frozenset[tuple[str, str]] = frozenset()
    """Content and question of pages whose anchors fool so many that nobody is judged by them."""


class Exclusion(NamedTuple):
    """Ratings of one trial that are not used: those that rest on these slots, or all of them."""

    trial: str
    """The key of the answer, as `trial:7`."""
    reason: str
    """As `check:reason`."""
    slots: frozenset[str] | None = None


class RuleResult(NamedTuple):
    """What a check makes of a session."""

    verdict: Verdict
    trials: tuple[tuple[AnsweredTrial, Verdict], ...] = ()
    """What it says of single trials."""
    exclusions: tuple[Exclusion, ...] = ()


class Rule(ABC):
    """A rule over the evidence of a session. Pure: the same evidence gives the same verdict."""

    name: ClassVar[str]
    version: ClassVar[int] = 1

    @property
    def is_costly(self) -> bool:
        """Whether a failure takes the session out of use."""
        return True

    @abstractmethod
    def judge(self, evidence: SessionEvidence) -> Verdict:
        """Return the verdict on a session."""

    def evaluate(self, evidence: SessionEvidence) -> RuleResult:
        """Return the verdict, with what is said of single trials and which ratings are not used for it."""
        return RuleResult(self.judge(evidence))


# --- The contract of a rule over what somebody did while rating, and what it looks at ---
#
# A check with a page of its own is `beholder.checks.page_contract.PageCheck`. What a rule needs of the plan, such as
# stimuli that
# ask for an answer, is put there by `beholder.planning.check_trials`; here it is judged, by the server at once where
# the study
# wants that, and by `clean` again from the facts alone.


_Rule = TypeVar("_Rule", bound=RuleOptions)
_TrialRule = TypeVar("_TrialRule", bound=TrialRuleOptions)
MEDIA_ERROR = "media_error"
"""The reason of an unknown: what counts did not play."""
CHECK_ROLES = frozenset({"attention", "gold", "trap", "training", "repeat", "example"})
"""Roles whose answers are evidence for checks, never ratings."""


@dataclass(frozen=True)
class AnsweredTrial:
    """One answered trial, as the facts hold it."""

    key: str
    """The step: `trial:7`, or `trial:7:2` where it came again."""
    trial: Trial
    answer: Json
    judgements: tuple[Judgement, ...]
    playback: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By slot, and `page`; computed from the events on arrival."""
    lengths_ms: Mapping[str, int | None] = field(default_factory=dict)
    """How long each slot plays."""
    shown_ms: float = 0.0
    sent_ms: float = 0.0
    stills: frozenset[str] = frozenset()
    """Slots that show an image or a text."""

    @cached_property
    def values(self) -> Mapping[str, float | None]:
        """The answers by question and slot, as `q1.s2`, before any sign is turned; a comparison from either side."""
        asked = {asked.question: asked.id for asked in self.trial.asked}
        found: dict[str, float | None] = {}
        for one in self.judgements:
            name = asked.get(one.question)
            if name is None or one.kind not in ("score", "diff", "choice"):
                continue
            value = one.raw_value if one.kind == "score" else one.value
            found[f"{name}.{one.slot}"] = value
            if one.kind != "score" and one.other_slot is not None:
                found[f"{name}.{one.other_slot}"] = None if value is None else -value
        return found

    @cached_property
    def missing(self) -> frozenset[str]:
        """The slots that would not play."""
        gone = self.answer.get("missing", {}) if isinstance(self.answer, Mapping) else {}
        return frozenset(gone) if isinstance(gone, Mapping) else frozenset()

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """The slots that did play."""
        return tuple([slot.id for slot in self.trial.slots if slot.id not in self.missing])


_Method = TypeVar("_Method", bound=Callable[..., Any])
_CACHE_SIZE = 20_000


def memoised(judge: _Method) -> _Method:
    """Return a method that judges the same facts only once: in most trials everything is as it should be."""
    return cast("_Method", lru_cache(maxsize=_CACHE_SIZE)(judge))


TrialVerdicts: TypeAlias = "tuple[tuple[AnsweredTrial, Verdict], ...]"
"""Trials that a rule says something of, and what."""


class SessionRule(Rule, Generic[_Rule]):
    """Base of every rule over a session. A subclass is one file in this folder.

    `rule` holds its options, `watch` is what the study asks people to watch before they answer.
    """

    def __init__(self, rule: _Rule, watch: Watch = "whole") -> None:
        self.rule, self.watch = rule, watch

    @property
    def is_costly(self) -> bool:
        return self.rule.action != "record"

    def verdict(
        self, say: VerdictValue, reason: str = "", *, measured: Json = None, needed: Json = None, **evidence: Json
    ) -> Verdict:
        """Return a verdict of this check."""
        return Verdict(self.name, self.version, say, reason, measured, needed, evidence)

    def pass_or_fail(self, reason: str, *, measured: Json = None, needed: Json = None, **evidence: Json) -> Verdict:
        """Return that it failed for a reason or, without one, passed."""
        say: VerdictValue = "fail" if reason else "pass"
        return self.verdict(say, reason, measured=measured, needed=needed, **evidence)


class TrialRule(SessionRule[_TrialRule]):
    """Base of the rules that are judged trial by trial; a session fails with more failures than are allowed."""

    @abstractmethod
    def judge_trial(self, seen: AnsweredTrial, before: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        """Return the verdict on one trial, `before` which others were answered; None where it says nothing of it."""

    def conclude(self, found: TrialVerdicts) -> Verdict:
        """Return the verdict on a session from those on its trials: unknown where nothing is known."""
        failed = [(seen, verdict) for seen, verdict in found if verdict.verdict == "fail"]
        count = sum([self.failures(verdict) for _, verdict in failed])
        kept = trial_evidence(found)
        if count > self.rule.max_failed:
            first = failed[0][1]
            return self.verdict("fail", first.reason, measured=count, needed=self.rule.max_failed, **kept)
        say: VerdictValue = "pass" if known_count(found) else "unknown"
        return self.verdict(say, unknown_reason(found), measured=count, needed=self.rule.max_failed, **kept)

    def failures(self, verdict: Verdict) -> int:
        """Return how many failures a failed trial counts for."""
        return 1

    def exclusions(self, found: TrialVerdicts) -> tuple[Exclusion, ...]:
        """Return the ratings that are not used although the session is."""
        return ()

    def trial_verdicts(self, evidence: SessionEvidence) -> TrialVerdicts:
        """Return the verdicts on all trials that this says something of."""
        found = []
        for place, seen in enumerate(evidence.trials):
            verdict = self.judge_trial(seen, evidence.trials[:place])
            if verdict is not None:
                found.append((seen, verdict))
        return tuple(found)

    def judge(self, evidence: SessionEvidence) -> Verdict:
        return self.conclude(self.trial_verdicts(evidence))

    def evaluate(self, evidence: SessionEvidence) -> RuleResult:
        found = self.trial_verdicts(evidence)
        return RuleResult(self.conclude(found), found, self.exclusions(found))


class RatingRule(TrialRule[_TrialRule]):
    """Base of the rules by which single ratings are not used; a session fails by a rule of its own.

    A verdict on a trial may name the `slots` that it is about; else it is about the whole trial.
    """

    def exclusions(self, found: TrialVerdicts) -> tuple[Exclusion, ...]:
        if not self.is_costly:
            return ()
        failed = [(seen, verdict) for seen, verdict in found if verdict.verdict == "fail"]
        return tuple(Exclusion(seen.key, f"{self.name}:{one.reason}", _slots(one)) for seen, one in failed)

    def by_share(self, found: TrialVerdicts, most: float) -> Verdict:
        """Return the verdict on a session that fails with a larger share of failed trials than `most`.

        What is unknown of a trial is no failure: one that failed among many that nobody could measure is one of many.
        One alone never costs a session, however short.
        """
        kept = trial_evidence(found)
        failed = len([verdict for _, verdict in found if verdict.verdict == "fail"])
        if not known_count(found):
            return self.verdict("unknown", unknown_reason(found), needed=most, **kept)
        share = round(failed / len(found), 4)
        is_over = failed > max(1, self.rule.max_failed, most * len(found))
        return self.pass_or_fail(OFTEN if is_over else "", measured=share, needed=most, **kept)


NOT_MET = "not_met"
"""The reason of an unknown: the session holds nothing of it."""
OFTEN = "often"
"""The reason of a session in which too many trials failed."""


def evidence_number(evidence: Mapping[str, Json], name: str) -> float:
    """Return a number that a verdict has noted; 0 where it has not."""
    value = evidence.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def known_count(found: TrialVerdicts) -> int:
    """Return on how many trials something is known."""
    return len([verdict for _, verdict in found if verdict.verdict != "unknown"])


def unknown_reason(found: TrialVerdicts) -> str:
    """Return why nothing is known; empty where something is."""
    return "" if known_count(found) else next((verdict.reason for _, verdict in found), NOT_MET)


def trial_evidence(found: TrialVerdicts) -> dict[str, Json]:
    """Return the verdicts on trials as evidence of a verdict on a session: how many, and those that failed."""
    failed = [_trial_verdict(seen.key, verdict) for seen, verdict in found if verdict.verdict == "fail"]
    return {"met": len(found), "unknown": len(found) - known_count(found), "failed": failed}


def _slots(verdict: Verdict) -> frozenset[str] | None:
    named = verdict.evidence.get("slots")
    return frozenset(str(slot) for slot in named) if isinstance(named, list | tuple) else None


def _trial_verdict(key: str, verdict: Verdict) -> dict[str, Json]:
    """Return a verdict on a trial as evidence of a verdict on a session."""
    return {
        "trial": key, "reason": verdict.reason, "measured": verdict.measured, "needed": verdict.needed,
        **verdict.evidence,
    }  # fmt: skip
