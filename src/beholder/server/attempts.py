"""Attempts at checks, training examples and repeated trials; passes carried over from earlier sessions; devices."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from beholder.checks.page_contract import PageCheck
from beholder.server.script import PlannedStep, Script
from beholder.store.contract import Session, SessionFacts, Store, StoredVerdict
from beholder.types import Json

_AnswerT = TypeVar("_AnswerT")


@dataclass(frozen=True)
class AttemptProgress:
    """The attempts at one step. A round ends with a pass or with its last attempt; an expired pass begins another.

    A void attempt, which is unknown and can be repeated, does not count; but only as many as there are attempts. Then
    the round ends with what is known, so that nobody gets past a gate by making the last attempt void.
    """

    tries: int = 0
    """All attempts so far."""
    used: int = 0
    """Attempts of this round that count."""
    void: int = 0
    """Attempts of this round that do not count."""
    failed: StoredVerdict | None = None
    """The last failed attempt of this round."""
    settled: StoredVerdict | None = None
    """The verdict of the last round; None while a round is under way."""
    last: StoredVerdict | None = None
    rounds: int = 0
    """Number of finished rounds."""


def attempt_progress(
    step: PlannedStep, verdicts: Mapping[str, StoredVerdict], allowed: int, action: str
) -> AttemptProgress:
    """Return the progress at a step of a script."""
    now = AttemptProgress()
    carried = verdicts.get(f"{step.key}:0")
    if carried is not None:
        now = AttemptProgress(settled=carried, last=carried, rounds=1)
    while (one := verdicts.get(f"{step.key}:{now.tries + 1}")) is not None:
        if one.reason == VOID:
            now = replace(now, tries=now.tries + 1)
            continue
        now = _add_attempt(
            now if now.settled is None else AttemptProgress(now.tries, rounds=now.rounds), one, allowed, action
        )
    return now


def _add_attempt(before: AttemptProgress, one: StoredVerdict, allowed: int, action: str) -> AttemptProgress:
    """Return the progress after one more attempt."""
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


def action_of(stored: StoredVerdict, action: str) -> str:
    """Return the action of a verdict: its own, else the study's."""
    own = stored.evidence.get("action") if isinstance(stored.evidence, Mapping) else None
    return own if isinstance(own, str) else action


def _settles(stored: StoredVerdict, action: str) -> bool:
    """Return whether a round ends with this verdict, whatever attempts are left."""
    return stored.verdict != "fail" or stored.reason == "cannot" or action_of(stored, action) in ("flag", "record")


def passed_at(stored: StoredVerdict) -> datetime:
    """Return when this was passed: in an earlier session, where it was carried over."""
    since = stored.evidence.get("passed_at") if isinstance(stored.evidence, Mapping) else None
    return datetime.fromisoformat(since) if isinstance(since, str) else stored.at


def is_valid(stored: StoredVerdict, lasts: timedelta | None, now: datetime | None) -> bool:
    """Return whether a verdict has not expired. Without a clock none has."""
    return lasts is None or now is None or passed_at(stored) + lasts >= now


def training_progress(script: Script, step: PlannedStep, verdicts: Mapping[str, StoredVerdict]) -> AttemptProgress:
    """Return the progress at a training example."""
    place = script.steps[script.place(step.key)]
    return attempt_progress(place, verdicts, script.training_attempts, "warn" if script.has_feedback else "flag")


def due_training(script: Script, verdicts: Mapping[str, StoredVerdict], now: datetime | None) -> PlannedStep | None:
    """Return the training example that is due; None when the whole training is done and has not expired."""
    lessons = [(step, training_progress(script, step, verdicts)) for step in script.steps if step.is_training]
    if not lessons:
        return None
    behind = min(at.rounds for _, at in lessons)
    ends = [at.settled for _, at in lessons if at.rounds == behind and at.settled is not None]
    is_whole = behind > 0 and len(ends) == len(lessons)
    if is_whole and is_valid(max(ends, key=passed_at), script.training_validity, now):
        return None
    step, at = next((step, at) for step, at in lessons if at.rounds == behind)
    return step.as_attempt(at.tries + 1)


def repeated_trial(
    step: PlannedStep, answers: Collection[str], verdicts: Mapping[str, StoredVerdict]
) -> PlannedStep | None:
    """Return the next attempt at a trial that is to be repeated; None where it is not."""
    one, attempt = verdicts.get(step.key), 1
    while one is not None and is_repeated(one):
        attempt += 1
        key = f"{step.key}:{attempt}"
        if key not in answers:
            return step.as_attempt(attempt)
        one = verdicts.get(key)
    return None


def last_answer(answers: Mapping[str, _AnswerT], key: str) -> _AnswerT | None:
    """Return the last answer to a step, over all attempts at a trial."""
    given, attempt = answers.get(key), 2
    while (later := answers.get(f"{key}:{attempt}")) is not None:
        given, attempt = later, attempt + 1
    return given


def is_repeated(stored: StoredVerdict) -> bool:
    """Return whether the trial is to be answered again after this verdict."""
    return isinstance(stored.evidence, Mapping) and stored.evidence.get("again") is True


def rule_result(stored: StoredVerdict, check: str) -> Mapping[str, Json]:
    """Return the result of one rule on a trial; empty where it has none."""
    rules = stored.evidence.get("checks") if isinstance(stored.evidence, Mapping) else None
    result = rules.get(check) if isinstance(rules, Mapping) else None
    return result if isinstance(result, Mapping) else {}


def failures(verdicts: Mapping[str, StoredVerdict], check: str) -> list[StoredVerdict]:
    """Return the failures of a rule so far, in order. Only the last attempt at a trial counts."""
    failed = [
        one
        for key, one in verdicts.items()
        if key.startswith("trial:") and rule_result(one, check).get("verdict") == "fail" and not is_repeated(one)
    ]
    return sorted(failed, key=lambda one: one.at)


def failure_count(verdicts: Mapping[str, StoredVerdict], check: str) -> int:
    """Return the number of failures of a rule so far; a trial can count for several."""
    counts = [rule_result(one, check).get("counts") for one in failures(verdicts, check)]
    return sum(count if isinstance(count, int) else 1 for count in counts)


# Passes carried over from earlier sessions

CARRIED = "carried"
"""The reason of a verdict from an earlier session; its key ends in attempt 0."""
_TERMS = {"action", "feedback", "attempts", "valid"}
"""Options that say what follows from a verdict, not what the check asks."""

EarlierVerdicts = Sequence[tuple[Session, StoredVerdict]]
"""Verdicts on the same participant in other sessions, oldest first."""


async def carry_over(
    store: Store, digest: str, facts: SessionFacts, script: Script, now: datetime
) -> list[StoredVerdict]:
    """Return the passes of a participant in other sessions that count in this one; `digest` is the study's."""
    earlier = await store.earlier_verdicts(facts.session.session)
    if not earlier:
        return []
    plans = {row["digest"]: row["plan_digest"] async for row in store.rows("studies")}
    same_plan = [each for each, plan in plans.items() if plan == plans.get(digest)]
    return passes_carried_over(script, facts, earlier, same_plan, now)


def passes_carried_over(
    script: Script, facts: SessionFacts, earlier: EarlierVerdicts, same_plan: Collection[str], now: datetime
) -> list[StoredVerdict]:
    """Return the verdicts that count from the start; `same_plan` are the study digests with the same training."""
    device = current_device(facts.session.device, facts.verdicts)
    sessions = _group_by_session(earlier)
    passes = []
    for step in script.steps:
        if step.check is not None and (stored := _last_pass(step.check, device, sessions, now)):
            passes.append(_carry(facts, step, stored, now))
    trained = [
        verdicts for session, verdicts in sessions if session.digest in same_plan and _is_trained(script, verdicts, now)
    ]
    if trained:
        # The latest training, each example with its last verdict.
        best = max(trained, key=lambda verdicts: max(passed_at(one) for _, one in _endings(script, verdicts)))
        passes += [_carry(facts, step, one, now) for step, one in _endings(script, best)]
    return passes


def _group_by_session(earlier: EarlierVerdicts) -> list[tuple[Session, dict[str, StoredVerdict]]]:
    sessions: dict[str, tuple[Session, dict[str, StoredVerdict]]] = {}
    for session, stored in earlier:
        sessions.setdefault(session.session, (session, {}))[1][stored.key] = stored
    return list(sessions.values())


def _last_pass(
    check: PageCheck,
    device: Mapping[str, Json],
    sessions: Sequence[tuple[Session, Mapping[str, StoredVerdict]]],
    now: datetime,
) -> StoredVerdict | None:
    """Return the last verdict on a check, if it is a pass that still counts here."""
    lasts = check.options.lasts
    if lasts is None:
        return None
    place = f"check:{check.name}:"
    judged = [
        (session, verdicts, one)
        for session, verdicts in sessions
        for key, one in verdicts.items()
        if key.startswith(place) and (one.verdict != "unknown" or _reason(one) in check.lasting_reasons)
    ]
    if not judged:
        return None
    session, verdicts, last = max(judged, key=lambda each: (each[2].at, passed_at(each[2])))
    if not _is_current_pass(check, last) or not is_valid(last, lasts, now):
        return None
    if check.scope == "device" and not is_same_device(current_device(session.device, verdicts, last.at), device):
        return None
    return last


def _is_current_pass(check: PageCheck, stored: StoredVerdict) -> bool:
    """Return whether a verdict is a pass of the current version of a check with the same options."""
    evidence = _evidence(stored)
    if stored.verdict == "fail":
        return False
    now = check.options.model_dump(mode="json")
    then = evidence.get("rule")
    if evidence.get("version") != check.version or not isinstance(then, Mapping):
        return False
    if any(then.get(name) != value for name, value in now.items() if name not in _TERMS):
        return False
    measured = evidence.get("evidence")
    return check.is_carried(measured if isinstance(measured, Mapping) else {})


def _is_trained(script: Script, verdicts: Mapping[str, StoredVerdict], now: datetime) -> bool:
    if script.is_trained_each_time:
        return False
    return any(step.is_training for step in script.steps) and due_training(script, verdicts, now) is None


def _endings(script: Script, verdicts: Mapping[str, StoredVerdict]) -> list[tuple[PlannedStep, StoredVerdict]]:
    """Return the final verdict on each training example."""
    at = [(step, training_progress(script, step, verdicts).settled) for step in script.steps if step.is_training]
    return [(step, settled) for step, settled in at if settled is not None]


def _carry(facts: SessionFacts, step: PlannedStep, stored: StoredVerdict, now: datetime) -> StoredVerdict:
    """Return a pass for the new session, which names the session where it was first passed."""
    evidence = dict(_evidence(stored))
    if stored.reason != CARRIED:
        evidence |= {
            "passed_at": stored.at.isoformat(),
            "session": stored.session,
            "key": stored.key,
            "was": stored.reason,
        }
    return StoredVerdict(facts.session.session, f"{step.key}:0", stored.check, stored.verdict, CARRIED, evidence, now)


def _reason(stored: StoredVerdict) -> Json:
    return _evidence(stored).get("was") if stored.reason == CARRIED else stored.reason


def _evidence(stored: StoredVerdict) -> Mapping[str, Json]:
    return stored.evidence if isinstance(stored.evidence, Mapping) else {}


# Devices

DEVICE_KEY = "device:"
"""Prefix of the keys of stored device changes, numbered from 1."""
VOID = "moved"
"""The reason of an attempt that was posed for another device: it was not answered, and does not count."""


def device_changes(verdicts: Mapping[str, StoredVerdict]) -> list[StoredVerdict]:
    """Return every change of device, in order."""
    return sorted(
        (one for key, one in verdicts.items() if key.startswith(DEVICE_KEY)),
        key=lambda one: int(one.key[len(DEVICE_KEY) :]),
    )


def device_changed_at(verdicts: Mapping[str, StoredVerdict]) -> datetime | None:
    """Return when the device last changed; None if it never did."""
    return max((one.at for one in device_changes(verdicts)), default=None)


def current_device(
    first: Mapping[str, Json], verdicts: Mapping[str, StoredVerdict], at: datetime | None = None
) -> Mapping[str, Json]:
    """Return the device of a session, now or at a time; `first` is the one it began with."""
    for one in reversed(device_changes(verdicts)):
        device = one.evidence.get("device") if isinstance(one.evidence, Mapping) else None
        if isinstance(device, Mapping) and (at is None or one.at <= at):
            return device
    return first


def is_same_device(one: Mapping[str, Json], other: Mapping[str, Json]) -> bool:
    """Return whether two descriptions fit one device: screen, pixel ratio and platform, where both have them."""
    pairs = [(_screen(one), _screen(other)), *((one.get(name), other.get(name)) for name in ("dpr", "platform"))]
    return all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)


def _screen(device: Mapping[str, Json]) -> list[float] | None:
    """Return the sides of a screen, the short one first, so that a rotated phone is the same device."""
    sides = device.get("screen")
    if not isinstance(sides, list | tuple) or not all(isinstance(side, int | float) for side in sides):
        return None
    return sorted(side for side in sides if isinstance(side, int | float))


def device_change_facts(
    facts: SessionFacts, device: Mapping[str, Json], here: PlannedStep | None, now: datetime
) -> list[StoredVerdict]:
    """Return the verdicts to store when a participant continues with another device; empty for the same one.

    An attempt that was posed for the other device becomes void.
    """
    if is_same_device(current_device(facts.session.device, facts.verdicts), device):
        return []
    session, number = facts.session.session, len(device_changes(facts.verdicts)) + 1
    stored = [StoredVerdict(session, f"{DEVICE_KEY}{number}", "device", "unknown", VOID, {"device": dict(device)}, now)]
    if here is not None and here.check is not None:
        stored.append(StoredVerdict(session, here.key, here.check.name, "unknown", VOID, {"again": True}, now))
    return stored
