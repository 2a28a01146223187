"""A line of data quality."""

from __future__ import annotations

from typing import NamedTuple

from beholder.report.tallies import percent


class Line(NamedTuple):
    """One number, how to read it in one sentence, and what to look at where it is bad."""

    name: str
    number: str
    said: str
    warning: str = ""


def share_of(n: int, whole: int) -> str:
    """Return `12 of 800 (2 %)`."""
    return f"{n:,} of {whole:,} ({percent(n / whole)})"
