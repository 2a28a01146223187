"""What we found, in plain sentences that the tests support."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from beholder.analyse.result import records
from beholder.report.material import Part
from beholder.report.words import count, listed, number, signed

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
    if len(order) == 1:
        return [_only_condition(part, labels)]
    if part.conditions["participants"].max() == 1:
        return [_alone(part, people)]
    if not part.tested:
        return [_no_tests(part, labels, people)]
    found = _caveat(part, people)
    if not part.clear:
        return [*found, _no_differences(part, labels)]
    # The order of the means is no finding where a test says the opposite.
    is_led = not any(order[0] in pair for pair in part.reversed)
    found += [_reversed(part, labels)] if part.reversed else []
    found += [_lead(part, labels)] if is_led else []
    if reference in order and len(order) > 2 and (reference != order[0] or not is_led):
        found.append(_reference(part, labels, reference))
    last = _last(part, labels)
    return [*found, *([last] if last else []), _pairs(part, labels)]


def _only_condition(part: Part, labels: Mapping[str, str]) -> Finding:
    row = part.best_first.iloc[0]
    low, high = number(row["ci_low"], part.decimals), number(row["ci_high"], part.decimals)
    interval = f" (95 % interval {low} to {high})" if row["ci_low"] == row["ci_low"] else ""
    mean = number(row["mean"], part.decimals)
    return Finding("One condition, nothing to compare.", f"{labels[row['condition']]} scores {mean}{interval}.")


def _alone(part: Part, people: tuple[str, str]) -> Finding:
    if set(part.counts.values()) == {1}:
        alone = f"Scores describe this one {people[0]} only: there is no interval and no test."
        return Finding(f"Only one {people[0]} was counted.", alone)
    return Finding(
        f"No condition was rated by more than one {people[0]}.", "There is no interval and no test of any score."
    )


def _caveat(part: Part, people: tuple[str, str]) -> list[Finding]:
    """Return a warning where the test could not find anything, however large it is."""
    n = max(part.counts.values())
    tests = len(part.tested) // 2
    smallest = 2.0 ** (1 - n)
    if smallest * tests < part.alpha:
        return []
    return [
        Finding(
            f"Too few {people[1]} for a test.",
            f"With {count(n, *people)} who rated both and {count(tests, 'pair')}, no difference can come out as clear.",
        )
    ]


def _no_tests(part: Part, labels: Mapping[str, str], people: tuple[str, str]) -> Finding:
    return Finding(
        "No two conditions could be compared.", f"{_range(part, labels)}; no two {people[1]} rated both of any pair."
    )


def _no_differences(part: Part, labels: Mapping[str, str]) -> Finding:
    return Finding(
        "No clear differences.",
        f"{_range(part, labels)}; this study cannot tell any two of them apart.{_untested(part)}",
    )


def _range(part: Part, labels: Mapping[str, str]) -> str:
    first, last = part.best_first.iloc[0], part.best_first.iloc[-1]
    return (
        f"The conditions lie between {number(last['mean'], part.decimals)} ({labels[last['condition']]}) and "
        f"{number(first['mean'], part.decimals)} ({labels[first['condition']]})"
    )


def _reversed(part: Part, labels: Mapping[str, str]) -> Finding:
    """Return where the means and a test disagree: some rated only one of the two, and rated it differently."""
    (high, low), *others = part.reversed
    means = {row["condition"]: row["mean"] for row in records(part.conditions)}
    order = f"order {labels[high]} above" if means[high] > means[low] else f"put {labels[high]} level with"
    rest = _some([f"{labels[one]} above {labels[other]}" for one, other in others], "; ") if others else ""
    return Finding(
        f"The plain means {order} {labels[low]}, but those who rated both put {labels[low]} clearly above "
        f"{labels[high]}.",
        f"The means are {number(means[high], part.decimals)} and {number(means[low], part.decimals)}; over the "
        f"{part.counts[high, low]:,} who rated both, {labels[low]} is {_gap(part, low, high)} above {labels[high]}. "
        "The means do not rest on the same people, the pair does."
        + (f" As doubtful in the order of the means: {rest}." if rest else ""),
    )


def _lead(part: Part, labels: Mapping[str, str]) -> Finding:
    first, *others = part.order
    mean = number(part.best_first["mean"].iloc[0], part.decimals)
    rivals = [name for name in others if (first, name) not in part.above]
    if not rivals:
        return Finding(
            f"{labels[first]} is ahead.",
            f"It scores {mean}; those who rated both put it {_gap(part, first, others[0])} above the next, "
            f"{labels[others[0]]}.",
        )
    names = _some([labels[name] for name in rivals])
    return Finding(
        f"{labels[first]} scores highest, but not clearly above {names}.",
        f"It scores {mean}; {_unclear(part, labels, first, rivals[0])}.",
    )


def _unclear(part: Part, labels: Mapping[str, str], one: str, other: str) -> str:
    if (one, other) not in part.tested:
        return f"too few rated both it and {labels[other]} to test their difference"
    difference = signed(part.differences[one, other], part.decimals)
    return (
        f"for those who rated both, its difference from {labels[other]} is {difference} points, which this study "
        "cannot tell from none"
    )


def _reference(part: Part, labels: Mapping[str, str], reference: str) -> Finding:
    others = [name for name in part.order if name != reference]
    below = [name for name in others if (reference, name) in part.above]
    level = [labels[name] for name in others if (name, reference) not in part.clear]
    near = f"Not told apart from it: {_some(level)}." if level else "Every other one differs from it clearly."
    return Finding(f"{len(below)} of {len(others)} are clearly below the reference, {labels[reference]}.", near)


def _last(part: Part, labels: Mapping[str, str]) -> Finding | None:
    *others, last = part.order
    if len(others) < 2 or any((name, last) not in part.above for name in others):
        return None
    mean = number(part.best_first["mean"].iloc[-1], part.decimals)
    return Finding(
        f"{labels[last]} is behind all others.",
        f"It scores {mean}; those who rated both put it {_gap(part, others[-1], last)} below the next, "
        f"{labels[others[-1]]}.",
    )


def _pairs(part: Part, labels: Mapping[str, str]) -> Finding:
    tested = len(part.tested) // 2
    clear = len(part.clear) // 2
    if clear == len(part.differences) // 2:
        return Finding("Every condition differs clearly from every other.", f"All {tested} pairs, after correction.")
    level = [
        f"{labels[a]} and {labels[b]}"
        for a, b in pairwise(part.order)
        if (a, b) in part.tested and (a, b) not in part.clear
    ]
    near = f"Neighbours that this study cannot tell apart: {_some(level, '; ')}." if level else ""
    return Finding(f"{clear} of {tested} tested pairs differ clearly.", (near + _untested(part)).strip())


def _untested(part: Part) -> str:
    n = (len(part.differences) - len(part.tested)) // 2
    return f" {count(n, 'pair')} could not be tested: too few rated both." if n else ""


def _gap(part: Part, one: str, other: str) -> str:
    """Return by how many points one is above the other, over the participants who rated both."""
    return f"{number(part.differences[one, other], part.decimals)} points"


def _some(names: list[str], separator: str = "") -> str:
    """Return the names, or the first few and how many more there are."""
    shown = names if len(names) <= _MOST_NAMES else [*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1} more"]
    return separator.join(shown) if separator else listed(shown)
