"""Looks at data that are still coming: levels and p-values that hold for all looks together.

A difference that is tested again and again at 5 % is found by chance far more often than in 5 % of studies. Two ways
out: looks that are planned share one error rate (Lan and DeMets 1983, Biometrika 70, with the spending function of
O'Brien and Fleming's boundaries; intervals and p-values after Jennison and Turnbull 1989, Journal of the Royal
Statistical Society B 51); and an asymptotic confidence sequence holds at every moment, planned or not (Waudby-Smith,
Arbour, Sinha, Kennedy and Ramdas 2024, Annals of Statistics 52). Who looks without a plan may also test at the number
of people that was planned: then one error rate is shared by that test and by all looks before and after it.

People are the units. Both come out as the level of an interval that is computed as ever, and as a p-value made from the
usual one, so that a corrected interval leaves out zero exactly where its corrected p-value is below 5 %. Where an error
has a part that more people do not reduce, as that of contents, looks are more alike than assumed and the rate is lower.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.formats import percent
from beholder.stats.intervals import LEVEL

SPENDING_CITATION = (
    "Lan and DeMets (1983), Biometrika 70; Jennison and Turnbull (1989), Journal of the Royal Statistical Society B 51"
)
ANYTIME_CITATION = "Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024), Annals of Statistics 52"
CLOCK_CITATION = "Howard, Ramdas, McAuliffe and Sekhon (2021), Annals of Statistics 49"
SHARED_CITATION = "Bonferroni's inequality"
ALPHA = 1 - LEVEL
Floats = NDArray[np.float64]
LookKind = Literal["planned", "anytime", "fixed"]
OFF_PLAN = 0.2
"""Share of the error rate for looks without a plan; the rest is for the test at the number of people that was planned.

Either may find something, so that each alone at 5 % would be wrong in more than 5 % of studies together.
"""

_FEWER = 0.05
"""Which share of the people may be missing at a planned look, as ratings of some are not used."""
_MOST_LEVEL = 1 - 1e-12
"""Of a look at very few people, at which nothing could be found: wider intervals would only lose their digits."""
_TAIL = 8.0
"""Standard deviations beyond which a density is nothing."""
_STEP = 0.6
"""Distance of the points of an integral, in standard deviations of what is added between two looks."""
_MOST_POINTS = 401
_ERROR_RATES = np.concatenate([np.logspace(-12, -2, 21)[:-1], np.linspace(0.01, 0.1, 19)[:-1], np.linspace(0.1, 1, 13)])
"""Error rates at which boundaries are computed, 5 % among them; between them p-values are interpolated."""


@dataclass(frozen=True)
class LookCorrection:
    """What a look at some of the people does to intervals and p-values."""

    kind: LookKind
    participants: int
    """Whose ratings are looked at."""
    planned: int
    """At the last look; where none is planned, those for whom the intervals are narrowest."""
    number: int
    """Which look of the plan this is, from 1; 0 where none is planned."""
    looks: int
    """How many there will be: those that were taken, this one, and what is still planned."""
    level: float
    """Of an interval that holds for all looks together at 95 %."""
    shares: tuple[float, ...] = ()
    """The share of all people at each look up to this one; of those who came where nobody else will."""
    spent_at: tuple[float, ...] = ()
    """The share of the planned people at which the error rate was spent, at each of these looks."""

    @property
    def is_last(self) -> bool:
        """Whether no further look is to come."""
        return self.kind == "planned" and self.number == self.looks

    @property
    def citation(self) -> str:
        """The source of the correction."""
        return {"planned": SPENDING_CITATION, "anytime": ANYTIME_CITATION, "fixed": SHARED_CITATION}[self.kind]

    @property
    def note(self) -> str:
        """What a table with corrected intervals and p-values says of it, with a space before."""
        if self.kind == "anytime":
            return (
                " Intervals and p-values hold whenever one looks: they are those of a confidence sequence over people."
            )
        if self.kind == "fixed":
            return (
                f" Results were looked at before without a plan: {percent(OFF_PLAN)} of the error rate are for "
                f"that, and intervals are those of {percent(self.level)}."
            )
        look = f"look {self.number} of {self.looks}, {self.participants} of {self.planned} participants"
        return f" Intervals and p-values hold for all looks together ({look})."

    def p(self, p: ArrayLike) -> Floats:
        """Return p-values that hold for all looks together: below 5 % where an interval of this level leaves out 0."""
        own = np.asarray(p, np.float64)
        if self.kind == "anytime":
            return _anytime_p(own, _mixture(self.participants, self.planned))
        if self.kind == "fixed":
            return np.asarray(np.minimum(1.0, own / (1 - OFF_PLAN)), np.float64)
        if self.shares == self.spent_at == (1.0,):
            return own
        levels = _levels_at_last(self.shares, self.spent_at)
        z, known = special.ndtri(np.clip(own, 1e-300, 1) / 2), special.ndtri(levels / 2)
        rate = special.ndtri(_ERROR_RATES / 2)
        # Beyond the smallest rate the ratio of the two is that of the last point.
        beyond = np.where(z < known[0], z * rate[0] / known[0], np.interp(z, known, rate))
        return np.where(np.isnan(own), np.nan, np.clip(2 * special.ndtr(beyond), own, 1.0))


def planned_look(
    participants: int, looks: Sequence[int], taken: Iterable[int] | None = None, *, is_over: bool = False
) -> LookCorrection:
    """Return the correction for a look at so many people, where looks at these numbers are planned, the last one last.

    `taken` are the numbers at looks that were taken before; when left out, those of the plan that come before this one,
    which may have some people more or one in twenty fewer than planned. Beyond the plan, and where it `is_over` because
    everybody has come and not because of what was seen, it is the last look: all that is left is spent there.
    """
    last = looks[-1]
    now = min(participants, last)
    due = [number for number in looks if number <= participants / (1 - _FEWER)]
    before = due[:-1] if taken is None else taken
    history = (*sorted({number for number in before if 0 < number < now}), now)
    is_over = is_over or now == last
    is_last = is_over or len(due) == len(looks)
    shares = tuple(number / (now if is_over else last) for number in history)
    spent_at = (*(number / last for number in history[:-1]), 1.0 if is_over else now / last)
    level = LEVEL if shares == spent_at == (1.0,) else float(1 - spending_levels(shares, spent_at=spent_at)[-1])
    # A look at fewer people than at any of the plan stands for the next of them.
    total = len(history) if is_last else max(len(looks), len(history) + 1)
    return LookCorrection("planned", participants, last, len(history), total, min(level, _MOST_LEVEL), shares, spent_at)


def anytime_look(participants: int, expected: int) -> LookCorrection:
    """Return the correction that holds at every moment; intervals of its kind are narrowest at `expected` people.

    It spends what the test at the number that was planned leaves of the error rate.
    """
    mixture = _mixture(participants, expected)
    z = math.sqrt((mixture + 1) / mixture * (math.log1p(mixture) - 2 * math.log(OFF_PLAN * ALPHA)))
    level = min(1 - 2 * float(special.ndtr(-z)), _MOST_LEVEL)
    return LookCorrection("anytime", participants, expected, 0, 0, level)


def fixed_look(participants: int) -> LookCorrection:
    """Return the correction at the number of people that was planned, where results were seen before without a plan."""
    return LookCorrection("fixed", participants, participants, 0, 0, 1 - (1 - OFF_PLAN) * ALPHA)


# Planned looks


def spent(alpha: ArrayLike, fraction: ArrayLike) -> Floats:
    """Return how much of an error rate is spent when this share of the people is there.

    Lan and DeMets' first function, of half the rate on either side, as in programs for clinical trials.
    """
    share = np.clip(np.asarray(fraction, np.float64), 1e-12, 1.0)
    z = special.ndtri(np.asarray(alpha, np.float64) / 4)
    return np.asarray(4 * special.ndtr(z / np.sqrt(share)), np.float64)


def spending_levels(
    fractions: Sequence[float], alpha: float = ALPHA, *, spent_at: Sequence[float] | None = None
) -> Floats:
    """Return the two-sided level of the test at each look, at these shares of the people, so that all spend `alpha`.

    `spent_at` are other shares at which it is spent, where there are more or fewer people in the end than planned.
    """
    times = np.asarray(fractions, np.float64)
    clock = times if spent_at is None else np.asarray(spent_at, np.float64)
    bounds: list[float] = []
    points = weights = density = np.zeros(0)
    used = before = 0.0
    for place, time in enumerate(times):
        more = float(spent(alpha, clock[place])) - used
        used += more
        sd = math.sqrt(time - before)
        bound = -sd * float(special.ndtri(more / 2)) if place == 0 else _bound(points, weights * density, sd, more)
        bounds.append(bound)
        if place == len(times) - 1:
            break
        ends = min(bound, _TAIL * math.sqrt(time))
        following = math.sqrt(times[place + 1] - time)
        # As fine as the narrower of what was added and what is added next.
        count = min(_MOST_POINTS, max(41, 2 * math.ceil(ends / (_STEP * min(sd, following))) + 1))
        nodes, node_weights = _gauss(count)
        at = ends * nodes
        if place == 0:
            here = np.exp(-0.5 * (at / sd) ** 2) / (sd * math.sqrt(2 * math.pi))
        else:
            steps = (at[:, np.newaxis] - points) / sd
            here = np.exp(-0.5 * steps**2) @ (weights * density) / (sd * math.sqrt(2 * math.pi))
        points, weights, density, before = at, ends * node_weights, here, time
    return np.asarray(2 * special.ndtr(-np.array(bounds) / np.sqrt(times)), np.float64)


def _bound(points: Floats, mass: Floats, sd: float, more: float) -> float:
    """Return how far out a path has to be so that this share of all leaves on either side, and has not before."""

    def above(bound: float) -> float:
        return 2 * float(mass @ special.ndtr((points - bound) / sd)) - more

    top = _TAIL + _TAIL * sd + float(points[-1])
    return float(scipy.optimize.brentq(above, 0.0, top, xtol=1e-10)) if above(0.0) > 0 > above(top) else top


@lru_cache(maxsize=64)
def _gauss(count: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return nodes, weights


@lru_cache(maxsize=64)
def _levels_at_last(shares: tuple[float, ...], spent_at: tuple[float, ...]) -> Floats:
    """Return the level of the test at the last of these looks, for each of `_ERROR_RATES`; never falling with it."""
    rates = np.minimum(_ERROR_RATES, 1 - 1e-9)
    levels = np.array([spending_levels(shares, float(rate), spent_at=spent_at)[-1] for rate in rates])
    return np.asarray(np.minimum.accumulate(levels[::-1])[::-1], np.float64)


# Looks at any time


def _mixture(participants: int, expected: int) -> float:
    """Return n rho squared, where rho makes the sequence narrowest at the expected number of people."""
    a = -2 * math.log(OFF_PLAN * ALPHA)
    return participants * (a + math.log(a + 1)) / expected


def _anytime_p(p: Floats, mixture: float) -> Floats:
    z = special.ndtri(np.clip(p, 1e-300, 1) / 2)
    log = 0.5 * (math.log1p(mixture) - z**2 * mixture / (mixture + 1))
    return np.where(np.isnan(p), np.nan, np.clip(np.exp(np.minimum(log, 0.0)) / OFF_PLAN, p, 1.0))


# Looks after every person, of a study that does not end


_NARROWEST_SE = 0.15
"""The standard error, in logits, at which the sequence of an arena is narrowest: it differs little from 0.02 to 0.5."""


def accumulated(se: ArrayLike) -> Floats:
    """Return how far a confidence sequence has come, from the standard error of what it follows.

    Information stands for time (Howard, Ramdas, McAuliffe and Sekhon 2021), so that what is followed from later on,
    as a condition that joins, has a clock of its own; and a part of the error that more people do not reduce, as that
    of contents, stops it: estimates at two looks covary as their errors say, with or without such a part.
    """
    error = np.asarray(se, np.float64)
    a = -2 * math.log(ALPHA)
    with np.errstate(divide="ignore"):
        return np.asarray((a + math.log(a + 1)) * (_NARROWEST_SE / error) ** 2, np.float64)


def sequence_quantile(progress: ArrayLike, alpha: ArrayLike = ALPHA) -> Floats:
    """Return how many standard errors an interval reaches that holds at all looks together, with normal errors.

    Waudby-Smith and others (2024), with a rate of `alpha` for a whole sequence; `progress` is what `accumulated` says.
    """
    m = np.asarray(progress, np.float64)
    return np.asarray(np.sqrt((1 + 1 / m) * (np.log1p(m) - 2 * np.log(np.asarray(alpha, np.float64)))), np.float64)


def sequence_log_e(z: ArrayLike, progress: ArrayLike) -> Floats:
    """Return the logarithm of the e-value that belongs to the sequence: how far the data speak against no difference.

    It is above -log(alpha) exactly where the interval at that rate leaves out zero, whenever one looks.
    """
    m = np.asarray(progress, np.float64)
    return np.asarray(0.5 * (np.square(z) * m / (m + 1) - np.log1p(m)), np.float64)


# Chances at the last look


def conditional_power(
    difference: ArrayLike, se: ArrayLike, share: float, *, shared: ArrayLike = 0.0, level: ArrayLike = LEVEL
) -> Floats:
    """Return the chance that a difference is clear with all people, if it is as large as it looks now.

    `share` of them are there; `shared` is the part of the squared error that more people do not reduce; `level` is that
    of the last look.
    """
    size, error, stays = (np.asarray(one, np.float64) for one in (np.abs(difference), se, shared))
    stays = np.clip(stays, 0.0, error**2)
    moving = error**2 - stays
    final = np.sqrt(stays + moving * share)
    spread = np.sqrt(moving * share * (1 - share))
    distance = size - special.ndtri((1 + np.asarray(level, np.float64)) / 2) * final
    chance = np.where(spread > 0, special.ndtr(distance / np.where(spread > 0, spread, 1.0)), distance > 0)
    return np.asarray(chance, np.float64)
