"""The chance to find a difference: exact where it is known, the number needed for it, and what is told of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from beholder.methods.contract import Study
from beholder.sample_size.design import pay_of, plan_for
from beholder.sample_size.estimates import PowerTables, power_table, sizes_table
from beholder.sample_size.estimates import estimate_power as find_all
from beholder.sample_size.page import finding_words, notes
from beholder.sample_size.request import PowerRequest, limiting_half_width
from beholder.sample_size.simulation import needed_for, simulate_point
from beholder.sample_size.tests import Contents
from beholder.simulation.truth import Population
from beholder.simulation.variance import PopulationSource
from support.method_studies import catalogue_of, make_study
from support.power_worlds import world_of


@pytest.mark.long
@pytest.mark.parametrize("participants", [8, 20])
def test_one_content_and_two_conditions_have_the_power_of_a_paired_t_test(participants: int, whole: bool) -> None:
    repetitions = 4000 if whole else 400
    study = make_study("parallel", ["a", "b"], design={"trials": 1})
    people = Population(bias=0.1, inconsistency=0.08, content=0.0)
    world = world_of(study, catalogue_of(study, contents=["one"]), difference=7, people=people)
    point = simulate_point(plan_for(world, participants), repetitions)
    shift = math.sqrt(participants) * 0.07 / (0.08 * math.sqrt(2))
    edge, df = stats.t.ppf(0.975, participants - 1), participants - 1
    exact = float(stats.nct.sf(edge, df, shift))
    error = math.sqrt(exact * (1 - exact) / repetitions)
    assert point.detected.mean() == pytest.approx(exact, abs=3.5 * error + 0.003)
    assert point.alarms.mean() == pytest.approx(0.05, abs=3.5 * math.sqrt(0.05 * 0.95 / repetitions))
    half = 7 * edge / shift  # a little less on average: E[s] < sigma
    assert 0.93 * half < point.half[0] < half
    assert limiting_half_width(world) != limiting_half_width(world)


@pytest.mark.long
@pytest.mark.parametrize("contents", ["random", "fixed"])
def test_nothing_is_found_more_often_than_promised_where_nothing_differs(contents: Contents, whole: bool) -> None:
    repetitions = 2000 if whole else 200
    study = make_study("parallel", ["a", "b", "c", "d"], design={"trials": 8})
    catalogue = catalogue_of(study, contents=[f"c{number}" for number in range(16)])
    point = simulate_point(plan_for(world_of(study, catalogue, contents=contents), 24), repetitions)
    assert point.alarms.mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / repetitions)
    assert abs(point.estimate - point.true).max() < 3


def test_power_grows_with_participants_and_differences_and_is_the_same_with_the_same_seed() -> None:
    study = make_study("acr", ["a", "b", "c"], design={"trials": 9})
    world = world_of(study, difference=0.3, contents="fixed")
    points = [simulate_point(plan_for(world, size), 60) for size in (6, 12, 30)]
    table = power_table(points, by_pair=False)
    by_size = table[table["target"] == "difference"]
    chances = by_size.pivot(index="difference", columns="participants", values="power")
    wide = chances.to_numpy()
    assert list(chances.index) == [0.3, 0.6]
    assert (np.diff(wide, axis=1) >= -0.05).all()
    assert (np.diff(wide, axis=0) >= 0).all()
    assert wide[1, -1] > 0.9 > 0.5 > wide[0, 0]
    again = power_table([simulate_point(plan_for(world, 12), 60)], by_pair=False)
    pd.testing.assert_frame_equal(again, table[table["participants"] == 12].reset_index(drop=True))
    other = world_of(study, difference=0.3, contents="fixed", seed=2)
    assert not again.equals(power_table([simulate_point(plan_for(other, 12), 60)], by_pair=False))
    sizes = sizes_table(points, pay_of(study, "12.00 GBP", points[0].session))
    assert sizes["difference_half_width"].is_monotonic_decreasing
    assert list(sizes["ratings_low"] <= sizes["ratings_high"]) == [True] * 3
    assert (sizes["cost"] / sizes["hours"]).round(1).tolist() == [12.0] * 3


def test_no_number_of_participants_buys_other_contents() -> None:
    study = make_study("parallel", ["a", "b"], design={"trials": 5})
    people = Population(bias=0.05, inconsistency=0.05, content_condition=0.08)
    random = world_of(study, people=people)
    floor = limiting_half_width(random)
    assert simulate_point(plan_for(random, 100), 80).half[0] == pytest.approx(floor, rel=0.12)
    fixed = simulate_point(plan_for(world_of(study, people=people, contents="fixed"), 100), 40)
    assert fixed.half[0] < floor / 5
    assert fixed.detected.mean() == 1


@given(st.floats(0.05, 0.6), st.sampled_from([0.8, 0.9]))
def test_the_number_needed_is_found_between_those_tried(effect: float, goal: float) -> None:
    sizes = [4, 10, 40, 160, 640, 2560]
    chances = [float(special.ndtr(effect * math.sqrt(size) - 1.96)) for size in sizes]
    exact = ((special.ndtri(goal) + 1.96) / effect) ** 2
    needed = needed_for(sizes, chances, goal, 10**9)
    if exact > sizes[-1]:
        assert needed.note == "more than 2560"
    elif exact <= sizes[0]:
        assert needed == (4, "4 or fewer")
    else:
        assert exact - 1e-6 <= needed.participants <= exact + 1
        assert needed.note == ""


def test_a_number_needed_is_not_made_up() -> None:
    assert needed_for([10, 20], [0.1, 0.79], 0.8, 100).note == "more than 20"
    assert needed_for([10, 20], [math.nan, math.nan], 0.8, 100).note == "not tested"
    assert needed_for([10, 20, 40], [0.7, 0.6, 1.0], 0.8, 100).participants <= 40


def found_of(study: Study, sizes: tuple[int, ...], **keys: Any) -> PowerTables:
    return find_all(
        world_of(study, **keys), PowerRequest(sizes, repetitions=20), PopulationSource(), (), is_ladder=True
    )


def test_people_who_all_agree_have_intervals_of_no_width() -> None:
    still = Population(bias=0, inconsistency=0, content=0)
    found = found_of(make_study("acr", ["a", "b"], design={"trials": 4}), (4, 8), difference=1, people=still)
    assert found.table("sizes")["difference_half_width"].tolist() == [0, 0]
    assert set(found.table("power")["power"]) <= {0, 1}
    assert found.results["power"].plot().to_dict()
    assert "nan" not in " ".join((*finding_words(found), *notes(found)))


def test_what_nobody_could_test_is_told_and_not_made_up() -> None:
    found = found_of(make_study("acr", ["a", "b", "c", "d"], design={"trials": 1}), (2, 3))
    assert finding_words(found) == (
        "With 3 participants no difference can be tested: too few of them rate the same conditions.",
    )
    assert found.table("power").empty
    assert found.table("needed").empty
    assert found.results["power"].plot().to_dict()


def test_all_at_once_is_all_that_any_number_of_people_can_test() -> None:
    still = Population(bias=0.02, inconsistency=0.02)
    study = make_study("acr", list("abcdef"), design={"trials": 3})
    world = world_of(study, difference=0.8, people=still, contents="fixed")
    points = [simulate_point(plan_for(world, size), 20) for size in (3, 8, 40)]
    table = power_table(points, by_pair=False)
    every = table[table["target"] == "all"]
    assert every[["participants", "pairs", "difference"]].to_numpy().tolist() == [
        [size, 15, 0.8] for size in (3, 8, 40)
    ]
    assert every["power"].tolist()[0] == 0 < every["power"].tolist()[-1]


def test_leavers_and_ends_of_the_scale_are_noted() -> None:
    study = make_study("acr", ["a", "b"], design={"trials": 4}, recruit={"mode": "link", "reward": "2.00 EUR"})
    found = found_of(study, (5,), difference=4, people=Population(leaving=0.1))
    assert notes(found)[2:] == (
        "Pay: 2.00 EUR for a session.",
        "The outermost conditions lie near the ends of the scale, where ratings have no room to spread: differences "
        "are estimated smaller there than they are.",
        "Some leave before the end: for 5 who finish about 8 have to begin. Their lists go to others, and only those "
        "who finish are counted and paid here.",
    )
    assert found.table("sizes")["cost"].tolist() == [10.0]
