"""participants, raters and times: use of the scale, agreement with the others, and seconds (reference: checks 7)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from beholder.analysis.columns import PARTICIPANT, THEIR_STIMULI
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.figures.distributions import times_chart
from beholder.analysis.figures.raters import raters_chart
from beholder.analysis.means import codes_of
from beholder.analysis.ratings import KINDS, Ratings, as_ratings, is_counted, orient_comparisons
from beholder.analysis.result import Result
from beholder.stats.rater_models import RaterVotes
from beholder.stats.reliability import leave_one_out
from beholder.types import UNRATED_ROLES

MIN_SHARED_RATINGS = 10
_CITATION = "Spearman (1904), American Journal of Psychology 15"


def participants(data: pd.DataFrame | Ratings) -> Result:
    """Return one row per participant: ratings, mean, sd, range, and rank correlation with the mean of the others."""
    ratings = as_ratings(data)
    own = ratings.votes.groupby("participant", sort=True)
    values = own["value"]
    table = pd.DataFrame(
        {
            "ratings": values.size(),
            "stimuli": own["stimulus"].nunique(),
            "mean": values.mean(),
            "sd": values.std(ddof=1),
            "lowest": values.min(),
            "highest": values.max(),
            "agreement": _agreement(ratings.votes),
        }
    )
    table = table.rename_axis("participant").reset_index()[PARTICIPANTS.names]
    note = (
        "agreement: Spearman's rank correlation of a participant's ratings with the mean of everybody else's "
        f"ratings of the same stimuli, or pairs, and questions (leave one out); empty below "
        f"{MIN_SHARED_RATINGS} shared ratings."
    )
    return PARTICIPANTS.result(table, note, _CITATION if table["agreement"].notna().any() else "")


PARTICIPANTS = Analysis(
    "participants",
    participants,
    (
        PARTICIPANT,
        Column("ratings", "integer", "How many of their ratings are analysed."),
        THEIR_STIMULI,
        Column("mean", "number", "Mean of their ratings."),
        Column("sd", "number", "Standard deviation of their ratings."),
        Column("lowest", "number", "Their lowest rating."),
        Column("highest", "number", "Their highest rating."),
        Column("agreement", "number", "Rank correlation with the mean of the others; empty below 10 shared ratings."),
    ),
    row="participant",
    holds="mean, sd, range, and agreement with the others",
    citation=_CITATION,
    order=6,
)


def _agreement(table: pd.DataFrame) -> pd.Series:
    """Return the rank correlation of each participant's ratings with the others; missing where it is undefined."""
    people = pd.Index(sorted(table["participant"].unique()))
    thing = np.asarray(table.groupby(["question", "stimulus", "other_stimulus"], sort=False).ngroup(), np.intp)
    rater = codes_of(table["participant"], list(people))
    votes = RaterVotes(table["value"].to_numpy(float), rater, thing, len(people), int(thing.max(initial=-1)) + 1)
    return pd.Series(leave_one_out(votes, MIN_SHARED_RATINGS), people)


# raters: each participant against the others, used or not (reference: checks 7)


_RATER_NOTE = (
    "Every participant against the mean of all others who are used, on the same stimuli, or pairs, and questions. "
    "offset: mean difference from the others, in percent of the width of the scale; above zero, higher. spread: "
    "standard deviation of these differences, in the same unit: how far somebody is from the others once the offset "
    f"is taken away. agreement: Spearman's rank correlation with the others; empty below {MIN_SHARED_RATINGS} shared "
    "ratings, or where one side always said the same. use: whether any rating of theirs is analysed; of those who are "
    "not used all ratings are taken."
)
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
            "agreement": _rater_agreement(rows),
        }
    )
    result = table.reset_index()[RATERS.names]
    return RATERS.result(result, _RATER_NOTE, _CITATION if result["agreement"].notna().any() else "")


RATERS = Analysis(
    "raters",
    raters,
    (
        PARTICIPANT,
        Column("use", "boolean", "Whether any rating of theirs is analysed."),
        Column("ratings", "integer", "How many of theirs somebody else rated too."),
        Column("offset", "number", "Mean difference from the others, in percent of the width of the scale."),
        Column("spread", "number", "Standard deviation of these differences, in the same unit."),
        Column("agreement", "number", "Rank correlation with the others; empty below 10 shared ratings."),
    ),
    row="participant, also those who are not used",
    holds="offset, spread and agreement against the others",
    citation=_CITATION,
    draw=raters_chart,
    order=20,
)


def _values(ratings: Ratings) -> pd.DataFrame:
    """Return the ratings of everybody; of those who are used, only the ratings that are."""
    table = ratings.rows
    is_rating = table["kind"].isin(KINDS) & ~table["role"].isin(UNRATED_ROLES) & table["value"].notna()
    rows = table[is_rating & table["question"].isin(ratings.questions)]
    rows = orient_comparisons(rows, ratings.conditions, ratings.order.references)
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


def _rater_agreement(rows: pd.DataFrame) -> pd.Series:
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
    has_enough = (sums["n"] >= MIN_SHARED_RATINGS) & (scale > 0)
    return (sums["both"] / scale.where(scale > 0)).where(has_enough)


# times per page and per rating


_TIME_NOTE = (
    "Seconds from when a page was shown until its answer was sent, watching and listening included. `page`: each page "
    "once, however many ratings are on it; first over all pages, then by its place in the session. `rating`: the time "
    "of a page shared out evenly among its ratings; `comparison`: among the pairs of conditions that stand on it, as "
    "8 conditions on a page are 28 comparisons. `condition`: pages on which one condition alone was rated. group: the "
    "pages of participants with one level of a factor. n counts pages; mean, median and quartiles are over pages."
)


def times(data: pd.DataFrame | Ratings) -> Result | None:
    """Return mean, median and quartiles of the time per page, by position, per rating, and per comparison.

    By condition where a page has one, and by group where each participant has one level of a factor.
    """
    ratings = as_ratings(data)
    pages = _pages(ratings.used)
    if pages is None or pages.empty:
        return None
    rows = [_row("page", pages["seconds"])]
    if pages["position"].notna().all():
        placed = pages.groupby("position")["seconds"]
        rows += [_row("page", part, position=float(str(place))) for place, part in placed]
    rows += _shared_out(pages)
    if bool(pages["condition"].notna().all()):
        named = dict(iter(pages.groupby("condition")["seconds"]))
        rows += [_row("condition", named[name], condition=name) for name in ratings.conditions if name in named]
    for factor in [name for name in pages.columns if str(name).startswith(_FACTOR)]:
        for level, part in pages.groupby(factor):
            group = f"{str(factor).removeprefix(_FACTOR)}: {level}"
            rows += [_row("page", part["seconds"], group=group), *_shared_out(part, group)]
    return TIMES.result(pd.DataFrame(rows, columns=TIMES.names), _TIME_NOTE)


TIMES = Analysis(
    "times",
    times,
    (
        Column("of", "text", "Each page once (first all, then by position), the time of a page shared out among its "
               "ratings or its pairs of conditions, or pages with one condition.",
               ("page", "rating", "comparison", "condition")),
        Column("position", "number", "Place of the page in the session; empty in a row of all."),
        Column("condition", "text", "Name of the condition; empty where the row is not of one."),
        Column("group", "text", "Factor between participants and its level, as `asked: Q1`; empty in a row of all."),
        Column("n", "integer", "Pages."),
        Column("mean_s", "number", "Mean in seconds, watching and listening included."),
        Column("median_s", "number", "Median in seconds, watching and listening included."),
        Column("q1_s", "number", "First quartile in seconds."),
        Column("q3_s", "number", "Third quartile in seconds."),
    ),
    row="page of the session, and more",
    holds="seconds per page, per rating, per comparison and per condition, and in each group of participants",
    draw=times_chart,
    order=25,
)  # fmt: skip


def _pages(kept: pd.DataFrame) -> pd.DataFrame | None:
    """Return one row per page: its time, its place, how many ratings it has, and its condition if it has only one."""
    if "response_ms" not in kept:
        return None
    known = kept[kept["response_ms"].notna()]
    visit = next((known[name] for name in ("session", "participant") if name in known), None)
    page = next((known[name] for name in ("position", "trial") if name in known and known[name].notna().all()), None)
    if visit is None or page is None:
        return None
    keys = known.groupby([visit, page], sort=True)
    pages = pd.DataFrame(
        {
            "seconds": keys["response_ms"].first() / 1000,
            "position": keys["position"].first() if "position" in known else float("nan"),
            # Of an answer whose first word is not used, the others still count as one rating.
            "ratings": is_counted(known).groupby([visit, page], sort=True).sum().clip(lower=1),
            "condition": keys["condition"].first(),
        }
    )
    together, is_direct = keys["condition"].nunique(), keys["other_condition"].max() != ""
    comparisons = (together * (together - 1) / 2).where(~is_direct, 1.0)
    levels = {name: keys[name].first() for name in known.columns if _is_of_participants(known, str(name))}
    single = pages["condition"].where((together == 1) & ~is_direct)
    return pages.assign(condition=single, comparisons=comparisons, **levels).reset_index(drop=True)


_FACTOR = "factor_"


def _is_of_participants(known: pd.DataFrame, name: str) -> bool:
    """Return whether a column is a factor of which every participant has one level, and not all the same."""
    if not name.startswith(_FACTOR) or "participant" not in known or known[name].isna().any():
        return False
    return known[name].nunique() > 1 and int(known.groupby("participant")[name].nunique().max()) == 1


def _shared_out(pages: pd.DataFrame, group: str = "") -> list[tuple[object, ...]]:
    """Return the rows of the time of a page shared out among its ratings, and among its comparisons if it has any."""
    rows = [_row("rating", pages["seconds"] / pages["ratings"], group=group)]
    compared = pages[pages["comparisons"] > 0]
    if len(compared):
        rows.append(_row("comparison", compared["seconds"] / compared["comparisons"], group=group))
    return rows


def _row(
    of: str, seconds: pd.Series, *, position: float = float("nan"), condition: str = "", group: str = ""
) -> tuple[object, ...]:
    q1, median, q3 = (float(value) for value in seconds.quantile([0.25, 0.5, 0.75]))
    return (of, position, condition, group, len(seconds), float(seconds.mean()), median, q1, q3)
