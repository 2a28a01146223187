"""correlations: how every two questions go together, between conditions, between stimuli and within people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from beholder.analyse.result import Result
from beholder.dimensions.joined import Data, Joined, join
from beholder.dimensions.levels import LEVELS, MEANING, NAMES, Level, Rows, rows_of
from beholder.stats.correlation import pearson_interval

COLUMNS = [
    "level", "question", "other_question", "n", "df", "pearson", "pearson_low", "pearson_high", "pearson_p", "note",
]  # fmt: skip
CITATION = "Fisher (1915), Biometrika 10; Fisher (1924), Metron 3 (partial correlations)"
_FEWEST = 3
_CLEAR = 0.05
_PERFECT = 1 - 1e-12


def correlations(data: Data | Sequence[Data], *, levels: Sequence[Level] = LEVELS) -> Result:
    """Return Pearson's correlation of every two questions with interval and p, at every level.

    A reversed question is turned first. At level `within`, what is common to a stimulus or to a participant is taken
    off, and degrees of freedom with it.
    """
    joined = join(data)
    rows = [row for level in levels for row in _at(joined, level)]
    table = pd.DataFrame(rows, columns=COLUMNS).astype({"n": int})
    return Result(table, correlation_note(table) + turned_note(joined), CITATION, _draw)


def _at(joined: Joined, level: Level) -> Iterator[dict[str, Any]]:
    whole: dict[int, Rows] = {}
    for one, other in combinations(joined.questions, 2):
        part = joined.part_of([one, other])
        if level == "within" and part is not None and part.items is not None and not np.isnan(part.items.value).any():
            # With every cell filled one centring serves all pairs.
            if id(part) not in whole:
                whole[id(part)] = rows_of(joined, part.questions, level)
            places = [part.questions.index(one), part.questions.index(other)]
            rows = Rows(whole[id(part)].value[:, places], whole[id(part)].taken)
        else:
            rows = rows_of(joined, [one, other], level)
        if len(rows.value):
            yield {"level": level, "question": one, "other_question": other, **_pair(rows)}


def _pair(rows: Rows) -> dict[str, Any]:
    n, df = len(rows.value), rows.worth - 2
    row: dict[str, Any] = dict.fromkeys(COLUMNS[4:9], math.nan) | {"n": n, "note": ""}
    if not all(rows.varies):
        return row | {"note": "a question does not vary"}
    if rows.worth < _FEWEST:
        return row | {"note": f"too few: {n}"}
    r = float(rows.correlation[0, 1])
    low, high = pearson_interval(r, rows.worth)
    is_perfect = abs(r) >= _PERFECT
    p = 0.0 if is_perfect else float(2 * special.stdtr(df, -abs(r) * math.sqrt(df / (1 - r**2))))
    return row | {"df": float(df), "pearson": r, "pearson_low": low, "pearson_high": high, "pearson_p": p}


def smallest_clear(df: float) -> float:
    """Return how large a correlation has to be to differ from zero at 5 %."""
    t = float(special.stdtrit(df, 1 - _CLEAR / 2))
    return t / math.sqrt(df + t**2)


def correlation_note(table: pd.DataFrame) -> str:
    """Return how correlations are read, and what they do not say."""
    told = [f"{level}: {MEANING[level]}" for level in LEVELS if (table["level"] == level).any()]
    note = (
        f"Pearson's r of every two questions over what has both ({'; '.join(told) or 'nothing has'}), with its 95 % "
        "interval by Fisher's z and its p by Student's t, not corrected for how many there are. At level within, "
        "effects of all participants and stimuli are taken off by least squares, and their degrees of freedom are off "
        "df, by which interval and p go."
    )
    for level in ("condition", "stimulus"):
        known = table[(table["level"] == level) & table["df"].notna()]
        if len(known) and known["df"].min() + 2 < 20:
            df = float(known["df"].min())
            note += f" With {df + 2:.0f} {NAMES[level]} |r| below {smallest_clear(df):.3f} does not differ from zero."
    if (table["level"] == "condition").any():
        note += (
            " Between conditions nearly everything goes together, as good conditions are good at everything: an r of "
            "0.99 says that questions rank conditions alike, not that people take them for the same."
        )
    return note


def turned_note(joined: Joined) -> str:
    """Return which questions were turned."""
    if not joined.turned:
        return ""
    return f" Reversed, so turned within the scale (lowest + highest - value): {', '.join(joined.turned)}."


def _draw(table: pd.DataFrame) -> Any:
    from beholder.dimensions.charts import correlations_chart

    return correlations_chart(table)
