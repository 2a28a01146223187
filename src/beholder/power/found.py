"""What a power analysis found: every number of it, before it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd

from beholder.analyse.result import Result
from beholder.power.asking import Asking
from beholder.power.charts import methods_chart, power_chart
from beholder.power.cost import Pay, pay_of
from beholder.power.curve import Point, point_of
from beholder.power.limits import remains
from beholder.power.session import session_of
from beholder.power.tables import (
    NEEDED_NOTE,
    POWER_NOTE,
    SIZES_NOTE,
    needed_table,
    power_table,
    sizes_table,
)
from beholder.power.variants import COLUMNS, Variant, is_reached, methods_table, variants_of
from beholder.power.world import World
from beholder.simulate.sources import Source
from beholder.stats.clustered import CITATION as CLUSTERED
from beholder.stats.holm import CITATION as HOLM
from beholder.stats.interval import SHARES

_METHODS_NOTE = (
    "Every method with the same stimuli and people, its own usual options, and as many trials as fit into the session "
    "of the study. participants: for a chance of power to find difference, in points of the study's own scale; hours "
    "and cost of all of them, at the same pay for the same time. The people of the simulation see as well on every "
    "page: that it helps to have stimuli side by side is not in these numbers."
)


@dataclass(frozen=True)
class Found:
    """Tables and what they stand on."""

    world: World
    asking: Asking
    source: Source
    is_ladder: bool
    """Whether conditions are equal steps apart; else they are as the pilot has them."""
    points: tuple[Point, ...]
    variants: tuple[Variant, ...]
    pay: Pay | None

    @cached_property
    def results(self) -> Mapping[str, Result]:
        """The tables by the names of their files."""
        repetitions = self.asking.repetitions
        has_pairs = not self.is_ladder or bool(self.world.study.analyse.contrasts)
        power = power_table(self.points, by_pair=has_pairs)
        sizes = sizes_table(self.points, self.pay)
        citation = f"{CLUSTERED}; {HOLM}; {SHARES}"
        found = {
            "power": Result(power, POWER_NOTE, citation, self._drawn),
            "sizes": Result(sizes, SIZES_NOTE, citation),
            "needed": Result(needed_table(power, self.points, self.pay, repetitions), NEEDED_NOTE, ""),
        }
        if self.variants:
            methods = methods_table(self.variants, self.pay, min(repetitions, MOST_BESIDE))
            found["methods"] = Result(methods, _METHODS_NOTE, "", methods_chart)
        return found

    def table(self, name: str) -> pd.DataFrame:
        """Return a table; an empty one where there is none."""
        return self.results[name].table if name in self.results else pd.DataFrame(columns=COLUMNS)

    def of(self, name: str, question: str) -> pd.DataFrame:
        """Return the rows of one question."""
        table = self.table(name)
        return table[table["question"] == question]

    @cached_property
    def remains(self) -> float:
        """The half width of a difference that no number of participants gets below, in points."""
        return remains(self.world)

    @property
    def is_compared(self) -> bool:
        """Whether two stimuli are compared, so that no scale says how good one is."""
        return self.points[0].session.sheet.is_compared

    def _drawn(self, table: pd.DataFrame) -> object:
        question = self.world.questions[0]
        return power_chart(table[table["question"] == question], self.of("sizes", question), remains=self.remains)


def _beside(
    world: World, points: Sequence[Point], others: Sequence[str], repetitions: int, step: Callable[[int], None]
) -> tuple[Variant, ...]:
    """Return the study by other methods; with contents fixed where it is they that keep the study from its goal."""
    if world.contents == "random" and not is_reached(points):
        world = replace(world, contents="fixed")
        sessions = [session_of(world, point.participants) for point in points]
        points = [point_of(session, repetitions, step, has_null=False) for session in sessions]
    return variants_of(world, points, others, repetitions, step)


MOST_BESIDE = 200
"""Repetitions of the study by other methods, at most: a table of hours needs no more."""


def find(
    world: World,
    asking: Asking,
    source: Source,
    methods: Sequence[str],
    *,
    is_ladder: bool,
    progress: Callable[[int, int], None] | None = None,
) -> Found:
    """Return what comes out of every size, and of every other method."""
    total = 2 * asking.repetitions * len(asking.sizes)
    beside = min(asking.repetitions, MOST_BESIDE)
    total += beside * len(asking.sizes) * len([name for name in methods if name != world.method.name])
    done = 0

    def step(more: int) -> None:
        nonlocal done
        done = min(done + more, total - 1)
        if progress is not None:
            progress(done, total)

    sessions = [session_of(world, size) for size in asking.sizes]
    points = tuple(point_of(session, asking.repetitions, step) for session in sessions)
    others = [name for name in methods if name != world.method.name]
    variants = _beside(world, points, others, beside, step) if others else ()
    if progress is not None:
        progress(total, total)
    return Found(world, asking, source, is_ladder, points, variants, pay_of(world.study, asking.rate, sessions[0]))
