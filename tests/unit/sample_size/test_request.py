"""What a power analysis can be asked for, and the limit that contents set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.errors import UserError
from beholder.sample_size.design import plan_for
from beholder.sample_size.request import limiting_half_width
from beholder.sample_size.simulation import simulate_point
from beholder.simulation.truth import IDEAL
from support.method_studies import make_study
from support.power_worlds import world_of, write_study


@pytest.mark.variant
def test_no_number_of_participants_buys_other_contents() -> None:
    study = make_study("parallel", ["a", "b"], design={"trials": 5})
    people = replace(IDEAL, bias=0.05, inconsistency=0.05, content_condition=0.08)
    random = world_of(study, people=people)
    floor = limiting_half_width(random)
    assert simulate_point(plan_for(random, 100), 80).half[0] == pytest.approx(floor, rel=0.12)
    fixed = simulate_point(plan_for(world_of(study, people=people, contents="fixed"), 100), 40)
    assert fixed.half[0] < floor / 5
    assert fixed.detected.mean() == 1


REFUSED: Mapping[str, tuple[dict[str, Any], str]] = {
    "pages": (
        {"pages": "1,four"},
        "--pages  is 1, four. Allowed: whole numbers of 2 or more with commas between them, such as 4,8; or none.",
    ),
    "pages of one": (
        {"pages": [4, 8]},
        "--pages  is 4, 8, and acr does not have several stimuli to rate on a page. Allowed: methods such as parallel "
        "and mushra. Leave it out.",
    ),
    "sizes": (
        {"participants": "10,many,"},
        "--participants  is many, nothing. Allowed: whole numbers of 2 or more with commas between them, such as "
        "10,20,40,80.",
    ),
    "one": (
        {"participants": [1, 20]},
        "--participants  is 1. Allowed: whole numbers of 2 or more with commas between them, such as 10,20,40,80. A "
        "test takes two people.",
    ),
    "everything at once": (
        {"repetitions": 3, "difference": -1.0, "rate": "12 pounds"},
        "--repetitions  is 3. Allowed: 20 to 100,000.\n"
        "--difference  is -1. Allowed: a number above 0, in points of the scale.\n"
        "--rate  is 12 pounds. Allowed: an amount above 0 and a currency of three capital letters, such as "
        "12.00 GBP.",
    ),
    "seed": ({"seed": -1}, "--seed  is -1. Allowed: a whole number of 0 or more."),
    "leaving": (
        {"people": "leaving:1"},
        "--people  leaving is 1, and nobody would finish. Allowed: a number below 1.",
    ),
    "ladder": (
        {"difference": 2.5},
        "--difference  is 2.5: 3 conditions, each 2.5 from the next, take 5 points, and the scale has 4. Allowed: up "
        "to 2. 2.5 in a hundred of this scale are 0.1.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_asked_is_told(tmp_path: Path, name: str) -> None:
    keys, said = REFUSED[name]
    with pytest.raises(UserError) as caught:
        beholder.power(write_study(tmp_path), **keys)
    assert str(caught.value) == said
    assert not (tmp_path / "power").exists()


def test_one_condition_has_no_differences(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        beholder.power(write_study(tmp_path, ["only"]))
    said = "study.yaml:5  has 1 condition to compare, and power is about differences. Allowed: two or more."
    assert str(caught.value).endswith(said)


def test_correct_answers_compare_no_conditions(tmp_path: Path) -> None:
    path = write_study(tmp_path, ["a", "b"], method="abx", options={"mode": "identify"}, design={"trials": 4})
    with pytest.raises(UserError) as caught:
        beholder.power(path, participants=[4], repetitions=20)
    said = (
        "method is abx, of which power cannot be told. Allowed: methods whose answers are one number for each "
        "question: scores, or which of two is better. `beholder simulate` rehearses every method."
    )
    assert str(caught.value).endswith(said)


def test_an_unknown_method_beside_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        beholder.power(write_study(tmp_path), methods=["paralel"])
    assert str(caught.value).startswith("--methods  method is paralel, which is not a method.")
    assert str(caught.value).endswith("Did you mean parallel?")
