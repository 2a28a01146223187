"""Replacement lists: items over as few lists as possible, contents apart, both orders."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.planning.replacement_lists import distribute, separate_contents


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 5)), st.integers(1, 5), min_size=1),
    st.integers(1, 8),
    st.booleans(),
)
def test_everything_is_spread_as_often_as_it_is_wanted(
    wanted: dict[tuple[int, int], int], most: int, once: bool
) -> None:
    rng = np.random.default_rng(1)
    lists = distribute(wanted, lambda one: str(one[0]), most, rng, once=once)
    assert Counter(one for some in lists for one in some) == wanted
    sizes = [len(some) for some in lists]
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= most
    assert all(len(set(some)) == len(some) for some in lists)
    if once:
        assert all(len({one[0] for one in some}) == len(some) for some in lists)
    for some in lists:
        order = separate_contents(some, lambda one: str(one[0]), rng)
        assert Counter(order) == Counter(some)
        most_of_one = max(Counter(one[0] for one in some).values())
        if most_of_one <= (len(some) + 1) // 2:
            assert all(one[0] != two[0] for one, two in pairwise(order))
