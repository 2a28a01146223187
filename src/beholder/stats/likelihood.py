"""The most likely variances of a mixed model, by ML or REML."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beholder.stats.mixed_equations import NO_SPREAD, Equations, Floats, Solved

_LOWEST, _HIGHEST = -20.0, 16.0
"""Logarithms between which ratios are looked for."""
_NEAR_ZERO = -9.0
"""Where the likelihood still grows towards a ratio of zero from here, it is highest at zero."""
_START = -1.0
_STEP, _FURTHEST, _DONE, _MOST = 1e-4, 3.0, 1e-8, 60


class Fit(NamedTuple):
    """The variances at the maximum of the likelihood, and the equations solved there."""

    noise: float
    variances: Floats
    """Of each random factor, in the order of the equations."""
    llf: float
    """The logarithm of the likelihood; REML's can only be compared between models with the same fixed effects."""
    ratios: Floats
    """The variances in units of noise."""
    solved: Solved
    is_exact: bool
    """Whether the model leaves nothing to chance, so that nothing can be said of errors."""


class _Point(NamedTuple):
    """Minus twice the log-likelihood, but for a constant, and how it grows with the logarithm of each ratio."""

    deviance: float
    slope: Floats
    solved: Solved


def fit(model: Equations, *, is_reml: bool, near: Floats | None = None) -> Fit:
    """Return the fit of a mixed model; a variance is zero where the likelihood is highest there.

    `near` are ratios to begin with, such as those of a similar model.
    """
    free = model.n - model.fixed if is_reml else model.n
    ratios = np.exp(_highest(model, free, is_reml, near))
    best = _at(model, ratios, free, is_reml)
    for place in np.flatnonzero(ratios < math.exp(_NEAR_ZERO)):
        without = np.where(np.arange(len(ratios)) == place, 0.0, ratios)
        other = _at(model, without, free, is_reml)
        if other.deviance <= best.deviance + _DONE:
            ratios, best = without, other
    noise = best.solved.squares / free
    llf = -0.5 * (best.deviance + free * (math.log(2 * math.pi / free) + 1))
    is_exact = best.solved.squares <= 1e3 * NO_SPREAD * max(model.squares, NO_SPREAD)
    return Fit(noise, noise * ratios, llf, ratios, best.solved, is_exact)


def _highest(model: Equations, free: int, is_reml: bool, near: Floats | None) -> Floats:
    """Return the logarithms of the ratios at the maximum, by a quasi-Newton method with halved steps."""
    many = len(model.randoms)
    logs = np.full(many, _START) if near is None else np.log(np.maximum(near, math.exp(_NEAR_ZERO)))
    here = _at(model, np.exp(logs), free, is_reml)
    ahead = [_at(model, np.exp(logs + _STEP * unit), free, is_reml).slope for unit in np.eye(many)]
    bend = (np.array(ahead) - here.slope) / _STEP
    for _ in range(_MOST):
        lengths, axes = np.linalg.eigh((bend + bend.T) / 2)
        # Where the likelihood bends the wrong way, its slope still says where to go.
        step = -axes @ ((axes.T @ here.slope) / np.maximum(np.abs(lengths), _DONE))
        step = np.clip(step, -_FURTHEST, _FURTHEST)
        step[(logs < _NEAR_ZERO) & (here.slope > 0)] = _LOWEST
        while True:
            there = np.clip(logs + step, _LOWEST, _HIGHEST)
            found = _at(model, np.exp(there), free, is_reml)
            if found.deviance <= here.deviance + _DONE or np.abs(step).max() < _DONE:
                break
            step = step / 2
        moved = there - logs
        bend = _bent(bend, moved, found.slope - here.slope)
        logs, here = there, found
        if np.abs(moved).max() < _DONE:
            break
    return logs


def _bent(bend: Floats, moved: Floats, change: Floats) -> Floats:
    """Return the bend of the likelihood after a step over which its slope changed so (symmetric rank one)."""
    missed = change - bend @ moved
    weight = float(missed @ moved)
    if abs(weight) <= _DONE * float(np.linalg.norm(missed) * np.linalg.norm(moved)) or not weight:
        return bend
    return bend + np.outer(missed, missed) / weight


def _at(model: Equations, ratios: Floats, free: int, is_reml: bool) -> _Point:
    solved = model.solve(ratios, is_reml=is_reml)
    factors = (model.eliminated, *model.rest)
    own = [np.square(b).sum() for one, b in zip(factors, solved.effects, strict=True) if one.is_random]
    slope = solved.slopes - free * np.array(own) / solved.squares
    return _Point(free * math.log(solved.squares) + solved.logdet, slope, solved)
