"""Making a plan: the lists of every group are allocated, composed into trials, and complemented by checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.errors import PlanError, Problem
from beholder.methods.contract import Break, Method, Trial, Unit, Units
from beholder.methods.views import is_factor, view_level, views_of, with_view
from beholder.planning.allocation import allocate_in_runs, slot_orders, trial_orders
from beholder.planning.batches import FIRST_BATCH, BatchComposer, DealtPairs, batch_shape
from beholder.planning.check_counts import CheckCounts
from beholder.planning.check_placement import Placer
from beholder.planning.digest import plan_digest
from beholder.planning.feasibility import PlanFrame, build_frame, locate
from beholder.planning.given_plan import compose_given, read_given
from beholder.planning.groups import ParticipantGroup, for_each_group, groups_of
from beholder.planning.list_counts import fewest_ratings, search_list_count
from beholder.planning.model import DealtBatch, Plan, PlannedList, no_collection
from beholder.planning.own_stimuli import (
    MOST_OWN,
    BoundPerson,
    bind,
    bound_people,
    choose_lists,
    merge_trials,
    own_catalogue,
    own_problem,
    own_study,
    without_theirs,
)
from beholder.planning.slots import arrange, draw_colours, order_questions, order_training
from beholder.planning.training import make_training
from beholder.planning.vote_tally import VoteTally
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study

_VIEW_STREAM = 41
"""The stream of chance of views."""


class GroupLists(NamedTuple):
    """The lists of one group: what was allocated, the training, the trials, and what attention stimuli replaced."""

    units: Units
    training: tuple[Trial, ...]
    lists: list[list[Trial]]
    replaced: Mapping[str, int]
    replaced_stimuli: Mapping[int, Mapping[int, str]]


def make_plan(study: Study, catalogue: Catalogue, method: Method) -> Plan:
    """Return every list of the study, determined by study, stimuli and seed; raise PlanError if none is possible."""
    people = bound_people(study, catalogue)
    groups = groups_of(study, catalogue, method)
    with no_collection():
        group_lists = for_each_group(groups, lambda group: _make(group, method))
        parts = [part_of(group, part) for group, part in zip(groups, group_lists, strict=True)]
        plan = Plan(
            plan_digest(study, catalogue),
            study.design.seed,
            parts[0].lists,
            parts[0].units,
            parts[0].replaced,
            replaced_stimuli=parts[0].replaced_stimuli,
            is_given=study.design.plan is not None,
            design=study.design,
        )
        plan = plan if len(parts) == 1 else _interleave(plan, parts, study.design.sessions_per_participant)
        return _with_own(plan, study, catalogue, method, people) if people else plan


def _with_own(plan: Plan, study: Study, catalogue: Catalogue, method: Method, people: Sequence[BoundPerson]) -> Plan:
    """Return a plan in which some lists are for people with stimuli of their own, and have trials of these, too."""
    own_trials = _own_trials(study, catalogue, method, people)
    whose = choose_lists(study, people, plan.lists, catalogue)
    orders = plan.units.orders if plan.units is not None else ()
    lists = []
    for planned in plan.lists:
        person = whose.get(planned.number)
        if person is None:
            lists.append(planned)
            continue
        common = without_theirs(planned.trials, person, catalogue)
        mine = in_order(own_trials[person.number], orders, planned.number - 1)
        trials = merge_trials(common, mine, study, person)
        entries = (*planned.training, *with_breaks(trials, study.design.breaks))
        lists.append(bind(planned, person, entries))
    return replace(plan, lists=tuple(lists))


def _own_trials(
    study: Study, catalogue: Catalogue, method: Method, people: Sequence[BoundPerson]
) -> dict[int, list[Trial]]:
    """Return the trials of each person's own stimuli, by their number, or raise PlanError with all problems."""
    trials: dict[int, list[Trial]] = {}
    problems: list[Problem] = []
    for person in people:
        own, mine = own_study(study, person), own_catalogue(catalogue, person)
        try:
            frame = build_frame(own, mine, method, at_most=study.design.own.trials or MOST_OWN)
            trials[person.number] = _compose(own, mine, method, frame)[0]
        except PlanError as error:
            problems += [own_problem(problem, person) for problem in error.problems]
    if problems:
        raise PlanError(problems)
    return trials


def part_of(group: ParticipantGroup, group_lists: GroupLists) -> Plan:
    """Return the plan of one group, its lists numbered from 1."""
    breaks, orders = group.study.design.breaks, group_lists.units.orders
    batch = (
        None
        if group.study.design.active is None
        else DealtBatch(FIRST_BATCH, "", 0, VoteTally(group.catalogue.conditions, {}).digest)
    )
    # A person is asked in one order, also over several sessions.
    chain = group.study.design.sessions_per_participant
    made = group_lists.lists
    if is_factor(group.study):
        made = _even_views(made, views_of(group.study), np.random.default_rng([*group.study.seeds, _VIEW_STREAM]))
    lists = []
    for number, trials in enumerate(made, 1):
        entries = tuple(with_breaks(in_order(trials, orders, (number - 1) // chain), breaks))
        entries = (*order_training(group_lists.training, entries), *entries)
        lists.append(PlannedList(number, entries, group.levels, batch=batch))
    replaced_stimuli = {number: group_lists.replaced_stimuli.get(number - 1, {}) for number in range(1, len(lists) + 1)}
    design = group.study.design
    return Plan(
        "",
        design.seed,
        tuple(lists),
        group_lists.units,
        group_lists.replaced,
        replaced_stimuli=replaced_stimuli,
        design=design,
    )


def _interleave(plan: Plan, parts: Sequence[Plan], chain: int) -> Plan:
    """Return the plan of several groups, whose lists alternate so that groups fill evenly.

    Lists that one person may take one after the other stay together.
    """
    lists: list[PlannedList] = []
    replaced_stimuli: dict[int, Mapping[int, str]] = {}
    for start in range(0, max(len(part.lists) for part in parts), chain):
        for part in parts:
            for planned in part.lists[start : start + chain]:
                lists.append(replace(planned, number=len(lists) + 1))
                replaced_stimuli[len(lists)] = part.replaced_stimuli[planned.number]
    return replace(plan, lists=tuple(lists), replaced_stimuli=replaced_stimuli, groups=tuple(parts))


def _make(group: ParticipantGroup, method: Method) -> GroupLists:
    study, catalogue = group.study, group.catalogue
    if study.design.plan is not None:
        given = read_given(study, catalogue, method)
        lists = compose_given(study, catalogue, method, given)
        return with_checks(group, method, given.units, given.checks, lists)
    frame = build_frame(study, catalogue, method)
    if frame.units.shuffle == "order" and not study.design.both_orders:
        frame = frame._replace(units=replace(frame.units, shuffle="none"))

    if study.design.active is not None:
        composer = BatchComposer(study, catalogue, method, frame.units)
        shape = batch_shape(study, frame.units, frame.shape.trials)
        first = composer.compose(VoteTally(catalogue.conditions, {}), DealtPairs(catalogue), study.seeds, shape)
        return with_checks(group, method, frame.units, frame.checks, first)

    def make(number: int) -> GroupLists:
        resized = frame._replace(shape=frame.shape._replace(lists=number))
        return with_checks(group, method, frame.units, frame.checks, _compose(study, catalogue, method, resized))

    if study.design.votes is None:
        return make(frame.shape.lists)
    return search_list_count(
        study.design.votes, frame.shape.lists, make, lambda made: fewest_ratings(made.lists, made.units)
    )


def with_checks(
    group: ParticipantGroup, method: Method, units: Units, checks: CheckCounts, lists: list[list[Trial]]
) -> GroupLists:
    """Return the allocated lists with training and checks."""
    study, catalogue = group.study, group.catalogue
    # A separate stream: training changes nothing in the lists.
    training = make_training(study, catalogue, method, np.random.default_rng([study.seed, 5]))
    if checks.is_empty:
        return GroupLists(units, training, lists, {}, {})
    return GroupLists(units, training, *Placer(study, catalogue, method, units, checks).place(lists))


def _compose(study: Study, catalogue: Catalogue, method: Method, frame: PlanFrame) -> list[list[Trial]]:
    """Return the trials of every list, as allocated."""
    units, grid, shape, _ = frame
    # One random stream for each kind of draw: the colours do not change when the order does.
    allocating, slot_rng, colour_rng, compose_rng, order_rng = (
        np.random.default_rng([*study.seeds, stream]) for stream in range(5)
    )
    try:
        allocated = allocate_in_runs(grid, shape, study.design, allocating)
    except PlanError as error:
        raise PlanError(locate(study, problem) for problem in error.problems) from None
    orders = slot_orders(grid, units, allocated, slot_rng).tolist()
    colours = draw_colours(len(allocated.columns), grid.width, colour_rng).tolist()
    asks = units.asks or ((),)
    contents, columns = allocated.contents.ravel().tolist(), allocated.columns.tolist()
    lists: list[list[Trial]] = []
    for number, row in enumerate(trial_orders(allocated.contents, units.asks, order_rng).tolist()):
        trials = []
        for position, visit in enumerate(row, 1):
            place, ask = divmod(visit, len(asks))
            index = number * shape.trials + place
            content = contents[index]
            cells = grid.cells[content]
            unit = Unit(
                grid.contents[content], tuple([name for column in columns[index] for name in cells[column]]), asks[ask]
            )
            composed = method.compose(study, unit, catalogue, compose_rng)
            _check_slots(composed, unit, units, method)
            trials.append(arrange(composed, f"trial:{position}", orders[index], colours[index]))
        lists.append(trials)
    return lists


def _check_slots(composed: Trial, unit: Unit, units: Units, method: Method) -> None:
    free = [slot.label for slot in composed.slots].count(None)
    allocated = len(unit.stimuli)
    # Stimuli that are not permuted may have a labelled place: the reference of a pair.
    if free != allocated and (units.shuffle != "none" or not 0 < free < allocated):
        raise ValueError(f"{method.name} composed {free} slots without a label from a unit of {allocated} stimuli")


def in_order(trials: list[Trial], orders: Sequence[Sequence[str]], turn: int) -> list[Trial]:
    """Return the trials of a list with their questions in the order whose turn it is, if there are several."""
    return [order_questions(trial, orders[turn % len(orders)]) for trial in trials] if orders else trials


def with_breaks(trials: list[Trial], every: int | None) -> Iterator[Trial | Break]:
    """Yield the trials of a list with a break after every so many; not for the sake of a single one that is left."""
    least_left = min(every or 1, 2)
    for number, trial in enumerate(trials, 1):
        yield trial
        if every and number % every == 0 and number + least_left <= len(trials):
            yield Break(f"break:{number // every}")


# Views as a factor within persons: which trial of a list has which view


def _even_views(lists: Sequence[Sequence[Trial]], views: Sequence[str], rng: Generator) -> list[list[Trial]]:
    """Return the lists with each view equally often in each, and each pair in each view equally often over all.

    Within one, in a list always; over lists as far as the quotas of the lists allow. Trials without a view stay.
    """
    by_pair: Counter[tuple[frozenset[str], str]] = Counter()
    total: Counter[str] = Counter()
    evened = []
    for trials in lists:
        varied = [place for place, trial in enumerate(trials) if view_level(trial) is not None]
        quota = _quota(len(varied), views, total, rng)
        changed = list(trials)
        for place in rng.permutation(varied).tolist() if varied else ():
            pair = frozenset(slot.stimulus for slot in trials[place].slots)
            left = [str(view) for view in rng.permutation(list(views)) if quota[str(view)] > 0]
            view = min(left, key=lambda one: (by_pair[pair, one], -quota[one]))
            quota[view] -= 1
            by_pair[pair, view] += 1
            total[view] += 1
            changed[place] = with_view(trials[place], view)
        evened.append(changed)
    return evened


def _quota(trials: int, views: Sequence[str], total: Counter[str], rng: Generator) -> Counter[str]:
    """Return how many trials of a list have each view: one more of those that were had least so far."""
    each, more = divmod(trials, len(views))
    rare = sorted(rng.permutation(list(views)).tolist(), key=lambda view: total[view])[:more]
    return Counter({view: each + (view in rare) for view in views})
