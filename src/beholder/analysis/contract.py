"""The contract of an analysis: from ratings to one table of analyse/, with its columns, its figure and its sources.

An analysis of another package imports from here, and is an `Analysis` in the entry point group `beholder.analyses`.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.columns import Column
from beholder.errors import Problem, UserError
from beholder.files import csv_blocks, unquoted
from beholder.formats import join_names

__all__ = ["Analysis", "Column", "Ratings", "Result", "as_ratings"]

_NAME = re.compile("[a-z][a-z0-9_]*")
_INFERENCE = re.compile(r"(.*_)?(low|high|p|p_holm|probability)")
_WORDS = {
    "text": "texts", "integer": "whole numbers", "number": "numbers", "boolean": "truths",
}  # fmt: skip


@dataclass(frozen=True)
class Analysis:
    """One table of analyse/: how it is computed, what its columns mean, how it is drawn and what it rests on."""

    name: str
    """Of the table, analyse/<name>.csv, and of the entry point."""
    compute: Callable[[Any], Result | None]
    """From `Ratings`, or from the result of the analysis that it `takes`; None where it does not apply."""
    columns: tuple[Column, ...]
    """In this order. A name with a `*` is of any number of further columns, such as `*_se`."""
    row: str
    """What there is a row for, such as `condition and question`."""
    holds: str
    """What the table holds, in a few words."""
    citation: str = ""
    """All sources that its results may cite, with semicolons between them; those of methods not among them."""
    draw: Callable[[pd.DataFrame], Any] | None = None
    """From the table to an Altair chart, where a picture helps."""
    seed: int | None = None
    """Of what it draws by chance; the notes tell it."""
    takes: str = ""
    """The analysis whose result it takes in place of ratings; it comes later in the order."""
    order: float = math.inf
    """Its place among the others, which are by name where it is the same: ours first."""
    holds_at_looks: bool = False
    """Whether its intervals and p-values are those of `Ratings.level` and `Ratings.look`; others wait for the end."""
    apart: str = ""
    """Shared by analyses that rest on a fit of their own, which no other analysis needs: of many ratings these may be
    computed in another process, all with the same word in one. Empty for all others."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"an analysis is called {self.name!r}; allowed are small letters, digits and _")
        unknown = [column.name for column in self.columns if column.kind not in _WORDS]
        if unknown:
            raise ValueError(f"{join_names(unknown)} of the analysis {self.name} is of none of {join_names([*_WORDS])}")

    @property
    def file(self) -> str:
        """The name of its file in analyse/."""
        return f"{self.name}.csv"

    @property
    def names(self) -> list[str]:
        """The names of the columns that it always has."""
        return [column.name for column in self.columns if "*" not in column.name]

    @property
    def has_inference(self) -> bool:
        """Whether any of its columns is the end of an interval, a p-value or a probability."""
        return any(_INFERENCE.fullmatch(column.name) for column in self.columns)

    def column(self, name: str) -> Column | None:
        """Return what is declared of a column; None where nothing is."""
        exact = (column for column in self.columns if column.name == name)
        return next(exact, None) or next((one for one in self.columns if fnmatchcase(name, one.name)), None)

    def result(self, table: pd.DataFrame, note: str, citation: str | None = None) -> Result:
        """Return a result with the figure of this analysis; it cites all its sources unless told which."""
        return Result(table, note, self.citation if citation is None else citation, self.draw)

    def write(self, table: pd.DataFrame) -> bytes:
        """Return the table as CSV; raises ValueError where it is not as declared."""
        faults = list(self.faults(table))
        if faults:
            raise ValueError("; ".join(faults))
        columns = [str(name) for name in table.columns]
        return b"".join(csv_blocks(columns, zip(*(table[name].tolist() for name in columns), strict=True)))

    def faults(self, table: pd.DataFrame) -> Iterator[str]:
        """Yield in which ways a table is not as declared."""
        names, needed = [str(name) for name in table.columns], self.names
        declared = {name: self.column(name) for name in names}
        missing = [name for name in needed if name not in declared]
        unknown = [name for name in names if declared[name] is None]
        if missing:
            yield f"the table lacks {join_names(missing)}"
        if unknown:
            yield f"the table has {join_names(unknown)}, which is not declared"
        if not missing and [name for name in names if name in needed] != needed:
            yield f"the columns of the table are not in the order {join_names(needed)}"
        for name, column in declared.items():
            if column is not None and len(table) and not _is_of_kind(table[name], column.kind):
                yield f"{name} does not hold {_WORDS[column.kind]}"

    def read(self, path: Path) -> pd.DataFrame:
        """Return a table of this analysis from its file, with the declared types."""
        # By hand: these tables are short, and pandas takes longer to begin than to read.
        with path.open(encoding="utf-8", newline="") as file:
            header, *lines = [list(map(unquoted, line)) for line in csv.reader(file)] or [[]]
        columns: dict[str, Any] = {}
        for name, cells in zip(header, list(zip(*lines, strict=True)) or [()] * len(header), strict=True):
            column = self.column(name)
            if column is None:
                what = f"has the column {name}, which the analysis {self.name} does not have"
                raise UserError(Problem(str(path), what, "", "Run `beholder analyse` again."))
            columns[name] = _read_cells(cells, column.kind)
        return pd.DataFrame(columns)


def _read_cells(cells: Sequence[str], kind: str) -> Any:
    """Return the cells of a column as what it holds."""
    if kind == "boolean":
        return np.array([cell == "true" for cell in cells], dtype=bool)
    if kind == "integer":
        return np.array([int(float(cell)) for cell in cells], dtype=int)
    return np.array([float(cell or "nan") for cell in cells]) if kind == "number" else pd.array(cells, dtype="str")


def _is_of_kind(values: pd.Series, kind: str) -> bool:
    """Return whether all values can be written, and read back, as what was declared."""
    if kind == "boolean":
        return values.dtype == bool
    if kind == "text":
        if isinstance(values.dtype, pd.StringDtype):
            return not values.hasnans
        return all(isinstance(value, str) for value in values)
    if not pd.api.types.is_numeric_dtype(values.dtype) or values.dtype == bool:
        return False
    numbers = values.to_numpy(float)
    return kind == "number" or bool((np.isfinite(numbers) & (numbers == np.round(numbers))).all())
