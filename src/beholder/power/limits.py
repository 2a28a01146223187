"""What more participants cannot buy: how wide an interval stays because there are so many contents, and no more."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from scipy import special

from beholder.power.world import World
from beholder.stats.clustered import Floats
from beholder.stats.interval import LEVEL

_DRAWS = 200
_MOST = 10_000


def remains(world: World) -> float:
    """Return the half width, in points, that the interval of a difference keeps with participants without end.

    It comes from what conditions do to one content and not to another; NaN where contents are fixed, where there is
    one, and where no scale says how far two conditions are apart.
    """
    count = len(world.catalogue.contents)
    if world.contents == "fixed" or count < 2 or any(one.scale.min < 0 for one in world.method.questions(world.study)):
        return math.nan
    rows = {(one.condition, one.content): row for row, one in enumerate(world.catalogue.stimuli)}
    contents = world.catalogue.contents
    pairs = [
        [(rows[one, name], rows[other, name]) for name in contents if (one, name) in rows and (other, name) in rows]
        for one, other in combinations(world.quality, 2)
    ]
    truth, halves = world.truth, []
    for repetition in range(_DRAWS):
        said = _said(world, world.drawn(truth, repetition).quality[:, 0])
        for pair in pairs:
            if len(pair) > 1:
                apart = said[[one for one, _ in pair]] - said[[other for _, other in pair]]
                halves.append(_t(len(pair)) * float(apart.std(ddof=1)) / math.sqrt(len(pair)))
    return float(np.mean(halves)) * world.spans[0] if halves else math.nan


def contents_for(world: World, half: float, now: float) -> int | None:
    """Return how many contents leave a half width, where those that there are leave another; None for very many."""
    per_content = now / _worth(len(world.catalogue.contents))
    count = 2
    while per_content * _worth(count) >= half:
        count = count + 1 if count < 50 else round(count * 1.05)
        if count > _MOST:
            return None
    return count


def _said(world: World, quality: Floats) -> Floats:
    """Return what people say of a quality on average: what they would say beyond the ends of the scale, they cannot."""
    people = world.people
    spread = math.sqrt(people.bias**2 + people.inconsistency**2 + people.taste**2)
    if not spread:
        return quality
    low, high = -quality / spread, (1 - quality) / spread
    inside = special.ndtr(high) - special.ndtr(low)
    bent = np.exp(-np.square(low) / 2) - np.exp(-np.square(high) / 2)
    return np.asarray(quality * inside + spread * bent / math.sqrt(2 * math.pi) + special.ndtr(-high), np.float64)


def _t(contents: int) -> float:
    return float(special.stdtrit(contents - 1, (1 + LEVEL) / 2))


def _worth(contents: int) -> float:
    """Return how wide an interval is on average over samples of so many contents that differ by 1."""
    expected = math.sqrt(2 / (contents - 1)) * math.exp(
        float(special.gammaln(contents / 2) - special.gammaln((contents - 1) / 2))
    )
    return _t(contents) * expected / math.sqrt(contents)
