"""The fit of strengths: published and planted numbers, clustered errors, priors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import expit

from beholder.analysis.bradley_terry import fit_strengths
from beholder.analysis.comparisons import BRADLEY_TERRY, Tally
from beholder.analysis.pairs import preferences
from beholder.analysis.ranks import ranks
from beholder.analysis.ratings import as_ratings
from beholder.analysis.strengths import strength_pairs, strengths
from support.choice_ratings import choices, present, simulated


def davidson_by_hand(table: pd.DataFrame) -> np.ndarray:
    """Return strengths of a, b and c less their mean, position effect and log ν, by a general optimiser."""
    names = {"a": 0, "b": 1, "c": 2}
    one, other = table["condition"].map(names).to_numpy(), table["other_condition"].map(names).to_numpy()
    order = np.where(table["slot"] == "s1", 1.0, -1.0)
    value = table["value"].to_numpy()

    def loss(x: np.ndarray) -> float:
        strength = np.array([x[0], x[1], -x[0] - x[1]])
        d = strength[one] - strength[other] + x[2] * order
        whole = np.logaddexp(np.logaddexp(d / 2, -d / 2), x[3])
        return float(-np.where(value > 0, d / 2, np.where(value < 0, -d / 2, x[3])).sum() + whole.sum())

    x = optimize.minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-7}).x
    return np.array([x[0], x[1], -x[0] - x[1], x[2], x[3]])


def test_ties_and_order_are_estimated_together_with_the_strengths() -> None:
    table = simulated({"a": 0.8, "b": 0.0, "c": -0.8}, position=0.4, ties=0.7, people=30, each=20)
    actual = present(strengths(table, models=["bradley-terry"])).table
    whole = actual[actual["level"] != "stimulus"]
    assert list(whole["level"]) == ["condition"] * 3 + ["position", "tie"]
    np.testing.assert_allclose(whole["quality"], davidson_by_hand(table), atol=1e-5)


@pytest.mark.parametrize("model", ["bradley-terry", "thurstone"])
def test_planted_strengths_order_and_ties_come_out(model: str) -> None:
    planted = {"a": 1.2, "b": 0.2, "c": -0.4, "d": -1.0}
    table = simulated(planted, position=0.3, ties=0.8, people=100, each=60)
    result = present(strengths(table, models=[model]))
    actual = result.table[result.table["level"] != "stimulus"].set_index("level")
    if model == "bradley-terry":
        assert (
            np.abs(actual.loc["condition", "quality"] - list(planted.values())) < 4 * actual.loc["condition", "se"]
        ).all()
        assert actual.loc["position", "quality"] == pytest.approx(0.3, abs=0.1)
        assert actual.loc["tie", "quality"] == pytest.approx(math.log(0.8), abs=0.15)
    assert list(actual.loc["condition", "quality"].rank()) == [4, 3, 2, 1]
    # Two contents say next to nothing of others.
    assert actual.loc["position", "these_low"] > 0 > actual.loc["position", "low"]
    assert "above zero the one shown first, or left, is preferred among equals" in result.note


def crowd(people: int, each: int, spread: float, rng: np.random.Generator) -> Tally:
    """Return choices among three of a crowd in which everybody has strengths of their own around 0.3, 0 and -0.3."""
    person = np.repeat(np.arange(people), each)
    own = np.array([0.3, 0.0, -0.3]) + rng.normal(0, spread, (people, 3))
    pair = rng.integers(3, size=len(person))
    one, other = np.array([0, 0, 1])[pair], np.array([1, 2, 2])[pair]
    won = (rng.random(len(person)) < expit(own[person, one] - own[person, other])).astype(float)
    nothing = np.zeros(len(person))
    return Tally(("a", "b", "c"), one, other, nothing, person, np.zeros_like(person), won, nothing, 1 - won)


@pytest.mark.long
def test_clustered_intervals_cover_where_people_differ_and_plain_ones_do_not(whole: bool) -> None:
    spread, people, runs = 0.8, 30, 4000 if whole else 120
    # What the model says of endless comparisons by endless people: their strengths differ, so they win less often.
    z, weight = np.polynomial.hermite_e.hermegauss(40)
    far = np.array([0.3, 0.6, 0.3])[:, None] + math.sqrt(2) * spread * z
    share = expit(far) @ weight / weight.sum()
    nothing = np.zeros(3)
    pairs = (np.array([0, 0, 1]), np.array([1, 2, 2]))
    limit = fit_strengths(
        Tally(("a", "b", "c"), *pairs, nothing, np.arange(3), np.zeros(3, int), share, nothing, 1 - share),
        BRADLEY_TERRY,
    )
    truth = limit.quality[0] - limit.quality[2]
    rng = np.random.default_rng(11)
    off, error, plain = [], [], []
    for _ in range(runs):
        fitted = fit_strengths(crowd(people, 30, spread, rng), BRADLEY_TERRY)
        off.append(fitted.quality[0] - fitted.quality[2] - truth)
        contrast = np.array([1.0, 0.0, -1.0])
        error.append(math.sqrt(contrast @ fitted.covariance_of(fitted.these) @ contrast))
        plain.append(math.sqrt(contrast @ fitted.model_covariance @ contrast))
    far_off, t = np.abs(off), stats.t.ppf(0.975, people - 1)
    assert abs(np.mean(far_off <= t * np.array(error)) - 0.95) < (0.02 if whole else 0.06)
    assert np.mean(far_off <= 1.96 * np.array(plain)) < 0.85


def test_people_who_always_take_the_first_do_not_break_the_fit() -> None:
    table = simulated({"a": 0.0, "b": 0.0, "c": 0.0}, each=12)
    table = table.assign(raw_value=-1.0, value=np.where(table["slot"] == "s1", 1.0, -1.0))
    actual = present(strengths(table, models=["bradley-terry"])).table
    assert actual.query("level == 'position'")["quality"].item() > 2
    assert set(actual.query("level == 'condition'")["note"]) == {"the order of showing explains every choice"}


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["p", "q", "r"]),
        st.sampled_from(["t", "u"]),
        st.sampled_from(["a", "b", "c", "NA"]),
        st.sampled_from(["a", "b", "c", "NA"]),
        st.sampled_from([-1.0, 0.0, 1.0]),
        st.sampled_from([-1.0, 1.0]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=10, deadline=None)
@given(ROWS)
def test_any_few_choices_give_finite_strengths(rows: list[Any]) -> None:
    table = choices(*[row[:5] for row in rows]).assign(raw_value=[row[4] * row[5] for row in rows])
    ratings = as_ratings(table)
    results = [one(ratings) for one in (strengths, strength_pairs, preferences, ranks)]
    if results[0] is None:
        assert all(row[2] == row[3] for row in rows)
        return
    actual = results[0].table
    assert np.isfinite(actual[["quality", "model_se"]]).all(axis=None)
    strong = actual[actual["level"] == "condition"]
    totals = strong.groupby(["model", "component"])["quality"].sum()
    np.testing.assert_allclose(totals, 0, atol=1e-7)
    assert all("nan" not in f"{one.note} {one.citation}" for one in results if one is not None)
