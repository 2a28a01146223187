"""How many trials a list has that is made of a square's rows, or of blocks."""

from __future__ import annotations

import numpy as np

from beholder.errors import PlanError, Problem
from beholder.plan.dealing.flow import Ints
from beholder.plan.ground.grid import Grid, between, count
from beholder.plan.ground.ordering import ITEMS
from beholder.plan.ordered.blocks import block_quotas
from beholder.study.design import Design


def square_items(grid: Grid) -> Ints:
    """Return what a square is made of: all contents where a trial is one, else all columns that there are."""
    if grid.kind == "content":
        return np.arange(len(grid.contents))
    return np.asarray(np.array(grid.free)[grid.present.any(axis=0)], dtype=np.int64)


def count_square_trials(grid: Grid, design: Design, room: Ints) -> int:
    """Return how many trials a list has: its items once, or as many times as the study says. `room` is by content."""
    items = len(square_items(grid))
    one, many = ITEMS[grid.kind]
    most = int(room.min()) if grid.kind == "content" else _most_rounds(items, len(grid.contents), design)
    if most == 0:
        raise PlanError(_no_round(items, many, len(grid.contents), design))
    if design.trials is None:
        return items
    rounds, over = divmod(design.trials, items)
    if over == 0 and rounds <= most:
        return design.trials
    near = sorted({min(max(number, 1), most) * items for number in (rounds, rounds + 1)})
    times = "once" if most == 1 else f"once, or up to {most} times"
    what = f"is {design.trials}, but design.order is {design.order}, and a list goes through "
    what += f"{'all ' if items > 1 else ''}{count(items, one, many)} {times}"
    raise PlanError(Problem("design.trials", what, " or ".join(str(number) for number in near)))


def square_fits(grid: Grid, design: Design, trials: int, chain: int) -> bool:
    """Return whether what comes again in a chain of lists can do so with another content, wherever squares have it."""
    takes_turns = grid.kind != "content" and design.contents == "apart" and len(grid.contents) == 2
    return not takes_turns or trials * chain <= len(square_items(grid))


def check_block_trials(grid: Grid, design: Design, trials: int, most: int) -> int:
    """Return how many trials a list has that holds something of each block, or raise PlanError where none can be."""
    blocks = len(grid.block_names)
    if design.trials is None:
        trials = min(max(trials, blocks), most)
    if trials < blocks:
        what = f"is {trials}" if design.trials else f"can be {trials} at most"
        what += f", but design.blocks is {design.blocks}, and a list holds something of each of its {blocks} blocks"
        raise PlanError(Problem("design.trials", what, between(blocks, most)))
    block_quotas(grid, trials, design)
    return trials


def _most_rounds(items: int, contents: int, design: Design) -> int:
    """Return how often a list can go through all conditions, or pairs, each time with another content."""
    if design.contents == "once":
        return contents // items
    if design.contents == "apart" and contents <= 2:
        # Two contents take turns, so that nothing can come again with the other one wherever the square has it.
        return contents - 1
    return contents


def _no_round(items: int, many: str, contents: int, design: Design) -> Problem:
    what = f"is {design.order}, and a list goes through all {items} {many}, but there "
    what += "is 1 content" if contents == 1 else f"are {contents} contents"
    if design.contents == "once":
        what += " and each may come once"
        fix = f"Add contents up to {items}, or write contents: {'apart' if contents > 1 else 'free'}."
    else:
        what += ", and trials of one content may not be neighbours"
        fix = "Add contents, or write contents: free."
    return Problem("design.order", what, "balanced", fix)
