"""Rules over answers that are known beforehand: `attention`, `trap`, `gold`, `trap_item`, and training.

A target is what a stimulus asks for, or what a gold stimulus is worth (reference: checks 7).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from beholder.checks.contract import (
    MEDIA_ERROR,
    AnsweredTrial,
    MostFailed,
    RuleResult,
    TrialRule,
    Verdict,
    VerdictValue,
    may,
)
from beholder.errors import Problem
from beholder.formats import plain_count, plural
from beholder.methods.contract import Method, Target, Trial
from beholder.stimuli.catalogue import Catalogue
from beholder.study.checks import After, GoldItem, RuleOptions
from beholder.study.model import Study
from beholder.study.parts import Fault, ShownText, StudyPart, Text, raise_faults
from beholder.study.value_kinds import Allowed
from beholder.types import CheckRole, Json, Role

Say = Literal["text", "voice"]


class KnownAnswerRule(TrialRule):
    """Base of the rules by stimuli whose answer is known."""

    role: ClassVar[CheckRole]
    is_planned: ClassVar[bool] = True

    @property
    def tolerance(self) -> float | None:
        """How far an answer may be off, in place of what was planned; None keeps that of the plan."""
        raise NotImplementedError

    def judge_trial(self, answered: AnsweredTrial, earlier: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        if self.role not in answered.trial.roles:
            return None
        targets = targets_of(answered, self.role, self.tolerance)
        if not targets:
            return None
        say, reason, off = compare(answered, targets)
        return self.verdict(say, reason, measured=off or None, needed=target_evidence(targets))

    def account(self, results: Sequence[RuleResult]) -> dict[str, Json]:
        return right_answers(results)


class MessageRule(KnownAnswerRule):
    """Base of the rules by stimuli that ask for a certain answer themselves."""

    asks_itself: ClassVar[bool] = True
    threshold_model: ClassVar[tuple[str, str]] = ("UseNear", "Thresholds of a rule that compares answers.")

    class Options(KnownAnswerRule.Options):
        """A stimulus that asks for a certain answer itself."""

        per_session: int = Field(default=1, ge=1, le=50, description="How many in a session.")
        tolerance: Annotated[float | None, After("How far an answer may be off.")] = Field(
            default=None, ge=0, description="How far the answer may be off; 3 in 100 of a slider, 0 elsewhere."
        )
        say: Say | None = Field(
            default=None, description="`text` over the picture or `voice`; `voice` for sounds, else `text`."
        )
        words: ShownText | None = Field(
            default=None, description="What it says, with {value} or {label} in it; our own words when left out."
        )
        clips: int = Field(
            default=100, ge=1, le=10_000, description="At most so many are made, and shared by the lists."
        )
        reject_after: int | None = Field(
            default=2, ge=1, description="From this many failures on not paying is proposed; never when `null`."
        )

        @model_validator(mode="after")
        def _known_places(self) -> Self:
            unknown = [name for name in re.findall(r"\{([^{}]*)\}", self.words or "") if name not in ("value", "label")]
            if unknown:
                raise_faults([Fault(f"has {{{unknown[0]}}}", "{value} and {label} for the answer", "", ("words",))])
            return self

    options: Options

    @property
    def tolerance(self) -> float | None:
        return self.options.tolerance


class Attention(MessageRule):
    """attention: every slider is set to the number that its stimulus asks for (HEMVIP)."""

    name: ClassVar[str] = "attention"
    title: ClassVar[str] = "Attention checks"
    order: ClassVar[int] = 10
    role: ClassVar[CheckRole] = "attention"
    trial_words: ClassVar[tuple[str, str]] = ("attention check", "attention checks")
    summary: ClassVar[str] = "Stimuli that ask for an answer, among the others."
    threshold_summary: ClassVar[str] = "Stimuli that ask for an answer."
    reasons: ClassVar[Mapping[str, str]] = {"wrong": "Attention checks not answered as asked"}

    class Options(MessageRule.Options):
        """Attention checks (HEMVIP): a stimulus of a page says to which number its slider is to be set."""

        per_session: int = Field(default=3, ge=1, le=50, description="How many in a session, one on a page at most.")
        targets: Annotated[tuple[float, float], Allowed("two numbers, such as [5, 95]")] = Field(
            default=(5, 95), description="The lowest and the highest number that a slider is asked for."
        )
        end_after: int | None = Field(
            default=2, ge=1, description="The session ends kindly at this many failures; never when `null`."
        )
        protect: tuple[Text, ...] = Field(
            default=(),
            description="Conditions that are never replaced, besides `design.always`, references and anchors.",
        )

        @model_validator(mode="after")
        def _grow(self) -> Self:
            low, high = self.targets
            if low >= high:
                raise_faults([Fault(f"is {low:g}, {high:g}", "the lower number first", "", ("targets",))])
            return self

    options: Options

    def sentence(self) -> str:
        n = self.options.per_session
        says = plural(n, "says itself", "say themselves")
        return (
            f"{plain_count(n, 'stimulus', 'stimuli')} in a session {says} which answer to give; "
            f"{may(self.options.max_failed)} be missed."
        )


class Trap(MessageRule):
    """trap: every answer to a trapping clip is the one that it asks for (P.910)."""

    name: ClassVar[str] = "trap"
    title: ClassVar[str] = "Trapping clips"
    order: ClassVar[int] = 20
    role: ClassVar[CheckRole] = "trap"
    trial_words: ClassVar[tuple[str, str]] = ("trap", "traps")
    summary: ClassVar[str] = "Trials of their own that ask for an answer."
    threshold_summary: ClassVar[str] = "Trials that ask for an answer."
    reasons: ClassVar[Mapping[str, str]] = {"wrong": "Trapping clips not answered as asked"}

    class Options(MessageRule.Options):
        """Trapping clips (P.910): an ordinary clip whose middle asks for a certain answer."""

        clips: int = Field(
            default=10, ge=1, le=10_000, description="At most so many are made, and shared by the lists."
        )

    options: Options

    def sentence(self) -> str:
        n = self.options.per_session
        return (
            f"{plain_count(n, 'trial')} in a session {plural(n, 'asks', 'ask')} for a certain answer in the middle "
            f"of the stimulus; {may(self.options.max_failed)} be missed."
        )


class Gold(KnownAnswerRule):
    """gold: every answer to a gold stimulus is near enough to the right one."""

    name: ClassVar[str] = "gold"
    title: ClassVar[str] = "Gold stimuli"
    order: ClassVar[int] = 30
    role: ClassVar[CheckRole] = "gold"
    trial_words: ClassVar[tuple[str, str]] = ("gold", "gold")
    summary: ClassVar[str] = "Trials whose right answer is known."
    reasons: ClassVar[Mapping[str, str]] = {"wrong": "Gold stimuli rated far from their known value"}

    class Options(KnownAnswerRule.Options):
        """Gold stimuli: the right answer is known."""

        per_session: int = Field(default=1, ge=1, le=50, description="How many in a session.")
        tolerance: Annotated[float | None, After("How far an answer may be off.")] = Field(
            default=None, ge=0, description="How far an answer may be off; a quarter of the scale when left out."
        )
        items: tuple[GoldItem, ...] = Field(
            default=(), description="The stimuli, where they are no manifest; after its own where they are."
        )
        _within: float | None = PrivateAttr(default=None)

        @property
        def within(self) -> float | None:
            """The tolerance of cleaning, in place of the planned one; None keeps that of the plan."""
            return self._within

        def judged_by(self, thresholds: Mapping[str, Any]) -> Self:
            """Return the options with these thresholds; a tolerance applies to every stimulus, whatever was planned."""
            judged = super().judged_by(thresholds)
            judged._within = thresholds.get("tolerance")
            return judged

    options: Options

    @classmethod
    def listed_stimuli(cls, options: RuleOptions) -> tuple[GoldItem, ...]:
        return options.items if isinstance(options, cls.Options) else ()

    @property
    def tolerance(self) -> float | None:
        return self.options.within

    def sentence(self) -> str:
        return (
            f"The right answer to {plain_count(self.options.per_session, 'trial')} in a session is known; "
            f"{may(self.options.max_failed)} be far from it."
        )


NO_GOLD = (
    "Give stimuli the role gold and an expected answer in a manifest, list files in checks.gold.items, or write "
    "checks: {gold: false}."
)
"""How to provide gold stimuli, or to do without."""


def missing_gold(study: Study, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield a warning where a preset asks for gold stimuli and there are none; an error where the study does."""
    is_wanted = study.checks.of(Gold.Options) is not None and not study.is_written("checks.gold")
    if is_wanted and not catalogue.of_role(Gold.role):
        what = f"is {study.preset}, which wants a gold stimulus in each session, and no stimuli have the role gold"
        yield study.problem("preset", what, "", NO_GOLD)


class Statement(StudyPart):
    """One statement that is obviously true or false."""

    text: ShownText = Field(description="What participants read.")
    agree: bool = Field(description="Whether everybody agrees with it. Never sent to the browser.")


class TrapItem(TrialRule):
    """trap_item: obvious statements are answered on the right side of the middle; the middle itself is unknown."""

    name: ClassVar[str] = "trap_item"
    title: ClassVar[str] = "Obvious statements"
    order: ClassVar[int] = 40
    is_planned: ClassVar[bool] = True
    role: ClassVar[CheckRole] = "trap_item"
    trial_words: ClassVar[tuple[str, str]] = ("obvious statement", "obvious statements")
    purpose: ClassVar[Literal["trap", "repeat"]] = "trap"
    statement_words: ClassVar[tuple[str, str]] = ("obvious statement", "obvious statements")
    summary: ClassVar[str] = "Statements that are obviously true or false."
    threshold_summary: ClassVar[str] = "Obvious statements."
    reasons: ClassVar[Mapping[str, str]] = {"wrong": "Obvious statements answered wrongly"}

    class Options(TrialRule.Options):
        """Trap items in surveys: statements that are obviously true or false."""

        per_trial: int = Field(
            default=1,
            ge=1,
            le=5,
            description="How many in a trial; where each statement comes in a trial of its own, how many for each "
            "stimulus.",
        )
        max_failed: MostFailed = Field(
            default=1, ge=0, description="So many failures are allowed in a session that is used."
        )
        items: tuple[Statement, ...] = Field(default=(), description="The bank; our own in English when left out.")

    options: Options

    def sentence(self) -> str:
        n = self.options.per_trial
        return (
            f"{plain_count(n, 'statement')} about each stimulus {plural(n, 'is', 'are')} obviously true or false; "
            f"{may(self.options.max_failed)} be answered wrongly."
        )

    def account(self, results: Sequence[RuleResult]) -> dict[str, Json]:
        return right_answers(results)

    def judge_trial(self, answered: AnsweredTrial, earlier: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        asked = {asked.id: asked for asked in answered.trial.asked if asked.purpose == self.purpose}
        targets: dict[str, Json] = {}
        wrong: dict[str, Json] = {}
        right = neutral = 0
        for where, target in answered.trial.targets.items():
            item = asked.get(where.partition(".")[0])
            if item is None:
                continue
            targets[where] = target.value
            value, middle = answered.values.get(where), (item.scale.min + item.scale.max) / 2
            if value is None:
                continue
            side = (value - middle) * (target.value - middle)
            right, neutral = right + (side > 0), neutral + (side == 0)
            if side < 0:
                wrong[where] = value
        if not targets:
            return None
        if wrong:
            return self.verdict("fail", "wrong", measured=wrong, needed=targets)
        if not right:
            return self.verdict("unknown", "neutral" if neutral else MEDIA_ERROR, needed=targets)
        return self.verdict("pass", needed=targets)

    def failures(self, verdict: Verdict) -> int:
        """Return the number of statements of a trial that were answered wrongly."""
        return len(verdict.measured) if isinstance(verdict.measured, dict) else 1


# Targets

_NEAR = 1e-9


def targets_of(answered: AnsweredTrial, role: Role, tolerance: float | None = None) -> dict[str, Target]:
    """Return the targets at slots of a role, by question and slot, without those of trap statements.

    A `tolerance` of the study overrides the planned one.
    """
    if role not in answered.trial.roles:
        return {}
    slots = {slot.id for slot in answered.trial.slots if slot.role == role}
    places = {f"{asked.id}.{slot}" for asked in answered.trial.asked for slot in slots if asked.purpose == "ask"}
    targets = {where: target for where, target in answered.trial.targets.items() if where in places}
    if tolerance is None:
        return targets
    return {where: target._replace(tolerance=tolerance) for where, target in targets.items()}


def compare(answered: AnsweredTrial, targets: Mapping[str, Target]) -> tuple[VerdictValue, str, dict[str, Json]]:
    """Return whether every answer is near its target, the reason if not, and the wrong answers.

    A stimulus that did not play, or only in part, is unknown: nobody has to guess.
    """
    off: dict[str, Json] = {}
    is_missing = False
    for where, target in targets.items():
        value = answered.values.get(where)
        if value is None or where.partition(".")[2] in answered.missing:
            is_missing = True
        elif not any(abs(value - right) <= target.tolerance + _NEAR for right in (target.value, *target.also)):
            off[where] = value
    if is_missing:
        return "unknown", MEDIA_ERROR, {}
    return ("fail", "wrong", off) if off else ("pass", "", {})


def target_evidence(targets: Mapping[str, Target]) -> dict[str, Json]:
    """Return the targets as evidence."""
    return {where: [target.value, target.tolerance] for where, target in targets.items()}


def right_answers(results: Sequence[RuleResult]) -> dict[str, Json]:
    """Return how many trials had a right answer that is known, and how many were answered right."""
    trials = [verdict.verdict for one in results for _, verdict in one.trials if verdict.verdict != "unknown"]
    return {"asked": len(trials), "right": trials.count("pass")}


# Training: judged by the server at once, and by `clean` again

TRAINING, TRAINING_VERSION = "training", 1
OUTSIDE, TRAP, MISSING = "outside", "trap", "media_error"
"""Reasons: outside the tolerance, not what a trap asked for, not played."""
TRAINING_TITLE = "Training"
TRAINING_REASONS: Mapping[str, str] = {
    OUTSIDE: "an answer stayed outside its tolerance", TRAP: "a trapping example not answered as asked",
}  # fmt: skip


def judge_training(method: Method, trial: Trial, answer: Json) -> Verdict:
    """Return the verdict on the answer to an example; unknown where something that counts did not play.

    Expected answers and tolerances are kept as evidence, so that other tolerances can be tried.
    """
    scores = _expected_scores(method, trial, answer)
    outside = [
        where
        for where, target in trial.targets.items()
        if (value := scores.get(where)) is not None and abs(value - target.value) > target.tolerance + _NEAR
    ]
    missed = [where for where in trial.targets if scores.get(where) is None]
    is_broken = isinstance(answer, Mapping) and bool(answer.get("missing"))
    reason = ""
    if outside:
        reason = TRAP if any(trial.targets[where].is_trap for where in outside) else OUTSIDE
    elif missed or is_broken:
        reason = MISSING
    return Verdict(
        check=TRAINING,
        version=TRAINING_VERSION,
        verdict="fail" if outside else "unknown" if reason else "pass",
        reason=reason,
        measured=scores,
        needed={where: [target.value, target.tolerance] for where, target in trial.targets.items()},
        evidence={"outside": outside},
    )


def _expected_scores(method: Method, trial: Trial, answer: Json) -> dict[str, float | None]:
    """Return the scores that have an expected value, by question and slot."""
    ids = {asked.question: asked.id for asked in trial.asked}
    scores = {
        f"{ids[one.question]}.{one.slot}": one.raw_value
        for one in method.judgements(trial, answer)
        if one.kind == "score" and one.question in ids
    }
    return {where: scores.get(where) for where in trial.targets}
