"""The tables of a power analysis: power grows with participants and differences, and nothing is made up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from beholder.sample_size.design import pay_of, plan_for
from beholder.sample_size.estimates import power_table, sizes_table
from beholder.sample_size.page import finding_words, notes
from beholder.sample_size.simulation import simulate_point
from beholder.simulation.truth import IDEAL
from support.method_studies import make_study
from support.power_worlds import power_tables_of, world_of


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


def test_people_who_all_agree_are_simulated_too() -> None:
    still = replace(IDEAL, bias=0, inconsistency=0, content=0)
    tables = power_tables_of(make_study("acr", ["a", "b"], design={"trials": 4}), (4, 8), difference=1, people=still)
    assert tables.table("sizes")["difference_half_width"].tolist() == pytest.approx([0, 0], abs=1e-9)
    assert set(tables.table("power")["power"]) <= {0, 1}
    assert tables.results["power"].plot().to_dict()
    assert "nan" not in " ".join((*finding_words(tables), *notes(tables)))


def test_all_at_once_is_all_that_any_number_of_people_can_test() -> None:
    still = replace(IDEAL, bias=0.02, inconsistency=0.02)
    study = make_study("acr", list("abcdef"), design={"trials": 3})
    world = world_of(study, difference=0.8, people=still, contents="fixed")
    points = [simulate_point(plan_for(world, size), 20) for size in (3, 8, 40)]
    table = power_table(points, by_pair=False)
    every = table[table["target"] == "all"]
    assert every[["participants", "pairs", "difference"]].to_numpy().tolist() == [
        [size, 15, 0.8] for size in (3, 8, 40)
    ]
    assert every["power"].tolist()[0] == 0 < every["power"].tolist()[-1]
