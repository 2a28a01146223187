"""Making a plan: contents to lists and positions, conditions to trials, stimuli to slots."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from beholder.errors import PlanError, Problem
from beholder.methods.contract import Break, Method, Slot, Trial, Unit, Units
from beholder.plan.bulk import no_collection
from beholder.plan.conditions import deal_conditions
from beholder.plan.contents import Shape, deal_by_quota, deal_evenly, quotas
from beholder.plan.digest import plan_digest
from beholder.plan.flow import Ints
from beholder.plan.grid import Grid, count_trials, lay_out
from beholder.plan.model import Plan, PlannedList
from beholder.plan.slots import PALETTE, draw_colours, order_slots
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Design, Study

_LETTERS = "ABCDEFGHIJKL"
_NAMES = tuple(f"s{place}" for place in range(1, len(_LETTERS) + 1))


def make_plan(study: Study, catalogue: Catalogue, method: Method) -> Plan:
    """Return every list of the study, deterministic in study, stimuli and seed; raise PlanError if none can be."""
    design = study.design
    units = method.units(study, catalogue)
    try:
        grid = _lay_out(study, catalogue, method, units)
        shape = Shape(design.participants, count_trials(grid, design))
    except PlanError as error:
        raise PlanError(_located(study, problem) for problem in error.problems) from None
    # One stream for each kind of draw: the colours do not change when the order does.
    deal, mix, paint, compose = (np.random.default_rng([design.seed, stream]) for stream in range(4))
    dealt = _deal_contents(grid, shape, design, deal)
    conditions = _conditions(grid, dealt, deal)
    order = order_slots(conditions, shape.trials, mix) if units.shuffle == "slots" else _as_it_is(conditions)
    colours = draw_colours(len(conditions), grid.per_trial, paint)
    contents, rows, orders, hues = dealt.ravel().tolist(), conditions.tolist(), order.tolist(), colours.tolist()
    digest = plan_digest(study, catalogue)
    with no_collection():
        lists = []
        for number in range(shape.lists):
            trials = []
            for position in range(shape.trials):
                index = number * shape.trials + position
                cells = grid.cells[contents[index]]
                unit = Unit(grid.contents[contents[index]], tuple([cells[a] for a in rows[index]]))
                composed = method.compose(study, unit, catalogue, compose)
                if len(composed.slots) != grid.per_trial:
                    made = f"{len(composed.slots)} slots from a unit of {grid.per_trial} stimuli"
                    raise ValueError(f"{method.name} composed {made}")
                trials.append(_arrange(composed, position + 1, orders[index], hues[index]))
            lists.append(PlannedList(number + 1, tuple(_with_breaks(trials, design.breaks))))
        return Plan(digest, design.seed, tuple(lists))


def _lay_out(study: Study, catalogue: Catalogue, method: Method, units: Units) -> Grid:
    """Return what there is to deal, or raise what the method and the planner find wrong, together."""
    problems = list(method.problems(study, catalogue))
    try:
        grid = lay_out(units, catalogue, study.design, method.name)
    except PlanError as error:
        problems += error.problems
    if problems:
        raise PlanError(problems)
    return grid


def _located(study: Study, problem: Problem) -> Problem:
    """Return the problem with the line of the key that it is about: methods and planner name the key alone."""
    if problem.where.partition(".")[0] not in Study.model_fields:
        return problem
    return study.problem(problem.where, problem.what, problem.allowed, problem.fix)


def _deal_contents(grid: Grid, shape: Shape, design: Design, rng: Generator) -> Ints:
    apart = design.contents == "apart"
    stimuli = grid.present.sum(axis=1)
    if grid.by_content or (stimuli == stimuli[0]).all():
        return deal_evenly(shape, len(grid.contents), apart=apart, rng=rng)
    rooms = grid.rooms(design)
    if apart:
        rooms = np.minimum(rooms, -(-shape.trials // 2))
    return deal_by_quota(shape, quotas(shape.trials, stimuli, rooms), apart=apart, rng=rng)


def _conditions(grid: Grid, dealt: Ints, rng: Generator) -> Ints:
    """Return the conditions of each trial in canonical order."""
    chosen = np.zeros((dealt.size, len(grid.conditions)), dtype=np.bool_)
    chosen[:, list(grid.always)] = True
    if grid.dealt_per_trial:
        chosen[:, list(grid.free)] = deal_conditions(dealt, grid.present, grid.dealt_per_trial, rng)
    return np.nonzero(chosen)[1].reshape(dealt.size, grid.per_trial)


def _as_it_is(conditions: Ints) -> Ints:
    return np.broadcast_to(np.arange(conditions.shape[1]), conditions.shape)


def _arrange(trial: Trial, position: int, order: list[int], colours: list[int]) -> Trial:
    """Return the trial with its slots in shown order, named and coloured by it."""
    shown = [trial.slots[place] for place in order]
    if len(shown) == 1:
        slots = [Slot("s1", slot.stimulus, slot.role, None, slot.rated, None) for slot in shown]
    else:
        slots = [
            Slot(name, slot.stimulus, slot.role, label, slot.rated, PALETTE[colour])
            for name, label, slot, colour in zip(_NAMES, _LETTERS, shown, colours, strict=False)
        ]
    return Trial(
        f"trial:{position}", trial.content, trial.purpose, tuple(slots), trial.asked, trial.draws, trial.targets
    )


def _with_breaks(trials: list[Trial], every: int | None) -> Iterator[Trial | Break]:
    for number, trial in enumerate(trials, 1):
        yield trial
        if every and number % every == 0 and number < len(trials):
            yield Break(f"break:{number // every}")
