"""The same study by other methods, or with other pages: which needs the fewest hours of participants for its power."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from pydantic import ValidationError

from beholder.errors import BeholderError
from beholder.methods import find
from beholder.sample_size.design import (
    Pay,
    SimulatedWorld,
    as_method,
    hours,
    match_length,
    plan_for,
    without_pages,
)
from beholder.sample_size.simulation import GOALS, Point, needed_for, simulate_point
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study

USUAL = ("parallel", "acr", "pair")
"""Methods that are compared by default: all stimuli at once, one by one, two by two."""
_DOUBLINGS = 3
_GAIN = 0.02
"""A smaller gain from twice as many participants counts as none."""
_GOAL = GOALS[0]
COLUMNS = [
    "method", "per_trial", "contents", "difference", "power", "participants", "trials", "minutes", "hours", "cost",
    "currency", "note",
]  # fmt: skip


@dataclass(frozen=True)
class Variant:
    """A method with its outcomes; without points if the study is not possible with it."""

    method: str
    points: tuple[Point, ...]
    note: str = ""
    per_trial: int | None = None
    """How many stimuli stand on a page, where that is what differs."""

    @property
    def name(self) -> str:
        """What tables and sentences call it: `acr`, or `parallel, 4 on a page`."""
        return self.method if self.per_trial is None else f"{self.method}, {self.per_trial} on a page"

    @property
    def catalogue(self) -> Catalogue:
        """The stimuli without those that would be made for checks."""
        return self.points[0].session.stimuli


def variants_of(
    world: SimulatedWorld,
    own: Sequence[Point],
    methods: Sequence[str],
    repetitions: int,
    progress: Callable[[int], None] | None = None,
    pages: Sequence[int] = (),
) -> tuple[Variant, ...]:
    """Return the study by each method, and with each number of stimuli on a page, for a difference that it can detect.

    Sessions are of about the same length, unless a level of the study says how many pages its group has.
    """
    first = Variant(world.method.name, tuple(own))
    smallest = min(differences(own[0]), default=math.nan)
    first = _with_more_sizes(first, smallest, repetitions, progress)
    share = target_difference(first.points)
    others = [_variant(world, own, name, repetitions, progress) for name in methods if name != world.method.name]
    others += [_with_page(world, own, number, repetitions, progress) for number in pages]
    return (first, *(_with_more_sizes(one, share, repetitions, progress) for one in others))


def target_difference(points: Sequence[Point]) -> float:
    """Return the smallest difference, as a share of the scale, that these studies detect with the requested power."""
    steps = differences(points[0])
    detectable = [share for share in steps if max(power_of(point, share) for point in points) >= _GOAL]
    return min(detectable or steps, default=math.nan)


def is_reached(points: Sequence[Point]) -> bool:
    """Return whether the largest of these studies detects even the smallest difference with the requested power."""
    smallest = min(differences(points[0]), default=math.nan)
    return max(power_of(point, smallest) for point in points) >= _GOAL


def _variant(
    world: SimulatedWorld, own: Sequence[Point], name: str, repetitions: int, progress: Callable[[int], None] | None
) -> Variant:
    method = find(name, "--methods")
    reason = ""
    for checks, note in ((world.study.checks, ""), (type(world.study.checks)(), "without its checks")):
        try:
            other = replace(world, study=as_method(world.study, method, checks), method=method)
            other = replace(other, study=match_length(other, own[0].session.rating_minutes))
            sessions = [plan_for(other, one.participants) for one in own]
        except (BeholderError, ValidationError) as error:
            reason = reason or _why(error)
            continue
        return Variant(
            name, tuple(simulate_point(one, repetitions, progress, has_null=False) for one in sessions), note
        )
    return Variant(name, (), reason)


def page_sizes(study: Study) -> tuple[int, ...]:
    """Return how many stimuli stand on a page in the groups of a study, where that differs between them."""
    levels = [level for levels in study.design.between.values() for level in levels.values()]
    return tuple(sorted({level.per_trial for level in levels if level.per_trial is not None}))


def _with_page(
    world: SimulatedWorld, own: Sequence[Point], number: int, repetitions: int, progress: Callable[[int], None] | None
) -> Variant:
    """Return the study with so many stimuli on every page."""
    design = world.study.design
    levels = [level for levels in design.between.values() for level in levels.values() if level.per_trial == number]
    trials = next((level.trials for level in levels if level.trials is not None), None)
    changes = {"per_trial": number, "trials": trials, "between": without_pages(design.between)}
    paged = replace(world, study=world.study.model_copy(update={"design": design.model_copy(update=changes)}))
    try:
        if trials is None:
            paged = replace(paged, study=match_length(paged, own[0].session.rating_minutes))
        sessions = [plan_for(paged, one.participants) for one in own]
    except BeholderError as error:
        return Variant(world.method.name, (), _why(error), number)
    points = tuple(simulate_point(one, repetitions, progress, has_null=False) for one in sessions)
    return Variant(world.method.name, points, "", number)


def _why(error: BeholderError | ValidationError) -> str:
    """Return in one line why there is no such study."""
    if isinstance(error, ValidationError):
        return f"its options have to be chosen: {', '.join(str(part['loc'][0]) for part in error.errors())}"
    problems = getattr(error, "problems", ())
    return f"{problems[0].where} {problems[0].what}" if problems else str(error)


def _with_more_sizes(
    variant: Variant, share: float, repetitions: int, progress: Callable[[int], None] | None
) -> Variant:
    """Return the method with larger studies until it detects a difference, or with smaller ones until it does not."""
    points = list(variant.points)

    def point(participants: int) -> Point:
        session = plan_for(replace(variant.points[0].session.world, catalogue=variant.catalogue), participants)
        return simulate_point(session, repetitions, progress, has_null=False)

    for _ in range(_DOUBLINGS):
        if not points or power_of(points[-1], share) >= _GOAL or _is_flat(points, share):
            break
        points.append(point(2 * points[-1].participants))
    for _ in range(_DOUBLINGS):
        if not points or not power_of(points[0], share) >= _GOAL or points[0].participants < 4:
            break
        points.insert(0, point(points[0].participants // 2))
    return replace(variant, points=tuple(points))


def _is_flat(points: Sequence[Point], share: float) -> bool:
    """Return whether more participants add nothing, because random contents set the limit."""
    if len(points) < 2 or points[0].session.world.contents == "fixed":
        return False
    return not power_of(points[-1], share) - power_of(points[-2], share) >= _GAIN


def differences(point: Point) -> list[float]:
    """Return the differences of conditions in the first question, as shares of the scale."""
    shares = np.abs(point.true[_first_tests(point)]) / point.session.world.spans[0]
    return sorted({round(float(one), 9) for one in shares if one > 0})


def _first_tests(point: Point) -> list[int]:
    """Return the indices of the tested contrasts of the first question."""
    untested = set(np.flatnonzero(np.isnan(point.detected).any(axis=0)).tolist())
    inside = [place for place, one in enumerate(point.tests) if one.question == 0 and not one.outside]
    return [place for place in inside if place not in untested]


def power_of(point: Point, share: float) -> float:
    """Return the power for a difference of this share of the scale, averaged over the pairs with this difference."""
    span = point.session.world.spans[0]
    places = [
        place for place in _first_tests(point) if math.isclose(abs(point.true[place]) / span, share, abs_tol=1e-8)
    ]
    return float(point.detected[:, places].mean()) if places else math.nan


def methods_table(variants: Sequence[Variant], pay: Pay | None, repetitions: int) -> pd.DataFrame:
    """Return what each method needs for the same power; differences are in points of the study's own scale."""
    own = variants[0].points
    share, span = target_difference(own), own[0].session.world.spans[0]
    rows = [_row(one, share, span, pay, repetitions) for one in variants]
    return pd.DataFrame(rows, columns=COLUMNS).assign(contents=own[0].session.world.contents)


def _row(variant: Variant, share: float, span: float, pay: Pay | None, repetitions: int) -> dict[str, object]:
    row: dict[str, object] = {
        "method": variant.name, "per_trial": variant.per_trial or math.nan, "difference": share * span,
        "power": _GOAL, "participants": math.nan, "trials": math.nan, "minutes": math.nan,
        "hours": math.nan, "cost": math.nan, "currency": "",
        "note": f"cannot be had: {variant.note}",
    }  # fmt: skip
    if not variant.points:
        return row
    sizes = [point.participants for point in variant.points]
    needed = needed_for(sizes, [power_of(point, share) for point in variant.points], _GOAL, repetitions)
    session = variant.points[0].session
    note = "; ".join(filter(None, [needed.note, variant.note]))
    row |= {"trials": int(session.sheet.trials[0]), "minutes": session.minutes, "note": note}
    if math.isnan(needed.participants):
        return row
    cost = pay.of(needed.participants, session) if pay else None
    return row | {
        "participants": needed.participants, "hours": hours(needed.participants, session.minutes),
        "cost": cost.minor / 100 if cost else math.nan, "currency": cost.currency if cost else "",
    }  # fmt: skip
