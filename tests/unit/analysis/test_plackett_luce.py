"""Worths of Plackett and Luce: against sums over all orders, from planted worths, and where nobody ever lost."""

from __future__ import annotations

import math
from itertools import chain, pairwise, permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from beholder.analysis.computation import compute_all
from beholder.analysis.plackett_luce import Order, fit_worths, order_terms, page_orders, plackett_luce
from beholder.analysis.ratings import as_ratings
from beholder.methods.orders import order_scores

NAMES = "abcdefgh"


def linear_orders(order: Order) -> list[tuple[int, ...]]:
    """Every order without ties that agrees with one that has them."""
    return [tuple(chain(*parts)) for parts in product(*(permutations(group) for group in order))]


def log_probability(order: Order, worth: NDArray[np.float64]) -> float:
    """By the definition: each next one is drawn from those that are left, summed over all orders that agree."""
    odds = np.exp(worth)
    whole = 0.0
    for line in linear_orders(order):
        left = [odds[list(line[place:])].sum() for place in range(len(line))]
        whole += math.prod(odds[one] / rest for one, rest in zip(line, left, strict=True))
    return math.log(whole)


def table(pages: list[tuple[str, str, Order]]) -> pd.DataFrame:
    """Ratings of pages: a participant, a content and an order of conditions."""
    rows = []
    for number, (person, content, order) in enumerate(pages):
        named = [[NAMES[one] for one in group] for group in order]
        rows += [
            {
                "participant": person, "session": person, "trial": f"trial:{number}", "content": content,
                "condition": name, "stimulus": f"{name}/{content}", "value": score, "kind": "score",
                "question": "quality", "method": "rank", "scale_min": -1.0, "scale_max": 1.0,
            }
            for name, score in order_scores(named).items()
        ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    "order",
    [
        ((0,), (1,), (2,), (3,)),
        ((3,), (0, 1), (2,)),  # best and worst of four
        ((2,), (0, 1, 4, 5), (3,)),
        ((1, 2), (0, 3)),
        ((4,), (0, 1, 2, 3)),  # the others left out
        ((0, 1, 2),),  # nothing is said
    ],
)
def test_the_probability_of_an_order_is_the_sum_over_all_that_agree_with_it(order: Order) -> None:
    worth = np.array([0.3, -0.8, 1.1, -0.2, 0.5, -0.9])
    terms = order_terms([order], worth)
    assert terms.height[0] == pytest.approx(log_probability(order, worth), abs=1e-12)
    step = 1e-4
    for place, unit in enumerate(step * np.eye(len(worth))):
        up, down = log_probability(order, worth + unit), log_probability(order, worth - unit)
        assert terms.slope[0, place] == pytest.approx((up - down) / (2 * step), abs=1e-6)
        curve = (up + down - 2 * log_probability(order, worth)) / step**2
        assert terms.information[0, place, place] == pytest.approx(-curve, abs=1e-5)


PAGES: list[tuple[str, str, Order]] = [
    ("p1", "x", ((0,), (1, 2), (3,))),
    ("p1", "y", ((1,), (0,), (3,), (2,))),
    ("p2", "x", ((2,), (0,), (1, 3))),
    ("p2", "y", ((0,), (3,), (1,), (2,))),
    ("p3", "x", ((0,), (2, 3), (1,))),
    ("p3", "y", ((3,), (1,), (0,), (2,))),
    ("p4", "x", ((1,), (0, 2, 3))),
    ("p4", "y", ((2, 1), (0, 3))),
]


def test_worths_are_those_of_greatest_likelihood() -> None:
    def cost(worth: NDArray[np.float64]) -> float:
        whole = np.append(worth, -worth.sum())
        return -sum(log_probability(order, whole) for _, _, order in PAGES)

    best = minimize(cost, np.zeros(3), method="BFGS", options={"gtol": 1e-8}).x
    result = plackett_luce(table(PAGES))
    assert result is not None
    assert list(result.table["condition"]) == list("abcd")
    assert list(result.table["worth"]) == pytest.approx([*best, -best.sum()], abs=1e-5)
    assert result.table["first_share"].sum() == pytest.approx(1)
    assert list(result.table["pages"]) == [8, 8, 8, 8]
    assert set(result.table["estimator"]) == {"maximum likelihood"}


def test_orders_of_two_are_bradley_terry() -> None:
    wins = {(0, 1): (7, 3), (1, 2): (6, 4), (0, 2): (8, 2)}
    pages: list[tuple[str, str, Order]] = []
    for (one, other), (more, fewer) in wins.items():
        first: Order = ((one,), (other,))
        second: Order = ((other,), (one,))
        orders = [first] * more + [second] * fewer
        pages += [(f"p{number}", "xyz"[number % 3], order) for number, order in enumerate(orders)]
    worth = fit_worths(page_orders(as_ratings(table(pages)), "quality")).worth  # type: ignore[arg-type]
    odds = np.exp(worth)
    for place in range(3):
        expected = sum(
            sum(counts) * odds[place] / (odds[one] + odds[other])
            for (one, other), counts in wins.items()
            if place in (one, other)
        )
        won = sum(counts[(one, other).index(place)] for (one, other), counts in wins.items() if place in (one, other))
        assert expected == pytest.approx(won)  # at the maximum, wins are as expected


def test_one_that_always_wins_is_held_by_a_prior_and_the_note_says_so() -> None:
    pages: list[tuple[str, str, Order]] = [
        (f"p{person}", content, ((0,), (1,), (2,)) if (person + place) % 2 else ((0,), (2,), (1,)))
        for person in range(6)
        for place, content in enumerate("xy")
    ]
    result = plackett_luce(table(pages))
    assert result is not None
    assert set(result.table["estimator"]) == {"Gaussian prior"}
    assert np.isfinite(result.table["worth"]).all()
    assert result.table["worth"].idxmax() == 0
    assert "a never lost to any of the others" in result.note
    assert "a Gaussian prior around zero holds this group" in result.note


@given(st.permutations(range(5)), st.integers(0, 2**16))
def test_more_first_places_mean_more_worth(names: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = tuple((name,) for name in names)
    others = [tuple((int(name),) for name in rng.permutation(5)) for _ in range(6)]
    terms = order_terms([order, *others], np.zeros(5))
    slopes = [terms.slope[0, one] for one in names]
    assert all(before > after for before, after in pairwise(slopes))
    assert terms.slope.sum(axis=1) == pytest.approx(np.zeros(7), abs=1e-12)  # one common worth more changes nothing


def planted_pages(
    rng: np.random.Generator, worth: NDArray[np.float64], people: int, per_page: int, *, is_extremes: bool
) -> list[tuple[str, str, Order]]:
    pages: list[tuple[str, str, Order]] = []
    for person, content in product(range(people), "uvwxyz"):
        shown = rng.choice(len(worth), per_page, replace=False)
        line = shown[np.argsort(-(worth[shown] + rng.gumbel(size=per_page)))].tolist()
        order = ((line[0],), tuple(line[1:-1]), (line[-1],)) if is_extremes else tuple((one,) for one in line)
        pages.append((f"p{person:03}", content, order))
    return pages


@pytest.mark.parametrize("is_extremes", [False, True], ids=["rank", "best-worst"])
def test_planted_worths_come_back_within_their_intervals(is_extremes: bool) -> None:
    worth = np.array([1.0, 0.5, 0.0, -0.4, -1.1])
    pages = planted_pages(np.random.default_rng(3), worth, 60, 4, is_extremes=is_extremes)
    result = plackett_luce(table(pages))
    assert result is not None
    rows = result.table
    assert list(rows["worth"]) == pytest.approx(list(worth), abs=0.25)
    inside = (rows["low"] < worth) & (worth < rows["high"])
    assert inside.sum() >= 4
    assert (rows["se"] > 0.9 * rows["model_se"]).all()
    assert (rows["high"] - rows["low"] < 1.2).all()


def test_errors_know_that_one_person_made_many_pages() -> None:
    rng = np.random.default_rng(8)
    pages: list[tuple[str, str, Order]] = []
    for person in range(16):
        likes = rng.normal(0, 1.5, 3)  # a taste of their own
        for content in "uvwxyz":
            line = np.argsort(-(likes + rng.gumbel(size=3))).tolist()
            pages.append((f"p{person:02}", content, tuple((one,) for one in line)))
    result = plackett_luce(table(pages))
    assert result is not None
    assert (result.table["se"] > 1.5 * result.table["model_se"]).all()


def test_it_is_for_methods_that_name_it_and_for_questions_that_are_named() -> None:
    ratings = table(PAGES).assign(method="acr")
    assert plackett_luce(ratings) is None
    named = plackett_luce(ratings, questions=["quality"])
    assert named is not None
    assert "plackett_luce" in compute_all(as_ratings(table(PAGES))).results
