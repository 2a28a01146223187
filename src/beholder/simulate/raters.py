"""Rater models: what a simulated person perceives, for all stimuli at once, and which checks they cannot pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beholder.checks.contract import Robot as Able
from beholder.errors import Problem, UserError, did_you_mean
from beholder.simulate.chance import keyed_rng
from beholder.simulate.truth import Truth
from beholder.study.qualification import RULES

Percepts = NDArray[np.float64]
_BIAS_SD = 0.06


def _honest(quality: Percepts, rng: Generator) -> Percepts:
    return quality + rng.normal(0, _BIAS_SD) + rng.normal(0, 0.1, quality.shape)


def _noisy(quality: Percepts, rng: Generator) -> Percepts:
    return quality + rng.normal(0, _BIAS_SD) + rng.normal(0, 0.25, quality.shape)


def _careless(quality: Percepts, rng: Generator) -> Percepts:
    return rng.uniform(0, 1, quality.shape)


def _straight(quality: Percepts, rng: Generator) -> Percepts:
    return np.full(quality.shape, rng.uniform(0.2, 0.8))


RATERS: Mapping[str, Callable[[Percepts, Generator], Percepts]] = {
    "honest": _honest,
    "noisy": _noisy,
    "careless": _careless,
    "straight": _straight,
}
"""Kinds of raters by name: from the latent quality of all stimuli to what one of them perceives."""
_UNABLE = "unable-"
_WAYS = (
    "brightness_second", "pitch", "training", "media:fullscreen", "media:sound", "network:slow", "remote:hints",
    "colour:protan", "colour:deutan", "distance:near", "distance:far", "distance:unclear", "sides:mono",
    "sides:swapped",
)  # fmt: skip
UNABLE: Mapping[str, str] = {f"{_UNABLE}{name.replace(':', '-')}": name for name in (*RULES, *_WAYS)}
"""Kinds that rate as honest people do and cannot pass one check, as `unable-colour` or, of a way, `unable-sides-mono`:
from their name to what `Robot.fails` holds."""


def ability(kind: str) -> Able:
    """Return what a robot of this kind is able to do."""
    return Able(frozenset({UNABLE[kind]})) if kind in UNABLE else Able()


def perceive(kind: str, truth: Truth, seed: int, participant: str) -> Percepts:
    """Return what this participant perceives, between 0 and 1, shaped as the truth."""
    rate = _honest if kind in UNABLE else RATERS[kind]
    return np.clip(rate(truth.quality, keyed_rng(seed, "rater", participant)), 0, 1)


def read_mixture(spec: str) -> dict[str, float]:
    """Return the shares of a mixture such as `honest:0.9,careless:0.1`, adding up to one."""
    shares: dict[str, float] = {}
    for part in spec.split(","):
        name, _, share = part.strip().partition(":")
        if name not in RATERS and name not in UNABLE:
            kinds = f"{', '.join(RATERS)}, or {_UNABLE} and the name of a check, as in {_UNABLE}colour"
            guess = did_you_mean(name, [*RATERS, *UNABLE])
            raise UserError(Problem("--raters", f"{name!r} is no kind of rater", kinds, guess))
        try:
            shares[name] = float(share or 1)
        except ValueError:
            raise UserError(
                Problem("--raters", f"{share!r} is no share", "a number above 0, as in honest:0.9")
            ) from None
        if not shares[name] > 0:
            raise UserError(Problem("--raters", f"{share!r} is no share", "a number above 0, as in honest:0.9"))
    whole = sum(shares.values())
    return {name: share / whole for name, share in shares.items()}


def assign_kinds(mixture: Mapping[str, float], count: int, seed: int) -> list[str]:
    """Return the kind of each of `count` raters, as near to the shares as whole people allow, in random order."""
    edges = np.floor(np.cumsum(list(mixture.values())) * count + 0.5).astype(int)
    edges[-1] = count
    kinds = [name for name, many in zip(mixture, np.diff(edges, prepend=0), strict=True) for _ in range(many)]
    order = keyed_rng(seed, "kinds").permutation(count)
    return [kinds[place] for place in order]
