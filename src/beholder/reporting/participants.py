"""Tallies: how many gave each answer, or how numbers spread, of those who are used and of all."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, median, stdev
from typing import NamedTuple

from beholder.report.markup import Child, Markup, tag
from beholder.report.words import NONE, number

_WIDTH, _HEIGHT = 96, 14
_BINS, _HIGH = 16, 40


class Share(NamedTuple):
    """One answer with how many gave it; `is_counted` where it belongs to the whole of which shares are told."""

    label: str
    used: int
    everyone: int
    is_counted: bool = True


def share_tally(title: str, shares: Sequence[Share], whole: int | None = None, note: Child = None) -> Markup:
    """Return a block with a bar for each answer; `whole` is of how many used ones, where not of the sum."""
    of = sum(share.used for share in shares if share.is_counted) if whole is None else whole
    rows = []
    for share in shares:
        part = share.used / of if of and share.is_counted else None
        cells: list[Child] = [
            tag("td", _bar(part or 0)),
            tag("td", tag("b", f"{share.used:,}")),
            tag("td", NONE if part is None else percent(part)),
            tag("td", f"{share.everyone:,}"),
        ]
        rows.append(tag("tr", tag("th", share.label, scope="row", dir="auto"), cells))
    return _block(title, ("", "", "Used", "%", "All"), rows, note=note)


def spread_tally(
    title: str,
    used: Sequence[float],
    everyone: Sequence[float],
    missing: tuple[int, int],
    decimals: int = 1,
    known: tuple[str, str] = ("known", "not known"),
) -> Markup:
    """Return a block with the spread of a number; `missing` is of how many used ones, and of all, there is none."""
    rows = [
        tag("tr", tag("th", name, scope="row"), [tag("td", tag("b", one)), tag("td", other)])
        for name, one, other in zip(
            (known[0], "mean ± SD", "median", "range", known[1]),
            _told(used, missing[0], decimals),
            _told(everyone, missing[1], decimals),
            strict=True,
        )
    ]
    return _block(title, ("", "Used", "All"), rows, picture=_histogram(used or everyone, decimals))


def percent(share: float) -> str:
    """Return a share as papers print it; what is not none is not 0 %."""
    return "< 1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def mean_sd(values: Sequence[float], decimals: int) -> str:
    """Return `34.0 ± 12.1`, without the deviation of a single value."""
    if not values:
        return NONE
    spread = f" ± {number(stdev(values), decimals)}" if len(values) > 1 else ""
    return f"{number(mean(values), decimals)}{spread}"


def _told(values: Sequence[float], missing: int, decimals: int) -> tuple[str, ...]:
    if not values:
        return f"{0}", NONE, NONE, NONE, f"{missing:,}"
    low, high = (_short(end, decimals) for end in (min(values), max(values)))
    ends = low if low == high else f"{low} to {high}"
    return f"{len(values):,}", mean_sd(values, decimals), _short(median(values), decimals), ends, f"{missing:,}"


def _short(value: float, decimals: int) -> str:
    """Return a number without decimals that say nothing."""
    return number(value, 0 if value == round(value) else decimals)


def _block(
    title: str, heads: Sequence[str], rows: Sequence[Markup], *, picture: Markup | None = None, note: Child = None
) -> Markup:
    head = tag("tr", [tag("th", word, scope="col") if word else tag("td") for word in heads])
    grid = tag(
        "table", tag("caption", title, dir="auto"), tag("thead", head), tag("tbody", rows), class_="table tally__table"
    )
    return tag("div", grid, picture, tag("p", note, class_="tally__note") if note else None, class_="tally")


def _bar(share: float) -> Markup:
    rect = tag("rect", x="0", y="2", width=f"{_WIDTH * share:.1f}", height=_HEIGHT - 4, rx="2")
    return tag("svg", rect, class_="strip", viewBox=f"0 0 {_WIDTH} {_HEIGHT}", aria_hidden="true")


def _histogram(values: Sequence[float], decimals: int) -> Markup | None:
    """Return how often each part of the range occurs; the table beside it says the same in numbers."""
    if len(values) < 2 or min(values) == max(values):
        return None
    low, step = min(values), (max(values) - min(values)) / _BINS
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, int((value - low) / step))] += 1
    each = 2 * _WIDTH / _BINS
    bars = [
        tag("rect", x=f"{place * each:.1f}", y=f"{_HIGH * (1 - n / max(counts)):.1f}", width=f"{each - 1:.1f}",
            height=f"{_HIGH * n / max(counts):.1f}")
        for place, n in enumerate(counts)
        if n
    ]  # fmt: skip
    line = tag("path", d=f"M0 {_HIGH}H{2 * _WIDTH}")
    box = f"0 0 {2 * _WIDTH} {_HIGH + 1}"
    ends = [tag("span", _short(end, decimals)) for end in (min(values), max(values))]
    plot = tag("svg", bars, line, class_="tally__bars", viewBox=box, preserveAspectRatio="none")
    return tag("div", plot, tag("p", ends, class_="tally__ends"), aria_hidden="true")
