"""The same study simulated many times: how often differences are detected, and at which look it stops."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from beholder.analysis.stopping_rules import LookContrasts, stop_reasons
from beholder.formats import count, join_names, number, percent
from beholder.sample_size.design import PlannedStudy, SimulatedWorld, plan_for
from beholder.sample_size.tests import ContrastOutcomes, Difference, concatenate, contrast_outcomes, holm_adjusted
from beholder.simulation.memory import simulate_sheet
from beholder.stats.clustered import Codes, Floats
from beholder.stats.intervals import LEVEL
from beholder.stats.sequential import LookCorrection, planned_look

_BATCH = 1_000_000
"""Ratings that are analysed at once: more would be slowed down by memory access."""


@dataclass(frozen=True)
class Point:
    """The outcome for one number of participants, with a row for each repetition."""

    session: PlannedStudy
    tests: tuple[Difference, ...]
    true: Floats
    """The true difference, in points."""
    detected: Floats
    """1 if a difference is clear and has the right sign, 0 if not, NaN if it is not tested."""
    estimate: Floats
    """Mean estimate of every difference, over repetitions."""
    half: Floats
    """Mean half width of its interval."""
    mean_half: Floats
    """Mean half width of the interval of a condition's mean, by question."""
    tau: Floats
    """Agreement of the order of conditions with the truth, by question."""
    is_best: Floats
    """1 if the best condition came out best."""
    alarms: Floats
    """1 if any difference was clear although all conditions were equally good, by question."""

    @property
    def participants(self) -> int:
        return self.session.participants


def simulate_point(
    session: PlannedStudy, repetitions: int, progress: Callable[[int], None] | None = None, *, has_null: bool = True
) -> Point:
    """Return the outcome of repetitions, and of as many in which all conditions are equally good.

    `progress` is called with the number of repetitions since the last call.
    """
    world = session.world
    outcomes = _repeat(session, repetitions, progress)
    null = (
        _repeat(replace(session, world=world.null, truth=world.null.truth), repetitions, progress) if has_null else None
    )
    quality, tests = session.truth.conditions, outcomes.tests
    names, spans, signs = session.sheet.conditions, world.spans, world.signs
    true = np.array(
        [
            signs[one.question] * spans[one.question] * (quality[names[one.one]] - quality[names[one.other]])
            for one in tests
        ]
    )
    true = np.round(true, 9)
    is_detected = (outcomes.clear == 1) & (np.sign(outcomes.estimate) == np.sign(true))
    recognised = _recognised(session)
    is_tested = ~np.isnan(outcomes.clear) & ~_involves(tests, recognised)
    tau, is_best = _ranks(outcomes, session)
    return Point(
        session=session,
        tests=tests,
        true=true,
        detected=np.where(is_tested, is_detected, np.nan),
        estimate=outcomes.estimate.mean(axis=0),
        half=outcomes.half.mean(axis=0),
        mean_half=_by_question(outcomes.mean_half.mean(axis=0), outcomes, world.questions),
        tau=tau,
        is_best=is_best,
        alarms=_alarms(null, len(world.questions), recognised)
        if null is not None
        else np.zeros((0, len(world.questions))),
    )


def _repeat(session: PlannedStudy, repetitions: int, progress: Callable[[int], None] | None) -> ContrastOutcomes:
    """Return the contrasts of all repetitions."""
    rules, parts = session.world.rules(session.sheet), []
    for values in simulated_values(session, repetitions):
        parts.append(contrast_outcomes(session.sheet, values, rules))
        if progress is not None:
            progress(len(values))
    return concatenate(parts)


def simulated_values(session: PlannedStudy, repetitions: int) -> Iterator[Floats]:
    """Yield the values of all repetitions in batches, a row for each."""
    world, sheet = session.world, session.sheet
    people = replace(world.people, leaving=0.0)
    at_once = max(1, min(repetitions, _BATCH // max(1, len(sheet))))
    for begin in range(0, repetitions, at_once):
        batch = range(begin, min(begin + at_once, repetitions))
        values = np.empty((len(batch), len(sheet)))
        for row, repetition in enumerate(batch):
            truth = world.draw_contents(session.truth, repetition)
            values[row] = simulate_sheet(sheet, truth, people, seed=world.seed, repetition=repetition).value
        yield values


def _recognised(session: PlannedStudy) -> frozenset[int]:
    """Return the conditions that people know again beside the open reference: no quality is imagined that they show."""
    return frozenset(np.unique(session.sheet.condition[session.sheet.is_hidden]).tolist())


def _involves(tests: Sequence[Difference], conditions: frozenset[int]) -> NDArray[np.bool_]:
    return np.array([one.one in conditions or one.other in conditions for one in tests], bool)


def _alarms(null: ContrastOutcomes, questions: int, recognised: frozenset[int]) -> Floats:
    """Return whether any corrected contrast is significant, by question; a recognised reference does differ."""
    of = np.array([one.question for one in null.tests])
    inside = np.array([not one.outside for one in null.tests]) & ~_involves(null.tests, recognised)
    columns = [(null.clear[:, inside & (of == question)] == 1).any(axis=1) for question in range(questions)]
    return np.stack(columns, axis=1).astype(float)


def _by_question(values: Floats, outcomes: ContrastOutcomes, questions: tuple[str, ...]) -> Floats:
    """Return the mean over the conditions of each question, without missing values."""
    of = np.array([question for question, _ in outcomes.groups])
    return np.array(
        [
            float(np.mean(known)) if len(known := values[(of == place) & ~np.isnan(values)]) else np.nan
            for place in range(len(questions))
        ]
    )


def _ranks(outcomes: ContrastOutcomes, session: PlannedStudy) -> tuple[Floats, Floats]:
    """Return Kendall's tau-b with the truth, and whether the best condition came out best, for every question."""
    names, quality, world = session.sheet.conditions, session.truth.conditions, session.world
    left_out = world.rules(session.sheet).anchors | world.rules(session.sheet).hidden | _recognised(session)
    taus, best = [], []
    for question, sign in enumerate(world.signs):
        places = [place for place, one in enumerate(outcomes.groups) if one[0] == question and one[1] not in left_out]
        true = sign * np.array([quality[names[outcomes.groups[place][1]]] for place in places])
        mean = outcomes.mean[:, places]
        one, other = np.triu_indices(len(places), 1)
        agree = np.sign(np.round(mean[:, one] - mean[:, other], 9))
        true_signs = np.sign(np.round(true[one] - true[other], 9))
        size = np.sqrt(np.square(agree).sum(axis=1) * np.square(true_signs).sum())
        taus.append(np.where(size > 0, (agree * true_signs).sum(axis=1) / np.where(size > 0, size, 1.0), np.nan))
        if not len(places):
            best.append(np.full(len(mean), np.nan))
            continue
        at_top = np.flatnonzero(np.isclose(true, true.max()))
        best.append(np.isin(mean.argmax(axis=1), at_top).astype(float))
    return np.stack(taus, axis=1), np.stack(best, axis=1)


# Number of participants for a power

GOALS = (0.8, 0.9)
"""Powers that are requested: 80 % is usual, 90 % careful."""


class ParticipantsNeeded(NamedTuple):
    """The number of participants for a power; NaN with a note if none of the simulated numbers is near."""

    participants: float
    note: str


def needed_for(sizes: Sequence[int], power: Sequence[float], goal: float, repetitions: int) -> ParticipantsNeeded:
    """Return the number of participants at which the power reaches the goal.

    The power of a test is nearly normal in the square root of the number, so its probit is interpolated linearly over
    the root. A power that is lower than that of a smaller number, by chance, counts as equal.
    """
    tested = [(size, chance) for size, chance in zip(sizes, power, strict=True) if not math.isnan(chance)]
    if not tested:
        return ParticipantsNeeded(math.nan, "not tested")
    monotone = np.maximum.accumulate([chance for _, chance in tested])
    reached = np.flatnonzero(monotone >= goal)
    if not len(reached):
        return ParticipantsNeeded(math.nan, f"more than {tested[-1][0]}")
    place = int(reached[0])
    if place == 0:
        return ParticipantsNeeded(float(tested[0][0]), f"{tested[0][0]} or fewer")
    edge = 0.5 / repetitions
    below, above = (float(special.ndtri(np.clip(monotone[at], edge, 1 - edge))) for at in (place - 1, place))
    low, high = (math.sqrt(tested[at][0]) for at in (place - 1, place))
    share = (float(special.ndtri(goal)) - below) / (above - below)
    return ParticipantsNeeded(float(math.ceil((low + share * (high - low)) ** 2 - 1e-9)), "")


# Looks: where the study stops, and after how many participants on average

LOOK_COLUMNS = ["truth", "look", "participants", "reached", "stops", "decided", "precise", "futile", "found"]

LOOKS_NOTE = (
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
        return pd.DataFrame([*self.imagined.rows("imagined"), *self.equal.rows("equal")], columns=LOOK_COLUMNS)

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
