"""What there is to deal: contents by columns, a column being a condition, or two where a trial is a pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from beholder.errors import PlanError, Problem, did_you_mean
from beholder.methods.contract import Units
from beholder.planning.even_rounding import Mask
from beholder.planning.slots import PALETTE
from beholder.planning.squares import Rows, block_of, block_problems, order_problems, square_problems
from beholder.stimuli.catalogue import Catalogue
from beholder.study.design import Design

_SHOWN = 4
"""Conditions that are listed; of more it is said how many there are."""


@dataclass(frozen=True)
class StimulusGrid:
    """The stimuli by content and column; `free` columns are dealt, those in `always` are in every trial."""

    kind: Literal["content", "stimulus", "pair"]
    contents: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    """The condition of each column, or the two."""
    cells: tuple[tuple[tuple[str, ...], ...], ...]
    """Stimulus ids by content and column; empty where there is none."""
    free: tuple[int, ...]
    always: tuple[int, ...]
    per_trial: int
    """Columns of a trial."""
    companions: tuple[int, ...] = ()
    """By content, the column of the stimulus that goes with all the others; nothing where nothing goes with them."""
    apart: int = 0
    blocks: tuple[tuple[int, ...], ...] = ()
    """By content and column, the block that its trials stand in, -1 where there is none; nothing without blocks."""
    block_names: tuple[str, ...] = ()

    @property
    def present(self) -> Mask:
        """Which content has which free column to deal."""
        there = np.array([[bool(cell) for cell in row] for row in self.cells], dtype=np.bool_)
        if self.companions:
            there[np.arange(len(self.contents)), list(self.companions)] = False
        return there[:, list(self.free)]

    @property
    def dealt_per_trial(self) -> int:
        return self.per_trial - len(self.always)

    @property
    def width(self) -> int:
        """Stimuli of a trial."""
        return 2 if self.kind == "pair" else self.per_trial


def build_grid(units: Units, catalogue: Catalogue, design: Design, method: str) -> StimulusGrid:
    """Return the grid of a study, or raise PlanError with everything that stands in the way."""
    later = _later(units)
    if later:
        raise PlanError(
            Problem("method", f"{method} deals {later}, not in this version", "contents, single stimuli and pairs")
        )
    misfits = list(_design_problems(units, catalogue, design, method))
    if misfits:
        raise PlanError(misfits)
    if not units.items:
        raise PlanError(Problem("stimuli", "hold nothing to rate", "", "Add stimuli of the conditions under test."))
    rows = _rows(units, catalogue)
    always = tuple(dict.fromkeys((*design.always, *units.always))) if units.kind == "content" else ()
    problems = list(_problems(rows, catalogue.conditions, always, units, design, method))
    problems += [*block_problems(rows, units.kind, catalogue, design), *square_problems(rows, units.kind, design)]
    if problems:
        raise PlanError(problems)
    columns = _columns(rows, catalogue.conditions, units.kind)
    blocks, block_names = block_of(rows, columns, catalogue, design.blocks)
    companions = _companions(units, rows, catalogue, columns)
    assert units.kind != "tuple"
    return StimulusGrid(
        kind=units.kind,
        contents=tuple(rows),
        columns=columns,
        cells=tuple(tuple(row.get(column, ()) for column in columns) for row in rows.values()),
        free=tuple(n for n, column in enumerate(columns) if column[0] not in always and {n} != set(companions)),
        always=tuple(n for n, column in enumerate(columns) if column[0] in always),
        per_trial=units.per_trial if units.kind == "content" else 1,
        companions=companions,
        apart=units.apart,
        blocks=blocks,
        block_names=block_names,
    )


def count(number: int, one: str, many: str) -> str:
    """Return `1 content`, `4 contents`."""
    return f"{number} {one if number == 1 else many}"


def between(least: int, most: int) -> str:
    """Return `4`, `4 to 12`; nothing where no number is allowed."""
    if most <= least:
        return str(most) if most == least else ""
    return f"{least} to {most}"


def _later(units: Units) -> str:
    if units.kind == "tuple":
        return "tuples"
    if units.companions and units.kind != "stimulus":
        return f"{units.kind}s with companions"
    return "slots in both orders" if units.shuffle == "order" and units.kind != "pair" else ""


def _design_problems(units: Units, catalogue: Catalogue, design: Design, method: str) -> Iterator[Problem]:
    """Yield what the design says about pairs and the method does not do."""
    star, known = design.star, catalogue.conditions
    if star is not None and star not in known:
        near = did_you_mean(star, known)
        yield Problem("design.pairs.star", f"is {star}, which is no condition", ", ".join(known), near)
    elif star is not None and not all(
        any(catalogue.by_id[stimulus].condition == star for stimulus in unit.stimuli) for unit in units.items
    ):
        yield Problem("design.pairs", f"does not fit {method}, which makes its own trials", "all", "Leave it out.")
    if not design.both_orders and units.shuffle != "order":
        what = f"does not fit {method}, where no two stand in either order"
        yield Problem("design.both_orders", what, "true", "Leave it out.")
    if units.companions and design.contents == "once":
        what = "is once, but each content comes with its reference"
        yield Problem("design.contents", what, "apart or free", "Leave it out.")
    yield from order_problems(units, design, method)


def _rows(units: Units, catalogue: Catalogue) -> Rows:
    rows: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = {}
    for unit in units.items:
        row = rows.setdefault(unit.content, {})
        parts = [unit.stimuli] if units.kind == "pair" else [(stimulus,) for stimulus in unit.stimuli]
        row.update((tuple(catalogue.by_id[stimulus].condition for stimulus in part), part) for part in parts)
    for test, companions in units.companions.items():
        # A method may leave them out of its items, as they are not dealt by themselves.
        rows[catalogue.by_id[test].content].update(((catalogue.by_id[s].condition,), (s,)) for s in companions)
    return rows


def _columns(rows: Rows, conditions: tuple[str, ...], kind: str) -> tuple[tuple[str, ...], ...]:
    if kind != "pair":
        return tuple((condition,) for condition in conditions)
    place = {condition: number for number, condition in enumerate(conditions)}
    return tuple(sorted({pair for row in rows.values() for pair in row}, key=lambda pair: [place[c] for c in pair]))


def _companions(
    units: Units, rows: Rows, catalogue: Catalogue, columns: tuple[tuple[str, ...], ...]
) -> tuple[int, ...]:
    """Return the column of each content's companion."""
    if not units.companions:
        return ()
    found: list[int] = []
    bare: list[Problem] = []
    for content, row in rows.items():
        beside = {stimulus for test in row.values() for stimulus in units.companions.get(test[0], ())}
        if not beside:
            bare.append(reference_alone(content))
            continue
        if len(beside) > 1:
            raise ValueError(f"content {content} has {len(beside)} companions, and exactly one can be dealt")
        found.append(columns.index((catalogue.by_id[beside.pop()].condition,)))
    if bare:
        raise PlanError(bare)
    return tuple(found)


def reference_alone(content: str) -> Problem:
    """Return that there is nothing to rate beside a reference."""
    what = f"of content {content} are its reference alone"
    return Problem("stimuli", what, "", f"Add a stimulus under test, or leave {content} out.")


def _problems(
    rows: Rows, conditions: tuple[str, ...], always: tuple[str, ...], units: Units, design: Design, method: str
) -> Iterator[Problem]:
    for condition in always:
        if condition not in conditions:
            near = did_you_mean(condition, conditions)
            what = f"names {condition}, which is no condition"
            if condition in design.always:
                yield Problem("design.always", what, ", ".join(conditions), near)
            else:
                yield Problem("method", f"{method} {what}", ", ".join(conditions), near)
            continue
        for content in [content for content, row in rows.items() if (condition,) not in row]:
            what = f"puts {condition} into every trial, but content {content} has none"
            where, subject = ("design.always", "") if condition in design.always else ("method", f"{method} ")
            yield Problem(where, f"{subject}{what}", "", f"Add the file, or leave {content} out.")
    if units.kind == "content":
        yield from _wrong_per_trial(rows, conditions, always, units, design)


def _wrong_per_trial(
    rows: Rows, conditions: tuple[str, ...], always: tuple[str, ...], units: Units, design: Design
) -> Iterator[Problem]:
    per_trial = units.per_trial
    there = [condition for condition in conditions if any((condition,) in row for row in rows.values())]
    fewest = min(len(row) for row in rows.values())
    most = min(len(PALETTE), fewest)
    # A name that is none is told by itself.
    others = [condition for condition in there if condition not in always] if {*always} <= {*conditions} else []
    least = len(always) + bool(others)
    works = between(max(2, least), most)
    asked = f"is {per_trial}" if design.per_trial else f"is left out, which means all {per_trial} conditions"
    if least > per_trial:
        puts = (
            f"{len(always)} conditions are in" if units.always else f"design.always puts {len(always)} conditions into"
        )
        never = f", and {_some(others)} would never be shown" if per_trial == len(always) else ""
        fix = "" if works else f"Leave {least - most} of them out: a page can hold {most}."
        yield Problem("design.per_trial", f"{asked}, but {puts} every trial{never}", works, fix)
    if per_trial > len(there):
        are = "there is 1 condition" if len(there) == 1 else f"there are {len(there)} conditions"
        yield Problem("design.per_trial", f"{asked}, but {are} to show", works)
    if per_trial > len(PALETTE):
        what = f"{asked}, and there are {len(PALETTE)} colours to tell slots apart"
        yield Problem("design.per_trial", what, works)
    for content, row in rows.items():
        if len(row) < min(per_trial, len(there)):
            yield Problem(
                "design.per_trial",
                f"{asked}, but content {content} has {count(len(row), 'stimulus', 'stimuli')}",
                works,
                "Add the missing files, or leave the content out.",
            )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
