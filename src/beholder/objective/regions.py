"""Regions: parts of pictures on which metrics are measured beside the whole, from a CSV of boxes and masks."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from beholder.analyse.result import records
from beholder.errors import Problem, UserError
from beholder.metrics.filters import Box
from beholder.metrics.masked import Mask
from beholder.metrics.reading import read_table
from beholder.stimuli.catalogue import Stimulus

_BOX = ("x", "y", "width", "height")
_NEED = "region, then x, y, width and height, or mask; stimulus or content where they differ"
_FIX = "White pixels of a mask count; x and y of a box are of its upper left corner."


@dataclass(frozen=True)
class Region:
    """A named part: a box in pixels, or in shares of the picture, or a mask."""

    name: str
    where: str
    box: tuple[float, float, float, float] | None = None
    mask: Mask | None = None

    def pixels(self, width: int, height: int) -> Box:
        """Return the box in a picture of this size."""
        assert self.box is not None
        x, y, wide, high = self.box
        if max(self.box) <= 1:
            x, y, wide, high = x * width, y * height, wide * width, high * height
        return even_box(x, y, wide, high, width, height)

    def outside(self, width: int, height: int) -> str:
        """Return what is wrong with the box in a picture of this size, or nothing."""
        if self.box is None:
            return ""
        x, y, wide, high = self.box
        sizes = (1.0, 1.0) if max(self.box) <= 1 else (width, height)
        if x + wide > sizes[0] + 1e-9 or y + high > sizes[1] + 1e-9:
            return f"ends at {x + wide:g}, {y + high:g}, outside the picture of {width} x {height}"
        return ""


def even_box(x: float, y: float, wide: float, high: float, width: int, height: int) -> Box:
    """Return the smallest box round this one on even pixels, as colours are often half as fine."""
    left, top = 2 * math.floor(x / 2), 2 * math.floor(y / 2)
    right, bottom = (
        min(size, 2 * math.ceil(round(end, 6) / 2)) for end, size in ((x + wide, width), (y + high, height))
    )
    return Box(left, top, right - left, bottom - top)


class Regions:
    """Which regions each stimulus has, by its id or its content, or for all."""

    def __init__(self, rows: Mapping[tuple[str, str], tuple[Region, ...]]) -> None:
        self._rows = rows

    def of(self, stimulus: Stimulus) -> tuple[Region, ...]:
        """Return the regions of a stimulus: those of all, unless its content or it alone has others of the name."""
        found: dict[str, Region] = {}
        for place in (("", ""), ("content", stimulus.content), ("stimulus", stimulus.id)):
            found |= {region.name: region for region in self._rows.get(place, ())}
        return tuple(found.values())

    def lost(self, stimuli: Iterable[Stimulus]) -> Iterator[Problem]:
        """Yield the regions of stimuli and contents that there are none of."""
        known = {("", "")} | {place for one in stimuli for place in (("stimulus", one.id), ("content", one.content))}
        for (column, name), own in self._rows.items():
            if (column, name) not in known:
                examples = [other for kind, other in sorted(known) if kind == column][:1]
                for region in own:
                    yield Problem(region.where, f"{column} is {name}, which is none", f"such as {examples[0]}")


def read_regions(path: Path) -> Regions:
    """Return the regions of a CSV, or raise UserError with every problem."""
    table = read_table(path)
    if "region" not in table or not ("mask" in table or set(_BOX) <= set(table.columns)):
        raise UserError(Problem(str(path), "has not the columns of regions", _NEED))
    rows: dict[tuple[str, str], list[Region]] = {}
    problems: list[Problem] = []
    for line, row in enumerate(records(table), 2):
        where = f"{path}:{line}"
        wrong = list(_wrong(row, where, path.parent))
        problems += wrong
        if wrong:
            continue
        name, mask = row["region"], row.get("mask", "")
        if mask:
            region = Region(name, where, mask=_mask(path.parent / mask))
        else:
            x, y, width, height = (float(row[column]) for column in _BOX)
            region = Region(name, where, box=(x, y, width, height))
        rows.setdefault(_whose(row), []).append(region)
    if problems:
        raise UserError(problems)
    return Regions({place: tuple(own) for place, own in rows.items()})


def _whose(row: Mapping[str, str]) -> tuple[str, str]:
    return next(((column, row[column]) for column in ("stimulus", "content") if row.get(column)), ("", ""))


def _wrong(row: Mapping[str, str], where: str, folder: Path) -> Iterator[Problem]:
    if not row["region"]:
        yield Problem(where, "region is empty", "a name, such as face")
    mask = row.get("mask", "")
    if mask:
        if not (folder / mask).is_file():
            yield Problem(where, f"mask is {mask}, which does not exist", "an image or a video beside the table")
        return
    numbers = pd.to_numeric(pd.Series([row.get(column, "") for column in _BOX]), errors="coerce")
    if numbers.isna().any():
        yield Problem(where, "has neither a box nor a mask", "numbers for x, y, width and height", _FIX)
    elif numbers.iloc[0] < 0 or numbers.iloc[1] < 0 or numbers.iloc[2] <= 0 or numbers.iloc[3] <= 0:
        told = ", ".join(f"{value:g}" for value in numbers)
        yield Problem(where, f"is the box {told}", "x and y from 0, width and height above 0", _FIX)


def _mask(path: Path) -> Mask:
    with path.open("rb") as file:
        return Mask(path, hashlib.file_digest(file, "sha256").hexdigest())
