"""raters: where each participant stands among the others, used or not (reference: checks 7)."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.participants import FEWEST
from beholder.analyse.plots.raters import raters_chart
from beholder.analyse.result import Result
from beholder.analyse.table import KINDS, Ratings, as_ratings, turned
from beholder.checks.trust import CHECK_ROLES

COLUMNS = ["participant", "use", "ratings", "offset", "spread", "agreement"]
_NOTE = (
    "Every participant against the mean of all others who are used, on the same stimuli, or pairs, and questions. "
    "offset: mean difference from the others, in percent of the width of the scale; above zero, higher. spread: "
    "standard deviation of these differences, in the same unit: how far somebody is from the others once the offset "
    f"is taken away. agreement: Spearman's rank correlation with the others; empty below {FEWEST} shared ratings, or "
    "where one side always said the same. use: whether any rating of theirs is analysed; of those who are not used "
    "all ratings are taken."
)
_CITATION = "Spearman (1904), American Journal of Psychology 15"
_STIMULUS = ["question", "stimulus", "other_stimulus"]


def raters(data: pd.DataFrame | Ratings) -> Result | None:
    """Return offset, spread and agreement of every participant, also of those who are not used."""
    ratings = as_ratings(data)
    rows = _values(ratings)
    if rows.empty or rows["participant"].nunique() < 2 or not rows["use"].any():
        return None
    rows = rows.assign(others=_others(rows))
    rows = rows[rows["others"].notna()]
    if rows.empty:
        return None
    span = rows["span"].where(rows["span"] > 0, 1.0)
    rows = rows.assign(off=100 * (rows["value"] - rows["others"]) / span)
    groups = rows.groupby("participant", sort=True)
    table = pd.DataFrame(
        {
            "use": groups["use"].any(),
            "ratings": groups.size(),
            "offset": groups["off"].mean(),
            "spread": groups["off"].std(ddof=1),
            "agreement": _agreement(rows),
        }
    )
    found = table.reset_index()[COLUMNS]
    return Result(found, _NOTE, _CITATION if found["agreement"].notna().any() else "", draw=raters_chart)


def _values(ratings: Ratings) -> pd.DataFrame:
    """Return the ratings of everybody; of those who are used, only the ratings that are."""
    table = ratings.rows
    asked = table["kind"].isin(KINDS) & ~table["role"].isin(CHECK_ROLES) & table["value"].notna()
    rows = table[asked & table["question"].isin(ratings.questions)]
    rows = turned(rows, ratings.conditions, ratings.order.references)
    has_used = rows.groupby("participant")["use"].transform("any")
    rows = rows[rows["use"] | ~has_used]
    if rows.empty:
        return rows.assign(span=1.0)
    votes = rows.groupby(["participant", *_STIMULUS], sort=True).agg(value=("value", "mean"), use=("use", "first"))
    votes = votes.reset_index()
    ends = rows.groupby("question")
    low = ends["scale_min"].min() if "scale_min" in rows else ends["value"].min()
    high = ends["scale_max"].max() if "scale_max" in rows else ends["value"].max()
    return votes.assign(span=votes["question"].map(high - low).astype(float))


def _others(rows: pd.DataFrame) -> pd.Series:
    """Return for each rating the mean of the used others' ratings of the same stimulus and question."""
    counted = rows.assign(total=rows["value"].where(rows["use"], 0.0), n=rows["use"].astype(float))
    sums = counted.groupby(_STIMULUS)[["total", "n"]].transform("sum")
    n = sums["n"] - counted["n"]
    return ((sums["total"] - counted["total"]) / n.where(n > 0)).where(n > 0)


def _agreement(rows: pd.DataFrame) -> pd.Series:
    """Return Spearman's correlation of every participant: Pearson's of the ranks within the participant."""
    ranks = rows.groupby("participant")[["value", "others"]].rank()
    ranks["participant"] = rows["participant"]
    centred = ranks[["value", "others"]] - ranks.groupby("participant")[["value", "others"]].transform("mean")
    products = pd.DataFrame(
        {
            "participant": rows["participant"],
            "both": centred["value"] * centred["others"],
            "one": centred["value"] ** 2,
            "other": centred["others"] ** 2,
            "n": 1,
        }
    )
    sums = products.groupby("participant", sort=True).sum()
    scale = (sums["one"] * sums["other"]) ** 0.5
    has_enough = (sums["n"] >= FEWEST) & (scale > 0)
    return (sums["both"] / scale.where(scale > 0)).where(has_enough)
