"""What many methods share: two stimuli shown in turn or at once, and what does not fit a method."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

import beholder
from beholder.errors import Problem
from beholder.methods import find, names
from beholder.methods.aspects import AspectMethod
from beholder.methods.presentation import medium_problems
from beholder.stimuli.samples import make_samples
from beholder.testing import write_study
from beholder.types import Medium
from support.method_studies import QUESTION, catalogue_of, make_study, one_trial, problems
from support.method_trials import SOURCE, TWO


@pytest.mark.parametrize("name", ["acr", "pair", "ab", "parallel", "ccr"])
def test_a_method_that_asks_nothing_is_refused(name: str) -> None:
    assert problems(make_study(name, questions=None)) == [
        f"questions are missing, and {name} asks at least one. Allowed: a list of {{id, text, scale}}."
    ]


def test_ticks_are_for_likert() -> None:
    ticks = [{**QUESTION, "ticks": ["noise"]}]
    assert problems(make_study("acr", questions=ticks)) == [
        "questions.0.ticks do not fit acr. Leave them out, or use likert."
    ]


@pytest.mark.parametrize(
    ("name", "medium"),
    [
        (name, medium)
        for name in names()
        for medium in get_args(Medium)
        if medium in find(name).media and not {"transcripts", "texts"} & set(find(name).Options.model_fields)
    ],
)
def test_every_method_takes_its_media(name: str, medium: Medium) -> None:
    conditions: list[Any] = ["a", "b"] if name == "abx" else TWO
    options: dict[str, Any] = {"options": {"mode": "identify"}} if name == "abx" else {}
    if isinstance(find(name), AspectMethod):
        options = {"questions": None}
    study = make_study(name, conditions, design={"participants": 4, "trials": {"acr-hr": 4}.get(name, 2)}, **options)
    assert problems(study, catalogue_of(study, medium=medium)) == []


def test_a_medium_that_does_not_fit_a_method_is_refused() -> None:
    catalogue = catalogue_of(make_study("acr", TWO), medium="text")
    assert list(medium_problems("mine", frozenset({"video", "audio"}), catalogue)) == [
        Problem("stimuli", "are texts, which mine does not show", "audio, video")
    ]


@pytest.mark.parametrize("name", ["acr-hr", "dcr", "mushra"])
def test_robots_rate_texts_beside_their_reference(name: str, tmp_path: Path) -> None:
    conditions = [{"name": "edited", "role": "reference"}, "plain", "garbled"]
    make_samples(tmp_path / "stimuli", contents=2, conditions=["edited", "plain", "garbled"])
    (tmp_path / "media").mkdir()
    trials = {"acr-hr": 6, "dcr": 4, "mushra": 2}[name]
    study = write_study(
        tmp_path / "study", tmp_path, method=name, conditions=conditions, design={"participants": 4, "trials": trials}
    )
    ratings = beholder.simulate(study, participants=12, memory=True).ratings
    means = ratings.groupby("condition")["value"].mean()
    assert means["plain"] > means["garbled"] + 0.1 * (ratings["scale_max"] - ratings["scale_min"]).iloc[0]
    assert ("edited" in means) == (name != "dcr")


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


@pytest.mark.parametrize("name", ["dcr", "ccr", "pair", "ab"])
def test_side_by_side_plays_together_and_takes_the_time_of_one(name: str) -> None:
    conditions = [SOURCE, "a"]
    beside = make_study(name, conditions, options={"presentation": "side-by-side"})
    turns = make_study(name, conditions, options={"presentation": "sequential"})
    catalogue = catalogue_of(beside)
    method, together = one_trial(beside, catalogue)
    _, apart = one_trial(turns, catalogue)
    assert (together.together, apart.together) == (True, False)
    assert method.seconds(apart, catalogue) - method.seconds(together, catalogue) == pytest.approx(3 + 1)


def test_a_pair_of_texts_is_side_by_side_unless_the_study_says_otherwise_and_both_are_read() -> None:
    study = make_study("pair")
    texts, videos = (catalogue_of(study, medium=medium) for medium in ("text", "video"))
    method, beside = one_trial(study, texts)
    assert (beside.together, beside.draws["presentation"]) == (True, "side-by-side")
    turns = make_study("pair", options={"presentation": "sequential"})
    _, apart = one_trial(turns, texts)
    assert (apart.together, apart.draws["presentation"]) == (False, "sequential")
    assert method.seconds(apart, texts) - method.seconds(beside, texts) == pytest.approx(1), "only the gap"
    assert one_trial(study, videos)[1].draws["presentation"] == "sequential"
