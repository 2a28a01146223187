"""position: whether the second of two, or the right one, is preferred for its place (reference: statistics 2.5)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy import stats

from beholder.analyse.result import Result
from beholder.analyse.table import COMPARISONS, Ratings, as_ratings, turned
from beholder.stats.interval import SHARES, STUDENT, share_interval, t_interval

COLUMNS = [
    "question", "n", "participants", "mean", "sd", "ci_low", "ci_high", "statistic", "df", "p", "first", "ties",
    "second", "second_share", "second_low", "second_high", "balance", "note",
]  # fmt: skip
_UNEVEN = 0.1
"""How far from one half the share of orders may be before a place can be mistaken for a quality."""


def position(data: pd.DataFrame | Ratings) -> Result | None:
    """Return how far comparisons lean to the second, or right, stimulus; None where nothing was compared in an order.

    It looks at `raw_value`, which is above zero where the second was called better, whatever it was.
    """
    ratings = as_ratings(data)
    if "raw_value" not in ratings.kept:
        return None
    kept = ratings.kept[ratings.kept["question"].map(ratings.kinds).isin(COMPARISONS)]
    kept = kept[kept["raw_value"].notna() & (kept["other_condition"] != "")]
    kept = turned(kept, ratings.conditions, ratings.order.references)
    groups = {str(name): part for name, part in kept.groupby("question", sort=False, observed=True)}
    rows = [(name, *_row(groups[name])) for name in ratings.questions if name in groups]
    if not rows:
        return None
    note = (
        "mean: of what was answered as seen, above zero where the second, or right, one was called better; each "
        "participant's own mean, then over participants, with 95 % Student t and its test against zero. Over balanced "
        "orders it is zero but for chance. first, ties, second: how often each was called better. second_share: of "
        "comparisons without ties, each participant's own share averaged, with Korn and Graubard's 95 % interval. "
        "balance: the share of these in which the condition that stands first in the study, or the one that was held "
        "against the reference, was the second; away from one half, place and quality are not told apart."
    )
    return Result(pd.DataFrame(rows, columns=COLUMNS), note, f"{STUDENT}; {SHARES}")


def _row(kept: pd.DataFrame) -> tuple[object, ...]:
    raw = kept["raw_value"].to_numpy(float)
    own = kept.groupby("participant", sort=True, observed=True)["raw_value"].mean()
    lean = t_interval(own)
    error = lean.sd / math.sqrt(lean.n)
    is_tested = lean.n > 1 and error > 0
    statistic = lean.mean / error if is_tested else math.nan
    df = lean.n - 1 if is_tested else math.nan
    p = float(2 * stats.t.sf(abs(statistic), df)) if is_tested else math.nan
    if lean.n > 1 and not is_tested:
        # Where everybody leans alike t says nothing, and a sign test counts them.
        p = 1.0 if lean.mean == 0 else 2 * 0.5**lean.n
    decided = kept[raw != 0]
    chose = (decided["raw_value"] > 0).astype(float)
    shares = chose.groupby(decided["participant"], observed=True).mean()
    share = share_interval(shares, len(decided))
    is_second = np.sign(decided["value"]) == np.sign(decided["raw_value"])
    balance = float(is_second.mean()) if len(decided) else math.nan
    counted = (int((raw < 0).sum()), int((raw == 0).sum()), int((raw > 0).sum()))
    return (
        len(kept), lean.n, lean.mean, lean.sd, lean.low, lean.high, statistic, df, p, *counted, share.mean, share.low,
        share.high, balance, _note(lean.n, lean.sd, balance),
    )  # fmt: skip


def _note(participants: int, sd: float, balance: float) -> str:
    notes = ["one participant: no interval and no test"] * (participants == 1)
    notes += ["all participants lean alike: sign test"] * (sd == 0)
    if abs(balance - 0.5) > _UNEVEN:
        notes.append(f"orders are not balanced ({100 * balance:.0f} % one way): the lean may be quality")
    return "; ".join(notes)
