"""Suspicious votes: who favours one condition, who voted as somebody else did, and whose votes follow the side.

Each test asks of every person, or of every pair of people, how often honest votes would look like theirs, given how
strong the conditions are and how much tastes differ; the share of false discoveries among those who are found is held
(Benjamini and Hochberg, 1995).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special, stats

from beholder.stats.tests import benjamini_hochberg

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]

_RIDGE = 0.5
"""Keeps the strength of a condition finite that won, or lost, every vote."""
_ROUNDS = 6
_TASTES = np.arange(0, 3.01, 0.1)
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_PRIOR_VOTES = 4.0
"""So many votes the strengths count as beside the votes on one comparison."""
_LEAN = 0.5
"""Standard deviation of how much people lean to one side, in logits, that is ordinary."""
_LAGS = (1, 2, 3, 4)


class Ballots(NamedTuple):
    """Votes on two conditions each: who voted, on what, and the share of the vote that the first one has."""

    voter: Codes
    first: Codes
    second: Codes
    task: Codes
    """The comparison: the same two stimuli and the same question."""
    won: Floats
    """1 for the first, 0 for the second, 0.5 for neither."""
    voters: int
    conditions: int


class Favours(NamedTuple):
    """For each person and condition: votes, how many it won, how many it would win by its strength, and q."""

    votes: Floats
    won: Floats
    expected: Floats
    q: Floats
    """The least share of false discoveries at which this one is found; 1 where there are too few votes."""
    taste: float
    """The standard deviation of taste among people, in logits."""


class Unanimous(NamedTuple):
    """For each condition, how many people gave it every one of their votes, how many would, and the p value."""

    people: Codes
    expected: Floats
    p: Floats
    """Corrected for the number of conditions."""


class Copies(NamedTuple):
    """Pairs of people with enough comparisons in common, and on how many of them they voted alike."""

    one: Codes
    other: Codes
    shared: Floats
    alike: Floats
    expected: Floats
    q: Floats


class ChoicesBySide(NamedTuple):
    """The pattern by which the sides of somebody's votes are most unlikely."""

    choices: int
    share: float
    """Of the choices, those of the first side; with a lag, those like the choice so many before."""
    lag: int
    """0: one side; else a pattern that comes again after so many choices."""
    p: float


# One condition favoured


def favours(votes: Ballots, fewest: int, share: float) -> Favours:
    """Return how far each person favours each condition, judged against the votes of those who are not found.

    The strengths are fitted again without those who were found, as many friends of one condition make it look strong.
    """
    size = (votes.voters, votes.conditions)
    count, won = _sums(votes, np.ones_like(votes.won), size), _sums_of_won(votes, size)
    is_enough = count >= fewest
    honest: Mask = np.ones(votes.voters, bool)
    for _ in range(_ROUNDS):
        expected_share = special.expit(_logits(votes, honest[votes.voter]))
        expected = _expected(votes, expected_share, size)
        known = (count > 1) & honest[:, None]
        taste = _taste(won[known], count[known], expected[known])
        p = np.ones(size)
        p[is_enough] = _tail(won[is_enough], count[is_enough], expected[is_enough], taste)
        q = np.ones(size)
        q[is_enough] = benjamini_hochberg(p[is_enough])
        found = (q <= share).any(axis=1)
        if np.array_equal(found, ~honest):
            break
        honest = np.logical_not(found)
    return Favours(count, won, expected, q, taste)


def _sums(votes: Ballots, weight: Floats, size: tuple[int, int]) -> Floats:
    table = np.zeros(size)
    for condition in (votes.first, votes.second):
        np.add.at(table, (votes.voter, condition), weight)
    return table


def _sums_of_won(votes: Ballots, size: tuple[int, int]) -> Floats:
    table = np.zeros(size)
    np.add.at(table, (votes.voter, votes.first), votes.won)
    np.add.at(table, (votes.voter, votes.second), 1 - votes.won)
    return table


def _expected(votes: Ballots, share: Floats, size: tuple[int, int]) -> Floats:
    """Return for each person and condition how many votes it would win by its strength."""
    table = np.zeros(size)
    np.add.at(table, (votes.voter, votes.first), share)
    np.add.at(table, (votes.voter, votes.second), 1 - share)
    return table


def _logits(votes: Ballots, used: Mask) -> Floats:
    """Return for each vote how far the first condition is above the second, by the strengths of the votes `used`."""
    first, second, won = votes.first[used], votes.second[used], votes.won[used]
    strength = np.zeros(votes.conditions)
    for _ in range(50):
        share = special.expit(strength[first] - strength[second])
        slope, weight = won - share, share * (1 - share)
        gradient = np.bincount(first, slope, votes.conditions) - np.bincount(second, slope, votes.conditions)
        information = np.diag(
            np.bincount(first, weight, votes.conditions) + np.bincount(second, weight, votes.conditions) + _RIDGE
        )
        np.add.at(information, (first, second), -weight)
        np.add.at(information, (second, first), -weight)
        step = np.linalg.solve(information, gradient - _RIDGE * strength)
        strength = strength + step
        if np.abs(step).max() < 1e-8:
            break
    result: Floats = strength[votes.first] - strength[votes.second]
    return result


def _taste(won: Floats, count: Floats, expected: Floats) -> float:
    """Return the standard deviation of taste that is most likely, of all people and conditions together."""
    if len(won) < 10:
        return 0.0
    logit = special.logit(np.clip(expected / count, 1e-6, 1 - 1e-6))[:, None]

    def surprise(taste: float) -> float:
        share = logit + taste * _NODES
        log_likelihood = won[:, None] * share - count[:, None] * np.logaddexp(0, share)
        return -float(special.logsumexp(log_likelihood, axis=1, b=_WEIGHTS).sum())

    return float(min(_TASTES, key=surprise))


def _tail(won: Floats, count: Floats, expected: Floats, taste: float) -> Floats:
    """Return how likely a person of any taste gives a condition so many votes or more."""
    logit = special.logit(np.clip(expected / count, 1e-6, 1 - 1e-6))
    share = special.expit(logit[:, None] + taste * _NODES)
    tail = stats.binom.sf(np.floor(won)[:, None] - 1, np.round(count)[:, None], share)
    result: Floats = tail @ (_WEIGHTS / _WEIGHTS.sum())
    return result


def unanimous(found: Favours, fewest: int = 3) -> Unanimous:
    """Return where more people than is likely gave a condition every one of their votes, `fewest` or more each.

    Each friend of a condition may have cast too few votes to be told from somebody who likes it; all together are seen.
    """
    people = ((found.won == found.votes) & (found.votes >= fewest)).sum(axis=0)
    count = np.where(found.votes >= fewest, found.votes, np.inf)
    logit = special.logit(np.clip(found.expected / np.maximum(found.votes, 1), 1e-6, 1 - 1e-6))
    share = special.expit(logit[..., None] + found.taste * _NODES)
    expected = ((share ** count[..., None]) @ (_WEIGHTS / _WEIGHTS.sum())).sum(axis=0)
    p = stats.poisson.sf(people - 1, expected)
    return Unanimous(people, expected, np.minimum(1.0, p * len(p)))


# Copied votes


def copies(votes: Ballots, fewest: int) -> Copies:
    """Return on how many of the comparisons that two people share they voted alike, and how unlikely that is.

    What is usual is taken from all pairs of people: tastes and contents make honest people agree more often, and more
    unequally, than the strengths of conditions alone say.
    """
    kinds = [votes.won == 1, votes.won == 0, (votes.won > 0) & (votes.won < 1)]
    tasks = int(votes.task.max(initial=-1)) + 1
    alike_by_chance = _chance_of_the_same(votes, kinds, tasks)
    tables = [_indicator(votes, kind, tasks) for kind in kinds]
    voted = sum(tables[1:], tables[0])
    shared = sparse.triu(voted @ voted.T, k=1).tocoo()
    kept = shared.data >= fewest
    one, other = shared.row[kept].astype(np.intp), shared.col[kept].astype(np.intp)
    n = shared.data[kept].astype(float)
    k = sum(_entries(table @ table.T, one, other) for table in tables)
    expected = _entries(voted @ sparse.diags_array(alike_by_chance) @ voted.T, one, other)
    return Copies(one, other, n, np.asarray(k, float), expected, _unlikely(np.asarray(k, float), n, expected))


def _chance_of_the_same(votes: Ballots, kinds: list[Mask], tasks: int) -> Floats:
    """Return for each comparison how likely two people vote alike on it."""
    share = special.expit(_logits(votes, np.ones(len(votes.won), bool)))
    tied = float(kinds[2].mean()) if len(votes.won) else 0.0
    votes_on = np.bincount(votes.task, minlength=tasks)
    prior = [(1 - tied) * share, (1 - tied) * (1 - share), np.full_like(share, tied)]
    chance = np.zeros(tasks)
    for kind, expected in zip(kinds, prior, strict=True):
        mean = np.bincount(votes.task, expected, tasks) / np.maximum(votes_on, 1)
        of_kind = np.bincount(votes.task, kind.astype(float), tasks)
        chance += ((of_kind + _PRIOR_VOTES * mean) / (votes_on + _PRIOR_VOTES)) ** 2
    return np.clip(chance, 0, 1)


def _indicator(votes: Ballots, kind: Mask, tasks: int) -> sparse.csr_array:
    """Return a table of people and comparisons, 1 where somebody voted in this way."""
    ones = np.ones(int(kind.sum()))
    table = sparse.csr_array((ones, (votes.voter[kind], votes.task[kind])), shape=(votes.voters, tasks))
    table.data[:] = 1  # who met a comparison twice and voted the same counts once
    return table


def _entries(table: sparse.csr_array, one: Codes, other: Codes) -> Floats:
    if not len(one):
        return np.zeros(0)  # scipy takes no list of no places
    return np.asarray(table.tocsr()[one, other], float).ravel()


def _unlikely(alike: Floats, shared: Floats, expected: Floats) -> Floats:
    """Return for each pair the least share of false discoveries at which it is found."""
    if not len(alike):
        return alike
    share = np.clip(expected / shared, 1e-6, 1 - 1e-6)
    spread = np.sqrt(shared * share * (1 - share))
    z = (alike - expected) / spread
    middle = max(0.0, float(np.median(z)))
    scale = max(1.0, 1.4826 * float(np.median(np.abs(z - np.median(z)))))
    usual = np.clip(share + middle * spread / shared, 1e-6, 1 - 1e-6)
    exact = stats.binom.sf(alike - 1, shared, usual)
    return np.asarray(benjamini_hochberg(np.maximum(exact, stats.norm.sf((z - middle) / scale))))


# Sides


def side_pattern(sides: list[NDArray[np.int_]], usual: float) -> ChoicesBySide:
    """Return the most unlikely pattern in somebody's choices: 0 for the first side, 1 for the second.

    `sides` has the choices of each session in their order; `usual` is how often the first side is chosen by all.
    Stimuli come on a random side, so that honest choices follow each other without a pattern, whatever is preferred.
    """
    every = np.concatenate(sides) if sides else np.zeros(0, int)
    n, first = len(every), int((every == 0).sum())
    if n == 0:
        return ChoicesBySide(0, 0.0, 0, 1.0)
    leaning = special.expit(special.logit(np.clip(usual, 0.02, 0.98)) + _LEAN * _NODES)
    weights = _WEIGHTS / _WEIGHTS.sum()
    up, down = stats.binom.sf(first - 1, n, leaning) @ weights, stats.binom.cdf(first, n, leaning) @ weights
    found = [ChoicesBySide(n, first / n, 0, min(1.0, 2 * min(up, down)))]
    own = (first + 1) / (n + 2)
    for lag in _LAGS:
        same = [one[lag:] == one[:-lag] for one in sides if len(one) > lag]
        total, hits = sum(len(one) for one in same), sum(int(one.sum()) for one in same)
        if total:
            p = stats.binomtest(hits, total, own**2 + (1 - own) ** 2).pvalue
            found.append(ChoicesBySide(n, hits / total, lag, float(p)))
    worst = min(found, key=lambda one: one.p)
    return worst._replace(p=min(1.0, len(found) * worst.p))
