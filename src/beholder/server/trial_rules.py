"""The proctor: judges an answer to a trial by the rules that act at once, and says what has to be said."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, overload

from beholder.checks.contract import AnsweredTrial, TrialRule, Verdict, Watch
from beholder.checks.known_answers import TRAINING, judge_training
from beholder.checks.registry import immediate_rules
from beholder.methods.contract import Method, Trial
from beholder.server.attempts import failure_count, is_repeated, last_answer, rule_result, training_progress
from beholder.server.page_checks import OUR_FAULT, Words
from beholder.server.requests import SubmittedAnswer
from beholder.server.script import PlannedStep, Script, ServedStudy
from beholder.store.contract import SessionFacts, StoredVerdict
from beholder.study.checks import TrialRuleOptions
from beholder.types import Json

_TOLD = ("warn", "retry")
"""Actions that are told; the others are silent until the session ends."""
_log = logging.getLogger("beholder.server")


class RuleFeedback(NamedTuple):
    """What an answer made us note, and what the person reads before the next step; mostly nothing."""

    told: StoredVerdict | None
    feedback: str | None


class TrialRules:
    """Everything a server has to do with the rules of one study that act while somebody is rating.

    A bug of ours costs nobody anything: it is logged, the verdict is unknown, and the person goes on.
    """

    def __init__(self, served: ServedStudy, words: Words) -> None:
        self._served, self._words = served, words
        self._rules = immediate_rules(served.study)
        self._watched: dict[Watch, Sequence[TrialRule[Any]]] = {}

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
        """Return an answer judged: nothing where no rule says anything of it."""
        session = facts.session.session
        seen = self._seen(step, answer, playback, submission.shown_ms, submission.sent_ms)
        before = _EarlierTrials(lambda: self._earlier(facts, step, script))
        verdicts = self._verdicts(session, seen, before, script.playback.watch)
        if not verdicts:
            return RuleFeedback(None, None)
        attempt = step.attempt or 1
        rules = {one.check: script.rules[one.check] for one in verdicts}
        failed = [rules[one.check] for one in verdicts if one.verdict == "fail"]
        is_again = any(rule.action == "retry" and attempt <= rule.retries for rule in failed)
        counts = {one.check: self._counts(one) for one in verdicts}
        # A trial counts as it is answered last.
        total = {name: failure_count(facts.verdicts, name) + (0 if is_again else counts[name]) for name in rules}
        kept: dict[str, Json] = {
            "attempt": attempt,
            "checks": {
                one.check: _kept(one, rules[one.check], counts[one.check], total[one.check]) for one in verdicts
            },
        }
        if is_again:
            kept["again"] = True
        acting = min(verdicts, key=lambda one: _rank(one, rules[one.check], total[one.check]))
        told = StoredVerdict(session, step.key, acting.check, acting.verdict, acting.reason, kept, now)
        return RuleFeedback(told, self.said(script, told))

    def _counts(self, verdict: Verdict) -> int:
        """Return for how many failures a verdict counts."""
        rule = next(rule for rule in self._rules if rule.name == verdict.check)
        return rule.failures(verdict) if verdict.verdict == "fail" else 0

    def _verdicts(
        self, session: str, seen: AnsweredTrial, before: Sequence[AnsweredTrial], watch: Watch
    ) -> list[Verdict]:
        if watch not in self._watched:
            self._watched[watch] = immediate_rules(self._served.study, watch)
        found = []
        for rule in self._watched[watch]:
            try:
                verdict = rule.judge_trial(seen, before)
                if verdict is not None:  # what cannot be kept fails here, and not with the answer
                    json.dumps([verdict.measured, verdict.needed, dict(verdict.evidence)], allow_nan=False)
            except Exception as error:
                _log.error(
                    "%s at %s of session %s failed by a fault of ours", rule.name, seen.key, session, exc_info=error
                )
                verdict = rule.verdict("unknown", OUR_FAULT, error=f"{type(error).__name__}: {error}")
            if verdict is not None:
                found.append(verdict)
        return found

    def _seen(
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
        """Yield every trial before this one, as it was answered last."""
        for one in script.steps[: script.place(step.key)]:
            if one.is_rated and (given := last_answer(facts.answers, one.key)):
                yield self._seen(
                    replace(one, key=given.key), given.answer, given.playback, given.shown_ms, given.sent_ms
                )

    # Telling

    def said(self, script: Script, told: StoredVerdict) -> str | None:
        """Return what is read between an answer and the next step: nothing before the trial again, or the end."""
        if is_repeated(told) or any(_ends(script, told, name) for name in script.rules):
            return None
        return self.text(told) or None

    def text(self, told: StoredVerdict) -> str:
        """Return what is read about an answer: a line for each rule that was not kept and is told."""
        lines = []
        for rule in self._rules:
            found = rule_result(told, rule.name)
            if found.get("verdict") == "fail" and found.get("action") in _TOLD:
                own = self._words.get(rule.name, {})
                lines.append(own.get(f"told.{found.get('reason')}") or own.get("told", ""))
        return "\n".join(dict.fromkeys(line for line in lines if line))

    def public(self, step: PlannedStep, script: Script, told: Mapping[str, StoredVerdict]) -> dict[str, Json]:
        """Return what the page of a trial that comes again gets beyond what every trial gets."""
        before = told[step.place_key if step.attempt == 2 else f"{step.place_key}:{step.attempt - 1}"]
        rules = [rule for name, rule in script.rules.items() if rule_result(before, name).get("verdict") == "fail"]
        most = max((rule.retries for rule in rules if rule.action == "retry"), default=1)
        return {"told": {"text": self.text(before), "left": max(1, most + 2 - step.attempt)}}


class _EarlierTrials(Sequence[AnsweredTrial]):
    """The trials before one, made when a rule looks at them: most never do."""

    def __init__(self, make: Callable[[], Iterable[AnsweredTrial]]) -> None:
        self._make = make

    @cached_property
    def _seen(self) -> tuple[AnsweredTrial, ...]:
        return tuple(self._make())

    def __len__(self) -> int:
        return len(self._seen)

    @overload
    def __getitem__(self, place: int) -> AnsweredTrial: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[AnsweredTrial]: ...
    def __getitem__(self, place: int | slice) -> AnsweredTrial | Sequence[AnsweredTrial]:
        return self._seen[place]


def _kept(verdict: Verdict, rule: TrialRuleOptions, count: int, total: int) -> dict[str, Json]:
    """Return what is kept of a verdict on a trial: for how many failures it counts, and how many there are with it."""
    return {
        "version": verdict.version, "verdict": verdict.verdict, "reason": verdict.reason,
        "measured": verdict.measured, "needed": verdict.needed, "evidence": dict(verdict.evidence),
        "action": rule.action, "counts": count, "failures": total,
    }  # fmt: skip


def _rank(verdict: Verdict, rule: TrialRuleOptions, failed: int) -> int:
    """Return how far from acting a verdict is: what ends comes first, then what is told, then the silent ones."""
    if verdict.verdict != "fail":
        return 5 if verdict.verdict == "pass" else 6
    if rule.end_after is not None and failed >= rule.end_after:
        return 0
    return 1 + ("retry", "warn", "flag", "record").index(rule.action)


def _ends(script: Script, told: StoredVerdict, name: str) -> bool:
    """Return whether the session ended with this."""
    rule, found = script.rules[name], rule_result(told, name)
    failed = found.get("failures")
    is_failed = found.get("verdict") == "fail" and isinstance(failed, int)
    return is_failed and rule.end_after is not None and isinstance(failed, int) and failed >= rule.end_after


def _trial(step: PlannedStep) -> Trial:
    assert step.trial is not None, step.key
    return step.trial


# --- Training as a session meets it: an example, an answer, a word about it, and another try ---


class TrainingFeedback(NamedTuple):
    """What an answer made us say, and what the person reads before the next step."""

    told: StoredVerdict
    feedback: str | None


class TrainingTrials:
    """Everything a server has to do with the training of one study."""

    def __init__(self, method: Method, words: Mapping[str, str]) -> None:
        self._method, self._words = method, words

    def public(self, step: PlannedStep, script: Script, told: Mapping[str, StoredVerdict]) -> dict[str, Json]:
        """Return what the page of an example gets beyond what every trial gets."""
        trial = _trial(step)
        examples = [one.key for one in script.steps if one.is_training]
        place, total = examples.index(step.place_key) + 1, len(examples)
        at = training_progress(script, step, told)
        said: Json = None
        if at.last is not None and at.settled is None:
            said = {"text": self.text(trial, at.last), "left": script.lesson_attempts - at.used}
        return {"training": {"place": place, "total": total, "anchor": trial.anchor or None}, "told": said}

    def judge(
        self, facts: SessionFacts, step: PlannedStep, script: Script, answer: Json, now: datetime
    ) -> TrainingFeedback:
        """Return an answer judged, and what is read where no other try follows."""
        trial = _trial(step)
        verdict = judge_training(self._method, trial, answer)
        kept: dict[str, Json] = {
            "version": verdict.version, "attempt": step.attempt, "answer": answer, "given": verdict.measured,
            "expected": {where: target.value for where, target in trial.targets.items()},
            "tolerance": {where: target.tolerance for where, target in trial.targets.items()},
            **verdict.evidence,
        }  # fmt: skip
        one = StoredVerdict(facts.session.session, step.key, TRAINING, verdict.verdict, verdict.reason, kept, now)
        return TrainingFeedback(one, self.said(step, script, {**facts.verdicts, step.key: one}))

    def said(self, step: PlannedStep, script: Script, told: Mapping[str, StoredVerdict]) -> str | None:
        """Return what is read between this attempt and the next step: a word after the last one."""
        one, at = told[step.key], training_progress(script, step, told)
        is_last = at.last is one and at.settled is not None
        return self.text(_trial(step), one) if one.verdict == "fail" and is_last and script.is_corrected else None

    def text(self, trial: Trial, told: StoredVerdict) -> str:
        """Return what is read about an answer: a paragraph for each thing that was not as expected."""
        found = told.evidence if isinstance(told.evidence, Mapping) else {}
        outside = found.get("outside")
        labels = {slot.id: slot.label for slot in trial.slots if slot.rated}
        asked = {one.id: one.text for one in trial.asked}
        said: list[str] = []
        for where in outside if isinstance(outside, list | tuple) else ():
            target = trial.targets.get(str(where))
            if target is None:
                continue
            question, _, slot = str(where).partition(".")
            text, label = target.message, labels.get(slot)
            if not text:
                text = self._words["training_trap" if target.is_trap else "training_outside"]
                text = f"{asked[question]} {text}" if len(asked) > 1 else text
            said.append(f"{label}: {text}" if label and len(labels) > 1 else text)
        return "\n".join(dict.fromkeys(said))
