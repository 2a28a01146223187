"""scores: one row per stimulus and question (reference: statistics 2.1)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from beholder.analysis.columns import (
    CI_HIGH,
    CI_LOW,
    CONDITION,
    CONTENT,
    MEDIAN,
    METRIC,
    PARTICIPANTS_N,
    Q1,
    Q3,
    QUESTION,
    SD,
    STIMULUS,
)
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.figures.scores import scores_chart
from beholder.analysis.means import ScaleEnds, average_by, codes_of, scale_ends
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result, metric, scoring
from beholder.formats import plain_count
from beholder.stats.intervals import (
    LEVEL,
    SHARE_CITATION,
    STUDENT_CITATION,
    IntervalBounds,
    bounds_for,
    is_share,
    unanimous_bounds,
)

_KEYS = ["question", "condition", "content", "stimulus"]


def scores(data: pd.DataFrame | Ratings) -> Result:
    """Return n, mean, sd, interval, median and quartiles of every stimulus; one vote of each participant."""
    ratings = as_ratings(data)
    table = _means(ratings)
    parts = []
    for question in ratings.questions:
        kind = ratings.kinds[question]
        mine = table[table["question"] == question]
        errors = mine["sd"] / np.sqrt(mine["n"])
        ends = bounds_for(
            kind,
            mine["mean"],
            errors,
            mine["n"] - 1,
            ratings=mine["votes"],
            level=ratings.level,
        )
        if not is_share(kind):
            ends = on_scale(mine["mean"], ends, mine["n"], scale_ends(ratings, question), ratings.level)
        name = metric(ratings.methods[question], kind).name
        parts.append(mine.assign(ci_low=ends.low, ci_high=ends.high, metric=name))
    table_of_scores = pd.concat(parts or [pd.DataFrame(columns=SCORES.names)], ignore_index=True)[SCORES.names]
    return SCORES.result(table_of_scores, _note(ratings, table_of_scores), _citation(ratings))


SCORES = Analysis(
    "scores",
    scores,
    (
        STIMULUS, CONTENT, CONDITION, QUESTION, PARTICIPANTS_N,
        Column("mean", "number", "Mean of the participants' votes, each participant once."),
        SD, CI_LOW, CI_HIGH, MEDIAN, Q1, Q3, METRIC,
        Column("*_quality", "number", "Quality under a model of `--model`, such as `p910_quality`."),
        Column("*_se", "number", "Its standard error."),
        Column("*_low", "number", "Lower end of its 95 % interval."),
        Column("*_high", "number", "Upper end of its 95 % interval."),
    ),
    row="stimulus and question",
    holds="n, mean, sd, 95 % interval over participants, median, quartiles",
    citation=f"{STUDENT_CITATION}; {SHARE_CITATION}",
    draw=scores_chart,
    order=1,
    holds_at_looks=True,
)  # fmt: skip


def _means(ratings: Ratings) -> pd.DataFrame:
    """Return counts, mean and spread of every stimulus, in the order of the study."""
    table = ratings.table
    value = table["value"].to_numpy(float)
    groups = table.groupby(_KEYS, sort=False, observed=True)
    stimulus = np.asarray(groups.ngroup(), np.intp)
    own, (place, _) = average_by(value, stimulus, codes_of(table["participant"]))
    votes = pd.Series(own).groupby(place)
    first = table[_KEYS].loc[~pd.Series(stimulus, table.index).duplicated()].reset_index(drop=True)
    means = first.astype(object).assign(
        n=votes.size(), mean=votes.mean(), sd=votes.std(), q1=votes.quantile(0.25), median=votes.median(),
        q3=votes.quantile(0.75), votes=np.bincount(stimulus, minlength=len(first)),
    )  # fmt: skip
    ranks = {
        "question": {name: place for place, name in enumerate(ratings.questions)},
        "condition": {name: place for place, name in enumerate(ratings.conditions)},
    }
    return means.sort_values(
        _KEYS, key=lambda names: names.map(ranks[str(names.name)]) if names.name in ranks else names, kind="stable"
    )


def on_scale(
    mean: ArrayLike, bounds: IntervalBounds, n: ArrayLike, scale: ScaleEnds, level: float = LEVEL
) -> IntervalBounds:
    """Return intervals that do not leave their scale; of n who said the same, how far others may be from them."""
    means = np.asarray(mean, np.float64)
    others = unanimous_bounds(means, np.maximum(np.asarray(n, np.float64), 1.0), scale.low, scale.high, level)
    is_alike = bounds.high - bounds.low <= _NO_WIDTH * max(1.0, scale.high - scale.low)
    # A scale that nobody declared may end before a mean does.
    low = np.maximum(bounds.low, np.minimum(scale.low, means))
    high = np.minimum(bounds.high, np.maximum(scale.high, means))
    return IntervalBounds(np.where(is_alike, others.low, low), np.where(is_alike, others.high, high))


_NO_WIDTH = 1e-9


def _note(ratings: Ratings, table: pd.DataFrame) -> str:
    note = (
        "Mean of each stimulus. n counts participants; what one participant said of it several times, or in comparison "
        "with several others, is averaged first."
    )
    kinds = {is_share(kind) for kind in ratings.kinds.values()}
    if False in kinds:
        note += (
            " Interval: 95 % Student t over participants (n - 1 degrees of freedom), empty for a single participant, "
            "cut at the ends of the scale. "
            "Near the ends of a scale and with fewer than about 12 participants it covers less often than it claims."
        )
    if True in kinds:
        note += (
            " Interval of shares and preferences: Korn and Graubard's, exact and at least 95 %, empty for a single "
            "participant."
        )
    return note + _repeated(ratings) + _unanimous(ratings, table) + ratings.look_note


def _repeated(ratings: Ratings) -> str:
    """Return how far one person's repeated votes differ: the root of the mean variance within a person (2.1)."""
    if not ratings.counts["repeated"]:
        return ""
    kept = ratings.used[ratings.used["question"].isin(_scored(ratings))]
    keys = ["question", "participant", "stimulus", "other_stimulus"]
    within = kept.groupby(keys, sort=False, observed=True)["value"].var().dropna()
    if within.empty:
        return ""
    spread = within.groupby("question", sort=False).mean() ** 0.5
    texts = [f"{spread[name]:.2f} ({name})" for name in ratings.questions if name in spread]
    return f" Repeated votes of one participant differ with an sd of {', '.join(texts)}."


def _scored(ratings: Ratings) -> list[str]:
    """Return the questions whose means are no shares."""
    return [name for name in ratings.questions if not is_share(ratings.kinds[name])]


def _unanimous(ratings: Ratings, table: pd.DataFrame) -> str:
    """Return the number of stimuli with unanimous scores, and the largest possible error of their means."""
    scored = table[table["question"].isin(_scored(ratings))]
    alike = scored[(scored["n"] > 1) & (scored["sd"] == 0)]
    if alike.empty:
        return ""
    texts = []
    for name, mine in alike.groupby("question", sort=False):
        ends = scale_ends(ratings, str(name))
        bounds = unanimous_bounds(mine["mean"], mine["n"], ends.low, ends.high)
        off = max(float((mine["mean"] - bounds.low).max()), float((bounds.high - mine["mean"]).max()))
        texts.append(f"{off:.2f} ({name}, on the scale from {ends.low:g} to {ends.high:g})")
    stimuli = plain_count(len(alike), "stimulus", "stimuli")
    return (
        f" Unanimous: {stimuli} of {len(scored)} got the same score from everybody. That is no certainty: their "
        "interval is by the exact 95 % bound on the share of people who would have said something else, "
        f"1 - 0.025^(1/n), and their means may be off by up to {', '.join(texts)}."
    )


def _citation(ratings: Ratings) -> str:
    """Return where the methods and the intervals come from."""
    methods = dict.fromkeys(scoring(name).citation for name in ratings.methods.values())
    kinds = {is_share(kind) for kind in ratings.kinds.values()}
    intervals = [STUDENT_CITATION] * (False in kinds) + [SHARE_CITATION] * (True in kinds)
    return "; ".join(name for name in (*methods, *intervals) if name)
