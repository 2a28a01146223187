"""The study by other methods, with sessions of the same length."""

from __future__ import annotations

import pytest

from beholder.analysis.result import records
from beholder.sample_size.design import pay_of, plan_for
from beholder.sample_size.simulation import simulate_point
from beholder.sample_size.variants import methods_table, page_sizes, variants_of
from support.method_studies import catalogue_of, make_study
from support.power_worlds import CONTENTS, world_of


@pytest.mark.variant
def test_methods_are_held_against_each_other_with_sessions_as_long() -> None:
    study = make_study("parallel", ["a", "b", "c"], design={"trials": 4})
    catalogue = catalogue_of(study, contents=CONTENTS, duration_ms=8000)
    world = world_of(study, catalogue, difference=12, contents="fixed")
    own = [simulate_point(plan_for(world, size), 40) for size in (6, 12)]
    variants = variants_of(world, own, ["acr", "pair", "mushra", "rank", "best-worst"], 40)
    table = records(methods_table(variants, pay_of(study, None, own[0].session), 40))
    assert [row["method"] for row in table] == ["parallel", "acr", "pair", "mushra", "rank", "best-worst"]
    parallel, acr, pair, mushra, rank, best_worst = table
    for row in (acr, pair, rank, best_worst):
        assert 0.6 < row["minutes"] / own[0].session.minutes < 1.2
    assert mushra["note"].startswith("cannot be had: ")
    assert pair["hours"] > parallel["hours"]
    assert pair["hours"] > max(rank["hours"], best_worst["hours"])  # a page of three tells more than one pair
    assert {row["currency"] for row in table} == {""}
    assert parallel["difference"] == acr["difference"] == 12


def test_small_studies_are_made_larger_until_a_difference_is_found() -> None:
    """A chance near zero hardly grows at first: only contents set a limit, and these are fixed."""
    study = make_study("acr", ["a", "b"], design={"trials": 4})
    world = world_of(study, difference=0.2, contents="fixed")
    own = [simulate_point(plan_for(world, size), 20, has_null=False) for size in (3, 4)]
    variants = variants_of(world, own, [], 20)
    assert [point.participants for point in variants[0].points] == [3, 4, 8, 16, 32]


@pytest.mark.variant
def test_numbers_on_a_page_are_held_against_each_other() -> None:
    between = {"page": {"two": {"per_trial": 2, "trials": 5}, "four": {"per_trial": 4}}, "told": {
        "little": {}, "much": {"instructions": "Look closely."},
    }}  # fmt: skip
    study = make_study("parallel", ["a", "b", "c", "d"], design={"trials": 3, "between": between, "participants": 8})
    assert page_sizes(study) == (2, 4)
    catalogue = catalogue_of(study, contents=CONTENTS, duration_ms=8000)
    world = world_of(study, catalogue, difference=25, contents="fixed")
    own = [simulate_point(plan_for(world, size), 20, has_null=False) for size in (8,)]
    variants = variants_of(world, own, ["acr"], 20, pages=(2, 4, 9))
    table = records(methods_table(variants, pay_of(study, None, own[0].session), 20))
    names = ["parallel", "acr", "parallel, 2 on a page", "parallel, 4 on a page", "parallel, 9 on a page"]
    assert [row["method"] for row in table] == names
    assert [row["per_trial"] for row in table[2:]] == [2, 4, 9]
    assert table[2]["trials"] == 5  # as its group has
    assert table[3]["minutes"] > table[2]["minutes"]
    assert table[4]["note"].startswith("cannot be had: ")
    sizes = {len(variant.points[0].session.world.study.design.between) for variant in variants[1:4]}
    assert sizes == {1}  # what people are told still differs
