"""Lists of a plan as JSON: any list comes back as it was."""

from __future__ import annotations

import dataclasses
import json

from hypothesis import given
from hypothesis import strategies as st

from beholder.methods.contract import Asked, Break, Slot, Target, Trial
from beholder.planning.model import PlannedList
from beholder.planning.serialization import list_from_json, list_to_json
from beholder.study.questions import SCALES, Scale
from support.tiny_plans import tiny_plan

WORDS = st.text(max_size=8)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)


SCALE = st.sampled_from([*SCALES.values(), Scale(min=-1, max=1, step=0.5), Scale(min=0, max=1, labels=((0.25, "ä"),))])


SLOT = st.builds(
    Slot,
    st.sampled_from(["s1", "s2", "x"]),
    WORDS,
    st.sampled_from(["test", "reference", "attention"]),
    st.none() | WORDS,
    st.booleans(),
    st.none() | WORDS,
)


ASKED = st.builds(
    Asked,
    st.just(""),
    WORDS,
    st.sampled_from(["ask", "trap", "repeat"]),
    WORDS,
    SCALE,
    st.sampled_from(["+", "-"]),
    st.lists(WORDS, max_size=2).map(tuple),
)


TARGET = st.builds(
    Target, st.floats(0, 100), st.floats(0, 5), WORDS, st.booleans(), st.lists(st.floats(0, 100), max_size=2).map(tuple)
)


TRIAL = st.builds(
    Trial,
    WORDS,
    WORDS,
    st.sampled_from(["rate", "train"]),
    st.lists(SLOT, max_size=3).map(tuple),
    st.lists(ASKED, max_size=2).map(lambda page: tuple(a._replace(id=f"q{n}") for n, a in enumerate(page, 1))),
    st.dictionaries(WORDS, JSON, max_size=2),
    st.dictionaries(WORDS, TARGET, max_size=2),
    st.booleans(),
)


LIST = st.builds(PlannedList, st.integers(1, 99), st.lists(TRIAL | st.builds(Break, WORDS), max_size=3).map(tuple))


@given(LIST)
def test_any_list_comes_back_from_json_as_it_was(planned: PlannedList) -> None:
    assert list_from_json(json.loads(json.dumps(list_to_json(planned)))) == planned


def test_a_list_as_json_says_each_question_once() -> None:
    text = json.dumps(list_to_json(tiny_plan().lists[0]))
    assert text.count("How good?") == 1
    assert text.count('"trial":') == 4


def test_a_single_slot_trial_keeps_what_is_unusual() -> None:
    slot = Slot("s1", "t-a", "test", "Z", False, None)
    planned = PlannedList(3, (Trial("trial:1", "t", "rate", (slot,), ()),))
    assert list_from_json(list_to_json(planned)) == planned
    assert dataclasses.replace(planned, number=4) != planned
