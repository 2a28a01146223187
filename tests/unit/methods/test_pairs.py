"""Pairs of conditions: sparse graphs that are connected and small, the same for every content."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.methods.pairs import connected_parts, default_degree, pair_units, sparse_edges
from beholder.planning.builder import make_plan
from support.pair_methods import compare
from support.pair_plans import compared_conditions
from support.plans import assert_promises, make_catalogue, make_study


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 30), st.integers(2, 31), st.integers(0, 99))
def test_a_sparse_graph_is_regular_connected_and_small(conditions: int, degree: int, seed: int) -> None:
    edges = sparse_edges(conditions, degree, np.random.default_rng(seed))
    names = [str(node) for node in range(conditions)]
    assert len(set(edges)) == len(edges)
    assert all(one < two for one, two in edges)
    assert len(connected_parts(names, [(str(one), str(two)) for one, two in edges])) == 1
    met = sorted(Counter(node for edge in edges for node in edge).values())
    if degree >= conditions - 1:
        assert met == [conditions - 1] * conditions
    elif conditions * degree % 2 == 0:
        assert met == [degree] * conditions
    else:
        assert met == [degree] * (conditions - 1) + [degree + 1]


def test_any_two_are_near_each_other_at_the_usual_number() -> None:
    assert [default_degree(number) for number in (1, 2, 3, 4, 8, 12, 20)] == [0, 2, 3, 4, 6, 7, 9]
    edges = {frozenset(edge) for edge in sparse_edges(20, default_degree(20), np.random.default_rng(1))}
    for one, two in combinations(range(20), 2):
        assert {one, two} in edges or any({one, x} in edges and {x, two} in edges for x in range(20))


def test_every_content_has_the_same_sparse_pairs() -> None:
    catalogue, study = make_catalogue(4, 9), make_study(participants=12, trials=9, pairs={"sparse": 3})
    per_content = {
        content: {u.stimuli[0].removeprefix(content) + u.stimuli[1].removeprefix(content) for u in units}
        for content in catalogue.contents
        for units in [[unit for unit in pair_units(study, catalogue) if unit.content == content]]
    }
    assert len({frozenset(pairs) for pairs in per_content.values()}) == 1
    assert {len(pairs) for pairs in per_content.values()} == {14}
    plan = make_plan(study, catalogue, compare)
    assert_promises(plan, catalogue)
    assert compared_conditions(make_study(pairs={"sparse": 3}, seed=2), catalogue) != compared_conditions(
        study, catalogue
    )
    assert compared_conditions(make_study(pairs={"sparse": 8}), catalogue) == compared_conditions(
        make_study(), catalogue
    )
    assert compared_conditions(make_study(pairs="sparse"), make_catalogue(2, 4)) == compared_conditions(
        make_study(), make_catalogue(2, 4)
    )
