"""Where a participant is: a pure function of the script and the facts, whatever happens on the way."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import Refused
from beholder.methods.contract import Slot, Trial
from beholder.server.flow import Ending, next_step, read_step_answer
from beholder.server.script import PlannedStep, Script, make_script
from beholder.store.contract import StoredVerdict
from beholder.study.questionnaire import Ask
from support.check_scripts import AGREED, DAY, NOON, check_verdict, checked, due_step
from support.clock_service import PHONE
from support.flow_scripts import AGE, SCREEN
from support.scripts import answers, script, study


@given(st.integers(0, 8))
def test_the_next_step_is_the_first_without_an_answer(many: int) -> None:
    whole = script(before=[SCREEN], after=[AGE])
    here = next_step(whole, answers(whole, many))
    if many == len(whole.steps):
        assert here == Ending("completed")
    else:
        assert here == whole.steps[many]


@given(st.sets(st.sampled_from(["trial:1", "trial:2", "trial:3", "break:1", "text:instructions"])))
def test_no_set_of_facts_skips_a_step(done: set[str]) -> None:
    whole = script()
    facts = {"consent": {"agree": True}, **{key: {} for key in done}}
    here = next_step(whole, facts)
    if isinstance(here, PlannedStep):
        assert here.key not in facts
        assert all(step.key in facts for step in whole.steps[: whole.place(here.key)])
    else:
        assert all(step.key in facts for step in whole.steps)


def test_without_a_list_there_is_only_consent() -> None:
    here = next_step(None, {})
    assert isinstance(here, PlannedStep)
    assert here.kind == "consent"
    assert next_step(None, {"consent": {"agree": False}}) == Ending("no_consent")


PLAYS_IN_PART = [
    ({"choices": {}, "missing": {"s1": "media_error"}}, True),
    ({"scores": {"q1": {}}, "missing": {"s1": "media_error"}}, True),
    ({"ticks": {"q1": {}}, "scores": {"q2": {}}, "missing": {"s1": "media_error"}}, True),
    ({"scores": {"q1": {"s2": 5}}, "missing": {"s1": "media_error"}}, False),
    ({"choices": {"q1": {"better": "s1"}}}, False),
]


@pytest.mark.parametrize(("answer", "is_over"), PLAYS_IN_PART)
def test_a_session_without_anything_said_ends_even_where_one_of_two_did_play(answer: Any, is_over: bool) -> None:
    slots = tuple(Slot(f"s{n}", f"x{n}", "test", None, True, None) for n in (1, 2, 3, 4))
    planned = make_script(study(), [Trial(f"trial:{n}", "c", "rate", slots, ()) for n in (1, 2, 3)])
    given = {"consent": {"agree": True}, "text:instructions": {}, "trial:1": answer, "trial:2": answer}
    here = next_step(planned, given)
    assert here == Ending("technical", "media_error") if is_over else here == planned.steps[-1]
    one = {key: value for key, value in given.items() if key != "trial:2"}
    assert next_step(planned, one) == planned.steps[-2]


def test_a_wrong_prescreening_answer_ends_at_once() -> None:
    whole = script(before=[SCREEN])
    facts: dict[str, Any] = {"consent": {"agree": True}, "questions:before": {"answers": {"field": "yes"}}}
    assert next_step(whole, facts) == Ending("screened_out", "questions:before.field")


LIKERT = {"text": "?", "type": "likert"}
USES = Ask(id="uses", text="?", type="multiple", options=("phone", "radio"), required=False)


def asked(whole: Script, facts: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the step that is due and what it asks."""
    here = next_step(whole, facts)
    assert isinstance(here, PlannedStep)
    return here.key, [item.id for item in here.items]


def test_a_page_asks_what_answers_on_earlier_pages_let_it_ask_and_is_left_out_without_any() -> None:
    whole = script(
        before=[USES],
        during=[
            {"id": "tired", "every": 2, **LIKERT},
            {"id": "screen", "every": "trial", "when": "uses has phone", **LIKERT},
            {"id": "bright", "every": "trial", "when": "screen >= 3", **LIKERT},
            {"id": "again", "every": "trial", "when": "tired >= 4", **LIKERT},
        ],
        after=[{"id": "rest", "when": "tired >= 4", **LIKERT}],
    )
    facts: dict[str, Any] = {key: {} for key in ("text:instructions", "trial:1")} | {"consent": {"agree": True}}
    on_radio = facts | {"questions:before": {"answers": {"uses": ["radio"]}}}
    assert asked(whole, on_radio) == ("trial:2", [])
    on_phone = facts | {"questions:before": {"answers": {"uses": ["phone"]}}}
    assert asked(whole, on_phone) == ("questions:during:1", ["screen", "bright"])
    second = on_radio | {"trial:2": {}}
    assert asked(whole, second) == ("questions:during:2", ["tired", "again"])  # by what is answered on this page
    third = second | {"questions:during:2": {"answers": {"tired": 5, "again": 1}}, "break:1": {}, "trial:3": {}}
    assert asked(whole, third) == ("questions:during:3", ["again"])  # the last answer counts
    assert asked(whole, third | {"questions:during:3": {"answers": {"again": 1}}}) == ("questions:after", ["rest"])
    fresh = second | {"questions:during:2": {"answers": {"tired": 3}}, "break:1": {}, "trial:3": {}}
    assert next_step(whole, fresh) == Ending("completed")


def test_an_answer_that_is_not_asked_for_is_refused_and_one_that_is_may_not_be_missing() -> None:
    why = Ask(id="why", text="?", type="text", when=("easy <= 2",))
    step = PlannedStep("questions:after", "questions", items=(Ask(id="easy", text="?", type="likert"), why))
    assert read_step_answer(step, {"answers": {"easy": 3}}) == {"answers": {"easy": 3}}
    assert read_step_answer(step, {"answers": {"easy": 2, "why": "dark"}}) == {"answers": {"easy": 2, "why": "dark"}}
    wrongs: list[Any] = [{"easy": 3, "why": "dark"}, {"easy": 2}]
    for wrong in wrongs:
        with pytest.raises(Refused) as refused:
            read_step_answer(step, {"answers": wrong})
        assert refused.value.where == "answer.answers.why"


ITEMS: dict[str, tuple[Ask, Any, list[Any]]] = {
    "single": (Ask(id="x", text="?", type="single", options=("a", "b")), "a", ["c", 1, ["a"], True]),
    "multiple": (Ask(id="x", text="?", type="multiple", options=("a", "b")), ["b", "a"], ["a", ["a", "a"], ["c"], [1]]),
    "likert": (Ask(id="x", text="?", type="likert"), 5, [0, 6, "5", 2.5, True]),
    "number": (Ask(id="x", text="?", type="number", min=0, max=9), 4.5, [-1, 10, "4", True, float("nan")]),
    "text": (Ask(id="x", text="?", type="text", max=5), "hello", ["longer than five", 5, ["a"]]),
}


@pytest.mark.parametrize("kind", ITEMS)
def test_every_kind_of_item_takes_its_answers_and_no_others(kind: str) -> None:
    item, good, bads = ITEMS[kind]
    step = PlannedStep("questions:before", "questions", items=(item,))
    assert read_step_answer(step, {"answers": {"x": good}}) == {"answers": {"x": good}}
    for bad in [*bads, None, ""]:
        with pytest.raises(Refused) as refused:
            read_step_answer(step, {"answers": {"x": bad}})
        assert refused.value.where == "answer.answers.x"
    with pytest.raises(Refused, match="y was not asked"):
        read_step_answer(step, {"answers": {"x": good, "y": 1}})


def test_an_item_that_is_not_required_may_be_left_out() -> None:
    step = PlannedStep("questions:after", "questions", items=(AGE,))
    assert read_step_answer(step, {"answers": {}}) == {"answers": {}}
    assert read_step_answer(step, {"answers": {"age": None}}) == {"answers": {}}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(JSON, st.sampled_from(list(ITEMS)))
def test_no_answer_of_any_shape_does_more_than_be_refused(answer: Any, kind: str) -> None:
    for step in (
        PlannedStep("questions:before", "questions", items=(ITEMS[kind][0],)),
        PlannedStep("consent", "consent"),
        PlannedStep("text:instructions", "text"),
    ):
        for given_answer in (answer, {"answers": {"x": answer}}, {"answers": answer}):
            with contextlib.suppress(Refused):
                read_step_answer(step, given_answer)


def rule_verdict(
    key: str, verdict: str, check: str = "attention", minute: int = 0, **evidence: Any
) -> dict[str, StoredVerdict]:
    kept = {"checks": {check: {"verdict": verdict, "reason": "wrong"}}, **evidence}
    return {key: StoredVerdict("s", key, check, verdict, "wrong", kept, NOON + timedelta(minutes=minute))}


def due_after(whole: Script, said: Mapping[str, StoredVerdict], many: int = 99) -> str | Ending:
    due = next_step(whole, answers(whole, many), said, NOON)
    return due.key if isinstance(due, PlannedStep) else due


@given(st.lists(st.sampled_from(["pass", "fail", "unknown"]), max_size=6), st.integers(1, 3))
def test_a_session_ends_at_the_last_failure_that_is_allowed_and_at_nothing_else(said: list[str], most: int) -> None:
    whole = script(trials=8, checks={"attention": {"end_after": most}})
    facts = {
        key: one for n, say in enumerate(said, 1) for key, one in rule_verdict(f"trial:{n}", say, minute=n).items()
    }
    is_over = said.count("fail") >= most
    assert due_after(whole, facts) == (Ending("failed_checks", "attention:wrong") if is_over else Ending("completed"))


def test_failures_of_different_rules_are_not_added_up() -> None:
    whole = script(checks={"attention": {"end_after": 2}, "focus": {"end_after": 2}})
    facts = {**rule_verdict("trial:1", "fail"), **rule_verdict("trial:2", "fail", "focus")}
    assert due_after(whole, facts) == Ending("completed")
    assert due_after(whole, {**facts, **rule_verdict("trial:3", "fail", "focus")}) == Ending(
        "failed_checks", "focus:wrong"
    )


def test_without_a_rule_that_acts_at_once_nothing_that_was_told_counts() -> None:
    whole = script(checks={"attention": {"end_after": None}})
    assert whole.rules == {}
    assert due_after(
        whole, {**rule_verdict("trial:1", "fail"), **rule_verdict("trial:2", "fail", again=True)}
    ) == Ending("completed")


def test_a_trial_comes_again_before_anything_else_and_counts_as_it_was_answered_last() -> None:
    whole = script(checks={"focus": {"action": "retry", "retries": 2, "end_after": 1}})
    said = rule_verdict("trial:2", "fail", "focus", again=True)
    assert due_after(whole, said, 4) == "trial:2:2"
    again = {**answers(whole, 4), "trial:2:2": {}}
    assert next_step(whole, again, said, NOON) == whole.find("break:1")
    said |= rule_verdict("trial:2:2", "fail", "focus", again=True)
    assert next_step(whole, again, said, NOON) == whole.find("trial:2:3")
    again["trial:2:3"] = {}
    for last, expected in (("pass", whole.find("break:1")), ("fail", Ending("failed_checks", "focus:wrong"))):
        assert next_step(whole, again, {**said, **rule_verdict("trial:2:3", last, "focus")}, NOON) == expected


def test_what_would_not_play_at_last_counts_as_missing_and_what_did_does_not() -> None:
    whole = script(trials=4, checks={"focus": {"action": "retry"}})
    gone: dict[str, Any] = {"missing": {"s1": "media_error"}}
    given = {**answers(whole, 2), "trial:1": gone, "trial:2": gone}
    assert next_step(whole, given) == Ending("technical", "media_error")
    said = {"scores": {"q1": {"s1": 50}}}
    assert next_step(whole, {**given, "trial:1:2": said, "trial:2:2": said}) == whole.find("break:1")


ONCE, WARNED = {"action": "gate", "attempts": 1}, {"action": "warn", "attempts": 1}


@pytest.mark.parametrize(
    ("rule", "said", "expected"),
    [
        ({"action": "gate"}, {}, "check:colour:1"),
        ({"action": "gate"}, check_verdict("check:colour:1", "fail", "plates"), "check:colour:2"),
        (ONCE, check_verdict("check:colour:1", "fail", "plates"), Ending("screened_out", "colour:plates")),
        (
            {"action": "gate"},
            check_verdict("check:colour:1", "fail", "cannot"),
            Ending("screened_out", "colour:cannot"),
        ),
        ({"action": "gate"}, check_verdict("check:colour:1", "unknown", "x"), "trial:1"),
        ({"action": "gate"}, check_verdict("check:colour:1", "unknown", "control", again=True), "check:colour:2"),
        (ONCE, check_verdict("check:colour:1", "unknown", "control", again=True), "trial:1"),
        ({"action": "warn"}, check_verdict("check:colour:1", "fail", "plates"), "check:colour:2"),
        (WARNED, check_verdict("check:colour:1", "fail", "plates"), "trial:1"),
        ({"action": "flag"}, check_verdict("check:colour:1", "fail", "plates"), "trial:1"),
        ({"action": "record"}, check_verdict("check:colour:1", "fail", "plates"), "trial:1"),
        (WARNED, check_verdict("check:colour:1", "fail", "x", action="gate"), Ending("screened_out", "colour:x")),
    ],
)  # fmt: skip
def test_what_a_verdict_leads_to(rule: dict[str, Any], said: dict[str, StoredVerdict], expected: str | Ending) -> None:
    assert due_step(checked(colour=rule), said) == expected


def test_the_wrong_device_has_an_outcome_of_its_own() -> None:
    whole = checked(device={"attempts": 1})
    assert due_step(whole, check_verdict("check:device:1", "fail", "phone")) == Ending("wrong_device", "device:phone")


def test_at_a_break_another_device_brings_back_all_that_belongs_to_a_device() -> None:
    whole = checked(acuity=True, colour=True)
    rated = {**AGREED, "trial:1": {}, "trial:2": {}, "break:1": {}}
    said = {**check_verdict("check:colour:1"), **check_verdict("check:card:1"), **check_verdict("check:acuity:1")}
    late = NOON + 60 * DAY
    assert due_step(whole, said, rated, late) == "trial:3", "nobody is sent back to the eyes at a break"
    said |= check_verdict("device:1", "unknown", "moved", NOON + timedelta(minutes=1), device=PHONE)
    assert due_step(whole, said, {**rated, "trial:3": {}}, late) == Ending("completed"), "never after the next trial"
    assert due_step(whole, said, rated, late) == "check:card:2"
    said |= check_verdict("check:card:2", at=late)
    assert due_step(whole, said, rated, late) == "check:acuity:2"
    said |= check_verdict("check:acuity:2", at=late)
    assert due_step(whole, said, rated, late) == "trial:3"
