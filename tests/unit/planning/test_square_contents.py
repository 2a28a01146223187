"""Contents of squares: apart, nearly even, and each with each item."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.planning.balance import balance
from beholder.planning.builder import make_plan
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.pair_methods import compare
from support.plans import acr, assert_promises, make_catalogue, make_study
from support.square_plans import SQUARES, sequence


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


def test_few_contents_stay_apart_and_nearly_even() -> None:
    catalogue = make_catalogue(3, 8)
    plan = make_plan(make_study(participants=24, order="williams"), catalogue, acr)
    rows = {row.count: row for row in balance(plan, catalogue)}
    assert all(one.content != two.content for planned in plan.lists for one, two in pairwise(planned.trials))
    assert rows["content x condition"].promised is None
    assert rows["content x condition"].difference <= 3
