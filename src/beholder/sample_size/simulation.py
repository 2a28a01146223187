"""The same study, imagined many times: what comes out, by how many take part."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import special

from beholder.sample_size.design import PlannedStudy
from beholder.sample_size.tests import ContrastOutcomes, Difference, concatenate, contrast_outcomes
from beholder.simulation.memory import simulate_sheet
from beholder.stats.clustered import Floats

_AT_ONCE = 1_000_000
"""Ratings that are judged at once: of more, most of the time goes into waiting for memory."""


@dataclass(frozen=True)
class Point:
    """What came out with so many participants, a row for each repetition."""

    session: PlannedStudy
    tests: tuple[Difference, ...]
    true: Floats
    """How far the two are apart, in points."""
    found: Floats
    """1 where a difference is clear and points the right way, 0 where not, NaN where it is not tested."""
    estimate: Floats
    """Mean estimate of every difference, over repetitions."""
    half: Floats
    """Mean half width of its interval."""
    mean_half: Floats
    """Of the interval of a condition's mean, by question."""
    tau: Floats
    """Agreement of the order of conditions with the truth, by question."""
    is_best: Floats
    """1 where the best condition came out best."""
    alarms: Floats
    """1 where something was called clear although all conditions were equally good, by question."""

    @property
    def participants(self) -> int:
        return self.session.participants


def simulate_point(
    session: PlannedStudy, repetitions: int, progress: Callable[[int], None] | None = None, *, has_null: bool = True
) -> Point:
    """Return what comes out of so many repetitions, and of as many in which all conditions are equally good.

    `progress` is told of how many are done since it was told last.
    """
    world = session.world
    judged = _repeat(session, repetitions, progress)
    null = (
        _repeat(replace(session, world=world.alike, truth=world.alike.truth), repetitions, progress)
        if has_null
        else None
    )
    quality, tests = session.truth.conditions, judged.tests
    names, spans, signs = session.sheet.conditions, world.spans, world.signs
    true = np.array(
        [
            signs[one.question] * spans[one.question] * (quality[names[one.one]] - quality[names[one.other]])
            for one in tests
        ]
    )
    true = np.round(true, 9)
    is_found = (judged.clear == 1) & (np.sign(judged.estimate) == np.sign(true))
    is_tested = ~np.isnan(judged.clear)
    tau, is_best = _ranks(judged, session)
    return Point(
        session=session,
        tests=tests,
        true=true,
        found=np.where(is_tested, is_found, np.nan),
        estimate=judged.estimate.mean(axis=0),
        half=judged.half.mean(axis=0),
        mean_half=_by_question(judged.mean_half.mean(axis=0), judged, world.questions),
        tau=tau,
        is_best=is_best,
        alarms=_alarms(null, len(world.questions)) if null is not None else np.zeros((0, len(world.questions))),
    )


def _repeat(session: PlannedStudy, repetitions: int, progress: Callable[[int], None] | None) -> ContrastOutcomes:
    """Return what all repetitions say."""
    world, sheet = session.world, session.sheet
    rules, people = world.rules(sheet), replace(world.people, leaving=0.0)
    at_once = max(1, min(repetitions, _AT_ONCE // max(1, len(sheet))))
    parts = []
    for begin in range(0, repetitions, at_once):
        mine = range(begin, min(begin + at_once, repetitions))
        values = np.empty((len(mine), len(sheet)))
        for row, repetition in enumerate(mine):
            truth = world.drawn(session.truth, repetition)
            values[row] = simulate_sheet(sheet, truth, people, seed=world.seed, repetition=repetition).value
        parts.append(contrast_outcomes(sheet, values, rules))
        if progress is not None:
            progress(len(mine))
    return concatenate(parts)


def _alarms(null: ContrastOutcomes, questions: int) -> Floats:
    """Return where something was called clear among what is corrected for, by question."""
    of, inside = (
        np.array(column) for column in ([one.question for one in null.tests], [not one.outside for one in null.tests])
    )
    columns = [(null.clear[:, inside & (of == question)] == 1).any(axis=1) for question in range(questions)]
    return np.stack(columns, axis=1).astype(float)


def _by_question(values: Floats, judged: ContrastOutcomes, questions: tuple[str, ...]) -> Floats:
    """Return the mean of what is known of the conditions of each question."""
    of = np.array([question for question, _ in judged.groups])
    return np.array(
        [
            float(np.mean(mine)) if len(mine := values[(of == place) & ~np.isnan(values)]) else np.nan
            for place in range(len(questions))
        ]
    )


def _ranks(judged: ContrastOutcomes, session: PlannedStudy) -> tuple[Floats, Floats]:
    """Return Kendall's tau-b with the truth, and whether the best came out best, of every question."""
    names, quality, world = session.sheet.conditions, session.truth.conditions, session.world
    left_out = world.rules(session.sheet).anchors | world.rules(session.sheet).hidden
    taus, best = [], []
    for question, sign in enumerate(world.signs):
        mine = [place for place, one in enumerate(judged.groups) if one[0] == question and one[1] not in left_out]
        true = sign * np.array([quality[names[judged.groups[place][1]]] for place in mine])
        mean = judged.mean[:, mine]
        one, other = np.triu_indices(len(mine), 1)
        agree = np.sign(np.round(mean[:, one] - mean[:, other], 9))
        truly = np.sign(np.round(true[one] - true[other], 9))
        size = np.sqrt(np.square(agree).sum(axis=1) * np.square(truly).sum())
        taus.append(np.where(size > 0, (agree * truly).sum(axis=1) / np.where(size > 0, size, 1.0), np.nan))
        if not len(mine):
            best.append(np.full(len(mean), np.nan))
            continue
        at_top = np.flatnonzero(np.isclose(true, true.max()))
        best.append(np.isin(mean.argmax(axis=1), at_top).astype(float))
    return np.stack(taus, axis=1), np.stack(best, axis=1)


# --- How many participants a chance takes, between the numbers that were tried ---


GOALS = (0.8, 0.9)
"""Chances that are asked for: four in five is usual, nine in ten careful."""


class ParticipantsNeeded(NamedTuple):
    """How many participants a chance takes; NaN with a note where none of those tried is near."""

    participants: float
    note: str


def needed_for(sizes: Sequence[int], power: Sequence[float], goal: float, repetitions: int) -> ParticipantsNeeded:
    """Return the number at which the chance reaches the goal.

    The chance of a test is nearly normal in the root of the number, so between two numbers its probit is taken as
    straight over the root. What chance of the repetitions has put below a smaller number counts as equal.
    """
    known = [(size, chance) for size, chance in zip(sizes, power, strict=True) if not math.isnan(chance)]
    if not known:
        return ParticipantsNeeded(math.nan, "not tested")
    rising = np.maximum.accumulate([chance for _, chance in known])
    reached = np.flatnonzero(rising >= goal)
    if not len(reached):
        return ParticipantsNeeded(math.nan, f"more than {known[-1][0]}")
    place = int(reached[0])
    if place == 0:
        return ParticipantsNeeded(float(known[0][0]), f"{known[0][0]} or fewer")
    edge = 0.5 / repetitions
    below, above = (float(special.ndtri(np.clip(rising[at], edge, 1 - edge))) for at in (place - 1, place))
    low, high = (math.sqrt(known[at][0]) for at in (place - 1, place))
    share = (float(special.ndtri(goal)) - below) / (above - below)
    return ParticipantsNeeded(float(math.ceil((low + share * (high - low)) ** 2 - 1e-9)), "")
