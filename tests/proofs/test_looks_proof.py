"""Chains and looks, planned or not, keep their error rate: simulated studies in which nothing differs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from beholder.stats.additive import AdditiveContrasts, ContrastEstimates
from beholder.stats.clustered import Floats
from beholder.stats.sequential import anytime_look, planned_look
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
    """Return the p-values of all pairs beyond these contents, a row for each study."""
    return estimates(ratings, np.ones(ratings.shape[1:], bool)).beyond.p


def estimates(ratings: Floats, is_rated: NDArray[np.bool_]) -> ContrastEstimates:
    """Return all pairs, from what each participant rated."""
    participant, content, condition = np.nonzero(is_rated)
    return AdditiveContrasts(participant, content, condition, PAIRS).estimate(ratings[:, is_rated])


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


SCHEDULES = ((20, 40, 60), (10, 20, 30, 40, 50), (8, 10, 50, 51, 60), (30, 60))


def wrong_at_planned_looks(looks: tuple[int, ...], each: int, studies: int) -> tuple[int, int]:
    """Return in how many studies any pair is clear at any look, beyond these contents and on them.

    Everybody rates `each` of the stimuli.
    """
    rng = np.random.default_rng([*looks, each])
    shared = 0.2 * rng.normal(size=(studies, CONTENTS, CONDITIONS))
    ratings = simulated(rng, shared, looks[-1])
    on_these = ratings - shared.mean(axis=1)[:, np.newaxis, np.newaxis]
    is_rated = rng.random((looks[-1], CONTENTS * CONDITIONS)).argsort(axis=1) < each
    is_rated = is_rated.reshape(looks[-1], CONTENTS, CONDITIONS)
    beyond, these = np.zeros((2, studies), bool)
    for people in looks:
        look = planned_look(people, looks)
        beyond |= found(look.p(estimates(ratings[:, :people], is_rated[:people]).beyond.p)).any(axis=1)
        these |= found(look.p(estimates(on_these[:, :people], is_rated[:people]).these.p)).any(axis=1)
    return int(beyond.sum()), int(these.sum())


@pytest.mark.long
def test_planned_looks_have_one_error_rate_together(whole: bool) -> None:
    """Of 2,000 studies each, whoever rates all of 24 stimuli or 10 of them."""
    studies = 2000 if whole else 40
    for looks in SCHEDULES if whole else SCHEDULES[:1]:
        for each in (24, 10) if whole else (10,):
            for wrong in wrong_at_planned_looks(looks, each, studies):
                assert at_most(wrong, studies, 0.055), f"{looks}, {each}: {wrong} of {studies:,} studies"
