"""Validating an answer: as it is stored, with the playback evidence, the verdict on it and the feedback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from beholder.errors import Refused
from beholder.methods.contract import Method, Trial
from beholder.server.flow import read_step_answer
from beholder.server.page_checks import PageChecks
from beholder.server.playback import evidence_to_json, is_watched, playback_evidence
from beholder.server.public_steps import page_playback
from beholder.server.requests import SubmittedAnswer
from beholder.server.script import PlannedStep, Script, ServedStudy
from beholder.server.trial_rules import TrainingTrials, TrialRules
from beholder.stimuli.catalogue import Catalogue
from beholder.store.contract import SessionFacts, StoredVerdict
from beholder.study.model import Playback
from beholder.types import Json


@dataclass(frozen=True)
class StepReading:
    """An answer as it is stored, with the verdict of a check, training or rule, and the feedback on it."""

    answer: Json
    playback: Mapping[str, Json] = field(default_factory=dict)
    verdict: StoredVerdict | None = None
    feedback: str | None = None


class AnswerReader:
    """Reads the answers to every kind of step, or raises Refused."""

    def __init__(
        self, served: ServedStudy, page_checks: PageChecks, trial_rules: TrialRules, words: Mapping[str, str]
    ) -> None:
        self._served, self._page_checks, self._words = served, page_checks, words
        self.trial_rules = trial_rules
        self.training = TrainingTrials(served.method, words)

    def read(
        self, facts: SessionFacts, step: PlannedStep, script: Script | None, submission: SubmittedAnswer, now: datetime
    ) -> StepReading:
        """Return an answer, validated and judged."""
        if step.check is not None:
            assert script is not None, step.key
            judged = self._page_checks.judge(facts, step, script, submission.answer, now)
            return StepReading(judged.answer, verdict=judged.verdict, feedback=judged.feedback)
        answer, playback = self.read_answer(step, script, submission, _elapsed_ms(facts, now))
        if step.is_training and script is not None:
            return StepReading(answer, playback, *self.training.judge(facts, step, script, answer, now))
        if script is not None and script.rules and step.is_rated:
            noted = self.trial_rules.judge(facts, step, script, answer, playback, submission, now)
            return StepReading(answer, playback, *noted)
        return StepReading(answer, playback)

    def read_repeated(
        self, facts: SessionFacts, step: PlannedStep, script: Script, submission: SubmittedAnswer
    ) -> Json:
        """Return an answer that was sent again, validated as the first time."""
        if step.check is not None:
            return self._page_checks.read(facts, step, submission.answer)
        return self.read_answer(step, script, submission, None)[0]

    def feedback(self, facts: SessionFacts, step: PlannedStep, script: Script) -> str | None:
        """Return the feedback that was shown after a stored answer."""
        if step.check is not None and step.key in facts.verdicts:
            return self._page_checks.feedback_after(step, script, facts.verdicts)
        if step.is_training and step.key in facts.verdicts:
            return self.training.feedback(step, script, facts.verdicts)
        if step.is_rated and step.key in facts.verdicts:
            return self.trial_rules.feedback(script, facts.verdicts[step.key])
        return None

    def read_answer(
        self, step: PlannedStep, script: Script | None, submission: SubmittedAnswer, elapsed_ms: float | None
    ) -> tuple[Json, dict[str, Json]]:
        """Return the answer to a step other than a check, and the playback evidence."""
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
    """Return the time since the last answer by the server's clock; None where that is unknown.

    Robots and previews run on another clock, and a clock that was set back proves nothing.
    """
    last = max((answer.at for answer in facts.answers.values()), default=facts.session.at)
    if facts.session.mode in ("robot", "preview") or now < last:
        return None
    return (now - last).total_seconds() * 1000


# Answers to trials need evidence that the stimuli were watched

_CLOCK_SLACK, _CLOCK_SLACK_MS = 0.05, 250
"""Tolerance between the watched time and the server's clock."""


def read_trial_answer(
    method: Method,
    trial: Trial,
    catalogue: Catalogue,
    playback: Playback,
    submission: SubmittedAnswer,
    elapsed_ms: float | None,
    words: Mapping[str, str],
) -> tuple[Json, dict[str, Json]]:
    """Return the normalised answer and the playback evidence, or raise Refused.

    `elapsed_ms` is how long the step can have been open by the server's clock; None trusts the log.
    """
    answer = method.read(trial, submission.answer)
    missing = answer.get("missing", {}) if isinstance(answer, Mapping) else {}
    assert isinstance(missing, Mapping)
    if missing and not playback.skip:
        raise Refused(words["cannot_skip"], where="answer.missing", allowed="an answer", code="cannot_skip")
    is_rated = not missing or any(one.value is not None for one in method.judgements(trial, answer))
    # Where one of two will not play there is nothing to compare, so the other need not be watched.
    rule = playback.watch if is_rated else "none"
    return answer, _playback_evidence(trial, catalogue, rule, missing, submission, elapsed_ms, words)


def read_page_answer(
    trial: Trial,
    catalogue: Catalogue,
    playback: Playback,
    submission: SubmittedAnswer,
    elapsed_ms: float | None,
    words: Mapping[str, str],
) -> tuple[Json, dict[str, Json]]:
    """Return the answer to a page with examples, which only lists media that failed, and the playback evidence."""
    answer = submission.answer
    missing = answer.get("missing", {}) if isinstance(answer, Mapping) else None
    slots = [slot.id for slot in trial.slots]
    if not isinstance(answer, Mapping) or set(answer) - {"missing"} or not isinstance(missing, Mapping):
        raise Refused("This page takes no answer", where="answer", allowed="{}, or what would not play")
    if any(slot not in slots or why != "media_error" for slot, why in missing.items()):
        raise Refused("Something is missing that was not shown", where="answer.missing", allowed=", ".join(slots))
    read: Json = {"missing": dict(missing)} if missing else {}
    return read, _playback_evidence(trial, catalogue, playback.watch, missing, submission, elapsed_ms, words)


def _playback_evidence(
    trial: Trial,
    catalogue: Catalogue,
    rule: Literal["whole", "start", "none"],
    missing: Mapping[str, Json],
    submission: SubmittedAnswer,
    elapsed_ms: float | None,
    words: Mapping[str, str],
) -> dict[str, Json]:
    """Return the playback evidence if every slot was watched as the rule says or failed to play, else raise Refused."""
    lengths = {slot.id: catalogue.by_id[slot.stimulus].probe.duration_ms for slot in trial.slots}
    evidence = playback_evidence(submission.events, lengths, together=trial.together)
    for slot, watched in evidence.slots.items():
        if slot in missing:
            if watched.errors == 0:
                raise Refused(words["not_missing"], where=f"answer.missing.{slot}", code="not_missing")
        elif not is_watched(watched, lengths[slot], rule):
            raise Refused(words["not_watched"], where=slot, allowed=f"watch: {rule}", code="not_watched")
    times = [watched.watched_ms for watched in evidence.slots.values()]
    watched_ms = max(times, default=0) if trial.together else sum(times)
    if elapsed_ms is not None and watched_ms * (1 - _CLOCK_SLACK) - _CLOCK_SLACK_MS > elapsed_ms:
        raise Refused(
            words["not_watched"], where="events", allowed="no more than the time that passed", code="not_watched"
        )
    return evidence_to_json(evidence)
