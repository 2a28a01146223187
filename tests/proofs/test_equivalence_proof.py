"""Conditions as far apart as the margin are called equivalent in about 5 % of studies, for either population."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from beholder.stats.additive import AdditiveContrasts
from beholder.stats.tests import margin_tests

pytestmark = pytest.mark.long

MARGIN = 0.5
DESIGNS = {"24 people, 4 x 8, all": (24, 4, 8, 32), "40 people, 16 of 8 x 8": (40, 8, 8, 16)}
"""People, conditions, contents, and stimuli that each rates."""


@pytest.mark.parametrize("name", DESIGNS)
def test_a_difference_of_the_margin_is_rarely_called_equivalent(name: str, whole: bool) -> None:
    people, conditions, contents, each = DESIGNS[name]
    rng, studies = np.random.default_rng(3), 1000 if whole else 6
    wrong: dict[str, list[bool]] = {"beyond": [], "these": []}
    pairs = list(combinations(range(conditions), 2))
    for _ in range(studies):
        order = np.argsort(rng.random((people, contents * conditions)), axis=1)[:, :each]
        flat = np.zeros((people, contents * conditions), bool)
        np.put_along_axis(flat, order, values=True, axis=1)
        is_rated = flat.reshape(people, contents, conditions)
        quality = rng.normal(0, 0.3, (contents, 1)) + rng.normal(0, 0.2, (contents, conditions))
        quality[:, 0] += MARGIN
        taste = rng.normal(0, 0.45, (people, 1, 1)) + rng.normal(0, 0.2, (people, 1, conditions))
        votes = quality + taste + rng.normal(0, 0.6, is_rated.shape)
        codes = [np.asarray(one, np.intp) for one in np.nonzero(is_rated)]
        found = AdditiveContrasts(codes[0], codes[1], codes[2], pairs).estimate(votes[is_rated][None])
        on_these = abs(float(quality[:, 0].mean() - quality[:, 1].mean()))
        for population, claim, far in (("beyond", found.beyond, MARGIN), ("these", found.these, on_these)):
            tested = margin_tests(found.difference[0, 0], claim.se[0, 0], claim.df[0, 0], far)
            wrong[population].append(bool(tested.within < 0.05))
    for population, calls in wrong.items():
        assert np.mean(calls) < (0.065 if whole else 0.5), population
