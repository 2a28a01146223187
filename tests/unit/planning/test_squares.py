"""Squares: every item in every position equally often, after every other one equally often, with contents to match."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import cast

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.methods.acr import Acr
from beholder.methods.contract import Method, Units
from beholder.planning.balance import balance
from beholder.planning.builder import make_plan
from beholder.planning.squares import Square, square_rows
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.pair_methods import compare
from support.plans import acr, acr_hr, assert_promises, make_catalogue, make_study, parallel
from support.square_plans import SQUARES, square_problems_of


class Scattered(Acr):
    """One question at a time."""

    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return replace(super().units(study, catalogue), asks=(("quality",), ("other",)))


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 9), st.integers(1, 40), st.integers(1, 4), SQUARES, st.integers(0, 9))
def test_a_square_has_everything_in_every_position_equally_often(
    items: int, lists: int, rounds: int, square: Square, seed: int
) -> None:
    rows = square_rows(items, lists, rounds, square, np.random.default_rng(seed))
    assert rows.shape == (lists, rounds * items)
    for turn in range(rounds):
        part = rows[:, turn * items : (turn + 1) * items]
        assert (np.sort(part, axis=1) == np.arange(items)).all()
        counts = np.array([np.bincount(part[:, place], minlength=items) for place in range(items)])
        assert counts.max() - counts.min() <= (0 if lists % items == 0 else 1)
        follows = np.zeros((items, items), dtype=np.int64)
        np.add.at(follows, (part[:, :-1], part[:, 1:]), 1)
        cells = follows[~np.eye(items, dtype=np.bool_)]
        if square == "williams" and cells.size:
            is_whole = lists % (items if items % 2 == 0 else 2 * items) == 0
            assert cells.max() - cells.min() <= (0 if is_whole else 1 if items % 2 == 0 else 2)
        if turn and items > 1:
            assert (rows[:, turn * items - 1] != part[:, 0]).all(), "the same on both sides of a seam"


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 7), st.integers(1, 30), st.integers(2, 4), SQUARES)
def test_every_promise_holds_where_a_square_is_one_of_contents(
    contents: int, participants: int, per_trial: int, square: str
) -> None:
    catalogue = make_catalogue(contents, 4)
    study = make_study(participants=participants, per_trial=per_trial, order=square, contents="once")
    plan = make_plan(study, catalogue, parallel)
    assert_promises(plan, catalogue)
    promised = {row.count for row in balance(plan, catalogue) if row.promised is not None}
    assert "content x position" in promised
    assert ("content after content" in promised) == (square == "williams")
    assert all(len({trial.content for trial in planned.trials}) == contents for planned in plan.lists)


def test_pages_can_go_round_their_contents_twice() -> None:
    catalogue = make_catalogue(3, 4)
    study = make_study(participants=7, trials=6, per_trial=2, order="williams", contents="apart")
    plan = make_plan(study, catalogue, parallel)
    assert_promises(plan, catalogue)
    for planned in plan.lists:
        shown = [slot.stimulus for trial in planned.trials for slot in trial.slots]
        assert len(shown) == len(set(shown)) == 12
        assert all(one.content != two.content for one, two in pairwise(planned.trials))


def test_the_same_seed_gives_the_same_square() -> None:
    catalogue = make_catalogue(5, 4)
    one, two, other = (
        make_plan(make_study(participants=9, order="latin", seed=seed), catalogue, acr) for seed in (3, 3, 4)
    )
    assert one == two
    assert one.lists != other.lists


def test_files_that_a_square_needs_are_told() -> None:
    catalogue = make_catalogue(4, 3, frozenset({(1, 2), (3, 0)}))
    assert square_problems_of(catalogue, order="williams") == (
        "study.yaml  stimuli hold no condition2 of content content1, nor 1 more that are missing, but design.order is "
        "williams, for which every content has all 3 conditions. Add the files, leave out content1, content3, or write "
        "order: balanced."
    )
    assert square_problems_of(make_catalogue(4, 3, frozenset({(1, 2)})), compare, order="latin").startswith(
        "study.yaml  stimuli hold no pair condition0, condition2 of content content1, nor 1 more"
    )
    make_plan(make_study(order="latin", per_trial=2), catalogue, parallel)


def test_one_item_makes_no_square() -> None:
    assert square_problems_of(make_catalogue(4, 1), order="latin") == (
        "study.yaml  design.order is latin, but there is 1 condition, and a square is made of 2 or more. "
        "Allowed: balanced. Leave it out."
    )


def test_methods_whose_trials_stand_elsewhere_have_no_squares() -> None:
    catalogue = make_catalogue(4, 3, roles={0: "reference"})
    assert square_problems_of(catalogue, acr_hr, order="latin").endswith(
        "design.order is latin, but with acr-hr references come between the tests. Allowed: balanced. Leave it out."
    )
    assert square_problems_of(make_catalogue(4, 3), cast("Method", Scattered()), order="williams") == (
        "study.yaml  design.order is williams, but acr asks one question at a time, anywhere in a list. "
        "Allowed: balanced. Leave it out."
    )
