"""Latin and Williams squares, and whether the stimuli of a study fit into a square or into blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.random import Generator

from beholder.errors import Problem, did_you_mean
from beholder.formats import first_names
from beholder.methods.contract import Units
from beholder.planning.even_rounding import Ints
from beholder.stimuli.catalogue import Catalogue
from beholder.study.design import Design

Square = Literal["latin", "williams"]


def square_rows(items: int, lists: int, rounds: int, square: Square, rng: Generator) -> Ints:
    """Return the items of each list in order: `rounds` rows of squares, one after the other.

    Every item has every position equally often, within one. In Williams squares it also follows every other item within
    a row equally often: within one if the number of items is even, else within two, and exactly in every two squares,
    of which the second is the mirror image of the first. No row begins with the last item of the row before.
    """
    blocks: list[Ints] = []
    labels = np.zeros((rounds, items), dtype=np.int64)
    is_turned = bool(rng.integers(2))
    for number in range(-(-lists // items)):
        # A square of an odd number and its mirror image have the same labels.
        if number % 2 == 0 or items % 2 == 0 or square == "latin":
            labels = rng.permuted(np.tile(np.arange(items), (rounds, 1)), axis=1)
        is_turned = not is_turned
        block: list[Ints] = []
        for turn in range(rounds):
            shifts = rng.permutation(items) if square == "latin" else zigzag(items)
            if is_turned and square == "williams":
                shifts = shifts[::-1]
            rows = labels[turn][(rng.permutation(items)[:, None] + shifts[None, :]) % items]
            block.append(_apart_from(block[-1][:, -1], rows) if block else rows)
        blocks.append(np.concatenate(block, axis=1))
    return np.concatenate(blocks)[:lists]


def zigzag(items: int) -> Ints:
    """Return 0, 1, -1, 2, -2, ...: an order whose steps all differ if the number is even (Williams, 1949)."""
    step = np.arange(items)
    return np.asarray(np.where(step % 2 == 1, (step + 1) // 2, -(step // 2)) % items, dtype=np.int64)


def _apart_from(last: Ints, rows: Ints) -> Ints:
    """Return the rows in an order in which none begins with the end of the row before, if possible."""
    meets = np.flatnonzero(rows[:, 0] == last)
    if len(meets) == 1 and len(rows) > 1:
        meets = np.array([meets[0], (meets[0] + 1) % len(rows)])
    order = np.arange(len(rows))
    # Ends and beginnings are both permutations of the items: rows that move by one follow another end.
    order[meets] = np.roll(meets, 1)
    return rows[order]


# Whether a design with squares or blocks is possible

Row = Mapping[tuple[str, ...], tuple[str, ...]]
"""Stimuli by their conditions."""

Rows = Mapping[str, Row]
"""The same by content."""

ITEMS = {
    "content": ("content", "contents"),
    "stimulus": ("condition", "conditions"),
    "pair": ("pair of conditions", "pairs of conditions"),
}
"""The items of a square, by the kind of unit."""


def is_square(design: Design) -> bool:
    """Return whether the trials of a list are a row of a square; with blocks, the blocks are."""
    return design.order != "balanced" and design.blocks is None


def order_problems(units: Units, design: Design, method: str) -> Iterator[Problem]:
    """Yield what the design says about order and the method cannot do."""
    options = {"design.order": design.order if is_square(design) else None, "design.blocks": design.blocks}
    for where, word in options.items():
        allowed = "balanced" if where == "design.order" else ""
        if word and units.companions:
            what = f"is {word}, but with {method} references come between the tests"
            yield Problem(where, what, allowed, "Leave it out.")
        if word and units.asks:
            what = f"is {word}, but {method} asks one question at a time, anywhere in a list"
            yield Problem(where, what, allowed, "Leave it out.")


def square_problems(rows: Rows, kind: str, design: Design) -> Iterator[Problem]:
    """Yield why there is no square: too few items, or missing files."""
    if not is_square(design):
        return
    columns = {column: True for row in rows.values() for column in row}
    items = len(rows) if kind == "content" else len(columns)
    one, many = ITEMS[kind]
    if items == 1:
        what = f"is {design.order}, but there is 1 {one}, and a square is made of 2 or more"
        yield Problem("design.order", what, "balanced", "Leave it out.")
    lacking = [(content, column) for content, row in rows.items() for column in columns if column not in row]
    if lacking and kind != "content":
        content, column = lacking[0]
        missing = f"pair {', '.join(column)}" if len(column) > 1 else column[0]
        more = f", nor {len(lacking) - 1} more that are missing" if len(lacking) > 1 else ""
        what = f"hold no {missing} of content {content}{more}, but design.order is {design.order}, for which every "
        what += f"content has all {len(columns)} {many}"
        without = sorted({content for content, _ in lacking})
        fix = f"Add the files, leave out {first_names(without, 3)}, or write order: balanced."
        yield Problem("stimuli", what, "", fix)


def block_problems(rows: Rows, kind: str, catalogue: Catalogue, design: Design) -> Iterator[Problem]:
    """Yield why a column makes no blocks: unknown, the same everywhere, empty, or different within a trial."""
    column = design.blocks
    if column is None:
        return
    stimuli = [catalogue.by_id[stimulus] for row in rows.values() for cell in row.values() for stimulus in cell]
    columns = list(dict.fromkeys(factor for stimulus in stimuli for factor in stimulus.factors))
    if column not in columns:
        fix = did_you_mean(column, columns) or ("" if columns else "Add it to the manifest.")
        yield Problem("design.blocks", f"is {column}, which is no column of the manifest", ", ".join(columns), fix)
        return
    values = list(dict.fromkeys(value for stimulus in stimuli if (value := stimulus.factors.get(column, ""))))
    split = list(_split_trials(rows, kind, catalogue, column))
    empty = [] if split else _without_block(rows, catalogue, column)
    if empty and values:
        more = f", nor have {len(empty) - 1} more" if len(empty) > 1 else ""
        yield Problem("design.blocks", f"is {column}, but {empty[0]} has no value in it{more}", "a value for each")
    if len(values) < 2:
        what = f"is {column}, which is {values[0] if values else 'empty'} everywhere and splits nothing"
        yield Problem("design.blocks", what, "a column with 2 or more values", "Leave it out.")
    if split:
        more = f", and {len(split) - 1} more" if len(split) > 1 else ""
        allowed = "one value for all that is shown in one trial"
        yield Problem("design.blocks", f"is {column}, but {split[0]}{more}", allowed)
    if design.contents == "once" and not split:
        for content, row in rows.items():
            blocks = list(dict.fromkeys(_value(cell, row, catalogue, column) for cell in row.values()))
            if len(blocks) > 1 and kind != "content":
                what = f"is once, but content {content} is in {len(blocks)} blocks: {first_names(blocks, 3)}"
                yield Problem("design.contents", what, "apart or free")
                return


def block_of(
    rows: Rows, columns: tuple[tuple[str, ...], ...], catalogue: Catalogue, column: str | None
) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """Return the number of each cell's block, by content and column, and the names of the blocks."""
    if column is None:
        return (), ()
    cells = [
        [_value(row[one], row, catalogue, column) if one in row else "" for one in columns] for row in rows.values()
    ]
    names = tuple(sorted({value for row in cells for value in row if value}))
    return tuple(tuple(names.index(value) if value else -1 for value in row) for row in cells), names


def _value(cell: tuple[str, ...], row: Row, catalogue: Catalogue, column: str) -> str:
    """Return the block of a cell; a generated anchor has no value and takes that of its content."""
    own = _values(cell, catalogue, column)
    values = own or _values([stimulus for other in row.values() for stimulus in other], catalogue, column)
    return values[0] if own or len(values) == 1 else ""


def _values(stimuli: Sequence[str], catalogue: Catalogue, column: str) -> list[str]:
    return list(dict.fromkeys(value for s in stimuli if (value := catalogue.by_id[s].factors.get(column, ""))))


def _without_block(rows: Rows, catalogue: Catalogue, column: str) -> list[str]:
    """Return the trials without a block."""
    return [
        " and ".join(cell) for row in rows.values() for cell in row.values() if not _value(cell, row, catalogue, column)
    ]


def _split_trials(rows: Rows, kind: str, catalogue: Catalogue, column: str) -> Iterator[str]:
    """Yield trials whose stimuli are of different blocks."""
    for content, row in rows.items():
        pages = [[s for cell in row.values() for s in cell]] if kind == "content" else list(row.values())
        for page in pages:
            stimulus_by_value = {value: s for s in reversed(page) if (value := catalogue.by_id[s].factors.get(column))}
            if len(stimulus_by_value) > 1:
                text = " and ".join(f"{s} is {value}" for value, s in list(stimulus_by_value.items())[::-1][:2])
                yield f"{text}, and they are shown in one trial of content {content}"
