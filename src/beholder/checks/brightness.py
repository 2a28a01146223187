"""brightness: shapes that are barely lighter than their squares are seen and counted (reference: checks 5).

The first matrix tells what was found and can be tried again, a new one each time. The second is silent.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from numpy.random import Generator

from beholder.checks.contract import Attempt, Drawn, Known, Posed, Robot, Step, refuse
from beholder.checks.drawing import matrix
from beholder.checks.drawing.png import png
from beholder.checks.verdict import Verdict
from beholder.checks.window import Window, is_scaled, read_scale, window
from beholder.study import qualification as rules
from beholder.types import Json

SHAPES = ("circles", "triangles")
MOST = matrix.ROWS * matrix.COLUMNS
_LENGTH = 1 << 16
"""Every matrix is a file of so many bytes, however many shapes are on it."""


class Brightness(Step[rules.Brightness]):
    name = "brightness"
    stage = "setup"
    seconds = 20

    def pose(self, rng: Generator, known: Known) -> Posed:
        cells = matrix.draw_cells(rng)
        side, gap = matrix.measure(_room(window(known)))
        private: dict[str, Json] = {"cells": matrix.as_json(cells), "level": self.rule.level, "side": side, "gap": gap}
        width, height = (count * side + (count + 1) * gap for count in (matrix.COLUMNS, matrix.ROWS))
        return Posed({"size": [width, height]}, {**private, "counts": matrix.count(cells)}, ("matrix",))

    def draw(self, private: Mapping[str, Json], name: str) -> Drawn:
        level, side, gap = private["level"], private["side"], private["gap"]
        assert isinstance(level, int)
        assert isinstance(side, int)
        assert isinstance(gap, int)
        return png(matrix.matrix(matrix.from_json(private), level, side, gap), _LENGTH)

    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        assert isinstance(answer, Mapping)
        read: dict[str, Json] = {}
        for shape in SHAPES:
            given = answer.get(shape)
            if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= MOST:
                raise refuse(shape, f"The number of {shape} is missing", f"a whole number, 0 to {MOST}")
            read[shape] = given
        return {**read, "scale": read_scale(answer)}

    def judge(self, attempt: Attempt) -> Verdict:
        right = attempt.private["counts"]
        given: Json = {shape: attempt.answer[shape] for shape in SHAPES}
        scale = attempt.answer.get("scale")
        if is_scaled(scale):
            return self.verdict("unknown", "scaled", measured=given, needed=right, again=True, scale=scale)
        if given == right:
            return self.verdict("pass", measured=given, needed=right, scale=scale)
        return self.verdict("fail", "count", measured=given, needed=right, scale=scale)

    def luck(self) -> float:
        return matrix.likeliest()

    def respond(self, posed: Posed, robot: Robot, rng: Generator) -> Json:
        counts = posed.private["counts"]
        assert isinstance(counts, Mapping)
        return {**counts, "scale": 1} if robot.can(self.name) else {"circles": 0, "triangles": 0, "scale": 1}


class SecondBrightness(Brightness):
    """The second matrix: once, and nobody is told whether the count was right."""

    name: ClassVar[str] = "brightness_second"

    def __init__(self, rule: rules.Brightness, folder: Path = Path()) -> None:
        super().__init__(rule.model_copy(update={"action": "flag", "feedback": False, "attempts": 1}), folder)

    @classmethod
    def is_asked(cls, rule: rules.Brightness) -> bool:
        return rule.second


def _room(window: Window) -> int:
    """Return how wide a matrix can be in device pixels: in one view with its fields, and never wider than a phone."""
    css = min(window.width - 64, max(320, min(416, window.height - 420)))
    return int(css * window.ratio)
