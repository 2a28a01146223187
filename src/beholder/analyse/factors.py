"""factors: one row per level of every column that the manifest has beside its own, and of groups of participants."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.groups import Groups, by_group
from beholder.analyse.notes import interval_citation, kind_note, unit_note
from beholder.analyse.result import Result
from beholder.analyse.table import COMPARISONS, Ratings, as_ratings

PREFIX, OTHER = "factor_", "other_factor_"
"""Of the stimulus that a rating speaks for, and of the one that it was compared with."""


def factors(data: pd.DataFrame | Ratings) -> Result | None:
    """Return n, mean, sd, median, quartiles and intervals of every level of every factor, per question.

    A factor is a column `factor_<name>` of the ratings; where two are compared, `other_factor_<name>` is that of the
    other one. None where there is none.
    """
    ratings = as_ratings(data)
    columns = [str(name) for name in ratings.kept.columns if str(name).startswith(PREFIX)]
    parts = [_of_factor(ratings, column) for column in columns]
    parts = [part for part in parts if len(part)]
    if not parts:
        return None
    table = pd.concat(parts, ignore_index=True)
    order = {name: place for place, name in enumerate(ratings.questions)}
    table = table.sort_values("question", key=lambda names: names.map(order), kind="stable", ignore_index=True)
    note = (
        "Each level of each factor over all stimuli, or all participants, that have it; what has no level is in none. "
        f"{unit_note(ratings, 'stimulus', 'both')}{kind_note(ratings)} Levels may differ in more than this "
        "factor: in their contents, or in other factors."
    )
    return Result(table, note, interval_citation(ratings, "both"))


def _of_factor(ratings: Ratings, column: str) -> pd.DataFrame:
    """Return the rows of one factor."""
    votes = _with_level(ratings, column)
    names = sorted(votes["level"].unique())
    table = by_group(ratings, votes, Groups("level", names))
    table.insert(1, "factor", column.removeprefix(PREFIX))
    return table


def _with_level(ratings: Ratings, column: str) -> pd.DataFrame:
    """Return the votes that have a level of the factor; a comparison counts for the levels of both stimuli."""
    kept = ratings.kept.assign(level=ratings.kept[column].fillna("").astype(str))
    kept = kept[kept["level"] != ""]
    is_compared = kept["question"].map(ratings.kinds).isin(COMPARISONS)
    keys = ["question", "participant", "stimulus", "content", "level"]
    single = kept[~is_compared].groupby(keys, sort=True, observed=True)["value"].mean().reset_index()
    whose = "participant" if _is_of_people(kept) else "stimulus"
    of_people = kept.drop_duplicates("participant").set_index("participant")["level"]
    levels = of_people if whose == "participant" else _levels(ratings.kept, column)
    both = ratings.table[ratings.table["question"].map(ratings.kinds).isin(COMPARISONS)]
    compared = both.assign(level=both[whose].map(levels)).dropna(subset=["level"])
    return pd.concat([single, compared[[*keys, "value"]]], ignore_index=True)


def _levels(kept: pd.DataFrame, column: str) -> pd.Series:
    """Return the level of each stimulus that has one, be it the one that was judged or the one beside it."""
    sides = [("stimulus", column), ("other_stimulus", OTHER + column.removeprefix(PREFIX))]
    found = [
        kept[[stimulus, level]].set_axis(["stimulus", "level"], axis=1) for stimulus, level in sides if level in kept
    ]
    known = pd.concat(found).dropna().drop_duplicates().astype(str)
    known = known[known["level"] != ""]
    # What differs between participants is no level of a stimulus: both sides of a comparison would cancel out in it.
    return known.drop_duplicates("stimulus", keep=False).set_index("stimulus")["level"]


def _is_of_people(votes: pd.DataFrame) -> bool:
    """Return whether a factor is between participants: each has one level, and some stimulus has several."""
    by_person = votes.groupby("participant", observed=True)["level"].nunique()
    by_stimulus = votes.groupby("stimulus", observed=True)["level"].nunique()
    return bool((by_person <= 1).all() and (by_stimulus > 1).any())
