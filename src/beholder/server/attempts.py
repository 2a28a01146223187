"""How far somebody is with a step that can be tried more than once: a check, an example, a trial that comes again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from beholder.checks.page_registry import AnyPageCheck
from beholder.server.script import PlannedStep, Script
from beholder.store.contract import Session, SessionFacts, Store, StoredVerdict
from beholder.types import Json

_Given = TypeVar("_Given")


@dataclass(frozen=True)
class AttemptProgress:
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
    failed: StoredVerdict | None = None
    """The last of them that failed."""
    settled: StoredVerdict | None = None
    """What the last round ended with; None while one is under way."""
    last: StoredVerdict | None = None
    rounds: int = 0
    """How many rounds have ended."""


def attempt_progress(
    step: PlannedStep, told: Mapping[str, StoredVerdict], allowed: int, action: str
) -> AttemptProgress:
    """Return how far somebody is with a step of a script."""
    now = AttemptProgress()
    carried = told.get(f"{step.key}:0")
    if carried is not None:
        now = AttemptProgress(settled=carried, last=carried, rounds=1)
    while (one := told.get(f"{step.key}:{now.tries + 1}")) is not None:
        if one.reason == VOID:
            now = replace(now, tries=now.tries + 1)
            continue
        now = _with(now if now.settled is None else AttemptProgress(now.tries, rounds=now.rounds), one, allowed, action)
    return now


def _with(before: AttemptProgress, one: StoredVerdict, allowed: int, action: str) -> AttemptProgress:
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


def action_of(told: StoredVerdict, action: str) -> str:
    """Return what a verdict does: what it says itself, else what the study says."""
    own = told.evidence.get("action") if isinstance(told.evidence, Mapping) else None
    return own if isinstance(own, str) else action


def _settles(told: StoredVerdict, action: str) -> bool:
    """Return whether a round ends with this, whatever tries are left."""
    return told.verdict != "fail" or told.reason == "cannot" or action_of(told, action) in ("flag", "record")


def passed_at(told: StoredVerdict) -> datetime:
    """Return when somebody settled this: in an earlier session, where it was carried over."""
    since = told.evidence.get("passed_at") if isinstance(told.evidence, Mapping) else None
    return datetime.fromisoformat(since) if isinstance(since, str) else told.at


def is_valid(told: StoredVerdict, lasts: timedelta | None, now: datetime | None) -> bool:
    """Return whether what was settled still counts. Without a clock everything does."""
    return lasts is None or now is None or passed_at(told) + lasts >= now


def training_progress(script: Script, step: PlannedStep, told: Mapping[str, StoredVerdict]) -> AttemptProgress:
    """Return how far somebody is with a training example."""
    place = script.steps[script.place(step.key)]
    return attempt_progress(place, told, script.lesson_attempts, "warn" if script.is_corrected else "flag")


def due_training(script: Script, told: Mapping[str, StoredVerdict], now: datetime | None) -> PlannedStep | None:
    """Return the training example that is due; None when the whole training is over, and not for too long."""
    lessons = [(step, training_progress(script, step, told)) for step in script.steps if step.is_training]
    if not lessons:
        return None
    behind = min(at.rounds for _, at in lessons)
    ends = [at.settled for _, at in lessons if at.rounds == behind and at.settled is not None]
    is_whole = behind > 0 and len(ends) == len(lessons)
    if is_whole and is_valid(max(ends, key=passed_at), script.training_lasts, now):
        return None
    step, at = next((step, at) for step, at in lessons if at.rounds == behind)
    return step.tried(at.tries + 1)


def repeated_trial(
    step: PlannedStep, answers: Collection[str], told: Mapping[str, StoredVerdict]
) -> PlannedStep | None:
    """Return a trial that was answered as it comes again; None where that was its last time."""
    one, attempt = told.get(step.key), 1
    while one is not None and is_repeated(one):
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


def is_repeated(told: StoredVerdict) -> bool:
    """Return whether a trial was to be answered once more after this."""
    return isinstance(told.evidence, Mapping) and told.evidence.get("again") is True


def rule_result(told: StoredVerdict, check: str) -> Mapping[str, Json]:
    """Return what one rule said of a trial; nothing where it said nothing."""
    rules = told.evidence.get("checks") if isinstance(told.evidence, Mapping) else None
    found = rules.get(check) if isinstance(rules, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def failures(told: Mapping[str, StoredVerdict], check: str) -> list[StoredVerdict]:
    """Return every failure by a rule so far, in order. A trial counts as it was answered last."""
    found = [
        one
        for key, one in told.items()
        if key.startswith("trial:") and rule_result(one, check).get("verdict") == "fail" and not is_repeated(one)
    ]
    return sorted(found, key=lambda one: one.at)


def failure_count(told: Mapping[str, StoredVerdict], check: str) -> int:
    """Return how many failures by a rule there are so far; a trial can count for several."""
    counts = [rule_result(one, check).get("counts") for one in failures(told, check)]
    return sum(count if isinstance(count, int) else 1 for count in counts)


# --- What somebody brings along from an earlier session: passes that still count when a list is claimed ---


CARRIED = "carried"
"""The reason of what was settled in an earlier session; its key ends in attempt 0."""
_TERMS = {"action", "feedback", "attempts", "valid"}
"""Options that say what follows from a verdict, and not what is asked of people."""

EarlierVerdicts = Sequence[tuple[Session, StoredVerdict]]
"""What the same person was told in other sessions, oldest first."""


async def carry_over(
    store: Store, digest: str, facts: SessionFacts, script: Script, now: datetime
) -> list[StoredVerdict]:
    """Return what the person of a session passed in others, and need not pass again; `digest` is the study's."""
    if not any(step.check is not None or step.is_training for step in script.steps):
        return []
    earlier = await store.earlier_verdicts(facts.session.session)
    if not earlier:
        return []
    plans = {row["digest"]: row["plan_digest"] async for row in store.rows("studies")}
    same_plan = [each for each, plan in plans.items() if plan == plans.get(digest)]
    return passes_carried_over(script, facts, earlier, same_plan, now)


def passes_carried_over(
    script: Script, facts: SessionFacts, earlier: EarlierVerdicts, same_plan: Collection[str], now: datetime
) -> list[StoredVerdict]:
    """Return what counts from the start; `same_plan` are the digests under which the training is the same one."""
    device = current_device(facts.session.device, facts.verdicts)
    sessions = _by_session(earlier)
    found = []
    for step in script.steps:
        if step.check is not None and (told := _last_pass(step.check, device, sessions, now)):
            found.append(_bring(facts, step, told, now))
    trained = [told for session, told in sessions if session.digest in same_plan and _is_trained(script, told, now)]
    if trained:
        # The latest training; each example as it ended there.
        best = max(trained, key=lambda told: max(passed_at(one) for _, one in _ends(script, told)))
        found += [_bring(facts, step, one, now) for step, one in _ends(script, best)]
    return found


def _by_session(earlier: EarlierVerdicts) -> list[tuple[Session, dict[str, StoredVerdict]]]:
    found: dict[str, tuple[Session, dict[str, StoredVerdict]]] = {}
    for session, told in earlier:
        found.setdefault(session.session, (session, {}))[1][told.key] = told
    return list(found.values())


def _last_pass(
    check: AnyPageCheck,
    device: Mapping[str, Json],
    sessions: Sequence[tuple[Session, Mapping[str, StoredVerdict]]],
    now: datetime,
) -> StoredVerdict | None:
    """Return the last thing this person was told about a check, if it was a pass that still counts here."""
    lasts = check.rule.lasts
    if lasts is None:
        return None
    place = f"check:{check.name}:"
    said = [
        (session, told, one)
        for session, told in sessions
        for key, one in told.items()
        if key.startswith(place) and (one.verdict != "unknown" or _reason(one) in check.lasting_reasons)
    ]
    if not said:
        return None
    session, told, last = max(said, key=lambda each: (each[2].at, passed_at(each[2])))
    if not _holds(check, last) or not is_valid(last, lasts, now):
        return None
    if check.scope == "device" and not is_same_device(current_device(session.device, told, last.at), device):
        return None
    return last


def _holds(check: AnyPageCheck, told: StoredVerdict) -> bool:
    """Return whether a verdict is a pass of the check as it is now: the same version, asking for the same."""
    evidence = _evidence(told)
    if told.verdict == "fail":
        return False
    now = check.rule.model_dump(mode="json")
    then = evidence.get("rule")
    if evidence.get("version") != check.version or not isinstance(then, Mapping):
        return False
    return all(then.get(name) == value for name, value in now.items() if name not in _TERMS)


def _is_trained(script: Script, told: Mapping[str, StoredVerdict], now: datetime) -> bool:
    return any(step.is_training for step in script.steps) and due_training(script, told, now) is None


def _ends(script: Script, told: Mapping[str, StoredVerdict]) -> list[tuple[PlannedStep, StoredVerdict]]:
    """Return how each example of a training ended."""
    at = [(step, training_progress(script, step, told).settled) for step in script.steps if step.is_training]
    return [(step, settled) for step, settled in at if settled is not None]


def _bring(facts: SessionFacts, step: PlannedStep, told: StoredVerdict, now: datetime) -> StoredVerdict:
    """Return a pass as it stands in the new session. What was carried before still points to where it was earned."""
    evidence = dict(_evidence(told))
    if told.reason != CARRIED:
        evidence |= {"passed_at": told.at.isoformat(), "session": told.session, "key": told.key, "was": told.reason}
    return StoredVerdict(facts.session.session, f"{step.key}:0", told.check, told.verdict, CARRIED, evidence, now)


def _reason(told: StoredVerdict) -> Json:
    return _evidence(told).get("was") if told.reason == CARRIED else told.reason


def _evidence(told: StoredVerdict) -> Mapping[str, Json]:
    return told.evidence if isinstance(told.evidence, Mapping) else {}


# --- Which device somebody sits at: what it said of itself, and whether it is still the same one ---


DEVICE_KEY = "device:"
"""Keys under which it is told that somebody went on with another device, numbered from 1."""
VOID = "moved"
"""The reason of an attempt that was posed for another device: nobody answered it, and it costs nothing."""


def device_changes(told: Mapping[str, StoredVerdict]) -> list[StoredVerdict]:
    """Return every change of device, in order."""
    return sorted(
        (one for key, one in told.items() if key.startswith(DEVICE_KEY)),
        key=lambda one: int(one.key[len(DEVICE_KEY) :]),
    )


def device_changed_at(told: Mapping[str, StoredVerdict]) -> datetime | None:
    """Return when somebody last went on with another device."""
    return max((one.at for one in device_changes(told)), default=None)


def current_device(
    first: Mapping[str, Json], told: Mapping[str, StoredVerdict], at: datetime | None = None
) -> Mapping[str, Json]:
    """Return the device of a session, now or at a moment; `first` is the one it began with."""
    for one in reversed(device_changes(told)):
        device = one.evidence.get("device") if isinstance(one.evidence, Mapping) else None
        if isinstance(device, Mapping) and (at is None or one.at <= at):
            return device
    return first


def is_same_device(one: Mapping[str, Json], other: Mapping[str, Json]) -> bool:
    """Return whether two can be one device: screen, pixels and platform agree as far as both tell them."""
    pairs = [(_screen(one), _screen(other)), *((one.get(name), other.get(name)) for name in ("dpr", "platform"))]
    return all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)


def _screen(device: Mapping[str, Json]) -> list[float] | None:
    """Return the sides of a screen, the short one first: who turns a phone still has the same one."""
    sides = device.get("screen")
    if not isinstance(sides, list | tuple) or not all(isinstance(side, int | float) for side in sides):
        return None
    return sorted(side for side in sides if isinstance(side, int | float))


def device_change_facts(
    facts: SessionFacts, device: Mapping[str, Json], here: PlannedStep | None, now: datetime
) -> list[StoredVerdict]:
    """Return what is told where somebody goes on with another device; nothing where it is the same one.

    An attempt that was posed for the other device is void.
    """
    if is_same_device(current_device(facts.session.device, facts.verdicts), device):
        return []
    session, number = facts.session.session, len(device_changes(facts.verdicts)) + 1
    told = [StoredVerdict(session, f"{DEVICE_KEY}{number}", "device", "unknown", VOID, {"device": dict(device)}, now)]
    if here is not None and here.check is not None:
        told.append(StoredVerdict(session, here.key, here.check.name, "unknown", VOID, {"again": True}, now))
    return told
