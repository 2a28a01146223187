"""What a power analysis is asked for, what is wrong with it, and the limit that more participants cannot get below."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import special

from beholder.errors import Problem
from beholder.formats import plain_count
from beholder.methods import find
from beholder.methods.boards import ReferenceBoard
from beholder.methods.contract import Method
from beholder.sample_size.design import SimulatedWorld, points_of, rate_problems
from beholder.sample_size.tests import Contents
from beholder.stats.clustered import Floats
from beholder.stats.intervals import LEVEL
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study

SIZES = (10, 20, 40, 80)
REPETITIONS = 200
_FEWEST_PARTICIPANTS, _MOST_PARTICIPANTS = 2, 100_000
_REPETITIONS = (20, 100_000)
_FEWEST_ON_A_PAGE = 2
SHARE = 0.05
"""Default step between conditions, as a share of the scale."""
_ALLOWED = "whole numbers of 2 or more with commas between them, such as 10,20,40,80"


@dataclass(frozen=True)
class PowerRequest:
    """The options of a power analysis."""

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
        part
        for part in parts
        if not (part.isascii() and part.isdecimal() and _FEWEST_PARTICIPANTS <= int(part) <= _MOST_PARTICIPANTS)
    ]
    if wrong or not parts:
        text = ", ".join(part or "nothing" for part in wrong) or "empty"
        fix = "A test takes two people." if "1" in wrong else ""
        return (), [Problem("--participants", f"is {text}", _ALLOWED, fix)]
    return tuple(sorted({int(part) for part in parts})), []


def read_pages(given: str | Sequence[int] | None) -> tuple[tuple[int, ...] | None, list[Problem]]:
    """Return the numbers of stimuli on a page in order, None where they are those of the study; and what is wrong."""
    if given is None or given == "none":
        return (None if given is None else ()), []
    parts = [part.strip() for part in given.split(",")] if isinstance(given, str) else [str(part) for part in given]
    wrong = [part for part in parts if not (part.isascii() and part.isdecimal() and int(part) >= _FEWEST_ON_A_PAGE)]
    if wrong:
        allowed = "whole numbers of 2 or more with commas between them, such as 4,8; or none"
        return (), [Problem("--pages", f"is {', '.join(part or 'nothing' for part in wrong)}", allowed)]
    return tuple(sorted({int(part) for part in parts})), []


def page_problems(study: Study, catalogue: Catalogue, method: Method, pages: Sequence[int]) -> Iterator[Problem]:
    """Yield that pages of a method have one stimulus, or two that are compared, whatever is asked for."""
    if pages and method.units(study, catalogue).kind != "content":
        what = f"is {', '.join(map(str, pages))}, and {method.name} does not have several stimuli to rate on a page"
        yield Problem("--pages", what, "methods such as parallel and mushra", "Leave it out.")


def problems_of(request: PowerRequest) -> Iterator[Problem]:
    """Yield the problems that can be detected without the study."""
    least, most = _REPETITIONS
    if not least <= request.repetitions <= most:
        yield Problem("--repetitions", f"is {request.repetitions}", f"{least} to {most:,}")
    if request.difference is not None and not 0 < request.difference < math.inf:
        yield Problem("--difference", f"is {request.difference:g}", "a number above 0, in points of the scale")
    if request.seed < 0:
        yield Problem("--seed", f"is {request.seed}", "a whole number of 0 or more")
    if request.contents not in ("random", "fixed"):
        yield Problem("--contents", f"is {request.contents}", "random or fixed")
    yield from rate_problems(request.rate)


def ladder_conditions(study: Study, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the compared conditions, best first: references, then the others in the order of the study.

    Anchors, and a reference that people know again beside the open one, are left out: no study is about them.
    """
    roles = {stimulus.condition: stimulus.role for stimulus in catalogue.by_cell.values()}
    left_out = {"anchor", "reference"} if isinstance(find(study.method), ReferenceBoard) else {"anchor"}
    compared = [name for name in catalogue.conditions if roles.get(name, "test") not in left_out]
    return tuple(sorted(compared, key=lambda name: roles.get(name) != "reference"))


def ladder(study: Study, catalogue: Catalogue, method: Method, difference: float | None) -> Mapping[str, float]:
    """Return the quality of every condition, in equal steps around the middle of the scale."""
    names = ladder_conditions(study, catalogue)
    step = SHARE if difference is None else difference / span_of(study, method)
    if difference is None and len(names) > 1:
        step = min(step, 1 / (len(names) - 1))
    places = (len(names) - 1) / 2 - np.arange(len(names))
    return {name: float(0.5 + step * place) for name, place in zip(names, places, strict=True)}


def span_of(study: Study, method: Method) -> float:
    """Return the points of the scale of the first question."""
    return points_of(method.questions(study)[0].scale)


def ladder_problems(study: Study, catalogue: Catalogue, method: Method, difference: float | None) -> Iterator[Problem]:
    """Yield why conditions with these steps do not fit on the scale of a study."""
    names = ladder_conditions(study, catalogue)
    if len(names) < 2:
        text = f"has {plain_count(len(names), 'condition')} to compare"
        yield Problem(study.where("stimuli"), f"{text}, and power is about differences", "two or more")
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
    """Return the number rounded down to three digits."""
    digits = 2 - math.floor(math.log10(number))
    return math.floor(number * 10.0**digits + 1e-9) / 10.0**digits


# The limit that contents set


_DRAWS = 200
_MOST_CONTENTS = 10_000


def limiting_half_width(world: SimulatedWorld) -> float:
    """Return the half width, in points, of the interval of a difference with infinitely many participants.

    It is due to interactions of condition and content; NaN if contents are fixed, if there is only one, and if
    comparisons have no scale of quality.
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
        expected = _expected_rating(world, world.draw_contents(truth, repetition).quality[:, 0])
        for pair in pairs:
            if len(pair) > 1:
                difference = expected[[one for one, _ in pair]] - expected[[other for _, other in pair]]
                halves.append(_t(len(pair)) * float(difference.std(ddof=1)) / math.sqrt(len(pair)))
    return float(np.mean(halves)) * world.spans[0] if halves else math.nan


def contents_for(world: SimulatedWorld, half: float, now: float) -> int | None:
    """Return how many contents give a half width, given the half width `now`; None if there are very many."""
    per_content = now / _expected_half_width(len(world.catalogue.contents))
    count = 2
    while per_content * _expected_half_width(count) >= half:
        count = count + 1 if count < 50 else round(count * 1.05)
        if count > _MOST_CONTENTS:
            return None
    return count


def _expected_rating(world: SimulatedWorld, quality: Floats) -> Floats:
    """Return the expected rating of a quality on a bounded scale."""
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
    """Return the expected half width for samples of contents with standard deviation 1."""
    expected = math.sqrt(2 / (contents - 1)) * math.exp(
        float(special.gammaln(contents / 2) - special.gammaln((contents - 1) / 2))
    )
    return _t(contents) * expected / math.sqrt(contents)
