"""brightness, brightness_second: barely visible shapes are counted (reference: checks 5).

The first matrix gives feedback and can be tried again, each time with a new one. The second is silent.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from beholder.checks.contract import Verdict
from beholder.checks.page_contract import (
    Attempt,
    BrowserPage,
    CheckContext,
    CheckTask,
    DrawnFile,
    PageCheck,
    RobotAbilities,
)
from beholder.checks.pictures import is_scaled, png, read_scale
from beholder.checks.screen import Window, window_of
from beholder.study.parts import Validity
from beholder.study.qualification import CheckOptions
from beholder.types import Json

ROWS = COLUMNS = 4
GREYS = (15, 72, 128, 185, 240)
BETWEEN = 100
"""The grey between the squares: as far as possible from theirs, so that each square is visible."""
FEWEST = 2
"""Least number of shapes of each kind: to see nothing is never right."""
_GAP = 0.016
"""Share of the whole picture."""
SHAPES = ("circles", "triangles")
MOST = ROWS * COLUMNS
_LENGTH = 1 << 16
"""Every matrix is a file of this many bytes, however many shapes it shows."""


class MatrixCell(NamedTuple):
    """One square: its grey, its shape, and where in it the shape is, in shares of the square."""

    grey: int
    shape: Literal["", "circle", "triangle"]
    x: float
    y: float
    size: float


class Brightness(PageCheck):
    """The first matrix."""

    name = "brightness"
    title = "Brightness and room light"
    summary = "Brightness and room light."
    reasons: ClassVar[Mapping[str, str]] = {"count": "shapes not counted right"}
    sense = "eyes"
    stage = "setup"
    order = 220
    seconds = 20
    is_of_device = True

    class Options(CheckOptions):
        """Brightness and room light: barely visible shapes to count, twice."""

        attempts: int = Field(default=4, ge=1, le=20, description="How often the first matrix can be tried.")
        valid: Validity | None = Field(default="30 min", description="How long a pass counts on the same device.")
        level: int = Field(
            default=4, ge=1, le=15, description="How many levels of 255 a shape differs from its square."
        )
        second: bool = Field(default=True, description="A second matrix, silent: cleaning decides.")

    options: Options

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        cells = draw_cells(rng)
        side, gap = _layout(_matrix_width(window_of(context)))
        private: dict[str, Json] = {"cells": _cells_json(cells), "level": self.options.level, "side": side, "gap": gap}
        width, height = (count * side + (count + 1) * gap for count in (COLUMNS, ROWS))
        return CheckTask({"size": [width, height]}, {**private, "counts": count_shapes(cells)}, ("matrix",))

    def draw(self, private: Mapping[str, Json], name: str) -> DrawnFile:
        level, side, gap = private["level"], private["side"], private["gap"]
        assert isinstance(level, int)
        assert isinstance(side, int)
        assert isinstance(gap, int)
        return png(matrix(_read_cells(private), level, side, gap), _LENGTH)

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        read: dict[str, Json] = {}
        for shape in SHAPES:
            value = answer.get(shape)
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
                raise self.refuse(shape, "no_number_of", f"a whole number, 0 to {MOST}", shape=shape)
            read[shape] = value
        return {**read, "scale": read_scale(answer)}

    def judge(self, attempt: Attempt) -> Verdict:
        right = attempt.private["counts"]
        value: Json = {shape: attempt.answer[shape] for shape in SHAPES}
        scale = attempt.answer.get("scale")
        if is_scaled(scale):
            return self.verdict("unknown", "scaled", measured=value, needed=right, again=True, scale=scale)
        if value == right:
            return self.verdict("pass", measured=value, needed=right, scale=scale)
        return self.verdict("fail", "count", measured=value, needed=right, scale=scale)

    def guess_rate(self) -> float:
        return _best_guess_rate()

    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        counts = task.private["counts"]
        assert isinstance(counts, Mapping)
        return {**counts, "scale": 1} if robot.can(self.name) else {"circles": 0, "triangles": 0, "scale": 1}

    @classmethod
    async def take(cls, page: BrowserPage) -> None:
        await page.find(".check-picture")
        for shape in SHAPES:
            await page.write(f"#{shape}", page.answer[shape])
        await page.leave()


class SecondBrightness(Brightness):
    """The second matrix: shown once, without feedback."""

    name: ClassVar[str] = "brightness_second"
    title = "Brightness, second time"
    switch = Brightness.name
    words = "words/second"
    order = 230

    def __init__(self, options: Brightness.Options, folder: Path = Path()) -> None:
        super().__init__(options.model_copy(update={"action": "flag", "feedback": False, "attempts": 1}), folder)

    @classmethod
    def is_asked(cls, options: Brightness.Options) -> bool:
        return options.second


def _matrix_width(window: Window) -> int:
    """Return the width of a matrix in device pixels, so that matrix and fields fit into one view."""
    css = min(window.width - 64, max(320, min(416, window.height - 420)))
    return int(css * window.ratio)


# The matrix: grey squares, each empty or with a shape that is barely lighter


def draw_cells(rng: Generator) -> tuple[MatrixCell, ...]:
    """Return a new matrix: four different greys in each row, and at least two shapes of each kind."""
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
            cells.append(MatrixCell(int(grey), shape, round(x, 4), round(y, 4), round(size, 4)))
    return tuple(cells)


def count_shapes(cells: tuple[MatrixCell, ...]) -> dict[str, int]:
    """Return the number of shapes of each kind."""
    return {shape + "s": sum(cell.shape == shape for cell in cells) for shape in ("circle", "triangle")}


def _best_guess_rate() -> float:
    """Return the probability of the most frequent pair of counts: that of the best blind guess."""
    squares = ROWS * COLUMNS
    ways = [
        comb(squares, circles) * comb(squares - circles, triangles)
        for circles in range(FEWEST, squares - FEWEST + 1)
        for triangles in range(FEWEST, squares - circles + 1)
    ]
    return max(ways) / sum(ways)


def _layout(width: int) -> tuple[int, int]:
    """Return the side of a square and the gap between squares, in pixels, of a matrix of at most this width."""
    gap = max(2, round(_GAP * width))
    return (width - (COLUMNS + 1) * gap) // COLUMNS, gap


def matrix(cells: tuple[MatrixCell, ...], level: int, side: int, gap: int) -> NDArray[np.uint8]:
    """Return the picture. Shapes have hard edges, so that each of their pixels differs by exactly `level`."""
    height, width = (count * side + (count + 1) * gap for count in (ROWS, COLUMNS))
    pixels = np.full((height, width), BETWEEN, np.uint8)
    for number, cell in enumerate(cells):
        row, column = divmod(number, COLUMNS)
        top, left = gap + row * (side + gap), gap + column * (side + gap)
        square = pixels[top : top + side, left : left + side]
        square[:] = cell.grey
        square[_inside(cell, side)] = cell.grey + level
    return pixels


def _inside(cell: MatrixCell, side: int) -> NDArray[np.bool_]:
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


def _cells_json(cells: tuple[MatrixCell, ...]) -> list[Json]:
    """Return cells as JSON."""
    return [list(cell) for cell in cells]


def _read_cells(private: Mapping[str, Json]) -> tuple[MatrixCell, ...]:
    """Return the cells of a task."""
    cells: Any = private["cells"]
    return tuple(MatrixCell(*cell) for cell in cells)
