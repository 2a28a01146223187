"""Where a participant is: a pure function of the script and the facts, whatever happens on the way."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import Refused
from beholder.methods.contract import Slot, Trial
from beholder.server.flow import Ending, next_step, read_step_answer
from beholder.server.script import PlannedStep, make_script, sets_volume
from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus
from beholder.study.model import Ask
from support.scripts import answers, script, study

SCREEN = Ask(id="field", text="?", type="single", options=("yes", "no"), correct=("no",))
AGE = Ask(id="age", text="?", type="number", min=18, max=99, required=False)


def test_the_steps_come_in_their_order() -> None:
    whole = script(before=[SCREEN], after=[AGE])
    assert [step.key for step in whole.steps] == [
        "consent", "questions:before", "text:instructions", "trial:1", "trial:2", "break:1", "trial:3",
        "questions:after",
    ]  # fmt: skip


def test_the_volume_is_set_after_the_instructions() -> None:
    keys = [step.key for step in make_script(study(), [], has_volume=True).steps]
    assert keys == ["consent", "text:instructions", "volume"]


@pytest.mark.parametrize(
    ("playback", "medium", "is_set"),
    [
        ({}, "audio", True), ({}, "video", False),
        ({"volume": True}, "video", True), ({"volume": False}, "audio", False),
        ({"sound": "off"}, "audio", False), ({"sound": "off", "volume": True}, "video", False),
    ],
)  # fmt: skip
def test_the_volume_is_set_where_there_is_sound_or_the_study_says_so(playback: Any, medium: Any, is_set: bool) -> None:
    stimulus = Stimulus("c/t", "t", "c", "test", medium, "c/t", "", Probe(0, "", 0, 0, 0, 0, "", "", 0), Path())
    assert sets_volume(study(playback=playback), Catalogue((stimulus,), ("c",), ("t",))) is is_set


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
