"""The contract of a rule over a session: the evidence that it reads, the verdict that it returns, and its base classes.

A rule is one class with all that is known about it: options, title, sentence for the report, reasons in words, and how
it judges. It is found through the entry points `beholder.checks`, ours as well as those of other authors. A check with
a page of its own is `beholder.checks.page_contract.PageCheck`. What a rule needs in the lists, such as stimuli that ask
for an answer, is planned by `beholder.planning`; here it is judged: by the server at once where the study wants that,
and by `clean` again from the stored facts alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from pydantic import Field

from beholder.methods.contract import Judgement, Trial
from beholder.study.checks import After, RuleKind, RuleOptions, Share
from beholder.study.qualification import Action
from beholder.types import Json, Outcome

VerdictValue = Literal["pass", "fail", "unknown"]
Watch = Literal["whole", "start", "none"]
_NO_EVIDENCE: Mapping[str, Json] = {}
NO_SLOTS: frozenset[str] = frozenset()
"""One for all trials: an empty set of its own would be a fifth of a kilobyte for each."""


class Verdict(NamedTuple):
    """Pass, fail or unknown, with the reason, what was measured and what was needed. Unknown has no consequences."""

    check: str
    version: int
    verdict: VerdictValue
    reason: str = ""
    measured: Json = None
    needed: Json = None
    evidence: Mapping[str, Json] = _NO_EVIDENCE
    again: bool = False
    """Unknown, and the check is offered again while attempts are left."""
    action: Action | None = None
    """Overrides the action that the study gives to the check."""


class Viewing(NamedTuple):
    """How one slot of one trial was played; None where nothing was measured."""

    trial: str
    slot: str
    length_ms: int | None
    plays: int | None
    coverage: float | None
    furthest_ms: float | None
    frames: int | None
    missing: str | None = None


class Click(NamedTuple):
    """One raw answer, before any sign is reversed, with its scale."""

    question: str
    raw_value: float
    scale_min: float
    scale_max: float
    kind: str = "score"
    text: str | None = None
    """The words that were typed, whose score the value is."""


class OperatedPage(NamedTuple):
    """How one page was operated, where a rule of the study looks at that."""

    key: str
    presses: Sequence[Mapping[str, Any]] = ()
    """Each with `ms` since the page was shown and `by` what: mouse, touch, pen, key, paste or none of them."""
    driver: Sequence[str] = ()
    """By what the browser said that a program drives it."""
    ends_ms: Sequence[float] = ()
    """When stimuli first came to their end."""

    @property
    def is_trial(self) -> bool:
        return self.key.startswith("trial:")


MeansOfOthers = Mapping[tuple[str, str], float]
"""Mean rating of all other participants by (stimulus, question); only where there are others."""


class Scatter(NamedTuple):
    """How far a participant's votes scatter around those of the others, over all of their sessions."""

    ratings: int
    raters: int
    """How many participants with enough ratings the usual scatter is computed from."""
    z: float | None
    """Robust standard deviations of its logarithm above their median; None where it is unknown."""
    width: float = 1.0
    """The scatter as a standard deviation, in widths of the scale."""


@dataclass(frozen=True)
class SessionEvidence:
    """What the stored facts say about one session. `outcome` is None while the session has not ended."""

    outcome: Outcome | None
    watch: Watch
    viewings: tuple[Viewing, ...] = ()
    clicks: tuple[Click, ...] = ()
    trials: tuple[AnsweredTrial, ...] = ()
    """Every answered trial in the order of the list, with its last answer."""
    pages: tuple[OperatedPage, ...] = ()
    """How the answered pages were operated, in the order of time; those that told nothing of it are left out."""
    others: MeansOfOthers = field(default_factory=dict)
    scatter: Scatter | None = None
    """Only after the votes of all participants were compared."""
    number: int = 1
    """The position of this session among the finished ones of the participant."""
    ignored_pages: frozenset[tuple[str, str]] = frozenset()
    """Content and question of pages whose anchors are rated high by so many that nobody is judged by them."""
    prepared: Mapping[str, Any] = field(default_factory=dict)
    """What else a rule has learnt from all sessions, by its name."""


class ComparedRating(Protocol):
    """One rating of a session, as rules that compare sessions read it."""

    @property
    def participant(self) -> str: ...
    @property
    def trial(self) -> str: ...
    @property
    def condition(self) -> str: ...
    @property
    def other_condition(self) -> str | None: ...
    @property
    def stimulus(self) -> str: ...
    @property
    def other_stimulus(self) -> str | None: ...
    @property
    def question(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def value(self) -> float | None: ...
    @property
    def scale_min(self) -> float: ...
    @property
    def scale_max(self) -> float: ...
    @property
    def use(self) -> bool: ...


class ComparedSession(NamedTuple):
    """A session among all others, as far as it is judged by now."""

    participant: str
    evidence: SessionEvidence
    ratings: Sequence[ComparedRating]


class Exclusion(NamedTuple):
    """Ratings of one trial that are not used: those of these slots, or all of them."""

    trial: str
    """The key of the answer, as `trial:7`."""
    reason: str
    """As `check:reason`."""
    slots: frozenset[str] | None = None


class RuleResult(NamedTuple):
    """The verdict of a rule on a session, with its verdicts on trials and the ratings it excludes."""

    verdict: Verdict
    trials: tuple[tuple[AnsweredTrial, Verdict], ...] = ()
    exclusions: tuple[Exclusion, ...] = ()


class Rule(ABC):
    """Base of every rule over a session. Pure: the same evidence gives the same verdict."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    reasons: ClassVar[Mapping[str, str]]
    """By reason, why a session or a rating is not used: words for researchers."""

    @property
    def is_costly(self) -> bool:
        """Whether a failure takes the session out of use."""
        return True

    @abstractmethod
    def judge(self, evidence: SessionEvidence) -> Verdict:
        """Return the verdict on a session."""

    def evaluate(self, evidence: SessionEvidence) -> RuleResult:
        """Return the verdict, with the verdicts on trials and the ratings that are not used."""
        return RuleResult(self.judge(evidence))


MEDIA_ERROR = "media_error"
"""Reason of an unknown: a stimulus that counts did not play."""
NOT_MET = "not_met"
"""Reason of an unknown: the rule applied to nothing in the session."""
OFTEN = "often"
"""Reason of a failed session: too many of its trials failed."""


@dataclass(frozen=True)
class AnsweredTrial:
    """One answered trial from the stored facts."""

    key: str
    """The step: `trial:7`, or `trial:7:2` when it was repeated."""
    trial: Trial
    answer: Json
    judgements: tuple[Judgement, ...]
    playback: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By slot, and `page`; computed from the events when the answer arrived."""
    lengths_ms: Mapping[str, int | None] = field(default_factory=dict)
    """Length of the stimulus in each slot."""
    shown_ms: float = 0.0
    sent_ms: float = 0.0
    stills: frozenset[str] = frozenset()
    """Slots that show an image or a text."""

    @cached_property
    def values(self) -> Mapping[str, float | None]:
        """The answers by question and slot, as `q1.s2`, before any sign is reversed; comparisons from both sides.

        Where two scores make one rating, they are the scores.
        """
        ids = {asked.question: asked.id for asked in self.trial.asked}
        scores = own_scores(self.answer)
        values: dict[str, float | None] = {}
        for one in self.judgements:
            name = ids.get(one.question)
            if name is None or one.kind not in ("score", "diff", "choice"):
                continue
            if one.kind == "diff" and scores is not None:
                values |= {f"{name}.{slot}": scores[name].get(slot) for slot in (one.slot, str(one.other_slot))}
                continue
            value = one.raw_value if one.kind == "score" and one.heard is None else one.value
            values[f"{name}.{one.slot}"] = value
            if one.kind != "score" and one.other_slot is not None:
                values[f"{name}.{one.other_slot}"] = None if value is None else -value
        return values

    @cached_property
    def missing(self) -> frozenset[str]:
        """The slots that would not play."""
        missing = self.answer.get("missing") if isinstance(self.answer, Mapping) else None
        return frozenset(missing) if missing and isinstance(missing, Mapping) else NO_SLOTS

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """The slots that did play."""
        return tuple([slot.id for slot in self.trial.slots if slot.id not in self.missing])


def own_scores(answer: Json) -> Mapping[str, Mapping[str, float]] | None:
    """Return the scores of an answer by question and slot; None where it has others, such as a choice of two."""
    scores = answer.get("scores") if isinstance(answer, Mapping) else None
    return cast("Mapping[str, Mapping[str, float]]", scores) if isinstance(scores, Mapping) else None


_Method = TypeVar("_Method", bound=Callable[..., Any])
_CACHE_SIZE = 20_000


def memoised(judge: _Method) -> _Method:
    """Return a method that caches its verdicts: most trials of a session have the same facts."""
    return cast("_Method", lru_cache(maxsize=_CACHE_SIZE)(judge))


TrialVerdicts: TypeAlias = "tuple[tuple[AnsweredTrial, Verdict], ...]"
"""Trials that a rule judges, with its verdict on each."""


MostFailed = Annotated[int, After(is_shared=True)]
ShareOfTrials = Annotated[Share, After(is_shared=True)]
"""Shared by rules that fail a session with too many failed trials."""


class SessionRule(Rule, RuleKind):
    """Base of the rules that a study switches on.

    `watch` is what the study asks participants to watch before they answer.
    """

    compared: ClassVar[int | None] = None
    """For a rule that needs all sessions: in which turn `prepare` is called; each sees what the turns before cost."""
    options: RuleOptions

    def __init__(self, options: RuleOptions, watch: Watch = "whole") -> None:
        self.options, self.watch = options, watch

    @property
    def is_costly(self) -> bool:
        return self.options.action != "record"

    @abstractmethod
    def sentence(self) -> str:
        """Return a sentence for the report about what the rule asks, with its numbers."""

    def prepare(self, sessions: Sequence[ComparedSession]) -> Sequence[SessionEvidence] | None:
        """Return the evidence of each session with what all of them say; None where that changes nothing."""
        return None

    def account(self, results: Sequence[RuleResult]) -> dict[str, Json]:
        """Return what the account says about this rule besides how often it passed and failed."""
        return {}

    def verdict(
        self, say: VerdictValue, reason: str = "", *, measured: Json = None, needed: Json = None, **evidence: Json
    ) -> Verdict:
        """Return a verdict of this rule."""
        return Verdict(self.name, self.version, say, reason, measured, needed, evidence)

    def pass_or_fail(self, reason: str, *, measured: Json = None, needed: Json = None, **evidence: Json) -> Verdict:
        """Return a failure with its reason or, without a reason, a pass."""
        say: VerdictValue = "fail" if reason else "pass"
        return self.verdict(say, reason, measured=measured, needed=needed, **evidence)


class TrialRule(SessionRule):
    """Base of the rules that judge trial by trial; a session fails with more failures than are allowed."""

    threshold_model: ClassVar[tuple[str, str]] = ("UseTrial", "Thresholds of a rule that is judged trial by trial.")

    class Options(SessionRule.Options):
        """A rule that is judged trial by trial, so that it can act at once."""

        action: Literal["warn", "retry", "flag", "record"] = Field(  # type: ignore[assignment]
            default="flag",
            description="`warn`: is told after the trial; `retry`: is told, and the trial comes again; `flag`: silent, "
            "cleaning decides; `record`: only noted, and costs nothing.",
        )
        retries: int = Field(default=1, ge=1, le=10, description="How often a trial comes again, with `retry`.")
        max_failed: MostFailed = Field(
            default=0, ge=0, description="So many failures are allowed in a session that is used."
        )
        end_after: int | None = Field(
            default=None, ge=1, description="The session ends kindly at this many failures; never when left out."
        )

        @property
        def is_immediate(self) -> bool:
            """Whether the rule acts before cleaning."""
            return self.action in ("warn", "retry") or self.end_after is not None

    options: Options

    @abstractmethod
    def judge_trial(self, answered: AnsweredTrial, earlier: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        """Return the verdict on one trial, given the `earlier` ones; None where the rule does not apply to it."""

    def conclude(self, verdicts: TrialVerdicts) -> Verdict:
        """Return the verdict on a session from those on its trials; unknown where all of them are."""
        failed = [(answered, verdict) for answered, verdict in verdicts if verdict.verdict == "fail"]
        count = sum([self.failures(verdict) for _, verdict in failed])
        evidence = trial_evidence(verdicts)
        if count > self.options.max_failed:
            first = failed[0][1]
            return self.verdict("fail", first.reason, measured=count, needed=self.options.max_failed, **evidence)
        say: VerdictValue = "pass" if known_count(verdicts) else "unknown"
        return self.verdict(say, unknown_reason(verdicts), measured=count, needed=self.options.max_failed, **evidence)

    def failures(self, verdict: Verdict) -> int:
        """Return the number of failures that a failed trial counts as."""
        return 1

    def exclusions(self, verdicts: TrialVerdicts) -> tuple[Exclusion, ...]:
        """Return the ratings that are not used in a session that is."""
        return ()

    def trial_verdicts(self, evidence: SessionEvidence) -> TrialVerdicts:
        """Return the verdicts on all trials that the rule applies to."""
        verdicts = []
        for place, answered in enumerate(evidence.trials):
            verdict = self.judge_trial(answered, evidence.trials[:place])
            if verdict is not None:
                verdicts.append((answered, verdict))
        return tuple(verdicts)

    def judge(self, evidence: SessionEvidence) -> Verdict:
        return self.conclude(self.trial_verdicts(evidence))

    def evaluate(self, evidence: SessionEvidence) -> RuleResult:
        verdicts = self.trial_verdicts(evidence)
        return RuleResult(self.conclude(verdicts), verdicts, self.exclusions(verdicts))


class RatingRule(TrialRule):
    """Base of the rules that exclude single ratings; when a session fails is up to the subclass.

    A verdict on a trial may name the `slots` that it is about; otherwise it is about the whole trial.
    """

    def exclusions(self, verdicts: TrialVerdicts) -> tuple[Exclusion, ...]:
        if not self.is_costly:
            return ()
        failed = [(answered, verdict) for answered, verdict in verdicts if verdict.verdict == "fail"]
        return tuple(Exclusion(answered.key, f"{self.name}:{one.reason}", _slots(one)) for answered, one in failed)

    def by_share(self, verdicts: TrialVerdicts, most: float) -> Verdict:
        """Return the verdict on a session that fails with a larger share of failed trials than `most`.

        An unknown trial is no failure: one failure among many trials that could not be measured is one of many.
        A single failure never costs a session, however short.
        """
        evidence = trial_evidence(verdicts)
        failed = len(evidence["failed"])
        if evidence["unknown"] == len(verdicts):
            return self.verdict("unknown", unknown_reason(verdicts), needed=most, **evidence)
        share = round(failed / len(verdicts), 4)
        is_over = failed > max(1, self.options.max_failed, most * len(verdicts))
        return self.pass_or_fail(OFTEN if is_over else "", measured=share, needed=most, **evidence)


_NUMBERS = (int, float)


def evidence_number(evidence: Mapping[str, Json], name: str) -> float:
    """Return a number from the evidence of a verdict; 0 where there is none."""
    value = evidence.get(name)
    return float(value) if isinstance(value, _NUMBERS) else 0.0


def known_count(verdicts: TrialVerdicts) -> int:
    """Return the number of trials whose verdict is not unknown."""
    return len([verdict for _, verdict in verdicts if verdict.verdict != "unknown"])


def unknown_reason(verdicts: TrialVerdicts) -> str:
    """Return the reason why all verdicts are unknown; empty where one is not."""
    return "" if known_count(verdicts) else next((verdict.reason for _, verdict in verdicts), NOT_MET)


def trial_evidence(verdicts: TrialVerdicts) -> dict[str, Any]:
    """Return verdicts on trials as evidence of a verdict on a session: their number, and those that failed."""
    said, failed = [verdict.verdict for _, verdict in verdicts], []
    if "fail" in said:
        failed = [_trial_verdict(answered.key, verdict) for answered, verdict in verdicts if verdict.verdict == "fail"]
    return {"met": len(said), "unknown": said.count("unknown"), "failed": failed}


def _slots(verdict: Verdict) -> frozenset[str] | None:
    named = verdict.evidence.get("slots")
    return frozenset(str(slot) for slot in named) if isinstance(named, list | tuple) else None


def _trial_verdict(key: str, verdict: Verdict) -> dict[str, Json]:
    """Return a failed verdict on a trial as evidence of a verdict on a session."""
    return {
        "trial": key, "reason": verdict.reason, "measured": verdict.measured, "needed": verdict.needed,
        **verdict.evidence,
    }  # fmt: skip


def may(n: int) -> str:
    """Return how many may, for sentences of rules: `none may`, `2 may`."""
    return "none may" if n == 0 else f"{n} may"
