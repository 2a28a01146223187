"""Looks at simulated studies: where they stop, how many people that saves, and how often they are wrong."""

from __future__ import annotations

import math

import pytest

from beholder.sample_size.looks import SimulatedLooks, simulate_looks
from beholder.sample_size.page import finding_words, look_sheet
from beholder.simulation.truth import Population
from support.method_studies import catalogue_of, make_study
from support.power_worlds import power_tables_of, world_of

PEOPLE = Population(bias=0.1, inconsistency=0.08, content=0.0)


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
