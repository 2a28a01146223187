"""Looks at a simulated study: at which of them it stops, and after how many participants on average."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from beholder.analysis.stopping_rules import LookContrasts, stop_reasons
from beholder.formats import count, join_names, number, percent
from beholder.sample_size.design import PlannedStudy, SimulatedWorld, plan_for
from beholder.sample_size.simulation import simulated_values
from beholder.sample_size.tests import ContrastOutcomes, contrast_outcomes, holm_adjusted
from beholder.stats.clustered import Codes, Floats
from beholder.stats.intervals import LEVEL
from beholder.stats.sequential import LookCorrection, planned_look

COLUMNS = ["truth", "look", "participants", "reached", "stops", "decided", "precise", "futile", "found"]

NOTE = (
    "A row for each look, of the imagined study and of one whose conditions are equally good. reached: share of the "
    "simulated studies that get so far; stops: share of all that end there, and of those as everything is decided, "
    "precise enough or futile (design.stop, without its budget); found: share of all in which a difference that the "
    "study is about is clear by then, at this look or where they stopped before. All with p-values that hold for all "
    "looks together."
)


@dataclass(frozen=True)
class LookSimulation:
    """Where simulated studies stop, with a row for each repetition."""

    looks: tuple[int, ...]
    stopped: Codes
    """The index of the look at which a study ended."""
    reasons: dict[str, NDArray[np.bool_]]
    """By reason, whether a study ended for it."""
    found: NDArray[np.bool_]
    """By look, whether a difference is clear then, or was where the study ended before."""

    @property
    def expected(self) -> float:
        """The number of participants on average."""
        return float(np.asarray(self.looks)[self.stopped].mean())

    def rows(self, truth: str) -> list[dict[str, Any]]:
        """Return a row for each look."""
        return [
            {
                "truth": truth,
                "look": place + 1,
                "participants": participants,
                "reached": float((self.stopped >= place).mean()),
                "stops": float((self.stopped == place).mean()),
                **{
                    name: float(((self.stopped == place) & self.reasons[name]).mean())
                    for name in ("decided", "precise", "futile")
                },
                "found": float(self.found[:, place].mean()),
            }
            for place, participants in enumerate(self.looks)
        ]


@dataclass(frozen=True)
class SimulatedLooks:
    """The looks at a study as it is imagined, and at one whose conditions are equally good."""

    imagined: LookSimulation
    equal: LookSimulation

    @property
    def table(self) -> pd.DataFrame:
        """A row for each look of both."""
        return pd.DataFrame([*self.imagined.rows("imagined"), *self.equal.rows("equal")], columns=COLUMNS)

    @property
    def words(self) -> str:
        """How many participants the study takes, in a sentence."""
        looks = [f"{people:,}" for people in self.imagined.looks]
        stops = [f"in {percent(row['stops'])} after {row['participants']:,}" for row in self.imagined.rows("imagined")]
        equal = self.equal
        return (
            f"With looks at {join_names(looks)} participants the study takes "
            f"{number(self.imagined.expected, 0)} on average, as it ends {join_names(stops)}; "
            f"where all conditions are equally good {number(equal.expected, 0)}, and something is found in "
            f"{percent(equal.found[:, -1].mean())} of {count(len(equal.found), 'study', 'studies')}."
        )


def simulate_looks(
    world: SimulatedWorld, repetitions: int, progress: Callable[[int], None] | None = None
) -> SimulatedLooks | None:
    """Return where the study stops; None where it is looked at once, at its end."""
    if len(world.study.design.looks) < 2:
        return None
    session = plan_for(world, world.study.design.looks[-1])
    null = replace(session, world=session.world.null, truth=session.world.null.truth)
    return SimulatedLooks(*(_simulate(one, repetitions, progress) for one in (session, null)))


def _simulate(session: PlannedStudy, repetitions: int, progress: Callable[[int], None] | None) -> LookSimulation:
    design = session.world.study.design
    looks = design.looks
    corrections = [planned_look(participants, looks) for participants in looks]
    stopped, found = np.full(repetitions, len(looks) - 1), np.zeros((repetitions, len(looks)), bool)
    reasons = np.full(repetitions, "last", dtype="<U7")
    first = 0
    for values in simulated_values(session, repetitions):
        rows = np.arange(first, first + len(values))
        goes_on, seen = np.ones(len(values), bool), np.zeros(len(values), bool)
        asked = _asked(contrast_outcomes(session.sheet, values[:1], session.world.rules(session.sheet)))
        for place, look in enumerate(corrections):
            contrasts = _at_look(session, values, look, len(asked))
            why = stop_reasons(contrasts, look, design)
            seen = np.where(goes_on, (contrasts.p < 1 - LEVEL).any(axis=1), seen)
            found[rows, place] = seen
            ends = goes_on & (why != "")
            stopped[rows[ends]], reasons[rows[ends]] = place, why[ends]
            goes_on &= ~ends
        first += len(values)
        if progress is not None:
            progress(len(values))
    by_reason = {name: reasons == name for name in ("decided", "precise", "futile")}
    return LookSimulation(looks, stopped, by_reason, found)


def _asked(outcomes: ContrastOutcomes) -> Codes:
    """Return the places of the contrasts that the study is about."""
    return np.flatnonzero([not test.outside for test in outcomes.tests])


def _at_look(session: PlannedStudy, values: Floats, look: LookCorrection, contrasts: int) -> LookContrasts:
    """Return the contrasts of the first participants, corrected for looks and for their number."""
    world, rules = session.world, session.world.rules(session.sheet)
    sheet = session.sheet.for_participants(look.participants)
    own = values[:, : len(sheet)]
    outcomes = contrast_outcomes(sheet, own, rules)
    asked = _asked(outcomes)
    p = holm_adjusted(look.p(outcomes.p), outcomes.tests, rules.family)[:, asked]
    se = outcomes.half[:, asked] / float(special.ndtri((1 + LEVEL) / 2))
    reach = se * float(special.ndtri((1 + look.level) / 2))
    share = np.ones_like(p)
    if world.study.design.stop.futility is not None and rules.contents == "random":
        fixed = contrast_outcomes(sheet, own, rules._replace(contents="fixed")).half[:, asked]
        share = np.minimum(1.0, fixed / np.where(outcomes.half[:, asked] > 0, outcomes.half[:, asked], np.inf)) ** 2
    # What so few have not compared yet is not clear, and as wide as can be.
    missing = ((0, 0), (0, contrasts - len(asked)))
    filled = [(outcomes.estimate[:, asked], 0.0), (reach, np.inf), (se, 1.0), (share, 1.0), (p, np.nan)]
    return LookContrasts(*(np.pad(column, missing, constant_values=value) for column, value in filled))
