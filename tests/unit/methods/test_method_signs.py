"""The sign of a comparison is about stimuli, never about places: swap two slots, and the rating is the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.methods.contract import Asked, Judgement, Trial
from beholder.study.questions import SCALES
from support.method_studies import ODD, QUESTION, answer_of, make_study, one_trial, planned

REFERENCE = [{"name": "source", "role": "reference"}, "test"]
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


def swapped(trial: Trial) -> Trial:
    """Return the trial with its two rated slots the other way round, named by their places."""
    first, second, *rest = trial.slots
    slots = (second._replace(id=first.id, label=first.label), first._replace(id=second.id, label=second.label), *rest)
    return replace(trial, slots=slots)


def mirrored(answer: Any) -> Any:
    """Return what somebody says who means the same after the swap."""
    other = {"s1": "s2", "s2": "s1", "tie": "tie", "unsure": "unsure"}
    return {
        "choices": {
            name: {key: other.get(said, said) for key, said in choice.items()}
            for name, choice in answer["choices"].items()
        }
    }


def about_stimuli(trial: Trial, judgement: Judgement) -> tuple[Any, ...]:
    """Return what a judgement says, without places."""
    slots = {slot.id: slot.stimulus for slot in trial.slots}
    return (
        judgement.question,
        judgement.kind,
        slots[judgement.slot],
        slots[str(judgement.other_slot)],
        judgement.value,
        judgement.scale_min,
        judgement.scale_max,
    )


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
    """Above zero is the one under test, on every scale, wherever it stood."""
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


def test_against_a_reference_the_test_is_judged_wherever_the_reference_stands_in_the_list() -> None:
    for conditions in (REFERENCE, REFERENCE[::-1]):
        method, trials = planned(make_study("ccr", conditions))
        for trial in trials:
            (rating,) = method.judgements(trial, answer_of(method, trial, {"source": 0.9, "test": 0.1}))
            assert rating.value is not None
            assert rating.value < 0


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


# dcr


def test_dcr_shows_the_reference_first_and_a_worse_test_gets_a_lower_value() -> None:
    method, trials = planned(make_study("dcr", REFERENCE))
    for trial in trials:
        shown, rated = trial.slots
        assert (shown.id, shown.label, shown.role, shown.rated) == ("s1", "reference", "reference", False)
        assert (rated.id, rated.role, rated.rated) == ("s2", "test", True)
        assert shown.stimulus.startswith("source/")
        found = []
        for quality in (0.1, 0.9):
            (rating,) = method.judgements(trial, answer_of(method, trial, {"source": 1.0, "test": quality}))
            assert (rating.kind, rating.slot, rating.other_slot) == ("score", "s2", "s1")
            found.append(rating.value)
        assert found == [1, 5], "higher is less impaired"


# abx


def test_abx_identify_is_correct_exactly_when_the_copied_one_is_named() -> None:
    method, trials = planned(make_study("abx", options={"mode": "identify", "unsure": True}))
    copied = set()
    for trial in trials:
        a, b, x = trial.slots
        assert (x.label, x.rated) == ("x", False)
        assert x.stimulus == trial.draws["same_as"]
        copied.add(x.stimulus.rpartition("/")[0])
        for slot in (a, b):
            (rating,) = method.judgements(trial, method.read(trial, {"choices": {"q1": {"same_as": slot.id}}}))
            assert rating.kind == "correct"
            assert rating.value == int(slot.stimulus == x.stimulus)
            assert rating.raw_value == (1 if slot.id == "s2" else -1)
            assert (rating.scale_min, rating.scale_max) == (0, 1)
            turned = swapped(trial)
            said = mirrored({"choices": {"q1": {"same_as": slot.id}}})
            (again,) = method.judgements(turned, said)
            assert about_stimuli(trial, rating) == about_stimuli(turned, again)
        (unsure,) = method.judgements(trial, {"choices": {"q1": {"same_as": "unsure"}}})
        assert (unsure.value, unsure.raw_value, unsure.missing) == (None, None, "skipped")
    assert copied == {"a", "b"}


def test_abx_identify_is_answered_right_by_who_hears_a_difference_and_by_chance_by_who_does_not() -> None:
    method, trials = planned(make_study("abx", options={"mode": "identify"}, design={"participants": 60, "trials": 2}))
    for b, low, high in ((0.9, 0.95, 1.0), (0.1, 0.3, 0.7)):
        right = [
            method.judgements(trial, answer_of(method, trial, {"a": 0.1, "b": b}, seed))[0].value
            for seed, trial in enumerate(trials)
        ]
        assert low <= sum(value or 0 for value in right) / len(right) <= high


def test_abx_closest_speaks_for_the_condition_that_is_nearer_to_the_reference() -> None:
    conditions = [{"name": "source", "role": "reference"}, "near", "far"]
    method, trials = planned(make_study("abx", conditions, options={"mode": "closest"}))
    for trial in trials:
        a, b, x = trial.slots
        assert (x.role, x.label, x.rated) == ("reference", "x", False)
        assert {a.stimulus.rpartition("/")[0], b.stimulus.rpartition("/")[0]} == {"near", "far"}
        quality = {"source": 0.9, "near": 0.8, "far": 0.1}
        (rating,) = method.judgements(trial, answer_of(method, trial, quality))
        assert (rating.kind, rating.value) == ("choice", 1)


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
