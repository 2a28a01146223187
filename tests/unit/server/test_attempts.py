"""Where somebody is among the checks: what each verdict leads to, and what is carried over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.server.attempts import passes_carried_over
from beholder.server.flow import Ending, next_step
from beholder.server.script import PlannedStep, Script
from beholder.store.contract import Session, SessionFacts, StoredVerdict
from support.clock_service import LAPTOP, PHONE
from support.scripts import script, study

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
DAY = timedelta(days=1)
ONCE, TOLD = {"action": "gate", "attempts": 1}, {"action": "warn", "attempts": 1}
AGREED: dict[str, Any] = {"consent": {"agree": True}, "text:instructions": {}}


def told(
    key: str, verdict: str = "pass", reason: str = "", at: datetime = NOON, **evidence: Any
) -> dict[str, StoredVerdict]:
    return {key: StoredVerdict("s", key, key.split(":")[1], verdict, reason, evidence, at)}


def here(
    whole: Script, said: dict[str, StoredVerdict], answers: dict[str, Any] = AGREED, at: datetime = NOON
) -> str | Ending:
    found = next_step(whole, answers, said, at)
    return found.key if isinstance(found, PlannedStep) else found


def checked(**rules: Any) -> Script:
    return script(qualification=rules)


def test_the_checks_stand_around_the_questions_and_the_instructions() -> None:
    whole = script(
        before=[{"id": "age", "text": "?", "type": "number"}],
        qualification={"device": True, "colour": True, "acuity": True, "brightness": True},
    )
    assert [step.key for step in whole.steps][:8] == [
        "consent", "check:device", "questions:before", "check:colour", "check:card", "check:acuity",
        "text:instructions", "check:brightness",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "said", "expected"),
    [
        ({"action": "gate"}, {}, "check:colour:1"),
        ({"action": "gate"}, told("check:colour:1", "fail", "plates"), "check:colour:2"),
        (ONCE, told("check:colour:1", "fail", "plates"), Ending("screened_out", "colour:plates")),
        ({"action": "gate"}, told("check:colour:1", "fail", "cannot"), Ending("screened_out", "colour:cannot")),
        ({"action": "gate"}, told("check:colour:1", "unknown", "x"), "trial:1"),
        ({"action": "gate"}, told("check:colour:1", "unknown", "control", again=True), "check:colour:2"),
        (ONCE, told("check:colour:1", "unknown", "control", again=True), "trial:1"),
        ({"action": "warn"}, told("check:colour:1", "fail", "plates"), "check:colour:2"),
        (TOLD, told("check:colour:1", "fail", "plates"), "trial:1"),
        ({"action": "flag"}, told("check:colour:1", "fail", "plates"), "trial:1"),
        ({"action": "record"}, told("check:colour:1", "fail", "plates"), "trial:1"),
        (TOLD, told("check:colour:1", "fail", "x", action="gate"), Ending("screened_out", "colour:x")),
    ],
)  # fmt: skip
def test_what_a_verdict_leads_to(rule: dict[str, Any], said: dict[str, StoredVerdict], expected: str | Ending) -> None:
    assert here(checked(colour=rule), said) == expected


def test_the_wrong_device_has_an_outcome_of_its_own() -> None:
    whole = checked(device={"attempts": 1})
    assert here(whole, told("check:device:1", "fail", "phone")) == Ending("wrong_device", "device:phone")


@given(st.lists(st.sampled_from(["fail", "again", "moved"]), max_size=12))
def test_no_order_of_attempts_gives_more_of_them_than_there_are(order: list[str]) -> None:
    """What told nothing uses up no try, and comes no oftener than there are tries; what is known decides."""
    whole = checked(colour={"attempts": 3})
    said: dict[str, StoredVerdict] = {}
    for number, one in enumerate(order, 1):
        verdict, reason = ("fail", "plates") if one == "fail" else ("unknown", one)
        said |= told(f"check:colour:{number}", verdict, reason, again=verdict == "unknown")
        failed, void = (order[:number].count(kind) for kind in ("fail", "again"))
        if failed < 3 and void < 3:
            assert here(whole, said) == f"check:colour:{number + 1}"
        else:
            assert here(whole, said) == (Ending("screened_out", "colour:plates") if failed else "trial:1")
            break


def test_at_a_break_another_device_brings_back_all_that_belongs_to_a_device() -> None:
    whole = checked(acuity=True, colour=True)
    rated = {**AGREED, "trial:1": {}, "trial:2": {}, "break:1": {}}
    said = {**told("check:colour:1"), **told("check:card:1"), **told("check:acuity:1")}
    late = NOON + 60 * DAY
    assert here(whole, said, rated, late) == "trial:3", "nobody is sent back to the eyes at a break"
    said |= told("device:1", "unknown", "moved", NOON + timedelta(minutes=1), device=PHONE)
    assert here(whole, said, {**rated, "trial:3": {}}, late) == Ending("completed"), "never after the next trial"
    assert here(whole, said, rated, late) == "check:card:2"
    said |= told("check:card:2", at=late)
    assert here(whole, said, rated, late) == "check:acuity:2"
    said |= told("check:acuity:2", at=late)
    assert here(whole, said, rated, late) == "trial:3"


def earned(name: str, *, verdict: str = "pass", reason: str = "", device: Any = LAPTOP, **changes: Any) -> Any:
    """Return what somebody was told yesterday about a check with the rules of `checked`."""
    step = next(step for step in checked(colour=True, acuity=True).steps if step.key == f"check:{name}")
    assert step.check is not None
    evidence = {
        "version": step.check.version, "answer": {"a": 1}, "rule": step.check.rule.model_dump(mode="json"), **changes,
    }  # fmt: skip
    key = f"check:{name}:1"
    return (
        Session("old", "p", "d", 1, "link", 1, device, NOON - DAY),
        StoredVerdict("old", key, name, verdict, reason, evidence, NOON - DAY),
    )


def brought(*earlier: Any, at: datetime = NOON, **rules: Any) -> list[str]:
    facts = SessionFacts(Session("new", "p", "d", 1, "link", 2, LAPTOP, NOON))
    found = passes_carried_over(checked(**(rules or {"colour": True, "acuity": True})), facts, earlier, ["d"], at)
    assert all((one.session, one.reason) == ("new", "carried") for one in found)
    return [one.key for one in found]


def test_a_pass_is_brought_along_and_what_is_no_pass_is_not() -> None:
    assert brought(earned("colour"), earned("card"), earned("acuity")) == [
        "check:colour:0", "check:card:0", "check:acuity:0",
    ]  # fmt: skip
    assert brought(earned("colour", verdict="fail")) == []
    assert brought(earned("colour", verdict="unknown", reason="our_fault")) == []
    assert brought(earned("colour"), at=NOON + 30 * DAY) == []
    assert brought(earned("colour"), colour={"valid": "12 h"}) == []


def test_an_unknown_that_this_device_cannot_better_is_brought_along() -> None:
    assert brought(earned("acuity", verdict="unknown", reason="coarse")) == ["check:acuity:0"]
    assert brought(earned("acuity", verdict="unknown", reason="no_card")) == []
    assert brought(earned("acuity", verdict="unknown", reason="coarse", device=PHONE)) == []


def test_a_pass_of_an_easier_check_is_not_brought_along() -> None:
    assert brought(earned("acuity"), acuity={"mar": 1}) == []
    assert brought(earned("acuity"), acuity={"attempts": 5, "feedback": False}) == ["check:acuity:0"]
    assert brought(earned("colour", version=0)) == []
    assert brought(earned("colour", rule=None)) == []


def test_a_later_failure_takes_an_earlier_pass_away() -> None:
    session, passed = earned("colour")
    failed = StoredVerdict("old", "check:colour:2", "colour", "fail", "plates", passed.evidence, NOON - DAY / 2)
    assert brought((session, passed), (session, failed)) == []


def test_a_check_that_counts_for_one_session_is_not_brought_along() -> None:
    assert study(qualification={"device": True}).qualification.rule("device").lasts is None  # type: ignore[union-attr]
    session = Session("old", "p", "d", 1, "link", 1, LAPTOP, NOON)
    assert brought((session, told("check:device:1")["check:device:1"]), device=True) == []
