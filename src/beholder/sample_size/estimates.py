"""The estimates of a power analysis as tables: power, sizes, participants needed, and other methods."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from beholder.analysis.result import Result
from beholder.errors import Problem, UserError, did_you_mean, name_given
from beholder.sample_size.design import (
    Pay,
    PlannedStudy,
    SimulatedWorld,
    hours,
    participants_to_start,
    pay_of,
    plan_for,
)
from beholder.sample_size.figures import methods_chart, power_chart
from beholder.sample_size.request import PowerRequest, limiting_half_width
from beholder.sample_size.simulation import (
    GOALS,
    LOOK_COLUMNS,
    LOOKS_NOTE,
    Point,
    SimulatedLooks,
    needed_for,
    simulate_looks,
    simulate_point,
)
from beholder.sample_size.variants import COLUMNS, Variant, is_reached, methods_table, variants_of
from beholder.simulation.variance import PopulationSource
from beholder.stats.clustered import CITATION as CLUSTERED
from beholder.stats.clustered import Floats
from beholder.stats.intervals import SHARE_CITATION, share_interval
from beholder.stats.sequential import SPENDING_CITATION
from beholder.stats.tests import HOLM_CITATION as HOLM

_METHODS_NOTE = (
    "Every method with the same stimuli and people, its own usual options, and as many trials as fit into the session "
    "of the study. participants: for a chance of power to find difference, in points of the study's own scale; hours "
    "and cost of all of them, at the same pay for the same time. per_trial: the study with so many stimuli on every "
    "page, and as many pages as its group has or as fit into the session. The people of the simulation see as well on "
    "every page: that it helps to have stimuli side by side is not in these numbers."
)


@dataclass(frozen=True)
class PowerTables:
    """The tables of a power analysis, and what they are based on."""

    world: SimulatedWorld
    request: PowerRequest
    source: PopulationSource
    is_ladder: bool
    """Whether conditions are in equal steps; else as in the pilot."""
    points: tuple[Point, ...]
    variants: tuple[Variant, ...]
    pay: Pay | None
    looks: SimulatedLooks | None = None
    """Where a study that is looked at more than once stops; None where it is not."""

    @cached_property
    def results(self) -> Mapping[str, Result]:
        """The tables by the names of their files."""
        repetitions = self.request.repetitions
        has_pairs = not self.is_ladder or bool(self.world.study.analyse.contrasts)
        power = power_table(self.points, by_pair=has_pairs)
        sizes = sizes_table(self.points, self.pay)
        citation = f"{CLUSTERED}; {HOLM}; {SHARE_CITATION}"
        results = {
            "power": Result(power, POWER_NOTE, citation, lambda _: self.plot()),
            "sizes": Result(sizes, SIZES_NOTE, citation),
            "needed": Result(needed_table(power, self.points, self.pay, repetitions), NEEDED_NOTE, ""),
        }
        if self.looks is not None:
            results["looks"] = Result(self.looks.table, LOOKS_NOTE, SPENDING_CITATION)
        if self.variants:
            methods = methods_table(self.variants, self.pay, min(repetitions, MOST_METHOD_REPETITIONS))
            results["methods"] = Result(methods, _METHODS_NOTE, "", methods_chart)
        return results

    def table(self, name: str) -> pd.DataFrame:
        """Return a table; an empty one if there is none."""
        columns = LOOK_COLUMNS if name == "looks" else COLUMNS
        return self.results[name].table if name in self.results else pd.DataFrame(columns=columns)

    def of(self, name: str, question: str) -> pd.DataFrame:
        """Return the rows of one question, in which conditions have their labels, as figures and sentences do."""
        table = self.table(name)
        rows = table[table["question"] == question]
        pair = [column for column in ("condition", "other_condition") if column in rows]
        return rows.assign(**{column: rows[column].replace(self.world.condition_names) for column in pair})

    def plot(self, question: str | None = None) -> object:
        """Return the figure of a question that is given by its name or its label, by default of the first."""
        names = self.world.question_names
        found = self.world.questions[0] if question is None else name_given(question, names)
        if found is None:
            what, near = f"no question {question!r} is asked", did_you_mean(str(question), [*names, *names.values()])
            raise UserError(Problem("plot", what, ", ".join(names), near))
        return power_chart(self.of("power", found), self.of("sizes", found), limit=self.limit)

    @cached_property
    def limit(self) -> float:
        """The half width of a difference, in points, that no number of participants gets below."""
        return limiting_half_width(self.world)

    @property
    def is_compared(self) -> bool:
        """Whether two stimuli are held against each other without a scale of quality."""
        sheet = self.points[0].session.sheet
        return sheet.is_compared and sheet.differences is None


MOST_METHOD_REPETITIONS = 200
"""Most repetitions by other methods: a table of hours needs no more."""


def estimate_power(
    world: SimulatedWorld,
    request: PowerRequest,
    source: PopulationSource,
    methods: Sequence[str],
    *,
    is_ladder: bool,
    pages: Sequence[int] = (),
    progress: Callable[[int, int], None] | None = None,
) -> PowerTables:
    """Return the estimates for every number of participants, every other method, and every number on a page."""
    total = 2 * request.repetitions * len(request.sizes)
    method_repetitions = min(request.repetitions, MOST_METHOD_REPETITIONS)
    total += 2 * request.repetitions if world.study.design.looks else 0
    others = [name for name in methods if name != world.method.name]
    total += method_repetitions * len(request.sizes) * (len(others) + len(pages))
    done = 0

    def step(more: int) -> None:
        nonlocal done
        done = min(done + more, total - 1)
        if progress is not None:
            progress(done, total)

    sessions = [plan_for(world, size) for size in request.sizes]
    points = tuple(simulate_point(session, request.repetitions, step) for session in sessions)
    looks = simulate_looks(world, request.repetitions, step)
    has_variants = bool(others or pages)
    variants = _method_variants(world, points, others, pages, method_repetitions, step) if has_variants else ()
    if progress is not None:
        progress(total, total)
    return PowerTables(
        world, request, source, is_ladder, points, variants, pay_of(world.study, request.rate, sessions[0]), looks
    )


def _method_variants(
    world: SimulatedWorld,
    points: Sequence[Point],
    others: Sequence[str],
    pages: Sequence[int],
    repetitions: int,
    step: Callable[[int], None],
) -> tuple[Variant, ...]:
    """Return the study by other methods and pages; with fixed contents if random ones keep it from its goal."""
    if world.contents == "random" and not is_reached(points):
        world = replace(world, contents="fixed")
        sessions = [plan_for(world, point.participants) for point in points]
        points = [simulate_point(session, repetitions, step, has_null=False) for session in sessions]
    return variants_of(world, points, others, repetitions, step, pages)


# Tables

POWER = [
    "question", "participants", "target", "condition", "other_condition", "difference", "pairs", "power", "power_low",
    "power_high", "estimate", "half_width",
]  # fmt: skip

SIZES = [
    "question", "participants", "starting", "ratings_low", "ratings_high", "ratings", "minutes", "hours", "cost",
    "currency", "mean_half_width", "difference_half_width", "tau", "best", "false_alarms", "false_alarms_low",
    "false_alarms_high",
]  # fmt: skip

NEEDED = [
    "question", "target", "condition", "other_condition", "difference", "goal", "participants", "minutes", "hours",
    "cost", "currency", "note",
]  # fmt: skip


def power_table(points: Sequence[Point], *, by_pair: bool) -> pd.DataFrame:
    """Return the power by size of difference, for each pair if requested, and for all differences at once."""
    known = {key: apart for point in points for key, apart in _differing(point).items()}
    rows = [row for point in points for row in _power_rows(point, known, by_pair=by_pair)]
    return pd.DataFrame(rows, columns=POWER)


def _differing(point: Point) -> dict[tuple[int, int, int], float]:
    """Return the tested true differences, by question and both conditions."""
    untested = set(np.flatnonzero(np.isnan(point.detected).any(axis=0)).tolist())
    return {
        (test.question, test.one, test.other): abs(apart)
        for place, (test, apart) in enumerate(zip(point.tests, point.true.tolist(), strict=True))
        if place not in untested and apart and not test.outside
    }


def _power_rows(
    point: Point, known: Mapping[tuple[int, int, int], float], *, by_pair: bool
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one size; `known` is what differs and is tested with any size."""
    names, size = point.session.sheet.conditions, np.abs(point.true)
    is_tested = ~np.isnan(point.detected).any(axis=0)
    for number, question in enumerate(point.session.world.questions):
        tested = np.array([one.question == number and not one.outside for one in point.tests], dtype=bool) & is_tested
        head = {"question": question, "participants": point.participants, "condition": "", "other_condition": ""}
        for difference in np.unique(size[tested & (size > 0)]):
            places = tested & (size == difference)
            yield {**head, "target": "difference", "difference": float(difference), **_chance(point, places)}
        for place in np.flatnonzero(tested) if by_pair else ():
            test, places = point.tests[place], np.arange(len(tested)) == place
            pair = {"condition": names[test.one], "other_condition": names[test.other]}
            yield {
                **head, **pair, "target": "contrast", "difference": float(point.true[place]), **_chance(point, places),
            }  # fmt: skip
        every, differences = tested & (size > 0), [apart for key, apart in known.items() if key[0] == number]
        if every.any():
            # What too few participants can test is not detected.
            chance = share_of((point.detected[:, every].sum(axis=1) == len(differences)).astype(float))
            yield {**head, "target": "all", "difference": min(differences), "pairs": len(differences), **chance}


def _chance(point: Point, some: Floats) -> dict[str, Any]:
    """Return how often some differences are detected, on average over them."""
    turned = np.sign(point.true[some])
    return {
        "pairs": int(some.sum()),
        **share_of(point.detected[:, some].mean(axis=1), int(some.sum())),
        "estimate": float(np.mean(np.where(turned == 0, 1.0, turned) * point.estimate[some])),
        "half_width": float(np.mean(point.half[some])),
    }


def share_of(own: Floats, each: int = 1, name: str = "power") -> dict[str, float]:
    """Return a share over repetitions with its 95 % interval: the precision of the simulation."""
    interval = share_interval(own, len(own) * each)
    return {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}


def sizes_table(points: Sequence[Point], pay: Pay | None) -> pd.DataFrame:
    """Return precision, duration and cost by number of participants."""
    return pd.DataFrame([row for point in points for row in _size_rows(point, pay)], columns=SIZES)


def _size_rows(point: Point, pay: Pay | None) -> Iterator[dict[str, Any]]:
    session = point.session
    low, high = session.ratings
    for number, question in enumerate(session.world.questions):
        tested = np.array([one.question == number and not one.outside for one in point.tests], dtype=bool)
        tau = point.tau[:, number]
        yield {
            "question": question,
            "participants": point.participants,
            "starting": participants_to_start(
                point.participants, session.world.people.leaving, session.sheet.trials.tolist()
            ),
            "ratings_low": low,
            "ratings_high": high,
            "ratings": int((session.sheet.question == number).sum()),
            **_spent(point.participants, session, pay),
            "mean_half_width": point.mean_half[number],
            "difference_half_width": float(np.mean(point.half[tested])) if tested.any() else math.nan,
            "tau": float(np.nanmean(tau)) if not np.isnan(tau).all() else math.nan,
            "best": float(point.is_best[:, number].mean()),
            **share_of(point.alarms[:, number], name="false_alarms"),
        }


def _spent(participants: float, session: PlannedStudy, pay: Pay | None) -> dict[str, Any]:
    """Return duration and cost of participants; NaN if their number is not known."""
    if math.isnan(participants):
        return {"minutes": session.minutes, "hours": math.nan, "cost": math.nan, "currency": ""}
    cost = pay.of(participants, session) if pay else None
    return {
        "minutes": session.minutes,
        "hours": hours(participants, session.minutes),
        "cost": cost.minor / 100 if cost else math.nan,
        "currency": cost.currency if cost else "",
    }


def needed_table(power: pd.DataFrame, points: Sequence[Point], pay: Pay | None, repetitions: int) -> pd.DataFrame:
    """Return how many participants every target needs for a power of 80 and of 90 %."""
    rows = []
    sizes = [point.participants for point in points]
    keys = ["question", "target", "condition", "other_condition", "difference"]
    for key, rows_of_target in power.groupby(keys, sort=False):
        chances = rows_of_target.set_index("participants")["power"].reindex(sizes).tolist()
        for goal in GOALS:
            needed = needed_for(sizes, chances, goal, repetitions)
            spent = _spent(needed.participants, points[-1].session, pay)
            rows.append({
                **dict(zip(keys, key, strict=True)), "goal": goal, "participants": needed.participants, **spent,
                "note": needed.note,
            })  # fmt: skip
    return pd.DataFrame(rows, columns=NEEDED)


POWER_NOTE = (
    "power: share of the simulated studies in which a difference is clear (Holm's correction, as in analyse) and "
    "points the right way, with the 95 % Korn-Graubard interval that the number of repetitions leaves. target "
    "difference: the mean over all pairs whose true difference, in points of the scale, is difference; contrast: one "
    "pair; all: every pair that truly differs, at once, the smallest being difference. estimate: the mean of what was "
    "estimated; scales have ends, and draw differences in. half_width: of its 95 % interval. A difference is clear at "
    "0.05."
)


SIZES_NOTE = (
    "starting: how many have to begin for so many to finish and be used; who leaves is replaced. ratings_low, "
    "ratings_high: fewest and most of a stimulus, or of a pair. minutes: of one participant; hours and cost: of all "
    "who finish. mean_half_width and difference_half_width: half the mean width of the 95 % interval of a condition's "
    "mean and of a difference of two. tau: mean Kendall tau-b of the order of conditions with the true order. best: "
    "how often the best condition has the highest mean. false_alarms: share of studies of equally good conditions in "
    "which any difference is called clear; 5 % or less is promised."
)


NEEDED_NOTE = (
    "participants: where the chance reaches goal; between two numbers that were tried its probit is taken as straight "
    "over the root of the number, and beyond them nothing is told (note)."
)
