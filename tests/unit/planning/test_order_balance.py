"""The balance of the order: what follows what, and what squares promise of it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from beholder.planning.balance import balance
from beholder.planning.builder import make_plan
from support.pair_methods import compare
from support.plans import acr, make_catalogue, make_study
from support.square_plans import sequence


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
