"""Making a plan: every list of every group, dealt, composed, and with what the rules put into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from beholder.errors import PlanError
from beholder.methods.contract import Break, Method, Trial, Unit, Units
from beholder.planning.allocation import allocate_in_runs, slot_orders, trial_orders
from beholder.planning.check_counts import CheckCounts
from beholder.planning.check_placement import Placer
from beholder.planning.digest import plan_digest
from beholder.planning.feasibility import PlanFrame, build_frame, locate
from beholder.planning.given_plan import compose_given, read_given
from beholder.planning.groups import ParticipantGroup, for_each_group, groups_of
from beholder.planning.list_counts import fewest_ratings, search_list_count
from beholder.planning.model import Plan, PlannedList, no_collection
from beholder.planning.slots import arrange, draw_colours
from beholder.planning.training import make_training
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study


class GroupLists(NamedTuple):
    """The lists of one group: what was dealt, what people practise on, what they rate, and what gave way in it."""

    units: Units
    training: tuple[Trial, ...]
    lists: list[list[Trial]]
    replaced: Mapping[str, int]
    gave_way: Mapping[int, Mapping[int, str]]


def make_plan(study: Study, catalogue: Catalogue, method: Method) -> Plan:
    """Return every list of the study, deterministic in study, stimuli and seed; raise PlanError if none can be."""
    groups = groups_of(study, catalogue, method)
    with no_collection():
        made = for_each_group(groups, lambda group: _make(group, method))
        parts = [_part(group, part) for group, part in zip(groups, made, strict=True)]
        whole = Plan(
            plan_digest(study, catalogue),
            study.design.seed,
            parts[0].lists,
            parts[0].units,
            parts[0].replaced,
            gave_way=parts[0].gave_way,
            is_given=study.design.plan is not None,
            design=study.design,
        )
        return whole if len(parts) == 1 else _interleave(whole, parts, study.design.sessions_per_participant)


def _part(group: ParticipantGroup, made: GroupLists) -> Plan:
    """Return the plan of one group, its lists numbered from 1."""
    breaks = group.study.design.breaks
    lists = tuple(
        PlannedList(number, (*made.training, *with_breaks(trials, breaks)), group.levels)
        for number, trials in enumerate(made.lists, 1)
    )
    gave_way = {number: made.gave_way.get(number - 1, {}) for number in range(1, len(lists) + 1)}
    design = group.study.design
    return Plan("", design.seed, lists, made.units, made.replaced, gave_way=gave_way, design=design)


def _interleave(whole: Plan, parts: Sequence[Plan], chain: int) -> Plan:
    """Return the plan of several groups, which take turns so that they fill evenly whoever comes and goes.

    Lists that one person may take one after the other stay together.
    """
    lists: list[PlannedList] = []
    gave_way: dict[int, Mapping[int, str]] = {}
    for start in range(0, max(len(part.lists) for part in parts), chain):
        for part in parts:
            for planned in part.lists[start : start + chain]:
                lists.append(replace(planned, number=len(lists) + 1))
                gave_way[len(lists)] = part.gave_way[planned.number]
    return replace(whole, lists=tuple(lists), gave_way=gave_way, groups=tuple(parts))


def _make(group: ParticipantGroup, method: Method) -> GroupLists:
    study, catalogue = group.study, group.catalogue
    if study.design.plan is not None:
        given = read_given(study, catalogue, method)
        lists = compose_given(study, catalogue, method, given)
        return _with_checks(group, method, given.units, given.amounts, lists)
    ground = build_frame(study, catalogue, method)
    if ground.units.shuffle == "order" and not study.design.both_orders:
        ground = ground._replace(units=replace(ground.units, shuffle="none"))

    def make(number: int) -> GroupLists:
        there = ground._replace(shape=ground.shape._replace(lists=number))
        return _with_checks(group, method, ground.units, ground.amounts, _compose(study, catalogue, method, there))

    if study.design.votes is None:
        return make(ground.shape.lists)
    return search_list_count(
        study.design.votes, ground.shape.lists, make, lambda made: fewest_ratings(made.lists, made.units)
    )


def _with_checks(
    group: ParticipantGroup, method: Method, units: Units, amounts: CheckCounts, lists: list[list[Trial]]
) -> GroupLists:
    """Return lists as they were dealt, with what the rules put into them."""
    study, catalogue = group.study, group.catalogue
    # A stream of its own: whether people are trained changes nothing of what they rate.
    training = make_training(study, catalogue, method, np.random.default_rng([study.seed, 5]))
    if amounts.is_nothing:
        return GroupLists(units, training, lists, {}, {})
    return GroupLists(units, training, *Placer(study, catalogue, method, units, amounts).place(lists))


def _compose(study: Study, catalogue: Catalogue, method: Method, ground: PlanFrame) -> list[list[Trial]]:
    """Return the trials of every list, as dealt."""
    units, grid, shape, _ = ground
    # One stream for each kind of draw: the colours do not change when the order does.
    dealing, mix, paint, compose, strew = (np.random.default_rng([*study.seeds, stream]) for stream in range(5))
    try:
        dealt = allocate_in_runs(grid, shape, study.design, dealing)
    except PlanError as error:
        raise PlanError(locate(study, problem) for problem in error.problems) from None
    orders = slot_orders(grid, units, dealt, mix).tolist()
    hues = draw_colours(len(dealt.columns), grid.width, paint).tolist()
    asks = units.asks or ((),)
    contents, columns = dealt.contents.ravel().tolist(), dealt.columns.tolist()
    lists: list[list[Trial]] = []
    for number, row in enumerate(trial_orders(dealt.contents, units.asks, strew).tolist()):
        trials = []
        for position, visit in enumerate(row, 1):
            place, turn = divmod(visit, len(asks))
            index = number * shape.trials + place
            content = contents[index]
            cells = grid.cells[content]
            unit = Unit(
                grid.contents[content], tuple([name for column in columns[index] for name in cells[column]]), asks[turn]
            )
            composed = method.compose(study, unit, catalogue, compose)
            _check_slots(composed, unit, units, method)
            trials.append(arrange(composed, f"trial:{position}", orders[index], hues[index]))
        lists.append(trials)
    return lists


def _check_slots(composed: Trial, unit: Unit, units: Units, method: Method) -> None:
    free = [slot.label for slot in composed.slots].count(None)
    dealt = len(unit.stimuli)
    # What nobody permutes may stand in a place with a name: the reference of a pair.
    if free != dealt and (units.shuffle != "none" or not 0 < free < dealt):
        raise ValueError(f"{method.name} composed {free} slots without a label from a unit of {dealt} stimuli")


def with_breaks(trials: list[Trial], every: int | None) -> Iterator[Trial | Break]:
    """Yield trials with a break after every so many of them."""
    for number, trial in enumerate(trials, 1):
        yield trial
        if every and number % every == 0 and number < len(trials):
            yield Break(f"break:{number // every}")
