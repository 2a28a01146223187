"""Whether money has arrived: what a platform shows now beside what it showed before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from beholder.study.money import Sum

Arrival = Literal["paid", "none", "odd"]
"""Exactly one new payment of the right amount; none at all; or anything else, which only a person understands."""


def arrived(before: Sequence[int], now: Sequence[int], amount: int) -> Arrival:
    """Return whether one payment of an amount has come since then."""
    new, gone = Counter(now) - Counter(before), Counter(before) - Counter(now)
    if gone:
        return "odd"
    if not new:
        return "none"
    return "paid" if new == Counter([amount]) else "odd"


def arrivals(
    rows: Mapping[str, Sum], baseline: Mapping[str, Sequence[int]], now: Mapping[str, Sequence[int]]
) -> Mapping[str, Arrival]:
    """Return for each submission of a parcel whether its money has come."""
    return {one: arrived(baseline.get(one, ()), now[one], amount.minor) for one, amount in rows.items()}
