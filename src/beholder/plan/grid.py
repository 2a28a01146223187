"""What there is to deal: contents by conditions, and how often a content may come in one list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from beholder.errors import PlanError, Problem, did_you_mean
from beholder.methods.contract import Units
from beholder.plan.flow import Ints, Mask
from beholder.plan.slots import PALETTE
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Design

MOST_TRIALS = 12
"""Trials of a list when the study does not say how many."""


@dataclass(frozen=True)
class Grid:
    """The stimuli by content and condition; `free` conditions are dealt, the others are in every trial."""

    contents: tuple[str, ...]
    conditions: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    """Stimulus ids by content and condition; empty where there is none."""
    free: tuple[int, ...]
    always: tuple[int, ...]
    per_trial: int
    by_content: bool
    """A content has one total, whatever it holds; otherwise every stimulus has."""

    @property
    def present(self) -> Mask:
        """Which content has which free condition."""
        return np.array([[row[a] != "" for a in self.free] for row in self.cells], dtype=np.bool_)

    @property
    def dealt_per_trial(self) -> int:
        return self.per_trial - len(self.always)

    def rooms(self, design: Design) -> Ints:
        """Return how many trials of each content a list can hold."""
        if design.contents == "once" or self.always:
            return np.ones(len(self.contents), dtype=np.int64)
        return np.asarray(self.present.sum(axis=1) // self.dealt_per_trial, dtype=np.int64)

    def most_trials(self, design: Design) -> int:
        """Return how many trials a list can hold."""
        rooms, apart = self.rooms(design), design.contents == "apart"
        if self.by_content or (rooms == rooms[0]).all():
            return 1 if apart and len(rooms) == 1 else int(rooms.min()) * len(rooms)
        if not apart:
            return int(rooms.sum())
        return next(n for n in range(int(rooms.sum()), 0, -1) if np.minimum(rooms, -(-n // 2)).sum() >= n)


def lay_out(units: Units, catalogue: Catalogue, design: Design, method: str) -> Grid:
    """Return the grid of a study, or raise PlanError with everything that stands in the way."""
    if units.kind not in ("content", "stimulus") or units.companions or units.shuffle == "order":
        raise PlanError(
            Problem("method", f"{method} deals {_later(units)}, not in this version", "contents and single stimuli")
        )
    if not units.items:
        raise PlanError(Problem("stimuli", "hold nothing to rate", "", "Add stimuli of the conditions under test."))
    by_content = units.kind == "content"
    stimuli: dict[str, dict[str, str]] = {}
    for unit in units.items:
        row = stimuli.setdefault(unit.content, {})
        row.update((catalogue.by_id[stimulus].condition, stimulus) for stimulus in unit.stimuli)
    always = tuple(dict.fromkeys(design.always)) if by_content else ()
    problems = list(_problems(stimuli, catalogue.conditions, always, units.per_trial, design))
    if problems:
        raise PlanError(problems)
    numbers = {condition: number for number, condition in enumerate(catalogue.conditions)}
    return Grid(
        contents=tuple(stimuli),
        conditions=catalogue.conditions,
        cells=tuple(tuple(row.get(condition, "") for condition in catalogue.conditions) for row in stimuli.values()),
        free=tuple(number for condition, number in numbers.items() if condition not in always),
        always=tuple(sorted(numbers[condition] for condition in always)),
        per_trial=units.per_trial,
        by_content=by_content,
    )


def count_trials(grid: Grid, design: Design) -> int:
    """Return how many trials a list has, or raise PlanError when it cannot hold as many as the study asks for."""
    most = grid.most_trials(design)
    if design.trials is None:
        return min(MOST_TRIALS, most)
    if design.trials > most:
        raise PlanError(_too_many(grid, design, design.trials, most))
    return design.trials


def _later(units: Units) -> str:
    if units.companions:
        return "stimuli with companions"
    return f"{units.kind}s" if units.kind in ("pair", "tuple") else "slots in both orders"


def _problems(
    stimuli: dict[str, dict[str, str]],
    conditions: tuple[str, ...],
    always: tuple[str, ...],
    per_trial: int,
    design: Design,
) -> Iterator[Problem]:
    for condition in always:
        if condition not in conditions:
            near = did_you_mean(condition, conditions)
            yield Problem("design.always", f"names {condition}, which is no condition", ", ".join(conditions), near)
            continue
        for content, row in stimuli.items():
            if condition not in row:
                yield Problem(
                    "design.always",
                    f"puts {condition} into every trial, but content {content} has none",
                    "",
                    f"Add the file, or leave {content} out.",
                )
    if len(always) > per_trial:
        what = f"is {per_trial}, but design.always puts {len(always)} conditions into every trial"
        yield Problem("design.per_trial", what, f"{len(always)} to {len(conditions)}")
    if per_trial > len(PALETTE):
        what = f"is {per_trial}, and there are {len(PALETTE)} colours to tell slots apart"
        yield Problem("design.per_trial", what, f"1 to {len(PALETTE)}")
    asked = f"is {per_trial}" if design.per_trial else f"is left out, which means all {per_trial} conditions"
    for content, row in stimuli.items():
        if len(row) < per_trial:
            yield Problem(
                "design.per_trial",
                f"{asked}, but content {content} has {_count(len(row), 'stimulus', 'stimuli')}",
                f"up to {min(len(other) for other in stimuli.values())}",
                "Add the missing files, or leave the content out.",
            )


def _too_many(grid: Grid, design: Design, asked: int, most: int) -> Problem:
    contents = _count(len(grid.contents), "content", "contents")
    are = "there is" if len(grid.contents) == 1 else "there are"
    allowed = f"1 to {most}" if most > 1 else "1"
    if design.contents == "once":
        what = f"is {asked}, but {are} {contents} and each may come once"
        # With conditions in every trial, or with all of them, a content cannot come again: `apart` would not help.
        is_used_up = grid.always or grid.per_trial == len(grid.conditions) or len(grid.contents) == 1
        fix = "Add contents." if is_used_up else "Add contents, or write contents: apart."
    elif grid.always:
        what = f"is {asked}, but {are} {contents} and with design.always each may come once"
        fix = "Add contents: no stimulus comes twice in a list."
    elif most == 1 and len(grid.contents) == 1 and design.contents == "apart":
        what = f"is {asked}, but there is 1 content, and trials of one content may not be neighbours"
        fix = "Add contents, or write contents: free."
    elif grid.by_content:
        rooms = grid.rooms(design)
        least = int(rooms.argmin())
        times = _count(int(rooms[least]), "trial", "trials")
        what = f"is {asked}, but {are} {contents}, and content {grid.contents[least]} has stimuli for {times} of a list"
        fix = "Add contents, or make design.per_trial smaller: no stimulus comes twice in a list."
    else:
        stimuli = _count(int(grid.present.sum()), "stimulus", "stimuli")
        what = f"is {asked}, but {are} {stimuli} of {contents}, and none may come twice in a list"
        fix = "Add stimuli."
    return Problem("design.trials", what, allowed, fix)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
