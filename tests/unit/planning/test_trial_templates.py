"""Templates of trials: which stimuli a method needs to show one with a known answer."""

from __future__ import annotations

import pytest

from support.method_studies import make_study
from support.training_plans import REFERENCE, training_of
from support.training_studies import lesson


def test_dcr_trains_with_the_reference_of_the_study() -> None:
    made = training_of(make_study("dcr", REFERENCE), ("a/one", lesson(1, 5)))
    assert made == [
        {"slots": [("o/one", False), ("training:a/one", True)], "targets": {"q1.s2": (5, 1)}},
    ]  # fmt: skip


def test_dcr_trains_with_a_reference_of_its_own() -> None:
    made = training_of(make_study("dcr", REFERENCE), ("o/x", lesson(1)), ("a/x", lesson(2, 1)))
    assert made == [{"slots": [("training:o/x", False), ("training:a/x", True)], "targets": {"q1.s2": (1, 1)}}]


def test_a_page_of_sliders_holds_all_training_stimuli_of_a_content() -> None:
    taught = ("a/x", lesson(1, 100)), ("b/x", lesson(2, 0)), ("a/y", lesson(3))
    made = training_of(make_study("parallel"), *taught)
    assert [sorted(trial["slots"]) for trial in made] == [
        [("training:a/x", True), ("training:b/x", True)], [("training:a/y", True)],
    ]  # fmt: skip
    at = {f"q1.s{number}": name for number, (name, _) in enumerate(made[0]["slots"], 1)}
    values = {at[where]: target for where, target in made[0]["targets"].items()}
    assert values == {"training:a/x": (100, 25), "training:b/x": (0, 25)}


def test_mushra_trains_with_the_reference_shown_and_hidden() -> None:
    (trial,) = training_of(
        make_study("mushra", REFERENCE, design={"participants": 6, "trials": 2}), ("a/one", lesson(1))
    )
    assert trial["slots"][0] == ("o/one", False)
    assert sorted(trial["slots"][1:]) == [("o/one", True), ("training:a/one", True)]


@pytest.mark.parametrize("method", ["pair", "ab"])
def test_two_training_stimuli_of_a_content_make_a_pair(method: str) -> None:
    (trial,) = training_of(make_study(method), ("a/x", lesson(1)), ("b/x", lesson(2)))
    assert sorted(trial["slots"]) == [("training:a/x", True), ("training:b/x", True)]


def test_ccr_trains_against_the_reference() -> None:
    made = training_of(make_study("ccr", REFERENCE), ("a/one", lesson(1)), ("b/one", lesson(2)))
    assert [sorted(name for name, _ in trial["slots"]) for trial in made] == [
        ["o/one", "training:a/one"], ["o/one", "training:b/one"],
    ]  # fmt: skip


def test_abx_trains_with_a_copy_of_one_of_the_two() -> None:
    study = make_study("abx", options={"mode": "identify"})
    (trial,) = training_of(study, ("a/x", lesson(1)), ("b/x", lesson(2)))
    assert [rated for _, rated in trial["slots"]] == [True, True, False]
