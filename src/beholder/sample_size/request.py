"""What is asked of `power`, and what cannot be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import special

from beholder.analysis.result import MUSHRA
from beholder.errors import Problem
from beholder.methods.contract import Method
from beholder.sample_size.design import SimulatedWorld, points_of, rate_problems
from beholder.sample_size.tests import Contents
from beholder.stats.clustered import Floats
from beholder.stats.intervals import LEVEL
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study

SIZES = (10, 20, 40, 80)
REPETITIONS = 200
_FEWEST, _ASKING_MOST = 2, 100_000
_REPETITIONS = (20, 100_000)
SHARE = 0.05
"""How far neighbours on the ladder are apart when nobody says, as a share of the scale."""
_ALLOWED = "whole numbers of 2 or more with commas between them, such as 10,20,40,80"


@dataclass(frozen=True)
class PowerRequest:
    """What is asked: how many participants, how large a difference, how often."""

    sizes: tuple[int, ...] = ()
    difference: float | None = None
    """In points of the scale."""
    repetitions: int = REPETITIONS
    contents: Contents = "random"
    rate: str | None = None
    seed: int = 1


def read_sizes(given: str | Sequence[int] | None) -> tuple[tuple[int, ...], list[Problem]]:
    """Return the numbers of participants in order, and what is wrong with them."""
    if given is None:
        return (), []
    parts = [part.strip() for part in given.split(",")] if isinstance(given, str) else [str(part) for part in given]
    wrong = [
        part for part in parts if not (part.isascii() and part.isdecimal() and _FEWEST <= int(part) <= _ASKING_MOST)
    ]
    if wrong or not parts:
        said = ", ".join(part or "nothing" for part in wrong) or "empty"
        fix = "A test takes two people." if "1" in wrong else ""
        return (), [Problem("--participants", f"is {said}", _ALLOWED, fix)]
    return tuple(sorted({int(part) for part in parts})), []


def problems_of(asking: PowerRequest) -> Iterator[Problem]:
    """Yield what is wrong with numbers that need no study to be judged."""
    least, most = _REPETITIONS
    if not least <= asking.repetitions <= most:
        yield Problem("--repetitions", f"is {asking.repetitions}", f"{least} to {most:,}")
    if asking.difference is not None and not 0 < asking.difference < math.inf:
        yield Problem("--difference", f"is {asking.difference:g}", "a number above 0, in points of the scale")
    if asking.seed < 0:
        yield Problem("--seed", f"is {asking.seed}", "a whole number of 0 or more")
    if asking.contents not in ("random", "fixed"):
        yield Problem("--contents", f"is {asking.contents}", "random or fixed")
    yield from rate_problems(asking.rate)


def ladder_conditions(study: Study, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the conditions that are compared, best first: references, then the others in the order of the study.

    Anchors are there to be worst, and MUSHRA's reference to be best: no study is about them.
    """
    roles = {stimulus.condition: stimulus.role for stimulus in catalogue.by_cell.values()}
    left_out = {"anchor", "reference"} if study.method == MUSHRA else {"anchor"}
    mine = [name for name in catalogue.conditions if roles.get(name, "test") not in left_out]
    return tuple(sorted(mine, key=lambda name: roles.get(name) != "reference"))


def ladder(study: Study, catalogue: Catalogue, method: Method, difference: float | None) -> Mapping[str, float]:
    """Return the quality of every condition, equal steps apart around the middle of the scale."""
    names = ladder_conditions(study, catalogue)
    step = SHARE if difference is None else difference / span_of(study, method)
    if difference is None and len(names) > 1:
        step = min(step, 1 / (len(names) - 1))
    places = (len(names) - 1) / 2 - np.arange(len(names))
    return {name: float(0.5 + step * place) for name, place in zip(names, places, strict=True)}


def span_of(study: Study, method: Method) -> float:
    """Return how many points the scale of the first question has."""
    return points_of(method.questions(study)[0].scale)


def ladder_problems(study: Study, catalogue: Catalogue, method: Method, difference: float | None) -> Iterator[Problem]:
    """Yield why no ladder of these steps can stand on the scale of a study."""
    names = ladder_conditions(study, catalogue)
    if len(names) < 2:
        said = f"has {len(names)} condition{'s' * (len(names) != 1)} to compare"
        yield Problem(study.where("stimuli"), f"{said}, and power is about differences", "two or more")
        return
    span = span_of(study, method)
    if difference is not None and difference * (len(names) - 1) > span * (1 + 1e-9):
        most = _rounded_down(span / (len(names) - 1))
        what = (
            f"is {difference:g}: {len(names)} conditions, each {difference:g} from the next, take "
            f"{difference * (len(names) - 1):g} points, and the scale has {span:g}"
        )
        share = difference * span / 100
        fix = f"{difference:g} in a hundred of this scale are {share:g}." if share <= most and span != 100 else ""
        yield Problem("--difference", what, f"up to {most:g}", fix)


def _rounded_down(number: float) -> float:
    """Return a number with three digits that is not above this one."""
    digits = 2 - math.floor(math.log10(number))
    return math.floor(number * 10.0**digits + 1e-9) / 10.0**digits


# --- What more participants cannot buy: how wide an interval stays because there are so many contents, and no more ---


_DRAWS = 200
_LIMIT_MOST = 10_000


def limiting_half_width(world: SimulatedWorld) -> float:
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
        said = _expected_rating(world, world.drawn(truth, repetition).quality[:, 0])
        for pair in pairs:
            if len(pair) > 1:
                apart = said[[one for one, _ in pair]] - said[[other for _, other in pair]]
                halves.append(_t(len(pair)) * float(apart.std(ddof=1)) / math.sqrt(len(pair)))
    return float(np.mean(halves)) * world.spans[0] if halves else math.nan


def contents_for(world: SimulatedWorld, half: float, now: float) -> int | None:
    """Return how many contents leave a half width, where those that there are leave another; None for very many."""
    per_content = now / _expected_half_width(len(world.catalogue.contents))
    count = 2
    while per_content * _expected_half_width(count) >= half:
        count = count + 1 if count < 50 else round(count * 1.05)
        if count > _LIMIT_MOST:
            return None
    return count


def _expected_rating(world: SimulatedWorld, quality: Floats) -> Floats:
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


def _expected_half_width(contents: int) -> float:
    """Return how wide an interval is on average over samples of so many contents that differ by 1."""
    expected = math.sqrt(2 / (contents - 1)) * math.exp(
        float(special.gammaln(contents / 2) - special.gammaln((contents - 1) / 2))
    )
    return _t(contents) * expected / math.sqrt(contents)
