"""One table of counts: what it holds, and how far it is from even."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.report.planned.shows import Ints, Mask

Floats: TypeAlias = NDArray[np.float64]
_WHOLE = 1 - 1e-9
"""A count that is less than one away from what would be even can be no nearer."""
_NEAR = 0.1
"""A share of what would be even by which a count may differ without being worth a look."""


@dataclass(frozen=True)
class Count:
    """One table of counts; `row` and `column` say what they are of, and are the columns of its file."""

    row: str
    column: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Ints
    counted: Mask
    """The cells in which something could stand."""
    even: Floats
    """What each cell would hold if what there is were spread evenly."""
    every: str
    """The beginning of the sentence that tells it: every ... every ..."""
    some: str

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"{self.row}-{self.column}".replace(" ", "-")

    @cached_property
    def cells(self) -> Ints:
        """The counts in which something could stand."""
        return self.values[self.counted]

    @property
    def least(self) -> int:
        return int(self.cells.min(initial=self.most))

    @property
    def most(self) -> int:
        return int(self.cells.max(initial=0))

    @cached_property
    def off(self) -> Floats:
        """By how much each cell is off, below zero where there is too little; 0 where it is even, or nearly so."""
        off = self.values - self.even
        return np.where(self.counted & (np.abs(off) > np.maximum(_WHOLE, _NEAR * self.even)), off, 0.0)

    @property
    def is_even(self) -> bool:
        """Whether no cell could be nearer to what would be even: counts are whole."""
        return not (self.counted & (np.abs(self.values - self.even) > _WHOLE)).any()

    @property
    def is_near(self) -> bool:
        """Whether every cell is even, or nearly so."""
        return not self.off.any()
