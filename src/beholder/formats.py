"""Numbers, dates and lists as figures and reports show them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

NONE = "–"
"""The text of a missing number."""


def number(value: float, decimals: int) -> str:
    """Return a number with a true minus sign, or a dash where there is none."""
    if math.isnan(value):
        return NONE
    # Two sums of the same numbers may differ in their last bits: 3.975 must not be 3.98 here and 3.97 there.
    text = f"{value + math.copysign(1e-9, value):.{decimals}f}"
    return ("0" + text[2:] if float(text) == 0 and text.startswith("-") else text).replace("-", "−")


def plain(value: float) -> str:
    """Return a number as short as possible, with a true minus sign."""
    return f"{value:g}".replace("-", "−")


def signed(value: float, decimals: int) -> str:
    """Return a number with its sign, also when it is positive."""
    text = number(value, decimals)
    return text if text.startswith(("−", NONE)) else f"+{text}"


def interval(low: float, high: float, decimals: int) -> str:
    """Return `61.3 to 65.5`, or a dash where there is no interval."""
    return NONE if math.isnan(low) or math.isnan(high) else f"{number(low, decimals)} to {number(high, decimals)}"


def percent(share: float) -> str:
    """Return a share as `24 %`."""
    return NONE if math.isnan(share) else f"{100 * share:.0f} %"


def decimals_for(low: float, high: float) -> int:
    """Return the number of decimals of a mean on this scale."""
    return 1 if high - low >= 20 else 2


def p_value(p: float) -> str:
    """Return a p-value as papers print it."""
    if math.isnan(p):
        return NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def count(n: int, one: str, many: str | None = None) -> str:
    """Return `1 person`, `2,000 people`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def span(low: float, high: float) -> str:
    """Return `−3 to 3`."""
    return f"{plain(low)} to {plain(high)}"


def join_names(names: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def date(at: datetime) -> str:
    """Return `15 November 2026`, whatever the machine's language."""
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"
