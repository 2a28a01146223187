"""What does not fit a method is told in full, with the key that it is about, before anything is planned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from support.method_studies import QUESTION, catalogue_of, make_catalogue, make_study, problems

SOURCE: dict[str, Any] = {"name": "source", "role": "reference"}
TWO: list[Any] = [SOURCE, "test"]


@pytest.mark.parametrize("name", ["acr", "pair", "ab", "parallel", "ccr"])
def test_a_method_that_asks_nothing_is_refused(name: str) -> None:
    assert problems(make_study(name, questions=None)) == [
        f"questions are missing, and {name} asks at least one. Allowed: a list of {{id, text, scale}}."
    ]


def test_likert_without_items_and_questions_is_refused() -> None:
    assert problems(make_study("likert", questions=None)) == [
        "questions are missing, and likert asks at least one. Allowed: options.items, or a list of {id, text, scale}."
    ]


def test_ticks_are_for_likert() -> None:
    ticks = [{**QUESTION, "ticks": ["noise"]}]
    assert problems(make_study("acr", questions=ticks)) == [
        "questions.0.ticks do not fit acr. Leave them out, or use likert."
    ]


@pytest.mark.parametrize(
    ("name", "medium", "plural", "allowed"),
    [
        ("dcr", "text", "texts", "audio, image, video"),
        ("acr-hr", "text", "texts", "audio, image, video"),
        ("mushra", "text", "texts", "audio, image, video"),
    ],
)
def test_a_medium_that_does_not_fit_is_refused(name: str, medium: str, plural: str, allowed: str) -> None:
    study = make_study(name, TWO, design={"participants": 4, "trials": {"acr-hr": 4}.get(name, 2)})
    assert problems(study, catalogue_of(study, medium=medium)) == [
        f"stimuli are {plural}, which {name} does not show. Allowed: {allowed}."
    ]


@pytest.mark.parametrize("name", ["dcr", "ccr", "pair", "ab"])
def test_two_sounds_cannot_be_heard_side_by_side(name: str) -> None:
    study = make_study(name, TWO, options={"presentation": "side-by-side"})
    assert problems(study, catalogue_of(study, medium="audio")) == [
        "options.presentation is side-by-side, and two sounds cannot be heard at once. Allowed: sequential."
    ]
    assert problems(study, catalogue_of(study, medium="image")) == []


@pytest.mark.parametrize("name", ["acr", "dcr", "likert"])
def test_a_trial_of_one_stimulus_has_no_other_count(name: str) -> None:
    design = {"participants": 2, "trials": 2, "per_trial": 2, "always": ["test"]}
    assert problems(make_study(name, TWO, design=design)) == [
        f"design.per_trial is 2, and {name} asks about one stimulus at a time. Allowed: 1. Leave it out.",
        f"design.always does not fit {name}: a trial is one stimulus. Leave it out.",
    ]


@pytest.mark.parametrize("name", ["ccr", "pair", "ab"])
def test_a_trial_of_two_stimuli_has_no_other_count(name: str) -> None:
    design = {"participants": 2, "trials": 2, "per_trial": 1, "always": ["test"]}
    assert problems(make_study(name, TWO, design=design)) == [
        f"design.per_trial is 1, and {name} compares two stimuli. Allowed: 2. Leave it out.",
        f"design.always does not fit {name}: a trial is one pair. Leave it out.",
    ]


# References


@pytest.mark.parametrize(
    ("name", "keys", "why"),
    [
        ("acr-hr", {"design": {"participants": 2, "trials": 4}}, "acr-hr hides one among the others"),
        ("dcr", {}, "dcr compares with one"),
        ("mushra", {}, "mushra shows one beside the others"),
        ("parallel", {"options": {"reference": "both"}}, "parallel has options.reference: both"),
        ("likert", {"options": {"items": "avatar-b"}}, "likert with items: avatar-b shows the avatar beside it"),
        ("abx", {"options": {"mode": "closest"}}, "abx closest compares with one"),
    ],
)
def test_a_missing_reference_is_named(name: str, keys: dict[str, Any], why: str) -> None:
    none = problems(make_study(name, ["a", "b"], **keys))
    assert none[0] == (
        f"conditions have no reference, and {why}. Allowed: one condition with role: reference. "
        "Write it as {name: ..., role: reference}."
    )
    study = make_study(name, [SOURCE, "a", "b"], **keys)
    lacking = problems(study, catalogue_of(study, without=[("two", "source")]))
    assert lacking[0] == (
        f"stimuli of content two have no reference, and {why}. Allowed: one reference for each content. "
        "Add the file, or leave the content out."
    )


def test_two_references_of_a_content_are_refused() -> None:
    study = make_study("dcr", [SOURCE, {"name": "other", "role": "reference"}, "a"])
    assert problems(study, catalogue_of(study, contents=("one", "two")))[:2] == [
        "stimuli of content one have 2 references: source, other. Allowed: one reference for each content.",
        "stimuli of content two have 2 references: source, other. Allowed: one reference for each content.",
    ]


# Comparisons


def test_ab_compares_two_conditions() -> None:
    assert problems(make_study("ab", ["a", "b", "c"])) == [
        "conditions are 3, and ab compares two. Allowed: two conditions. For all pairs of more, use method: pair."
    ]


def test_abx_says_what_its_two_modes_are() -> None:
    assert problems(make_study("abx")) == [
        "options.mode is missing, and the two kinds of abx are different experiments. Allowed: closest or identify. "
        "closest: X is the reference, and people say which of A and B is nearer to it. "
        "identify: X is a copy of A or of B, and people say of which."
    ]


def test_abx_has_as_many_conditions_as_its_mode_needs() -> None:
    assert problems(make_study("abx", [SOURCE, "a", "b", "c"], options={"mode": "closest", "unsure": True})) == [
        "conditions beside the reference are 3, and abx closest compares two. Allowed: two conditions and a reference.",
        "options.unsure does not fit mode closest. Allowed: mode identify. Leave it out.",
    ]
    more = [QUESTION, {"id": "again", "text": "Really?"}]
    assert problems(make_study("abx", ["a", "b", "c"], options={"mode": "identify"}, questions=more)) == [
        "conditions are 3, and abx identify compares two. Allowed: two conditions.",
        "questions are 2, and abx identify asks only which one X is. Allowed: one question.",
    ]


def test_a_scale_of_a_comparison_is_the_same_to_both_sides() -> None:
    def told(**scale: Any) -> list[str]:
        return problems(make_study("pair", options={"tie": True}, questions=[{**QUESTION, "scale": scale}]))

    assert told(min=1, max=5, look="radio") == [
        "questions.0.scale goes from 1 to 5, and a comparison is the same to both sides. Allowed: -5 to 5."
    ]
    assert told(min=-2, max=2) == [
        "questions.0.scale has the look slider, and a comparison is a choice of words. Allowed: look: radio."
    ]
    assert told(min=-1, max=1, step=2, look="radio", labels=["Left one", "Right one"]) == [
        "questions.0.scale has no 0, and options.tie asks for one. Allowed: a scale with 0. Write scale: pref3."
    ]


# Boards


def test_a_board_has_two_stimuli_or_more_and_sliders() -> None:
    radio = [{**QUESTION, "scale": {"min": 1, "max": 5, "look": "radio"}}]
    assert problems(make_study("parallel", ["a"], questions=radio)) == [
        "conditions give every page 1 stimulus to rate, and parallel compares at least two. Allowed: two or more that "
        "are rated. Add one, or use method: acr.",
        "questions.0.scale has the look radio, and each stimulus gets a slider. Allowed: look: slider.",
    ]


@pytest.mark.parametrize("name", ["mushra", "parallel"])
def test_a_board_holds_twelve(name: str) -> None:
    many: list[Any] = [SOURCE, *(f"c{number}" for number in range(12))]
    (told,) = problems(make_study(name, many))
    assert told.startswith(
        "design.per_trial is left out, which means all 13 conditions, and there are 12 colours to tell slots apart."
    )
    assert problems(make_study(name, many[:-1])) == []


@pytest.mark.parametrize("name", ["mushra", "parallel"])
def test_an_anchor_that_is_nothing_is_refused(name: str) -> None:
    study = make_study(name, [SOURCE, "test"], options={"anchors": ["tset", "source"]})
    assert problems(study, catalogue_of(study, medium="audio")) == [
        "options.anchors.0 is tset, which is neither a condition nor a recipe. "
        "Allowed: source, test, or lowpass-3500 and the like. Did you mean test?",
        "options.anchors.1 is source, which is the reference. Allowed: another condition.",
    ]


def test_strict_mushra_wants_short_sounds_that_are_alike() -> None:
    study = make_study("mushra", TWO)
    alike = make_catalogue(
        ["source", "test"], roles={"source": "reference"}, medium="audio", contents=("one",), sample_rate=48000
    )
    reference, test = alike.stimuli
    long = replace(reference, probe=replace(reference.probe, duration_ms=12_500))
    unlike = replace(test, probe=replace(test.probe, duration_ms=12_400, sample_rate=44100, channels=1))
    fix = "Write options: {strict: false} to take them as they are."
    mixed = replace(alike, stimuli=(long, unlike))
    loose = make_study("mushra", TWO, options={"strict": False}, design={"participants": 2, "trials": 1})
    strict = make_study("mushra", TWO, design={"participants": 2, "trials": 1})
    assert problems(loose, mixed) == []
    assert [f"content one  {told}" for told in problems(strict, mixed)] == [
        f"content one  has a reference of 12.5 s. Allowed: up to 12 s. {fix}",
        f"content one  has sounds of 12.40 to 12.50 s. Allowed: the same length within 50 ms. {fix}",
        f"content one  has sounds of different sample rates: 44100 Hz and 48000 Hz. Allowed: one for all. {fix}",
        f"content one  has sounds of different numbers of channels: 1 and 2. Allowed: one for all. {fix}",
    ]
    assert problems(study, catalogue_of(study, medium="video", duration_ms=60_000)) == []


# acr-hr and likert


def test_acr_hr_shows_a_content_more_than_once() -> None:
    design = {"participants": 2, "trials": 4, "contents": "once"}
    assert problems(make_study("acr-hr", [SOURCE, "a"], design=design))[0] == (
        "design.contents is once, and acr-hr shows a content and its reference in one session. "
        "Allowed: apart or free. Leave it out."
    )


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
