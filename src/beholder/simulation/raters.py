"""Rater models: what a simulated person perceives, for all stimuli at once, and which checks they cannot pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beholder.checks.page_contract import RobotAbilities as Able
from beholder.errors import Problem, UserError, did_you_mean
from beholder.simulation.truth import Population, Truth, keyed_rng
from beholder.study.qualification import RULES

Percepts = NDArray[np.float64]
Number = float | Percepts
"""One number, or one for each of many."""

_SHARP, _MEDIAN, _SLOPPY = 0.117, 0.147, 0.195
"""Inconsistency of the rater at the 10th, the 50th and the 95th percentile of the data in `population.PUBLIC`. Their
votes are of one visit each, so all of it counts as new each time: repeats of real people agree better."""
_NOISY = 0.25
"""More than anybody in the data had."""
_GUESS, _GUESS_SD = 0.6, 0.2
"""What somebody makes up who has seen nothing and wants to look as if they had."""


class RaterTraits(NamedTuple):
    """What somebody is: how what they look at, and what changes each time they look, becomes what they perceive."""

    level: Number
    noise: Number
    sees: Number = 0.0
    """1 for who looks, 0 for who makes it up."""
    gain: Number = 1.0
    tires: Number = 0.0
    lapses: Number = 0.0


TraitModel = Callable[[Population, Generator], RaterTraits]
"""From what all have in common to somebody, by chance of their own."""


def _rating_model(share: float | None = None) -> TraitModel:
    """Return the model of somebody who rates what they perceive: with a bias of their own, and wavering.

    Their inconsistency is a share of that in the middle, or as it comes.
    """

    def person(people: Population, own: Generator) -> RaterTraits:
        bias, wavering, gain = own.standard_normal(3)
        differs = share if share is not None else math.exp(people.inconsistency_spread * wavering)
        return RaterTraits(
            level=people.bias * bias,
            noise=people.inconsistency * differs,
            sees=1.0,
            gain=math.exp(people.gain_spread * gain),
            tires=people.fatigue,
            lapses=people.lapse,
        )

    return person


def _careless(people: Population, own: Generator) -> RaterTraits:
    return RaterTraits(0.0, 1.0)


def _straight(people: Population, own: Generator) -> RaterTraits:
    return RaterTraits(own.uniform(0.2, 0.8), 0.0)


def _middle(people: Population, own: Generator) -> RaterTraits:
    return RaterTraits(0.5, 0.0)


def _guessing(people: Population, own: Generator) -> RaterTraits:
    return GUESSING


GUESSING = RaterTraits(_GUESS, _GUESS_SD)
_honest = _rating_model()
RATERS: Mapping[str, TraitModel] = {
    "sharp": _rating_model(_SHARP / _MEDIAN), "honest": _honest, "sloppy": _rating_model(_SLOPPY / _MEDIAN),
    "noisy": _rating_model(_NOISY / _MEDIAN), "careless": _careless, "straight": _straight, "middle": _middle,
    "copies": _honest, "skips": _honest, "forges": _guessing, "visible": _honest, "shares": _honest, "tabs": _honest,
    "replays": _honest, "fast": _honest, "away": _honest,
}  # fmt: skip
"""Kinds of raters by name. What else a kind does is in `habits` and `cheats`."""
UNIFORM_KINDS = frozenset({"careless"})
"""Kinds that answer anywhere on the scale alike."""
_UNABLE_PREFIX = "unable-"
_CHECK_VARIANTS = (
    "brightness_second", "pitch", "training", "media:fullscreen", "media:sound", "network:slow", "remote:hints",
    "colour:protan", "colour:deutan", "distance:near", "distance:far", "distance:unclear", "sides:mono",
    "sides:swapped",
)  # fmt: skip
UNABLE: Mapping[str, str] = {f"{_UNABLE_PREFIX}{name.replace(':', '-')}": name for name in (*RULES, *_CHECK_VARIANTS)}
"""Kinds that rate as honest people do and cannot pass one check, as `unable-colour` or, of a way, `unable-sides-mono`:
from their name to what `Robot.fails` holds."""


def abilities_of(kind: str) -> Able:
    """Return what a robot of this kind is able to do."""
    return Able(frozenset({UNABLE[kind]})) if kind in UNABLE else Able()


def draw_traits(kind: str, people: Population, own: Generator) -> RaterTraits:
    """Return somebody of a kind."""
    return (_honest if kind in UNABLE else RATERS[kind])(people, own)


def draw_noise(kind: str, now: Generator, shape: tuple[int, ...]) -> Percepts:
    """Return what changes each time that somebody of a kind looks."""
    return now.random(shape) if kind in UNIFORM_KINDS else now.standard_normal(shape)


def perceived_strength(
    person: RaterTraits, quality: Number, waver: Number, *, shift: Number = 0.0, progress: Number = 0.0
) -> Number:
    """Return what is perceived of a quality, before the ends of the scale are met.

    `shift` is what taste and the trial before do to it, `progress` how far the session has come, from 0 to 1.
    """
    noise = person.noise * (1 + person.tires * progress)
    strength = person.sees * (quality + shift) + person.level + noise * waver
    return strength + (person.gain - 1) * (strength - 0.5)


def perceive(
    kind: str, truth: Truth, seed: int, participant: str, *, again: bool = False, people: Population | None = None
) -> Percepts:
    """Return what this participant perceives, between 0 and 1, shaped as the truth; or when they look `again`."""
    person = draw_traits(kind, people or Population(), keyed_rng(seed, "rater", participant))
    now = keyed_rng(seed, "again" if again else "once", participant)
    return np.clip(perceived_strength(person, truth.quality, draw_noise(kind, now, truth.quality.shape)), 0, 1)


def read_mixture(spec: str) -> dict[str, float]:
    """Return the shares of a mixture such as `honest:0.9,careless:0.1`, adding up to one."""
    shares: dict[str, float] = {}
    for part in spec.split(","):
        name, _, share = part.strip().partition(":")
        if name not in RATERS and name not in UNABLE:
            kinds = f"{', '.join(RATERS)}, or {_UNABLE_PREFIX} and the name of a check, as in {_UNABLE_PREFIX}colour"
            guess = did_you_mean(name, [*RATERS, *UNABLE])
            raise UserError(Problem("--raters", f"{name!r} is no kind of rater", kinds, guess))
        try:
            shares[name] = float(share or 1)
        except ValueError:
            raise UserError(
                Problem("--raters", f"{share!r} is no share", "a number above 0, as in honest:0.9")
            ) from None
        if not 0 < shares[name] < math.inf:
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
