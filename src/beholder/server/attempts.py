"""How far somebody is with a step that can be tried more than once: a check, an example, a trial that comes again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from beholder.serve.devices import VOID
from beholder.serve.script import Planned, Script
from beholder.store.contract import Told
from beholder.types import Json

_Given = TypeVar("_Given")


@dataclass(frozen=True)
class Progress:
    """The attempts at one step. A round ends with a pass, or with its last attempt; what runs out begins another.

    An attempt that told nothing and can be repeated uses up no try; but no more of them than there are tries. Then the
    round ends with what is known, so that nobody gets past a gate by making the last attempt worthless.
    """

    tries: int = 0
    """All attempts so far."""
    used: int = 0
    """Those of the round at hand that told something."""
    void: int = 0
    """Those that did not."""
    failed: Told | None = None
    """The last of them that failed."""
    settled: Told | None = None
    """What the last round ended with; None while one is under way."""
    last: Told | None = None
    rounds: int = 0
    """How many rounds have ended."""


def progress(step: Planned, told: Mapping[str, Told], allowed: int, action: str) -> Progress:
    """Return how far somebody is with a step of a script."""
    now = Progress()
    carried = told.get(f"{step.key}:0")
    if carried is not None:
        now = Progress(settled=carried, last=carried, rounds=1)
    while (one := told.get(f"{step.key}:{now.tries + 1}")) is not None:
        if one.reason == VOID:
            now = replace(now, tries=now.tries + 1)
            continue
        now = _with(now if now.settled is None else Progress(now.tries, rounds=now.rounds), one, allowed, action)
    return now


def _with(before: Progress, one: Told, allowed: int, action: str) -> Progress:
    """Return a round with one more attempt."""
    is_void = one.verdict == "unknown" and isinstance(one.evidence, Mapping) and one.evidence.get("again") is True
    now = replace(
        before,
        tries=before.tries + 1,
        used=before.used + (not is_void),
        void=before.void + is_void,
        failed=one if one.verdict == "fail" else before.failed,
        last=one,
    )
    if is_void:
        end = (now.failed or one) if now.void >= allowed else None
    else:
        end = one if now.used >= allowed or _settles(one, action) else None
    return now if end is None else replace(now, settled=end, rounds=now.rounds + 1)


def acts(told: Told, action: str) -> str:
    """Return what a verdict does: what it says itself, else what the study says."""
    own = told.evidence.get("action") if isinstance(told.evidence, Mapping) else None
    return own if isinstance(own, str) else action


def _settles(told: Told, action: str) -> bool:
    """Return whether a round ends with this, whatever tries are left."""
    return told.verdict != "fail" or told.reason == "cannot" or acts(told, action) in ("flag", "record")


def passed_at(told: Told) -> datetime:
    """Return when somebody settled this: in an earlier session, where it was carried over."""
    since = told.evidence.get("passed_at") if isinstance(told.evidence, Mapping) else None
    return datetime.fromisoformat(since) if isinstance(since, str) else told.at


def is_valid(told: Told, lasts: timedelta | None, now: datetime | None) -> bool:
    """Return whether what was settled still counts. Without a clock everything does."""
    return lasts is None or now is None or passed_at(told) + lasts >= now


def lesson_progress(script: Script, step: Planned, told: Mapping[str, Told]) -> Progress:
    """Return how far somebody is with a training example."""
    place = script.steps[script.place(step.key)]
    return progress(place, told, script.lesson_attempts, "warn" if script.is_corrected else "flag")


def due_lesson(script: Script, told: Mapping[str, Told], now: datetime | None) -> Planned | None:
    """Return the training example that is due; None when the whole training is over, and not for too long."""
    lessons = [(step, lesson_progress(script, step, told)) for step in script.steps if step.is_training]
    if not lessons:
        return None
    behind = min(at.rounds for _, at in lessons)
    ends = [at.settled for _, at in lessons if at.rounds == behind and at.settled is not None]
    is_whole = behind > 0 and len(ends) == len(lessons)
    if is_whole and is_valid(max(ends, key=passed_at), script.training_lasts, now):
        return None
    step, at = next((step, at) for step, at in lessons if at.rounds == behind)
    return step.tried(at.tries + 1)


def due_trial(step: Planned, answers: Collection[str], told: Mapping[str, Told]) -> Planned | None:
    """Return a trial that was answered as it comes again; None where that was its last time."""
    one, attempt = told.get(step.key), 1
    while one is not None and comes_again(one):
        attempt += 1
        key = f"{step.key}:{attempt}"
        if key not in answers:
            return step.tried(attempt)
        one = told.get(key)
    return None


def last_answer(answers: Mapping[str, _Given], key: str) -> _Given | None:
    """Return what a step of a script was answered with last, where it is a trial that came again."""
    given, attempt = answers.get(key), 2
    while (again := answers.get(f"{key}:{attempt}")) is not None:
        given, attempt = again, attempt + 1
    return given


def comes_again(told: Told) -> bool:
    """Return whether a trial was to be answered once more after this."""
    return isinstance(told.evidence, Mapping) and told.evidence.get("again") is True


def ruled(told: Told, check: str) -> Mapping[str, Json]:
    """Return what one rule said of a trial; nothing where it said nothing."""
    rules = told.evidence.get("checks") if isinstance(told.evidence, Mapping) else None
    found = rules.get(check) if isinstance(rules, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def failures(told: Mapping[str, Told], check: str) -> list[Told]:
    """Return every failure by a rule so far, in order. A trial counts as it was answered last."""
    found = [
        one
        for key, one in told.items()
        if key.startswith("trial:") and ruled(one, check).get("verdict") == "fail" and not comes_again(one)
    ]
    return sorted(found, key=lambda one: one.at)


def failed_times(told: Mapping[str, Told], check: str) -> int:
    """Return how many failures by a rule there are so far; a trial can count for several."""
    counts = [ruled(one, check).get("counts") for one in failures(told, check)]
    return sum(count if isinstance(count, int) else 1 for count in counts)
