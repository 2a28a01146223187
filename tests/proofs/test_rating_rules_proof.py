"""Leaving people out by agreement with the others finds differences where conditions are alike; noting it does not."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from beholder.checks.agreement import spearman
from beholder.stats.additive import AdditiveContrasts
from beholder.stats.clustered import Floats

pytestmark = pytest.mark.long

PEOPLE, CONDITIONS, CONTENTS = 60, 5, 5
LEAST = 0.3
"""Least rank correlation of `preset: p910`."""
FEWEST = 4
"""With fewer people left nothing is tested."""


def rated(rng: np.random.Generator, span: float) -> Floats:
    """Return votes on five points by participant, content and condition; conditions span so many points."""
    quality = 3 + np.linspace(-span / 2, span / 2, CONDITIONS)
    felt = quality + rng.normal(0, 0.45, (PEOPLE, 1, 1)) + rng.normal(0, 0.15, (PEOPLE, 1, CONDITIONS))
    return np.clip(np.round(felt + rng.normal(0, 0.6, (PEOPLE, CONTENTS, CONDITIONS))), 1, 5)


def agreeing(votes: Floats) -> Floats:
    """Return the votes of those who agree with the mean of the others, or of whom that is unknown."""
    flat = votes.reshape(len(votes), -1)
    others = (flat.sum(axis=0) - flat) / (len(flat) - 1)
    r = [spearman(own.tolist(), mean.tolist()) for own, mean in zip(flat, others, strict=True)]
    return votes[[one is None or one >= LEAST for one in r]]


def share_found(votes: Floats) -> float:
    """Return the share of pairs that differ clearly on these contents, before any correction."""
    participant, content, condition = (np.asarray(codes, np.intp) for codes in np.nonzero(~np.isnan(votes)))
    pairs = list(combinations(range(CONDITIONS), 2))
    estimated = AdditiveContrasts(participant, content, condition, pairs).estimate(votes.reshape(1, -1))
    return float((estimated.these.p < 0.05).mean())


def test_leaving_out_who_disagrees_finds_differences_that_are_not_there(whole: bool) -> None:
    rng, kept, all_found, kept_found = np.random.default_rng(7), [], [], []
    for _ in range(300 if whole else 8):
        votes = rated(rng, span=0)
        some = agreeing(votes)
        kept.append(len(some) / PEOPLE)
        all_found.append(share_found(votes))
        if len(some) >= FEWEST:
            kept_found.append(share_found(some))
    # Honest people cannot agree about what is alike: nearly all of them would go.
    assert np.mean(kept) < 0.2
    if whole:
        assert np.mean(all_found) < 0.065
        assert np.mean(kept_found) > 0.15


def test_where_conditions_differ_much_nobody_honest_goes(whole: bool) -> None:
    rng = np.random.default_rng(8)
    assert np.mean([len(agreeing(rated(rng, span=2))) / PEOPLE for _ in range(50 if whole else 3)]) > 0.97
