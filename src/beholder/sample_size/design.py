"""A study for so many participants: its plan as a sheet, and how long it takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from beholder.check import session_stages
from beholder.errors import Problem, UserError
from beholder.plan.make import make_plan
from beholder.plan.model import PlannedList
from beholder.plan.placing.clips import wanted_clips
from beholder.power.world import World
from beholder.simulate.sheet import Sheet, sheet_of
from beholder.simulate.truth import Truth
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.lesson import EVERY, Expectation, Lesson
from beholder.study.between import study_of
from beholder.study.model import Study

_LOOKED_AT = 24
"""Lists that are looked at for how long they take: stimuli, and groups, take unlike long."""


@dataclass(frozen=True)
class Session:
    """What so many participants would rate."""

    world: World
    """With the stimuli that are there for checks."""
    stimuli: Catalogue
    """Without them."""
    participants: int
    truth: Truth
    sheet: Sheet
    """Its lists are the participants."""
    minutes: float
    """Of one participant, over all their sessions."""
    rating_minutes: float
    """Of it, on the trials of one session."""
    visits: int
    """Sessions of one participant."""

    @property
    def ratings(self) -> tuple[int, int]:
        """Fewest and most judgements of a stimulus, or of a pair, in one question."""
        sheet = self.sheet
        mine = sheet.question == sheet.question.min(initial=0)
        judged = np.stack([sheet.stimulus[mine], sheet.other[mine] if sheet.is_compared else sheet.stimulus[mine]])
        counts = np.unique(np.sort(judged, axis=0), axis=1, return_counts=True)[1]
        return (int(counts.min()), int(counts.max())) if len(counts) else (0, 0)


def session_of(world: World, participants: int) -> Session:
    """Return the session of a study with so many participants; raise PlanError where there can be no plan."""
    study = sized(world.study, participants)
    catalogue = imagined(study, world.catalogue, world)
    plan = make_plan(study, catalogue, world.method)
    visits = study.design.sessions_per_participant
    mine = replace(world, catalogue=catalogue)
    truth = mine.truth
    sheet = sheet_of(_people(plan.lists, visits, participants), study, catalogue, world.method, truth)
    if sheet is None or not len(sheet):
        raise UserError(_one_by_one(study))
    whole, rating = _minutes(mine, study, plan.lists[:_LOOKED_AT])
    # In a later session nothing but trials comes again.
    minutes = whole + (visits - 1) * rating
    return Session(mine, world.catalogue, participants, truth, sheet, minutes, rating, visits)


def _minutes(world: World, study: Study, lists: Sequence[PlannedList]) -> tuple[float, float]:
    """Return how long a first session takes, and of it the trials, on average over some lists."""
    ways = [
        session_stages(study_of(study, planned.group), world.catalogue, world.method, planned.entries)
        for planned in lists
    ]
    whole = sum(stage.minutes for stages in ways for stage in stages)
    rating = sum(stage.minutes for stages in ways for stage in stages if stage.is_rating)
    return whole / len(ways), rating / len(ways)


def sized(study: Study, participants: int) -> Study:
    """Return the study as it would be for so many participants."""
    return study.model_copy(
        update={"design": study.design.model_copy(update={"participants": participants, "votes": None})}
    )


def imagined(study: Study, catalogue: Catalogue, world: World) -> Catalogue:
    """Return the stimuli with those that ask for an answer, as if they had been made: nobody has to look at them."""
    made = [
        replace(
            one.source,
            id=f"{one.role}:{number}:{one.source.id}",
            condition=one.role,
            role=one.role,
            lesson=Lesson("", expected={EVERY: Expectation(one.value, one.tolerance, also=one.also)}, is_trap=True),
            made_of=one.source.id,
        )
        for number, one in enumerate(wanted_clips(study, catalogue, world.method), 1)
    ]
    return replace(catalogue, stimuli=(*catalogue.stimuli, *made)) if made else catalogue


def _people(lists: Sequence[PlannedList], visits: int, participants: int) -> list[PlannedList]:
    """Return one list for each participant, with all that they see in all their sessions.

    Those of one person follow one another within their group; where there are fewer lists, they come again.
    """
    groups: dict[tuple[tuple[str, str], ...], list[PlannedList]] = {}
    for planned in lists:
        groups.setdefault(planned.group_key, []).append(planned)
    whole = [[_together(mine[at : at + visits]) for at in range(0, len(mine), visits)] for mine in groups.values()]
    # Groups take turns, as in the plan.
    turns = [one for turn in range(max(map(len, whole))) for mine in whole for one in mine[turn : turn + 1]]
    return [turns[number % len(turns)] for number in range(participants)]


def _together(sessions: Sequence[PlannedList]) -> PlannedList:
    """Return the sessions of one person as one list."""
    first = sessions[0]
    if len(sessions) == 1:
        return first
    trials = chain.from_iterable(one.trials for one in sessions)
    return replace(first, entries=tuple(replace(trial, id=f"trial:{at}") for at, trial in enumerate(trials, 1)))


def _one_by_one(study: Study) -> Problem:
    allowed = "methods whose answers are one number for each question: scores, or which of two is better"
    fix = "`beholder simulate` rehearses every method."
    return study.problem("method", f"is {study.method}, of which power cannot be told", allowed, fix)
