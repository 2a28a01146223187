"""Chains, and looks that nobody planned, keep their error rate: simulated studies in which nothing differs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from beholder.stats.additive import AdditiveContrasts
from beholder.stats.clustered import Floats
from beholder.stats.sequential import anytime_look
from beholder.stats.tests import holm

CONDITIONS, CONTENTS = 4, 6
PAIRS = list(combinations(range(CONDITIONS), 2))


def simulated(rng: np.random.Generator, shared: Floats, people: int) -> Floats:
    """Return ratings by study, participant, content and condition; `shared` is what contents do to conditions."""
    studies = len(shared)
    return np.asarray(
        rng.normal(0, 0.5, (studies, people, 1, 1))
        + rng.normal(0, 0.5, (studies, 1, CONTENTS, 1))
        + shared[:, np.newaxis]
        + 0.2 * rng.standard_t(3, (studies, people, 1, CONDITIONS))
        + rng.normal(0, 0.6, (studies, people, CONTENTS, CONDITIONS))
    )


def p_values(ratings: Floats) -> Floats:
    """Return the p-values of all pairs, a row for each study."""
    people = ratings.shape[1]
    participant, content, condition = (axis.ravel() for axis in np.indices((people, CONTENTS, CONDITIONS)))
    design = AdditiveContrasts(participant, content, condition, PAIRS)
    return design.estimate(ratings.reshape(len(ratings), -1)).beyond.p


def found(p: Floats, share: float = 1.0) -> NDArray[np.bool_]:
    """Return which pairs are clear after the correction, with this share of an error rate."""
    return np.asarray(np.minimum(1, holm(p) / share) < 0.05, np.bool_)


def at_most(count: int, total: int, rate: float) -> bool:
    """Return whether so many can come of a rate that is not above this one; once in a thousand times it would not."""
    return bool(count <= stats.binom.ppf(0.999, total, rate))


@pytest.mark.long
def test_the_studies_of_a_chain_have_one_error_rate_together(whole: bool) -> None:
    """95 of 2,000 chains; the worse of two spreads that were tried: without one, 38."""
    studies, spread, rng = 2000 if whole else 200, 0.4, np.random.default_rng(1)
    shared = spread * rng.normal(size=(studies, CONTENTS, CONDITIONS))
    first, second = (p_values(simulated(rng, shared, 20)) for _ in range(2))
    left = ~found(first, 0.5)
    later = [found(p[open_], 0.5).any() if open_.any() else False for p, open_ in zip(second, left, strict=True)]
    wrong = int(((~left).any(axis=1) | np.array(later)).sum())
    assert at_most(wrong, studies, 0.05)


@pytest.mark.long
def test_whoever_looks_and_goes_on_finds_no_more_than_claimed(whole: bool) -> None:
    """7 of 1,000 studies, and 91 of them without the correction; where contents do nothing to conditions, 2 and 95."""
    studies, spread, rng = 1000 if whole else 100, 0.3, np.random.default_rng(2)
    shared = spread * rng.normal(size=(studies, CONTENTS, CONDITIONS))
    ratings = simulated(rng, shared, 60)
    wrong, naive = np.zeros((2, studies), bool)
    for people in range(10, 61, 10):
        p = p_values(ratings[:, :people])
        wrong |= found(anytime_look(people, 20).p(p)).any(axis=1)
        naive |= found(p).any(axis=1)
    assert at_most(int(wrong.sum()), studies, 0.05)
    assert naive.sum() > wrong.sum()
