"""What each content has in each block, as rows to deal."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from beholder.plan.dealing.flow import Ints
from beholder.plan.ground.grid import Grid


class Book(NamedTuple):
    """What each content has in each block: the content, the block, and how many cells to deal."""

    content: Ints
    block: Ints
    cells: Ints
    blocks: int

    @classmethod
    def of(cls, grid: Grid) -> Book:
        """Return the rows of a grid, contents in their order, and the blocks of each in theirs."""
        of_cell = np.array(grid.blocks)
        free = np.where(grid.present, of_cell[:, list(grid.free)], -1)
        if not grid.dealt_per_trial:
            free = of_cell
        pairs = [(content, block) for content, row in enumerate(free) for block in np.unique(row[row >= 0]).tolist()]
        content, block = np.array(pairs, dtype=np.int64).T
        cells = np.array([(free[one] == two).sum() for one, two in pairs], dtype=np.int64)
        return cls(content, block, cells, len(grid.block_names))

    def grid(self, grid: Grid) -> Grid:
        """Return the grid with a row for what each content has in each block."""
        cells = tuple(
            tuple(
                cell if number == block else ()
                for cell, number in zip(grid.cells[content], grid.blocks[content], strict=True)
            )
            for content, block in zip(self.content.tolist(), self.block.tolist(), strict=True)
        )
        return replace(grid, contents=tuple(grid.contents[n] for n in self.content.tolist()), cells=cells)
