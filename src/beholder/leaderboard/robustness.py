"""How far a board rests on few people, on what stimuli differ in, and on which pairs were drawn.

The fewest people without whom another condition leads, found by what each adds to the difference (Broderick, Giordano
and Meager 2020) and tried by a fit without them; a fit in which people weigh by how well they agree with the others;
one in which every pair weighs as if all had been drawn equally often; and what a numeric factor of stimuli adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.analysis.comparisons import BRADLEY_TERRY
from beholder.analysis.tests import Claim
from beholder.leaderboard.fit import Fit, fit
from beholder.leaderboard.ranks import MINIMUM_PEOPLE, Standings, normal_z
from beholder.leaderboard.votes import Texts, Votes
from beholder.stats.clustered import Floats
from beholder.stats.sequential import ALPHA, accumulated, sequence_log_e, sequence_quantile

REMOVAL_CITATION = "Broderick, Giordano and Meager (2020), arXiv:2011.14999"

# The fewest people without whom another condition leads


_MOST_TRIES = 25
_MORE = 1.15
"""By how much more people are left out where the first guess is not enough."""


class Removal(NamedTuple):
    """Without whom another condition would lead."""

    people: int
    """No more than so many people; zero where no number of them was found."""
    of: int
    """People who compared the leader with any other."""
    leader: int
    rival: int
    """Who would lead then."""


def fewest_people(stand: Standings, founders: int) -> Removal | None:
    """Return the fewest people found without whom another condition leads; None without a leader among several."""
    ranked = [at for at in stand.order if stand.is_ranked[at]]
    if len(ranked) < 2:
        return None
    mine, votes = stand.fit, stand.fit.votes
    leader, rivals = ranked[0], np.array(ranked[1:])
    pulls = mine.pulls(votes.person, len(votes.people))
    lead = mine.strength[leader] - mine.strength[rivals]
    gains = np.sort(pulls[:, [leader]] - pulls[:, rivals], axis=0)[::-1]
    reach = np.maximum(gains, 0).cumsum(axis=0)
    needed = (reach < lead).sum(axis=0) + 1
    best = int(np.argmin(needed))
    rival, count = int(rivals[best]), int(needed[best])
    order = np.argsort(-(pulls[:, leader] - pulls[:, rival]), kind="stable")
    people = int(stand.people[leader])
    for _ in range(_MOST_TRIES):
        if count >= len(votes.people):
            break
        kept = votes.rows(~np.isin(votes.person, order[:count]))
        there = fit(kept, start=founders).strength[np.array(ranked)] if kept.size else np.full(len(ranked), np.nan)
        if not np.isnan(there).any() and int(np.argmax(there)):
            return Removal(count, people, leader, int(ranked[int(np.argmax(there))]))
        count = max(count + 1, int(count * _MORE))
    return Removal(0, people, leader, rival)


# People who weigh by agreement


_AGREEMENT_SD = 0.5
"""How far people are expected to differ in how closely they follow the strengths, around 1."""
_ROUNDS, _STEPS = 4, 12


def rater_weights(mine: Fit) -> Floats:
    """Return the weight of each person: how closely their votes follow strengths that others gave, 1 on average.

    It is the slope of their votes on the differences, held near 1 by a Gaussian prior; one who votes at random, or
    against all others, comes near zero.
    """
    votes = mine.votes
    count = len(votes.people)
    pulls = mine.pulls(votes.person, count)[:, : len(votes.conditions)]
    strength = mine.place[: len(votes.conditions)]
    # Strengths without their own votes: nobody agrees with themselves.
    own = pulls[votes.person, votes.one] - pulls[votes.person, votes.other]
    apart = strength[votes.one] - strength[votes.other] - own
    shift = mine.effect.get("position", 0.0) * votes.order
    ties = float(mine.place[-1]) if mine.has_ties else None
    goal = (1 - votes.sign).astype(np.intp), np.arange(votes.size)
    closeness = np.ones(count)
    for _ in range(_STEPS):
        outcomes = BRADLEY_TERRY.outcomes(closeness[votes.person] * apart + shift, ties)
        up = np.bincount(votes.person, outcomes.slope[goal] * apart, count) - (closeness - 1) / _AGREEMENT_SD**2
        squares = (outcomes.p * outcomes.slope**2).sum(axis=0) * apart**2
        closeness += np.clip(up / (np.bincount(votes.person, squares, count) + 1 / _AGREEMENT_SD**2), -0.5, 0.5)
    weight = np.clip(closeness, 0.0, 2.0)
    return np.asarray(weight / weight.mean() if weight.any() else np.ones(count), np.float64)


def rater_weighted(mine: Fit, founders: int) -> Fit:
    """Return the fit in which people weigh by how well they agree with the others."""
    weighted = mine
    for _ in range(_ROUNDS):
        weight = rater_weights(weighted)[mine.votes.person]
        weighted = fit(mine.votes, start=founders, weight=weight, near=weighted)
    return weighted


# Pairs as if all had been drawn equally often


_HIGHEST_WEIGHT = 20.0
"""Of a vote: what was hardly ever drawn must not decide by itself."""


class DrawWeights(NamedTuple):
    """Weights of votes by how probable their pairs were."""

    weight: Floats
    effective: float
    """How many votes of equal weight would tell as much."""


def draw_weights(votes: Votes, founders: int) -> DrawWeights | None:
    """Return weights by which every pair counts as if all had been drawn equally often; None where they were.

    A pair was among those of the conditions that were in the arena at the time: from the start or their first vote, to
    the end or, of a retired one, their last vote.
    """
    if not votes.has_draws:
        return None
    known = np.isfinite(votes.draw) & (votes.draw > 0)
    numbers, row = np.arange(votes.size), np.arange(len(votes.conditions))
    first, last = np.full(len(row), votes.size), np.full(len(row), -1)
    for side in (votes.one, votes.other):
        np.minimum.at(first, side, numbers)
        np.maximum.at(last, side, numbers)
    first[:founders] = 0
    last[(last >= 0) & ~np.isin(votes.conditions, list(votes.retired))] = votes.size - 1
    change = np.zeros(votes.size + 1)
    np.add.at(change, first[last >= 0], 1)
    np.add.at(change, last[last >= 0] + 1, -1)
    there = change.cumsum()[: votes.size]
    pairs = np.maximum(1.0, special.comb(there, votes.together))
    weight = np.ones(votes.size)
    weight[known] = 1 / (votes.draw[known] * pairs[known])
    weight[known] /= weight[known].mean()
    weight = np.minimum(weight, _HIGHEST_WEIGHT)
    if np.ptp(weight) < 0.01:
        return None
    return DrawWeights(weight, float(weight.sum() ** 2 / (weight**2).sum()))


# Covariates: what a numeric factor of stimuli adds to a difference


_LEAST_OWN = 0.02
"""Which share of what two stimuli differ by must not follow from their conditions."""
_VAGUE = 3.0
"""Logits. An interval that reaches further says nothing."""
_KNOWN = 0.95
"""Of which share of the votes both numbers must be known."""


class Covariate(NamedTuple):
    """What one unit more of a factor adds to the difference of two, conditions being equal."""

    name: str
    effect: float
    low: float
    high: float
    """The ends of a 95 % confidence sequence."""
    log_e: float
    leader: str
    """Who leads among stimuli that are alike in it."""
    most: float
    """How far the strength that changes most is moved by it."""
    votes: int
    typical: float
    """By how much two stimuli usually differ in it."""

    @property
    def is_known(self) -> bool:
        """Whether what it adds between two that usually differ is known to a few logits."""
        return (self.high - self.low) / 2 * self.typical < _VAGUE


def numbers_of(cells: Texts) -> Floats:
    """Return texts as numbers; NaN where one is none."""

    def one(cell: object) -> float:
        try:
            return float(str(cell))
        except ValueError:
            return np.nan

    return np.array([one(cell) for cell in cells], np.float64)


def covariates(stand: Standings, founders: int, claim: Claim, minimum: int = MINIMUM_PEOPLE) -> list[Covariate]:
    """Return what each numeric factor adds in which stimuli differ beyond what their conditions tell."""
    found = []
    for name, apart in numeric_factors(stand.fit.votes).items():
        known = np.isfinite(apart)
        votes = stand.fit.votes.rows(known)
        if known.mean() < _KNOWN or len(np.unique(votes.person)) < minimum or not _tells(stand.fit, apart, known):
            continue
        # In its own units a sequence, whose clock runs in logits, could be narrowest anywhere.
        unit = float(np.sqrt(np.mean(apart[known] ** 2)))
        there = fit(votes, start=founders, covariates={name: apart[known] / unit})
        at = len(votes.conditions) + there.effects.index(name)
        se, df = _effect_error(there, at, claim)
        progress = accumulated(se)
        tail = special.ndtr(-sequence_quantile(progress, ALPHA))
        half, effect = float(-special.stdtrit(df, tail) * se), there.effect[name]
        log_e = float(sequence_log_e(normal_z(np.array(effect / se), np.array(df)), progress))
        ranked = [one for one in stand.order if stand.is_ranked[one]]
        leader = votes.name[max(ranked, key=lambda one: there.strength[one])] if ranked else ""
        most = float(np.nanmax(np.abs(there.strength - stand.fit.strength)))
        ends = (effect / unit, (effect - half) / unit, (effect + half) / unit)
        found.append(Covariate(name, *ends, log_e, leader, most, votes.size, unit))
    return found


def numeric_factors(votes: Votes) -> Mapping[str, Floats]:
    """Return by how much the two of each vote differ in every number of the manifest or measured; NaN where unknown."""
    apart = {name: numbers_of(one) - numbers_of(other) for name, (one, other) in votes.factors.items()}
    apart = {**votes.measured, **apart}
    return {name: each for name, each in apart.items() if np.nanmax(np.abs(each), initial=0.0) > 0}


def _tells(mine: Fit, apart: Floats, known: NDArray[np.bool_]) -> bool:
    """Return whether stimuli of one condition differ in it: else it cannot be told from the conditions."""
    size = len(mine.votes.conditions)
    design = mine.design[:, :size].toarray()[known]
    left = apart[known] - design @ np.linalg.lstsq(design, apart[known], rcond=None)[0]
    return bool((left**2).sum() > _LEAST_OWN * (apart[known] ** 2).sum())


def _effect_error(there: Fit, at: int, claim: Claim) -> tuple[float, float]:
    """Return the error of one number of the place, and its degrees of freedom."""
    votes = there.votes

    def over(cluster: np.ndarray[tuple[int], np.dtype[np.intp]], names: int) -> tuple[float, float]:
        pulls = there.pulls(cluster, names)[:, at]
        count = len(np.unique(cluster))
        return float((pulls**2).sum() * count / max(count - 1, 1)), float(max(count - 1, 1))

    people, df = over(votes.person, len(votes.people))
    people = max(people, float(there.inverse[at, at]))
    contents, content_df = over(votes.content, len(votes.contents))
    if claim == "these" or content_df < 2:
        return float(np.sqrt(people)), df
    page = np.unique(votes.person * len(votes.contents) + votes.content, return_inverse=True)[1]
    pages = max(over(page, int(page.max()) + 1)[0], float(there.inverse[at, at]))
    people, contents = max(people, pages), max(contents, pages)
    both = people + contents - pages
    return float(np.sqrt(both)), max(both**2 / (people**2 / df + contents**2 / content_df), min(df, content_df))
