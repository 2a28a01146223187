"""Rules that judge every answer to a trial at once, and the training trials, with their feedback."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple, overload

from beholder.checks.contract import AnsweredTrial, TrialRule, Verdict, Watch
from beholder.checks.known_answers import TRAINING, judge_training
from beholder.checks.registry import immediate_rules
from beholder.methods.contract import Method, Trial
from beholder.server.attempts import failure_count, is_repeated, last_answer, rule_result, training_progress
from beholder.server.page_checks import OUR_FAULT, Words
from beholder.server.requests import SubmittedAnswer
from beholder.server.script import PlannedStep, Script, ServedStudy
from beholder.store.contract import SessionFacts, StoredVerdict
from beholder.study.markdown import marked
from beholder.types import Json

_WITH_FEEDBACK = ("warn", "retry")
"""Actions with feedback; the others are silent until the session ends."""
_log = logging.getLogger("beholder.server")


class RuleFeedback(NamedTuple):
    """The verdict on an answer to store, and the feedback before the next step; mostly neither."""

    verdict: StoredVerdict | None
    feedback: Json


class TrialRules:
    """Judges answers by the rules of one study that act during the session.

    A bug of ours costs no participant anything: it is logged, the verdict is unknown, and the session goes on.
    """

    def __init__(self, served: ServedStudy, words: Words, training_words: Mapping[str, str]) -> None:
        self._served, self._words = served, words
        self.training = TrainingTrials(served.method, training_words)
        self._rules = immediate_rules(served.study)
        self._watched: dict[Watch, Sequence[TrialRule]] = {}

    # Judging

    def judge(
        self,
        facts: SessionFacts,
        step: PlannedStep,
        script: Script,
        answer: Json,
        playback: Mapping[str, Json],
        submission: SubmittedAnswer,
        now: datetime,
    ) -> RuleFeedback:
        """Return the verdict on an answer and the feedback; neither where no rule applies."""
        session = facts.session.session
        answered = self._answered_trial(step, answer, playback, submission.shown_ms, submission.sent_ms)
        earlier = _EarlierTrials(lambda: self._earlier(facts, step, script))
        verdicts = self._verdicts(session, answered, earlier, script.playback.watch)
        if not verdicts:
            return RuleFeedback(None, None)
        attempt = step.attempt or 1
        rules = {one.check: script.rules[one.check] for one in verdicts}
        failed = [rules[one.check] for one in verdicts if one.verdict == "fail"]
        is_later = any(rule.action == "retry" and attempt <= rule.retries for rule in failed)
        counts = {one.check: self._counts(one) for one in verdicts}
        # Only the last attempt at a trial counts.
        total = {name: failure_count(facts.verdicts, name) + (0 if is_later else counts[name]) for name in rules}
        kept: dict[str, Json] = {
            "attempt": attempt,
            "checks": {
                one.check: _rule_evidence(one, rules[one.check], counts[one.check], total[one.check])
                for one in verdicts
            },
        }
        if is_later:
            kept["again"] = True
        acting = min(verdicts, key=lambda one: _rank(one, rules[one.check], total[one.check]))
        stored = StoredVerdict(session, step.key, acting.check, acting.verdict, acting.reason, kept, now)
        return RuleFeedback(stored, self.feedback(script, stored))

    def _counts(self, verdict: Verdict) -> int:
        """Return how many failures a verdict counts for."""
        rule = next(rule for rule in self._rules if rule.name == verdict.check)
        return rule.failures(verdict) if verdict.verdict == "fail" else 0

    def _verdicts(
        self, session: str, answered: AnsweredTrial, earlier: Sequence[AnsweredTrial], watch: Watch
    ) -> list[Verdict]:
        if watch not in self._watched:
            self._watched[watch] = immediate_rules(self._served.study, watch)
        verdicts = []
        for rule in self._watched[watch]:
            try:
                verdict = rule.judge_trial(answered, earlier)
                if verdict is not None:  # evidence that is not JSON fails here, not when the answer is stored
                    json.dumps([verdict.measured, verdict.needed, dict(verdict.evidence)], allow_nan=False)
            except Exception as error:
                _log.error(
                    "%s at %s of session %s failed by a fault of ours", rule.name, answered.key, session, exc_info=error
                )
                verdict = rule.verdict("unknown", OUR_FAULT, error=f"{type(error).__name__}: {error}")
            if verdict is not None:
                verdicts.append(verdict)
        return verdicts

    def _answered_trial(
        self, step: PlannedStep, answer: Json, playback: Mapping[str, Json], shown_ms: float, sent_ms: float
    ) -> AnsweredTrial:
        trial, stimuli = _trial(step), self._served.catalogue.by_id
        return AnsweredTrial(
            key=step.key,
            trial=trial,
            answer=answer,
            judgements=self._served.method.judgements(trial, answer),
            playback={name: one for name, one in playback.items() if isinstance(one, Mapping)},
            lengths_ms={slot.id: stimuli[slot.stimulus].probe.duration_ms for slot in trial.slots},
            shown_ms=shown_ms,
            sent_ms=sent_ms,
            stills=frozenset(slot.id for slot in trial.slots if stimuli[slot.stimulus].medium in ("image", "text")),
        )

    def _earlier(self, facts: SessionFacts, step: PlannedStep, script: Script) -> Iterator[AnsweredTrial]:
        """Yield every trial before this one, with its last answer."""
        for one in script.steps[: script.place(step.key)]:
            if one.is_rated and (given := last_answer(facts.answers, one.key)):
                yield self._answered_trial(
                    replace(one, key=given.key), given.answer, given.playback, given.shown_ms, given.sent_ms
                )

    # Feedback

    def feedback(self, script: Script, stored: StoredVerdict) -> str | None:
        """Return the feedback between an answer and the next step; none before a repeat or the end."""
        if is_repeated(stored) or any(_endings(script, stored, name) for name in script.rules):
            return None
        return self.text(stored) or None

    def text(self, stored: StoredVerdict) -> str:
        """Return the text on an answer: a line for each failed rule with feedback."""
        lines = []
        for rule in self._rules:
            result = rule_result(stored, rule.name)
            if result.get("verdict") == "fail" and result.get("action") in _WITH_FEEDBACK:
                texts = self._words.get(rule.name, {})
                lines.append(texts.get(f"told.{result.get('reason')}") or texts.get("told", ""))
        return "\n".join(dict.fromkeys(line for line in lines if line))

    def public(self, step: PlannedStep, script: Script, verdicts: Mapping[str, StoredVerdict]) -> dict[str, Json]:
        """Return the fields of the page of a repeated trial, in addition to those of every trial."""
        earlier = verdicts[step.base_key if step.attempt == 2 else f"{step.base_key}:{step.attempt - 1}"]
        rules = [rule for name, rule in script.rules.items() if rule_result(earlier, name).get("verdict") == "fail"]
        most = max((rule.retries for rule in rules if rule.action == "retry"), default=1)
        return {"told": {"text": self.text(earlier), "left": max(1, most + 2 - step.attempt)}}


class _EarlierTrials(Sequence[AnsweredTrial]):
    """The trials before one, built only when a rule reads them: most never do."""

    def __init__(self, make: Callable[[], Iterable[AnsweredTrial]]) -> None:
        self._make = make

    @cached_property
    def _answered_trial(self) -> tuple[AnsweredTrial, ...]:
        return tuple(self._make())

    def __len__(self) -> int:
        return len(self._answered_trial)

    @overload
    def __getitem__(self, place: int) -> AnsweredTrial: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[AnsweredTrial]: ...
    def __getitem__(self, place: int | slice) -> AnsweredTrial | Sequence[AnsweredTrial]:
        return self._answered_trial[place]


def _rule_evidence(verdict: Verdict, rule: TrialRule.Options, count: int, total: int) -> dict[str, Json]:
    """Return the stored evidence of a verdict: how many failures it counts for, and how many there are with it."""
    return {
        "version": verdict.version, "verdict": verdict.verdict, "reason": verdict.reason,
        "measured": verdict.measured, "needed": verdict.needed, "evidence": dict(verdict.evidence),
        "action": rule.action, "counts": count, "failures": total,
    }  # fmt: skip


def _rank(verdict: Verdict, rule: TrialRule.Options, failed: int) -> int:
    """Return the rank of a verdict: first those that end the session, then those with feedback, then silent ones."""
    if verdict.verdict != "fail":
        return 5 if verdict.verdict == "pass" else 6
    if rule.end_after is not None and failed >= rule.end_after:
        return 0
    return 1 + ("retry", "warn", "flag", "record").index(rule.action)


def _endings(script: Script, stored: StoredVerdict, name: str) -> bool:
    """Return whether this verdict ended the session by a rule."""
    rule, result = script.rules[name], rule_result(stored, name)
    failed = result.get("failures")
    is_failed = result.get("verdict") == "fail" and isinstance(failed, int)
    return is_failed and rule.end_after is not None and isinstance(failed, int) and failed >= rule.end_after


def _trial(step: PlannedStep) -> Trial:
    assert step.trial is not None, step.key
    return step.trial


# Training


class TrainingFeedback(NamedTuple):
    """The verdict on an answer to store, and the feedback before the next step."""

    verdict: StoredVerdict
    feedback: Json


class TrainingTrials:
    """Judges the training trials of one study."""

    def __init__(self, method: Method, words: Mapping[str, str]) -> None:
        self._method, self._words = method, words

    def public(self, step: PlannedStep, script: Script, verdicts: Mapping[str, StoredVerdict]) -> dict[str, Json]:
        """Return the fields of the page of an example, in addition to those of every trial."""
        trial = _trial(step)
        examples = [one.key for one in script.steps if one.is_training]
        place, total = examples.index(step.base_key) + 1, len(examples)
        at = training_progress(script, step, verdicts)
        feedback: Json = None
        if at.last is not None and at.settled is None:
            feedback = {"text": marked(self.text(trial, at.last)), "left": script.training_attempts - at.used}
        return {"training": {"place": place, "total": total, "anchor": marked(trial.anchor) or None}, "told": feedback}

    def judge(
        self, facts: SessionFacts, step: PlannedStep, script: Script, answer: Json, now: datetime
    ) -> TrainingFeedback:
        """Return the verdict on an answer, and the feedback where no other attempt follows."""
        trial = _trial(step)
        verdict = judge_training(self._method, trial, answer)
        kept: dict[str, Json] = {
            "version": verdict.version, "attempt": step.attempt, "answer": answer, "given": verdict.measured,
            "expected": {where: target.value for where, target in trial.targets.items()},
            "tolerance": {where: target.tolerance for where, target in trial.targets.items()},
            **verdict.evidence,
        }  # fmt: skip
        one = StoredVerdict(facts.session.session, step.key, TRAINING, verdict.verdict, verdict.reason, kept, now)
        return TrainingFeedback(one, self.feedback(step, script, {**facts.verdicts, step.key: one}))

    def feedback(self, step: PlannedStep, script: Script, verdicts: Mapping[str, StoredVerdict]) -> Json:
        """Return the feedback between this attempt and the next step: words after the last attempt only."""
        one, at = verdicts[step.key], training_progress(script, step, verdicts)
        is_last = at.last is one and at.settled is not None
        return (
            marked(self.text(_trial(step), one)) if one.verdict == "fail" and is_last and script.has_feedback else None
        )

    def text(self, trial: Trial, stored: StoredVerdict) -> str:
        """Return the text on an answer, with its marks: a line for each score or choice outside of its target."""
        evidence = stored.evidence if isinstance(stored.evidence, Mapping) else {}
        outside = evidence.get("outside")
        labels = {slot.id: slot.label for slot in trial.slots if slot.rated}
        questions = {one.id: one.text for one in trial.asked}
        lines: list[str] = []
        for where in outside if isinstance(outside, list | tuple) else ():
            target = trial.targets.get(str(where))
            if target is None:
                continue
            question, _, slot = str(where).partition(".")
            text, label = target.message, labels.get(slot)
            if not text:
                text = self._words["training_trap" if target.is_trap else "training_outside"]
                text = f"{questions[question]} {text}" if len(questions) > 1 else text
            lines.append(f"{label}: {text}" if label and len(labels) > 1 else text)
        return "\n".join(dict.fromkeys(lines))
