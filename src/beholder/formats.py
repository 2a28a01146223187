"""Numbers, shares, plurals, lists and dates as text: the one place for how these are written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from statistics import median

NONE = "–"
"""The text of a missing number."""
_ALPHA = 0.05


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that steer a terminal, or turn the order of what stands there; a tab and a line end do no harm."""


def printable(text: str) -> str:
    r"""Return a text in which characters that steer a terminal are seen, as \u001b: also inside a text of JSON."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


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


def percent_half_up(share: float) -> str:
    """Return a share as `24 %`, half a percent rounded away from zero as `number` does."""
    return f"{number(100 * share, 0)} %"


def whole_percents(shares: Iterable[float]) -> list[int]:
    """Return parts of a whole in percent, rounded so that they add up to 100 (the largest remainders are raised)."""
    exact = [100 * share for share in shares]
    whole = [math.floor(value) for value in exact]
    missing = round(sum(exact)) - sum(whole)
    raised = sorted(range(len(exact)), key=lambda place: whole[place] - exact[place])[:missing]
    return [value + (place in raised) for place, value in enumerate(whole)]


def nonzero_percent(share: float) -> str:
    """Return a share as `24 %`, or `< 1 %` if it would be 0 % and is not."""
    return "< 1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def precise_percent(share: float) -> str:
    """Return a share as `2.5 %`, with up to three digits."""
    return f"{100 * share:.3g} %"


def decimals_for(low: float, high: float) -> int:
    """Return the number of decimals of a mean on this scale."""
    return 1 if high - low >= 20 else 2


def p_value(p: float) -> str:
    """Return a p-value as papers print it: one that is just below 0.05 is not printed as 0.050."""
    if math.isnan(p):
        return NONE
    if p < _ALPHA and f"{p:.3f}" == f"{_ALPHA:.3f}":
        return f"{math.floor(1e4 * p) / 1e4:.4f}"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def plural(n: float, one: str, many: str | None = None) -> str:
    """Return `person` or `people`, `is` or `are`: the word for so many."""
    return one if n == 1 else many or f"{one}s"


def count(n: int, one: str, many: str | None = None) -> str:
    """Return `1 person`, `2,000 people`."""
    return f"{n:,} {plural(n, one, many)}"


def megabytes(size: float) -> str:
    """Return a size in kB or MB."""
    return f"{size / 1e3:.0f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"


def plain_count(n: int, one: str, many: str | None = None) -> str:
    """Return `1 person`, `2000 people`: for messages, whose numbers can be copied into a command or a file."""
    return f"{n} {plural(n, one, many)}"


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def span(low: float, high: float) -> str:
    """Return `−3 to 3`."""
    return f"{plain(low)} to {plain(high)}"


def listed(words: Sequence[str], last: str = "or") -> str:
    """Return `a`, `a or b`, `a, b or c`: what is allowed."""
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else "".join(words)


def join_names(names: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return listed(names, "and")


def first_names(names: Sequence[str], most: int, total: int | None = None) -> str:
    """Return `a, b, c`, or the first ones and the number of the others: `a, b and 3 more`.

    `total` says how many there are where not all are named.
    """
    more = (len(names) if total is None else total) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


FEW = 3
"""Of so many people or fewer a sentence lists each: a median of two people says less than the two."""


def typical(values: Sequence[float], decimals: int, unit: str) -> str:
    """Return `4.2 and 5.0 minutes` of one to three values, `4.6 minutes (median)` of more."""
    ordered = sorted(values)
    if len(ordered) <= FEW:
        return f"{join_names([number(value, decimals) for value in ordered])} {unit}"
    return f"{number(median(ordered), decimals)} {unit} (median)"


def up_to(most: int) -> str:
    """Return which numbers are allowed: `1`, `1 to 5`, or nothing."""
    return "" if most < 1 else "1" if most == 1 else f"1 to {most}"


def date(at: datetime) -> str:
    """Return `15 November 2026`, whatever the machine's language."""
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"
