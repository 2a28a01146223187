"""stimuli and conditions: how far two sides are apart on each of them, by Welch's test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from beholder.analyse.correction import ALPHA
from beholder.analyse.result import Result
from beholder.compare.matching import Level, Matched
from beholder.stats.false_discovery import CITATION as DISCOVERY
from beholder.stats.false_discovery import benjamini_hochberg
from beholder.stats.holm import CITATION as HOLM
from beholder.stats.holm import holm
from beholder.stats.welch import CITATION as WELCH
from beholder.stats.welch import welch

_TESTED = [
    "side", "other_side", "n", "mean", "se", "other_n", "other_mean", "other_se", "difference", "difference_se", "df",
    "ci_low", "ci_high", "statistic", "p", "p_holm", "p_bh", "clear",
]  # fmt: skip
_KEYS = {"stimulus": ["question", "stimulus", "content", "condition"], "condition": ["question", "condition"]}
_ERRORS = {
    "stimulus": "the error of a mean is sd / √n over participants",
    "condition": (
        "the error of a mean is that of its interval: clustered by participant and content where a side has ratings; "
        "sd / √n, as if ratings were independent, where a table has these only; none where there are only means"
    ),
}


def differences(matched: Sequence[Matched], level: Level) -> Result | None:
    """Return the difference of two sides on everything that both have scored; None where they share nothing."""
    parts = [_tested(one) for one in matched if one.level == level]
    if not parts:
        return None
    note = (
        f"side minus other_side. Welch's t, two-sided, for two groups of different people; {_ERRORS[level]}. p_holm "
        "(Holm) and p_bh (Benjamini and Hochberg) are corrected within a question and two sides. clear: p_holm is "
        f"below {ALPHA:g}. Without an error on both sides, or where nobody disagreed on either, there is no test."
    )
    return Result(pd.concat(parts, ignore_index=True), note, "; ".join((WELCH, HOLM, DISCOVERY)))


def _tested(one: Matched) -> pd.DataFrame:
    table = one.table
    found = welch(*(table[f"{who}{column}"] for who in ("", "other_") for column in ("mean", "se", "df")))
    corrected = holm(found.p)
    tested = table.assign(
        question=one.question, side=one.side, other_side=one.other_side, difference=found.difference,
        difference_se=found.se, df=found.df, ci_low=found.low, ci_high=found.high, statistic=found.statistic,
        p=found.p, p_holm=corrected, p_bh=benjamini_hochberg(found.p),
        clear=np.where(np.isnan(corrected), np.nan, corrected < ALPHA),
    )  # fmt: skip
    return tested.rename(columns={"name": "stimulus"} if one.level == "stimulus" else {})[[*_KEYS[one.level], *_TESTED]]
