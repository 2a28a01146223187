"""factors and levels: means of every level of a factor, and every two levels against each other.

A factor is a further column of the manifest, a group of participants, or the view in which a page was looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from beholder.analysis.columns import (
    CI_HIGH,
    CI_LOW,
    CONTENTS,
    DF,
    FACTOR,
    LEVEL_OF_FACTOR,
    METRIC,
    NOTE,
    P_HOLM,
    PAGES_N,
    PARTICIPANTS,
    QUESTION,
    RATINGS_N,
    STANDARD_ERROR,
    STATISTIC,
    STIMULI,
    THESE_HIGH,
    THESE_LOW,
    THESE_P,
    THESE_P_HOLM,
    VERDICT,
    P,
)
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.contrasts import Contrast, level_contrasts
from beholder.analysis.means import (
    MEAN_CITATION,
    MEANS,
    NARROWER_BOUNDS,
    MeanGroups,
    group_means,
    interval_citation,
    kind_note,
    unit_note,
)
from beholder.analysis.ratings import COMPARISONS, Ratings, as_ratings, tidy
from beholder.analysis.result import Result
from beholder.analysis.tests import are_clear, verdict
from beholder.stats.additive import CITATION
from beholder.stats.tests import HOLM_CITATION as HOLM
from beholder.stats.tests import holm

FACTOR_PREFIX, _OTHER_FACTOR_PREFIX = "factor_", "other_factor_"
"""Of the stimulus that a rating speaks for, and of the one that it was compared with."""


def factors(data: pd.DataFrame | Ratings) -> Result | None:
    """Return n, mean, sd, median, quartiles and intervals of every level of every factor, per question.

    A factor is a column `factor_<name>` of the ratings; where two are compared, `other_factor_<name>` is that of the
    other one. Comparisons within a level are told by condition. None without such columns.
    """
    ratings = as_ratings(data)
    columns = [str(name) for name in ratings.used.columns if str(name).startswith(FACTOR_PREFIX)]
    parts = [_of_factor(ratings, column) for column in columns]
    parts = [part for part in parts if len(part)]
    if not parts:
        return None
    table = pd.concat(parts, ignore_index=True)
    order = {name: place for place, name in enumerate(ratings.questions)}
    table = table.sort_values("question", key=lambda names: names.map(order), kind="stable", ignore_index=True)
    note = (
        "Each level of each factor over all stimuli, or all participants, that have it; what has no level is in none. "
        f"{_LEVELS_COMPARED if (table['condition'] != '').any() else ''}"
        f"{unit_note(ratings, 'stimulus', 'both')}{kind_note(ratings)} Levels may differ in more than this "
        "factor: in their contents, or in other factors."
    )
    return FACTORS.result(table, note, interval_citation(ratings, "both"))


_LEVELS_COMPARED = (
    "Comparisons of two conditions within a level are told by condition: above zero it was preferred to the others "
    "there. Comparisons of two levels with each other are in the row of a level without a condition. "
)
FACTORS = Analysis(
    "factors",
    factors,
    (
        QUESTION,
        FACTOR,
        LEVEL_OF_FACTOR,
        Column("condition", "text", "Condition that was compared with others within the level; empty where not."),
        METRIC, RATINGS_N, PARTICIPANTS, CONTENTS, STIMULI, *MEANS, *NARROWER_BOUNDS, NOTE,
    ),
    row="level of each further column of the manifest or factor between participants, and question",
    holds="mean over all stimuli, or participants, of that level, with intervals",
    citation=MEAN_CITATION,
    order=8,
    holds_at_looks=True,
)  # fmt: skip


def _of_factor(ratings: Ratings, column: str) -> pd.DataFrame:
    """Return the rows of one factor."""
    votes = _votes_by_level(ratings, column)
    names = sorted(votes["level"].unique())
    is_within = votes["condition"] != ""
    over_all = group_means(ratings, votes[~is_within], MeanGroups(FACTORS.names, "level", names))
    parts = [over_all.assign(condition="")]
    by_condition = MeanGroups(FACTORS.names, "condition", ratings.conditions, equal="content")
    for name in names:
        mine = votes[is_within & (votes["level"] == name)]
        parts.append(group_means(ratings, mine, by_condition).assign(level=name))
    table = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True).sort_values(
        "level", kind="stable", ignore_index=True
    )
    return table.assign(factor=column.removeprefix(FACTOR_PREFIX))


def _votes_by_level(ratings: Ratings, column: str) -> pd.DataFrame:
    """Return the votes that have a level of the factor; a comparison counts for the levels of both stimuli.

    Where both have the same level the condition is told: the level as a whole can neither win nor lose.
    """
    kept = ratings.used.assign(level=ratings.used[column].fillna("").astype(str))
    kept = kept[kept["level"] != ""]
    is_compared = kept["question"].map(ratings.kinds).isin(COMPARISONS)
    keys = ["question", "participant", "stimulus", "content", "level"]
    single = kept[~is_compared].groupby(keys, sort=True, observed=True)["value"].mean().reset_index()
    if _is_of_pages(kept[is_compared]):
        return pd.concat([single.assign(condition=""), _page_votes(ratings, kept[is_compared])], ignore_index=True)
    whose = "participant" if _is_of_people(kept) else "stimulus"
    of_people = kept.drop_duplicates("participant").set_index("participant")["level"]
    levels = of_people if whose == "participant" else _levels(ratings.used, column)
    both = ratings.table[ratings.table["question"].map(ratings.kinds).isin(COMPARISONS)]
    other = both[whose if whose == "participant" else "other_stimulus"].map(levels)
    compared = both.assign(level=both[whose].map(levels))
    is_mirrored = compared["question"].isin([name for name in ratings.questions if ratings.is_mirrored(name)])
    compared["condition"] = compared["condition"].where(is_mirrored & (compared["level"] == other), "")
    compared = compared.dropna(subset=["level"])
    return pd.concat([single.assign(condition=""), compared[[*keys, "condition", "value"]]], ignore_index=True)


def _page_votes(ratings: Ratings, compared: pd.DataFrame) -> pd.DataFrame:
    """Return the votes of comparisons whose pages have the level: both of the two were seen under it."""
    columns = ["question", "participant", "stimulus", "content", "level", "condition", "value"]
    parts = [tidy(rows, ratings.order).table.assign(level=level) for level, rows in compared.groupby("level")]
    votes = pd.concat(parts, ignore_index=True)
    mirrored = [name for name in ratings.questions if ratings.is_mirrored(name)]
    votes["condition"] = votes["condition"].where(votes["question"].isin(mirrored), "")
    return votes[columns]


def _is_of_pages(compared: pd.DataFrame) -> bool:
    """Return whether a factor is of pages: a stimulus has several levels, also for one person."""
    if not len(compared) or _is_of_people(compared):
        return False
    return bool((compared.groupby("stimulus", observed=True)["level"].nunique() > 1).any())


def _levels(kept: pd.DataFrame, column: str) -> pd.Series:
    """Return the level of each stimulus that has one, on either side of a comparison."""
    sides = [("stimulus", column), ("other_stimulus", _OTHER_FACTOR_PREFIX + column.removeprefix(FACTOR_PREFIX))]
    parts = [
        kept[[stimulus, level]].set_axis(["stimulus", "level"], axis=1) for stimulus, level in sides if level in kept
    ]
    known = pd.concat(parts).dropna().drop_duplicates().astype(str)
    known = known[known["level"] != ""]
    # What differs between participants is no level of a stimulus: both sides of a comparison would cancel out in it.
    return known.drop_duplicates("stimulus", keep=False).set_index("stimulus")["level"]


def _is_of_people(votes: pd.DataFrame) -> bool:
    """Return whether a factor is between participants: each has one level, and some stimulus has several."""
    by_person = votes.groupby("participant", observed=True)["level"].nunique()
    by_stimulus = votes.groupby("stimulus", observed=True)["level"].nunique()
    return bool((by_person <= 1).all() and (by_stimulus > 1).any())


# levels


def levels(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the difference of every two levels of every factor, per question; None where no factor has two.

    Levels of a factor between participants are compared as groups of people. Comparisons of two conditions are told
    by `factors`: who won within each level.
    """
    ratings = as_ratings(data)
    columns = [str(name) for name in ratings.used.columns if str(name).startswith(FACTOR_PREFIX)]
    parts = [part for column in columns for part in _pairs_of_levels(ratings, column)]
    if not parts:
        return None
    note = (
        "level minus other_level, from all ratings: additive least squares of participant, content and level, with the "
        "errors of pairs. within: people rated both levels; between: different people did. ci_low, ci_high, p and "
        "p_holm are for people and contents like these, these_low, these_high, these_p and these_p_holm for these "
        "contents. Holm's correction over the pairs of levels of one factor and question. Levels without a common "
        "content are not tested. Levels may differ in more than this factor."
    )
    return LEVELS.result(pd.concat(parts, ignore_index=True), note)


LEVELS = Analysis(
    "levels",
    levels,
    (
        QUESTION,
        FACTOR,
        LEVEL_OF_FACTOR,
        Column("other_level", "text", "The level with which it is compared."),
        Column("comparison", "text", "Rated by the same people, or by different people.", ("within", "between")),
        PAGES_N, PARTICIPANTS, CONTENTS,
        Column("mean_difference", "number", "The first minus the second."),
        STANDARD_ERROR,
        DF, CI_LOW, CI_HIGH, STATISTIC, P, P_HOLM, THESE_LOW, THESE_HIGH, THESE_P, THESE_P_HOLM,
        VERDICT,
        NOTE,
    ),
    row="pair of levels of a factor and question",
    holds="difference of the two levels with interval, test, and p after Holm's correction",
    citation=f"{CITATION}; {HOLM}",
    order=8.5,
    holds_at_looks=True,
)  # fmt: skip


def _pairs_of_levels(ratings: Ratings, column: str) -> Iterator[pd.DataFrame]:
    """Yield the pairs of levels of one factor, for each question whose ratings are of one stimulus."""
    votes = _votes_by_level(ratings, column)
    for question in ratings.questions:
        if ratings.kinds[question] in (*COMPARISONS, "correct"):
            continue
        pairs = list(level_contrasts(ratings, question, votes[votes["question"] == question]))
        if pairs:
            yield _table(pairs, column.removeprefix(FACTOR_PREFIX))


def _table(pairs: list[Contrast], factor: str) -> pd.DataFrame:
    p, these_p = np.array([one.estimate.p for one in pairs]), np.array([one.these.p for one in pairs])
    corrected, these_corrected = holm(p), holm(these_p)
    above, inside = [one.estimate.mean for one in pairs], [""] * len(pairs)
    clear, these_clear = are_clear(p, corrected, above, inside), are_clear(these_p, these_corrected, above, inside)
    rows = [
        (
            one.question, factor, one.condition, one.other_condition, one.comparison, one.estimate.n,
            one.estimate.participants, one.estimate.contents, one.estimate.mean, one.estimate.se, one.estimate.df,
            one.estimate.low, one.estimate.high, one.estimate.statistic, one.estimate.p, corrected[place],
            one.these.low, one.these.high, one.these.p, these_corrected[place],
            verdict(clear[place], these_clear[place]), one.note,
        )
        for place, one in enumerate(pairs)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=LEVELS.names)
