"""Errors of strengths: over people and contents, never below independent comparisons, and what is not known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from beholder.analysis.bradley_terry import difference_claims, fit_strengths
from beholder.analysis.comparisons import BRADLEY_TERRY, COMPARISON_MODELS, Tally
from beholder.analysis.strengths import strength_pairs, strengths
from beholder.stats.additive import DirectContrasts
from beholder.stats.clustered import Cells, Codes, Floats
from beholder.stats.tests import holm
from support.choice_ratings import choices, present

NAMES = tuple("abcdefgh")


def tally(one: Codes, other: Codes, person: Codes, content: Codes, won: Floats) -> Tally:
    """Return comparisons without ties, the order unknown; `won` is 1 where `one` was preferred, else 0."""
    nothing = np.zeros(len(one))
    count = 1 + int(max(one.max(), other.max()))
    return Tally(NAMES[:count], one, other, nothing, person, content, won, nothing, 1 - won)


def two(won: Floats) -> Tally:
    """Return choices between two, of a table with a row for each person and a column for each content."""
    person, content = (codes.ravel() for codes in np.indices(won.shape))
    none = np.zeros(won.size, np.intp)
    return tally(none, none + 1, person, content, won.ravel())


def p_values(won: Floats, model: str = "bradley-terry") -> Floats:
    """Return p beyond these contents and with them."""
    fitted = fit_strengths(two(won), COMPARISON_MODELS[model])
    pair = np.array([0]), np.array([1])
    return np.array([difference_claims(fitted, errors, *pair).p[0] for errors in (fitted.beyond, fitted.these)])


def test_two_conditions_have_the_error_of_their_mean_on_another_scale() -> None:
    rng = np.random.default_rng(3)
    people, contents = rng.normal(0, 1.5, (40, 1)), rng.normal(0, 1.5, (1, 8))
    won = (rng.random((40, 8)) < expit(0.4 + people + contents)).astype(float)
    fitted = fit_strengths(two(won), BRADLEY_TERRY)
    person, content = (codes.ravel() for codes in np.indices(won.shape))
    votes = 2 * won.ravel() - 1
    mean = DirectContrasts({(0, 1): Cells(votes, person, content)}).estimate({(0, 1): votes[None]})
    share = won.mean()
    slope = 2 * share * (1 - share)
    assert np.sqrt(fitted.beyond.variance[0, 1]) * slope == pytest.approx(mean.beyond.se[0, 0], rel=0.005)
    assert np.sqrt(fitted.these.variance[0, 1]) * slope == pytest.approx(mean.these.se[0, 0], rel=0.005)


@pytest.mark.parametrize("model", COMPARISON_MODELS)
def test_every_further_vote_for_the_winner_makes_it_surer_up_to_unanimity(model: str) -> None:
    # 12 people and 4 contents; votes turn one after the other, evenly over people and contents.
    turned = [(number % 12, (number + number // 12) % 4) for number in range(24)]
    won = np.ones((12, 4))
    for person, content in turned:
        won[person, content] = 0
    p = []
    for person, content in reversed(turned):
        won[person, content] = 1
        p.append(p_values(won, model))
    assert (np.diff(p, axis=0) <= 1e-12).all()
    assert p[-1][0] < 0.02
    assert p[-1][1] < 1e-4


@pytest.mark.long
def test_a_single_vote_for_the_winner_never_raises_p_on_these_contents(whole: bool) -> None:
    """None of 20 flips, 400 in `make prove`; with the design effect at the maximum, 7 % did, by up to a fifth."""
    rng, flips = np.random.default_rng(5), 0
    while flips < (400 if whole else 20):
        favours = rng.choice([0, 0.5, 1.0]) * rng.normal(size=(12, 1)) + rng.choice([0, 0.5]) * rng.normal(size=(1, 4))
        won = (rng.random((12, 4)) < expit(rng.choice([0.3, 0.8, 1.5]) + favours)).astype(float)
        lost = np.argwhere(won == 0)
        if won.mean() > 0.5 and len(lost):
            more = won.copy()
            more[tuple(lost[rng.integers(len(lost))])] = 1
            assert p_values(more)[1] <= p_values(won)[1] * (1 + 1e-9)
            flips += 1


TABLES = st.tuples(st.integers(4, 8), st.integers(2, 4)).flatmap(
    lambda size: st.lists(
        st.lists(st.booleans(), min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
    )
)


@settings(max_examples=15, deadline=None)
@given(TABLES)
def test_one_more_person_who_chooses_the_winner_everywhere_and_unanimity_never_raise_p(table: list[list[bool]]) -> None:
    won = np.array(table, float)
    won = won if won.mean() >= 0.5 else 1 - won
    before = p_values(won) * (1 + 1e-9) + 1e-12
    assert (p_values(np.vstack([won, np.ones(won.shape[1])])) <= before).all()
    assert (p_values(np.ones_like(won)) <= before).all()


ROWS = st.lists(
    st.tuples(st.sampled_from("pqrs"), st.sampled_from("tuv"), st.sampled_from(["ab", "ac", "bc"]), st.booleans()),
    min_size=8,
    max_size=40,
)


@settings(max_examples=12, deadline=None)
@given(ROWS)
def test_an_interval_leaves_out_zero_exactly_where_p_is_below_five_percent(rows: list[Any]) -> None:
    table = choices(*[(person, content, *pair, 1.0 if won else -1.0) for person, content, pair, won in rows])
    actual = present(strength_pairs(table)).table
    for low, high, p in (("low", "high", "p"), ("these_low", "these_high", "these_p")):
        known = actual[actual[p].notna() & ((actual[p] - 0.05).abs() > 1e-6)]
        leaves_out = (known[low] > 0) | (known[high] < 0)
        assert (leaves_out == (known[p] < 0.05)).all()
        assert (known[low] < known["difference"]).all()
        assert (known[high] > known["difference"]).all()
        assert np.isfinite(known[[low, high]]).all(axis=None)
    assert (actual["se"].isna() | (actual["se"] >= actual["model_se"] - 1e-12)).all()


def test_what_rests_on_one_content_says_nothing_of_others() -> None:
    rows = [(f"p{n}", "t", "a", "b", 1.0 if n % 3 else -1.0) for n in range(40)]
    rows += [(f"p{n}", "u", "a", "b", 1.0) for n in range(2)]
    row = present(strength_pairs(choices(*rows), models=["bradley-terry"])).table.iloc[0]
    assert row["note"] == "rests on one content: nothing is known beyond it"
    assert row[["se", "low", "high", "p", "p_holm"]].isna().all()
    assert row["these_p"] < 0.05


def test_what_rests_on_one_participant_is_not_tested() -> None:
    rows = [(f"p{n}", f"t{n % 4}", "a", "b", 1.0 if n % 3 else -1.0) for n in range(24)]
    rows += [("p0", f"t{n % 4}", "b", "c", 1.0 if n % 3 else -1.0) for n in range(24)]
    table = present(strength_pairs(choices(*rows), models=["bradley-terry"])).table
    alone = table.query("condition == 'b' and other_condition == 'c'").iloc[0]
    assert alone["note"] == "rests on one participant: no test"
    assert alone[["p", "these_p"]].isna().all()
    assert table.query("other_condition == 'b'")["these_p"].item() < 0.3


def test_a_single_content_has_the_error_over_people_for_both_claims() -> None:
    rows = [(f"p{n // 2}", "t", "a", "b", 1.0 if n % 5 else -1.0) for n in range(40)]
    table = present(strengths(choices(*rows), models=["bradley-terry"])).table
    np.testing.assert_array_equal(table["low"], table["these_low"])
    np.testing.assert_array_equal(table["high"], table["these_high"])


def rated(rng: np.random.Generator, people: int, contents: int, *, spread: float) -> Tally:
    """Return choices among five equals that each content makes unequal, 20 of each person."""
    person = np.repeat(np.arange(people), 20)
    first, second = np.triu_indices(5, 1)
    pair, content = rng.integers(10, size=len(person)), rng.integers(contents, size=len(person))
    own = rng.normal(0, spread, (contents, 5))
    chance = expit(own[content, first[pair]] - own[content, second[pair]])
    return tally(first[pair], second[pair], person, content, (rng.random(len(person)) < chance).astype(float))


@pytest.mark.long
def test_equals_that_differ_by_content_are_called_different_as_often_as_promised(whole: bool) -> None:
    rng, studies = np.random.default_rng(7), 2000 if whole else 25
    pairs = np.triu_indices(5, 1)
    each, some, narrow = [], [], []
    for _ in range(studies):
        fitted = fit_strengths(rated(rng, 30, 6, spread=0.5), BRADLEY_TERRY)
        p, these = (difference_claims(fitted, errors, *pairs).p for errors in (fitted.beyond, fitted.these))
        each.append(np.mean(p < 0.05))
        some.append((holm(p) < 0.05).any())
        narrow.append(np.mean(these < 0.05))
    assert np.mean(each) < (0.065 if whole else 0.1)
    assert np.mean(some) < (0.065 if whole else 0.2)
    # With these contents they do differ.
    assert np.mean(narrow) > 0.2
