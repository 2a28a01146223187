"""How even a plan is: what it promises, and what it merely reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from beholder.methods.contract import Trial
from beholder.plan.flow import Ints, Mask
from beholder.plan.model import Plan
from beholder.stimuli.catalogue import Catalogue


@dataclass(frozen=True)
class Evenness:
    """One count: over how many cells, its least and most, the largest difference between two that should be even."""

    count: str
    cells: int
    least: int
    most: int
    difference: int
    promised: int | None


def balance(plan: Plan, catalogue: Catalogue) -> tuple[Evenness, ...]:
    """Return how even every count of the plan is, promised counts first."""
    return tuple(_rows(_Shown(plan, catalogue)))


def balance_table(rows: Sequence[Evenness]) -> list[list[str]]:
    """Return the balance as rows of text, a heading first."""
    table = [["count", "cells", "least", "most", "difference", "promised"]]
    for row in rows:
        promised = "" if row.promised is None else f"at most {row.promised}"
        table.append([row.count, str(row.cells), str(row.least), str(row.most), str(row.difference), promised])
    return table


def ratings_per_stimulus(plan: Plan) -> Mapping[str, int]:
    """Return how often each stimulus of the plan is rated when every list is finished once."""
    counts: dict[str, int] = {}
    for planned in plan.lists:
        for trial in planned.trials:
            for slot in trial.slots:
                if slot.rated:
                    counts[slot.stimulus] = counts.get(slot.stimulus, 0) + 1
    return counts


class _Shown:
    """Every slot of every trial of the plan as arrays."""

    def __init__(self, plan: Plan, catalogue: Catalogue) -> None:
        contents = {content: n for n, content in enumerate(catalogue.contents)}
        conditions = {condition: n for n, condition in enumerate(catalogue.conditions)}
        number = {s.id: conditions[s.condition] for s in catalogue.by_cell.values()}
        trials: list[tuple[int, int, Trial]] = [
            (planned.number - 1, position, trial)
            for planned in plan.lists
            for position, trial in enumerate(planned.trials)
        ]
        self.contents, self.conditions, self.lists = len(contents), len(conditions), len(plan.lists)
        self.list_of_trial = np.array([row[0] for row in trials], dtype=np.int64)
        self.position_of_trial = np.array([row[1] for row in trials], dtype=np.int64)
        self.content_of_trial = np.array([contents[trial.content] for _, _, trial in trials], dtype=np.int64)
        widths = np.array([len(trial.slots) for _, _, trial in trials], dtype=np.int64)
        self.trial = np.repeat(np.arange(len(trials)), widths)
        self.slot = np.arange(len(self.trial)) - np.repeat(np.cumsum(widths) - widths, widths)
        self.condition = np.array([number[slot.stimulus] for _, _, trial in trials for slot in trial.slots])
        self.content, self.list = self.content_of_trial[self.trial], self.list_of_trial[self.trial]
        self.position = self.position_of_trial[self.trial]
        self.positions, self.slots = int(self.position.max()) + 1, int(self.slot.max()) + 1
        self.present = np.zeros((self.contents, self.conditions), dtype=np.bool_)
        for content, condition in catalogue.by_cell:
            self.present[contents[content], conditions[condition]] = True
        there = self.present.any(axis=0)
        everywhere = np.bincount(self.condition, minlength=self.conditions) == len(trials)
        # What is in every trial was put there; when that holds for all, nothing was chosen and all count.
        self.always: Mask = everywhere & bool(self.slots > 1 and (there & ~everywhere).any())
        self.chosen: Mask = there & ~self.always


def _tally(rows: Ints, columns: Ints, shape: tuple[int, int]) -> Ints:
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)


def _whole(count: str, values: Ints, promised: int | None = None) -> Evenness:
    least, most = (int(values.min()), int(values.max())) if values.size else (0, 0)
    return Evenness(count, int(values.size), least, most, most - least, promised)


def _by_row(count: str, table: Ints, counted: Mask, promised: int | None = None) -> Evenness:
    """Return the evenness within each row of a table, over the cells that are counted."""
    rows = counted.any(axis=1)
    high = np.where(counted, table, -1)[rows].max(axis=1)
    low = np.where(counted, table, np.iinfo(np.int64).max)[rows].min(axis=1)
    cells = table[counted]
    return Evenness(count, int(cells.size), int(cells.min()), int(cells.max()), int((high - low).max()), promised)


def _rows(shown: _Shown) -> Iterator[Evenness]:
    chosen = shown.chosen
    cells = shown.present & chosen
    whole = bool(cells[:, chosen].all())
    # Files that are missing decide some of the totals.
    even = 1 if whole else None
    even_contents = 1 if whole or shown.slots > 1 else None
    conditions = np.bincount(shown.condition, minlength=shown.conditions)
    slots = _tally(shown.condition, shown.slot, (shown.conditions, shown.slots))
    places = _tally(shown.content_of_trial, shown.position_of_trial, (shown.contents, shown.positions))
    stimuli = _tally(shown.content, shown.condition, (shown.contents, shown.conditions))
    yield _whole("condition totals", conditions[chosen], even)
    yield _whole("content totals", places.sum(axis=1), even_contents)
    yield _by_row("condition x slot", slots[chosen], np.ones_like(slots[chosen], dtype=np.bool_), 1)
    if shown.always.any():
        yield _by_row("always x slot", slots[shown.always], np.ones_like(slots[shown.always], dtype=np.bool_), 1)
    yield _by_row("content x position", places, np.ones_like(places, dtype=np.bool_), even_contents)
    yield _by_row("conditions within a content", stimuli, cells, 1)
    yield _whole("content x condition", stimuli[cells], 2 if whole else None)
    yield from _reported(shown, stimuli)


def _reported(shown: _Shown, stimuli: Ints) -> Iterator[Evenness]:
    yield _whole("ratings per stimulus", stimuli[shown.present])
    cell = shown.content * shown.conditions + shown.condition
    by_position = _tally(cell, shown.position, (shown.contents * shown.conditions, shown.positions))
    used = np.repeat(shown.present.reshape(-1, 1), shown.positions, axis=1)
    yield _by_row("stimulus x position", by_position, used)
    of_list = _tally(shown.list, shown.condition, (shown.lists, shown.conditions))[:, shown.chosen]
    yield _by_row("conditions within a list", of_list, np.ones_like(of_list, dtype=np.bool_))
    if shown.slots > 1:
        together = np.zeros((len(shown.list_of_trial), shown.conditions), dtype=np.float64)
        together[shown.trial, shown.condition] = 1
        pairs = (together.T @ together).astype(np.int64)[np.ix_(shown.chosen, shown.chosen)]
        yield _whole("conditions together in a trial", pairs[np.triu_indices(len(pairs), 1)])
    same_list = shown.list_of_trial[1:] == shown.list_of_trial[:-1]
    before, after = shown.content_of_trial[:-1][same_list], shown.content_of_trial[1:][same_list]
    follows = _tally(before, after, (shown.contents, shown.contents))
    yield _whole("content after content", follows[~np.eye(shown.contents, dtype=np.bool_)])
    half = -(-shown.lists // 2)
    early = shown.list < half
    totals = np.bincount(shown.condition[early], minlength=shown.conditions)
    yield _whole(f"condition totals of lists 1 to {half}", totals[shown.chosen])
    early = shown.list_of_trial < half
    yield _whole(
        f"content totals of lists 1 to {half}", np.bincount(shown.content_of_trial[early], minlength=shown.contents)
    )
