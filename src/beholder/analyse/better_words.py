"""Whether one condition is better than another, as a sentence."""

from __future__ import annotations

from typing import NamedTuple

from beholder.analyse.correction import UNNAMED
from beholder.analyse.plots.numbers import count, number, p_value


class Evidence(NamedTuple):
    """What the sentence rests on."""

    answer: str
    condition: str
    other: str
    question: str
    """Empty where there is one only."""
    kind: str
    metric: str
    is_turned: bool
    """Whether less is better."""
    decimals: int
    estimate: float
    """Above zero the condition is better, as are low and high."""
    low: float | None
    high: float | None
    p: float | None
    is_corrected: bool
    people: int
    are_robots: bool
    note: str


def sentence(seen: Evidence) -> str:
    """Return the answer, how far the two are apart, and how sure that is."""
    about = f", on {seen.question}" if seen.question else ""
    told = f"{seen.answer.capitalize()}{about}: {seen.condition} {_far(seen)}"
    people = count(seen.people, "robot" if seen.are_robots else "participant")
    if seen.p is None:
        return f"{told} ({people}), without a test: {seen.note}."
    p = p_value(seen.p)
    correction = "Holm-corrected p" if seen.is_corrected else "p"
    p = f"{correction} {p}" if p.startswith("<") else f"{correction} = {p}"
    told = f"{told} ({', '.join([*_interval(seen), p, people])})"
    if UNNAMED in seen.note:
        return f"{told}; the study names other contrasts, and this one is not judged."
    if seen.answer == "undecided":
        return f"{told}, which cannot be told from {'one half' if seen.kind == 'choice' else 'none'}."
    return f"{told}."


def _far(seen: Evidence) -> str:
    """Return how far the condition is from the other, as it was answered."""
    if seen.kind == "choice":
        chosen = "called closer than" if seen.metric.startswith("Closeness") else "preferred to"
        return f"was {chosen} {seen.other} in {_percent(_share(seen.estimate))} of their comparisons"
    less = ", where less is better" if seen.is_turned else ""
    if not seen.estimate:
        same = "was ticked as often as" if seen.kind == "pick" else "scores the same as"
        return f"{same} {seen.other}{less}"
    is_above = (seen.estimate > 0) != seen.is_turned
    if seen.kind == "pick":
        size = f"{number(100 * abs(seen.estimate), 0)} percentage points"
        return f"was ticked {size} {'more' if is_above else 'less'} often than {seen.other}"
    size = f"{number(abs(seen.estimate), seen.decimals)} points"
    return f"scores {size} {'higher' if is_above else 'lower'} than {seen.other}{less}"


def _interval(seen: Evidence) -> list[str]:
    """Return the interval of the size that is told: with the sign that the sentence gives it."""
    if seen.low is None or seen.high is None:
        return []
    if seen.kind == "choice":
        return [f"95 % interval {number(100 * _share(seen.low), 0)} to {_percent(_share(seen.high))}"]
    low, high = (seen.low, seen.high) if seen.estimate >= 0 else (-seen.high, -seen.low)
    if seen.kind == "pick":
        return [f"95 % interval {number(100 * low, 0)} to {number(100 * high, 0)}"]
    return [f"95 % interval {number(low, seen.decimals)} to {number(high, seen.decimals)}"]


def _share(preference: float) -> float:
    """Return how often one of two was chosen, ties halved, from won minus lost."""
    return (preference + 1) / 2


def _percent(share: float) -> str:
    return f"{number(100 * share, 0)} %"
