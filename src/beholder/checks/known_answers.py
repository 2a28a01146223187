"""attention: a stimulus among others said to which number its slider is to be set (HEMVIP; reference: checks 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from beholder.checks.contract import MEDIA_ERROR, AnsweredTrial, TrialRule, Verdict, VerdictValue
from beholder.methods.contract import Method, Target, Trial
from beholder.study.checks import Attention, Gold, Trap, TrapItem
from beholder.types import Json, Role


class AttentionRule(TrialRule[Attention]):
    """Passes where the answer to every stimulus that asked for one is what it asked for."""

    name: ClassVar[str] = "attention"

    def judge_trial(self, seen: AnsweredTrial, before: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        targets = targets_of(seen, "attention", self.rule.tolerance)
        if not targets:
            return None
        say, reason, off = compare(seen, targets)
        return self.verdict(say, reason, measured=off or None, needed=target_evidence(targets))


# --- trap: a trial whose stimulus asks for a certain answer (P.910; reference: checks 7) ---


class TrapRule(TrialRule[Trap]):
    """Passes where every answer on such a page is what it asked for."""

    name: ClassVar[str] = "trap"

    def judge_trial(self, seen: AnsweredTrial, before: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        targets = targets_of(seen, "trap", self.rule.tolerance)
        if not targets:
            return None
        say, reason, off = compare(seen, targets)
        return self.verdict(say, reason, measured=off or None, needed=target_evidence(targets))


# --- gold: a trial whose right answer is known (reference: checks 7) ---


class GoldRule(TrialRule[Gold]):
    """Passes where every answer with a key is near enough to it."""

    name: ClassVar[str] = "gold"

    def judge_trial(self, seen: AnsweredTrial, before: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        if "gold" not in seen.trial.roles:
            return None
        targets = targets_of(seen, "gold", self.rule.within)
        if not targets:
            return None
        say, reason, off = compare(seen, targets)
        return self.verdict(say, reason, measured=off or None, needed=target_evidence(targets))


# --- trap_item: statements that are obviously true or false are answered so (reference: checks 7) ---


class TrapItemRule(TrialRule[TrapItem]):
    """Passes on the right side of the middle; the middle itself says nothing."""

    name: ClassVar[str] = "trap_item"

    def judge_trial(self, seen: AnsweredTrial, before: Sequence[AnsweredTrial] = ()) -> Verdict | None:
        asked = {asked.id: asked for asked in seen.trial.asked if asked.purpose == "trap"}
        wanted: dict[str, Json] = {}
        wrong: dict[str, Json] = {}
        right = neutral = 0
        for where, target in seen.trial.targets.items():
            item = asked.get(where.partition(".")[0])
            if item is None:
                continue
            wanted[where] = target.value
            value, middle = seen.values.get(where), (item.scale.min + item.scale.max) / 2
            if value is None:
                continue
            side = (value - middle) * (target.value - middle)
            right, neutral = right + (side > 0), neutral + (side == 0)
            if side < 0:
                wrong[where] = value
        if not wanted:
            return None
        if wrong:
            return self.verdict("fail", "wrong", measured=wrong, needed=wanted)
        if not right:
            return self.verdict("unknown", "neutral" if neutral else MEDIA_ERROR, needed=wanted)
        return self.verdict("pass", needed=wanted)

    def failures(self, verdict: Verdict) -> int:
        """Return how many statements of a trial were answered wrongly."""
        return len(verdict.measured) if isinstance(verdict.measured, dict) else 1


# --- Answers that are known beforehand: what a stimulus asks for, and what a gold stimulus is worth ---


_NEAR = 1e-9


def targets_of(seen: AnsweredTrial, role: Role, tolerance: float | None = None) -> dict[str, Target]:
    """Return the targets at slots of a role, by question and slot; not those of statements that are there to check.

    A tolerance that the study has by now counts in place of the one it was planned with.
    """
    if role not in seen.trial.roles:
        return {}
    slots = {slot.id for slot in seen.trial.slots if slot.role == role}
    places = {f"{asked.id}.{slot}" for asked in seen.trial.asked for slot in slots if asked.purpose == "ask"}
    found = {where: target for where, target in seen.trial.targets.items() if where in places}
    if tolerance is None:
        return found
    return {where: target._replace(tolerance=tolerance) for where, target in found.items()}


def compare(seen: AnsweredTrial, targets: Mapping[str, Target]) -> tuple[VerdictValue, str, dict[str, Json]]:
    """Return whether every answer is near its target, why not, and which were off.

    What would not play is unknown, also where it is only a part of it: nobody has to guess.
    """
    off: dict[str, Json] = {}
    is_missing = False
    for where, target in targets.items():
        value = seen.values.get(where)
        if value is None or where.partition(".")[2] in seen.missing:
            is_missing = True
        elif not any(abs(value - right) <= target.tolerance + _NEAR for right in (target.value, *target.also)):
            off[where] = value
    if is_missing:
        return "unknown", MEDIA_ERROR, {}
    return ("fail", "wrong", off) if off else ("pass", "", {})


def target_evidence(targets: Mapping[str, Target]) -> dict[str, Json]:
    """Return the targets as evidence."""
    return {where: [target.value, target.tolerance] for where, target in targets.items()}


# --- Training: whether an answer to an example is as expected. On the server at once, and in `clean` again ---


TRAINING, TRAINING_VERSION = "training", 1
OUTSIDE, TRAP, MISSING = "outside", "trap", "media_error"
"""Reasons: further from the expected answer than its tolerance, not what a trap asked for, not played."""


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
        check=TRAINING,
        version=TRAINING_VERSION,
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
