"""Annex E with bias and inconsistency shrunken towards all raters (reference: statistics 3.5; no standard)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from scipy.special import polygamma, stdtrit

from beholder.stats.rater_models import (
    Codes,
    Floats,
    RaterModelFit,
    RaterVotes,
    component_means,
    nan_unless,
    rater_components,
    ratio,
    stimulus_components,
    vote_counts,
)

_STOP = 1e-9
_MAX_ITERATIONS = 200
_LENIENT_AFTER, _LENIENT_TOLERANCE = 20, 1e-6
"""With hardly any bias its variance converges slowly to zero, while qualities no longer change."""
_QUALITY_ITERATIONS = 20
"""Within each, of quality and bias alone: cheap, and slow where raters share few stimuli with most others."""
_BIAS_ITERATIONS = 3
"""Within each of these: the variance of the biases creeps where raters have few votes, and costs nothing to follow."""
_MIN_VARIANCE = 1e-12
"""Raters who agree exactly must not weigh infinitely."""
_IN_VOTES = (
    "quality", "se", "low", "high", "bias", "inconsistency", "inconsistency_low", "inconsistency_high",
)  # fmt: skip
"""What has the unit of the votes."""


class _Biases(NamedTuple):
    """Biases of the raters, their variance, and how much of each rater's mean residual is taken for bias."""

    bias: Floats
    variance: float
    share: Floats


def shrunken(votes: RaterVotes) -> RaterModelFit:
    """Return quality, bias and inconsistency; a rater's own votes count against all raters' by how many they are."""
    width = (float(np.ptp(votes.value)) if len(votes.value) else 0.0) or 1.0
    fitted = _fit(votes._replace(value=votes.value / width))
    return fitted._replace(**{name: width * getattr(fitted, name) for name in _IN_VOTES})


def _fit(votes: RaterVotes) -> RaterModelFit:
    """Return the fit of votes whose range is 1, so that the tolerances hold on every scale."""
    counts, sums = votes.sum_by_rater(), votes.sum_by_rater(votes.value)
    component = stimulus_components(votes)
    part = rater_components(votes, component)
    counts_by_rater = vote_counts(votes)
    counts_by_stimulus = counts_by_rater.T
    quality = ratio(votes.sum_by_stimulus(votes.value), votes.sum_by_stimulus())
    means = ratio(sums - counts_by_rater @ quality, counts)
    biases = _Biases(np.zeros(votes.raters), _mean(means**2, counts > 0), np.zeros(votes.raters))
    spread = _unknown_variances(votes.raters)
    iterations, has_converged = 0, False
    while not has_converged and iterations < _MAX_ITERATIONS:
        iterations += 1
        before = (quality, biases.bias, spread.variance)
        weight = 1 / spread.variance
        total, weighted_sums = counts_by_stimulus @ weight, votes.sum_by_stimulus(weight[votes.rater] * votes.value)
        for _ in range(_QUALITY_ITERATIONS):
            last, quality = quality, ratio(weighted_sums - counts_by_stimulus @ (weight * biases.bias), total)
            means = ratio(sums - counts_by_rater @ quality, counts)
            biases = _shrunken_biases(means, spread.variance, counts, biases.variance, part)
            if _change((last,), (quality,)) < _STOP:
                break
        leverage = weight * (counts_by_rater @ ratio(np.ones(votes.stimuli), total))
        squares = votes.sum_by_rater((votes.value - quality[votes.stimulus] - biases.bias[votes.rater]) ** 2)
        spread = _shrunken_variances(squares, np.maximum(counts - leverage - biases.share, 0.0), _MIN_VARIANCE)
        has_converged = _change(before, (quality, biases.bias, spread.variance)) < _STOP
        if iterations >= _LENIENT_AFTER:
            has_converged |= _change(before[:1], (quality,)) < _LENIENT_TOLERANCE
    fitted = _fitted(votes, quality, biases, spread, component)
    return fitted._replace(iterations=iterations, has_converged=has_converged)


def _shrunken_biases(means: Floats, variances: Floats, counts: Floats, variance: float, part: Codes) -> _Biases:
    """Return each rater's mean residual as far as it is beyond chance, centred in each part of the design."""
    is_rater = counts > 0
    noise = ratio(variances, counts)
    biases = _Biases(means, variance, np.ones_like(means))
    for _ in range(_BIAS_ITERATIONS):
        share = np.where(is_rater, ratio(np.full_like(noise, biases.variance), biases.variance + noise), 0.0)
        bias = share * means
        bias = np.where(is_rater, bias - component_means(bias, part, is_rater.astype(float))[part], 0.0)
        before, biases = biases, _Biases(bias, _mean(bias**2 + share * noise, is_rater), share)
        if abs(biases.variance - before.variance) <= _STOP * biases.variance:
            break
    return biases


def _change(before: tuple[Floats, ...], now: tuple[Floats, ...]) -> float:
    return max(float(np.max(np.abs(new - old), initial=0.0)) for old, new in zip(before, now, strict=True))


def _mean(values: Floats, is_rater: np.typing.NDArray[np.bool_]) -> float:
    return float(values[is_rater].mean()) if is_rater.any() else 0.0


def _fitted(
    votes: RaterVotes, quality: Floats, biases: _Biases, spread: _RaterVariances, component: Codes
) -> RaterModelFit:
    variance = np.where(spread.variance > _MIN_VARIANCE, spread.variance, 0.0)
    has_spread = spread.is_known and bool((variance > 0).any())
    total = votes.sum_by_stimulus((1 / spread.variance)[votes.rater])
    se = np.sqrt(ratio(np.ones(votes.stimuli), total)) if has_spread else np.zeros(votes.stimuli)
    is_rater, is_stimulus = votes.sum_by_rater() > 0, votes.sum_by_stimulus() > 0
    quality, se = nan_unless(quality, is_stimulus), nan_unless(se, is_stimulus & spread.is_known)
    low, high = (np.sqrt(spread.freedom * variance / scipy.stats.chi2.ppf(at, spread.freedom)) for at in (0.975, 0.025))
    is_rater_known = is_rater & spread.is_known
    half = _half_widths(votes, biases.variance, spread) if has_spread else np.zeros(votes.stimuli)
    return RaterModelFit(
        quality=quality,
        se=se,
        low=quality - np.where(np.isnan(se), np.nan, half),
        high=quality + np.where(np.isnan(se), np.nan, half),
        bias=nan_unless(biases.bias, is_rater),
        inconsistency=nan_unless(np.sqrt(variance), is_rater_known),
        inconsistency_low=nan_unless(low, is_rater_known),
        inconsistency_high=nan_unless(high, is_rater_known),
        is_rejected=np.zeros(votes.raters, dtype=bool),
        component=component,
    )


# Intervals that know that bias and inconsistency were estimated


_MAX_SOLVED = 2000
"""Stimuli or raters, whichever are fewer, up to which the errors of all biases are solved for together."""


def _half_widths(votes: RaterVotes, bias_variance: float, spread: _RaterVariances) -> Floats:
    """Return half the width of the 95 % interval of every stimulus.

    Its variance is that of least squares with random biases, in which raters are a sample and their mean bias is
    unknown; its degrees of freedom are those on which the inconsistencies of its raters rest.
    """
    weight = 1 / spread.variance
    total = votes.sum_by_stimulus(weight[votes.rater])
    variance = ratio(np.ones(votes.stimuli), total) + _bias_errors(votes, weight, total, bias_variance)
    freedom = ratio(total**2, votes.sum_by_stimulus((weight**2 / spread.freedom)[votes.rater]))
    return np.asarray(stdtrit(np.maximum(freedom, 1.0), 0.975) * np.sqrt(variance), np.float64)


def _bias_errors(votes: RaterVotes, weight: Floats, total: Floats, bias_variance: float) -> Floats:
    """Return what estimated biases, and raters that are a sample, add to the variance of every stimulus."""
    if bias_variance <= _MIN_VARIANCE:
        return np.zeros(votes.stimuli)
    counts, each = vote_counts(votes), votes.sum_by_rater()
    # How sure a rater's bias would be if all qualities were known.
    known = 1 / (weight * each + 1 / bias_variance)
    pulls = counts.multiply(weight[:, None]).multiply(ratio(np.ones(votes.stimuli), total)[None]).tocsr()
    if min(votes.raters, votes.stimuli) > _MAX_SOLVED:
        # One step of the solution, and the error of the mean bias of all.
        return np.asarray(pulls.power(2).T @ known + bias_variance / np.maximum((each > 0).sum(), 1), np.float64)
    crossed = counts.multiply(weight[:, None]).tocsr()
    if votes.raters <= votes.stimuli:
        left = np.diag(1 / known) - (crossed @ pulls.T).toarray()
        return np.asarray(np.einsum("ij,ij->j", pulls.toarray(), np.linalg.solve(left, pulls.toarray())), np.float64)
    filled = np.where(total > 0, total, 1.0)
    left = np.diag(filled) - (crossed.T @ crossed.multiply(known[:, None])).toarray()
    return np.asarray(np.diag(np.linalg.inv(left)) - 1 / filled, np.float64)


# Rater variances, shrunken towards their common variance (reference: statistics 3.5)


_MIN_NU, _MAX_NU = 1.0, 100.0
_MIN_DF = 0.5
_NEARLY_NOTHING = 1e-4
"""Of the common variance: a rater without residuals has no logarithm, and says nothing about how raters differ."""


class _RaterVariances(NamedTuple):
    """Variances of raters, and the degrees of freedom each rests on."""

    variance: Floats
    freedom: Floats
    is_known: bool
    """Whether the votes leave anything to estimate a variance from."""


def _unknown_variances(raters: int) -> _RaterVariances:
    """Return equal variances, for where nothing is known yet."""
    return _RaterVariances(np.ones(raters), np.ones(raters), is_known=False)


def _shrunken_variances(squares: Floats, freedom: Floats, least: float) -> _RaterVariances:
    """Return the variances from every rater's sum of squared residuals and degrees of freedom, none below `least`."""
    if freedom.sum() <= _MIN_DF:
        return _unknown_variances(len(squares))
    pooled = float(squares.sum() / freedom.sum())
    nu = _prior_freedom(squares, freedom, pooled)
    return _RaterVariances(np.maximum((squares + nu * pooled) / (freedom + nu), least), freedom + nu, is_known=True)


def _prior_freedom(squares: Floats, freedom: Floats, pooled: float) -> float:
    """Return how many votes the common variance is worth: few where raters differ, many where they are alike."""
    can_tell = (freedom >= 1) & (squares > _NEARLY_NOTHING * pooled * freedom)
    if can_tell.sum() < 2:
        return _MAX_NU
    logs = np.log(squares[can_tell] / freedom[can_tell])
    beyond_chance = float(logs.var() - polygamma(1, freedom[can_tell] / 2).mean())
    return float(np.clip(2 / beyond_chance, _MIN_NU, _MAX_NU)) if beyond_chance > 0 else _MAX_NU
