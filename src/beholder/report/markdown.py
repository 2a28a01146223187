"""Tables for a text, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from beholder.report.sheets import Sheet


def markdown_text(text: str) -> str:
    """Return text as a cell of a table shows it: on one line, with every special character escaped."""
    line = " ".join(text.split())
    return "".join(f"\\{character}" if character in "\\|*_`[]<>#~" else character for character in line)


def markdown_table(sheet: Sheet) -> str:
    """Return a table: names at the left, numbers at the right."""
    kinds = [":--" if place < sheet.names else "--:" for place in range(len(sheet.heads))]
    return "\n".join([_row(sheet.heads), f"| {' | '.join(kinds)} |", *(_row(row) for row in sheet.rows)]) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(markdown_text(cell) for cell in cells)} |"
