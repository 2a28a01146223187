"""Stimuli that ask for an answer: those of the researcher, and with one question at a time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from beholder.checks.known_answers import Attention, Trap
from beholder.errors import StudyError
from beholder.methods import find, load_study
from beholder.planning.message_trials import load_stimuli, page_form
from support.check_plans import (
    SURVEY,
    gold,
    plan_of,
    slots_of,
    with_lessons,
)
from support.method_studies import catalogue_of, make_study


def test_a_researchers_own_stimuli_ask_and_none_are_made() -> None:
    study = make_study("acr", list("ab"), checks={"trap": {"per_session": 1}})
    own = with_lessons(catalogue_of(study), "trap", gold("trap/x", 9, 2), gold("trap/one", 10, 4, 1))
    plan, catalogue = plan_of(study, own)
    assert catalogue == own
    assert {(slot.stimulus, trial.targets["q1.s1"]) for trial, slot in slots_of(plan, "trap")} == {
        ("trap:trap/x", (2, 0, "", True, ())), ("trap:trap/one", (4, 1, "", True, ())),
    }  # fmt: skip
    board = make_study("parallel", list("ab"), checks={"attention": {"per_session": 1}})
    clips = [gold(f"attention/{content}", 9, 40) for content in ("one", "two", "three")]
    plan, _ = plan_of(board, with_lessons(catalogue_of(board), "attention", *clips))
    assert {target for trial, _ in slots_of(plan, "attention") for target in trial.targets.values()} == {
        (40, 3, "", True, ())
    }


def test_a_question_at_a_time_can_ask_as_well() -> None:
    questions = [*SURVEY[:2], {"id": "grade", "text": "?", "scale": "acr5"}, {"id": "t", "text": "?", "ticks": ["x"]}]
    study = make_study("likert", list("abcd"), questions=questions, options={"layout": "random"}, checks={"trap": True})
    plan, _ = plan_of(study)
    asked = Counter(trial.asked[0].question for trial, _ in slots_of(plan, "trap"))
    # Its words are on one scale, so it asks where that is.
    assert set(asked) <= {"item0", "item1"}
    assert all(len(trial.targets) == 1 for trial, _ in slots_of(plan, "trap"))


def form(method: str, rule: Attention.Options | Trap.Options | None = None, **keys: Any) -> Any:
    study = make_study(method, keys.pop("conditions", ["a", "b"]), **keys)
    return page_form(study, catalogue_of(study), find(method), rule or Attention.Options())


def test_a_slider_is_asked_for_whole_numbers_in_the_range() -> None:
    message_form = form("parallel")
    assert (message_form.wording, message_form.tolerance) == ("slider", 3)
    assert [choice.value for choice in message_form.choices] == list(range(5, 96))
    assert [choice.value for choice in form("parallel", Attention.Options(targets=(40, 45), tolerance=1)).choices] == [
        40, 41, 42, 43, 44, 45,
    ]  # fmt: skip


def test_a_range_for_a_hundred_is_brought_to_other_sliders() -> None:
    scale = {"min": 0, "max": 10, "step": 1}
    message_form = form("parallel", questions=[{"id": "q", "text": "?", "scale": scale}])
    assert ([choice.value for choice in message_form.choices], message_form.tolerance) == (
        [1, 2, 3, 4, 5, 6, 7, 8, 9],
        0,
    )


def test_numbers_that_sound_alike_are_not_said() -> None:
    message_form = form("parallel", Attention.Options(say="voice"))
    values = {choice.value for choice in message_form.choices}
    assert values.isdisjoint((13, 30, 15, 50, 19, 90))
    assert {12, 37, 88} <= values


def test_categories_are_asked_for_by_their_words() -> None:
    message_form = form("acr", Trap.Options())
    assert (message_form.wording, message_form.tolerance) == ("label", 0)
    assert [(choice.value, choice.label) for choice in message_form.choices] == [
        (1, "Bad"), (2, "Poor"), (3, "Fair"), (4, "Good"), (5, "Excellent"),
    ]  # fmt: skip
    many = form("acr", Trap.Options(), questions=[{"id": "one", "text": "?"}, {"id": "two", "text": "?"}])
    assert many.wording == "every"
    plain = {"min": 1, "max": 4, "look": "radio"}
    bare = form("acr", Trap.Options(), questions=[{"id": "q", "text": "?", "scale": plain}])
    assert (bare.wording, [choice.value for choice in bare.choices]) == ("value", [1, 2, 3, 4])


def test_one_of_two_asks_to_be_chosen_or_for_a_grade() -> None:
    assert (form("pair", Trap.Options()).wording, form("pair", Trap.Options()).choices[0].value) == ("this", 1)
    grades = {"min": -3, "max": 3, "step": 2, "look": "radio"}
    graded = form("pair", Trap.Options(), questions=[{"id": "q", "text": "?", "scale": grades}])
    assert (graded.choices[0].value, graded.tolerance) == (3, 2)  # any grade, for this one
    assert [choice.label for choice in form("ccr", Trap.Options()).choices][::6] == ["Much worse", "Much better"]
    assert form("abx", Trap.Options(), options={"mode": "identify"}) is None
    third = [{"name": "o", "role": "reference"}, "a", "b"]
    assert form("abx", Trap.Options(), conditions=third, options={"mode": "closest"}) is None


def test_stimuli_that_ask_are_not_made_for_several_languages(tmp_path: Path) -> None:
    for condition in ("short", "long"):
        for content in ("city", "river", "sea"):
            path = tmp_path / "stimuli" / condition / f"{content}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{condition} words about {content}, and some more of them", "utf-8")
    (tmp_path / "study.yaml").write_text(
        "beholder: 1\nname: tea\ntitle: {en: Tea, de: Tee}\nlanguages: [en, de]\nmethod: acr\nstimuli: stimuli\n"
        "questions: [{id: quality, text: {en: How good?, de: Wie gut?}, scale: acr5}]\n"
        "design: {participants: 4, trials: 2}\nchecks: {attention: {per_session: 1}}\n",
        "utf-8",
    )
    study = load_study(tmp_path)
    with pytest.raises(StudyError) as caught:
        load_stimuli(study, find(study.method))
    assert str(caught.value) == (
        "study.yaml:9  checks.attention asks by attention stimuli that are made in one language, and the study has 2. "
        "Allowed: one language. Use gold stimuli or trap_item, bring stimuli of your own with this role that ask "
        "without words, or run a study for each language."
    )
