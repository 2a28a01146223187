"""Views of pairs: which methods and stimuli have them, what a trial keeps of them, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import Problem, StudyError
from beholder.methods import find, load_study
from beholder.methods.contract import Catalogue, Study
from beholder.methods.presentation import is_side_by_side, seconds_shown
from beholder.methods.views import is_factor, is_seen_in_turn, offered_views, view_level, views_of
from beholder.study.serialization import study_json
from beholder.testing import write_study
from support.method_studies import catalogue_of, make_study, one_trial, problems

NO_FIX = "Leave it out, or use method: pair, ab or ccr."


def written(method: str, **options: Any) -> Study:
    return make_study(method, options=options)


def refused(tmp_path: Path, method: str, **options: Any) -> list[str]:
    """Return what loading a study with these options says, without the places."""
    path = write_study(tmp_path / method, method=method, conditions=None, options=options)
    with pytest.raises(StudyError) as caught:
        load_study(path)
    return [str(problem).partition("  ")[2] for problem in caught.value.problems]


def rules_problems(study: Study, catalogue: Catalogue) -> list[Problem]:
    return list(find(study.method).problems(study, catalogue))


@pytest.mark.parametrize("method", ["pair", "ab", "ccr"])
def test_a_trial_keeps_its_views_and_both_play_on_one_clock(method: str) -> None:
    study = written(method, view=["wipe", "flip"], magnifier=True)
    rules, trial = one_trial(study)
    assert offered_views(trial) == views_of(study) == ("wipe", "flip")
    assert trial.together
    assert is_side_by_side(study, catalogue_of(study))
    public = dict(rules.extra(trial))
    assert (public["views"], public["magnifier"], public["presentation"]) == (["wipe", "flip"], True, "free")
    assert "gap" not in public
    assert "view" not in public


def test_answers_name_the_letters_that_stand_in_every_view() -> None:
    _, trial = one_trial(make_study("ccr", options={"view": "flip"}))
    labels = dict(trial.asked[0].scale.labels)
    assert (labels[3], labels[-3]) == ("B much better", "A much better")


def test_without_a_view_nothing_is_kept_and_digests_are_as_they_were() -> None:
    study = written("pair")
    _, trial = one_trial(study)
    assert offered_views(trial) == ()
    assert not trial.together
    assert not {"views", "magnifier", "view"} & trial.draws.keys()
    assert not {"view", "magnifier"} & study_json(study)["options"].keys()
    assert study_json(written("pair", view="wipe"))["options"]["view"] == "wipe"


def test_what_is_seen_in_turn_takes_as_long_as_both() -> None:
    study = written("pair", view="flip")
    catalogue = catalogue_of(study)
    _, flip = one_trial(study)
    _, wipe = one_trial(written("pair", view="wipe"))
    assert is_seen_in_turn(flip)
    assert not is_seen_in_turn(wipe)
    assert seconds_shown(flip, catalogue) == 2 * seconds_shown(wipe, catalogue)


def test_a_factor_within_persons_gives_a_trial_one_view() -> None:
    study = written("pair", view={"within": ["flip", "wipe"]})
    _, trial = one_trial(study)
    assert is_factor(study)
    assert views_of(study) == ("flip", "wipe")
    assert offered_views(trial) == (view_level(trial),)
    assert view_level(one_trial(written("pair", view=["flip", "wipe"]))[1]) is None


@pytest.mark.parametrize(
    ("method", "why"),
    [
        ("dcr", "ITU-T P.910 shows the reference first, and then what is rated"),
        ("dscqs", "ITU-R BT.500 shows the two in turn, and then both once more"),
        ("abx", "X is compared with A and with B, and a view holds two"),
        ("mismatch", "what belongs to the two is heard or read, and nowhere in the picture"),
    ],
)
def test_where_the_method_says_how_its_pairs_are_shown_a_view_is_refused(tmp_path: Path, method: str, why: str) -> None:
    found = refused(tmp_path, method, view="wipe", magnifier=True)
    assert f"options.view does not fit {method}: {why}. {NO_FIX}" in found
    assert f"options.magnifier does not fit {method}: {why}. {NO_FIX}" in found


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"view": []}, "options.view is empty. Allowed: one or more of side-by-side, flip and wipe. Leave it out."),
        ({"view": ["flip", "flip"]}, "options.view has flip twice. Allowed: each view once. Take one out."),
        (
            {"view": {"within": ["wipe", "wipe"]}},
            "options.view.within has wipe twice. Allowed: each view once. Take one out.",
        ),
        (
            {"magnifier": True},
            "options.magnifier is true, and there is no view to hold it over. "
            "Write view: side-by-side, flip or wipe, or leave it out.",
        ),
        (
            {"view": "flip", "presentation": "free"},
            "options.presentation is written beside options.view, which says how the two are shown. "
            "Allowed: one of the two. Take presentation out.",
        ),
        (
            {"view": "flip", "gap": 2},
            "options.gap is written beside options.view, which says how the two are shown. "
            "Allowed: one of the two. Take gap out.",
        ),
    ],
)
def test_views_that_cannot_be_meant_are_refused(tmp_path: Path, options: dict[str, Any], problem: str) -> None:
    assert refused(tmp_path, "pair", **options) == [problem]


@pytest.mark.parametrize(
    ("medium", "why"),
    [("audio", "sounds are heard and not looked at"), ("text", "texts are read and not laid over each other")],
)
def test_only_what_is_seen_has_views(medium: Any, why: str) -> None:
    study = written("pair", view="wipe")
    assert problems(study, catalogue_of(study, medium=medium)) == [
        f"options.view is wipe, and {why}. Allowed: images or videos. "
        "Leave it out. `presentation` says how they are shown."
    ]


def test_two_in_one_place_have_one_size() -> None:
    study = written("pair", view=["side-by-side", "flip", "wipe"])
    catalogue = catalogue_of(study)
    small = [
        replace(one, probe=replace(one.probe, width=320, height=180)) if one.condition == "a" else one
        for one in catalogue.stimuli
    ]
    other = replace(catalogue, stimuli=tuple(small))
    assert [str(one) for one in rules_problems(study, other)] == [
        "3 contents: one, three, two  have sizes of 320x180 and 640x360 pixels, and flip and wipe show both at the "
        "same pixels. Allowed: one size, or view: side-by-side. To make them alike: beholder media prepare stimuli "
        "--out prepared --height 360, and write stimuli: prepared."
    ]
    assert list(rules_problems(written("pair", view="side-by-side"), other)) == []


def test_the_name_of_the_factor_is_its_own() -> None:
    study = written("pair", view={"within": ["flip", "wipe"]})
    catalogue = catalogue_of(study)
    named = replace(catalogue, stimuli=tuple(replace(one, factors={"view": "front"}) for one in catalogue.stimuli))
    assert problems(study, named) == [
        "options.view makes the view a factor, and view is the name of another one: both would be factor_view. "
        "Allowed: a name of its own for the other. Rename the other."
    ]
