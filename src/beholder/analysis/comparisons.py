"""Comparisons of two: counts by pair, order and person, the models of their outcomes, and their graph.

Bradley and Terry's model with Davidson's ties, and Thurstone's case V with Glenn and David's (reference: statistics 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, log_ndtr, ndtr, ndtri

from beholder.analysis.means import codes_of
from beholder.analysis.ratings import COMPARISONS, Ratings
from beholder.formats import join_names
from beholder.stats.clustered import Codes, Floats

_Names = tuple[str, ...]


def sum_by_code(codes: Codes, weights: ArrayLike, size: int = 0) -> Floats:
    """Return the sum of the weights by code."""
    return np.bincount(codes, np.asarray(weights, np.float64), size).astype(np.float64)


class Tally(NamedTuple):
    """Counts of comparisons: one row for two of `names`, their order on the screen, a person and a content."""

    names: _Names
    one: Codes
    """The index in `names` of the one that comes first there."""
    other: Codes
    order: Floats
    """1 where `one` was shown first, or left; -1 where it was second; 0 where unknown."""
    person: Codes
    content: Codes
    wins: Floats
    """How often `one` was preferred."""
    ties: Floats
    losses: Floats

    @property
    def n(self) -> Floats:
        """How many comparisons each row counts."""
        return self.wins + self.ties + self.losses

    @property
    def people(self) -> int:
        """How many people made these comparisons."""
        return len(np.unique(self.person))

    def pooled(self) -> Tally:
        """Return the counts pooled over people and contents."""
        place = (self.one * len(self.names) + self.other) * 3 + self.order.astype(np.intp) + 1
        _, first, row = np.unique(place, return_index=True, return_inverse=True)
        wins, ties, losses = (sum_by_code(row, each) for each in (self.wins, self.ties, self.losses))
        none = np.zeros(len(first), np.intp)
        return self.rows(first)._replace(person=none, content=none, wins=wins, ties=ties, losses=losses)

    def rows(self, chosen: Codes) -> Tally:
        """Return some of the rows."""
        return Tally(
            self.names,
            self.one[chosen],
            self.other[chosen],
            self.order[chosen],
            self.person[chosen],
            self.content[chosen],
            self.wins[chosen],
            self.ties[chosen],
            self.losses[chosen],
        )


class Comparisons(NamedTuple):
    """Every comparison of a question, its names as places in `conditions`, `stimuli` and `contents`."""

    conditions: _Names
    stimuli: _Names
    """In the order of their conditions."""
    contents: _Names
    condition_of: dict[str, str]
    """The condition of each stimulus."""
    condition: Codes
    other_condition: Codes
    stimulus: Codes
    other_stimulus: Codes
    content: Codes
    person: Codes
    order: Floats
    """Of the stimulus, as in a tally."""
    sign: Floats

    def by_condition(self) -> Tally:
        """Return the comparisons of conditions, pooled over contents."""
        groups = (self.person, self.content)
        return _tally(self.conditions, self.condition, self.other_condition, self.order, groups, self.sign)

    def by_content(self) -> Iterator[tuple[str, Tally]]:
        """Yield for each content the comparisons of its stimuli."""
        order = np.argsort(self.content, kind="stable")
        ends = np.searchsorted(self.content[order], np.arange(len(self.contents) + 1))
        for place, content in enumerate(self.contents):
            rows = order[ends[place] : ends[place + 1]]
            groups = (self.person[rows], self.content[rows])
            one, other = self.stimulus[rows], self.other_stimulus[rows]
            yield content, _tally(self.stimuli, one, other, self.order[rows], groups, self.sign[rows])


def comparisons(ratings: Ratings, question: str, *, from_grades: bool = False) -> Comparisons | None:
    """Return the comparisons of two conditions under a question; None where it has none.

    They are choices; with `from_grades` graded comparisons too, of which only the sign counts.
    """
    if ratings.kinds[question] not in (COMPARISONS if from_grades else ("choice",)):
        return None
    kept = ratings.used
    is_pair = (kept["other_condition"] != "") & (kept["condition"] != kept["other_condition"])
    kept = kept[is_pair & (kept["question"] == question)]
    if kept.empty:
        return None
    under = _conditions(kept)
    rank = {name: place for place, name in enumerate(ratings.conditions)}
    stimuli = tuple(sorted(under, key=lambda name: (rank[under[name]], name)))
    contents = tuple(sorted(kept["content"].unique()))
    return Comparisons(
        ratings.conditions,
        stimuli,
        contents,
        under,
        codes_of(kept["condition"], ratings.conditions),
        codes_of(kept["other_condition"], ratings.conditions),
        codes_of(kept["stimulus"], stimuli),
        codes_of(kept["other_stimulus"], stimuli),
        codes_of(kept["content"], contents),
        codes_of(kept["participant"]),
        shown_order(kept),
        np.sign(kept["value"].to_numpy(np.float64)),
    )


def _conditions(kept: pd.DataFrame) -> dict[str, str]:
    """Return the condition of each stimulus that was compared."""
    sides = (("stimulus", "condition"), ("other_stimulus", "other_condition"))
    named = [kept[list(side)].drop_duplicates(side[0]) for side in sides]
    return {str(one): str(under) for part in named for one, under in part.itertuples(index=False)}


def shown_order(kept: pd.DataFrame) -> Floats:
    """Return 1 where the stimulus was shown first, or left, -1 where it was second, 0 where unknown.

    The raw value refers to the second, the value to the stimulus; for a tie only the slot shows the order.
    """
    if "raw_value" not in kept:
        return np.zeros(len(kept))
    order: Floats = -np.sign((kept["value"] * kept["raw_value"]).fillna(0).to_numpy(np.float64))
    is_known = order != 0
    if "slot" not in kept or is_known.all():
        return order
    slot, names = pd.factorize(kept["slot"])
    sums, sizes = (
        np.bincount(slot[is_known], order[is_known], len(names)),
        np.bincount(slot[is_known], minlength=len(names)),
    )
    by_slot = np.where(np.abs(sums) == sizes, np.sign(sums), 0.0)
    return np.where(is_known, order, by_slot[slot])


def _tally(names: _Names, one: Codes, other: Codes, order: Floats, groups: tuple[Codes, Codes], sign: Floats) -> Tally:
    """Return the counts by person and content, of the names that were compared, with the earlier of two first."""
    person, content = groups
    present, codes = np.unique(np.concatenate([one, other]), return_inverse=True)
    one, other = codes[: len(one)], codes[len(one) :]
    turned = one > other
    one, other = np.where(turned, other, one), np.where(turned, one, other)
    order, sign = np.where(turned, -order, order), np.where(turned, -sign, sign)
    place = (one * len(present) + other) * 3 + order.astype(np.intp) + 1
    place = (place * (int(person.max()) + 1) + person) * (int(content.max()) + 1) + content
    _, first, row = np.unique(place, return_index=True, return_inverse=True)
    wins, ties, losses = (sum_by_code(row, sign == outcome) for outcome in (1, 0, -1))
    compared = tuple(names[code] for code in present)
    return Tally(compared, one[first], other[first], order[first], person[first], content[first], wins, ties, losses)


# Models: the probabilities of win, tie and loss given the difference of two strengths


class Outcomes(NamedTuple):
    """Of win, tie and loss (rows): probability, its logarithm, and the slopes of the logarithm."""

    p: Floats
    log_p: Floats
    slope: Floats
    """By the difference of the strengths."""
    tie_slope: Floats
    """By the logarithm of the tie parameter."""


_OutcomeFunction: TypeAlias = Callable[[Floats, float | None], Outcomes]
"""From differences and the logarithm of the tie parameter (None for a model without ties)."""


def _davidson(difference: Floats, ties: float | None) -> Outcomes:
    """Return Bradley and Terry's outcomes with Davidson's ties: e^(d/2), ν and e^(-d/2) to one another."""
    half = difference / 2
    whole = np.logaddexp(half, -half)
    if ties is None:
        log_p = np.stack([half - whole, np.zeros_like(half), -half - whole])
        p = np.exp(log_p) * np.array([[1.0], [0.0], [1.0]])
    else:
        whole = np.logaddexp(whole, ties)
        log_p = np.stack([half - whole, ties - whole, -half - whole])
        p = np.exp(log_p)
    mean = (p[0] - p[2]) / 2
    return Outcomes(p, log_p, np.stack([0.5 - mean, -mean, -0.5 - mean]), np.stack([-p[1], 1 - p[1], -p[1]]))


def _glenn_david(difference: Floats, ties: float | None) -> Outcomes:
    """Return Thurstone's outcomes (case V) with Glenn and David's ties: no difference is felt within ±τ."""
    tau = 0.0 if ties is None else math.exp(ties)
    win, loss = difference - tau, -difference - tau
    log_win, log_loss = log_ndtr(win), log_ndtr(loss)
    if ties is None:
        log_tie = up = down = np.zeros_like(difference)
    else:
        # In the tail on the side of zero, so that nothing is lost to rounding.
        upper, lower = log_ndtr(tau - np.abs(difference)), log_ndtr(-tau - np.abs(difference))
        log_tie = upper + np.log1p(-np.exp(lower - upper))
        up, down = np.exp(_log_density(difference + tau) - log_tie), np.exp(_log_density(win) - log_tie)
    by_win, by_loss = np.exp(_log_density(win) - log_win), np.exp(_log_density(loss) - log_loss)
    log_p = np.stack([log_win, log_tie, log_loss])
    p = np.exp(log_p) * np.array([[1.0], [float(ties is not None)], [1.0]])
    return Outcomes(p, log_p, np.stack([by_win, up - down, -by_loss]), tau * np.stack([-by_win, up + down, -by_loss]))


def _log_density(z: Floats) -> Floats:
    return np.asarray(-0.5 * z * z - 0.5 * math.log(2 * math.pi), np.float64)


class ComparisonModel(NamedTuple):
    """A model of comparisons."""

    name: str
    title: str
    unit: str
    """What strengths are measured in."""
    outcomes: _OutcomeFunction
    ties_at: Callable[[float], float]
    """The logarithm of the tie parameter at which equals tie in this share of comparisons."""
    win: Callable[[Floats], Floats]
    """How likely a win is at a difference, ties and order aside."""
    prior_sd: float
    """Of a strength, where the comparisons alone do not fix it."""
    citation: str
    ties_citation: str


BRADLEY_TERRY = ComparisonModel(
    "bradley-terry",
    "Bradley-Terry",
    "logits",
    _davidson,
    lambda share: math.log(2 * share / (1 - share)),
    lambda d: np.asarray(expit(d), np.float64),
    2.0,
    "Bradley and Terry (1952), Biometrika 39",
    "Davidson (1970), Journal of the American Statistical Association 65",
)
THURSTONE = ComparisonModel(
    "thurstone",
    "Thurstone (case V)",
    "standard deviations of the felt difference",
    _glenn_david,
    lambda share: math.log(float(ndtri((1 + share) / 2))),
    lambda d: np.asarray(ndtr(d), np.float64),
    1.2,
    "Thurstone (1927), Psychological Review 34",
    "Glenn and David (1960), Biometrics 16",
)
COMPARISON_MODELS = {model.name: model for model in (BRADLEY_TERRY, THURSTONE)}


# The comparison graph: what can be estimated on one scale


class ComparisonGraph(NamedTuple):
    """Which names were compared with each other, directly or through others."""

    component: Codes
    """For each name a number from 0, the same for those that were compared."""
    components: int
    """The number of components."""
    is_strong: tuple[bool, ...]
    """By component: whether everyone in it was preferred to everyone else, directly or through others.

    Only then has the likelihood a maximum.
    """
    why: tuple[str, ...]
    """By component: what keeps it from being so; empty where nothing does."""


def comparison_graph(tally: Tally) -> ComparisonGraph:
    """Return the connected components of the comparisons, and whether each has a finite maximum of likelihood."""
    size = len(tally.names)
    pooled = tally.pooled()
    pairs = coo_matrix((pooled.n, (pooled.one, pooled.other)), (size, size))
    count, component = connected_components(pairs, directed=False)
    winner = np.concatenate([pooled.one[pooled.wins > 0], pooled.other[pooled.losses > 0]])
    loser = np.concatenate([pooled.other[pooled.wins > 0], pooled.one[pooled.losses > 0]])
    wins = coo_matrix((np.ones(len(winner)), (winner, loser)), (size, size))
    _, group = connected_components(wins, directed=True, connection="strong")
    strong, why = [], []
    for place in range(count):
        members = np.flatnonzero(component == place)
        strong.append(len(set(group[members].tolist())) == 1)
        why.append("" if strong[-1] else _why(tally.names, members, group, winner, loser))
    return ComparisonGraph(component.astype(np.intp), int(count), tuple(strong), tuple(why))


def _why(names: tuple[str, ...], members: Codes, group: Codes, winner: Codes, loser: Codes) -> str:
    """Return who lost to none, and who won against none, of the others."""
    if not np.isin(members, winner).any():
        return "every comparison was a tie"
    crosses = group[winner] != group[loser]
    beaten, beating = set(group[loser[crosses]].tolist()), set(group[winner[crosses]].tolist())
    texts = []
    for done, what in ((beaten, "never lost to any of the others"), (beating, "never won against any of the others")):
        groups = [one for one in dict.fromkeys(group[members].tolist()) if one not in done]
        texts += [f"{join_names([names[m] for m in members if group[m] == one])} {what}" for one in groups]
    return "; ".join(texts)
