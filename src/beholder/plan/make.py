"""Making a plan: contents to lists and positions, columns to trials, stimuli to slots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.methods.contract import Break, Method, Trial, Unit, Units
from beholder.plan.bulk import no_collection
from beholder.plan.companions import deal_with_companions
from beholder.plan.conditions import deal_conditions
from beholder.plan.contents import Shape, deal_by_quota, deal_evenly, quotas
from beholder.plan.digest import plan_digest
from beholder.plan.flow import Ints
from beholder.plan.grid import Grid
from beholder.plan.ground import lay_ground
from beholder.plan.model import Plan, PlannedList
from beholder.plan.orders import order_pairs
from beholder.plan.placing.placer import Placer
from beholder.plan.room import count_companions, rooms
from beholder.plan.scatter import scatter
from beholder.plan.slots import arrange, draw_colours, order_slots
from beholder.plan.training import make_training
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Design, Study


class Dealt(NamedTuple):
    """Contents by list and position, and the columns of each trial (trials of list 1 first) in canonical order."""

    contents: Ints
    columns: Ints


def make_plan(study: Study, catalogue: Catalogue, method: Method) -> Plan:
    """Return every list of the study, deterministic in study, stimuli and seed; raise PlanError if none can be."""
    design = study.design
    units, grid, shape, amounts = lay_ground(study, catalogue, method)
    # A stream of its own: whether people are trained changes nothing of what they rate.
    training = make_training(study, catalogue, method, np.random.default_rng([study.seed, 5]))
    if units.shuffle == "order" and not design.both_orders:
        units = replace(units, shuffle="none")
    # One stream for each kind of draw: the colours do not change when the order does.
    deal, mix, paint, compose, strew = (np.random.default_rng([study.seed, stream]) for stream in range(5))
    dealt = _deal(grid, shape, design, deal)
    orders = _orders(grid, units, dealt, mix).tolist()
    hues = draw_colours(len(dealt.columns), grid.width, paint).tolist()
    visits = _visits(dealt.contents, units.asks, strew)
    asks = units.asks or ((),)
    contents, columns = dealt.contents.ravel().tolist(), dealt.columns.tolist()
    digest = plan_digest(study, catalogue)
    with no_collection():
        lists: list[list[Trial]] = []
        for number, row in enumerate(visits.tolist()):
            trials = []
            for position, visit in enumerate(row, 1):
                place, turn = divmod(visit, len(asks))
                index = number * shape.trials + place
                cells = grid.cells[contents[index]]
                stimuli = tuple([stimulus for column in columns[index] for stimulus in cells[column]])
                unit = Unit(grid.contents[contents[index]], stimuli, asks[turn])
                composed = method.compose(study, unit, catalogue, compose)
                free = sum([slot.label is None for slot in composed.slots])
                # What nobody permutes may stand in a place with a name: the reference of a pair.
                if free != len(stimuli) and (units.shuffle != "none" or not 0 < free < len(stimuli)):
                    made = f"{free} slots without a label from a unit of {len(stimuli)} stimuli"
                    raise ValueError(f"{method.name} composed {made}")
                trials.append(arrange(composed, f"trial:{position}", orders[index], hues[index]))
            lists.append(trials)
        replaced: Mapping[str, int] = {}
        if not amounts.is_nothing:
            lists, replaced = Placer(study, catalogue, method, units, amounts).place(lists)
        planned = [
            PlannedList(number, (*training, *_with_breaks(trials, design.breaks)))
            for number, trials in enumerate(lists, 1)
        ]
        return Plan(digest, design.seed, tuple(planned), units, replaced)


def _deal(grid: Grid, shape: Shape, design: Design, rng: Generator) -> Dealt:
    visited = count_companions(grid, shape.trials) if grid.companions else None
    if visited is None:
        contents = _deal_contents(grid, shape, design, rng)
        return Dealt(contents, _deal_columns(grid, contents, rng))
    contents, is_companion = deal_with_companions(shape, visited, len(grid.contents), grid.apart, rng)
    tests = contents[~is_companion].reshape(shape.lists, shape.trials - visited)
    columns = np.array(grid.companions)[contents.ravel()]
    columns[~is_companion.ravel()] = _deal_columns(grid, tests, rng)[:, 0]
    return Dealt(contents, columns[:, None])


def _deal_contents(grid: Grid, shape: Shape, design: Design, rng: Generator) -> Ints:
    apart = design.contents == "apart"
    stimuli = grid.present.sum(axis=1)
    if grid.kind == "content" or (stimuli == stimuli[0]).all():
        return deal_evenly(shape, len(grid.contents), apart=apart, rng=rng)
    room = rooms(grid, design)
    if apart:
        room = np.minimum(room, -(-shape.trials // 2))
    return deal_by_quota(shape, quotas(shape.trials, stimuli, room), apart=apart, rng=rng)


def _deal_columns(grid: Grid, contents: Ints, rng: Generator) -> Ints:
    """Return the columns of each trial in canonical order."""
    chosen = np.zeros((contents.size, len(grid.columns)), dtype=np.bool_)
    chosen[:, list(grid.always)] = True
    if grid.dealt_per_trial:
        chosen[:, list(grid.free)] = deal_conditions(contents, grid.present, grid.dealt_per_trial, rng)
    return np.nonzero(chosen)[1].reshape(contents.size, grid.per_trial)


def _orders(grid: Grid, units: Units, dealt: Dealt, rng: Generator) -> Ints:
    """Return for each trial which of its stimuli stands in the first place, the second, ..."""
    if units.shuffle == "slots" and grid.kind != "pair":
        return order_slots(dealt.columns, dealt.contents.shape[1], rng)
    if units.shuffle != "none":
        return order_pairs(dealt.contents, dealt.columns[:, 0], len(grid.columns), rng)
    return np.broadcast_to(np.arange(grid.width), (len(dealt.columns), grid.width))


def _visits(contents: Ints, asks: tuple[tuple[str, ...], ...], rng: Generator) -> Ints:
    """Return by list which of its dealt units comes with which set of questions, as unit * sets + set."""
    if asks:
        return scatter(contents, len(asks), rng)
    return np.broadcast_to(np.arange(contents.shape[1]), contents.shape)


def _with_breaks(trials: list[Trial], every: int | None) -> Iterator[Trial | Break]:
    for number, trial in enumerate(trials, 1):
        yield trial
        if every and number % every == 0 and number < len(trials):
            yield Break(f"break:{number // every}")
