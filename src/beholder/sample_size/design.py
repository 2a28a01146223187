"""The simulated study: true quality of its stimuli, its plan for a number of participants, its duration and cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from beholder.errors import BeholderError, Problem, UserError
from beholder.methods import find
from beholder.methods.contract import Method, Scale, scoring_of
from beholder.methods.transcripts import TranscriptMethod
from beholder.planning.builder import make_plan
from beholder.planning.feasibility import build_frame
from beholder.planning.message_trials import study_requests
from beholder.planning.model import PlannedList
from beholder.sample_size.tests import Contents, ContrastRules
from beholder.server.session_stages import session_stages
from beholder.simulation.rating_sheet import RatingSheet, sheet_of
from beholder.simulation.truth import Population, Truth, plant_truth
from beholder.stats.clustered import Codes, Floats
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.known_answers import EVERY_QUESTION, Expectation, KnownAnswer
from beholder.study.checks import Checks
from beholder.study.design import Design, Level
from beholder.study.groups import DESIGN_KEYS, group_study
from beholder.study.model import Question, Study
from beholder.study.questions import SCALES
from beholder.study.recruitment import Sum, is_money, money

_CONTENTS = 7
"""The random stream of contents."""

COMPARED = 100.0
"""Points of comparisons, which have no scale of quality: hundredths of the range from worst to best."""

_SAMPLE = 24
"""Lists whose duration is averaged: stimuli and groups differ in duration."""


@dataclass(frozen=True)
class SimulatedWorld:
    """A study with the true quality of its conditions. Qualities are shares of the scale, from 0 to 1."""

    study: Study
    catalogue: Catalogue
    method: Method
    quality: Mapping[str, float]
    """The quality of every condition."""
    people: Population
    contents: Contents
    seed: int

    @property
    def questions(self) -> tuple[str, ...]:
        """The ids of the questions."""
        return tuple(question.id for question in self.method.questions(self.study))

    @property
    def question_names(self) -> dict[str, str]:
        """What figures call each question: its label, of a reversed one that of its turned scores, or its id."""
        asked = self.method.questions(self.study)
        return {one.id: one.name_of_scores(is_turned=one.keyed == "-") or one.id for one in asked}

    @property
    def condition_names(self) -> dict[str, str]:
        """The labels of the conditions that have one."""
        return {one.name: one.label for one in self.study.conditions if one.label}

    @property
    def spans(self) -> tuple[float, ...]:
        """The points of the scale of each question from end to end."""
        return tuple(points_of(question.scale) for question in self.method.questions(self.study))

    @property
    def signs(self) -> tuple[int, ...]:
        """For each question, 1 if more is better and -1 if less is."""
        is_fault = isinstance(self.method, TranscriptMethod) and self.method.counts_faults
        return tuple(-1 if is_fault or one.keyed == "-" else 1 for one in self.method.questions(self.study))

    @property
    def truth(self) -> Truth:
        """The truth for simulations, without effects of contents."""
        people = replace(self.people, content=0.0, content_condition=0.0)
        return plant_truth(self.catalogue, self.questions, self.seed, people=people, means=self.quality)

    @property
    def null(self) -> SimulatedWorld:
        """The same world with all conditions under test equally good."""
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
        options = self.study.analyse
        contrasts = tuple((places[one], places[other]) for one, other in options.contrasts)
        hidden = references if scoring_of(self.method).controls_reference else frozenset()
        return ContrastRules(len(self.questions), contrasts, options.family, anchors, hidden, references, self.contents)

    def draw_contents(self, truth: Truth, repetition: int) -> Truth:
        """Return the truth with random effects of contents, draw_contents for each repetition.

        If contents are fixed, they change no difference of two conditions on average over all contents.
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
        """The indices of content and condition of each stimulus; -1 for stimuli that are not rated."""
        contents, conditions = (
            {name: place for place, name in enumerate(names)}
            for names in (self.catalogue.contents, self.catalogue.conditions)
        )
        of = [
            (contents.get(one.content, -1), conditions.get(one.condition, -1) if one.role != "mismatched" else -1)
            for one in self.catalogue.stimuli
        ]
        content, condition = np.array(of, dtype=np.intp).reshape(-1, 2).T
        return content, condition


def points_of(scale: Scale) -> float:
    """Return the points of a scale from the worst to the best answer."""
    return COMPARED if scale.min < 0 else scale.max - scale.min


# Plan


@dataclass(frozen=True)
class PlannedStudy:
    """The plan of a study for a number of participants, with its duration."""

    world: SimulatedWorld
    """With the stimuli for checks."""
    stimuli: Catalogue
    """Without the stimuli for checks."""
    participants: int
    truth: Truth
    sheet: RatingSheet
    """The judgements; its lists are the participants."""
    minutes: float
    """Duration for one participant, over all sessions."""
    rating_minutes: float
    """Duration of the trials of one session."""
    visits: int
    """Sessions of one participant."""

    @property
    def ratings(self) -> tuple[int, int]:
        """Fewest and most judgements of a stimulus, or of a pair, in one question."""
        sheet = self.sheet
        rows = sheet.question == sheet.question.min(initial=0)
        judged = np.stack([sheet.stimulus[rows], sheet.other[rows] if sheet.is_compared else sheet.stimulus[rows]])
        counts = np.unique(np.sort(judged, axis=0), axis=1, return_counts=True)[1]
        return (int(counts.min()), int(counts.max())) if len(counts) else (0, 0)


def plan_for(world: SimulatedWorld, participants: int) -> PlannedStudy:
    """Return the study planned for a number of participants; raise PlanError if there can be no plan."""
    study = with_participants(world.study, participants)
    catalogue = with_message_stimuli(study, world.catalogue, world)
    plan = make_plan(study, catalogue, world.method)
    visits = study.design.sessions_per_participant
    complete_world = replace(world, catalogue=catalogue)
    truth = complete_world.truth
    lists = _people(plan.lists, visits, participants)
    sheet = sheet_of(lists, study, catalogue, world.method, truth, is_exact=False)
    if sheet is None or not len(sheet):
        raise UserError(_method_problem(study))
    session, rating = _minutes(complete_world, study, plan.lists[:_SAMPLE])
    # A later session consists of trials only.
    minutes = session + (visits - 1) * rating
    return PlannedStudy(complete_world, world.catalogue, participants, truth, sheet, minutes, rating, visits)


def _minutes(world: SimulatedWorld, study: Study, lists: Sequence[PlannedList]) -> tuple[float, float]:
    """Return the average duration of a first session, and of its trials, over some lists."""
    sessions = [
        session_stages(group_study(study, planned.group), world.catalogue, world.method, planned.entries)
        for planned in lists
    ]
    total = sum(stage.minutes for stages in sessions for stage in stages)
    rating = sum(stage.minutes for stages in sessions for stage in stages if stage.is_rating)
    return total / len(sessions), rating / len(sessions)


def with_participants(study: Study, participants: int) -> Study:
    """Return the study for a number of participants."""
    return study.model_copy(
        update={"design": study.design.model_copy(update={"participants": participants, "votes": None})}
    )


def with_message_stimuli(study: Study, catalogue: Catalogue, world: SimulatedWorld) -> Catalogue:
    """Return the stimuli with message stimuli, as if they had been made."""
    messages = [
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
    return replace(catalogue, stimuli=(*catalogue.stimuli, *messages)) if messages else catalogue


def _people(lists: Sequence[PlannedList], visits: int, participants: int) -> list[PlannedList]:
    """Return one list for each participant, with the trials of all their sessions.

    The lists of one person follow one another within their group; if there are fewer lists, they are repeated.
    """
    groups: dict[tuple[tuple[str, str], ...], list[PlannedList]] = {}
    for planned in lists:
        groups.setdefault(planned.group_key, []).append(planned)
    by_group = [
        [_join_sessions(group[at : at + visits]) for at in range(0, len(group), visits)] for group in groups.values()
    ]
    # Groups alternate, as in the plan.
    in_turn = [one for turn in range(max(map(len, by_group))) for group in by_group for one in group[turn : turn + 1]]
    return [in_turn[number % len(in_turn)] for number in range(participants)]


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


# The study by another method


def as_method(study: Study, method: Method, checks: Checks) -> Study:
    """Return the study by another method: the same stimuli and questions, the method's options, scale and design."""
    design = study.design
    defaults = method.defaults.get("design", {})
    default = Design.model_validate(defaults if isinstance(defaults, dict) else {})
    changes = {
        name: getattr(design, name) for name in ("participants", "sessions_per_participant", "both_orders", "seed")
    }
    if not any(level.options for levels in design.between.values() for level in levels.values()):
        changes["between"] = without_pages(design.between)
    questions = study.questions or find(study.method).questions(study)  # some methods bring theirs
    return study.model_copy(
        update={
            "method": method.name,
            "options": method.Options().model_dump(mode="json", by_alias=True),
            "questions": tuple(_question_for(question, method) for question in questions),
            "design": default.model_copy(update=changes),
            "checks": checks,
        }
    )


def without_pages(between: Mapping[str, Mapping[str, Level]]) -> dict[str, Mapping[str, Level]]:
    """Return the factors without those by which the number of stimuli on a page, or of pages, differs."""
    return {
        factor: levels
        for factor, levels in between.items()
        if all(getattr(level, key) is None for level in levels.values() for key in DESIGN_KEYS)
    }


def _question_for(question: Question, method: Method) -> Question:
    """Return a question with a scale of the method: its own if the method has it, else the method's first."""
    names = [name for name in method.scales if name in SCALES]
    if not names or question.scale in [SCALES[name] for name in names]:
        return question
    return question.model_copy(update={"scale": SCALES[names[0]]})


def match_length(world: SimulatedWorld, minutes: float) -> Study:
    """Return the study with as many trials as fit into some minutes, or as the stimuli allow."""
    study = with_participants(world.study, 2)
    frame = build_frame(study, with_message_stimuli(study, world.catalogue, world), world.method)
    pace = _seconds(world, study, frame.shape.trials)
    requested = max(1, round(60 * minutes / pace)) if pace else frame.shape.trials
    for trials in (*_fewer(requested), frame.shape.trials):
        candidate = world.study.model_copy(update={"design": world.study.design.model_copy(update={"trials": trials})})
        try:
            plan_for(replace(world, study=candidate), 2)
        except BeholderError:
            continue
        return candidate
    return world.study


def _fewer(trials: int) -> Iterator[int]:
    """Yield numbers of trials to try, each about a tenth smaller than the one before."""
    while trials >= 1:
        yield trials
        trials = min(trials - 1, math.floor(0.9 * trials))


def _seconds(world: SimulatedWorld, study: Study, trials: int) -> float:
    """Return the duration of one trial."""
    return 60 * plan_for(replace(world, study=study), 2).rating_minutes / max(1, trials)


# Cost


class Pay(NamedTuple):
    """What participants are paid: for a session of a method, or for an hour."""

    amount: Sum
    minutes: float
    """The working time that the amount is for."""
    per: str
    method: str

    def of(self, participants: float, session: PlannedStudy) -> Sum:
        """Return the cost of participants; a session of another length is paid in proportion."""
        is_own = self.per == "session" and session.world.method.name == self.method
        each = session.visits if is_own else session.minutes / self.minutes
        return Sum(round(self.amount.minor * participants * each), self.amount.currency)


def pay_of(study: Study, rate: str | None, session: PlannedStudy) -> Pay | None:
    """Return the pay: by the hour if a rate is given, else `recruit.reward` for one session of this study.

    None if neither is known. A session by another method is paid in proportion to its length.
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
    """Return how many have to start for `participants` to finish, if some leave before a trial and are replaced."""
    most = max(trials, default=0)
    return math.ceil(participants / (1 - leaving) ** most)
