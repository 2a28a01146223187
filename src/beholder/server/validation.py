"""Reading what a page sent: the answer as it is kept, the evidence beside it, and what it makes us say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from beholder.serve.evidence import read_page_answer, read_trial_answer
from beholder.serve.examiner import Examiner
from beholder.serve.flow import read_step_answer
from beholder.serve.lessons import Lessons
from beholder.serve.proctor import Proctor
from beholder.serve.public import page_playback
from beholder.serve.script import Planned, Script
from beholder.serve.served import Served
from beholder.serve.submission import Submission
from beholder.store.contract import SessionFacts, Told
from beholder.types import Json


@dataclass(frozen=True)
class Reading:
    """An answer as it is kept. `told`: the verdict of a check, training or a rule; `feedback`: what is read then."""

    answer: Json
    playback: Mapping[str, Json] = field(default_factory=dict)
    told: Told | None = None
    feedback: str | None = None


class Reader:
    """Reads the answers to every kind of step, or raises Refused."""

    def __init__(self, served: Served, examiner: Examiner, proctor: Proctor, words: Mapping[str, str]) -> None:
        self._served, self._examiner, self._words = served, examiner, words
        self.proctor = proctor
        self.lessons = Lessons(served.method, words)

    def read(
        self, facts: SessionFacts, step: Planned, script: Script | None, submission: Submission, now: datetime
    ) -> Reading:
        """Return an answer, read and judged."""
        if step.check is not None:
            assert script is not None, step.key
            judged = self._examiner.judge(facts, step, script, submission.answer, now)
            return Reading(judged.answer, told=judged.told, feedback=judged.feedback)
        answer, playback = self.given(step, script, submission, _elapsed_ms(facts, now))
        if step.is_training and script is not None:
            return Reading(answer, playback, *self.lessons.judge(facts, step, script, answer, now))
        if script is not None and script.rules and step.is_rated:
            noted = self.proctor.judge(facts, step, script, answer, playback, submission, now)
            return Reading(answer, playback, *noted)
        return Reading(answer, playback)

    def again(self, facts: SessionFacts, step: Planned, script: Script, submission: Submission) -> Json:
        """Return an answer that came again, read as the first was."""
        if step.check is not None:
            return self._examiner.read(facts, step, submission.answer)
        return self.given(step, script, submission, None)[0]

    def feedback(self, facts: SessionFacts, step: Planned, script: Script) -> str | None:
        """Return what was read after an answer that is stored."""
        if step.check is not None and step.key in facts.told:
            return self._examiner.said(step, script, facts.told)
        if step.is_training and step.key in facts.told:
            return self.lessons.said(step, script, facts.told)
        if step.is_rated and step.key in facts.told:
            return self.proctor.said(script, facts.told[step.key])
        return None

    def given(
        self, step: Planned, script: Script | None, submission: Submission, elapsed_ms: float | None
    ) -> tuple[Json, dict[str, Json]]:
        """Return what was answered to a step that is no check, and how its media played."""
        served = self._served
        if step.trial is None or script is None:
            return read_step_answer(step, submission.answer), {}
        if step.page is not None:
            playback = page_playback(script.playback, step.page)
            return read_page_answer(step.trial, served.catalogue, playback, submission, elapsed_ms, self._words)
        return read_trial_answer(
            served.method, step.trial, served.catalogue, script.playback, submission, elapsed_ms, self._words
        )


def _elapsed_ms(facts: SessionFacts, now: datetime) -> float | None:
    """Return how long this step can have been looked at by the server's clock; None where that is unknown.

    Robots and previews live in their own time, and a clock that was set back proves nothing.
    """
    last = max((answer.at for answer in facts.answers.values()), default=facts.session.at)
    if facts.session.mode in ("robot", "preview") or now < last:
        return None
    return (now - last).total_seconds() * 1000
