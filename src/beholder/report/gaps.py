"""How far one condition is above another, with its uncertainty, in words."""

from __future__ import annotations

import math
from typing import NamedTuple

from beholder.analyse.result import records
from beholder.report.part import Part
from beholder.report.words import number, p_value, signed


class Gap(NamedTuple):
    """The difference of two conditions; ends and p are NaN where there is no test."""

    one: str
    other: str
    difference: float
    low: float
    high: float
    p: float
    """Corrected where the pair is corrected for."""

    @property
    def half(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    @property
    def turned(self) -> Gap:
        return Gap(self.other, self.one, -self.difference, -self.high, -self.low, self.p)


def gaps(part: Part) -> dict[tuple[str, str], Gap]:
    """Return the tested differences of a question in both directions."""
    found = {}
    for row in records(part.inner_pairs):
        if (row["condition"], row["other_condition"]) in part.tested:
            p = row["p"] if math.isnan(row["p_holm"]) else row["p_holm"]
            gap = Gap(
                row["condition"], row["other_condition"], row["mean_difference"], row["ci_low"], row["ci_high"], p
            )
            found[gap.one, gap.other], found[gap.other, gap.one] = gap, gap.turned
    return found


def how_far(part: Part, gap: Gap) -> str:
    """Return `8.4 points (5.1 to 11.7), p < 0.001`, the size without its sign; of a choice the share that it won."""
    if part.kind == "choice":
        share = f"{_percent((gap.difference + 1) / 2)}{_ends(part, (gap.low + 1) / 2, (gap.high + 1) / 2)}"
        return f"{share}, {p_words(gap.p)}"
    ahead = gap if gap.difference >= 0 else gap.turned
    return f"{points(part, ahead.difference)}{_ends(part, ahead.low, ahead.high)}, {p_words(gap.p)}"


def apart(part: Part, gap: Gap) -> str:
    """Return the same of two that are not told apart, with the sign that the difference has."""
    if part.kind == "choice":
        return f"it won {how_far(part, gap)}"
    size = f"{signed(100 * gap.difference, 0)} percentage points" if part.kind == "pick" else _signed(part, gap)
    return f"difference {size}{_ends(part, gap.low, gap.high)}, {p_words(gap.p)}"


def _signed(part: Part, gap: Gap) -> str:
    return f"{signed(gap.difference, part.decimals)} points"


def points(part: Part, size: float) -> str:
    """Return the size of a difference in its unit."""
    if part.kind in ("pick", "choice"):
        return f"{number(100 * size, 0)} percentage points"
    return f"{number(size, part.decimals)} points"


def level(part: Part, mean: float, low: float, high: float, *, called: str = "95 % interval ") -> str:
    """Return a mean and its interval; of ticks and correct answers in percent."""
    shown = _percent(mean) if part.kind in ("pick", "correct") else number(mean, part.decimals)
    return f"{shown}{_ends(part, low, high, called)}"


def p_words(p: float) -> str:
    """Return `p < 0.001` or `p = 0.034`."""
    told = p_value(p)
    return f"p {told}" if told.startswith("<") else f"p = {told}"


def _ends(part: Part, low: float, high: float, called: str = "") -> str:
    if math.isnan(low):
        return ""
    if part.kind in ("choice", "pick", "correct"):
        return f" ({called}{number(100 * low, 0)} to {_percent(high)})"
    return f" ({called}{number(low, part.decimals)} to {number(high, part.decimals)})"


def _percent(share: float) -> str:
    return f"{number(100 * share, 0)} %"
