"""Rules over answers that are known beforehand: `attention`, `trap`, `gold`, `trap_item`, and training.

A target is what a stimulus asks for, or what a gold stimulus is worth (reference: checks 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from beholder.checks.contract import MEDIA_ERROR, AnsweredTrial, TrialRule, Verdict, VerdictValue
from beholder.methods.contract import Method, Target, Trial
from beholder.study.checks import Attention, Gold, Trap, TrapItem
from beholder.types import Json, Role


class AttentionRule(TrialRule[Attention]):
    """attention: every slider is set to the number that its stimulus asks for (HEMVIP)."""

    name: ClassVar[str] = "attention"

    def judge_trial(self, answered: AnsweredTrial, earlier: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        targets = targets_of(answered, "attention", self.rule.tolerance)
        if not targets:
            return None
        say, reason, off = compare(answered, targets)
        return self.verdict(say, reason, measured=off or None, needed=target_evidence(targets))


class TrapRule(TrialRule[Trap]):
    """trap: every answer to a trapping clip is the one that it asks for (P.910)."""

    name: ClassVar[str] = "trap"

    def judge_trial(self, answered: AnsweredTrial, earlier: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        targets = targets_of(answered, "trap", self.rule.tolerance)
        if not targets:
            return None
        say, reason, off = compare(answered, targets)
        return self.verdict(say, reason, measured=off or None, needed=target_evidence(targets))


class GoldRule(TrialRule[Gold]):
    """gold: every answer to a gold stimulus is near enough to the right one."""

    name: ClassVar[str] = "gold"

    def judge_trial(self, answered: AnsweredTrial, earlier: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        if "gold" not in answered.trial.roles:
            return None
        targets = targets_of(answered, "gold", self.rule.within)
        if not targets:
            return None
        say, reason, off = compare(answered, targets)
        return self.verdict(say, reason, measured=off or None, needed=target_evidence(targets))


class TrapItemRule(TrialRule[TrapItem]):
    """trap_item: obvious statements are answered on the right side of the middle; the middle itself is unknown."""

    name: ClassVar[str] = "trap_item"

    def judge_trial(self, answered: AnsweredTrial, earlier: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        asked = {asked.id: asked for asked in answered.trial.asked if asked.purpose == "trap"}
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
