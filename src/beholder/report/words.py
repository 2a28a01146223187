"""Numbers, dates and lists as a reader of the report sees them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from beholder.analyse.plots.numbers import NONE, count, decimals_for, number, p_value, plain, signed

__all__ = ["NONE", "count", "date", "decimals_for", "listed", "number", "p_value", "plain", "signed", "span"]

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def span(low: float, high: float) -> str:
    """Return `−3 to 3`."""
    return f"{plain(low)} to {plain(high)}"


def listed(names: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def date(at: datetime) -> str:
    """Return `15 November 2026`, whatever the machine's language."""
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"
