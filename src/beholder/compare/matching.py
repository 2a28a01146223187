"""What two sides both have scored, beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from beholder.analyse.side import Side

Level: TypeAlias = Literal["stimulus", "condition"]
LEVELS: tuple[Level, ...] = ("stimulus", "condition")
_SCORED = ["name", "n", "mean", "se", "df"]


class Matched(NamedTuple):
    """The scores that two sides have of the same things."""

    level: Level
    question: str
    side: str
    other_side: str
    table: pd.DataFrame
    """name, content, condition; n, mean, se and df of the side; the same with `other_` of the other."""


def every_two(sides: Sequence[Side], questions: Sequence[str]) -> Iterator[Matched]:
    """Yield every two sides in every question that both have, by stimulus and by condition, where they share any."""
    for question in questions:
        for level in LEVELS:
            scored = [scores_of(side, question, level) for side in sides]
            for one, other in combinations(range(len(sides)), 2):
                table = _beside(scored[one], scored[other])
                if len(table):
                    yield Matched(level, question, sides[one].name, sides[other].name, table)


def scores_of(side: Side, question: str, level: Level) -> pd.DataFrame:
    """Return name, content, condition, n, mean, se and df of everything that a side has scored in a question."""
    if level == "condition":
        table = side.conditions[side.conditions["question"] == question]
        return table.assign(name=table["condition"], content="")[["content", "condition", *_SCORED]]
    table = side.stimuli[side.stimuli["question"] == question]
    n, sd = (table[column].to_numpy(float) for column in ("n", "sd"))
    has_error = (n > 1) & ~np.isnan(sd)
    # One vote has no error, and its sd says nothing.
    errors = np.where(has_error, sd / np.sqrt(np.where(has_error, n, 1.0)), np.nan)
    free = np.where(has_error, n - 1, np.nan)
    return table.assign(name=table["stimulus"], se=errors, df=free)[["content", "condition", *_SCORED]]


def _beside(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    renamed = {column: f"other_{column}" for column in _SCORED if column != "name"}
    table = one.merge(other[_SCORED].rename(columns=renamed), on="name", how="inner", sort=False)
    numbers = [column for column in table if column not in ("name", "content", "condition")]
    return table.astype(dict.fromkeys(numbers, float))
