"""Comparisons: which answers are read, and that the sign is about stimuli, never about places."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.methods import find
from beholder.methods.choices import scale_of_ratings
from beholder.methods.contract import Asked
from beholder.study.questions import SCALES
from support.method_studies import ODD, QUESTION, answer_of, make_study, one_trial, planned, problems
from support.method_trials import QUALITY, REFERENCE, about_stimuli, mirrored, refusal, swapped, trial_of


def test_a_scale_of_a_comparison_is_the_same_to_both_sides() -> None:
    def scale_problems(**scale: Any) -> list[str]:
        return problems(make_study("pair", options={"tie": True}, questions=[{**QUESTION, "scale": scale}]))

    assert scale_problems(min=1, max=5, look="radio") == [
        "questions.0.scale goes from 1 to 5, and a comparison is the same to both sides. Allowed: -5 to 5."
    ]
    assert scale_problems(min=-2, max=2) == [
        "questions.0.scale has the look slider, and a comparison is a choice of words. Allowed: look: radio."
    ]
    assert scale_problems(min=-1, max=1, step=2, look="radio", labels=["Left one", "Right one"]) == [
        "questions.0.scale has no 0, and options.tie asks for one. Allowed: a scale with 0. Write scale: pref3."
    ]
    assert scale_problems(name="pref3", numbers="ticks") == [
        "questions.0.scale.numbers is ticks, and answers of a comparison are sentences, whose sign nobody needs to "
        "know. Take it out."
    ]


@pytest.mark.parametrize(
    ("choice", "where", "what", "allowed"),
    [
        ({}, "", "The choice cannot be read", '{"better": slot, "grade": number}'),
        ({"better": "s1"}, ".grade", "None is not a grade", "1, 2, 3"),
        ({"better": "s1", "grade": 0}, ".grade", "0 is not a grade", "1, 2, 3"),
        ({"better": "s1", "grade": -2}, ".grade", "-2 is not a grade", "1, 2, 3"),
        ({"better": "s1", "grade": 4}, ".grade", "4 is not a grade", "1, 2, 3"),
        ({"better": "s1", "grade": 1.5}, ".grade", "1.5 is not a grade", "1, 2, 3"),
        ({"better": "s1", "grade": True}, ".grade", "True is not a grade", "1, 2, 3"),
        ({"better": "s3", "grade": 1}, ".better", "'s3' cannot be better", "s1, s2, tie"),
        ({"better": None, "grade": 1}, ".better", "None cannot be better", "s1, s2, tie"),
        ({"better": "tie", "grade": 1}, ".grade", "A tie has no grade", "leave it out"),
        ({"grade": 1}, "", "The choice cannot be read", '{"better": slot, "grade": number}'),
    ],
)
def test_a_choice_that_is_not_one_is_refused(choice: Any, where: str, what: str, allowed: str) -> None:
    method, trial = trial_of("ccr")
    assert refusal(method, trial, {"choices": {"q1": choice}}) == (f"answer.choices.q1{where}", what, allowed)


def test_reasons_are_kept_where_they_are_asked_for() -> None:
    choices: dict[str, Any] = {"choices": {"q1": {"better": "s1"}}}
    said = {**choices, "reasons": {"q1": ["It is sharper."]}}
    method, trial = trial_of("pair")
    assert refusal(method, trial, said) == ("answer.reasons", "No reasons are asked for", "leave them out")
    method, trial = trial_of("pair", options={"reason": "optional"})
    assert method.read(trial, said) == said
    assert method.read(trial, choices) == choices
    assert method.read(trial, {**choices, "reasons": {}}) == choices
    bad: Any
    for bad in (["x"], {"q2": ["x"]}, "x"):
        assert refusal(method, trial, {**choices, "reasons": bad})[1] == "The reasons cannot be kept"
    for bad in ({"q1": "x"}, {"q1": [1]}, {"q1": {"a": "b"}}):
        assert refusal(method, trial, {**choices, "reasons": bad})[1] == "The reason cannot be kept"
    for bad in ({"q1": ["x" * 5001]}, {"q1": [""] * 21}):
        assert refusal(method, trial, {**choices, "reasons": bad}) == (
            "answer.reasons.q1", "The reason is too long", "up to 5000 characters in up to 20 texts",
        )  # fmt: skip


@pytest.mark.parametrize("reasons", [None, {}, {"q1": []}, {"q1": [" "]}])
def test_a_required_reason_must_be_there(reasons: Any) -> None:
    method, trial = trial_of("ab")
    answer = {"choices": {"q1": {"better": "tie"}}, **({} if reasons is None else {"reasons": reasons})}
    where, what, _ = refusal(method, trial, answer)
    assert where.startswith("answer.reasons")
    assert what in ("A reason is missing", "The reasons cannot be kept")


@pytest.mark.parametrize("name", ["ccr", "pair", "abx"])
def test_a_comparison_of_which_a_part_is_missing_has_no_value(name: str) -> None:
    method, trial = trial_of(name)
    for slot in trial.slots:
        answer = {"choices": {}, "missing": {slot.id: "media_error"}}
        assert method.read(trial, answer) == answer
        assert method.read(trial, {"missing": {slot.id: "media_error"}}) == answer
        (rating,) = method.judgements(trial, answer)
        assert (rating.value, rating.raw_value, rating.missing) == (None, None, "media_error")
        good = answer_of(method, trial, QUALITY)
        assert refusal(method, trial, {**good, **{"missing": {slot.id: "media_error"}}}) == (
            "answer.choices", "There is nothing to compare", "{} where a slot is missing",
        )  # fmt: skip


COMPARISONS = [
    ("ccr", "ccr7", {}),
    ("ccr", "ccr5", {}),
    ("ccr", "ccr9", {}),
    ("ccr", "ccr7", {"presentation": "side-by-side"}),
    ("pair", "pref2", {}),
    ("pair", "pref3", {"tie": True}),
    ("pair", "pref2", {"presentation": "free"}),
    ("ab", "pref2", {}),
    ("ab", "pref3", {"tie": True}),
]


def all_choices(asked: Asked) -> list[dict[str, Any]]:
    """Return every choice that a question allows."""
    scale = asked.scale
    values = [scale.min + scale.step * place for place in range(round((scale.max - scale.min) / scale.step) + 1)]
    grades = [int(value) for value in values if value > 0]
    graded = [{"better": slot, "grade": grade} for slot in ("s1", "s2") for grade in grades]
    plain = [{"better": choice["better"]} for choice in graded]
    return (graded if len(grades) > 1 else plain) + [{"better": "tie"}] * scale.holds(0)


@pytest.mark.parametrize(("name", "scale", "options"), COMPARISONS)
@pytest.mark.parametrize("conditions", [REFERENCE, ["a", "b"], list(ODD[:2]), list(ODD[3:5])])
def test_swapping_the_two_slots_changes_no_rating(
    name: str, scale: str, options: dict[str, Any], conditions: list[Any]
) -> None:
    study = make_study(name, conditions, options=options, questions=[{**QUESTION, "scale": scale}])
    method, trial = one_trial(study)
    for choice in all_choices(trial.asked[0]):
        answer = method.read(trial, {"choices": {"q1": choice}})
        turned = swapped(trial)
        (one,) = method.judgements(trial, answer)
        (two,) = method.judgements(turned, method.read(turned, mirrored(answer)))
        assert about_stimuli(trial, one) == about_stimuli(turned, two)
        assert one.raw_value == -(two.raw_value or 0)


@pytest.mark.parametrize(("name", "scale", "options"), COMPARISONS)
def test_the_value_is_the_raw_value_when_the_judged_one_stands_second_else_its_opposite(
    name: str, scale: str, options: dict[str, Any]
) -> None:
    study = make_study(name, REFERENCE, options=options, questions=[{**QUESTION, "scale": scale}])
    method, trials = planned(study)
    seen = set()
    for trial in trials:
        for choice in all_choices(trial.asked[0]):
            (rating,) = method.judgements(trial, method.read(trial, {"choices": {"q1": choice}}))
            assert rating.value is not None
            assert rating.raw_value is not None
            assert rating.raw_value == {"s1": -1, "s2": 1, "tie": 0}[choice["better"]] * choice.get("grade", 1)
            assert rating.value == (rating.raw_value if rating.slot == "s2" else -rating.raw_value)
            assert trial.asked[0].scale.holds(rating.value)
            seen.add(rating.slot)
    assert seen == {"s1", "s2"}, "both orders are in the plan"


@pytest.mark.parametrize(("name", "scale", "options"), COMPARISONS)
@pytest.mark.parametrize("better", ["test", "source"])
def test_a_planted_truth_gives_the_right_sign_in_both_orders(
    name: str, scale: str, options: dict[str, Any], better: str
) -> None:
    """Above zero is the one under test, on every scale, wherever it slot_facts."""
    study = make_study(name, REFERENCE, options=options, questions=[{**QUESTION, "scale": scale}])
    method, trials = planned(study)
    quality = {"test": 0.2, "source": 0.2, better: 0.9}
    for trial in trials:
        (rating,) = method.judgements(trial, answer_of(method, trial, quality))
        slots = {slot.id: slot for slot in trial.slots}
        assert slots[rating.slot].stimulus.startswith("test/")
        assert rating.value is not None
        assert (rating.value > 0) == (better == "test")


@pytest.mark.parametrize("names", [("Zebra", "apple"), ("apple", "Zebra"), ("no", "01"), ("NA", "-"), ODD[5:7]])
def test_between_two_tests_the_earlier_condition_of_the_study_is_judged(names: tuple[str, str]) -> None:
    """Never the one that comes first in some alphabet, on the left, or under the letter A."""
    method, trials = planned(make_study("pair", names))
    for trial in trials:
        (rating,) = method.judgements(trial, answer_of(method, trial, {names[0]: 1.0, names[1]: 0.0}))
        assert next(slot.stimulus for slot in trial.slots if slot.id == rating.slot).startswith(f"{names[0]}/")
        assert rating.value == 1


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(["ccr7", "ccr5", "ccr9"]))
def test_every_pair_of_percepts_gives_an_answer_on_the_scale(one: float, two: float, scale: str) -> None:
    method, trial = TRIALS[scale]
    answer = answer_of(method, trial, {"source": one, "test": two})
    (rating,) = method.judgements(trial, answer)
    assert rating.value is not None
    assert SCALES[scale].holds(rating.value)


TRIALS = {
    scale: one_trial(make_study("ccr", REFERENCE, questions=[{**QUESTION, "scale": scale}]))
    for scale in ("ccr7", "ccr5", "ccr9")
}


def test_equal_percepts_lead_to_ties_where_there_are_any_and_to_both_sides_where_not() -> None:
    for tie, wanted in ((True, "tie"), (False, "s")):
        method, trial = one_trial(make_study("pair", options={"tie": tie}))
        said = [answer_of(method, trial, {"a": 0.5, "b": 0.5}, seed)["choices"]["q1"]["better"] for seed in range(30)]
        assert sum(word.startswith(wanted) for word in said) > 20
        assert {"s1", "s2"} <= set(said) or tie


def test_the_words_of_ratings_say_what_was_better_and_not_where_it_stood() -> None:
    for presentation in ("side-by-side", "sequential"):
        shown = one_trial(make_study("ccr", REFERENCE, options={"presentation": presentation}))[1].asked[0].scale
        assert scale_of_ratings(shown, None) == SCALES["ccr7"]
    for name, words in (
        ("ccr5", ["Foreign clearly better", "Foreign slightly better", "Equal", "Own slightly better",
                  "Own clearly better"]),
        ("pref3", ["Foreign", "No difference", "Own"]),
    ):  # fmt: skip
        study = make_study("mismatch", questions=[{**QUESTION, "scale": name}])
        (asked,) = find("mismatch").questions(study)
        assert asked.scale != SCALES[name]
        assert [text for _, text in scale_of_ratings(asked.scale, ("Foreign", "Own")).labels] == words
    own = SCALES["ccr5"].model_copy(update={"labels": ((-2, "Former"), (2, "Latter"))})
    assert scale_of_ratings(own, ("Foreign", "Own")) == own


def test_the_words_of_a_named_scale_name_the_side_and_own_words_stay() -> None:
    sides = {"presentation": "side-by-side"}
    study = make_study("ccr", REFERENCE, options=sides)
    assert [text for _, text in one_trial(study)[1].asked[0].scale.labels] == [
        "Left much better", "Left better", "Left slightly better", "About the same", "Right slightly better",
        "Right better", "Right much better",
    ]  # fmt: skip
    study = make_study("ccr", REFERENCE, options=sides, questions=[{**QUESTION, "scale": "ccr5"}])
    assert [text for _, text in one_trial(study)[1].asked[0].scale.labels] == [
        "Left clearly better", "Left slightly better", "Equal", "Right slightly better", "Right clearly better",
    ]  # fmt: skip
    own = {"min": -1, "max": 1, "labels": {-1: "Former", 0: "Same", 1: "Latter"}, "look": "radio"}
    study = make_study("ccr", REFERENCE, options=sides, questions=[{**QUESTION, "scale": own}])
    assert [text for _, text in one_trial(study)[1].asked[0].scale.labels] == ["Former", "Same", "Latter"]
    for presentation, words in (
        ("sequential", ["First", "Second"]),
        ("side-by-side", ["Left", "Right"]),
        ("free", ["A", "B"]),
    ):
        study = make_study("pair", options={"presentation": presentation})
        assert [text for _, text in one_trial(study)[1].asked[0].scale.labels] == words
