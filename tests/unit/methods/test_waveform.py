"""Whose sound is drawn over the line of time: never that of a version by itself."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from beholder.methods import find
from beholder.methods.contract import Trial
from beholder.methods.waveform import drawn_slots, waveform_problems, waveform_warnings
from beholder.study.model import Playback
from support.method_studies import catalogue_of, make_study, planned

SOURCE = {"name": "source", "role": "reference"}
IDENTIFY, CLOSEST = {"mode": "identify"}, {"mode": "closest"}


def trials_of(method: str, conditions: Sequence[Any], **keys: Any) -> tuple[Trial, ...]:
    study = make_study(method, conditions, design={"participants": 6, "trials": 2}, **keys)
    return planned(study, catalogue_of(study, medium="audio"))[1]


def drawn(method: str, trial: Trial, **playback: Any) -> tuple[str, ...]:
    return drawn_slots(find(method), trial, Playback(**playback))


@pytest.mark.parametrize(
    ("method", "keys"), [("mushra", {}), ("bs1116", {}), ("parallel", {"options": {"reference": "both"}})]
)
def test_it_is_the_named_reference_and_never_the_hidden_one(method: str, keys: dict[str, Any]) -> None:
    places = set()
    for trial in trials_of(method, [SOURCE, "near", "far"], **keys):
        for playback in ({}, {"waveform": True}):
            (slot,) = drawn(method, trial, **playback)
            assert trial.slot_by_id[slot].label == "reference"
            assert not trial.slot_by_id[slot].rated
        assert drawn(method, trial, waveform=False) == ()
        places |= {slot.id for slot in trial.slots if slot.role == "hidden_reference"}
    assert len(places) > 1, "it is hidden in several places, and nothing that is drawn depends on them"


def test_without_a_named_reference_it_is_nothing_or_all_together() -> None:
    for trial in trials_of("parallel", [SOURCE, "near", "far"], options={"reference": "hidden"}):
        assert drawn("parallel", trial) == drawn("parallel", trial, loop="region") == ()
        assert drawn("parallel", trial, waveform=True) == tuple(slot.id for slot in trial.slots)


def test_an_x_that_is_a_copy_is_never_drawn_alone_though_it_copies_a_reference() -> None:
    copied = set()
    for trial in trials_of("abx", [SOURCE, "near"], options=IDENTIFY):
        copied.add(trial.slot_by_id["s3"].role)
        assert drawn("abx", trial) == drawn("abx", trial, loop="region") == ()
        assert drawn("abx", trial, waveform=True) == ("s1", "s2", "s3")
    assert copied == {"hidden_reference", "test"}


def test_an_x_that_is_the_reference_is_drawn_where_its_page_has_a_line_of_time() -> None:
    for trial in trials_of("abx", [SOURCE, "near", "far"], options=CLOSEST):
        assert drawn("abx", trial) == ()
        assert drawn("abx", trial, loop="region") == drawn("abx", trial, waveform=True) == ("s3",)
        assert drawn("abx", trial, loop="region", waveform=False) == ()


def test_pages_that_play_one_after_the_other_draw_nothing() -> None:
    (trial, *_) = trials_of("acr", ["near", "far"])
    assert drawn("acr", trial, waveform=True, loop="region") == ()
    (trial, *_) = trials_of("abx", ["near", "far"], options={**IDENTIFY, "presentation": "sequential"})
    assert drawn("abx", trial, waveform=True, loop="region") == ()


def problems_of(
    method: str, conditions: Sequence[Any] = ("near", "far"), medium: Any = "audio", **keys: Any
) -> list[str]:
    study = make_study(method, conditions, **{"playback": {"waveform": True}, **keys})
    found = waveform_problems(study, catalogue_of(study, medium=medium), find(method))
    return [str(problem) for problem in found]


def test_a_waveform_that_pages_cannot_have_is_a_problem() -> None:
    assert problems_of("parallel") == problems_of("rank", ("a", "b", "c")) == problems_of("ab") == []
    assert problems_of("acr", playback={"waveform": False}) == problems_of("acr", playback={}) == []
    assert problems_of("mushra", (SOURCE, "near"), medium="video") == [
        "playback.waveform  is true, and the stimuli are videos. Allowed: true with sounds alone. Take it out."
    ]
    assert problems_of("acr") == [
        "playback.waveform  is true, and pages of acr play sounds one after the other, without a line of time. "
        "Allowed: methods with play buttons, such as mushra. Take it out."
    ]
    assert problems_of("abx", options={**IDENTIFY, "presentation": "sequential"}) == [
        "playback.waveform  is true, and pages of abx play sounds one after the other, without a line of time. "
        "Allowed: methods with play buttons, such as mushra. Write options: {presentation: free}, or take it out."
    ]


def warnings_of(method: str, conditions: Sequence[Any], waveform: bool | None, **keys: Any) -> list[str]:
    study = make_study(method, conditions, **({} if waveform is None else {"playback": {"waveform": waveform}}), **keys)
    trials = planned(study, catalogue_of(study, medium="audio"))[1]
    return [str(problem).partition("  ")[2] for problem in waveform_warnings(study, find(method), iter(trials))]


def test_check_says_what_a_waveform_without_a_reference_gives_away() -> None:
    told = [
        "playback.waveform is true, and pages show no reference: they draw the loudest of all versions at each moment. "
        "It is the same in every order, and cannot tell which is which; it can tell at which moments one of them "
        "stands out. Take it out where that would guide the ear."
    ]
    assert warnings_of("abx", ("near", "far"), True, options=IDENTIFY) == told
    assert warnings_of("parallel", ("near", "far"), True) == told
    assert warnings_of("parallel", ("near", "far"), None) == []
    assert warnings_of("mushra", (SOURCE, "near"), True) == []
    assert warnings_of("abx", (SOURCE, "near", "far"), True, options=CLOSEST) == []


def test_a_method_of_somebody_else_cannot_have_a_version_drawn_that_is_rated() -> None:
    (trial, *_) = trials_of("parallel", ["near", "far"])
    method = SimpleNamespace(name="theirs", task="board", open_reference=lambda _: "s2")
    assert drawn_slots(method, trial, Playback()) == ()  # type: ignore[arg-type]
    assert drawn_slots(method, trial, Playback(waveform=True)) == ("s1", "s2")  # type: ignore[arg-type]
