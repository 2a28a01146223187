"""How even the order of trials is: positions, transitions from item to item, and blocks; and counts over groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from beholder.planning.counts import PlannedItems
from beholder.planning.even_rounding import Ints
from beholder.planning.groups import restrict
from beholder.planning.model import Plan
from beholder.planning.squares import is_square
from beholder.stimuli.catalogue import Catalogue
from beholder.study.design import Design
from beholder.types import CHECK_ROLES

_HALF = re.compile(r"of lists 1 to [0-9]+$")


@dataclass(frozen=True)
class Evenness:
    """One count: its cells, its least and most, and the largest difference between two that should be even."""

    count: str
    cells: int
    least: int
    most: int
    difference: int
    promised: int | None


def with_order_counts(
    rows: Sequence[Evenness], shown: PlannedItems, one: str, plan: Plan, catalogue: Catalogue
) -> tuple[Evenness, ...]:
    """Return the counts of a plan with those of its order, and without promises that this order does not keep."""
    design = plan.design or Design()
    is_page = plan.units is not None and plan.units.kind == "content"
    item = "content" if is_page else one
    counts = [
        replace(row, promised=None) if row.count in _unpromised(shown, one, is_page, design) else row for row in rows
    ]
    if design.blocks is not None:
        is_split = _has_split_content(plan, catalogue, design.blocks)
        counts = [replace(row, promised=None) if is_split and row.count in _cells(one) else row for row in counts]
        counts += [_without_promise(row, plan) for row in _of_blocks(plan, catalogue, design)]
    if is_square(design) and not is_page:
        counts.append(_without_promise(_positions(shown, item), plan))
    if plan.units is not None and not plan.units.asks and (is_page or shown.slots == 1):
        after = _without_promise(_after(shown, item, is_page, design), plan)
        place = [row.count for row in counts].index("content after content")
        counts[place : place + 1] = [after] if is_page else [counts[place], after]
    if plan.units is not None and plan.units.orders:
        counts.append(_question_orders(plan, plan.units.orders, design.sessions_per_participant))
    return tuple(sorted(counts, key=lambda row: row.promised is None))


def _question_orders(plan: Plan, orders: Sequence[Sequence[str]], chain: int) -> Evenness:
    """Return in how many lists the questions come in each order."""
    counts = dict.fromkeys(orders, 0)
    for planned in plan.lists:
        for trial in planned.rated[:1]:
            asked = tuple(one.question for one in trial.asked if one.purpose == "ask")
            counts[asked] = counts.get(asked, 0) + 1
    least, most = min(counts.values()), max(counts.values())
    return Evenness("lists with an order of questions", len(counts), least, most, most - least, chain)


def _without_promise(row: Evenness, plan: Plan) -> Evenness:
    """Return a count of the order, without its promise if lists were added: these begin new squares."""
    return replace(row, promised=None) if plan.is_extended else row


def _cells(one: str) -> set[str]:
    return {f"{one} totals", "content totals", f"{one}s within a content", f"content x {one}"}


def _unpromised(shown: PlannedItems, one: str, is_page: bool, design: Design) -> set[str]:
    """Return the counts that a plan with this order does not promise."""
    is_crowded = design.contents == "apart" and shown.positions > shown.contents
    if design.blocks is not None:
        return {"content x position", *(("content totals", f"content x {one}") if is_crowded else ())}
    if is_square(design) and not is_page:
        return {"content x position", *(_cells(one) - {f"{one} totals"} if is_crowded else ())}
    return set()


def _positions(shown: PlannedItems, item: str) -> Evenness:
    table = np.zeros((shown.columns, shown.positions), dtype=np.int64)
    np.add.at(table, (shown.column, shown.position), 1)
    return _evenness(f"{item} x position", table[shown.present.any(axis=0)], 1)


def _after(shown: PlannedItems, item: str, is_page: bool, design: Design) -> Evenness:
    """Return how often each item follows each other one directly; promised within the rows of Williams squares."""
    items_present = np.arange(shown.contents) if is_page else np.flatnonzero(shown.present.any(axis=0))
    code = np.full(shown.contents if is_page else shown.columns, -1)
    code[items_present] = np.arange(len(items_present))
    of_trial = np.full(len(shown.list_of), -1)
    if is_page:
        of_trial[:] = shown.content_of
    else:
        of_trial[shown.trial] = code[shown.column]
    before, after = of_trial[:-1], of_trial[1:]
    counted = (before >= 0) & (after >= 0) & (before != after) & (shown.list_of[1:] == shown.list_of[:-1])
    counted &= shown.position_of[1:] == shown.position_of[:-1] + 1
    number = len(items_present)
    rounds, promised = 1, None
    turn = np.zeros(len(before), dtype=np.int64)
    if is_square(design) and design.order == "williams":
        counted &= shown.position_of[1:] % number != 0
        rounds, turn = shown.positions // number, shown.position_of[1:] // number
        promised = promised_after(number, shown.lists)
    table = np.zeros((rounds, number, number), dtype=np.int64)
    np.add.at(table, (turn[counted], before[counted], after[counted]), 1)
    return _evenness(f"{item} after {item}", table[:, ~np.eye(number, dtype=np.bool_)], promised)


def promised_after(items: int, lists: int) -> int:
    """Return within how much each item follows each other one in Williams squares.

    The first of the two squares of an odd number has every second pair twice and the others never.
    """
    return 1 if items % 2 == 0 or lists % (2 * items) == 0 else 2


# Blocks


def _of_blocks(plan: Plan, catalogue: Catalogue, design: Design) -> Iterator[Evenness]:
    """Yield how even blocks are over lists and places, and how often each follows each other one."""
    assert design.blocks is not None
    values = [_values(plan, number, catalogue, design.blocks) for number in range(len(plan.lists))]
    names = sorted({value for row in values for value in row} | _blocks(plan, catalogue, design.blocks))
    number = {name: place for place, name in enumerate(names)}
    held = np.zeros((len(names), len(values)), dtype=np.int64)
    places = np.zeros((len(names), max(len(list(groupby(row))) for row in values)), dtype=np.int64)
    after = np.zeros((len(names), len(names)), dtype=np.int64)
    for row, trials in enumerate(values):
        order = [number[name] for name, _ in groupby(trials)]
        np.add.at(held[:, row], [number[name] for name in trials], 1)
        np.add.at(places, (order, list(range(len(order)))), 1)
        np.add.at(after, (order[:-1], order[1:]), 1)
    # A block of few stimuli may be missing in some lists, and other blocks take its place there.
    is_whole = bool((held > 0).all())
    is_williams = design.order != "latin"
    yield _evenness("block x list", held, 1)
    yield _evenness("block x place", places, 1 if is_whole else None)
    promised = promised_after(len(names), len(values)) if is_whole and is_williams else None
    off = ~np.eye(len(names), dtype=np.bool_)
    yield _evenness("block after block", after[off][None, :] if off.any() else after, promised)


def _values(plan: Plan, number: int, catalogue: Catalogue, column: str) -> list[str]:
    """Return the block of each trial of a list."""
    values = []
    for trial in plan.lists[number].rated:
        # A reference that is shown with a rated stimulus may have its own value.
        rated = [slot for slot in trial.slots if slot.rated and slot.role not in CHECK_ROLES]
        stimuli = [catalogue.by_id[slot.stimulus] for slot in rated]
        values.append(next((value for s in stimuli if (value := s.factors.get(column))), ""))
    return values


def _blocks(plan: Plan, catalogue: Catalogue, column: str) -> set[str]:
    """Return all blocks; very few lists may not hold all of them."""
    stimuli = {stimulus for unit in plan.units.items for stimulus in unit.stimuli} if plan.units else set()
    return {value for stimulus in stimuli if (value := catalogue.by_id[stimulus].factors.get(column))}


def _has_split_content(plan: Plan, catalogue: Catalogue, column: str) -> bool:
    """Return whether a content is in several blocks."""
    block: dict[str, str] = {}
    for unit in plan.units.items if plan.units else ():
        for stimulus in unit.stimuli:
            value = catalogue.by_id[stimulus].factors.get(column)
            if value and block.setdefault(unit.content, value) != value:
                return True
    return False


def _evenness(count: str, table: Ints, promised: int | None) -> Evenness:
    """Return the evenness within each row of a table."""
    if not table.size:
        return Evenness(count, 0, 0, 0, 0, promised)
    difference = int((table.max(axis=1) - table.min(axis=1)).max())
    return Evenness(count, int(table.size), int(table.min()), int(table.max()), difference, promised)


# Groups of participants


def group_counts(
    plan: Plan, catalogue: Catalogue, counts: Callable[[Plan, Catalogue], Sequence[Evenness]]
) -> tuple[Evenness, ...]:
    """Return the counts of a plan of several groups: a count is promised if it is promised for each group."""
    by_count: dict[str, list[Evenness]] = {}
    for part in plan.groups:
        for row in counts(part, _catalogue_of(part, catalogue)):
            # The first half is a different number of lists in each group.
            by_count.setdefault(_HALF.sub("of the first half of each group", row.count), []).append(row)
    rows = [_worst(count, some, len(plan.groups)) for count, some in by_count.items()]
    rows.append(_totals(plan))
    return tuple(sorted(rows, key=lambda row: row.promised is None))


def _worst(count: str, rows: Sequence[Evenness], groups: int) -> Evenness:
    promises = [row.promised for row in rows if row.promised is not None]
    return Evenness(
        count,
        sum(row.cells for row in rows),
        min(row.least for row in rows),
        max(row.most for row in rows),
        max(row.difference for row in rows),
        max(promises) if len(promises) == groups else None,
    )


def _totals(plan: Plan) -> Evenness:
    """Return how even the sizes of groups are, within the lists of one person.

    If conditions differ, the same number of votes may take more lists in one group.
    """
    sizes = [len(part.lists) for part in plan.groups]
    is_same = len({_stimuli(part) for part in plan.groups}) == 1
    promised = plan.design.sessions_per_participant if is_same and plan.design else None
    return Evenness("group totals", len(sizes), min(sizes), max(sizes), max(sizes) - min(sizes), promised)


def _stimuli(part: Plan) -> frozenset[str]:
    return frozenset(name for unit in part.units.items for name in unit.stimuli) if part.units else frozenset()


def _catalogue_of(part: Plan, catalogue: Catalogue) -> Catalogue:
    """Return the catalogue with the conditions of a group."""
    shown = {slot.stimulus for planned in part.lists for trial in planned.trials for slot in trial.slots}
    conditions = {catalogue.by_id[name].condition for name in shown | _stimuli(part)}
    return catalogue if conditions.issuperset(catalogue.conditions) else restrict(catalogue, conditions)
