"""Squares: every item in every position equally often, after every other one equally often, with contents to match."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.methods.acr import Acr
from beholder.methods.contract import Method, Units
from beholder.planning.balance import balance
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan
from beholder.planning.squares import Square, square_rows
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.pair_methods import compare
from support.plans import acr, acr_hr, assert_promises, make_catalogue, make_study, parallel, problems_of

SQUARES = st.sampled_from(["latin", "williams"])


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


@st.composite
def squares(draw: st.DrawFn, kind: str) -> tuple[Study, Catalogue, int]:
    conditions, contents = draw(st.integers(2, 6)), draw(st.integers(2, 7))
    rule = draw(st.sampled_from(["once", "apart", "free"]))
    items = conditions if kind == "stimulus" else conditions * (conditions - 1) // 2
    if kind == "pair" and items == 1:
        conditions, items = 3, 3
    most = {"once": contents // items, "apart": contents if contents > 2 else 1, "free": contents}[rule]
    if most == 0:
        rule, most = "free", contents
    rounds, sessions = draw(st.integers(1, min(most, 3))), 1
    if rule == "free":
        sessions = draw(st.integers(1, contents // rounds))
    study = make_study(
        participants=draw(st.integers(1, 30)), trials=rounds * items, contents=rule, seed=draw(st.integers(0, 5)),
        order=draw(SQUARES), sessions_per_participant=min(sessions, 3),
    )  # fmt: skip
    return study, make_catalogue(contents, conditions), items


def sequence(plan: Plan, catalogue: Catalogue) -> list[list[frozenset[str]]]:
    """Return the conditions of each trial, list by list."""
    return [
        [frozenset(catalogue.by_id[slot.stimulus].condition for slot in trial.slots) for trial in planned.trials]
        for planned in plan.lists
    ]


@settings(max_examples=50, deadline=None)
@pytest.mark.parametrize("kind", ["stimulus", "pair"])
@given(data=st.data())
def test_every_promise_holds_where_lists_are_rows_of_squares(kind: str, data: st.DataObject) -> None:
    study, catalogue, items = data.draw(squares(kind))
    plan = make_plan(study, catalogue, acr if kind == "stimulus" else compare)
    assert_promises(plan, catalogue)
    one = "condition" if kind == "stimulus" else "pair"
    promised = {row.count for row in balance(plan, catalogue) if row.promised is not None}
    assert f"{one} x position" in promised
    assert (f"{one} after {one}" in promised) == (study.design.order == "williams")
    for planned, shown in zip(plan.lists, sequence(plan, catalogue), strict=True):
        assert set(Counter(shown).values()) == {len(shown) // items}
        pages = [frozenset(slot.stimulus for slot in trial.slots) for trial in planned.trials]
        assert len(pages) == len(set(pages))
        order = [trial.content for trial in planned.trials]
        if study.design.contents == "once":
            assert len(order) == len(set(order))
        if study.design.contents == "apart":
            assert all(before != after for before, after in pairwise(order))
    chain = study.design.sessions_per_participant
    for first in range(0, len(plan.lists), chain):
        seen = [
            frozenset(slot.stimulus for slot in trial.slots)
            for planned in plan.lists[first : first + chain]
            for trial in planned.trials
        ]
        assert len(seen) == len(set(seen)), "somebody meets the same twice"


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


def test_six_conditions_follow_each_other_equally_often() -> None:
    catalogue = make_catalogue(8, 6)
    plan = make_plan(make_study(participants=12, order="williams"), catalogue, acr)
    after = Counter(pair for shown in sequence(plan, catalogue) for pair in pairwise(shown))
    assert len(after) == 30
    assert set(after.values()) == {2}
    rows = {row.count: row for row in balance(plan, catalogue)}
    assert (rows["condition after condition"].difference, rows["condition after condition"].promised) == (0, 1)
    assert rows["content x position"].promised is None


def test_half_of_the_two_squares_of_an_odd_number_promises_less() -> None:
    catalogue = make_catalogue(8, 5)
    for participants, promised, difference in ((10, 1, 0), (5, 2, 2), (15, 2, 2)):
        plan = make_plan(make_study(participants=participants, order="williams"), catalogue, acr)
        row = next(row for row in balance(plan, catalogue) if row.count == "condition after condition")
        assert (row.promised, row.difference) == (promised, difference)


def test_what_follows_what_is_reported_for_every_design() -> None:
    catalogue = make_catalogue(4, 3)
    for method, name in ((acr, "condition after condition"), (compare, "pair after pair")):
        plan = make_plan(make_study(participants=6, trials=4), catalogue, method)
        row = next(row for row in balance(plan, catalogue) if row.count == name)
        assert (row.cells, row.promised) == (6, None)


def test_few_contents_stay_apart_and_nearly_even() -> None:
    catalogue = make_catalogue(3, 8)
    plan = make_plan(make_study(participants=24, order="williams"), catalogue, acr)
    rows = {row.count: row for row in balance(plan, catalogue)}
    assert all(one.content != two.content for planned in plan.lists for one, two in pairwise(planned.trials))
    assert rows["content x condition"].promised is None
    assert rows["content x condition"].difference <= 3


def test_the_same_seed_gives_the_same_square() -> None:
    catalogue = make_catalogue(5, 4)
    one, two, other = (
        make_plan(make_study(participants=9, order="latin", seed=seed), catalogue, acr) for seed in (3, 3, 4)
    )
    assert one == two
    assert one.lists != other.lists


BALANCED = {"acr": "a52c1170763164d2", "parallel": "64969be2c968dfe3", "pair": "50f460742f983d1a"}


@pytest.mark.parametrize("name", BALANCED)
def test_a_balanced_order_is_what_it_always_was(name: str) -> None:
    method = {"acr": acr, "parallel": parallel, "pair": compare}[name]
    pages = {"trials": 5, "per_trial": 3, "contents": "once"} if name == "parallel" else {"trials": 7}
    plan = make_plan(make_study(participants=25, seed=3, order="balanced", **pages), make_catalogue(6, 5), method)
    shown = [
        [[trial.content, [[slot.stimulus, slot.colour] for slot in trial.slots]] for trial in planned.trials]
        for planned in plan.lists
    ]
    assert hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16] == BALANCED[name]


def square_problems_of(catalogue: Catalogue, method: Method = acr, **design: Any) -> str:
    return problems_of(make_study(**design), catalogue, method)


def test_trials_that_are_no_round_are_told_with_those_that_are() -> None:
    assert square_problems_of(make_catalogue(5, 4), order="latin", trials=10) == (
        "study.yaml  design.trials is 10, but design.order is latin, and a list goes through all 4 conditions once, or "
        "up to 5 times. Allowed: 8 or 12."
    )
    assert square_problems_of(make_catalogue(5, 4), order="williams", trials=3) == (
        "study.yaml  design.trials is 3, but design.order is williams, and a list goes through all 4 conditions once, "
        "or up to 5 times. Allowed: 4."
    )
    assert square_problems_of(make_catalogue(4, 4), parallel, order="latin", trials=6, contents="once") == (
        "study.yaml  design.trials is 6, but design.order is latin, and a list goes through all 4 contents once. "
        "Allowed: 4."
    )
    assert square_problems_of(make_catalogue(4, 3), compare, order="latin", trials=15) == (
        "study.yaml  design.trials is 15, but design.order is latin, and a list goes through all 3 pairs of conditions "
        "once, or up to 4 times. Allowed: 12."
    )


def test_a_square_that_needs_more_contents_is_told() -> None:
    assert square_problems_of(make_catalogue(3, 6), order="latin", contents="once") == (
        "study.yaml  design.order is latin, and a list goes through all 6 conditions, but there are 3 contents and "
        "each may come once. Allowed: balanced. Add contents up to 6, or write contents: apart."
    )
    assert square_problems_of(make_catalogue(1, 6), order="latin") == (
        "study.yaml  design.order is latin, and a list goes through all 6 conditions, but there is 1 content, and "
        "trials of one content may not be neighbours. Allowed: balanced. Add contents, or write contents: free."
    )
    make_plan(make_study(order="latin", contents="apart"), make_catalogue(3, 6), acr)
    make_plan(make_study(order="latin", contents="free"), make_catalogue(1, 6), acr)


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


def test_sessions_of_one_person_that_would_repeat_something_are_told() -> None:
    assert square_problems_of(
        make_catalogue(4, 3), order="latin", sessions_per_participant=5, contents="free"
    ).startswith("study.yaml  design.sessions_per_participant is 5, but 5 sessions of 3 trials are 15 trials")


def test_two_contents_that_take_turns_are_for_one_session() -> None:
    assert square_problems_of(make_catalogue(2, 4), order="latin", sessions_per_participant=2, contents="apart") == (
        "study.yaml  design.sessions_per_participant is 2, but 2 sessions of 4 trials are 8 trials, there are 8 "
        "stimuli of 2 contents, and nobody may meet the same one twice. Allowed: 1 with 4 trials."
    )
    make_plan(make_study(order="latin", contents="apart"), make_catalogue(2, 4), acr)
    make_plan(make_study(order="latin", contents="free", sessions_per_participant=2), make_catalogue(2, 4), acr)
