"""The proctor: judges an answer to a trial by the rules that act at once, and says what has to be said."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, overload

from beholder.checks.rules import at_once
from beholder.checks.trust import Seen, TrialCheck
from beholder.checks.verdict import Verdict, Watch
from beholder.methods.contract import Trial
from beholder.serve.attempts import comes_again, failed_times, last_answer, ruled
from beholder.serve.examiner import OUR_FAULT, Words
from beholder.serve.script import Planned, Script
from beholder.serve.served import Served
from beholder.serve.submission import Submission
from beholder.store.contract import SessionFacts, Told
from beholder.study.checks import TrialRule
from beholder.types import Json

_TOLD = ("warn", "retry")
"""Actions that are told; the others are silent until the session ends."""
_log = logging.getLogger("beholder.serve")


class Noted(NamedTuple):
    """What an answer made us note, and what the person reads before the next step; mostly nothing."""

    told: Told | None
    feedback: str | None


class Proctor:
    """Everything a server has to do with the rules of one study that act while somebody is rating.

    A bug of ours costs nobody anything: it is logged, the verdict is unknown, and the person goes on.
    """

    def __init__(self, served: Served, words: Words) -> None:
        self._served, self._words = served, words
        self._rules = at_once(served.study)
        self._watched: dict[Watch, Sequence[TrialCheck[Any]]] = {}

    # Judging

    def judge(
        self,
        facts: SessionFacts,
        step: Planned,
        script: Script,
        answer: Json,
        playback: Mapping[str, Json],
        submission: Submission,
        now: datetime,
    ) -> Noted:
        """Return an answer judged: nothing where no rule says anything of it."""
        session = facts.session.session
        seen = self._seen(step, answer, playback, submission.shown_ms, submission.sent_ms)
        before = _Before(lambda: self._earlier(facts, step, script))
        verdicts = self._verdicts(session, seen, before, script.playback.watch)
        if not verdicts:
            return Noted(None, None)
        attempt = step.attempt or 1
        rules = {one.check: script.rules[one.check] for one in verdicts}
        failed = [rules[one.check] for one in verdicts if one.verdict == "fail"]
        is_again = any(rule.action == "retry" and attempt <= rule.retries for rule in failed)
        counts = {one.check: self._counts(one) for one in verdicts}
        # A trial counts as it is answered last.
        total = {name: failed_times(facts.told, name) + (0 if is_again else counts[name]) for name in rules}
        kept: dict[str, Json] = {
            "attempt": attempt,
            "checks": {
                one.check: _kept(one, rules[one.check], counts[one.check], total[one.check]) for one in verdicts
            },
        }
        if is_again:
            kept["again"] = True
        acting = min(verdicts, key=lambda one: _rank(one, rules[one.check], total[one.check]))
        told = Told(session, step.key, acting.check, acting.verdict, acting.reason, kept, now)
        return Noted(told, self.said(script, told))

    def _counts(self, verdict: Verdict) -> int:
        """Return for how many failures a verdict counts."""
        rule = next(rule for rule in self._rules if rule.name == verdict.check)
        return rule.failures(verdict) if verdict.verdict == "fail" else 0

    def _verdicts(self, session: str, seen: Seen, before: Sequence[Seen], watch: Watch) -> list[Verdict]:
        if watch not in self._watched:
            self._watched[watch] = at_once(self._served.study, watch)
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

    def _seen(self, step: Planned, answer: Json, playback: Mapping[str, Json], shown_ms: float, sent_ms: float) -> Seen:
        trial, stimuli = _trial(step), self._served.catalogue.by_id
        return Seen(
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

    def _earlier(self, facts: SessionFacts, step: Planned, script: Script) -> Iterator[Seen]:
        """Yield every trial before this one, as it was answered last."""
        for one in script.steps[: script.place(step.key)]:
            if one.is_rated and (given := last_answer(facts.answers, one.key)):
                yield self._seen(
                    replace(one, key=given.key), given.answer, given.playback, given.shown_ms, given.sent_ms
                )

    # Telling

    def said(self, script: Script, told: Told) -> str | None:
        """Return what is read between an answer and the next step: nothing before the trial again, or the end."""
        if comes_again(told) or any(_ends(script, told, name) for name in script.rules):
            return None
        return self.text(told) or None

    def text(self, told: Told) -> str:
        """Return what is read about an answer: a line for each rule that was not kept and is told."""
        lines = []
        for rule in self._rules:
            found = ruled(told, rule.name)
            if found.get("verdict") == "fail" and found.get("action") in _TOLD:
                own = self._words.get(rule.name, {})
                lines.append(own.get(f"told.{found.get('reason')}") or own.get("told", ""))
        return "\n".join(dict.fromkeys(line for line in lines if line))

    def public(self, step: Planned, script: Script, told: Mapping[str, Told]) -> dict[str, Json]:
        """Return what the page of a trial that comes again gets beyond what every trial gets."""
        before = told[step.place_key if step.attempt == 2 else f"{step.place_key}:{step.attempt - 1}"]
        rules = [rule for name, rule in script.rules.items() if ruled(before, name).get("verdict") == "fail"]
        most = max((rule.retries for rule in rules if rule.action == "retry"), default=1)
        return {"told": {"text": self.text(before), "left": max(1, most + 2 - step.attempt)}}


class _Before(Sequence[Seen]):
    """The trials before one, made when a rule looks at them: most never do."""

    def __init__(self, make: Callable[[], Iterable[Seen]]) -> None:
        self._make = make

    @cached_property
    def _seen(self) -> tuple[Seen, ...]:
        return tuple(self._make())

    def __len__(self) -> int:
        return len(self._seen)

    @overload
    def __getitem__(self, place: int) -> Seen: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Seen]: ...
    def __getitem__(self, place: int | slice) -> Seen | Sequence[Seen]:
        return self._seen[place]


def _kept(verdict: Verdict, rule: TrialRule, count: int, total: int) -> dict[str, Json]:
    """Return what is kept of a verdict on a trial: for how many failures it counts, and how many there are with it."""
    return {
        "version": verdict.version, "verdict": verdict.verdict, "reason": verdict.reason,
        "measured": verdict.measured, "needed": verdict.needed, "evidence": dict(verdict.evidence),
        "action": rule.action, "counts": count, "failures": total,
    }  # fmt: skip


def _rank(verdict: Verdict, rule: TrialRule, failed: int) -> int:
    """Return how far from acting a verdict is: what ends comes first, then what is told, then the silent ones."""
    if verdict.verdict != "fail":
        return 5 if verdict.verdict == "pass" else 6
    if rule.end_after is not None and failed >= rule.end_after:
        return 0
    return 1 + ("retry", "warn", "flag", "record").index(rule.action)


def _ends(script: Script, told: Told, name: str) -> bool:
    """Return whether the session ended with this."""
    rule, found = script.rules[name], ruled(told, name)
    failed = found.get("failures")
    is_failed = found.get("verdict") == "fail" and isinstance(failed, int)
    return is_failed and rule.end_after is not None and isinstance(failed, int) and failed >= rule.end_after


def _trial(step: Planned) -> Trial:
    assert step.trial is not None, step.key
    return step.trial
