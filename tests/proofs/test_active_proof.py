"""What active pairs are worth, and that they do not bend the estimates: simulated crowds with known strengths."""

from __future__ import annotations

import sys
from collections import defaultdict

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, special, stats

from beholder.stats.expected_information import posterior
from support.active_crowds import Crowd, How, spread_strengths

TAU = 0.88


def votes_to_agree(how: How, runs: int, most: int) -> float:
    """Return after how many votes the mean agreement of many crowds with the truth reaches `TAU` for good."""
    curves = []
    for seed in range(runs):
        crowd = Crowd(spread_strengths(20, seed), seed)
        curve = []
        for _ in range(most):
            crowd.ask(how)
            curve.append(crowd.tau)
        curves.append(curve)
    mean = np.mean(curves, axis=0)
    below = np.flatnonzero(mean < TAU)
    reached = int(below[-1]) + 1 if len(below) else 0
    assert reached < most, f"{how}: {mean[-1]:.3f} after all votes"
    # Between two batches by a straight line, so that the step of 19 votes does not decide.
    part = (TAU - mean[reached - 1]) / (mean[reached] - mean[reached - 1])
    return float(19 * (reached + part))


@pytest.mark.long
def test_the_same_ranks_with_fewer_votes(whole: bool, capsys: pytest.CaptureFixture[str]) -> None:
    runs, most = (200, 60) if whole else (12, 36)
    votes = {how: votes_to_agree(how, runs, most) for how in ("random", "trees", "active")}
    shares = {how: votes["active"] / votes[how] for how in ("random", "trees")}
    if whole:
        with capsys.disabled():
            told = ", ".join(f"{how} {number:.0f}" for how, number in votes.items())
            sys.stdout.write(f"\nvotes for tau {TAU} of 20 conditions, {runs} crowds: {told}; {shares}\n")
    assert shares["random"] <= (0.7 if whole else 0.75)
    assert shares["trees"] <= (0.7 if whole else 0.75)


def most_likely(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the strengths by maximum likelihood, their mean zero: another way than that of the package."""

    def loss(free: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        strengths = np.append(free, -free.sum())
        difference = strengths[:, None] - strengths[None, :]
        gradient = -(wins - (wins + wins.T) * special.expit(difference)).sum(axis=1)
        return -float((wins * special.log_expit(difference)).sum()), gradient[:-1] - gradient[-1]

    found = optimize.minimize(loss, np.zeros(len(wins) - 1), jac=True, method="BFGS")
    return np.append(found.x, -found.x.sum())


TRUTH = np.array([-1.5, -1.2, -0.4, 0.0, 0.1, 0.6, 0.9, 1.5])
TRUTH = TRUTH - TRUTH.mean()


def estimates(how: How, runs: int, batches: int) -> NDArray[np.float64]:
    found = []
    for seed in range(runs):
        crowd = Crowd(TRUTH, seed)
        for _ in range(batches):
            crowd.ask(how)
        found.append(most_likely(crowd.wins))
    return np.array(found)


@pytest.mark.long
def test_strengths_are_as_unbiased_as_with_random_pairs(whole: bool, capsys: pytest.CaptureFixture[str]) -> None:
    runs, batches = (1000, 60) if whole else (60, 40)
    slopes, errors = {}, {}
    for how in ("random", "active"):
        found = estimates(how, runs, batches)
        # Small samples stretch every estimate a little, as logistic regression does, whoever is compared.
        slopes[how] = float((found.mean(axis=0) @ TRUTH) / (TRUTH @ TRUTH))
        errors[how] = float(np.sqrt(((found - TRUTH) ** 2).mean()))
        left = found.mean(axis=0) - slopes[how] * TRUTH
        assert np.abs(left).max() < 4.5 * (found.std(axis=0) / runs**0.5).max(), f"{how}: {left}"
    if whole:
        with capsys.disabled():
            sys.stdout.write(f"\nstretch of strengths: {slopes}; root mean squared error: {errors}\n")
    assert errors["active"] == pytest.approx(errors["random"], rel=0.1 if whole else 0.2)
    assert 0.97 < slopes["active"] < (1.08 if whole else 1.12)
    if whole:  # it is of the size of the sample, and goes with it
        many = estimates("active", 200, 4 * batches)
        assert (many.mean(axis=0) @ TRUTH) / (TRUTH @ TRUTH) == pytest.approx(1, abs=0.025)


@pytest.mark.long
def test_intervals_of_differences_hold_although_earlier_votes_decide_what_is_asked(whole: bool) -> None:
    runs = 1000 if whole else 40
    covered = []
    for seed in range(runs):
        crowd = Crowd(TRUTH, seed)
        for _ in range(60):
            crowd.ask("active")
        known = most_likely(crowd.wins)
        chances = special.expit(known[:, None] - known[None, :])
        weights = (crowd.wins + crowd.wins.T) * chances * (1 - chances)
        covariance = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
        for one, two in ((0, 1), (3, 4), (0, 7)):
            error = np.sqrt(covariance[one, one] + covariance[two, two] - 2 * covariance[one, two])
            difference = known[one] - known[two] - (TRUTH[one] - TRUTH[two])
            covered.append(abs(difference) <= stats.norm.ppf(0.975) * error)
    assert np.mean(covered) >= (0.935 if whole else 0.88)


@pytest.mark.long
def test_shares_of_choices_are_bent_and_draw_probabilities_straighten_them(whole: bool) -> None:
    runs, batches = (400, 60) if whole else (40, 30)
    opponents = ~np.eye(8, dtype=bool)
    shares = special.expit(TRUTH[:, None] - TRUTH[None, :])
    expected = np.array([row[others].mean() for row, others in zip(shares, opponents, strict=True)])
    plain, weighted = [], []
    for seed in range(runs):
        crowd = Crowd(TRUTH, seed)
        for _ in range(batches):
            crowd.ask("active")
        counts: dict[bool, NDArray[np.float64]] = defaultdict(lambda: np.zeros((2, 8)))
        for one, two, chance, has_won in crowd.draws:
            for is_weighted in (False, True):
                weight = 1 / chance if is_weighted else 1.0
                counts[is_weighted][:, one] += weight * has_won, weight
                counts[is_weighted][:, two] += weight * (1 - has_won), weight
        plain.append(counts[False][0] / counts[False][1])
        weighted.append(counts[True][0] / counts[True][1])
    bias = np.abs(np.mean(plain, axis=0) - expected).max()
    left = np.abs(np.mean(weighted, axis=0) - expected).max()
    assert bias > 0.05, "a strong condition meets strong ones, and wins less often than against any"
    assert left < (0.01 if whole else 0.03)


def test_a_strength_that_no_answer_bounds_is_kept_finite_by_the_prior_of_the_dealing() -> None:
    wins = np.zeros((3, 3))
    wins[0, 1] = 50.0
    assert posterior(wins).strengths[0] < 10, "the prior keeps a strength finite that nothing else does"
