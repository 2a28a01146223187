"""What we found, in plain sentences that the tests support."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from beholder.report.material import Part
from beholder.report.words import count, listed, number

_MOST_NAMES = 4


class Finding(NamedTuple):
    """One sentence to remember, and the numbers behind it."""

    headline: str
    detail: str


def findings(part: Part, labels: Mapping[str, str], reference: str | None, people: tuple[str, str]) -> list[Finding]:
    """Return the findings of one question. `people` is what one and several participants are called."""
    order = part.order
    if not order:
        return [Finding("Nothing to report.", "No rating of this question could be used.")]
    n = int(part.conditions["participants"].max())
    if len(order) == 1:
        return [_only_condition(part, labels), *_caveat(part, n, people)]
    if n == 1:
        alone = f"Scores describe this one {people[0]} only: there is no interval and no test."
        return [Finding(f"Only one {people[0]} was counted.", alone)]
    found = _caveat(part, n, people)
    if not part.clear:
        return [*found, _no_differences(part, labels)]
    found.append(_lead(part, labels))
    if reference in order and reference != order[0] and len(order) > 2:
        found.append(_reference(part, labels, reference))
    last = _last(part, labels)
    return [*found, *([last] if last else []), _pairs(part, labels)]


def _only_condition(part: Part, labels: Mapping[str, str]) -> Finding:
    row = part.conditions.iloc[0]
    low, high = number(row["ci_low"], part.decimals), number(row["ci_high"], part.decimals)
    interval = f" (95 % interval {low} to {high})" if row["ci_low"] == row["ci_low"] else ""
    mean = number(row["mean"], part.decimals)
    return Finding("One condition, nothing to compare.", f"{labels[row['condition']]} scores {mean}{interval}.")


def _caveat(part: Part, n: int, people: tuple[str, str]) -> list[Finding]:
    """Return a warning where the test could not find anything, however large it is."""
    tests = len(part.tested) // 2
    smallest = 2.0 ** (1 - n)
    if tests == 0 or smallest * tests < part.alpha:
        return []
    return [
        Finding(
            f"Too few {people[1]} for a test.",
            f"With {count(n, *people)} and {count(tests, 'pair')}, no difference can come out as clear.",
        )
    ]


def _no_differences(part: Part, labels: Mapping[str, str]) -> Finding:
    first, last = part.conditions.iloc[0], part.conditions.iloc[-1]
    return Finding(
        "No clear differences.",
        f"The conditions lie between {number(last['mean'], part.decimals)} ({labels[last['condition']]}) and "
        f"{number(first['mean'], part.decimals)} ({labels[first['condition']]}); "
        "this study cannot tell any two of them apart.",
    )


def _lead(part: Part, labels: Mapping[str, str]) -> Finding:
    first, *others = part.order
    mean = number(part.conditions["mean"].iloc[0], part.decimals)
    rivals = [name for name in others if (first, name) not in part.clear]
    if not rivals:
        return Finding(
            f"{labels[first]} is ahead.",
            f"It scores {mean}, which is {_gap(part, first, others[0])} above the next, {labels[others[0]]}.",
        )
    names = _some([labels[name] for name in rivals])
    return Finding(
        f"{labels[first]} scores highest, but not clearly above {names}.",
        f"It scores {mean}; the difference from {labels[rivals[0]]} is {_gap(part, first, rivals[0])}, "
        "less than this study can tell apart.",
    )


def _reference(part: Part, labels: Mapping[str, str], reference: str) -> Finding:
    others = [name for name in part.order if name != reference]
    below = [n for n in others if (n, reference) in part.clear and part.differences[reference, n] > 0]
    level = [labels[n] for n in others if (n, reference) not in part.clear]
    near = f"Not told apart from it: {_some(level)}." if level else "Every other one differs from it clearly."
    return Finding(f"{len(below)} of {len(others)} are clearly below the reference, {labels[reference]}.", near)


def _last(part: Part, labels: Mapping[str, str]) -> Finding | None:
    *others, last = part.order
    if len(others) < 2 or any((name, last) not in part.clear for name in others):
        return None
    mean = number(part.conditions["mean"].iloc[-1], part.decimals)
    return Finding(
        f"{labels[last]} is behind all others.",
        f"It scores {mean}, which is {_gap(part, others[-1], last)} below the next, {labels[others[-1]]}.",
    )


def _pairs(part: Part, labels: Mapping[str, str]) -> Finding:
    tested = len(part.tested) // 2
    clear = len(part.clear) // 2
    level = [f"{labels[a]} and {labels[b]}" for a, b in pairwise(part.order) if (a, b) not in part.clear]
    if clear == tested:
        return Finding("Every condition differs clearly from every other.", f"All {tested} pairs, after correction.")
    near = f"Neighbours that this study cannot tell apart: {_some(level, '; ')}." if level else ""
    return Finding(f"{clear} of {tested} pairs differ clearly.", near)


def _gap(part: Part, one: str, other: str) -> str:
    """Return how many points lie between two conditions, over the participants who rated both."""
    return f"{number(abs(part.differences[one, other]), part.decimals)} points"


def _some(names: list[str], separator: str = "") -> str:
    """Return the names, or the first few and how many more there are."""
    shown = names if len(names) <= _MOST_NAMES else [*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1} more"]
    return separator.join(shown) if separator else listed(shown)
