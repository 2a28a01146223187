"""agreement: which tests find the same differences clear, as in HEMVIP's Table 1 (reference: statistics 4.2)."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analyse.metrics import HEMVIP
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings
from beholder.analyse.tests import tests

COLUMNS = [
    "question", "test", "other_test", "contrasts", "agree", "both_clear", "only_test", "only_other", "neither",
    "same_direction",
]  # fmt: skip
_KEYS = ["question", "condition", "other_condition"]
_NEEDED = {*_KEYS, "test", "estimate", "clear"}
# Means are sums of fractions: a difference that is none on paper may be one in the last bits.
_DECIMALS = 9


class _Wide(NamedTuple):
    """One row for each contrast, one column for each test."""

    clear: pd.DataFrame
    direction: pd.DataFrame


def agreement(data: pd.DataFrame | Ratings | Result) -> Result | None:
    """Return for every two tests on how many contrasts they agree; None where nothing was tested.

    `data` are ratings, or the result of `tests`, or any table with its columns question, condition, other_condition,
    test, estimate and clear: so that a test of another study can stand beside ours.
    """
    if isinstance(data, pd.DataFrame) and set(data.columns) >= _NEEDED:
        data = Result(data, "", "")
    found = data if isinstance(data, Result) else tests(as_ratings(data))
    if found is None:
        return None
    table = _counted(found.table)
    note = (
        "For every two tests: contrasts that both have tested; agree: on how many of them they say the same, clear "
        "after correction or not; same_direction: on how many they do not point in opposite ways. A row without a "
        "question is over all of them."
    )
    return Result(table, note, HEMVIP) if len(table) else None


def _counted(table: pd.DataFrame) -> pd.DataFrame:
    made = table[table["p_holm" if "p_holm" in table else "clear"].notna()]
    names = list(dict.fromkeys(made["test"]))
    # The share of a sign test points nowhere at one half, everything else at zero.
    middle = np.where(made["test"].str.startswith("sign"), 0.5, 0.0)
    signed = made.assign(clear=made["clear"] == 1, direction=np.sign((made["estimate"] - middle).round(_DECIMALS)))
    index = signed.set_index([*_KEYS, "test"])
    wide = _Wide(index["clear"].unstack("test"), index["direction"].unstack("test"))
    asked = list(dict.fromkeys(made["question"]))
    rows = []
    for question in [*asked, *([""] if len(asked) > 1 else [])]:
        for one, other in combinations(names, 2):
            rows.append((question, one, other, *_row(wide, question, one, other)))
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(wide: _Wide, question: str, one: str, other: str) -> tuple[int, ...]:
    clear, direction = (
        frame if not question else frame[frame.index.get_level_values("question") == question] for frame in wide
    )
    is_made = clear[one].notna() & clear[other].notna()
    first, second = clear[one][is_made].astype(bool), clear[other][is_made].astype(bool)
    opposite = (direction[one] * direction[other])[is_made] < 0
    both, neither = int((first & second).sum()), int((~first & ~second).sum())
    only = int((first & ~second).sum()), int((~first & second).sum())
    return len(first), both + neither, both, *only, neither, len(first) - int(opposite.sum())
