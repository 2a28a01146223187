"""How much a list can hold: trials of each content, and trials altogether."""

from __future__ import annotations

import numpy as np

from beholder.errors import PlanError, Problem
from beholder.plan.flow import Ints
from beholder.plan.grid import Grid, count
from beholder.study.model import Design

MOST_TRIALS = 12
"""Trials of a list when the study does not say how many."""


def count_trials(grid: Grid, design: Design) -> int:
    """Return how many trials a list has, or raise PlanError when it cannot hold as many as the study asks for."""
    if grid.companions:
        return _count_with_companions(grid, design)
    most = most_trials(grid, design)
    if design.trials is None:
        return min(MOST_TRIALS, most)
    if design.trials > most:
        raise PlanError(_too_many(grid, design, design.trials, most))
    return design.trials


def rooms(grid: Grid, design: Design) -> Ints:
    """Return how many trials of each content a list can hold."""
    if design.contents == "once" or grid.always:
        return np.ones(len(grid.contents), dtype=np.int64)
    return np.asarray(grid.present.sum(axis=1) // grid.dealt_per_trial, dtype=np.int64)


def most_trials(grid: Grid, design: Design) -> int:
    """Return how many trials a list can hold."""
    room, apart = rooms(grid, design), design.contents == "apart"
    if grid.kind == "content" or (room == room[0]).all():
        return 1 if apart and len(room) == 1 else int(room.min()) * len(room)
    if not apart:
        return int(room.sum())
    return next(n for n in range(int(room.sum()), 0, -1) if np.minimum(room, -(-n // 2)).sum() >= n)


def count_companions(grid: Grid, trials: int) -> int | None:
    """Return how many contents, each with its companion, fill so many trials; None where no number does.

    About two tests to each companion where there is a choice.
    """
    # One content alone could not be kept apart from itself.
    low = max(2, grid.apart, -(-trials // (_fewest_tests(grid) + 1)))
    high = min(len(grid.contents), trials // 2)
    return min(max(round(trials / 3), low), high) if low <= high else None


def _fewest_tests(grid: Grid) -> int:
    return int(grid.present.sum(axis=1).min())


def _count_with_companions(grid: Grid, design: Design) -> int:
    least, tests = 2 * max(2, grid.apart), _fewest_tests(grid)
    if 2 * len(grid.contents) < least:
        what = f"are of {count(len(grid.contents), 'content', 'contents')}, too few to keep a reference from its tests"
        raise PlanError(Problem("stimuli", what, f"{least // 2} contents or more", "Add contents."))
    poorest = grid.contents[int(grid.present.sum(axis=1).argmin())]
    if tests == 0:
        what = f"of content {poorest} are its reference alone"
        raise PlanError(Problem("stimuli", what, "", f"Add a stimulus under test, or leave {poorest} out."))
    most = len(grid.contents) * (tests + 1)
    trials = design.trials
    if trials is None:
        return next(n for n in range(min(MOST_TRIALS, most), 0, -1) if count_companions(grid, n))
    if count_companions(grid, trials):
        return trials
    allowed = f"{least} to {most}" if most > least else str(most)
    if trials < least:
        what = f"is {trials}, but each content comes with its reference, at least {grid.apart} trials apart"
        raise PlanError(Problem("design.trials", what, allowed))
    if trials > most:
        what = (
            f"is {trials}, but there are {len(grid.contents)} contents, each with its reference, content {poorest} has "
            f"{count(tests, 'stimulus', 'stimuli')} under test, and none may come twice in a list"
        )
        raise PlanError(Problem("design.trials", what, allowed, "Add contents, or conditions."))
    what = f"is {trials}, but content {poorest} has 1 stimulus under test, which comes with its reference"
    raise PlanError(Problem("design.trials", what, f"even numbers, {allowed}"))


def _too_many(grid: Grid, design: Design, asked: int, most: int) -> Problem:
    contents = count(len(grid.contents), "content", "contents")
    are = "there is" if len(grid.contents) == 1 else "there are"
    allowed = f"1 to {most}" if most > 1 else "1"
    if design.contents == "once":
        what = f"is {asked}, but {are} {contents} and each may come once"
        # With conditions in every trial, or with all of them, a content cannot come again: `apart` would not help.
        is_used_up = grid.always or grid.per_trial == len(grid.columns) or len(grid.contents) == 1
        fix = "Add contents." if is_used_up else "Add contents, or write contents: apart."
    elif grid.always:
        because = "with design.always" if design.always else "with conditions that are in every trial"
        what = f"is {asked}, but {are} {contents} and {because} each may come once"
        fix = "Add contents: no stimulus comes twice in a list."
    elif most == 1 and len(grid.contents) == 1 and design.contents == "apart":
        what = f"is {asked}, but there is 1 content, and trials of one content may not be neighbours"
        fix = "Add contents, or write contents: free."
    elif grid.kind == "content":
        room = rooms(grid, design)
        least = int(room.argmin())
        times = count(int(room[least]), "trial", "trials")
        what = f"is {asked}, but {are} {contents}, and content {grid.contents[least]} has stimuli for {times} of a list"
        fix = "Add contents, or make design.per_trial smaller: no stimulus comes twice in a list."
    else:
        one, many = ("pair", "pairs") if grid.kind == "pair" else ("stimulus", "stimuli")
        stimuli = count(int(grid.present.sum()), one, many)
        what = f"is {asked}, but {are} {stimuli} of {contents}, and none may come twice in a list"
        fix = "Add stimuli."
    return Problem("design.trials", what, allowed, fix)
