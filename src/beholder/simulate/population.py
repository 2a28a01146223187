"""What the simulated people of a study have in common: how far they differ, waver, tire, and leave."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from beholder.errors import Problem, UserError, did_you_mean


@dataclass(frozen=True)
class Population:
    """The spread of people and of contents. What is an amount of quality is a share of the scale.

    The defaults of `bias` and `inconsistency` are measured, the other effects are off: `PUBLIC` holds all that one
    laboratory has shown, `from_pilot` what a store shows, and an effect can be set by hand.
    """

    bias: float = 0.117
    """Standard deviation between people of a shift of all that they rate."""
    inconsistency: float = 0.147
    """Standard deviation of one person from rating to rating, in the middle of all people."""
    inconsistency_spread: float = 0.0
    """How far people differ in that: standard deviation of its logarithm."""
    taste: float = 0.0
    """Standard deviation between people of what they think of one condition, beside their bias."""
    content: float = 0.03
    """Standard deviation between contents of a shift of all their conditions."""
    content_condition: float = 0.0
    """Standard deviation between contents of what one condition does to them."""
    carry: float = 0.0
    """How much of the distance of the trial before from the average is added (assimilation), or, below zero, taken
    away (contrast)."""
    fatigue: float = 0.0
    """By how much inconsistency grows from the first trial to the last: 0.5 makes it half as large again."""
    lapse: float = 0.0
    """How often somebody has not looked, so that what they say of a stimulus is anything."""
    gain_spread: float = 0.0
    """How far people differ in how much of the scale they use, about its middle: deviation of the logarithm."""
    ends: float = 0.0
    """How much of the scale at either end nobody uses."""
    leaving: float = 0.0
    """How likely somebody leaves before any one trial, and never comes back."""
    pace: float = 1.0
    """How long judgements take, as a multiple of the usual seconds."""


PUBLIC = Population(
    bias=0.117,
    inconsistency=0.136,
    inconsistency_spread=0.175,
    taste=0.055,
    content=0.024,
    content_condition=0.097,
)
"""24 people in a laboratory who rated 72 videos, 8 contents under 9 conditions, on five points (VQEG HDTV3), as
`tools/fit_raters.py` prints it. Order, fatigue, lapses and leaving cannot be seen in it and stay off."""
_MOST = {"ends": 0.45, "lapse": 1.0, "leaving": 1.0, "carry": 1.0}
_LEAST = {"carry": -1.0, "pace": 0.01}
_LARGEST = 10.0


def read_people(spec: str, base: Population | None = None) -> Population:
    """Return a population changed as in `fatigue:0.5,lapse:0.02`."""
    changes: dict[str, float] = {}
    problems = []
    names = [field.name for field in fields(Population)]
    for part in filter(None, (part.strip() for part in spec.split(","))):
        name, _, written = part.partition(":")
        if name not in names:
            what = f"{name!r} is nothing that people differ in"
            problems.append(Problem("--people", what, ", ".join(names), did_you_mean(name, names)))
            continue
        low, high = _LEAST.get(name, 0.0), _MOST.get(name, _LARGEST)
        try:
            value = float(written)
        except ValueError:
            value = float("nan")
        if low <= value <= high:
            changes[name] = value
        else:
            problems.append(Problem("--people", f"{name} is {written!r}", f"a number from {low:g} to {high:g}"))
    if problems:
        raise UserError(problems)
    return replace(base or Population(), **changes)
