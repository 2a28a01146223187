"""Errors of contrasts from the parts of their variances, each part moderated over all contrasts of a question.

Empirical Bayes of Smyth (2004): variances are drawn towards what they have in common, how far is estimated from how
much they differ. A contrast that stands out from those of other conditions keeps its own, after Phipson, Lee, Majewski,
Alexander and Smyth (2016).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.stats.clustered import Floats

Pair: TypeAlias = tuple[int, int]
"""Numbers of two conditions."""
CITATION = "Smyth (2004), Statistical Applications in Genetics and Molecular Biology 3"
_SHARED = 0.25
"""Correlation of the squares of two differences that share a condition."""
_STANDS_OUT = 0.05
ROUNDING = 1e-9
"""Sums of fractions: what is equal on paper may differ in the last bits."""
_NEARLY_NOTHING, _SMALLEST = 1e-4, 1e-300
"""Of the mean variance: a contrast without any has no logarithm, and says nothing about how contrasts differ."""
_MAX_FREEDOM = 1e6


class ContrastError(NamedTuple):
    """Errors of differences over one population, a row for each data set; what cannot be known is NaN."""

    se: Floats
    df: Floats
    low: Floats
    high: Floats
    statistic: Floats
    p: Floats
    """Two-sided, against zero."""


class VarianceParts(NamedTuple):
    """Contrasts, and what clusters of each kind add to their variances; a row for each data set."""

    difference: Floats
    people: Floats
    contents: Floats
    pages: Floats
    these_people: Floats
    these_pages: Floats
    unit: Floats
    """The variance of each contrast where values are independent with variance 1."""
    people_df: Floats
    contents_df: Floats
    has_contents: NDArray[np.bool_]
    """Whether a contrast has more than one content."""


class Moderated(NamedTuple):
    """Variances and their degrees of freedom, a row for each data set."""

    variance: Floats
    df: Floats


class _Prior(NamedTuple):
    """What variances have in common, and how many degrees of freedom that is worth, for each data set."""

    variance: Floats
    df: Floats


def moderated(
    variance: Floats,
    df: Floats,
    pairs: Sequence[Pair],
    *,
    are_ratings_shared: bool = True,
    controls: frozenset[int] = frozenset(),
) -> Moderated:
    """Return the variances, in units that make them comparable, drawn together over pairs of conditions.

    A row of `variance` is a data set, a column a pair; `df` has one number for each pair. `are_ratings_shared` tells
    whether pairs with a condition in common have ratings in common. With two conditions nothing changes. Pairs with one
    of the `controls`, about which people agree more than about others, are drawn together among themselves.
    """
    is_control = np.array([not controls.isdisjoint(pair) for pair in pairs], bool)
    if not is_control.any() or is_control.all():
        return _drawn_together(variance, df, pairs, are_ratings_shared=are_ratings_shared)
    result = Moderated(np.empty(variance.shape), np.empty(variance.shape))
    for mine in (is_control, ~is_control):
        some = [pair for pair, is_mine in zip(pairs, mine, strict=True) if is_mine]
        part = _drawn_together(variance[:, mine], df[mine], some, are_ratings_shared=are_ratings_shared)
        result.variance[:, mine], result.df[:, mine] = part
    return result


def _drawn_together(variance: Floats, df: Floats, pairs: Sequence[Pair], *, are_ratings_shared: bool) -> Moderated:
    """Return the variances drawn together over all of some pairs of conditions."""
    own = np.broadcast_to(df, variance.shape)
    conditions = {name for pair in pairs for name in pair}
    if len(conditions) < 3 or len(pairs) < 2:
        return Moderated(variance, own)
    # The pairs without one of its conditions know no more than this: what is common must not be worth more.
    without_it = {name: sum(name not in pair for pair in pairs) for name in conditions}
    others = [max(without_it[name] for name in pair) if are_ratings_shared else len(pairs) - 1 for pair in pairs]
    most = np.array(others) * df
    prior = _prior(variance, df, pairs, are_ratings_shared=are_ratings_shared)
    worth = np.minimum(prior.df[:, None], most)
    for name in conditions:
        has_it = np.array([name in pair for pair in pairs])
        rest = [pair for pair in pairs if name not in pair]
        if len({other for pair in rest for other in pair}) > 2:
            # A condition that stands out must not be drawn towards those that do not.
            without = _prior(variance[:, ~has_it], df[~has_it], rest, are_ratings_shared=are_ratings_shared)
            ratio = variance[:, has_it] / without.variance[:, None]
            tail = special.fdtrc(df[has_it], np.minimum(without.df[:, None], most[has_it]), ratio)
            worth[:, has_it] = np.where(tail < _STANDS_OUT, 0.0, worth[:, has_it])
    return Moderated((own * variance + worth * prior.variance[:, None]) / (own + worth), own + worth)


def _prior(variance: Floats, df: Floats, pairs: Sequence[Pair], *, are_ratings_shared: bool) -> _Prior:
    """Return the common variance and its worth by the moments of the logarithms."""
    floor = np.maximum(_NEARLY_NOTHING * variance.mean(axis=1, keepdims=True), _SMALLEST)
    logs = np.log(np.maximum(variance, floor)) - special.digamma(df / 2) + np.log(df / 2)
    alike = _SHARED * _share_of_relatives(pairs) if are_ratings_shared else 0.0
    by_chance = float(special.polygamma(1, df / 2).mean())
    beyond_chance = logs.var(axis=1, ddof=1) / (1 - alike) - by_chance
    is_more = beyond_chance > 2 / _MAX_FREEDOM
    worth = np.where(is_more, 2 * _trigamma_inverse(np.where(is_more, beyond_chance, 1.0)), _MAX_FREEDOM)
    return _Prior(np.exp(logs.mean(axis=1) + special.digamma(worth / 2) - np.log(worth / 2)), worth)


def _share_of_relatives(pairs: Sequence[Pair]) -> float:
    """Return which share of two pairs has a condition in common."""
    of_each, count = np.bincount(np.array(pairs).ravel()), len(pairs)
    return float((of_each * (of_each - 1)).sum()) / (count * (count - 1))


def _trigamma_inverse(value: Floats) -> Floats:
    """Return the numbers whose trigamma is `value`, by Newton's method on its reciprocal (Smyth 2004, appendix)."""
    guess = 0.5 + 1 / value
    for _ in range(50):
        trigamma = special.polygamma(1, guess)
        step = trigamma * (1 - trigamma / value) / special.polygamma(2, guess)
        guess = guess + step
        if np.max(-step / guess, initial=0.0) < 1e-8:
            break
    return np.asarray(guess, np.float64)


def contrast_errors(
    parts: VarianceParts,
    pairs: Sequence[Pair],
    level: float,
    *,
    are_ratings_shared: bool,
    choice: float | None,
    controls: frozenset[int],
) -> tuple[ContrastError, ContrastError]:
    """Return the errors of contrasts for people and contents like these, and for people with these contents.

    `are_ratings_shared` and `controls` are those of `moderated`; `choice` is the vote for the first of two where all
    votes are for one of them, or for none.
    """

    def drawn_together(part: Floats, df: Floats, floor: Floats) -> Moderated:
        comparable, least = part / parts.unit, np.maximum(df, 1.0)
        result = moderated(comparable, least, pairs, are_ratings_shared=are_ratings_shared, controls=controls)
        return Moderated(np.maximum(result.variance * parts.unit, floor), result.df)

    people = drawn_together(parts.people, parts.people_df, parts.pages)
    contents = drawn_together(parts.contents, parts.contents_df, parts.pages)
    these = drawn_together(parts.these_people, parts.people_df, parts.these_pages)
    both = people.variance + contents.variance - parts.pages
    squares = people.variance**2 / people.df + contents.variance**2 / contents.df
    # Satterthwaite's, which falls below both where nothing but pages varies.
    df = np.maximum(both**2 / np.where(squares > 0, squares, 1.0), np.minimum(people.df, contents.df))
    # What is clear beyond these contents is clear on them: neither error nor freedom may say otherwise.
    beyond, df = np.maximum(both, these.variance), np.minimum(df, these.df)
    both_error = Moderated(
        np.where(parts.has_contents, beyond, these.variance), np.where(parts.has_contents, df, these.df)
    )
    few = np.where(parts.has_contents, np.minimum(parts.people_df, parts.contents_df), parts.people_df)
    least, least_these = (
        _unanimous_half(parts, df, level, are_ratings_shared=are_ratings_shared, choice=choice)
        for df in (few, parts.people_df)
    )
    return (
        _error(parts.difference, both_error, least, level),
        _error(parts.difference, these, least_these, level),
    )


def _unanimous_half(
    parts: VarianceParts, df: Floats, level: float, *, are_ratings_shared: bool, choice: float | None
) -> Moderated:
    """Return how wide half an interval must be at least: what all say alike is not known for ever.

    Of n pages that agree, the share of others that do not may be 1 - ((1 - level) / 2)^(1 / n), Clopper and Pearson's
    bound for none in n. Such pages show no difference; votes between two, the opposite. Where so few people vote that
    coins would agree as often as that, each has one vote, as all of theirs may come from one taste.
    """
    pages = (2 if are_ratings_shared else 1) / parts.unit
    if choice is not None:
        people = parts.people_df + 1
        is_few = 2 * 0.5**people > 1 - level
        pages, df = np.where(is_few, np.minimum(pages, people), pages), np.where(is_few, _MAX_FREEDOM, df)
    others = 1 - ((1 - level) / 2) ** (1 / pages)
    size = np.abs(parts.difference) if choice is None else np.full(parts.difference.shape, choice)
    return Moderated(others * size * (1 if are_ratings_shared else 2), df)


def _error(difference: Floats, error: Moderated, least: Moderated, level: float) -> ContrastError:
    """Return what an error says of differences: no more than a unanimous answer could, whose half width is `least`."""
    few = np.maximum(least.df, 1.0)
    own = _student(difference, np.sqrt(error.variance), error.df, level)
    floor = _student(difference, least.variance / special.stdtrit(few, (1 + level) / 2), few, level)
    is_less = own.high - difference < least.variance
    result = ContrastError(*(np.where(is_less, *both) for both in zip(floor, own, strict=True)))
    result = result._replace(df=np.where(few == _MAX_FREEDOM, own.df, result.df))  # coins have none to tell of
    # More freedom of an error that dissent makes larger must not make dissent the stronger evidence.
    return result._replace(p=np.fmax(result.p, floor.p))


def _student(difference: Floats, se: Floats, df: Floats, level: float) -> ContrastError:
    is_still = se == 0
    statistic = np.where(is_still, math.nan, difference / np.where(is_still, 1.0, se))
    # No difference anywhere is no evidence of any; what there is of it without an error is judged by its floor.
    certain = np.where(np.abs(difference) <= ROUNDING, 1.0, 0.0)
    p = np.where(is_still, certain, 2 * special.stdtr(df, -np.abs(statistic)))
    half = special.stdtrit(df, (1 + level) / 2) * se
    return ContrastError(se, np.broadcast_to(df, se.shape), difference - half, difference + half, statistic, p)
