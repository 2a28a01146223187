"""The fit of strengths to comparisons by maximum likelihood, with clustered errors (reference: statistics 5)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beholder.analysis.comparisons import ComparisonGraph, ComparisonModel, Tally, comparison_graph, sum_by_code
from beholder.stats.clustered import Codes, Floats

# Strengths, with standard errors clustered by person


_LIKELIHOOD, _PRIOR = "maximum likelihood", "Gaussian prior"
_TIES_SD = 2.0
"""Of the logarithm of the tie parameter, where only a prior holds it."""

_ALIKE = 1e-9
"""People whose clustered variance is below this share of the model's have all answered alike."""


class ExtraParameter(NamedTuple):
    """The position effect, or the logarithm of the tie parameter; errors are NaN where it was held."""

    value: float
    se: float
    model_se: float


class StrengthFit(NamedTuple):
    """Strengths that sum to zero within each component, and their covariance."""

    tally: Tally
    model: ComparisonModel
    graph: ComparisonGraph
    quality: Floats
    covariance: Floats
    """Clustered by person. Under a prior that of the posterior, widened where the clustered one is wider; and the
    model's own where people do not differ at all, so that clusters say nothing."""
    model_covariance: Floats
    """As if all comparisons were independent."""
    people: Codes
    """By component."""
    estimator: tuple[str, ...]
    """By component."""
    is_alike: tuple[bool, ...]
    """By component: whether people do not differ at all."""
    position: ExtraParameter | None
    """How much being shown first, or left, adds to a difference; None where the order is not known."""
    ties: ExtraParameter | None

    @property
    def df(self) -> Floats:
        """Of each name: the people in its component, minus one."""
        return np.asarray(self.people[self.graph.component] - 1, np.float64)

    @property
    def se(self) -> Floats:
        """Of each strength; NaN where one person made all comparisons."""
        return np.where(self.df > 0, np.sqrt(np.maximum(0, np.diag(self.covariance))), np.nan)

    @property
    def note(self) -> tuple[str, ...]:
        """By component: what is particular about its strengths."""
        notes = []
        for part, people in enumerate(self.people.tolist()):
            texts = []
            if self.estimator[part] == _PRIOR:
                texts.append(self.graph.why[part] or "the order of showing explains every choice")
            if people < 2:
                texts.append("one participant: no interval")
            elif self.is_alike[part]:
                texts.append("all participants answered alike: error as if all comparisons were independent")
            notes.append("; ".join(texts))
        return tuple(notes)


def fit_strengths(tally: Tally, model: ComparisonModel, like: StrengthFit | None = None) -> StrengthFit:
    """Return the strengths; `like` is a fit whose position effect and ties are taken over."""
    graph = comparison_graph(tally)
    if like is None:
        free = _FreeParameters(_can_tell_position(tally), bool(tally.ties.any()))
    else:
        position, ties = like.position, like.ties
        free = _FreeParameters(False, False, position.value if position else 0.0, ties.value if ties else None)
    likelihood = _Likelihood(tally, model, free)
    flat = _null_directions(graph, likelihood.size)
    is_free = np.array([not strong for strong in graph.is_strong])[graph.component]
    prior = np.zeros(likelihood.size)
    prior[: len(is_free)] = is_free / model.prior_sd**2
    start = _start(likelihood)
    peak = _maximise(likelihood, start, prior, flat)
    if not peak.is_reached:
        prior[:] = 1 / model.prior_sd**2
        if free.ties:
            prior[-1] = 1 / _TIES_SD**2
        peak = _maximise(likelihood, start, prior, flat)
    return _fitted(likelihood, graph, peak, prior, flat)


def _fitted(
    likelihood: _Likelihood, graph: ComparisonGraph, peak: _Maximum, prior: Floats, flat: Floats
) -> StrengthFit:
    tally, free, size = likelihood.tally, likelihood.free, len(likelihood.tally.names)
    centre = np.eye(likelihood.size) - flat @ flat.T
    inverse = centre @ np.linalg.inv(_regularised(peak.information, prior, flat)) @ centre
    people = np.array(
        [len(np.unique(tally.person[graph.component[tally.one] == part])) for part in range(graph.components)], np.intp
    )
    everybody = tally.people
    # Each number has the small-sample factor of the people who could move it.
    clusters = np.concatenate([people[graph.component], np.full(likelihood.size - size, everybody)])
    factor = np.sqrt(clusters / np.maximum(1, clusters - 1))
    clustered = inverse @ likelihood.meat(peak.place) @ inverse * np.outer(factor, factor)
    wider = _variance_ratio(clustered[:size, :size], inverse[:size, :size], graph)
    is_held = np.array([prior[:size][graph.component == part].any() for part in range(graph.components)])
    is_alike = ~is_held & (wider < _ALIKE)
    covariance = _combined_covariance(
        clustered[:size, :size], inverse[:size, :size], graph, np.where(is_held | is_alike, np.maximum(1, wider), 0)
    )
    se, model_se = np.sqrt(np.maximum(0, np.diag(clustered))), np.sqrt(np.maximum(0, np.diag(inverse)))

    def extra(place: int) -> ExtraParameter:
        return ExtraParameter(
            float(peak.place[place]), float(se[place]) if everybody > 1 else math.nan, float(model_se[place])
        )

    return StrengthFit(
        tally,
        likelihood.model,
        graph,
        quality=(centre @ peak.place)[:size],
        covariance=covariance,
        model_covariance=inverse[:size, :size],
        people=people,
        estimator=tuple(_PRIOR if held else _LIKELIHOOD for held in is_held),
        is_alike=tuple(is_alike.tolist()),
        position=extra(size) if free.position else None,
        ties=extra(likelihood.size - 1) if free.ties else None,
    )


def _variance_ratio(clustered: Floats, model: Floats, graph: ComparisonGraph) -> Floats:
    """Return by component the ratio of the clustered variance to the model's."""
    by_name = np.stack([np.diag(clustered), np.diag(model)])
    by_cluster, by_model = (sum_by_code(graph.component, np.maximum(0, one)) for one in by_name)
    return by_cluster / by_model


def _combined_covariance(clustered: Floats, model: Floats, graph: ComparisonGraph, times: Floats) -> Floats:
    """Return the clustered covariance; in components whose `times` is above zero, that multiple of the model's."""
    covariance = clustered.copy()
    for part in np.flatnonzero(times):
        mine = graph.component == part
        covariance[mine] = 0
        covariance[:, mine] = 0
        covariance[np.ix_(mine, mine)] = model[np.ix_(mine, mine)] * times[part]
    return covariance


def _null_directions(graph: ComparisonGraph, size: int) -> Floats:
    """Return for each component the direction along which all its strengths move alike."""
    flat = np.zeros((size, graph.components))
    flat[np.arange(len(graph.component)), graph.component] = 1
    return np.asarray(flat / np.sqrt(flat.sum(0)), np.float64)


def _start(likelihood: _Likelihood) -> Floats:
    """Return equal strengths, no position effect, and the observed share of ties."""
    start = np.zeros(likelihood.size)
    if likelihood.free.ties:
        n = float(likelihood.tally.n.sum())
        share = float(likelihood.tally.ties.sum()) / n
        start[-1] = likelihood.model.ties_at(min(share, 1 - 0.5 / n))
    return start


def _can_tell_position(tally: Tally) -> bool:
    """Return whether the order is known, and is more than which of two it was: some pair was shown both ways."""
    pooled = tally.pooled()
    is_known = pooled.order != 0
    one, other, order = pooled.one[is_known], pooled.other[is_known], pooled.order[is_known]
    if not len(order):
        return False
    size = len(tally.names)
    between = sum_by_code(one * size + other, np.ones(len(one)), size * size).reshape(size, size)
    between = between + between.T
    target = sum_by_code(one, order, size) - sum_by_code(other, order, size)
    explained = np.linalg.pinv(np.diag(between.sum(0)) - between) @ target
    return bool(np.abs(order - explained[one] + explained[other]).max() > 1e-6)


# The likelihood and its maximum, by Fisher's scoring


_MAX_STEPS = 60
_MIN_STEP = 1e-11
_IMPOSSIBLE = 1e-12
"""Below this probability a win is impossible, and the likelihood has no maximum."""


class _FreeParameters(NamedTuple):
    """Which parameters are estimated in addition to strengths; the others are fixed at a value."""

    position: bool
    ties: bool
    held_position: float = 0.0
    held_ties: float | None = None


class _RowSlopes(NamedTuple):
    """The log likelihood, its slopes by row of the tally, and the expected squares of these."""

    height: float
    difference: Floats
    ties: Floats
    difference_squared: Floats
    both: Floats
    ties_squared: Floats


class _LikelihoodPoint(NamedTuple):
    """The log likelihood at a place, its slope, and the expected information."""

    height: float
    slope: Floats
    information: Floats


class _Maximum(NamedTuple):
    """Where the likelihood is greatest; `is_reached` is false where it grows without end."""

    place: Floats
    information: Floats
    is_reached: bool


class _Likelihood(NamedTuple):
    """Counts under a model. Places are strengths, then the position effect, then the tie parameter."""

    tally: Tally
    model: ComparisonModel
    free: _FreeParameters

    @property
    def size(self) -> int:
        """How many numbers a place has."""
        return len(self.tally.names) + self.free.position + self.free.ties

    def difference(self, place: Floats) -> Floats:
        """Return how far apart the two of each row are, their order included."""
        position = place[len(self.tally.names)] if self.free.position else self.free.held_position
        return np.asarray(place[self.tally.one] - place[self.tally.other] + position * self.tally.order, np.float64)

    def slopes(self, place: Floats) -> _RowSlopes:
        """Return how the log likelihood of each row changes at a place."""
        ties = float(place[-1]) if self.free.ties else self.free.held_ties
        outcomes = self.model.outcomes(self.difference(place), ties)
        counts = np.stack([self.tally.wins, self.tally.ties, self.tally.losses])
        expected = self.tally.n * outcomes.p
        return _RowSlopes(
            float((counts * outcomes.log_p).sum()),
            (counts * outcomes.slope).sum(0),
            (counts * outcomes.tie_slope).sum(0),
            (expected * outcomes.slope**2).sum(0),
            (expected * outcomes.slope * outcomes.tie_slope).sum(0),
            (expected * outcomes.tie_slope**2).sum(0),
        )

    def evaluate(self, place: Floats) -> _LikelihoodPoint:
        """Return the likelihood at a place."""
        tally, size, slopes = self.tally, len(self.tally.names), self.slopes(place)
        weight = slopes.difference_squared
        between = sum_by_code(tally.one * size + tally.other, weight, size * size).reshape(size, size)
        between = between + between.T
        slope = np.zeros(self.size)
        information = np.zeros((self.size, self.size))
        slope[:size] = self._spread(slopes.difference)
        information[:size, :size] = np.diag(between.sum(0)) - between
        columns = []
        if self.free.position:
            order = tally.order
            columns.append((self._spread(weight * order), float(slopes.difference @ order), float(weight @ order**2)))
        if self.free.ties:
            columns.append((self._spread(slopes.both), float(slopes.ties.sum()), float(slopes.ties_squared.sum())))
        for place_of, (with_strengths, along, squared) in enumerate(columns, size):
            information[:size, place_of] = information[place_of, :size] = with_strengths
            slope[place_of], information[place_of, place_of] = along, squared
        if self.free.position and self.free.ties:
            information[size, size + 1] = information[size + 1, size] = float(slopes.both @ tally.order)
        return _LikelihoodPoint(slopes.height, slope, information)

    def meat(self, place: Floats) -> Floats:
        """Return the sum over people of the squares of their slopes at a place, each less the mean."""
        tally, size, row_slopes = self.tally, len(self.tally.names), self.slopes(place)
        present, person = np.unique(tally.person, return_inverse=True)
        people = len(present)
        slopes = sum_by_code(person * size + tally.one, row_slopes.difference, people * size)
        slopes -= sum_by_code(person * size + tally.other, row_slopes.difference, people * size)
        columns = [slopes.reshape(people, size)]
        if self.free.position:
            columns.append(sum_by_code(person, row_slopes.difference * tally.order)[:, None])
        if self.free.ties:
            columns.append(sum_by_code(person, row_slopes.ties)[:, None])
        by_person = np.hstack(columns)
        by_person -= by_person.mean(0)
        return np.asarray(by_person.T @ by_person, np.float64)

    def _spread(self, value: Floats) -> Floats:
        """Return the sum over rows by name: with its sign for one, with the other sign for the other."""
        size = len(self.tally.names)
        return sum_by_code(self.tally.one, value, size) - sum_by_code(self.tally.other, value, size)


def _maximise(likelihood: _Likelihood, start: Floats, prior: Floats, flat: Floats) -> _Maximum:
    """Return the greatest posterior: the likelihood times a Gaussian of precision `prior` around zero.

    Along the columns of `flat` the likelihood does not change, and the climb does not move.
    """
    pooled = likelihood._replace(tally=likelihood.tally.pooled())
    place = start

    def posterior(at: Floats) -> tuple[float, _LikelihoodPoint]:
        point = pooled.evaluate(at)
        return point.height - 0.5 * float(prior @ at**2), point

    height, here = posterior(place)
    for _ in range(_MAX_STEPS):
        try:
            step = np.linalg.solve(_regularised(here.information, prior, flat), here.slope - prior * place)
        except np.linalg.LinAlgError:
            break
        if np.abs(step).max() < _MIN_STEP * max(1.0, float(np.abs(place).max())):
            return _Maximum(place, here.information, True)
        for _ in range(30):
            next_height, there = posterior(place + step)
            if next_height >= height - 1e-9 * abs(height):
                break
            step = step / 2
        place, height, here = place + step, next_height, there
        if pooled.model.win(-np.abs(pooled.difference(place))).min() < _IMPOSSIBLE:
            break
    return _Maximum(place, here.information, False)


def _regularised(information: Floats, prior: Floats, flat: Floats) -> Floats:
    """Return information and prior, made invertible along the flat directions."""
    scale = max(float(np.diag(information).mean()), np.finfo(float).tiny)
    return np.asarray(information + np.diag(prior) + scale * (flat @ flat.T), np.float64)
