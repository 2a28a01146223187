"""Tables of others, written and read up to one row for each rating."""

from __future__ import annotations

from pathlib import Path

from beholder.analysis.column_roles import Columns, find_roles, parse_columns
from beholder.analysis.long_tables import LongTable, to_long
from beholder.analysis.spreadsheets import read_sheet


def long(folder: Path, text: str, columns: Columns = None) -> LongTable:
    path = folder / "t.csv"
    path.write_text(text, "utf-8")
    sheet = read_sheet(path)
    return to_long(sheet, find_roles(sheet, parse_columns(columns)))


def rows(table: LongTable, *names: str) -> list[tuple[str, ...]]:
    return [tuple(row) for row in table.cells[list(names)].to_numpy().tolist()]
