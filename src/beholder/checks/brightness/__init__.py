"""The brightness matrix: grey squares, each empty or with a shape that is barely lighter."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beholder.types import Json

ROWS = COLUMNS = 4
GREYS = (15, 72, 128, 185, 240)
BETWEEN = 100
"""The grey between the squares: as far as can be from all of theirs, so that each square is seen."""
FEWEST = 2
"""Shapes of each kind at least: a matrix in which nothing is seen is no answer."""
_GAP = 0.016
"""Of the whole picture."""


class Cell(NamedTuple):
    """One square: its grey, its shape, and where in it the shape is, in shares of the square."""

    grey: int
    shape: Literal["", "circle", "triangle"]
    x: float
    y: float
    size: float


def draw_cells(rng: Generator) -> tuple[Cell, ...]:
    """Return a fresh matrix: four different greys in each row, and at least two shapes of each kind."""
    while True:
        kinds = rng.integers(0, 3, ROWS * COLUMNS)
        if min(np.count_nonzero(kinds == 1), np.count_nonzero(kinds == 2)) >= FEWEST:
            break
    cells = []
    for row in range(ROWS):
        for column, grey in enumerate(rng.permutation(GREYS)[:COLUMNS]):
            size = float(rng.uniform(0.35, 0.6))
            x, y = (float(rng.uniform(size / 2 + 0.05, 0.95 - size / 2)) for _ in range(2))
            shape: Any = ("", "circle", "triangle")[kinds[row * COLUMNS + column]]
            cells.append(Cell(int(grey), shape, round(x, 4), round(y, 4), round(size, 4)))
    return tuple(cells)


def count(cells: tuple[Cell, ...]) -> dict[str, int]:
    """Return how many shapes of each kind there are."""
    return {shape + "s": sum(cell.shape == shape for cell in cells) for shape in ("circle", "triangle")}


def likeliest() -> float:
    """Return how often the two counts that come most often come: what the best blind guess hits."""
    squares = ROWS * COLUMNS
    ways = [
        comb(squares, circles) * comb(squares - circles, triangles)
        for circles in range(FEWEST, squares - FEWEST + 1)
        for triangles in range(FEWEST, squares - circles + 1)
    ]
    return max(ways) / sum(ways)


def measure(width: int) -> tuple[int, int]:
    """Return the side of a square and the gap between two, in pixels, of a matrix at most this wide."""
    gap = max(2, round(_GAP * width))
    return (width - (COLUMNS + 1) * gap) // COLUMNS, gap


def matrix(cells: tuple[Cell, ...], level: int, side: int, gap: int) -> NDArray[np.uint8]:
    """Return the picture. A shape has hard edges, so that each of its pixels differs by exactly `level`."""
    height, width = (count * side + (count + 1) * gap for count in (ROWS, COLUMNS))
    pixels = np.full((height, width), BETWEEN, np.uint8)
    for number, cell in enumerate(cells):
        row, column = divmod(number, COLUMNS)
        top, left = gap + row * (side + gap), gap + column * (side + gap)
        square = pixels[top : top + side, left : left + side]
        square[:] = cell.grey
        square[_inside(cell, side)] = cell.grey + level
    return pixels


def _inside(cell: Cell, side: int) -> NDArray[np.bool_]:
    middles = (np.arange(side) + 0.5) / side
    across, down = middles[None, :] - cell.x, middles[:, None] - cell.y
    if cell.shape == "circle":
        inside: NDArray[np.bool_] = across**2 + down**2 <= (cell.size / 2) ** 2
        return inside
    if cell.shape == "triangle":
        depth = down / cell.size + 0.5  # 0 at the tip, 1 at the foot
        inside = (depth >= 0) & (depth <= 1) & (np.abs(across) <= depth * cell.size / 2)
        return inside
    return np.zeros((side, side), np.bool_)


def as_json(cells: tuple[Cell, ...]) -> list[Json]:
    """Return cells as they are kept."""
    return [list(cell) for cell in cells]


def from_json(private: Mapping[str, Json]) -> tuple[Cell, ...]:
    """Return the cells of an attempt."""
    cells: Any = private["cells"]
    return tuple(Cell(*cell) for cell in cells)
