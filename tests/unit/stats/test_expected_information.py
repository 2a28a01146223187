"""What to compare next: information, random trees and sets, and the probabilities with which they are drawn."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special

from beholder.stats.expected_information import (
    PRIOR_SD,
    Sampling,
    draw_forest,
    draw_pairs,
    draw_sets,
    expected_information,
    inclusion,
    posterior,
    sampling_of,
    set_probability,
)
from support.active_crowds import Crowd, spread_strengths


def symmetric(rng: np.random.Generator, count: int, missing: float = 0.0) -> np.ndarray:
    upper = np.triu(rng.uniform(0.05, 1, (count, count)) * (rng.random((count, count)) >= missing), 1)
    return upper + upper.T


def all_of(count: int) -> np.ndarray:
    return ~np.eye(count, dtype=bool)


def is_tree(edges: tuple[tuple[int, int], ...], count: int) -> bool:
    joined = list(range(count))
    for one, two in edges:
        if joined[one] == joined[two]:
            return False
        joined = [joined[one] if part == joined[two] else part for part in joined]
    return len(edges) == count - 1


def every_tree(weights: np.ndarray) -> dict[tuple[tuple[int, int], ...], float]:
    """Return the probability of every spanning tree, by listing them all."""
    count = len(weights)
    pairs = list(combinations(range(count), 2))
    trees = {
        edges: float(np.prod([weights[pair] for pair in edges]))
        for edges in combinations(pairs, count - 1)
        if is_tree(edges, count)
    }
    whole = sum(trees.values())
    return {edges: weight / whole for edges, weight in trees.items()}


@pytest.mark.parametrize("seed", range(3))
def test_a_pair_is_in_a_tree_with_the_probability_that_all_trees_give_it(seed: int) -> None:
    weights = symmetric(np.random.default_rng(seed), 5)
    expected = np.zeros_like(weights)
    for edges, chance in every_tree(weights).items():
        for one, two in edges:
            expected[one, two] += chance
            expected[two, one] += chance
    assert inclusion(weights) == pytest.approx(expected, abs=1e-9)


def test_trees_are_drawn_as_often_as_their_weights_say() -> None:
    rng = np.random.default_rng(4)
    weights = symmetric(rng, 4)
    drawn = Counter(tuple(sorted(draw_forest(weights, rng))) for _ in range(4000))
    for edges, chance in every_tree(weights).items():
        assert drawn[edges] / 4000 == pytest.approx(chance, abs=5 * (chance / 4000) ** 0.5 + 1e-3)


@given(st.integers(2, 12), st.integers(0, 10_000), st.floats(0, 0.8), st.integers(1, 30))
@settings(max_examples=60)
def test_pairs_hold_what_can_be_compared_together_and_none_comes_twice(
    count: int, seed: int, missing: float, number: int
) -> None:
    rng = np.random.default_rng(seed)
    allowed = symmetric(rng, count, missing) > 0
    draws = draw_pairs(Sampling(allowed, symmetric(rng, count), 0.2), number, rng)
    possible = int(np.triu(allowed).sum())
    assert len(draws) == (number if possible else 0)
    assert all(allowed[draw.conditions] and draw.conditions[0] < draw.conditions[1] for draw in draws)
    assert all(0 < draw.probability <= 1 for draw in draws)
    times = Counter(draw.conditions for draw in draws)
    assert not times or max(times.values()) <= -(-number // possible), "a pair comes again once all others have come"


def test_one_tree_holds_all_conditions_together() -> None:
    rng = np.random.default_rng(1)
    draws = draw_pairs(Sampling(all_of(30), symmetric(rng, 30), 0.5), 29, rng)
    assert is_tree(tuple((one, two) for (one, two), _ in draws), 30)


def test_without_an_answer_every_pair_is_as_likely_and_says_so() -> None:
    sampling = sampling_of(np.zeros((10, 10)), all_of(10), 0.2)
    draws = draw_pairs(sampling, 9, np.random.default_rng(2))
    assert {round(draw.probability, 12) for draw in draws} == {0.2}, "nine of forty-five"


def test_stated_probabilities_are_those_with_which_pairs_come() -> None:
    rng = np.random.default_rng(5)
    sampling = Sampling(all_of(5), symmetric(rng, 5) ** 4, 0.3)
    times: Counter[tuple[int, ...]] = Counter()
    stated = {}
    for _ in range(4000):
        for draw in draw_pairs(sampling, 3, rng):  # a tree of four, of which three are kept
            times[draw.conditions] += 1
            stated[draw.conditions] = draw.probability
    for pair, chance in stated.items():
        assert times[pair] / 4000 == pytest.approx(chance, abs=5 * (chance / 4000) ** 0.5)


def test_strengths_are_the_mode_that_an_optimiser_finds_and_their_covariance_its_curvature() -> None:
    rng = np.random.default_rng(0)
    wins = np.triu(rng.integers(0, 9, (6, 6)), 1) + np.tril(rng.integers(0, 3, (6, 6)), -1).astype(float)

    def loss(strengths: np.ndarray) -> float:
        chances = special.log_expit(strengths[:, None] - strengths[None, :])
        return float((strengths**2).sum() / (2 * PRIOR_SD**2) - (wins * chances).sum())

    found = optimize.minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-8})
    known = posterior(wins)
    assert known.strengths == pytest.approx(found.x, abs=2e-3)
    steps = np.eye(6) * 1e-3
    curvature = np.array(
        [
            [
                (loss(found.x + a + b) - loss(found.x + a - b) - loss(found.x - a + b) + loss(found.x - a - b)) / 4e-6
                for b in steps
            ]
            for a in steps
        ]
    )
    assert known.covariance == pytest.approx(np.linalg.inv(curvature), rel=0.02, abs=1e-3)


def test_unequal_and_well_known_pairs_tell_less() -> None:
    wins = np.zeros((4, 4))
    wins[0, 3] = 30.0  # 0 is far better than 3
    wins[1, 2] = wins[2, 1] = 20.0  # 1 and 2 are known to be alike
    told = expected_information(posterior(wins))
    assert told[0, 3] < told[0, 1]
    assert told[1, 2] < told[0, 1]
    assert told == pytest.approx(told.T)
    assert (told >= 0).all()
    assert told.max() < np.log(2), "an answer with two outcomes tells no more than that"


def test_information_is_what_many_draws_of_the_posterior_say() -> None:
    wins = np.array([[0, 3, 1], [1, 0, 2], [0, 1, 0]], float)
    known = posterior(wins)
    rng = np.random.default_rng(3)
    drawn = rng.multivariate_normal(known.strengths, known.covariance, 200_000)

    def entropy(chance: np.ndarray) -> np.ndarray:
        return np.asarray(-(chance * np.log(chance) + (1 - chance) * np.log(1 - chance)))

    chances = special.expit(drawn[:, 0] - drawn[:, 2])
    expected = entropy(chances.mean()) - entropy(chances).mean()
    assert expected_information(known)[0, 2] == pytest.approx(expected, abs=2e-3)


@given(st.integers(3, 7), st.integers(0, 1000), st.floats(0, 1))
@settings(max_examples=25)
def test_the_probabilities_of_all_sets_add_up_to_one(count: int, seed: int, uniform: float) -> None:
    rng = np.random.default_rng(seed)
    weights, size = symmetric(rng, count), int(rng.integers(2, count))
    first = rng.random(count) < 0.5
    first[0] = True
    sets = combinations(range(count), size)
    assert sum(set_probability(weights, first, one, uniform) for one in sets) == pytest.approx(1)


def test_sets_show_every_condition_before_one_begins_again_and_none_comes_twice() -> None:
    rng = np.random.default_rng(6)
    draws = draw_sets(Sampling(all_of(12), symmetric(rng, 12), 0.2), 4, 20, rng)
    assert len({draw.conditions for draw in draws}) == 20
    assert all(len(set(draw.conditions)) == 4 and 0 < draw.probability <= 1 for draw in draws)
    assert {condition for draw in draws[:12] for condition in draw.conditions} == set(range(12))
    assert draw_sets(Sampling(np.zeros((3, 3), bool), np.ones((3, 3)), 0.2), 2, 5, rng) == []


def test_of_twenty_conditions_it_takes_three_quarters_of_the_votes_at_most() -> None:
    """The whole of it, and by how much, is in tests/proofs/test_active_proof.py."""
    agreement: dict[str, list[float]] = {how: [] for how in ("random", "active")}
    for seed in range(3):
        truth = spread_strengths(20, seed)
        agreement["random"].append(Crowd(truth, seed).agreement("random", 19 * 24))
        agreement["active"].append(Crowd(truth, seed).agreement("active", 19 * 16))
    assert np.mean(agreement["active"]) >= np.mean(agreement["random"]) - 0.02
