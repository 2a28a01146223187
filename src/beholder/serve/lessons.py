"""Training as a session meets it: an example, an answer, a word about it, and another try."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from beholder.checks.training import NAME, judge_training
from beholder.methods.contract import Method, Trial
from beholder.serve.attempts import lesson_progress
from beholder.serve.script import Planned, Script
from beholder.store.contract import SessionFacts, Told
from beholder.types import Json


class Lesson(NamedTuple):
    """What an answer made us say, and what the person reads before the next step."""

    told: Told
    feedback: str | None


class Lessons:
    """Everything a server has to do with the training of one study."""

    def __init__(self, method: Method, words: Mapping[str, str]) -> None:
        self._method, self._words = method, words

    def public(self, step: Planned, script: Script, told: Mapping[str, Told]) -> dict[str, Json]:
        """Return what the page of an example gets beyond what every trial gets."""
        trial = _trial(step)
        examples = [one.key for one in script.steps if one.is_training]
        place, total = examples.index(step.place_key) + 1, len(examples)
        at = lesson_progress(script, step, told)
        said: Json = None
        if at.last is not None and at.settled is None:
            said = {"text": self.text(trial, at.last), "left": script.lesson_attempts - at.used}
        return {"training": {"place": place, "total": total, "anchor": trial.anchor or None}, "told": said}

    def judge(self, facts: SessionFacts, step: Planned, script: Script, answer: Json, now: datetime) -> Lesson:
        """Return an answer judged, and what is read where no other try follows."""
        trial = _trial(step)
        verdict = judge_training(self._method, trial, answer)
        kept: dict[str, Json] = {
            "version": verdict.version, "attempt": step.attempt, "answer": answer, "given": verdict.measured,
            "expected": {where: target.value for where, target in trial.targets.items()},
            "tolerance": {where: target.tolerance for where, target in trial.targets.items()},
            **verdict.evidence,
        }  # fmt: skip
        one = Told(facts.session.session, step.key, NAME, verdict.verdict, verdict.reason, kept, now)
        return Lesson(one, self.said(step, script, {**facts.told, step.key: one}))

    def said(self, step: Planned, script: Script, told: Mapping[str, Told]) -> str | None:
        """Return what is read between this attempt and the next step: a word after the last one."""
        one, at = told[step.key], lesson_progress(script, step, told)
        is_last = at.last is one and at.settled is not None
        return self.text(_trial(step), one) if one.verdict == "fail" and is_last and script.is_corrected else None

    def text(self, trial: Trial, told: Told) -> str:
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


def _trial(step: Planned) -> Trial:
    assert step.trial is not None, step.key
    return step.trial
