"""Simulated power: exact in known cases, false alarms within the promise, and the number of participants needed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from beholder.sample_size.design import plan_for
from beholder.sample_size.request import limiting_half_width
from beholder.sample_size.simulation import needed_for, simulate_point
from beholder.sample_size.tests import Contents
from beholder.simulation.truth import Population
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
