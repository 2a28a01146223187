"""Regions: parts of pictures on which metrics are measured beside the whole, from a CSV of boxes and masks."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import numpy as np
import pandas as pd

from beholder.analysis.result import records
from beholder.cleaning.ratings import TOO_LARGE, read_cells
from beholder.errors import Problem, UserError
from beholder.objective.decoding import Box, Mask, Truths, box_round, mask_box, mask_frames
from beholder.stimuli.catalogue import Stimulus

_BOX = ("x", "y", "width", "height")
_NEED = "region, then x, y, width and height, or mask; stimulus or content where they differ; side where it is outside"
_SIDES = ("inside", "outside")
_FIX = "White pixels of a mask count; x and y of a box are of its upper left corner."


@dataclass(frozen=True)
class Region:
    """A named part: a box in pixels, or in shares of the picture, or a mask; or all that is outside of it."""

    name: str
    where: str
    box: tuple[float, float, float, float] | None = None
    mask: Mask | None = None
    is_outside: bool = False

    @property
    def is_box(self) -> bool:
        """Whether it is a rectangle, to which pictures can be cut."""
        return self.mask is None and not self.is_outside

    @property
    def key(self) -> str:
        """What distinguishes it from other regions, for the cache."""
        where = self.mask.sha256 if self.mask is not None else repr(self.box)
        return f"outside {where}" if self.is_outside else where

    def box_in(self, width: int, height: int) -> Box | None:
        """Return the box round it in a picture of this size; None where it picks nothing."""
        if self.is_outside:
            return box_round(~self._inside(width, height)) if self.mask is None else Box(0, 0, width, height)
        return self.pixels(width, height) if self.mask is None else mask_box(self.mask, width, height)

    def picks(self, width: int, height: int) -> Iterator[Truths]:
        """Yield which pixels count in each frame, for ever."""
        inside = repeat(self._inside(width, height)) if self.mask is None else mask_frames(self.mask, width, height)
        return (~picked for picked in inside) if self.is_outside else iter(inside)

    def _inside(self, width: int, height: int) -> Truths:
        box = self.pixels(width, height)
        inside = np.zeros((height, width), dtype=bool)
        inside[box.y : box.y + box.height, box.x : box.x + box.width] = True
        return inside

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
        regions: dict[str, Region] = {}
        for place in (("", ""), ("content", stimulus.content), ("stimulus", stimulus.id)):
            regions |= {region.name: region for region in self._rows.get(place, ())}
        return tuple(regions.values())

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
        name, mask, is_outside = row["region"], row.get("mask", ""), row.get("side") == "outside"
        if mask:
            region = Region(name, where, mask=_mask(path.parent / mask), is_outside=is_outside)
        else:
            x, y, width, height = (float(row[column]) for column in _BOX)
            region = Region(name, where, box=(x, y, width, height), is_outside=is_outside)
        rows.setdefault(_whose(row), []).append(region)
    if problems:
        raise UserError(problems)
    return Regions({place: tuple(own) for place, own in rows.items()})


def _whose(row: Mapping[str, str]) -> tuple[str, str]:
    return next(((column, row[column]) for column in ("stimulus", "content") if row.get(column)), ("", ""))


def _wrong(row: Mapping[str, str], where: str, folder: Path) -> Iterator[Problem]:
    if not row["region"]:
        yield Problem(where, "region is empty", "a name, such as face")
    if (side := row.get("side", "")) and side not in _SIDES:
        fix = "outside takes all pixels but those of the box or mask: the background."
        yield Problem(where, f"side is {side}", "inside or outside", fix)
    mask = row.get("mask", "")
    if mask:
        if not (folder / mask).is_file():
            yield Problem(where, f"mask is {mask}, which does not exist", "an image or a video beside the table")
        return
    numbers = pd.to_numeric(pd.Series([row.get(column, "") for column in _BOX]), errors="coerce")
    if numbers.isna().any():
        yield Problem(where, "has neither a box nor a mask", "numbers for x, y, width and height", _FIX)
    elif numbers.iloc[0] < 0 or numbers.iloc[1] < 0 or numbers.iloc[2] <= 0 or numbers.iloc[3] <= 0:
        box = ", ".join(f"{value:g}" for value in numbers)
        yield Problem(where, f"is the box {box}", "x and y from 0, width and height above 0", _FIX)


def _mask(path: Path) -> Mask:
    with path.open("rb") as file:
        return Mask(path, hashlib.file_digest(file, "sha256").hexdigest())


# Values of metrics that were measured elsewhere


VALUES = ["stimulus", "content", "condition", "metric", "region", "value", "note"]
_NAMES = ("stimulus", "content", "condition", "region", "note", "question", "role")
_READING_NEED = "stimulus or condition, and metric and value, or a column for each metric"
_MOST_PROBLEMS = 20


def read_table(path: Path) -> pd.DataFrame:
    """Return a CSV as text, names as they are written; columns without a name are no part of it.

    Raise UserError where it is none, or has a column twice.
    """
    table = read_cells(path)
    first = pd.read_csv(path, header=None, nrows=1, dtype=str, na_filter=False, encoding="utf-8-sig")
    names = [str(name).strip() for name in first.iloc[0]]
    named = [name for name in names if name]
    if twice := dict.fromkeys(name for name in named if named.count(name) > 1):
        raise UserError(Problem(str(path), f"has the column {name} twice", "one of each") for name in twice)
    # A table that was written with its row numbers has them below an empty name.
    kept = table.loc[:, [name != "" for name in names]].set_axis(named, axis=1)
    return pd.DataFrame({name: cells.str.strip() for name, cells in kept.items()})


def read_values(path: Path, rated: pd.DataFrame, files: Mapping[str, str]) -> pd.DataFrame:
    """Return the values of a CSV, one row each: metric and value, or a column for each metric.

    `rated` names stimulus, content and condition of all that was rated; `files` leads from files to stimuli.
    """
    table = read_table(path)
    problems = []
    if not {"stimulus", "condition"} & set(table.columns):
        problems.append(Problem(str(path), "has neither stimulus nor condition", _READING_NEED))
    for one, other in (("value", "metric"), ("metric", "value")):
        if one in table and other not in table:
            problems.append(Problem(str(path), f"has {one} and no {other}", _READING_NEED))
    if problems:
        raise UserError(problems)
    kept = [column for column in _NAMES if column in table]
    is_long = {"metric", "value"} <= set(table.columns)
    metrics = ["metric", "value"] if is_long else [name for name in table if name not in _NAMES]
    # The number of a row is its index, so that a column may have any name.
    given = table[[*kept, *metrics]]
    if not is_long:
        given = given.melt(kept, metrics, "metric", "value", ignore_index=False)
    line = np.asarray(given.index) + 2
    given = given.reset_index(drop=True)
    if not len(given):
        raise UserError(Problem(str(path), "has no values", "at least one column with numbers"))
    value = pd.to_numeric(given["value"].replace("", "nan"), errors="coerce").astype(float)
    is_said = given["value"].str.lower().isin(["", "nan", "na", "none", "null", "–", "-"])
    is_large = np.isfinite(value) & (value.abs() >= TOO_LARGE)
    wrong = given[(value.isna() & ~is_said) | is_large]
    if len(wrong):
        below = dict.fromkeys(given.index[is_large], f" below {TOO_LARGE:g}")
        raise UserError(
            Problem(f"{path}:{line[at]}", f"{metric} is {text!r}", f"a number{below.get(at, '')}, or nothing")
            for at, metric, text in wrong[["metric", "value"]].head(_MOST_PROBLEMS).itertuples()
        )
    without_name = line[given["metric"] == ""]
    if len(without_name):
        raise UserError(Problem(f"{path}:{at}", "metric is empty", "a name") for at in without_name[:_MOST_PROBLEMS])
    named = _named(given, rated, files, path)
    is_endless = np.isinf(value)
    notes = given["note"] if "note" in given else pd.Series("", index=given.index)
    return named.assign(
        metric=given["metric"],
        region=given.get("region", ""),
        value=value.where(~is_endless),
        note=notes.where(~is_endless, "infinite"),
    )[VALUES]


def _named(given: pd.DataFrame, rated: pd.DataFrame, files: Mapping[str, str], path: Path) -> pd.DataFrame:
    """Return stimulus, content and condition of each row, as the ratings have them; a condition may stand alone."""
    stimuli = {row["stimulus"]: row for row in records(rated) if row["stimulus"]}
    cells = {(row["content"], row["condition"]): name for name, row in stimuli.items()}
    conditions = list(dict.fromkeys(rated["condition"]))
    matches, is_known = [], False
    for row in records(given):
        content, condition = row.get("content", ""), row.get("condition", "")
        name = row.get("stimulus", "") or cells.get((content, condition), "")
        name = name if name in stimuli else files.get(name, name)
        one = stimuli.get(name)
        is_known |= one is not None or (not name and condition in conditions)
        matches.append((name, one["content"], one["condition"]) if one else (name, content, condition))
    if len(rated) and not is_known:
        example = next(name or condition for name, _, condition in matches)
        names = [f"a stimulus such as {name}" for name in list(stimuli)[:1]]
        allowed = ", or ".join([*names, f"a condition such as {conditions[0]}"])
        raise UserError(Problem(str(path), f"names nothing that was rated, as in {example!r}", allowed))
    return pd.DataFrame(matches, columns=["stimulus", "content", "condition"], index=given.index)
