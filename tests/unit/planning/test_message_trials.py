"""Stimuli that ask for an answer: which answers, made of what, and made once."""

from __future__ import annotations

from typing import Any

from beholder.methods import find
from beholder.planning.message_trials import page_form
from beholder.study.checks import Attention, Trap
from support.method_studies import catalogue_of, make_study


def form(method: str, rule: Attention | Trap | None = None, **keys: Any) -> Any:
    study = make_study(method, keys.pop("conditions", ["a", "b"]), **keys)
    return page_form(study, catalogue_of(study), find(method), rule or Attention())


# Which answers


def test_a_slider_is_asked_for_whole_numbers_in_the_range() -> None:
    found = form("parallel")
    assert (found.way, found.tolerance) == ("slider", 3)
    assert [choice.value for choice in found.choices] == list(range(5, 96))
    assert [choice.value for choice in form("parallel", Attention(targets=(40, 45), tolerance=1)).choices] == [
        40, 41, 42, 43, 44, 45,
    ]  # fmt: skip


def test_a_range_for_a_hundred_is_brought_to_other_sliders() -> None:
    scale = {"min": 0, "max": 10, "step": 1}
    found = form("parallel", questions=[{"id": "q", "text": "?", "scale": scale}])
    assert ([choice.value for choice in found.choices], found.tolerance) == ([1, 2, 3, 4, 5, 6, 7, 8, 9], 0)


def test_numbers_that_sound_alike_are_not_said() -> None:
    found = form("parallel", Attention(say="voice"))
    values = {choice.value for choice in found.choices}
    assert values.isdisjoint((13, 30, 15, 50, 19, 90))
    assert {12, 37, 88} <= values


def test_categories_are_asked_for_by_their_words() -> None:
    found = form("acr", Trap())
    assert (found.way, found.tolerance) == ("label", 0)
    assert [(choice.value, choice.label) for choice in found.choices] == [
        (1, "Bad"), (2, "Poor"), (3, "Fair"), (4, "Good"), (5, "Excellent"),
    ]  # fmt: skip
    many = form("acr", Trap(), questions=[{"id": "one", "text": "?"}, {"id": "two", "text": "?"}])
    assert many.way == "every"
    plain = {"min": 1, "max": 4, "look": "radio"}
    bare = form("acr", Trap(), questions=[{"id": "q", "text": "?", "scale": plain}])
    assert (bare.way, [choice.value for choice in bare.choices]) == ("value", [1, 2, 3, 4])


def test_one_of_two_asks_to_be_chosen_or_for_a_grade() -> None:
    assert (form("pair", Trap()).way, form("pair", Trap()).choices[0].value) == ("this", 1)
    grades = {"min": -3, "max": 3, "step": 2, "look": "radio"}
    graded = form("pair", Trap(), questions=[{"id": "q", "text": "?", "scale": grades}])
    assert (graded.choices[0].value, graded.tolerance) == (3, 2)  # any grade, for this one
    assert [choice.label for choice in form("ccr", Trap()).choices][::6] == ["Much worse", "Much better"]
    assert form("abx", Trap(), options={"mode": "identify"}) is None
    third = [{"name": "o", "role": "reference"}, "a", "b"]
    assert form("abx", Trap(), conditions=third, options={"mode": "closest"}) is None


# Made


# Gold, and one's own
