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
Rater = Callable[[Percepts, Generator, Generator], Percepts]
"""From the latent quality of all stimuli to what one person perceives: by what they are, and by what changes each time
they look."""

# Shares of the scale, fitted to 24 people in a laboratory who rated 72 videos on five points (VQEG HDTV3), such that
# rounding to the scale gives ratings that measure as theirs: `tools/fit_raters.py` prints the whole distribution. Their
# votes are of one visit each, so all of the inconsistency counts as new each time: repeats of real people agree better.
_BIAS_SD = 0.117
_SHARP, _MEDIAN, _SLOPPY = 0.117, 0.147, 0.195
"""Inconsistency of the rater at the 10th, the 50th and the 95th percentile."""
_NOISY = 0.25
"""More than anybody in the data had."""
_GUESS, _GUESS_SD = 0.6, 0.2
"""What somebody makes up who has seen nothing and wants to look as if they had."""


def _person(noise: float) -> Rater:
    """Return the model of somebody who rates what they perceive: with a bias of their own, and wavering."""

    def perceives(quality: Percepts, own: Generator, now: Generator) -> Percepts:
        return quality + own.normal(0, _BIAS_SD) + now.normal(0, noise, quality.shape)

    return perceives


def _careless(quality: Percepts, own: Generator, now: Generator) -> Percepts:
    return now.uniform(0, 1, quality.shape)


def _straight(quality: Percepts, own: Generator, now: Generator) -> Percepts:
    return np.full(quality.shape, own.uniform(0.2, 0.8))


def _middle(quality: Percepts, own: Generator, now: Generator) -> Percepts:
    return np.full(quality.shape, 0.5)


def _made_up(quality: Percepts, own: Generator, now: Generator) -> Percepts:
    return now.normal(_GUESS, _GUESS_SD, quality.shape)


_honest = _person(_MEDIAN)
RATERS: Mapping[str, Rater] = {
    "sharp": _person(_SHARP), "honest": _honest, "sloppy": _person(_SLOPPY), "noisy": _person(_NOISY),
    "careless": _careless, "straight": _straight, "middle": _middle, "copies": _honest, "skips": _honest,
    "forges": _made_up, "visible": _honest, "shares": _honest, "tabs": _honest, "replays": _honest, "fast": _honest,
    "away": _honest,
}  # fmt: skip
"""Kinds of raters by name. What else a kind does is in `habits` and `cheats`."""
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


def perceive(kind: str, truth: Truth, seed: int, participant: str, *, again: bool = False) -> Percepts:
    """Return what this participant perceives, between 0 and 1, shaped as the truth; or when they look `again`."""
    rater = _honest if kind in UNABLE else RATERS[kind]
    own = keyed_rng(seed, "rater", participant)
    now = keyed_rng(seed, "again" if again else "once", participant)
    return np.clip(rater(truth.quality, own, now), 0, 1)


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


def assign_kinds(mixture: Mapping[str, float], count: int, seed: int, run: int = 1) -> list[str]:
    """Return the kind of each of `count` raters, as near to the shares as whole people allow, in random order."""
    edges = np.floor(np.cumsum(list(mixture.values())) * count + 0.5).astype(int)
    edges[-1] = count
    kinds = [name for name, many in zip(mixture, np.diff(edges, prepend=0), strict=True) for _ in range(many)]
    order = keyed_rng(seed, "kinds", *([str(run)] if run > 1 else [])).permutation(count)
    return [kinds[place] for place in order]
