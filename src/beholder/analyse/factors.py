"""factors: one row per level of every column that the manifest has beside its own."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.groups import Groups, by_group
from beholder.analyse.notes import interval_citation, kind_note, unit_note
from beholder.analyse.result import Result
from beholder.analyse.table import COMPARISONS, Ratings, as_ratings

PREFIX = "factor_"


def factors(data: pd.DataFrame | Ratings) -> Result | None:
    """Return n, mean, sd, median, quartiles and intervals of every level of every factor, per question.

    A factor is a column `factor_<name>` of the ratings. None where there is none.
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
        "Each level of each factor of the manifest over all stimuli that have it; a stimulus without a level is in "
        f"none. {unit_note(ratings, 'stimulus', 'both')}{kind_note(ratings)} Levels may differ in more than this "
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
    levels = kept[is_compared].drop_duplicates("stimulus").set_index("stimulus")["level"]
    both = ratings.table[ratings.table["question"].map(ratings.kinds).isin(COMPARISONS)]
    compared = both.assign(level=both["stimulus"].map(levels)).dropna(subset=["level"])
    return pd.concat([single, compared[[*keys, "value"]]], ignore_index=True)
