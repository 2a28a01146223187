"""What there is to allocate: a grid of contents by columns. A column is a condition, or a pair of conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from beholder.errors import PlanError, Problem, did_you_mean
from beholder.formats import first_names, plain_count, plural
from beholder.methods.contract import Units
from beholder.planning.even_rounding import Mask
from beholder.planning.slots import PALETTE
from beholder.planning.squares import Rows, block_of, block_problems, order_problems, square_problems
from beholder.stimuli.catalogue import Catalogue
from beholder.study.design import Design

_SHOWN = 4
"""Conditions that a message lists by name."""


@dataclass(frozen=True)
class StimulusGrid:
    """The stimuli by content and column; `free` columns are allocated, those in `always` are in every trial."""

    kind: Literal["content", "stimulus", "pair"]
    contents: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    """The condition or the two conditions of each column."""
    cells: tuple[tuple[tuple[str, ...], ...], ...]
    """Stimulus ids by content and column; empty if a stimulus is missing."""
    free: tuple[int, ...]
    always: tuple[int, ...]
    per_trial: int
    """Columns of a trial."""
    companions: tuple[int, ...] = ()
    """By content, the column of the stimulus that accompanies all others; empty without companions."""
    apart: int = 0
    blocks: tuple[tuple[int, ...], ...] = ()
    """By content and column, the block of its trials, -1 if a stimulus is missing; empty without blocks."""
    block_names: tuple[str, ...] = ()
    pairs_evenly: bool = False
    """Whether every two columns are to be in one trial equally often."""

    @property
    def present(self) -> Mask:
        """Which content has which free column."""
        present = np.array([[bool(cell) for cell in row] for row in self.cells], dtype=np.bool_)
        if self.companions:
            present[np.arange(len(self.contents)), list(self.companions)] = False
        return present[:, list(self.free)]

    @property
    def free_per_trial(self) -> int:
        """Free columns of a trial."""
        return self.per_trial - len(self.always)

    @property
    def width(self) -> int:
        """Stimuli of a trial."""
        return 2 if self.kind == "pair" else self.per_trial


def build_grid(units: Units, catalogue: Catalogue, design: Design, method: str) -> StimulusGrid:
    """Return the grid of a study, or raise PlanError with all problems."""
    unsupported = _unsupported(units)
    if unsupported:
        raise PlanError(
            Problem(
                "method", f"{method} deals {unsupported}, not in this version", "contents, single stimuli and pairs"
            )
        )
    wrong = list(_design_problems(units, catalogue, design, method))
    if wrong:
        raise PlanError(wrong)
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
        pairs_evenly=units.pairs_evenly,
    )


def _rows(units: Units, catalogue: Catalogue) -> Rows:
    rows: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = {}
    for unit in units.items:
        row = rows.setdefault(unit.content, {})
        parts = [unit.stimuli] if units.kind == "pair" else [(stimulus,) for stimulus in unit.stimuli]
        row.update((tuple(catalogue.by_id[stimulus].condition for stimulus in part), part) for part in parts)
    for test, companions in units.companions.items():
        # A method may leave companions out of its items, as they are not allocated on their own.
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
    companion_columns: list[int] = []
    problems: list[Problem] = []
    for content, row in rows.items():
        companions = {stimulus for test in row.values() for stimulus in units.companions.get(test[0], ())}
        if not companions:
            problems.append(reference_alone(content))
            continue
        if len(companions) > 1:
            raise ValueError(f"content {content} has {len(companions)} companions, and exactly one can be dealt")
        companion_columns.append(columns.index((catalogue.by_id[companions.pop()].condition,)))
    if problems:
        raise PlanError(problems)
    return tuple(companion_columns)


def _unsupported(units: Units) -> str:
    if units.kind == "tuple":
        return "tuples"
    if units.companions and units.kind != "stimulus":
        return f"{units.kind}s with companions"
    return "slots in both orders" if units.shuffle == "order" and units.kind != "pair" else ""


def _design_problems(units: Units, catalogue: Catalogue, design: Design, method: str) -> Iterator[Problem]:
    """Yield what the design says and the method cannot do."""
    star, conditions = design.star, catalogue.conditions
    if star is not None and star not in conditions:
        near = did_you_mean(star, conditions)
        yield Problem("design.pairs.star", f"is {star}, which is no condition", ", ".join(conditions), near)
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
    present = [condition for condition in conditions if any((condition,) in row for row in rows.values())]
    fewest = min(len(row) for row in rows.values())
    most = min(len(PALETTE), fewest)
    # An unknown name is a problem of its own.
    others = [condition for condition in present if condition not in always] if {*always} <= {*conditions} else []
    least = len(always) + bool(others)
    allowed = between(max(2, least), most)
    subject = f"is {per_trial}" if design.per_trial else f"is left out, which means all {per_trial} conditions"
    if least > per_trial:
        puts = (
            f"{len(always)} conditions are in" if units.always else f"design.always puts {len(always)} conditions into"
        )
        never = f", and {first_names(others, _SHOWN)} would never be shown" if per_trial == len(always) else ""
        fix = "" if allowed else f"Leave {least - most} of them out: a page can hold {most}."
        yield Problem("design.per_trial", f"{subject}, but {puts} every trial{never}", allowed, fix)
    if per_trial > len(present):
        are = f"there {plural(len(present), 'is', 'are')} {plain_count(len(present), 'condition')}"
        yield Problem("design.per_trial", f"{subject}, but {are} to show", allowed)
    if per_trial > len(PALETTE):
        what = f"{subject}, and there are {len(PALETTE)} colours to tell slots apart"
        yield Problem("design.per_trial", what, allowed)
    for content, row in rows.items():
        if len(row) < min(per_trial, len(present)):
            lacking = first_names([condition for condition in present if (condition,) not in row], _SHOWN)
            has = f"{plain_count(len(row), 'stimulus', 'stimuli')} and none under {lacking}"
            yield Problem(
                "design.per_trial",
                f"{subject}, but content {content} has {has}",
                allowed,
                "Add the missing files, or leave the content out.",
            )


def reference_alone(content: str) -> Problem:
    """Return the problem that a content has a reference and nothing to rate."""
    what = f"of content {content} are its reference alone"
    return Problem("stimuli", what, "", f"Add a stimulus under test, or leave {content} out.")


def between(least: int, most: int) -> str:
    """Return `4` or `4 to 12`; an empty string if no number is allowed."""
    if most <= least:
        return str(most) if most == least else ""
    return f"{least} to {most}"
