"""Contrasts of conditions from all ratings: additive least squares of participant, content and condition.

Errors are clustered by participants and by contents (Cameron, Gelbach and Miller 2011), each part truncated at zero
(MacKinnon, Nielsen and Webb 2021) and moderated over contrasts (Smyth 2004). They are told for two populations: people
and contents like these, and people with these contents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from beholder.stats.clustered import CITATION as CLUSTERED
from beholder.stats.clustered import Cells, Codes, Floats, column_sums, sums_by, two_way_residuals
from beholder.stats.contrast_errors import CITATION as MODERATED
from beholder.stats.contrast_errors import ROUNDING, ContrastError, Pair, VarianceParts, contrast_errors
from beholder.stats.intervals import LEVEL

CITATION = f"{CLUSTERED}; {MODERATED}"
NO_SHARED_CONTENT = "no content in common: not tested, as contents may make the difference"
ONE_CONTENT_COUNTS = "rests on one content: nothing is known beyond it"
ONE_PERSON = "one participant of one: no test"
_MAX_SOLVED = 3000
"""Up to so many participants or contents, whichever are fewer, the equations are solved directly."""
_MAX_COUNTED = 30_000_000
"""Up to this size of tables what fitting took from each cluster is counted, and not approximated."""
_AT_ONCE = 32
_SPARSE = 8
"""With more numbers than so many for each code, these are sorted."""
_MOST_MET = 8_000_000
"""So many numbers of both groupings are looked up at a time."""
_LEAST_CONTENTS = 1.5
"""Over how many contents the weight of a contrast must be spread to speak for others."""
_SINGULAR = 1e-10


class ContrastEstimates(NamedTuple):
    """Differences of pairs of conditions: a row for each data set, a column for each pair."""

    difference: Floats
    beyond: ContrastError
    """Over people and contents like these; over people alone where there is one content."""
    these: ContrastError
    """Over people, with these contents."""
    n: Codes
    """Pages of either, as all that follows for each pair."""
    participants: Codes
    contents: Codes
    refused: tuple[str, ...]
    """Why a pair is not tested, at all or beyond these contents; empty where it is."""


class _Clusters(NamedTuple):
    """The cluster of every value, by kind."""

    people: Codes
    contents: Codes
    pages: Codes


class _Spread(NamedTuple):
    """Over how many clusters of each kind every contrast is spread."""

    people: Floats
    contents: Floats
    pages: Floats


class _Kept(NamedTuple):
    """A number for every contrast, by part of its variance."""

    people: Floats
    contents: Floats
    pages: Floats
    these_people: Floats
    these_pages: Floats


@dataclass(frozen=True, eq=False)
class _Design:
    """A linear estimate of several effects, and how residuals of it are taken."""

    weights: Floats
    """How far every value pulls each effect, a row for each effect."""
    combine: Floats
    """From effects to contrasts, a row for each contrast."""
    clusters: _Clusters
    residuals: Callable[[Floats], Floats]
    """From rows of values to what the effects, participants and contents leave of them."""
    these_residuals: Callable[[Floats], Floats]
    """The same where every stimulus has an effect of its own."""
    stimuli: Codes
    """What each value is of: a content under a condition, or under a pair of conditions."""
    taken: Callable[[Codes], Floats | None]
    """From clusters to what fitting takes from the products of the weights, summed over them; None where unknown."""
    these_taken: Callable[[Codes], Floats | None]

    @cached_property
    def unit(self) -> Floats:
        """The variance of each contrast where values are independent with variance 1."""
        return self.contrast(self.weights @ self.weights.T)

    @cached_property
    def spread(self) -> _Spread:
        """Over how many clusters the weight of each contrast is spread: over all where they have the same."""
        found = np.empty((len(self.clusters), len(self.combine)))
        # A contrast at a time: all would need as many copies of the ratings.
        for place, contrast in enumerate(self.combine):
            has = np.flatnonzero(contrast)  # two of them, mostly
            squares = (contrast[has] @ self.weights[has]) ** 2
            for kind, codes in enumerate(self.clusters):
                sums = np.bincount(codes, weights=squares)
                found[kind, place] = sums.sum() ** 2 / (sums**2).sum()
        return _Spread(*found)

    @cached_property
    def kept(self) -> _Kept:
        """Which share of each part of the variance fitting left, where values are independent."""
        clusters, spread = self.clusters, self.spread

        def share(taken: Callable[[Codes], Floats | None], codes: Codes, over: Floats) -> Floats:
            lost = taken(codes)
            left = 1 - 1 / over if lost is None else 1 - self.contrast(lost) / self.unit
            return np.where(left > _SINGULAR, left, math.nan)

        return _Kept(
            share(self.taken, clusters.people, spread.people),
            share(self.taken, clusters.contents, spread.contents),
            share(self.taken, clusters.pages, spread.pages),
            share(self.these_taken, clusters.people, spread.people),
            share(self.these_taken, clusters.pages, spread.pages),
        )

    @cached_property
    def absorbed(self) -> Floats:
        """How many times more fitting takes from what stimuli have of their own than from independent values.

        Where people rate a few stimuli each, their effects take some of what all of them saw in these. It is at least
        1, and 1 where all rate everything.
        """
        count, contents = int(self.stimuli.max()) + 1, self.clusters.contents
        if count * len(self.stimuli) > _MAX_COUNTED:
            return np.ones(len(self.combine))
        left, most = np.zeros(len(self.combine)), int(contents.max()) + 1
        by_value = np.ascontiguousarray(self.weights.T)
        for first in range(0, count, _AT_ONCE):
            some = np.arange(first, min(first + _AT_ONCE, count))
            for row in self.residuals((self.stimuli == some[:, None]).astype(float)):
                pulls = column_sums(contents, by_value * row[:, None], most)
                left += self.contrast(pulls @ pulls.T)
        pulls = sums_by(self.stimuli, self.weights, count)
        whole = self.contrast(pulls @ pulls.T)
        ratio = self.kept.contents * whole / np.where(left > _SINGULAR * whole, left, math.nan)
        return np.where(ratio > 1 + ROUNDING, ratio, 1.0)

    def contrast(self, products: Floats) -> Floats:
        """Return the variance of each contrast from the products of effects, which are the last two dimensions."""
        return np.asarray(((self.combine @ products) * self.combine).sum(axis=-1), np.float64)


class AdditiveContrasts:
    """The contrasts of one design; `estimate` takes the values of as many data sets as there are."""

    def __init__(
        self,
        participant: Codes,
        content: Codes,
        condition: Codes,
        pairs: Sequence[Pair],
        controls: frozenset[int] = frozenset(),
    ) -> None:
        """Take what each value is of, numbered from 0, and which conditions are compared.

        Values are means of pages: of one participant, content and condition there is one. `controls` are conditions
        that people are to know again, such as hidden references: how alike they are rated says nothing about others.
        """
        self.pairs, self._controls = tuple(pairs), controls
        tables = [_incidence(condition, codes) for codes in (participant, content, _joint(participant, content))]
        self._counts = tuple(np.array([_either(table, pair) for pair in self.pairs], np.intp) for table in tables)
        refused = [_why_refused(pair, tables[0], tables[1]) for pair in self.pairs]
        self.is_within = _are_connected(self.pairs, participant, condition)
        """Whether people are their own control: some rated both, or others that link the two."""
        self._designs: list[tuple[NDArray[np.intp], _Design]] = []
        # Where nobody links the two, people are not their own control but two groups.
        for people, is_mine in ((participant, self.is_within), (np.zeros_like(participant), ~self.is_within)):
            mine = np.flatnonzero(is_mine & np.array([not why for why in refused], bool))
            if len(mine):
                asked = [self.pairs[place] for place in mine]
                self._designs.append((mine, _rated(participant, content, condition, people, asked)))
        for mine, design in self._designs:
            for place, clusters in zip(mine, design.spread.contents, strict=True):
                if self._counts[1][place] > 1 and clusters < _LEAST_CONTENTS:
                    refused[place] = ONE_CONTENT_COUNTS
        self.refused = tuple(refused)
        self._means = _content_means(content, condition)

    def estimate(self, values: Floats, *, level: float = LEVEL) -> ContrastEstimates:
        """Return the contrasts of every row of values."""
        parts = [(mine, _parts(design, values)) for mine, design in self._designs]
        one, other = np.array(self.pairs, np.intp).reshape(-1, 2).T
        means = values @ self._means.T
        apart = means[:, one] - means[:, other]
        return _estimates(parts, self.pairs, self._counts, self.refused, apart, level=level, controls=self._controls)


class DirectContrasts:
    """The contrasts of one design in which conditions were compared with each other; all contents weigh the same."""

    def __init__(self, pages: Mapping[Pair, Cells], *, choice: float | None = None) -> None:
        """Take the votes of every pair, above zero for the first; their values may differ between data sets.

        `choice` is the vote for the first where all votes are for one of the two, or for none.
        """
        self._choice = choice
        self.pairs = tuple(pages)
        self.refused = tuple(_why_alone(cells) for cells in pages.values())
        self._counts = tuple(
            np.array([len(np.unique(codes)) for codes in all_codes], np.intp)
            for all_codes in (
                [cells.participant for cells in pages.values()],
                [cells.content for cells in pages.values()],
                [_joint(cells.participant, cells.content) for cells in pages.values()],
            )
        )
        self._mine = np.flatnonzero([not why for why in self.refused])
        self._design = _compared([pages[self.pairs[place]] for place in self._mine]) if len(self._mine) else None
        self._means = [_content_means(cells.content, np.zeros_like(cells.content)) for cells in pages.values()]

    def estimate(self, values: Mapping[Pair, Floats], *, level: float = LEVEL) -> ContrastEstimates:
        """Return the contrasts of every row of votes, which are given by pair."""
        parts = []
        if self._design is not None:
            joined = np.concatenate([values[self.pairs[place]] for place in self._mine], axis=1)
            parts = [(self._mine, _parts(self._design, joined))]
        apart = np.concatenate(
            [values[pair] @ weights.T for pair, weights in zip(self.pairs, self._means, strict=True)], axis=1
        )
        return _estimates(
            parts, self.pairs, self._counts, self.refused, apart, level=level, are_ratings_shared=False,
            choice=self._choice,
        )  # fmt: skip


# From the design to weights and residuals


class _TwoWay:
    """Effects of two crossed groupings by least squares."""

    def __init__(self, one: Codes, other: Codes) -> None:
        # The second grouping is solved for: the one with fewer groups.
        self.one, self.other = (one, other) if one.max() >= other.max() else (other, one)
        self.size = int(self.one.max()) + 1, int(self.other.max()) + 1
        self.count = np.maximum(np.bincount(self.one, minlength=self.size[0]), 1).astype(float)
        self.met = sparse.csr_array((np.ones(len(one)), (self.one, self.other)), shape=self.size)

    @cached_property
    def inverse(self) -> Floats:
        """The inverse of the equations of the second grouping after the first."""
        counts = np.bincount(self.other, minlength=self.size[1]).astype(float)
        left = np.diag(counts) - (self.met.T @ (sparse.diags_array(1 / self.count) @ self.met)).toarray()
        return np.asarray(np.linalg.pinv(left, rcond=_SINGULAR, hermitian=True), np.float64)

    def residuals(self, rows: Floats) -> Floats:
        """Return what is left of every row of values after an effect of each group."""
        if self.size[1] > _MAX_SOLVED:
            return two_way_residuals(np.ascontiguousarray(rows.T), self.one, self.other).residual.T
        left = self._without_first(rows)
        left = left - (sums_by(self.other, left, self.size[1]) @ self.inverse)[:, self.other]
        return self._without_first(left)

    def _without_first(self, rows: Floats) -> Floats:
        return np.asarray(rows - (sums_by(self.one, rows, self.size[0]) / self.count)[:, self.one], np.float64)

    def taken(self, weights: Floats, clusters: Codes) -> Floats | None:
        """Return what fitting takes from the products of every two rows of weights, summed over clusters."""
        most, count = int(clusters.max()) + 1, len(weights)
        if self.size[1] > _MAX_SOLVED or most * self.size[1] * count > _MAX_COUNTED:
            return None
        # What each row has of a group within a cluster: all rows share these places.
        places, place = _numbered(_joint(clusters, self.one))
        cluster = places // self.size[0]
        group = places - cluster * self.size[0]
        first = sums_by(place, weights, len(places)) / np.sqrt(self.count[group])
        # Hardly a cluster has more than a few groups of the other kind: of the table of both, only cells with any.
        begins = np.searchsorted(cluster, np.arange(most + 1))
        met = sparse.csr_array((np.ones(len(group)), group, begins), shape=(most, self.size[0])) @ self.met
        is_cell = np.zeros(most * self.size[1], bool)
        is_cell[np.repeat(np.arange(most) * self.size[1], np.diff(met.indptr)) + met.indices] = True
        cells, number = np.flatnonzero(is_cell), np.cumsum(is_cell) - 1
        share = np.ascontiguousarray((first / np.sqrt(self.count[group])).T)
        explained = np.zeros((len(cells), len(weights)))
        for some in _portions(np.diff(self.met.indptr)[group], _MOST_MET):
            rows = self.met[group[some]]
            at = number[np.repeat(cluster[some] * self.size[1], np.diff(rows.indptr)) + rows.indices]
            shape = (rows.shape[0], len(cells))
            explained += sparse.csr_array((rows.data, at, rows.indptr), shape=shape).T @ share[some]
        own = column_sums(number[clusters * self.size[1] + self.other], np.ascontiguousarray(weights.T), len(cells))
        rest = own - explained.T
        begins, at = np.searchsorted(cells, np.arange(most + 1) * self.size[1]), cells % self.size[1]
        # A row at a time, as each table is dense then.
        solved = [
            (sparse.csr_array((row, at, begins), shape=(most, self.size[1])) @ self.inverse).ravel()[cells]
            for row in rest
        ]
        # Not rest @ solved.T: its threads wait for each other longer than this takes.
        every = np.tile(np.arange(len(cells)), len(rest)), np.arange(len(rest) + 1) * len(cells)
        products = sparse.csr_array((rest.ravel(), *every), shape=rest.shape) @ np.array(solved).T
        return np.asarray(first @ first.T + products.T, np.float64)


def _rated(participant: Codes, content: Codes, condition: Codes, people: Codes, pairs: Sequence[Pair]) -> _Design:
    """Return the design of conditions that were rated one by one; `people` are those with an effect of their own."""
    crossed = _TwoWay(people, content)
    stimulus = _numbered(_joint(content, condition))[1]
    stimuli = _TwoWay(people, stimulus)
    count = int(condition.max()) + 1
    # One column at a time would cost a solution each: all conditions at once, as rows.
    apart = crossed.residuals(np.eye(count)[:, condition])
    inverse = np.linalg.pinv(apart @ apart.T, rcond=_SINGULAR, hermitian=True)
    weights = inverse @ apart
    by_value = np.ascontiguousarray(weights.T)
    combine = np.zeros((len(pairs), count))
    for row, (one, other) in enumerate(pairs):
        combine[row, one], combine[row, other] = 1, -1

    def residuals(rows: Floats) -> Floats:
        left = crossed.residuals(rows)
        return np.asarray(left - (left @ weights.T) @ apart, np.float64)

    def taken(clusters: Codes) -> Floats | None:
        by_crossed = crossed.taken(weights, clusters)
        most = int(clusters.max()) + 1
        if by_crossed is None or most * count**2 > _MAX_COUNTED:
            return None
        products = np.stack([column_sums(clusters, by_value * row[:, None], most) for row in apart], axis=2)
        return np.asarray(by_crossed + np.einsum("agc,cd,bgd->ab", products, inverse, products, optimize=True))

    clusters = _Clusters(participant, content, _numbered(_joint(participant, content))[1])
    return _Design(
        weights,
        combine,
        clusters,
        residuals,
        stimuli.residuals,
        stimulus,
        taken,
        lambda codes: stimuli.taken(weights, codes),
    )


def _compared(pages: Sequence[Cells]) -> _Design:
    """Return the design of pairs that were compared directly: a mean of each, in which all contents weigh the same."""
    sizes = [len(cells.participant) for cells in pages]
    pair = np.repeat(np.arange(len(pages)), sizes)
    participant, content = (
        np.unique(np.concatenate(codes), return_inverse=True)[1]
        for codes in ([cells.participant for cells in pages], [cells.content for cells in pages])
    )
    stimulus = _numbered(_joint(pair, content))[1]
    weights = _content_means(content, pair)
    stimuli = _TwoWay(stimulus, np.zeros_like(stimulus))

    def taken(clusters: Codes) -> Floats:
        # Residuals from a weighted mean: each cluster loses what it has in that mean.
        most = int(clusters.max()) + 1
        own, squares = sums_by(clusters, weights, most), sums_by(clusters, weights**2, most)
        return np.diag((2 * own * squares - own**2 * squares.sum(axis=1, keepdims=True)).sum(axis=1))

    return _Design(
        weights,
        np.eye(len(pages)),
        _Clusters(participant, content, _numbered(_joint(participant, content))[1]),
        lambda rows: rows - (rows @ weights.T)[:, pair],
        stimuli.residuals,
        stimulus,
        taken,
        lambda codes: stimuli.taken(weights, codes),
    )


def _content_means(content: Codes, condition: Codes) -> Floats:
    """Return the weights of the mean of every condition in which all its contents weigh the same, a row for each."""
    stimuli, stimulus = _numbered(_joint(condition, content))
    contents = np.bincount(stimuli // (int(content.max(initial=0)) + 1))
    weights = np.zeros((len(contents), len(content)))
    weights[condition, np.arange(len(content))] = 1 / (np.bincount(stimulus)[stimulus] * contents[condition])
    return weights


def _joint(one: Codes, other: Codes) -> Codes:
    """Return one number for both."""
    return np.asarray(one.astype(np.int64) * (int(other.max(initial=0)) + 1) + other, np.intp)


def _portions(sizes: Codes, most: int) -> list[slice]:
    """Return what is taken at a time, one after the other, so that sizes add up to about so many at most."""
    portion = np.cumsum(sizes) // most
    begins = np.flatnonzero(np.diff(portion, prepend=-1))
    return [slice(begin, end) for begin, end in zip(begins, [*begins[1:], len(sizes)], strict=True)]


def _numbered(codes: Codes) -> tuple[Codes, Codes]:
    """Return the different codes in their order, and the place of each code among them."""
    most = int(codes.max(initial=0)) + 1
    if most > _SPARSE * len(codes):
        there, place = np.unique(codes, return_inverse=True)
        return there, np.asarray(place, np.intp)
    # Nothing to sort where hardly a number is missing.
    is_there = np.bincount(codes, minlength=most) > 0
    return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[codes]


def _incidence(condition: Codes, codes: Codes) -> NDArray[np.bool_]:
    """Return which conditions have values of which number."""
    numbers = np.unique(codes, return_inverse=True)[1]
    table = np.zeros((int(condition.max(initial=0)) + 1, int(numbers.max(initial=0)) + 1), bool)
    table[condition, numbers] = True
    return table


def _either(table: NDArray[np.bool_], pair: Pair) -> int:
    return int(np.count_nonzero(table[pair[0]] | table[pair[1]]))


def _why_refused(pair: Pair, people: NDArray[np.bool_], contents: NDArray[np.bool_]) -> str:
    """Return why two conditions cannot be tested against each other."""
    if not (contents[pair[0]] & contents[pair[1]]).any():
        return NO_SHARED_CONTENT
    return ONE_PERSON if min(people[name].sum() for name in pair) < 2 else ""


def _why_alone(cells: Cells) -> str:
    return ONE_PERSON if len(np.unique(cells.participant)) < 2 else ""


def _are_connected(pairs: Sequence[Pair], participant: Codes, condition: Codes) -> NDArray[np.bool_]:
    """Return of which pairs both conditions are linked by people who rated several."""
    people, conditions = int(participant.max()) + 1, int(condition.max()) + 1
    ties = sparse.csr_array(
        (np.ones(len(participant)), (participant, people + condition)), shape=(people + conditions,) * 2
    )
    part = connected_components(ties, directed=False)[1][people:]
    return np.array([part[one] == part[other] for one, other in pairs], bool)


# From values to errors


def _parts(design: _Design, values: Floats) -> VarianceParts:
    """Return the variances of contrasts by part, each corrected for what fitting took from the residuals."""
    residuals, these = design.residuals(values), design.these_residuals(values)
    by_value = np.ascontiguousarray(design.weights.T)
    scale = ROUNDING * np.abs(values).max(axis=1, keepdims=True)
    noise = scale**2 * design.unit
    difference = (values @ design.weights.T) @ design.combine.T

    def part(codes: Codes, left: Floats, kept: Floats) -> Floats:
        most = int(codes.max()) + 1
        # A data set at a time: all at once would need as many tables as there are data sets.
        pulls = (column_sums(codes, by_value * row[:, None], most) for row in left)
        squares = np.stack([design.contrast(pull @ pull.T) for pull in pulls]) / kept
        return np.where(squares > noise, squares, 0.0)

    clusters, kept = design.clusters, design.kept
    contents, pages = (part(clusters[kind], residuals, kept[kind]) for kind in (1, 2))
    return VarianceParts(
        # What is none on paper may be one in the last bits, and without an error these would be sure.
        np.where(np.abs(difference) > scale, difference, 0.0),
        part(clusters.people, residuals, kept.people),
        contents + (design.absorbed - 1) * np.maximum(0.0, contents - pages),
        pages,
        part(clusters.people, these, kept.these_people),
        part(clusters.pages, these, kept.these_pages),
        design.unit,
        design.spread.people - 1,
        design.spread.contents - 1,
        design.spread.contents >= _LEAST_CONTENTS,
    )


def _estimates(
    parts: Sequence[tuple[NDArray[np.intp], VarianceParts]], pairs: Sequence[Pair], counts: Sequence[Codes],
    refused: tuple[str, ...], apart: Floats, *, level: float, are_ratings_shared: bool = True,
    choice: float | None = None, controls: frozenset[int] = frozenset(),
) -> ContrastEstimates:  # fmt: skip
    """Return the contrasts of all designs of a question; `apart` are plain differences, for what is not tested."""
    difference = apart.copy()
    beyond, these = (ContrastError(*(np.full(apart.shape, math.nan) for _ in ContrastError._fields)) for _ in range(2))
    for mine, one in parts:
        difference[:, mine] = one.difference
        asked = [pairs[place] for place in mine]
        errors = contrast_errors(
            one, asked, level, are_ratings_shared=are_ratings_shared, choice=choice, controls=controls
        )
        for numbers, own in zip((*beyond, *these), (*errors[0], *errors[1]), strict=True):
            numbers[:, mine] = own
    for column, why in enumerate(refused):
        if why == ONE_CONTENT_COUNTS:
            for numbers in beyond:
                numbers[:, column] = math.nan
    return ContrastEstimates(difference, beyond, these, counts[2], counts[0], counts[1], refused)
