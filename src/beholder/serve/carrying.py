"""What somebody brings along from an earlier session: passes that still count when a list is claimed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from beholder.checks.steps import AnyStep
from beholder.serve.attempts import due_lesson, is_valid, lesson_progress, passed_at
from beholder.serve.devices import device_of, is_same
from beholder.serve.script import Planned, Script
from beholder.store.contract import Session, SessionFacts, Store, Told
from beholder.types import Json

CARRIED = "carried"
"""The reason of what was settled in an earlier session; its key ends in attempt 0."""
_TERMS = {"action", "feedback", "attempts", "valid"}
"""Options that say what follows from a verdict, and not what is asked of people."""

Earlier = Sequence[tuple[Session, Told]]
"""What the same person was told in other sessions, oldest first."""


async def bring_along(store: Store, digest: str, facts: SessionFacts, script: Script, now: datetime) -> list[Told]:
    """Return what the person of a session passed in others, and need not pass again; `digest` is the study's."""
    if not any(step.check is not None or step.is_training for step in script.steps):
        return []
    earlier = await store.told_to(facts.session.session)
    if not earlier:
        return []
    plans = {row["digest"]: row["plan_digest"] async for row in store.rows("studies")}
    same_plan = [each for each, plan in plans.items() if plan == plans.get(digest)]
    return carried(script, facts, earlier, same_plan, now)


def carried(
    script: Script, facts: SessionFacts, earlier: Earlier, same_plan: Collection[str], now: datetime
) -> list[Told]:
    """Return what counts from the start; `same_plan` are the digests under which the training is the same one."""
    device = device_of(facts.session.device, facts.told)
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


def _by_session(earlier: Earlier) -> list[tuple[Session, dict[str, Told]]]:
    found: dict[str, tuple[Session, dict[str, Told]]] = {}
    for session, told in earlier:
        found.setdefault(session.session, (session, {}))[1][told.key] = told
    return list(found.values())


def _last_pass(
    check: AnyStep, device: Mapping[str, Json], sessions: Sequence[tuple[Session, Mapping[str, Told]]], now: datetime
) -> Told | None:
    """Return the last thing this person was told about a check, if it was a pass that still counts here."""
    lasts = check.rule.lasts
    if lasts is None:
        return None
    place = f"check:{check.name}:"
    said = [
        (session, told, one)
        for session, told in sessions
        for key, one in told.items()
        if key.startswith(place) and (one.verdict != "unknown" or _reason(one) in check.lasting)
    ]
    if not said:
        return None
    session, told, last = max(said, key=lambda each: (each[2].at, passed_at(each[2])))
    if not _holds(check, last) or not is_valid(last, lasts, now):
        return None
    if check.bound == "device" and not is_same(device_of(session.device, told, last.at), device):
        return None
    return last


def _holds(check: AnyStep, told: Told) -> bool:
    """Return whether a verdict is a pass of the check as it is now: the same version, asking for the same."""
    evidence = _evidence(told)
    if told.verdict == "fail":
        return False
    now = check.rule.model_dump(mode="json")
    then = evidence.get("rule")
    if evidence.get("version") != check.version or not isinstance(then, Mapping):
        return False
    return all(then.get(name) == value for name, value in now.items() if name not in _TERMS)


def _is_trained(script: Script, told: Mapping[str, Told], now: datetime) -> bool:
    return any(step.is_training for step in script.steps) and due_lesson(script, told, now) is None


def _ends(script: Script, told: Mapping[str, Told]) -> list[tuple[Planned, Told]]:
    """Return how each example of a training ended."""
    at = [(step, lesson_progress(script, step, told).settled) for step in script.steps if step.is_training]
    return [(step, settled) for step, settled in at if settled is not None]


def _bring(facts: SessionFacts, step: Planned, told: Told, now: datetime) -> Told:
    """Return a pass as it stands in the new session. What was carried before still points to where it was earned."""
    evidence = dict(_evidence(told))
    if told.reason != CARRIED:
        evidence |= {"passed_at": told.at.isoformat(), "session": told.session, "key": told.key, "was": told.reason}
    return Told(facts.session.session, f"{step.key}:0", told.check, told.verdict, CARRIED, evidence, now)


def _reason(told: Told) -> Json:
    return _evidence(told).get("was") if told.reason == CARRIED else told.reason


def _evidence(told: Told) -> Mapping[str, Json]:
    return told.evidence if isinstance(told.evidence, Mapping) else {}
