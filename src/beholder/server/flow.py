"""Where a participant is: a pure function of the script and the facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

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
from beholder.study.model import Ask
from beholder.types import Json, Outcome

_LONGEST_TEXT = 5000
_ENOUGH_SLOTS = 4
"""So many slots have to be met before a device counts as one that cannot play them."""
_ENOUGH_TRIALS = 2
"""So many trials have to be met before those that say nothing count: one reference that fails costs one trial."""


@dataclass(frozen=True)
class Ending:
    """The session is over."""

    outcome: Outcome
    reason: str = ""


_NOTHING: Mapping[str, StoredVerdict] = MappingProxyType({})


def next_step(
    script: Script | None,
    answers: Mapping[str, Json],
    told: Mapping[str, StoredVerdict] = _NOTHING,
    now: datetime | None = None,
) -> PlannedStep | Ending:
    """Return the first step without an answer, or how the session ends. Without a script nothing is claimed yet.

    What was passed runs out: before the first trial, and at a break, never between two trials.
    """
    consent = answers.get(CONSENT.key)
    if isinstance(consent, Mapping) and consent.get("agree") is False:
        return Ending("no_consent")
    if script is None or consent is None:
        return CONSENT
    if _is_unplayable(script, answers):
        return Ending("technical", "media_error")
    if script.rules and (failed := _failed(script, told)):
        return Ending("failed_checks", failed)
    is_rating = FIRST_TRIAL in answers
    for place, step in enumerate(script.steps):
        if step.check is not None or step.is_training:
            met = None if is_rating else _due(script, step, told, now)
            if met is not None:
                return met
            continue
        if step.key not in answers:
            return step
        if step.items and (wrong := _wrong_item(step, answers[step.key])):
            return Ending("screened_out", f"{step.key}.{wrong}")
        if script.rules and step.is_rated and (again := repeated_trial(step, answers, told)):
            return again
        is_fresh = step.kind == "break" and script.steps[place + 1].key not in answers
        met = _due_again(script, told, now) if is_fresh else None
        if met is not None:
            return met
    return Ending("completed")


def answers_of(facts: SessionFacts) -> dict[str, Json]:
    """Return what was answered, by step."""
    return {key: answer.answer for key, answer in facts.answers.items()}


def _due(
    script: Script, step: PlannedStep, told: Mapping[str, StoredVerdict], now: datetime | None
) -> PlannedStep | Ending | None:
    """Return the attempt that is due at a check or the training, or the end that it led to; None where it is done."""
    if step.check is None:
        return due_training(script, told, now)
    rule = step.check.rule
    at = attempt_progress(step, told, rule.attempts, step.check.action)
    if at.settled is None:
        return step.tried(at.tries + 1)
    if at.settled.verdict == "fail" and action_of(at.settled, step.check.action) == "gate":
        outcome: Outcome = "wrong_device" if step.check.name == "device" else "screened_out"
        return Ending(outcome, f"{step.check.name}:{at.settled.reason}")
    moved = device_changed_at(told) if step.check.scope == "device" else None
    if is_valid(at.settled, rule.lasts, now) and (moved is None or passed_at(at.settled) >= moved):
        return None
    return step.tried(at.tries + 1)


def _due_again(script: Script, told: Mapping[str, StoredVerdict], now: datetime | None) -> PlannedStep | Ending | None:
    """Return what has run out by a break: the room and the training, and on another device all that belongs to one."""
    has_moved = device_changed_at(told) is not None
    for step in script.steps:
        check = step.check
        if check is not None and (check.stage == "setup" or (has_moved and check.scope == "device")):
            # On the same device what was found of it before the first trial holds, however long ago that was.
            met = _due(script, step, told, now if check.stage == "setup" else None)
            if met is not None:
                return met
    return due_training(script, told, now)


def _failed(script: Script, told: Mapping[str, StoredVerdict]) -> str:
    """Return at what the session ends, such as `attention:wrong`; empty where it goes on."""
    for name, rule in script.rules.items():
        if rule.end_after is not None and failure_count(told, name) >= rule.end_after:
            return f"{name}:{rule_result(failures(told, name)[-1], name).get('reason', '')}"
    return ""


def _is_unplayable(script: Script, answers: Mapping[str, Json]) -> bool:
    """Return whether most of what was to be rated would not play, so that going on is no use to anybody."""
    if not any("missing" in answer for answer in answers.values() if type(answer) is dict):
        return False
    slots = missing = trials = silent = 0
    for step in script.steps:
        answer = last_answer(answers, step.key)
        if step.kind == "trial" and step.trial is not None and isinstance(answer, Mapping):
            trials, slots = trials + 1, slots + len(step.trial.slots)
            gone = answer.get("missing", {})
            if isinstance(gone, Mapping) and gone:
                missing += len(gone)
                # Where one of two will not play, nothing is said about the other either.
                silent += not _says_anything(answer)
    if slots >= _ENOUGH_SLOTS and missing > slots / 2:
        return True
    return trials >= _ENOUGH_TRIALS and silent > trials / 2


def _says_anything(answer: Mapping[str, Json]) -> bool:
    """Return whether an answer to a trial holds a score, a tick or a choice."""
    given = [answer.get(part) for part in ("scores", "ticks", "choices", "picks")]
    return any(bool(about) for part in given if isinstance(part, Mapping) for about in part.values())


def read_step_answer(step: PlannedStep, answer: Json) -> Json:
    """Return the normalised answer of a step that is not a trial, or raise Refused."""
    if not isinstance(answer, Mapping):
        raise Refused("The answer is not an object", where="answer", allowed="a JSON object")
    if step.kind == "consent":
        if not isinstance(answer.get("agree"), bool) or len(answer) != 1:
            raise Refused("Agreement is neither yes nor no", where="answer.agree", allowed="true or false")
        return {"agree": answer["agree"]}
    if step.kind == "questions":
        return {"answers": _read_items(step.items, answer.get("answers"))}
    if answer:
        raise Refused("This step takes no answer", where="answer", allowed="{}")
    return {}


def _wrong_item(step: PlannedStep, answer: Json) -> str:
    """Return the id of the first item whose answer is not among the correct ones."""
    given = answer.get("answers", {}) if isinstance(answer, Mapping) else {}
    assert isinstance(given, Mapping)
    for item in step.items:
        if item.correct is None or item.id not in given:
            continue
        chosen = given[item.id]
        right = set(chosen) == set(item.correct) if isinstance(chosen, list | tuple) else chosen in item.correct
        if not right:
            return item.id
    return ""


def _read_items(items: tuple[Ask, ...], given: Json) -> dict[str, Json]:
    known = {item.id: item for item in items}
    if not isinstance(given, Mapping):
        raise Refused("No answers are given", where="answer.answers", allowed=f"an object with {', '.join(known)}")
    for name in given:
        if name not in known:
            raise Refused(f"{name} was not asked", where=f"answer.answers.{name}", allowed=", ".join(known))
    read: dict[str, Json] = {}
    for item in items:
        where = f"answer.answers.{item.id}"
        value = given.get(item.id)
        if value is None or value == "" or value == []:
            if item.required:
                raise Refused("An answer is missing", where=where, allowed="an answer")
            continue
        read[item.id] = _read_item(item, value, where)
    return read


def _read_item(item: Ask, value: Json, where: str) -> Json:
    options = item.options or tuple("12345")
    match item.type:
        case "single":
            if value in options:
                return value
            raise Refused("This answer was not offered", where=where, allowed=", ".join(options))
        case "likert":
            if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= len(options):
                return value
            raise Refused("This answer is not on the scale", where=where, allowed=f"1 to {len(options)}")
        case "multiple":
            if isinstance(value, list) and all(choice in options for choice in value) and len(set(value)) == len(value):
                return value
            raise Refused("An answer was not offered", where=where, allowed=", ".join(options))
        case "number":
            low = item.min if item.min is not None else float("-inf")
            high = item.max if item.max is not None else float("inf")
            if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
                return value
            raise Refused("This number is not possible", where=where, allowed=f"{low:g} to {high:g}")
        case "text":
            longest = int(item.max) if item.max is not None else _LONGEST_TEXT
            if isinstance(value, str) and len(value) <= longest:
                return value
            raise Refused("This text is too long", where=where, allowed=f"up to {longest} characters")
