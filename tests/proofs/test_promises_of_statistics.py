"""Many simulated studies: intervals have their coverage, and tests keep their level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from beholder.stats.intervals import t_interval
from beholder.stats.tests import signed_rank


def studies(whole: bool) -> int:
    return 20_000 if whole else 1_000


def plausible(times: int, share: float) -> tuple[float, float]:
    """Return the counts that a nominal rate exceeds once in ten thousand repetitions."""
    low, high = binom.interval(0.9999, times, share)
    return float(low), float(high)


@pytest.mark.long
def test_intervals_over_participants_cover_the_truth_as_often_as_they_claim(whole: bool) -> None:
    rng = np.random.default_rng(20261115)
    times = studies(whole)
    bias = rng.normal(0, 8, (times, 20, 1))  # raters differ more than their ratings do: the unit must be the rater
    means = (60 + bias + rng.normal(0, 5, (times, 20, 4))).mean(axis=2)
    intervals = [t_interval(row) for row in means]
    covered = sum(one.low <= 60 <= one.high for one in intervals)
    low, high = plausible(times, 0.95)
    assert low <= covered <= high, f"{covered} of {times}"


@pytest.mark.long
def test_the_signed_rank_test_rejects_a_true_null_no_more_often_than_it_says(whole: bool) -> None:
    rng = np.random.default_rng(20261116)
    times = studies(whole) // 4
    differences = np.round(rng.normal(0, 6, (times, 24)))  # whole points of a slider: ties and zeros
    rejected = sum(signed_rank(row).p < 0.05 for row in differences)
    assert rejected <= plausible(times, 0.055)[1], f"{rejected} of {times}"
    assert rejected >= plausible(times, 0.035)[0], f"{rejected} of {times}"
