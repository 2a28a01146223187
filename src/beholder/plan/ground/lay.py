"""What a plan stands on: what there is to deal, how many trials a list has, and what is checked in it."""

from __future__ import annotations

from typing import NamedTuple

from beholder.errors import PlanError, Problem
from beholder.methods.contract import Method, Units
from beholder.plan.dealing.contents import Shape
from beholder.plan.ground.graph import makes_own_trials, pair_problems
from beholder.plan.ground.grid import Grid, lay_out
from beholder.plan.ground.pace import trials_in_time
from beholder.plan.ground.room import MOST_TRIALS, count_trials
from beholder.plan.ground.votes import lists_for
from beholder.plan.placing.amounts import Amounts, find_amounts
from beholder.plan.teaching.training import lesson_problems
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study


class Ground(NamedTuple):
    """What a plan stands on; `shape` counts dealt trials, each of which may come once for every set of questions."""

    units: Units
    grid: Grid
    shape: Shape
    amounts: Amounts


def lay_ground(study: Study, catalogue: Catalogue, method: Method) -> Ground:
    """Return what a plan stands on, or raise PlanError with everything that stands in its way."""
    design = study.design
    units = method.units(study, catalogue)
    untaught = tuple(lesson_problems(study, catalogue, method))
    try:
        grid = _lay_out(study, catalogue, method, units)
        at_most = (
            MOST_TRIALS if design.trials else min(MOST_TRIALS, trials_in_time(study, catalogue, method, units, grid))
        )
        trials = count_trials(grid, design, at_most)
        shape = Shape(lists_for(grid, design, trials), trials, design.sessions_per_participant)
    except PlanError as error:
        raise PlanError((*(located(study, problem) for problem in error.problems), *untaught)) from None
    amounts = find_amounts(study, catalogue, method, units, shape.trials * max(1, len(units.asks)))
    if untaught or amounts.problems:
        raise PlanError((*untaught, *amounts.problems))
    return Ground(units, grid, shape, amounts)


def _lay_out(study: Study, catalogue: Catalogue, method: Method, units: Units) -> Grid:
    """Return what there is to deal, or raise what the method and the planner find wrong, together."""
    problems = [*method.problems(study, catalogue), *pair_problems(study, catalogue, units, method.name)]
    if problems and (units.companions or study.design.given_pairs is not None):
        # What a test goes with, or is compared with, may be the very thing that is missing.
        raise PlanError(problems)
    try:
        grid = lay_out(units, catalogue, study.design, method.name)
    except PlanError as error:
        problems += error.problems
    if problems:
        raise PlanError(problems)
    return grid


def check_comparing(study: Study, catalogue: Catalogue, method: Method) -> None:
    """Raise PlanError where a method cannot compare these stimuli, whichever pairs of them are chosen."""
    problems = list(method.problems(study, catalogue))
    if makes_own_trials(study, catalogue, method.units(study, catalogue)):
        what = f"does not fit {method.name}, which makes its own trials"
        problems.append(Problem("design.pairs", what, "a method that compares two, such as pair"))
    if problems:
        raise PlanError(located(study, problem) for problem in problems)


def located(study: Study, problem: Problem) -> Problem:
    """Return the problem with the line of the key that it is about: methods and planner name the key alone."""
    if problem.where.partition(".")[0] not in Study.model_fields:
        return problem
    return study.problem(problem.where, problem.what, problem.allowed, problem.fix)
