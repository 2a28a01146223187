"""Rater models: the traits of simulated people by kind, what they perceive, and mixtures of kinds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beholder.checks.known_answers import TRAINING
from beholder.checks.page_contract import RobotAbilities
from beholder.checks.page_registry import page_check_kinds
from beholder.errors import Problem, UserError, did_you_mean
from beholder.simulation.truth import Population, Truth, keyed_rng

Percepts = NDArray[np.float64]
Number = float | Percepts
"""One number, or one for each of many."""

_SHARP, _MEDIAN, _SLOPPY = 0.117, 0.147, 0.195
"""Inconsistency of the rater at the 10th, the 50th and the 95th percentile of the data of `Population`. These data have
no repeats, so all of it counts as noise: repeated ratings of real people agree better."""
_NOISY = 0.25
"""More than anybody in these data."""
_GUESS, _GUESS_SD = 0.6, 0.2
"""Mean and standard deviation of plausible guesses without having seen the stimulus."""


class RaterTraits(NamedTuple):
    """The traits of a rater: how quality and noise become a percept."""

    level: Number
    noise: Number
    sees: Number = 0.0
    """1 for a rater who looks, 0 for one who guesses."""
    gain: Number = 1.0
    tires: Number = 0.0
    lapses: Number = 0.0


TraitModel = Callable[[Population, Generator], RaterTraits]
"""Draws the traits of a rater from a population."""


def _rating_model(share: float | None = None) -> TraitModel:
    """Return the model of a rater who rates the percept, with a bias and with inconsistency.

    The inconsistency is a multiple (`share`) of the median, or random.
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
"""Kinds of raters by name. Habits are in `participants`, other requests in `cheats`."""
UNIFORM_KINDS = frozenset({"careless"})
"""Kinds whose answers are uniform over the scale."""
_UNABLE_PREFIX = "unable-"


def unable_kinds() -> Mapping[str, str]:
    """Return the kinds that rate like `honest` and fail one check, such as `unable-colour`, or a variant of it.

    From their name to the entry of `RobotAbilities.fails`.
    """
    kinds = page_check_kinds().values()
    names = [kind.name for kind in sorted(kinds, key=lambda kind: bool(kind.switch))]
    variants = [f"{kind.name}:{variant}" for kind in kinds for variant in kind.variants]
    return {f"{_UNABLE_PREFIX}{name.replace(':', '-')}": name for name in (*names, TRAINING, *variants)}


def abilities_of(kind: str) -> RobotAbilities:
    """Return the abilities of a kind."""
    unable = unable_kinds().get(kind) if kind.startswith(_UNABLE_PREFIX) else None
    return RobotAbilities(frozenset({unable} if unable else ()))


def draw_traits(kind: str, people: Population, own: Generator) -> RaterTraits:
    """Return the traits of a new rater of a kind."""
    return (_honest if kind.startswith(_UNABLE_PREFIX) else RATERS[kind])(people, own)


def draw_noise(kind: str, now: Generator, shape: tuple[int, ...]) -> Percepts:
    """Return the noise of percepts of a kind."""
    return now.random(shape) if kind in UNIFORM_KINDS else now.standard_normal(shape)


def perceived_strength(
    person: RaterTraits, quality: Number, waver: Number, *, shift: Number = 0.0, progress: Number = 0.0
) -> Number:
    """Return the percept of a quality before clipping to the scale.

    `shift` is the effect of taste and carry-over, `progress` the progress of the session from 0 to 1.
    """
    noise = person.noise * (1 + person.tires * progress)
    strength = person.sees * (quality + shift) + person.level + noise * waver
    return strength + (person.gain - 1) * (strength - 0.5)


def perceive(
    kind: str, truth: Truth, seed: int, participant: str, *, again: bool = False, people: Population | None = None
) -> Percepts:
    """Return what a participant perceives, from 0 to 1, in the shape of the truth; `again` for repeats."""
    person = draw_traits(kind, people or Population(), keyed_rng(seed, "rater", participant))
    now = keyed_rng(seed, "again" if again else "once", participant)
    return np.clip(perceived_strength(person, truth.quality, draw_noise(kind, now, truth.quality.shape)), 0, 1)


def read_mixture(spec: str) -> dict[str, float]:
    """Return the shares of a mixture such as `honest:0.9,careless:0.1`, adding up to one."""
    shares: dict[str, float] = {}
    for part in spec.split(","):
        name, _, share = part.strip().partition(":")
        if name not in RATERS and name not in unable_kinds():
            kinds = f"{', '.join(RATERS)}, or {_UNABLE_PREFIX} and the name of a check, as in {_UNABLE_PREFIX}colour"
            guess = did_you_mean(name, [*RATERS, *unable_kinds()])
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
    """Return the kind of each of `count` raters, as near to the shares as possible, in random order."""
    edges = np.floor(np.cumsum(list(mixture.values())) * count + 0.5).astype(int)
    edges[-1] = count
    kinds = [name for name, many in zip(mixture, np.diff(edges, prepend=0), strict=True) for _ in range(many)]
    order = keyed_rng(seed, "kinds", *([str(run)] if run > 1 else [])).permutation(count)
    return [kinds[place] for place in order]
