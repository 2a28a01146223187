"""A study for so many participants: its plan as a sheet, and how long it takes them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from beholder.analysis.result import MUSHRA
from beholder.errors import BeholderError, Problem, UserError
from beholder.methods.contract import Method, Scale
from beholder.planning.builder import make_plan
from beholder.planning.feasibility import build_frame
from beholder.planning.message_trials import study_requests
from beholder.planning.model import PlannedList
from beholder.sample_size.tests import Contents, ContrastRules
from beholder.simulation.rating_sheet import RatingSheet, sheet_of
from beholder.simulation.truth import Population, Truth, plant_truth
from beholder.stats.clustered import Codes, Floats
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.known_answers import EVERY_QUESTION, Expectation, KnownAnswer
from beholder.study.checks import Checks
from beholder.study.design import Design
from beholder.study.groups import group_study
from beholder.study.model import Question, Study
from beholder.study.questions import SCALES
from beholder.study.recruitment import Sum, is_money, money
from beholder.workflow.check import session_stages

# --- What a study takes of people's time, and what that costs ---


class Pay(NamedTuple):
    """What people earn: for a session of a method, or for an hour."""

    amount: Sum
    minutes: float
    """Of work, for which it is paid."""
    per: str
    method: str

    def of(self, participants: float, session: PlannedStudy) -> Sum:
        """Return what so many participants earn; where a session is paid, others in proportion to their length."""
        is_own = self.per == "session" and session.world.method.name == self.method
        each = session.visits if is_own else session.minutes / self.minutes
        return Sum(round(self.amount.minor * participants * each), self.amount.currency)


def pay_of(study: Study, rate: str | None, session: PlannedStudy) -> Pay | None:
    """Return what people earn: by the hour where a rate is given, else `recruit.reward` for one session of this study.

    None where neither is known. Another session of the same study earns in proportion to its length.
    """
    if rate is not None:
        return Pay(money(rate), 60.0, "hour", study.method)
    if study.recruit.reward is None:
        return None
    return Pay(money(study.recruit.reward), session.minutes / session.visits, "session", study.method)


def rate_problems(rate: str | None) -> list[Problem]:
    """Return what is wrong with a rate as it was written."""
    if rate is None or is_money(rate):
        return []
    allowed = "an amount above 0 and a currency of three capital letters, such as 12.00 GBP"
    return [Problem("--rate", f"is {' '.join(rate.split()) or 'empty'}", allowed)]


def hours(participants: float, minutes: float) -> float:
    """Return the hours of all participants together."""
    return participants * minutes / 60


def participants_to_start(participants: int, leaving: float, trials: Sequence[int]) -> int:
    """Return how many have to begin for so many to finish, where some leave before a trial: they are replaced."""
    most = max(trials, default=0)
    return math.ceil(participants / (1 - leaving) ** most)


# --- A study by another method: the same stimuli and questions, a session about as long ---


def as_method(study: Study, method: Method, checks: Checks) -> Study:
    """Return the study by another method: the same stimuli and questions, its own options, scale and design."""
    design = study.design
    written = method.defaults.get("design", {})
    usual = Design.model_validate(written if isinstance(written, dict) else {})
    kept = {name: getattr(design, name) for name in ("participants", "sessions_per_participant", "both_orders", "seed")}
    if not any(level.options for levels in design.between.values() for level in levels.values()):
        kept["between"] = design.between
    return study.model_copy(
        update={
            "method": method.name,
            "options": method.Options().model_dump(mode="json", by_alias=True),
            "questions": tuple(_question_for(question, method) for question in study.questions),
            "design": usual.model_copy(update=kept),
            "checks": checks,
        }
    )


def _question_for(question: Question, method: Method) -> Question:
    """Return a question with a scale of the method: its own where the method has it, else the method's first."""
    names = [name for name in method.scales if name in SCALES]
    if not names or question.scale in [SCALES[name] for name in names]:
        return question
    return question.model_copy(update={"scale": SCALES[names[0]]})


def match_length(world: SimulatedWorld, minutes: float) -> Study:
    """Return the study with as many trials as fit into so many minutes, or as many as the stimuli give."""
    study = with_participants(world.study, 2)
    ground = build_frame(study, with_message_stimuli(study, world.catalogue, world), world.method)
    pace = _seconds(world, study, ground.shape.trials)
    wanted = max(1, round(60 * minutes / pace)) if pace else ground.shape.trials
    for trials in (*_fewer(wanted), ground.shape.trials):
        tried = world.study.model_copy(update={"design": world.study.design.model_copy(update={"trials": trials})})
        try:
            plan_for(replace(world, study=tried), 2)
        except BeholderError:
            continue
        return tried
    return world.study


def _fewer(wanted: int) -> Iterator[int]:
    """Yield numbers of trials to try, each about a tenth smaller than the one before."""
    while wanted >= 1:
        yield wanted
        wanted = min(wanted - 1, math.floor(0.9 * wanted))


def _seconds(world: SimulatedWorld, study: Study, trials: int) -> float:
    """Return how long one trial takes."""
    return 60 * plan_for(replace(world, study=study), 2).rating_minutes / max(1, trials)


# --- The world in which a study is imagined: its stimuli, how good they truly are, and who would rate them ---


_CONTENTS = 7
"""Of the streams of chance, that of contents."""
COMPARED = 100.0
"""Where two are compared no scale says how good one is: points are hundredths of what goes from worst to best."""


@dataclass(frozen=True)
class SimulatedWorld:
    """A study with the truth behind it. Qualities are shares of the scale, from 0 to 1."""

    study: Study
    catalogue: Catalogue
    method: Method
    quality: Mapping[str, float]
    """Of every condition."""
    people: Population
    contents: Contents
    seed: int

    @property
    def questions(self) -> tuple[str, ...]:
        """What is asked."""
        return tuple(question.id for question in self.method.questions(self.study))

    @property
    def spans(self) -> tuple[float, ...]:
        """How many points the scale of each question has from end to end."""
        return tuple(points_of(question.scale) for question in self.method.questions(self.study))

    @property
    def signs(self) -> tuple[int, ...]:
        """Of each question, 1 where more is better and -1 where less is."""
        return tuple(-1 if question.keyed == "-" else 1 for question in self.method.questions(self.study))

    @property
    def truth(self) -> Truth:
        """The truth as simulations take it, without what contents do."""
        still = replace(self.people, content=0.0, content_condition=0.0)
        return plant_truth(self.catalogue, self.questions, self.seed, people=still, means=self.quality)

    @property
    def alike(self) -> SimulatedWorld:
        """The same world in which all conditions under test are equally good."""
        middle = float(np.mean(list(self.quality.values())))
        return replace(self, quality=dict.fromkeys(self.quality, middle))

    def rules(self, sheet: RatingSheet) -> ContrastRules:
        """Return which differences the study tests, and how."""
        roles = {stimulus.condition: stimulus.role for stimulus in self.catalogue.by_cell.values()}
        places = {name: place for place, name in enumerate(sheet.conditions)}
        anchors, references = (
            frozenset(place for name, place in places.items() if roles.get(name) == role)
            for role in ("anchor", "reference")
        )
        asked = self.study.analyse
        named = tuple((places[one], places[other]) for one, other in asked.contrasts)
        hidden = references if self.method.name == MUSHRA else frozenset()
        return ContrastRules(len(self.questions), named, asked.family, anchors, hidden, references, self.contents)

    def drawn(self, truth: Truth, repetition: int) -> Truth:
        """Return the truth with what contents do, which nobody knows: drawn anew in every repetition.

        Where contents are fixed it changes no difference of two conditions, over all of them.
        """
        rng = np.random.default_rng([self.seed, 1 + repetition, _CONTENTS])
        content, condition = self._cells
        shift = rng.normal(0, self.people.content, len(self.catalogue.contents))
        cells = rng.normal(0, self.people.content_condition, (len(shift), len(self.catalogue.conditions)))
        cells = cells - cells.mean(axis=0) if self.contents == "fixed" else cells
        added = np.where((content < 0) | (condition < 0), 0.0, shift[content] + cells[content, condition])
        quality: Floats = np.clip(truth.quality + added[:, np.newaxis], 0, 1)
        return replace(truth, quality=quality)

    @cached_property
    def _cells(self) -> tuple[Codes, Codes]:
        """The numbers of content and condition of each stimulus; -1 for what is rated by nobody."""
        contents, conditions = (
            {name: place for place, name in enumerate(names)}
            for names in (self.catalogue.contents, self.catalogue.conditions)
        )
        of = [(contents.get(one.content, -1), conditions.get(one.condition, -1)) for one in self.catalogue.stimuli]
        content, condition = np.array(of, dtype=np.intp).reshape(-1, 2).T
        return content, condition


def points_of(scale: Scale) -> float:
    """Return how many points there are from the worst to the best."""
    return COMPARED if scale.min < 0 else scale.max - scale.min


# --- A study for so many participants: its plan as a sheet, and how long it takes them ---


_LOOKED_AT = 24
"""Lists that are looked at for how long they take: stimuli, and groups, take unlike long."""


@dataclass(frozen=True)
class PlannedStudy:
    """What so many participants would rate."""

    world: SimulatedWorld
    """With the stimuli that are there for checks."""
    stimuli: Catalogue
    """Without them."""
    participants: int
    truth: Truth
    sheet: RatingSheet
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


def plan_for(world: SimulatedWorld, participants: int) -> PlannedStudy:
    """Return the session of a study with so many participants; raise PlanError where there can be no plan."""
    study = with_participants(world.study, participants)
    catalogue = with_message_stimuli(study, world.catalogue, world)
    plan = make_plan(study, catalogue, world.method)
    visits = study.design.sessions_per_participant
    mine = replace(world, catalogue=catalogue)
    truth = mine.truth
    sheet = sheet_of(_people(plan.lists, visits, participants), study, catalogue, world.method, truth)
    if sheet is None or not len(sheet):
        raise UserError(_method_problem(study))
    whole, rating = _minutes(mine, study, plan.lists[:_LOOKED_AT])
    # In a later session nothing but trials comes again.
    minutes = whole + (visits - 1) * rating
    return PlannedStudy(mine, world.catalogue, participants, truth, sheet, minutes, rating, visits)


def _minutes(world: SimulatedWorld, study: Study, lists: Sequence[PlannedList]) -> tuple[float, float]:
    """Return how long a first session takes, and of it the trials, on average over some lists."""
    ways = [
        session_stages(group_study(study, planned.group), world.catalogue, world.method, planned.entries)
        for planned in lists
    ]
    whole = sum(stage.minutes for stages in ways for stage in stages)
    rating = sum(stage.minutes for stages in ways for stage in stages if stage.is_rating)
    return whole / len(ways), rating / len(ways)


def with_participants(study: Study, participants: int) -> Study:
    """Return the study as it would be for so many participants."""
    return study.model_copy(
        update={"design": study.design.model_copy(update={"participants": participants, "votes": None})}
    )


def with_message_stimuli(study: Study, catalogue: Catalogue, world: SimulatedWorld) -> Catalogue:
    """Return the stimuli with those that ask for an answer, as if they had been made: nobody has to look at them."""
    made = [
        replace(
            one.source,
            id=f"{one.role}:{number}:{one.source.id}",
            condition=one.role,
            role=one.role,
            known_answer=KnownAnswer(
                "", expected={EVERY_QUESTION: Expectation(one.value, one.tolerance, also=one.also)}, is_trap=True
            ),
            derived_from=one.source.id,
        )
        for number, one in enumerate(study_requests(study, catalogue, world.method), 1)
    ]
    return replace(catalogue, stimuli=(*catalogue.stimuli, *made)) if made else catalogue


def _people(lists: Sequence[PlannedList], visits: int, participants: int) -> list[PlannedList]:
    """Return one list for each participant, with all that they see in all their sessions.

    Those of one person follow one another within their group; where there are fewer lists, they come again.
    """
    groups: dict[tuple[tuple[str, str], ...], list[PlannedList]] = {}
    for planned in lists:
        groups.setdefault(planned.group_key, []).append(planned)
    whole = [[_join_sessions(mine[at : at + visits]) for at in range(0, len(mine), visits)] for mine in groups.values()]
    # Groups take turns, as in the plan.
    turns = [one for turn in range(max(map(len, whole))) for mine in whole for one in mine[turn : turn + 1]]
    return [turns[number % len(turns)] for number in range(participants)]


def _join_sessions(sessions: Sequence[PlannedList]) -> PlannedList:
    """Return the sessions of one person as one list."""
    first = sessions[0]
    if len(sessions) == 1:
        return first
    trials = chain.from_iterable(one.trials for one in sessions)
    return replace(first, entries=tuple(replace(trial, id=f"trial:{at}") for at, trial in enumerate(trials, 1)))


def _method_problem(study: Study) -> Problem:
    allowed = "methods whose answers are one number for each question: scores, or which of two is better"
    fix = "`beholder simulate` rehearses every method."
    return study.problem("method", f"is {study.method}, of which power cannot be told", allowed, fix)
