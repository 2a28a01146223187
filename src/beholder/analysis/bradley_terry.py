"""The fit of strengths to comparisons by maximum likelihood (reference: statistics 5)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import special

from beholder.analysis.comparisons import (
    ComparisonGraph,
    ComparisonModel,
    Outcomes,
    Tally,
    comparison_graph,
    sum_by_code,
)
from beholder.analysis.strength_errors import (
    LinearFit,
    RowSlopes,
    StrengthErrors,
    strength_covariance,
    strength_df,
    strength_errors,
)
from beholder.stats.clustered import Codes, Floats
from beholder.stats.intervals import LEVEL

# Strengths, with errors over people and contents


_LIKELIHOOD, _PRIOR = "maximum likelihood", "Gaussian prior"
_TIES_SD = 2.0
"""Of the logarithm of the tie parameter, where only a prior holds it."""


class ExtraParameter(NamedTuple):
    """The position effect, or the logarithm of the tie parameter, and its place among the numbers of the fit."""

    value: float
    model_se: float
    place: int


class StrengthFit(NamedTuple):
    """Strengths that sum to zero within each component, and their errors."""

    likelihood: Likelihood
    graph: ComparisonGraph
    place: Floats
    """Where the likelihood is greatest: the strengths, then position effect and ties."""
    prior: Floats
    """Precision of a Gaussian around zero, for each number of the place; zero where the likelihood is enough."""
    beyond: StrengthErrors
    """Over people and contents like these; of the strengths, then of position effect and ties."""
    these: StrengthErrors
    """Over people, with these contents."""
    model_covariance: Floats
    """As if all comparisons were independent; under a prior that of the posterior."""
    people: Codes
    """By component."""
    contents: Codes
    """By component."""
    estimator: tuple[str, ...]
    """By component."""
    position: ExtraParameter | None
    """How much being shown first, or left, adds to a difference; None where the order is not known."""
    ties: ExtraParameter | None

    @property
    def tally(self) -> Tally:
        """The counts."""
        return self.likelihood.tally

    @property
    def model(self) -> ComparisonModel:
        """The model of outcomes."""
        return self.likelihood.model

    @property
    def quality(self) -> Floats:
        """The strengths."""
        return self.place[: len(self.tally.names)]

    def covariance_of(self, errors: StrengthErrors) -> Floats:
        """Return the covariance of the strengths over one population; NaN where it is not known."""
        return strength_covariance(errors, self.graph.component)

    def df_of(self, errors: StrengthErrors) -> Floats:
        """Return the degrees of freedom of each strength: in the middle of those of its differences."""
        return strength_df(errors, self.graph.component)

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
            elif self.contents[part] == 1 and self.tally.content.max() > 0:
                texts.append("one content: over participants only")
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
    likelihood = Likelihood(tally, model, free)
    flat = null_directions(graph, likelihood.size)
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


def _fitted(likelihood: Likelihood, graph: ComparisonGraph, peak: _Maximum, prior: Floats, flat: Floats) -> StrengthFit:
    tally, free, size = likelihood.tally, likelihood.free, len(likelihood.tally.names)
    centre = np.eye(likelihood.size) - flat @ flat.T
    inverse = centre @ np.linalg.inv(regularised(peak.information, prior, flat)) @ centre
    errors = strength_errors(likelihood.linear(peak.place), inverse, graph.component)
    people, contents = (
        np.array([len(np.unique(codes[graph.component[tally.one] == part])) for part in range(graph.components)])
        for codes in (tally.person, tally.content)
    )
    is_held = [bool(prior[:size][graph.component == part].any()) for part in range(graph.components)]

    def extra(place: int) -> ExtraParameter:
        return ExtraParameter(float(peak.place[place]), math.sqrt(max(0.0, float(inverse[place, place]))), place)

    return StrengthFit(
        likelihood,
        graph,
        centre @ peak.place,
        prior,
        beyond=errors.beyond,
        these=errors.these,
        model_covariance=inverse[:size, :size],
        people=people,
        contents=contents,
        estimator=tuple(_PRIOR if held else _LIKELIHOOD for held in is_held),
        position=extra(size) if free.position else None,
        ties=extra(likelihood.size - 1) if free.ties else None,
    )


def null_directions(graph: ComparisonGraph, size: int) -> Floats:
    """Return for each component the direction along which all its strengths move alike."""
    flat = np.zeros((size, graph.components))
    flat[np.arange(len(graph.component)), graph.component] = 1
    return np.asarray(flat / np.sqrt(flat.sum(0)), np.float64)


def _start(likelihood: Likelihood) -> Floats:
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


class Likelihood(NamedTuple):
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

    def linear(self, place: Floats) -> LinearFit:
        """Return how the log likelihood of each row changes at a place."""
        ties = float(place[-1]) if self.free.ties else self.free.held_ties
        outcomes = self.model.outcomes(self.difference(place), ties)
        counts = np.stack([self.tally.wins, self.tally.ties, self.tally.losses])
        expected = self.tally.n * outcomes.p
        slopes = RowSlopes(
            float((counts * outcomes.log_p).sum()),
            (counts * outcomes.slope).sum(0),
            (counts * outcomes.tie_slope).sum(0),
            (expected * outcomes.slope**2).sum(0),
            (expected * outcomes.slope * outcomes.tie_slope).sum(0),
            (expected * outcomes.tie_slope**2).sum(0),
        )
        return LinearFit(self.tally, slopes, self.free.position, self.free.ties)

    def evaluate(self, place: Floats) -> _LikelihoodPoint:
        """Return the likelihood at a place."""
        fit, everything = self.linear(place), np.zeros_like(self.tally.one)
        slope, information = fit.slopes_by(everything, 1)[0], fit.information_by(everything, 1)[0]
        return _LikelihoodPoint(fit.slopes.height, slope, information)


def _maximise(likelihood: Likelihood, start: Floats, prior: Floats, flat: Floats) -> _Maximum:
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
            step = np.linalg.solve(regularised(here.information, prior, flat), here.slope - prior * place)
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


def regularised(information: Floats, prior: Floats, flat: Floats) -> Floats:
    """Return information and prior, made invertible along the flat directions."""
    scale = max(float(np.diag(information).mean()), np.finfo(float).tiny)
    return np.asarray(information + np.diag(prior) + scale * (flat @ flat.T), np.float64)


# Tests and intervals of differences


TEST_CITATION = "Rao and Scott (1984), Annals of Statistics 12"
_MAX_DOUBLINGS, _MAX_STEPS, _NEAR = 40, 60, 1e-9
_MAX_NUMBERS = 50_000
"""In tables of differences by comparison, so that they stay in a processor's cache; more come one after the other."""


class DifferenceClaim(NamedTuple):
    """Tests of differences against zero and their intervals; NaN where the error is not known."""

    se: Floats
    df: Floats
    low: Floats
    high: Floats
    statistic: Floats
    p: Floats
    """Two-sided."""


def difference_claims(
    fit: StrengthFit, errors: StrengthErrors, one: Codes, other: Codes, level: float = LEVEL
) -> DifferenceClaim:
    """Return tests and intervals of differences, by a likelihood ratio that is divided by the design effect.

    That is Rao and Scott's correction; the ratio is taken along the line on which the other strengths follow a small
    change. Unlike a difference over its error it keeps growing where one nearly always won (Hauck and Donner 1977,
    Journal of the American Statistical Association 72). On these contents the design effect is that at the difference
    which is tested: at the maximum a further vote for the winner leaves less information, and those who dissent would
    count for more.
    """
    numbers = np.full((len(DifferenceClaim._fields), len(one)), np.nan)
    variance = errors.variance[one, other]
    is_one = fit.graph.component[one] == fit.graph.component[other]
    known = np.flatnonzero(is_one & errors.is_known[one, other] & np.isfinite(variance))
    pooled = fit.likelihood._replace(tally=fit.tally.pooled())
    step = max(1, _MAX_NUMBERS // len(pooled.tally.one))
    for start in range(0, len(known), step):
        mine = known[start : start + step]
        difference, df = fit.quality[one[mine]] - fit.quality[other[mine]], errors.df[one[mine], other[mine]]
        tested = -difference if errors.has_fixed_contents else np.zeros_like(difference)
        line = _Line.through(fit, pooled, one[mine], other[mine], variance[mine])._replace(tested=tested)
        se, quantile = np.sqrt(variance[mine]), special.stdtrit(df, (1 + level) / 2)
        statistic = np.sign(difference) * np.sqrt(line.ratio(-difference))
        low, high = (difference + line.reach(sign * quantile * se, quantile**2) for sign in (-1, 1))
        numbers[:, mine] = se, df, low, high, statistic, 2 * special.stdtr(df, -np.abs(statistic))
    return DifferenceClaim(*numbers)


class _Line(NamedTuple):
    """The likelihood where a difference is shifted and the other strengths follow, for each of several differences."""

    likelihood: Likelihood
    """Of pooled counts."""
    quality: Floats
    prior: Floats
    difference: Floats
    """Of every row of the counts, without a shift."""
    ties: float | None
    follow: Floats
    """How far each strength moves with a shift, a row for each line."""
    lean: Floats
    """How far the difference of each row of the counts does."""
    tested: Floats
    """The shift up to which the design effect follows what is tested; beyond it stays."""
    noise: Floats
    """The variance of the slope at the maximum, which is the information where all comparisons are independent."""
    least: Floats
    """The information at the maximum."""
    top: float
    """The logarithm of the posterior at the maximum."""

    @classmethod
    def through(cls, fit: StrengthFit, pooled: Likelihood, one: Codes, other: Codes, variance: Floats) -> _Line:
        """Return the lines through the maximum."""
        tally, size, free = pooled.tally, len(fit.tally.names), pooled.free
        covariance, prior = fit.model_covariance, fit.prior[:size]
        unit = covariance[one, one] + covariance[other, other] - 2 * covariance[one, other]
        follow = (covariance[one] - covariance[other]) / unit[:, None]
        lean = follow[:, tally.one] - follow[:, tally.other]
        ties = float(fit.place[-1]) if free.ties else free.held_ties
        difference = pooled.difference(fit.place)
        nothing = np.zeros(len(one))
        line = cls(pooled, fit.quality, prior, difference, ties, follow, lean, nothing, variance, nothing, 0.0)
        least = line.information(nothing)
        return line._replace(noise=least**2 * variance, least=least, top=float(line.heights(nothing[:1])[0]))

    def ratio(self, shift: Floats) -> Floats:
        """Return the likelihood ratio of the maximum against a shift of each difference, over its design effect."""
        held = np.clip(shift, np.minimum(self.tested, 0.0), np.maximum(self.tested, 0.0))
        effect = np.maximum(1.0, self.noise / np.maximum(self.information(held), self.least))
        return np.asarray(np.maximum(0.0, 2 * (self.top - self.heights(shift)) / effect), np.float64)

    def heights(self, shift: Floats) -> Floats:
        """Return the logarithm of the posterior."""
        tally, outcomes = self.likelihood.tally, self._outcomes(shift)
        counts = np.stack([tally.wins, tally.ties, tally.losses])[:, None]
        moved = self.quality + shift[:, None] * self.follow[: len(shift)]
        own = (counts * outcomes.log_p.reshape(3, len(shift), -1)).sum(axis=(0, 2))
        return np.asarray(own - 0.5 * moved**2 @ self.prior, np.float64)

    def information(self, shift: Floats) -> Floats:
        """Return the expected information on the shift."""
        outcomes = self._outcomes(shift)
        squares = (outcomes.p * outcomes.slope**2).sum(0).reshape(len(shift), -1)
        return np.asarray((squares * self.lean**2) @ self.likelihood.tally.n + self.follow**2 @ self.prior, np.float64)

    def _outcomes(self, shift: Floats) -> Outcomes:
        at = self.difference + shift[:, None] * self.lean[: len(shift)]
        return self.likelihood.model.outcomes(at.ravel(), self.ties)

    def reach(self, shift: Floats, limit: Floats) -> Floats:
        """Return how far, in the direction of a shift, the likelihood ratio comes to the limit."""
        for _ in range(_MAX_DOUBLINGS):
            is_short = self.ratio(shift) < limit
            if not is_short.any():
                break
            shift = np.where(is_short, 2 * shift, shift)
        # The root of the ratio is nearly a line: false position, with the Illinois rule for an end that stays.
        goal, near = np.sqrt(limit), np.zeros_like(shift)
        short, over, side = -goal, np.sqrt(self.ratio(shift)) - goal, np.zeros_like(shift)
        for _ in range(_MAX_STEPS):
            middle = (near * over - shift * short) / (over - short)
            gap = np.sqrt(self.ratio(middle)) - goal
            if np.abs(gap).max() < _NEAR:
                break
            is_short, stays = gap < 0, np.where(np.sign(gap) == side, 0.5, 1.0)
            near, shift, side = np.where(is_short, middle, near), np.where(is_short, shift, middle), np.sign(gap)
            short, over = np.where(is_short, gap, stays * short), np.where(is_short, stays * over, gap)
        return np.asarray(middle, np.float64)
