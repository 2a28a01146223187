"""Simulated power: exact in known cases, false alarms within the promise, and the number of participants needed."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from beholder.sample_size.design import plan_for
from beholder.sample_size.page import finding_words, look_sheet
from beholder.sample_size.request import limiting_half_width
from beholder.sample_size.simulation import SimulatedLooks, needed_for, simulate_looks, simulate_point, simulated_values
from beholder.sample_size.tests import Contents
from beholder.simulation.truth import IDEAL
from support.method_studies import catalogue_of, make_study, study_with_transcripts
from support.power_worlds import power_tables_of, world_of
from support.variants import variant


@pytest.mark.long
@pytest.mark.parametrize("participants", [8, variant(20)])
def test_one_content_and_two_conditions_have_the_power_of_a_paired_t_test(participants: int, whole: bool) -> None:
    repetitions = 4000 if whole else 400
    study = make_study("parallel", ["a", "b"], design={"trials": 1})
    people = replace(IDEAL, bias=0.1, inconsistency=0.08, content=0.0)
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


# Looks


PEOPLE = replace(IDEAL, bias=0.1, inconsistency=0.08, content=0.0)


def looked_at(design: dict[str, object], difference: float = 7, repetitions: int = 15) -> SimulatedLooks:
    study = make_study("parallel", ["a", "b"], design={"trials": 1, **design})
    world = world_of(study, catalogue_of(study, contents=["one"]), difference=difference, people=PEOPLE)
    looks = simulate_looks(world, repetitions)
    assert looks is not None
    return looks


@pytest.mark.long
def test_a_study_that_may_stop_takes_fewer_people_and_finds_no_more_where_nothing_differs(whole: bool) -> None:
    repetitions = 4000 if whole else 60
    looks = looked_at({"looks": [10, 20, 30, 40]}, repetitions=repetitions)
    assert looks.imagined.expected < 33
    assert looks.imagined.rows("imagined")[-1]["found"] > 0.9
    assert looks.table["stops"].groupby(looks.table["truth"]).sum().tolist() == pytest.approx([1, 1])
    assert looks.equal.expected > 38
    assert looks.equal.found[:, -1].mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / repetitions)


def test_a_hopeless_study_ends_early_and_a_precise_one_does() -> None:
    hopeless = looked_at({"looks": [10, 40], "stop": {"futility": 0.3}}, difference=0.1)
    assert hopeless.imagined.expected < 35
    assert hopeless.imagined.rows("imagined")[0]["futile"] > 0.2
    wide = looked_at({"looks": [10, 40], "stop": {"precision": 30, "decided": "none"}})
    assert wide.imagined.expected == 10
    assert wide.imagined.rows("imagined")[0]["precise"] == 1


def test_one_look_is_no_plan() -> None:
    study = make_study("parallel", ["a", "b"], design={"trials": 1, "looks": [40]})
    assert simulate_looks(world_of(study), 5) is None


def test_the_page_tells_how_many_people_it_takes_on_average() -> None:
    study = make_study("parallel", ["a", "b"], design={"trials": 3, "looks": [4, 8]})
    tables = power_tables_of(study, (8,))
    assert tables.looks is not None
    assert tables.looks.words in finding_words(tables)
    assert tables.looks.words.startswith("With looks at 4 and 8 participants the study takes ")
    sheet = look_sheet(tables.table("looks"))
    assert [row[:3] for row in sheet.rows] == [
        ("as imagined", "1", "4"), ("as imagined", "2", "8"), ("all equally good", "1", "4"),
        ("all equally good", "2", "8"),
    ]  # fmt: skip
    assert power_tables_of(make_study("parallel", ["a", "b"], design={"trials": 3}), (4,)).table("looks").empty


@pytest.mark.parametrize(("method", "points", "span"), [("transcribe", 10, 100), variant("word-select", 0.1, 1)])
def test_shares_of_words_are_as_far_apart_as_planted_and_vary_as_draws_of_words(
    tmp_path: Path, method: str, points: float, span: float
) -> None:
    names = [f"c{number}" for number in range(4)]
    study = study_with_transcripts(tmp_path, method, names, design={"participants": 6, "trials": 4})
    catalogue = catalogue_of(study, contents=names, medium="audio", duration_ms=3000)
    world = world_of(study, catalogue, difference=points, people=replace(IDEAL, content=0.0))
    session = plan_for(world, 40)
    # Better conditions have more words right, and fewer that are marked.
    sign = 1 if method == "transcribe" else -1
    point = simulate_point(session, 60, has_null=False)
    assert sign * point.true[0] == pytest.approx(points)
    assert point.estimate[0] == pytest.approx(point.true[0], rel=0.1)
    # Each of 80 answers to a condition is a draw of nine words with a chance of about a half.
    words, answers = 9, len(session.sheet) / 2
    expected = span * math.sqrt(2 * 0.25 / words / answers)
    spread = next(simulated_values(session, 60))
    first = session.sheet.condition == 0
    assert (spread[:, first].mean(axis=1) - spread[:, ~first].mean(axis=1)).std() == pytest.approx(expected, rel=0.35)


@pytest.mark.long
@pytest.mark.parametrize(("method", "told"), [("parallel", 0.058), ("rank", 0.069)])
def test_with_four_contents_and_many_people_false_alarms_are_as_the_docs_tell(
    method: str, told: float, whole: bool
) -> None:
    study = make_study(method, list("abcd"), design={"trials": 4})
    session = plan_for(world_of(study, catalogue_of(study, contents=["one", "two", "three", "four"])), 80)
    repetitions = 8000 if whole else 400
    alarms = simulate_point(session, repetitions).alarms.sum()
    assert alarms <= stats.binom.ppf(0.9999, repetitions, told)


def test_a_reference_that_is_recognised_is_neither_power_nor_a_false_alarm() -> None:
    conditions = [{"name": "original", "role": "reference"}, "a", "b"]
    study = make_study("samviq", conditions, design={"trials": 3})
    session = plan_for(world_of(study, catalogue_of(study), contents="fixed"), 20)
    point = simulate_point(session, 20)
    reference = session.sheet.conditions.index("original")
    for place, test in enumerate(point.tests):
        is_left_out = bool(np.isnan(point.detected[:, place]).all())
        assert is_left_out == (reference in (test.one, test.other))
    assert point.alarms.mean() < 0.5, "the reference, which gets the highest score, would be found in every study"
    assert point.is_best.mean() < 1, "nor is it the best of those that the study is about"
    assert set(session.world.quality) == {"a", "b"}
