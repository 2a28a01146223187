"""The tables of the P.910 and P.808 toolkits, told apart by their columns, whatever their files are called."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Literal

from beholder.importing.source_folder import SourceFolder, SourceRow, SourceTable

TableKind = Literal[
    "page", "platform", "batch", "sessions", "rating", "gold", "trapping", "training", "matrices", "plates", "verdicts",
    "outputs",
]  # fmt: skip
"""page: answers that the page recorded; platform: who handed in which code; batch: answers in the results of the
platform itself; sessions: the rows that were put online; verdicts: what the parser decided; outputs: its others."""
_PEEK = 200_000
"""Characters of a file that hold its first line: answers have some hundred columns."""
_COLUMNS: Mapping[TableKind, Sequence[Sequence[str]]] = {
    "page": (("v_code", "answer.q1_url"), ("v_code", "hitid", "assignmentid", "submittime")),
    "platform": (("answer.v_code", "workerid"),),
    "batch": (("workerid", "assignmentid", "answer.q1_url"), ("workerid", "assignmentid", "q1_url")),
    "sessions": (("q0", "tp_clip"), ("q0", "gold_clip"), ("q0", "t1_matrix_c"), ("q0_p", "q0_r"), ("q0", "q1", "tp")),
    "gold": (("gold_clips_pvs",), ("gold_clips",), ("gold_url",)),
    "trapping": (("trapping_pvs",), ("trapping_clips",)),
    "training": (("training_pvs",), ("training_clips",)),
    "rating": (("pvs",), ("rating_clips",)),
    "matrices": (("circles", "triangles"),),
    "plates": (("plate", "answer"),),
    "verdicts": (("accept_and_use", "assignment"),),
    "outputs": (
        ("hitid", "workerid", "file", "vote"), ("file_url", "n"), ("assignmentid", "hitid", "approve"), ("worker id",),
        ("workerid", "bonusamount"), ("hitid", "n_extend"), ("condition_name", "n"), ("assignmentid", "feedback"),
    ),
}  # fmt: skip
"""The columns of each kind: those of the first that has all of one line decide."""


def find_tables(source: SourceFolder) -> dict[TableKind, list[str]]:
    """Return the CSV files of a source by their kind; those that are none of these are left out."""
    found: dict[TableKind, list[str]] = {}
    for name in source.ending(".csv"):
        heads = heads_of(source, name)
        kind = next((kind for kind, known in _COLUMNS.items() if any({*some} <= heads for some in known)), None)
        if kind is not None:
            found.setdefault(kind, []).append(name)
    return found


def heads_of(source: SourceFolder, name: str) -> frozenset[str]:
    """Return the names of the columns of a table, in small letters."""
    first = next(iter(source.peek(name, _PEEK).splitlines()), "")
    return frozenset(cell.strip().lower() for cell in next(csv.reader([first]), ()))


class InputTable:
    """A table of clips: the column of each part of it, by the names that either toolkit has for it."""

    def __init__(self, source: SourceFolder, name: str, parts: Mapping[str, tuple[Sequence[str], str]]) -> None:
        self.table: SourceTable = source.table(name)
        self.columns: dict[str, str] = {}
        for part, (names, to) in parts.items():
            column = next((one for one in names if self.table.has(one)), None)
            if column is not None:
                self.columns[part] = column
                self.table.column(column, to)

    def cell(self, row: SourceRow, part: str) -> str:
        """Return the cell of a part; empty where the table has none."""
        column = self.columns.get(part)
        return row[column] if column is not None else ""
