"""likert: statements in a drawn order, ready-made sets of them, and avatars beside the video that drives them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from beholder.methods import find
from support.likert_items import asked
from support.method_studies import QUESTION, answer_of, catalogue_of, make_study, one_trial, planned, problems
from support.method_trials import TWO

DRIVING: list[Any] = [{"name": "filmed", "role": "reference"}, "avatar", "cartoon"]


def test_a_study_has_its_own_words_for_a_statement_and_the_key_stays_unless_it_is_written() -> None:
    own = [{"id": "creepy", "text": "It gives me an uneasy feeling."}, {"id": "warm", "text": "It is warm."}]
    questions_by_id = {question.id: question for question in asked("avatar-a", questions=own)}
    assert list(questions_by_id)[-1] == "warm"
    assert len(questions_by_id) == 9
    assert (questions_by_id["creepy"].text, questions_by_id["creepy"].keyed) == ("It gives me an uneasy feeling.", "-")
    turned = [{"id": "creepy", "text": "It puts me at ease.", "keyed": "+", "scale": "acr5"}]
    questions_by_id = {question.id: question for question in asked("avatar-a", questions=turned)}
    assert questions_by_id["creepy"].keyed == "+"
    assert questions_by_id["creepy"].scale.labels[-1][1] == "Excellent"
    assert list(questions_by_id)[5] == "creepy"


def test_without_a_set_the_questions_are_the_studys() -> None:
    _, trial = one_trial(make_study("likert"))
    assert [(one.question, one.text, one.keyed) for one in trial.asked] == [("quality", "How good is it?", "+")]
    assert trial.asked[0].scale.labels[-1][1] == "Strongly agree"


def test_the_order_of_statements_is_drawn_for_each_trial_and_the_ids_follow_it() -> None:
    _, trials = planned(make_study("likert", options={"items": "avatar-a"}, questions=None))
    orders = {tuple(one.question for one in trial.asked) for trial in trials}
    assert len(orders) > 6
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(next(iter(orders))))}
    assert all([one.id for one in trial.asked] == [f"q{n}" for n in range(1, 9)] for trial in trials)
    _, fixed = planned(make_study("likert", options={"items": "avatar-a", "shuffle": False}, questions=None))
    assert {trial.asked[0].question for trial in fixed} == {"realistic"}


def test_the_scenario_is_the_sets_or_the_studys() -> None:
    method, trial = one_trial(make_study("likert", options={"items": "avatar-a"}, questions=None))
    assert method.extra(trial) == {
        "layout": "grid",
        "columns": "high-first",
        "scenario": "Think of a video call at work. You, or the person you are calling, would appear as in this clip.",
    }
    options = {"items": "avatar-a", "scenario": "Think of a party.", "layout": "tabs", "columns": "low-first"}
    method, trial = one_trial(make_study("likert", options=options, questions=None))
    assert method.extra(trial) == {"layout": "tabs", "columns": "low-first", "scenario": "Think of a party."}
    method, trial = one_trial(make_study("likert", options={"items": "avatar-a", "scenario": ""}, questions=None))
    assert "scenario" not in method.extra(trial)


def test_at_random_each_trial_has_one_statement_and_every_stimulus_meets_all_of_them() -> None:
    study = make_study(
        "likert", options={"items": "sync", "layout": "random"}, questions=None, design={"participants": 2, "trials": 3}
    )
    _, trials = planned(study)
    assert len(trials) == 2 * 3 * 3
    for trial in trials:
        assert len(trial.asked) == 1
        assert trial.asked[0].id == "q1"
    first = trials[:9]
    seen = {(trial.slots[0].stimulus, trial.asked[0].question) for trial in first}
    assert len(seen) == 9
    assert len({stimulus for stimulus, _ in seen}) == 3


@pytest.mark.parametrize("items", ["avatar-b", "avatar-short"])
def test_an_avatar_stands_beside_the_video_that_drives_it(items: str) -> None:
    study = make_study("likert", DRIVING, options={"items": items}, questions=None)
    method, trials = planned(study)
    for trial in trials:
        avatar, driving = trial.slots
        assert trial.together
        assert (avatar.id, avatar.label, avatar.role, avatar.rated) == ("s1", None, "test", True)
        assert (driving.id, driving.label, driving.role, driving.rated) == ("s2", "driving", "reference", False)
        assert driving.stimulus == f"filmed/{trial.content}"
        assert not avatar.stimulus.startswith("filmed/")
        assert method.extra(trial)["sound"] == "s2"
        answer = answer_of(method, trial, {"filmed": 1.0, "avatar": 0.5, "cartoon": 0.2})
        assert {(rating.slot, rating.other_slot) for rating in method.judgements(trial, answer)} == {("s1", "s2")}


@pytest.mark.parametrize(
    ("medium", "audio_codec", "expected"),
    [
        ("video", "aac", {"picture", "sound"}), ("video", "", {"picture"}), ("audio", "pcm", {"sound"}),
        ("image", "", {"picture"}),
    ],
)  # fmt: skip
def test_problem_tokens_are_about_what_a_stimulus_has(medium: str, audio_codec: str, expected: set[str]) -> None:
    study = make_study("likert", options={"items": "problem-token"}, questions=None)
    _, trial = one_trial(study, catalogue_of(study, medium=medium, audio_codec=audio_codec))
    assert {one.question for one in trial.asked} == expected


def test_a_resolved_study_has_the_same_keys() -> None:
    """Written out and read again, a statement without a key still has that of its set."""
    import yaml

    from beholder.study.serialization import resolved_yaml

    own = [{"id": "creepy", "text": "It gives me an uneasy feeling."}, QUESTION]
    study = make_study("likert", options={"items": "avatar-a"}, questions=own)
    again = make_study(**{**yaml.safe_load(resolved_yaml(study))})
    method = find("likert")
    assert method.questions(again) == method.questions(study)


def test_likert_without_items_and_questions_is_refused() -> None:
    assert problems(make_study("likert", questions=None)) == [
        "questions are missing, and likert asks at least one. Allowed: options.items, or a list of {id, text, scale}."
    ]


def test_likert_has_columns_not_sliders() -> None:
    slider = [{**QUESTION, "scale": {"min": 0, "max": 100}}]
    assert problems(make_study("likert", questions=slider)) == [
        "questions.0.scale has the look slider, and likert has one column for each answer. Allowed: look: radio."
    ]


def test_an_extra_statement_must_be_of_the_set() -> None:
    fix = "Write it under questions, with its text."
    study = make_study("likert", TWO, options={"items": "avatar-b", "extra": ["gestures"]}, questions=None)
    assert problems(study) == [
        f"options.extra.0 is gestures, and items: avatar-b has no such statement. Allowed: gesture_acc. {fix}"
    ]
    study = make_study("likert", options={"extra": ["gesture_acc"]})
    assert problems(study) == [f"options.extra.0 is gesture_acc, and options.items is left out. {fix}"]


def test_at_random_nothing_is_asked_that_fits_only_some_of_the_stimuli() -> None:
    study = make_study("likert", options={"items": "problem-token", "layout": "random"}, questions=None)
    heard = catalogue_of(study)
    assert problems(study, heard) == []
    silent, *others = heard.stimuli
    silent = replace(silent, probe=replace(silent.probe, audio_codec=""))
    assert problems(study, replace(heard, stimuli=(silent, *others))) == [
        "options.layout is random, and sound can be asked about 5 of 6 stimuli. Allowed: grid or tabs. "
        "Write layout: grid, which asks sound where it fits, or make the stimuli alike."
    ]


def test_avatars_are_videos_and_problem_tokens_are_not_about_texts() -> None:
    study = make_study("likert", TWO, options={"items": "avatar-b"}, questions=None)
    assert problems(study, catalogue_of(study, medium="image")) == [
        "options.items is avatar-b, which is about videos, and the stimuli are image. Allowed: stimuli that are videos."
    ]
    study = make_study("likert", options={"items": "problem-token"}, questions=None)
    assert problems(study, catalogue_of(study, medium="text", audio_codec="")) == [
        "options.items is problem-token, and the stimuli have neither picture nor sound. "
        "Allowed: videos, sounds or images."
    ]
