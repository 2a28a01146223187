"""The next step of a session: a pure function of its script, answers and verdicts; and answers to plain steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Literal, cast, get_args

from beholder.errors import Refused
from beholder.server.attempts import (
    action_of,
    attempt_progress,
    device_changed_at,
    due_training,
    failure_count,
    failures,
    is_valid,
    last_answer,
    passed_at,
    repeated_trial,
    rule_result,
)
from beholder.server.script import CONSENT, FIRST_TRIAL, PlannedStep, Script
from beholder.store.contract import SessionFacts, StoredVerdict
from beholder.study.earlier_answers import read_comparison, written_parts
from beholder.study.questionnaire import Ask
from beholder.types import Json, Outcome

LanguageFound = Literal["link", "filter", "browser", "first", "choice"]
"""By what the language of a session was found; `first`: by nothing, so it is the first one of the study."""
_ENOUGH_SLOTS = 4
"""Slots that must be shown before a device counts as unable to play them."""
_ENOUGH_TRIALS = 2
"""Trials that must be answered before unanswered ones count: one broken reference costs one trial."""


@dataclass(frozen=True)
class Ending:
    """The session is over."""

    outcome: Outcome
    reason: str = ""


_NO_VERDICTS: Mapping[str, StoredVerdict] = MappingProxyType({})


def next_step(
    script: Script | None,
    answers: Mapping[str, Json],
    verdicts: Mapping[str, StoredVerdict] = _NO_VERDICTS,
    now: datetime | None = None,
) -> PlannedStep | Ending:
    """Return the first step without an answer, or the ending. Without a script no list is claimed yet.

    Passed checks expire before the first trial and at a break, never between two trials.
    """
    consent = answers.get(CONSENT.key)
    if isinstance(consent, Mapping) and consent.get("agree") is False:
        return Ending("no_consent")
    if script is None or consent is None:
        return CONSENT
    if _is_unplayable(script, answers):
        return Ending("technical", "media_error")
    if script.rules and (failed := _failed(script, verdicts)):
        return Ending("failed_checks", failed)
    is_rating = FIRST_TRIAL in answers
    for place, step in enumerate(script.steps):
        if step.check is not None or step.is_training:
            due = None if is_rating else _due(script, step, verdicts, now)
            if due is not None:
                return due
            continue
        if step.key not in answers:
            shown = as_asked(script, step, answers)
            if shown is None:
                continue
            return shown
        if step.items and (wrong := _wrong_item(step, answers[step.key])):
            return Ending("screened_out", f"{step.key}.{wrong}")
        if script.rules and step.is_rated and (again := repeated_trial(step, answers, verdicts)):
            return again
        is_fresh = step.kind == "break" and script.has_attempts and script.steps[place + 1].key not in answers
        due = _due_again(script, verdicts, now) if is_fresh else None
        if due is not None:
            return due
    return Ending("completed")


def as_asked(script: Script, step: PlannedStep, answers: Mapping[str, Json]) -> PlannedStep | None:
    """Return a step with the items that earlier answers let it ask; None where they leave nothing to ask.

    Which items answers on the same page let it ask is seen there, and again when they are read.
    """
    if not any(item.when for item in step.items):
        return step
    asks, given = _earlier_answers(script, step, answers)
    planned = {item.id for item in step.items}
    here: list[Ask] = []

    def holds(text: str) -> bool:
        parts = written_parts(text)
        if parts is not None and parts[0] in planned:
            return any(item.id == parts[0] for item in here)
        comparison = read_comparison(text, asks)
        return comparison is not None and comparison.holds(given.get(comparison.question))

    for item in step.items:
        if all(map(holds, item.when)):
            here.append(item)
    return step.with_items(here) if here else None


def _earlier_answers(
    script: Script, step: PlannedStep, answers: Mapping[str, Json]
) -> tuple[dict[str, Ask], dict[str, Json]]:
    """Return the items of the pages before a step, and the last answer to each."""
    asks: dict[str, Ask] = {}
    given: dict[str, Json] = {}
    for earlier in script.steps[: script.place(step.key)]:
        answer = answers.get(earlier.key)
        if earlier.items and isinstance(answer, Mapping) and isinstance(answer.get("answers"), Mapping):
            asks |= {item.id: item for item in earlier.items}
            given |= cast("Mapping[str, Json]", answer["answers"])
    return asks, given


def answers_of(facts: SessionFacts) -> dict[str, Json]:
    """Return the answers by step."""
    return {key: answer.answer for key, answer in facts.answers.items()}


def _due(
    script: Script, step: PlannedStep, verdicts: Mapping[str, StoredVerdict], now: datetime | None
) -> PlannedStep | Ending | None:
    """Return the attempt that is due at a check or the training, or the ending it led to; None when done."""
    if step.check is None:
        return due_training(script, verdicts, now)
    rule = step.check.options
    at = attempt_progress(step, verdicts, rule.attempts, step.check.action)
    if at.settled is None:
        return step.as_attempt(at.tries + 1)
    if at.settled.verdict == "fail" and action_of(at.settled, step.check.action) == "gate":
        return Ending(step.check.outcome, f"{step.check.name}:{at.settled.reason}")
    changed = device_changed_at(verdicts) if step.check.scope == "device" else None
    if is_valid(at.settled, rule.lasts, now) and (changed is None or passed_at(at.settled) >= changed):
        return None
    return step.as_attempt(at.tries + 1)


def _due_again(
    script: Script, verdicts: Mapping[str, StoredVerdict], now: datetime | None
) -> PlannedStep | Ending | None:
    """Return what has expired at a break: setup checks and training, and on another device all device checks."""
    has_changed = device_changed_at(verdicts) is not None
    for step in script.steps:
        check = step.check
        if check is not None and (check.stage == "setup" or (has_changed and check.scope == "device")):
            # On the same device its checks hold from before the first trial, however long ago that was.
            due = _due(script, step, verdicts, now if check.stage == "setup" else None)
            if due is not None:
                return due
    return due_training(script, verdicts, now)


def _failed(script: Script, verdicts: Mapping[str, StoredVerdict]) -> str:
    """Return the rule and reason that end the session, such as `attention:wrong`; empty where it goes on."""
    for name, rule in script.rules.items():
        if rule.end_after is not None and failure_count(verdicts, name) >= rule.end_after:
            return f"{name}:{rule_result(failures(verdicts, name)[-1], name).get('reason', '')}"
    return ""


def _is_unplayable(script: Script, answers: Mapping[str, Json]) -> bool:
    """Return whether most stimuli failed to play, so that the session cannot yield ratings."""
    if not any("missing" in answer for answer in answers.values() if type(answer) is dict):
        return False
    slots = missing = trials = unrated = 0
    for step in script.steps:
        answer = last_answer(answers, step.key)
        if step.kind == "trial" and step.trial is not None and isinstance(answer, Mapping):
            trials, slots = trials + 1, slots + len(step.trial.slots)
            failed_slots = answer.get("missing", {})
            if isinstance(failed_slots, Mapping) and failed_slots:
                missing += len(failed_slots)
                # Where one of two fails to play, the other is not rated either.
                unrated += not _is_rated(answer)
    if slots >= _ENOUGH_SLOTS and missing > slots / 2:
        return True
    return trials >= _ENOUGH_TRIALS and unrated > trials / 2


def _is_rated(answer: Mapping[str, Json]) -> bool:
    """Return whether an answer to a trial holds a score, a tick or a choice."""
    parts = [answer.get(part) for part in ("scores", "ticks", "choices", "picks")]
    return any(bool(about) for part in parts if isinstance(part, Mapping) for about in part.values())


def read_step_answer(step: PlannedStep, answer: Json) -> Json:
    """Return the normalised answer of a step that is not a trial, or raise Refused."""
    if not isinstance(answer, Mapping):
        raise Refused.because("answer_not_an_object", where="answer", allowed="a JSON object")
    if step.kind == "consent":
        return _read_consent(answer)
    if step.kind == "questions":
        return {"answers": _read_items(step.items, answer.get("answers"))}
    if answer:
        raise Refused.because("step_without_answer", where="answer", allowed="{}")
    return {}


def _read_consent(answer: Mapping[str, Json]) -> dict[str, Json]:
    """Return the normalised answer of the first page, with its language where it has one; else raise Refused."""
    language, found = answer.get("language"), answer.get("language_from")
    is_shaped = set(answer) <= {"agree", "language", "language_from"} and ("language" in answer) == (
        "language_from" in answer
    )
    if not isinstance(answer.get("agree"), bool) or not is_shaped:
        raise Refused.because("unclear_agreement", where="answer.agree", allowed="true or false")
    if "language" not in answer:
        return {"agree": answer["agree"]}
    if not isinstance(language, str) or len(language) > 35 or found not in get_args(LanguageFound):
        raise Refused.because("unclear_agreement", where="answer.language", allowed="a language of the study")
    return {"agree": answer["agree"], "language": language, "language_from": found}


def _wrong_item(step: PlannedStep, answer: Json) -> str:
    """Return the id of the first item whose answer is not among the correct ones."""
    answers = answer.get("answers", {}) if isinstance(answer, Mapping) else {}
    assert isinstance(answers, Mapping)
    for item in step.items:
        if item.correct is None or item.id not in answers:
            continue
        if not item.kind.is_correct(item, answers[item.id]):
            return item.id
    return ""


def _read_items(items: tuple[Ask, ...], answers: Json) -> dict[str, Json]:
    known = {item.id: item for item in items}
    if not isinstance(answers, Mapping):
        raise Refused.because("no_answers", where="answer.answers", allowed=f"an object with {', '.join(known)}")
    for name in answers:
        if name not in known:
            raise Refused.because("not_asked", where=f"answer.answers.{name}", allowed=", ".join(known), name=name)
    read: dict[str, Json] = {}
    for item in items:
        where = f"answer.answers.{item.id}"
        value = answers.get(item.id)
        if not all(comparison.holds(read.get(comparison.question)) for comparison in item.comparisons(known)):
            if value is not None:
                raise Refused.because("not_asked", where=where, allowed="no answer", name=item.id)
            continue
        if value is None or value == "" or value == []:
            if item.required:
                raise Refused.because("answer_missing", where=where, allowed="an answer")
            continue
        if not item.kind.accepts(item, value):
            raise item.kind.refusal(item, where)
        read[item.id] = value
    return read
