"""A count in a sentence, and the plan in two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from beholder.plan.counting.evenness import Evenness
from beholder.report.planned.count import Count
from beholder.report.words import count, listed

EVEN = "Every count below is even, or within a tenth of it."


def times(least: int, most: int) -> str:
    """Return `once`, `12 times`, `12 or 13 times`, `8 to 17 times`, and so on."""
    if least == most:
        return {0: "never", 1: "once", 2: "twice"}.get(most, f"{most:,} times")
    if most == 1:
        return "once or not at all"
    return f"{least:,} {'or' if most - least == 1 else 'to'} {most:,} times"


def sentence(one: Count, labels: Mapping[str, str]) -> str:
    """Return what a table says."""
    how_often = times(one.least, one.most)
    if one.is_even:
        within = "equally often, within one: " if one.most - one.least > 1 else ""
        return f"{one.every} {within}{how_often}."
    if one.is_near:
        return f"{one.every} about equally often: {how_often}."
    worst = [_worst(one, side, labels) for side in (1, -1)]
    return f"{one.some} {how_often}. {' '.join(filter(None, worst))}"


def _worst(one: Count, side: int, labels: Mapping[str, str]) -> str:
    """Return the cell that is furthest off on one side; nothing where none is."""
    off = side * one.off
    place = np.unravel_index(int(off.argmax()), off.shape)
    if off[place] <= 0:
        return ""
    names = [labels.get(name, name) for name in (one.rows[place[0]], one.columns[place[1]])]
    how = "Furthest above" if side > 0 else "Furthest below"
    even = f"{one.even[place]:,.1f}".removesuffix(".0")
    found = int(one.values[place])
    return f"{how} even: {one.row} {names[0]}, {one.column} {names[1]} ({found:,}, even would be {even})."


def headlines(
    balance: Sequence[Evenness], tables: Sequence[Count], lists: int, *, is_given: bool, groups: int = 0
) -> list[str]:
    """Return whether the plan is balanced, in a sentence or two; promises are kept in each of the groups, if any."""
    uneven = [one.title.lower() for one in tables if not one.is_near]
    if is_given:
        first = f"This plan of {count(lists, 'list')} was given: it is taken as it is, and nothing is promised."
        return [first, f"Not even: {listed(uneven)}." if uneven else EVEN]
    promised = [row for row in balance if row.promised is not None]
    broken = [row.count for row in promised if row.difference > (row.promised or 0)]
    kept = f"All {len(promised)} promises" if len(promised) > 1 else "The one promise"
    where = f"in each of {groups} groups, over {count(lists, 'list')}" if groups else f"over {count(lists, 'list')}"
    told = f"{kept} of balance hold {where}" if len(promised) > 1 else f"{kept} of balance holds"
    if not promised:
        told = f"Nothing can be promised of these {count(lists, 'list')}"
    if broken:
        told = f"Not kept: {listed(broken)}"
    not_even = (
        "Not even over all groups together, of which nothing is promised" if groups else "Not promised, and not even"
    )
    also = f"{not_even}: {listed(uneven)}." if uneven else EVEN
    return [f"{told}.", also]
