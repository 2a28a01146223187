"""Errors of strengths over people and contents, from slopes and information near the maximum of their likelihood.

The sandwich of Liang and Zeger (1986) in two ways of clustering, as for means (reference: inference 1 and 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from beholder.analysis.comparisons import Tally, sum_by_code
from beholder.stats.clustered import Codes, Floats
from beholder.stats.contrast_errors import moderated

_LEAST_SPREAD = 1.5
"""Over how many people, or contents, a difference must be spread to speak for others."""
_MIN_KEPT = 0.5
"""What fitting every pair of every content must leave of the variance, for errors with these contents to use it."""
_SINGULAR = 1e-9
_MAX_NUMBERS = 4_000_000
"""In tables of information by cluster; more are made one after the other."""


class SlopedFit(Protocol):
    """What every row of the data (a comparison, or a page) adds to slope and information at the maximum."""

    @property
    def size(self) -> int:
        """How many numbers a place has, the strengths first."""

    @property
    def person(self) -> Codes:
        """The participant of each row."""

    @property
    def content(self) -> Codes:
        """The content of each row."""

    @property
    def member(self) -> Codes:
        """One of those that each row compares."""

    def slopes_by(self, cluster: Codes, count: int) -> Floats:
        """Return the slope of each cluster of rows, a row for each."""

    def information_by(self, cluster: Codes, count: int) -> Floats:
        """Return the information of each cluster of rows."""

    def rows(self, chosen: Codes) -> SlopedFit:
        """Return the same of some rows."""

    def within_contents(self, person: Codes, content: Codes) -> tuple[SlopedFit, Floats]:
        """Return the fit with the slopes that each content leaves, and the information that it takes."""


class RowSlopes(NamedTuple):
    """The log likelihood, its slopes by row of the tally, and the expected squares of these."""

    height: float
    difference: Floats
    ties: Floats
    difference_squared: Floats
    both: Floats
    ties_squared: Floats


class LinearFit(NamedTuple):
    """What every row of a tally adds to slope and information at a place.

    A place has the strengths, then the position effect, then the tie parameter.
    """

    tally: Tally
    slopes: RowSlopes
    has_position: bool
    has_ties: bool

    @property
    def size(self) -> int:
        """How many numbers a place has."""
        return len(self.tally.names) + self.has_position + self.has_ties

    def slopes_by(self, cluster: Codes, count: int) -> Floats:
        """Return the slope of each cluster of rows, a row for each."""
        size, slopes = self.size, self.slopes
        index = [cluster * size + column for column, _ in self._columns()]
        value = [slopes.difference * factor for _, factor in self._columns()]
        if self.has_ties:
            index.append(cluster * size + size - 1)
            value.append(slopes.ties)
        return sum_by_code(np.concatenate(index), np.concatenate(value), count * size).reshape(count, size)

    def information_by(self, cluster: Codes, count: int) -> Floats:
        """Return the expected information of each cluster of rows."""
        size, slopes, columns = self.size, self.slopes, self._columns()
        entries = [
            (one, other, slopes.difference_squared * factor * other_factor)
            for one, factor in columns
            for other, other_factor in columns
        ]
        if self.has_ties:
            last = np.full(len(cluster), size - 1)
            crossed = [(column, slopes.both * factor) for column, factor in columns]
            entries += [(column, last, value) for column, value in crossed]
            entries += [(last, column, value) for column, value in crossed]
            entries.append((last, last, slopes.ties_squared))
        index = np.concatenate([(cluster * size + one) * size + other for one, other, _ in entries])
        value = np.concatenate([value for _, _, value in entries])
        return sum_by_code(index, value, count * size**2).reshape(count, size, size)

    def _columns(self) -> list[tuple[Codes, Floats]]:
        """Return which numbers of a place make the difference of each row, and with which factor."""
        tally = self.tally
        columns = [(tally.one, np.ones(len(tally.one))), (tally.other, np.full(len(tally.one), -1.0))]
        if self.has_position:
            columns.append((np.full(len(tally.one), len(tally.names)), tally.order))
        return columns

    @property
    def person(self) -> Codes:
        return self.tally.person

    @property
    def content(self) -> Codes:
        return self.tally.content

    @property
    def member(self) -> Codes:
        return self.tally.one

    def rows(self, chosen: Codes) -> LinearFit:
        """Return the same of some rows."""
        slopes = RowSlopes(self.slopes.height, *(column[chosen] for column in self.slopes[1:]))
        return self._replace(tally=self.tally.rows(chosen), slopes=slopes)

    def within_contents(self, person: Codes, content: Codes) -> tuple[LinearFit, Floats]:
        """Return the fit where each pair of each content has a slope of its own, and the information that it takes."""
        tally, slopes = self.tally, self.slopes
        size, contents = len(tally.names), int(content.max()) + 1
        cell = np.unique((tally.one * size + tally.other) * contents + content, return_inverse=True)[1]
        own = np.unique(cell * (int(person.max()) + 1) + person, return_inverse=True)[1]
        in_cell = sum_by_code(cell, tally.n)[cell]
        share, own_share = tally.n / in_cell, sum_by_code(own, tally.n)[own] / in_cell
        left = slopes._replace(
            difference=slopes.difference - share * sum_by_code(cell, slopes.difference)[cell],
            ties=slopes.ties - share * sum_by_code(cell, slopes.ties)[cell],
        )
        taken = slopes._replace(
            difference_squared=slopes.difference_squared * own_share,
            both=slopes.both * own_share,
            ties_squared=slopes.ties_squared * own_share,
        )
        lost = self._replace(slopes=taken).information_by(np.zeros_like(person), 1)[0]
        return self._replace(slopes=left), lost


class StrengthErrors(NamedTuple):
    """Errors over one population: of the difference of every two, on the diagonal of each number itself."""

    variance: Floats
    df: Floats
    is_known: NDArray[np.bool_]
    """Where it rests on more than one person and, beyond these contents, on more than one content."""
    has_fixed_contents: bool = False
    """Whether it is over people alone, with these contents."""

    def covariance(self, members: Codes) -> Floats:
        """Return the covariance of strengths that sum to zero, whose differences have these variances."""
        between = self.variance[np.ix_(members, members)].copy()
        np.fill_diagonal(between, 0.0)
        if not np.isfinite(between).all():
            return np.full_like(between, np.nan)
        centre = np.eye(len(members)) - 1 / len(members)
        values, vectors = np.linalg.eigh(-centre @ between @ centre / 2)
        # Moderation takes each difference by itself; all together need not be those of a covariance.
        return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T, np.float64)


def strength_covariance(errors: StrengthErrors, component: Codes) -> Floats:
    """Return the covariance of the strengths of all components over one population; NaN where it is not known."""
    covariance = np.zeros((len(component), len(component)))
    for part in range(int(component.max()) + 1):
        members = np.flatnonzero(component == part)
        covariance[np.ix_(members, members)] = errors.covariance(members)
    return covariance


def strength_df(errors: StrengthErrors, component: Codes) -> Floats:
    """Return the degrees of freedom of each strength: in the middle of those of its differences."""
    is_one = component[:, None] == component
    np.fill_diagonal(is_one, False)
    size = len(is_one)
    return np.array([np.median(errors.df[:size, :size][at][is_one[at]]) for at in range(size)])


class ErrorsOfBoth(NamedTuple):
    """Errors over both populations."""

    beyond: StrengthErrors
    """Over people and contents like these; over people alone where there is one content."""
    these: StrengthErrors
    """Over people, with these contents."""


class _Part(NamedTuple):
    """What clusters of one kind add to variances, and over how many of them each is spread."""

    variance: Floats
    spread: Floats


def strength_errors(fit: SlopedFit, inverse: Floats, component: Codes) -> ErrorsOfBoth:
    """Return the errors of strengths whose covariance, were all comparisons independent, is `inverse`.

    Variance over people plus that over contents minus that over pages (one person and content), none of the two below
    the last, and that never below the one of independent comparisons; moderated over the differences of a component.
    """
    person, content = (np.unique(codes, return_inverse=True)[1] for codes in (fit.person, fit.content))
    page = np.unique(person * (int(content.max()) + 1) + content, return_inverse=True)[1]
    unit = _differences(inverse)
    people, contents = (_part(fit, codes, inverse, unit) for codes in (person, content))
    pages = np.maximum(_products(fit, page, inverse), unit)
    these = _with_these_contents(fit, person, content, inverse, unit)
    over_people = _moderated(people._replace(variance=these), unit, component, pages)
    by_people = _moderated(people, unit, component, pages)
    by_contents = _moderated(contents, unit, component, pages)
    both = by_people.variance + by_contents.variance - pages
    df = both**2 / (by_people.variance**2 / by_people.df + by_contents.variance**2 / by_contents.df)
    # No fewer than those of the less certain part, which is what is left where neither is above the pages.
    df = np.maximum(df, np.minimum(by_people.df, by_contents.df))
    # What is clear beyond these contents is clear on them; with one content there is nothing beyond.
    is_alone = _has_one_content(fit, content, component)
    beyond = StrengthErrors(
        np.where(is_alone, over_people.variance, np.maximum(both, over_people.variance)),
        np.where(is_alone, over_people.df, np.minimum(df, over_people.df)),
        over_people.is_known & (is_alone | by_contents.is_known),
    )
    return ErrorsOfBoth(beyond, over_people._replace(has_fixed_contents=True))


def _has_one_content(fit: SlopedFit, content: Codes, component: Codes) -> NDArray[np.bool_]:
    """Return which differences are within a component that was compared on one content only."""
    of_row = component[fit.member]
    counts = np.array([len(np.unique(content[of_row == part])) for part in range(int(component.max()) + 1)])
    is_alone = np.full((fit.size, fit.size), content.max() == 0)
    size = len(component)
    is_alone[:size, :size] = (counts[component] == 1)[:, None]
    return is_alone


def _differences(matrix: Floats) -> Floats:
    """Return the variances of the differences of every two, and of each on the diagonal, from covariances."""
    own = np.diagonal(matrix, axis1=-2, axis2=-1)
    between = own[..., :, None] + own[..., None, :] - 2 * matrix
    place = np.arange(matrix.shape[-1])
    between[..., place, place] = own
    return np.asarray(np.maximum(between, 0.0), np.float64)


def _products(fit: SlopedFit, cluster: Codes, inverse: Floats) -> Floats:
    """Return the variances that the slopes of clusters, each less their mean, add up to."""
    slopes = fit.slopes_by(cluster, int(cluster.max()) + 1)
    pulls = (slopes - slopes.mean(0)) @ inverse
    return _differences(pulls.T @ pulls)


def _part(fit: SlopedFit, cluster: Codes, inverse: Floats, unit: Floats) -> _Part:
    """Return the variances over clusters, corrected for what fitting took where comparisons are independent."""
    lost = np.zeros_like(inverse)
    sums, squares = np.zeros_like(inverse), np.zeros_like(inverse)
    for information in _informations(fit, cluster):
        half = inverse @ information
        lost += (information @ half).sum(0)
        own = _differences(half @ inverse)
        sums += own.sum(0)
        squares += (own**2).sum(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = 1 - _differences(inverse @ lost @ inverse) / unit
        variance = np.where(kept > _SINGULAR, _products(fit, cluster, inverse) / kept, np.nan)
        return _Part(variance, sums**2 / squares)


def _informations(fit: SlopedFit, cluster: Codes) -> Iterator[Floats]:
    """Yield the information of all clusters, some at a time."""
    order = np.argsort(cluster, kind="stable")
    count, step = int(cluster.max()) + 1, max(1, _MAX_NUMBERS // fit.size**2)
    for start in range(0, count, step):
        end = min(count, start + step)
        chosen = order[slice(*np.searchsorted(cluster[order], [start, end]))]
        yield fit.rows(chosen).information_by(cluster[chosen] - start, end - start)


def _with_these_contents(fit: SlopedFit, person: Codes, content: Codes, inverse: Floats, unit: Floats) -> Floats:
    """Return the variances over people when each pair of each content has a slope of its own; else over people."""
    left, lost = fit.within_contents(person, content)
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = 1 - _differences(inverse @ lost @ inverse) / unit
        variance = _products(left, person, inverse) / kept
    return np.where(kept > _MIN_KEPT, variance, _part(fit, person, inverse, unit).variance)


def _moderated(part: _Part, unit: Floats, component: Codes, least: Floats) -> StrengthErrors:
    """Return variances drawn together over the differences of each component, none below the least."""
    variance, df = part.variance.copy(), np.maximum(part.spread - 1, 1.0)
    for place in range(int(component.max()) + 1):
        members = np.flatnonzero(component == place)
        upper = np.triu_indices(len(members), 1)
        one, other = members[upper[0]], members[upper[1]]
        comparable = variance[one, other] / unit[one, other]
        is_finite = np.isfinite(comparable)
        if not is_finite.any():
            continue
        # What rests on one cluster is not claimed, but the strengths around it still need an error.
        comparable = np.where(is_finite, comparable, comparable[is_finite].max())
        pairs = list(zip(one.tolist(), other.tolist(), strict=True))
        result = moderated(comparable[None], df[one, other], pairs)
        for rows, columns in ((one, other), (other, one)):
            variance[rows, columns] = result.variance[0] * unit[one, other]
            df[rows, columns] = result.df[0]
    return StrengthErrors(np.maximum(variance, least), df, part.spread >= _LEAST_SPREAD)
