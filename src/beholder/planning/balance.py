"""How even a plan is: the counts that it promises, and those that it only reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from beholder.planning.counts import (
    PairOrders,
    PlannedItems,
    allocated_stimuli,
    first_occurrences,
    is_of_pairs,
    read_conditions,
    read_pairs,
)
from beholder.planning.even_rounding import Ints, Mask
from beholder.planning.model import Plan
from beholder.planning.order_balance import Evenness, group_counts, with_order_counts
from beholder.stimuli.catalogue import Catalogue
from beholder.types import CHECK_ROLES


def balance(plan: Plan, catalogue: Catalogue) -> tuple[Evenness, ...]:
    """Return how even every count of the plan is, promised counts first; a given plan promises none.

    With several groups of participants each group is even on its own, and a row is about the least even one. Stimuli
    that are for one person are in no count.
    """
    catalogue, plan, is_whole = catalogue.common, plan.common, plan.is_whole
    rows = group_counts(plan, catalogue, _counts) if plan.groups else _counts(plan, catalogue)
    is_active = plan.design is not None and plan.design.active is not None
    has_promises = is_whole and not plan.is_given and not plan.is_extended and not is_active
    return rows if has_promises else tuple(replace(row, promised=None) for row in rows)


def _counts(plan: Plan, catalogue: Catalogue) -> tuple[Evenness, ...]:
    units = plan.units
    is_scattered = units is not None and bool(units.asks)
    if units is None or not is_of_pairs(plan):
        shown = read_conditions(plan, catalogue)
        replaceable = np.array([not plan.replaced or condition in plan.replaced for condition in catalogue.conditions])
        promised = _promised(shown, "condition", is_scattered, plan.replaced, replaceable)
        rows = [*promised, *_reported(shown, "condition", is_scattered)]
        return with_order_counts(rows, shown, "condition", plan, catalogue)
    shown, ordered = read_pairs(plan, units, catalogue)
    rows = [*(_orders(shown, ordered) if units.shuffle != "none" else ()), *_promised(shown, "pair", is_scattered)]
    rows.sort(key=lambda row: row.promised is None)
    counts = ratings_per_stimulus(plan)
    stimuli = dict.fromkeys(stimulus for unit in units.items for stimulus in unit.stimuli)
    rows.append(_whole("comparisons per stimulus", np.array([counts.get(stimulus, 0) for stimulus in stimuli])))
    rows += [*_conditions(shown, ordered, len(catalogue.conditions)), *_reported(shown, "pair", is_scattered)]
    return with_order_counts(rows, shown, "pair", plan, catalogue)


def balance_table(rows: Sequence[Evenness]) -> list[list[str]]:
    """Return the balance as rows of text, the header first."""
    table = [["count", "cells", "least", "most", "difference", "promised"]]
    for row in rows:
        promised = "" if row.promised is None else f"at most {row.promised}"
        table.append([row.count, str(row.cells), str(row.least), str(row.most), str(row.difference), promised])
    return table


def ratings_per_stimulus(plan: Plan) -> Mapping[str, int]:
    """Return how often each stimulus of the plan is rated, or compared, if every list is finished once."""
    counts: dict[str, int] = {}
    for planned in plan.lists:
        for _, trial in first_occurrences(planned):
            for slot in trial.slots:
                if slot.rated and slot.role not in CHECK_ROLES:
                    counts[slot.stimulus] = counts.get(slot.stimulus, 0) + 1
    return counts


def ratings_range(plan: Plan) -> tuple[int, int]:
    """Return the fewest and most ratings, or comparisons, of an allocated stimulus in any group.

    Stimuli that are for one person are not counted.
    """
    plan = plan.common
    if plan.groups:
        least, most = zip(*map(ratings_range, plan.groups), strict=True)
        return min(least), max(most)
    counts = ratings_per_stimulus(plan)
    return min(counts.get(stimulus, 0) for stimulus in allocated_stimuli(plan)), max(counts.values())


def _tally(rows: Ints, columns: Ints, shape: tuple[int, int]) -> Ints:
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)


def _whole(count: str, values: Ints, promised: int | None = None) -> Evenness:
    least, most = (int(values.min()), int(values.max())) if values.size else (0, 0)
    return Evenness(count, int(values.size), least, most, most - least, promised)


def _by_row(count: str, table: Ints, counted: Mask | None = None, promised: int | None = None) -> Evenness:
    """Return the evenness within each row of a table, over the cells in `counted`, or all."""
    if counted is None:
        counted = np.ones_like(table, dtype=np.bool_)
    rows = counted.any(axis=1)
    high = np.where(counted, table, -1)[rows].max(axis=1)
    low = np.where(counted, table, np.iinfo(np.int64).max)[rows].min(axis=1)
    cells = table[counted]
    return Evenness(count, int(cells.size), int(cells.min()), int(cells.max()), int((high - low).max()), promised)


def _promised(
    shown: PlannedItems,
    one: str,
    is_scattered: bool,
    replaced: Mapping[str, int] | None = None,
    replaceable: Mask | None = None,
) -> Iterator[Evenness]:
    """Yield the promised counts; totals only of the `replaceable` conditions, if attention stimuli replace any."""
    chosen = shown.chosen
    cells = shown.present & chosen
    is_complete = bool(cells[:, chosen].all())
    has_companions = bool(shown.is_companion.any())
    # Missing files, and contents with a companion, make some totals uneven.
    never_replaced = 0 if replaceable is None else int((~replaceable).sum())
    even = 1 if is_complete and (not replaced or _is_level(replaced, shown.slots - never_replaced)) else None
    even_contents = 1 if (is_complete or shown.slots > 1) and not has_companions else None
    # Attention stimuli replace all conditions equally often, but not in every cell.
    even_cells = None if replaced else 1
    totals = np.bincount(shown.column, minlength=shown.columns)
    slots = _tally(shown.column, shown.slot, (shown.columns, shown.slots))
    places = _tally(shown.content_of, shown.position_of, (shown.contents, shown.positions))
    stimuli = _tally(shown.content, shown.column, (shown.contents, shown.columns))
    rows = [_whole(f"{one} totals", totals[chosen if replaceable is None else chosen & replaceable], even)]
    if has_companions:
        companions = np.bincount(shown.content_of[shown.is_companion], minlength=shown.contents)
        rows.append(_whole("reference totals", companions, 1))
    rows.append(_whole("content totals", places.sum(axis=1), even_contents))
    if shown.slots > 1:
        rows.append(_by_row(f"{one} x slot", slots[chosen], promised=even_cells))
    if shown.always.any():
        rows.append(_by_row("always x slot", slots[shown.always], promised=1))
    if not is_scattered:
        rows.append(_by_row("content x position", places, promised=1 if has_companions else even_contents))
    rows.append(_by_row(f"{one}s within a content", stimuli, cells, even_cells))
    is_even = is_complete and not has_companions and not replaced
    rows.append(_whole(f"content x {one}", stimuli[cells], 2 if is_even else None))
    if replaced:
        rows.append(_whole("conditions replaced by attention", np.array(list(replaced.values())), even))
    yield from sorted(rows, key=lambda row: row.promised is None)


def _is_level(replaced: Mapping[str, int], options: int) -> bool:
    """Return whether conditions can be replaced evenly: of very few trials none may hold the right one.

    `options` is how many conditions can be replaced in every trial; if it is one, some trials leave no choice.
    """
    return options >= 2 and sum(replaced.values()) >= 2 * len(replaced)


def _orders(shown: PlannedItems, ordered: PairOrders) -> Iterator[Evenness]:
    """Yield how often the earlier of two comes first and second."""
    turned = ordered.is_turned.astype(np.int64)
    for count, group in (
        ("order x pair", shown.column),
        ("order x pair of stimuli", ordered.unit),
        ("order x list", shown.list_of),
    ):
        table = _tally(group, turned, (int(group.max()) + 1, 2))
        yield _by_row(count, table, promised=1)


def _conditions(shown: PlannedItems, ordered: PairOrders, conditions: int) -> Iterator[Evenness]:
    """Yield how even single conditions and stimuli are in a plan of pairs."""
    table = _sides(ordered.first, ordered.second)
    yield _whole("condition totals", table.sum(axis=1))
    yield _by_row("condition x slot", table)
    content = shown.content_of * conditions
    yield _by_row("stimulus x slot", _sides(content + ordered.first, content + ordered.second))


def _sides(first: Ints, second: Ints) -> Ints:
    """Return how often each item comes first and second, items that never come left out."""
    number = int(max(first.max(), second.max())) + 1
    table = np.stack([np.bincount(side, minlength=number) for side in (first, second)], axis=1)
    return np.asarray(table[table.sum(axis=1) > 0], dtype=np.int64)


def _by_slot(shown: PlannedItems, cell: Ints, is_scattered: bool) -> Iterator[Evenness]:
    """Yield how often each stimulus, and each condition at each position, has each slot."""
    table = _tally(cell, shown.slot, (shown.contents * shown.columns, shown.slots))
    yield _by_row("stimulus x slot", table[shown.present.ravel()])
    if not is_scattered:
        places = shown.slot * shown.positions + shown.position
        table = _tally(shown.column, places, (shown.columns, shown.slots * shown.positions))
        yield _by_row("condition x slot x position", table[shown.chosen])


def _reported(shown: PlannedItems, one: str, is_scattered: bool) -> Iterator[Evenness]:
    cell = shown.content * shown.columns + shown.column
    by_position = _tally(cell, shown.position, (shown.contents * shown.columns, shown.positions))
    used = np.repeat(shown.present.reshape(-1, 1), shown.positions, axis=1)
    if one != "pair":
        yield _whole("ratings per stimulus", by_position.sum(axis=1)[shown.present.ravel()])
    if not is_scattered:
        yield _by_row("stimulus x position" if one != "pair" else "pair of stimuli x position", by_position, used)
    if shown.slots > 1:
        yield from _by_slot(shown, cell, is_scattered)
    yield _by_row(
        f"{one}s within a list", _tally(shown.list, shown.column, (shown.lists, shown.columns))[:, shown.chosen]
    )
    if shown.slots > 1:
        shown_together = np.zeros((len(shown.list_of), shown.columns), dtype=np.float64)
        shown_together[shown.trial, shown.column] = 1
        pairs = (shown_together.T @ shown_together).astype(np.int64)[np.ix_(shown.chosen, shown.chosen)]
        yield _whole("conditions together in a trial", pairs[np.triu_indices(len(pairs), 1)])
    yield _whole("content after content", shown.follows[~np.eye(shown.contents, dtype=np.bool_)])
    half = -(-shown.lists // 2)
    totals = np.bincount(shown.column[shown.list < half], minlength=shown.columns)
    yield _whole(f"{one} totals of lists 1 to {half}", totals[shown.chosen])
    early = shown.content_of[shown.list_of < half]
    yield _whole(f"content totals of lists 1 to {half}", np.bincount(early, minlength=shown.contents))
