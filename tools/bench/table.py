"""The table of a benchmark run: what was measured, against which aim, and whether it was met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line. Without an aim it is there to be compared with."""

    what: str
    value: str
    aim: str = ""
    is_met: bool | None = None

    @property
    def verdict(self) -> str:
        return {True: "met", False: "missed", None: ""}[self.is_met]


def below(what: str, value: float, limit: float, unit: str, note: str = "") -> Row:
    """Return the line of a number that should stay below a limit."""
    return Row(what, _amount(value, unit) + note, f"under {_amount(limit, unit)}", value < limit)


def at_least(what: str, value: float, limit: float, unit: str, note: str = "") -> Row:
    """Return the line of a number that should reach a limit."""
    return Row(what, _amount(value, unit) + note, f"at least {_amount(limit, unit)}", value >= limit)


def lines(rows: Sequence[Row]) -> list[str]:
    """Return the table as Markdown that also reads well in a terminal."""
    cells = [("measured", "value", "aim", ""), *((row.what, row.value, row.aim, row.verdict) for row in rows)]
    widths = [max(3, *(len(line[column]) for line in cells)) for column in range(4)]
    written = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in cells
    ]
    return [written[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *written[1:]]


def _amount(value: float, unit: str) -> str:
    digits = 0 if value >= 100 or value == int(value) else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {unit}".rstrip()
