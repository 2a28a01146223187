"""The same study simulated many times: how often differences are detected, by the number of participants."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import special

from beholder.sample_size.design import PlannedStudy
from beholder.sample_size.tests import ContrastOutcomes, Difference, concatenate, contrast_outcomes
from beholder.simulation.memory import simulate_sheet
from beholder.stats.clustered import Floats

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
    is_tested = ~np.isnan(outcomes.clear)
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
        alarms=_alarms(null, len(world.questions)) if null is not None else np.zeros((0, len(world.questions))),
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


def _alarms(null: ContrastOutcomes, questions: int) -> Floats:
    """Return whether any corrected contrast is significant, by question."""
    of, inside = (
        np.array(column) for column in ([one.question for one in null.tests], [not one.outside for one in null.tests])
    )
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
    left_out = world.rules(session.sheet).anchors | world.rules(session.sheet).hidden
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
