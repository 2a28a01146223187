"""Choices between two conditions, written by hand and simulated by Davidson's model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from beholder.analysis.result import Result

Row = tuple[str, str, str, str, float]
"""participant, content, condition, other condition, value"""


def choices(*rows: Row) -> pd.DataFrame:
    names = ["participant", "content", "condition", "other_condition", "value"]
    return pd.DataFrame(rows, columns=names).assign(kind="choice", question="q")


def present(result: Result | None) -> Any:
    """Return a result that must not be None."""
    assert result is not None
    return result


def of_conditions(result: Result | None, model: str = "bradley-terry") -> Any:
    """Return the strengths of the conditions, by name."""
    table = present(result).table
    return table[(table["model"] == model) & (table["level"] == "condition")].set_index("condition")


def simulated(
    strength: dict[str, float],
    *,
    people: int = 40,
    each: int = 60,
    position: float = 0.0,
    ties: float = 0.0,
) -> pd.DataFrame:
    """Return choices simulated by Davidson's model, with a position effect."""
    rng = np.random.default_rng(1)
    names, n = np.array(list(strength)), people * each
    person = np.repeat(np.arange(people), each)
    own = np.array(list(strength.values()))
    one = rng.integers(len(names), size=n)
    other = (one + 1 + rng.integers(len(names) - 1, size=n)) % len(names)
    is_first = rng.random(n) < 0.5
    difference = own[one] - own[other] + position * np.where(is_first, 1, -1)
    win, loss = np.exp(difference / 2), np.exp(-difference / 2)
    drawn = rng.random(n) * (win + loss + ties)
    value = np.where(drawn < win, 1.0, np.where(drawn < win + loss, -1.0, 0.0))
    return pd.DataFrame(
        {
            "participant": [f"p{number}" for number in person],
            "content": np.where(rng.random(n) < 0.5, "tree", "lake"),
            "condition": names[one],
            "other_condition": names[other],
            "value": value,
            "raw_value": np.where(is_first, -value, value),
            "slot": np.where(is_first, "s1", "s2"),
            "kind": "choice",
            "question": "q",
        }
    )
