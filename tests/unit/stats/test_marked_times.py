"""Marked times: densities that add up, kappa by hand and against statsmodels' formula, and nothing by chance."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from beholder.stats.marked_times import (
    claimed_steps,
    density_peaks,
    disagreement,
    kappa_of,
    mark_density,
    step_centres,
)


def test_steps_cover_the_clip_evenly() -> None:
    assert step_centres(1.0, 0.25) == pytest.approx([0.125, 0.375, 0.625, 0.875])
    assert len(step_centres(0.01)) == 1


@pytest.mark.parametrize("times", [[2.0], [0.05, 3.96], [1.0, 1.2, 3.0, 3.1]])
def test_a_density_adds_up_to_the_marks_of_a_viewer_also_at_the_ends(times: list[float]) -> None:
    at = step_centres(4.0, 0.01)
    density = mark_density(np.array(times), 5, at, 4.0, 0.3)
    assert density.sum() * 0.01 == pytest.approx(len(times) / 5, rel=1e-3)


def test_a_density_of_one_mark_is_the_normal_curve_round_it() -> None:
    density = mark_density(np.array([2.0]), 1, np.array([2.0, 2.3]), 4.0, 0.3)
    top = 1 / (0.3 * math.sqrt(2 * math.pi))
    assert density == pytest.approx([top, top * math.exp(-0.5)])
    assert mark_density(np.array([]), 3, np.array([1.0]), 4.0, 0.3) == pytest.approx([0.0])


def test_peaks_are_the_local_maxima_highest_first() -> None:
    assert density_peaks(np.array([0, 1, 0, 3, 3, 0, 2.0])) == [3, 6, 1]
    assert density_peaks(np.zeros(4)) == []


def test_a_mark_claims_the_time_within_the_tolerance() -> None:
    at = step_centres(1.0, 0.1)
    claimed = claimed_steps(np.array([0.5, 0.1]), np.array([0, 2]), 3, at, 0.16)
    assert claimed.astype(int).tolist() == [
        [0, 0, 0, 1, 1, 1, 1, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
    ]


def kappa(claimed: np.ndarray) -> float:
    return float(kappa_of(*disagreement(claimed))[0])


def test_kappa_of_two_is_cohens_by_hand() -> None:
    """Ten steps: both claim 2, one more each, neither 6. Observed 0.8; by chance 0.3 * 0.3 + 0.7 * 0.7 = 0.58."""
    claimed = np.array([[1, 1, 1, 0, 0, 0, 0, 0, 0, 0], [0, 1, 1, 1, 0, 0, 0, 0, 0, 0]], bool)
    assert kappa(claimed) == pytest.approx((0.8 - 0.58) / (1 - 0.58))


def test_kappa_of_many_is_that_of_all_pairs_together() -> None:
    """Conger's: the mean agreement of pairs, observed and by the shares of both, put into one kappa."""
    claimed = np.random.default_rng(1).random((5, 40)) < np.array([[0.1], [0.2], [0.3], [0.4], [0.5]])
    pairs = list(combinations(claimed, 2))
    observed = np.mean([np.mean(one == other) for one, other in pairs])
    chance = np.mean([one.mean() * other.mean() + (1 - one.mean()) * (1 - other.mean()) for one, other in pairs])
    assert kappa(claimed) == pytest.approx((observed - chance) / (1 - chance))


def test_kappa_is_one_where_all_claim_the_same_and_unknown_where_nobody_could_disagree() -> None:
    row = np.array([0, 1, 1, 0], bool)
    assert kappa(np.array([row, row, row])) == pytest.approx(1)
    assert kappa(np.array([row, ~row])) == pytest.approx(-1)
    assert math.isnan(kappa(np.zeros((3, 4), bool)))
    assert math.isnan(kappa(np.array([row])))


def test_who_claims_nothing_agrees_as_by_chance() -> None:
    row = np.array([0, 1, 1, 0], bool)
    assert kappa(np.array([row, np.zeros(4, bool)])) == pytest.approx(0)


@pytest.mark.parametrize("people", [2, 8])
def test_by_chance_agreement_is_about_zero_however_much_each_marks(people: int) -> None:
    """1,000 clips of 10 s: everybody marks at random, from never to six times. At the ends less can be claimed."""
    rng = np.random.default_rng(people)
    at = step_centres(10.0)
    sums = np.zeros(2)
    for _ in range(1000):
        counts = rng.integers(0, 7, people)
        person = np.repeat(np.arange(people), counts)
        sums += disagreement(claimed_steps(rng.uniform(0, 10, counts.sum()), person, people, at, 0.5))
    assert float(kappa_of(*sums)[0]) == pytest.approx(0, abs=0.02)


def test_people_who_mark_the_same_moments_agree() -> None:
    rng = np.random.default_rng(3)
    at = step_centres(10.0)
    times = np.concatenate([np.array([2.0, 7.0]) + rng.normal(0, 0.15, 2) for _ in range(8)])
    assert kappa(claimed_steps(times, np.repeat(np.arange(8), 2), 8, at, 0.5)) > 0.7
