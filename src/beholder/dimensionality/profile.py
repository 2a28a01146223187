"""profile: every condition on every question, over all levels of a factor or for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from beholder.analyse.factors import PREFIX
from beholder.analyse.groups import Groups, averaged, by_group, codes_of
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings
from beholder.dimensions.correlations import turned_note
from beholder.dimensions.joined import Data, Joined, Part, join, turned_means
from beholder.errors import Problem, UserError, did_you_mean
from beholder.stats.clustered import CITATION, Cells, mean_of
from beholder.stats.interval import STUDENT

COLUMNS = ["question", "condition", "level", "n", "mean", "ci_low", "ci_high"]
_VOTE = ["question", "participant", "stimulus", "content", "condition", "level"]


def profile(
    data: Data | Sequence[Data],
    *,
    factor: str | None = None,
    questions: Sequence[str] | None = None,
    conditions: Sequence[str] | None = None,
) -> Result:
    """Return the mean of every condition on every question with its interval.

    With a `factor`, a column of the manifest, there is a row for each of its `level`s too, and the row without a level
    is the average over them, each weighing the same. `questions` and `conditions` are all when left out.
    """
    joined = join(data)
    check_names("questions", questions or (), joined.questions)
    check_names("conditions", conditions or (), joined.conditions)
    table = joined.means.assign(level="")[COLUMNS]
    note = "Mean of every condition, every content weighing the same, with its 95 % interval."
    if factor is not None:
        table, more = _by_level(joined, factor, table)
        note += more
    if questions is not None:
        table = table[table["question"].isin(list(questions))]
    if conditions is not None:
        table = table[table["condition"].isin(list(conditions))]
    return Result(table.reset_index(drop=True), note + turned_note(joined), f"{STUDENT}; {CITATION}", _draw)


def check_names(where: str, wanted: Sequence[str], known: Sequence[str]) -> None:
    """Raise UserError for every name that is not known."""
    problems = [
        Problem(where, f"has {name}, which is not there", ", ".join(known), did_you_mean(name, known))
        for name in wanted
        if name not in known
    ]
    if problems:
        raise UserError(problems)


def factors_of(joined: Joined) -> list[str]:
    """Return the columns of the manifests by which there can be levels."""
    tables = [part.side.ratings.kept for part in joined.parts if part.side.ratings is not None]
    found = [str(name) for table in tables for name in table.columns if str(name).startswith(PREFIX)]
    return list(dict.fromkeys(name.removeprefix(PREFIX) for name in found))


def _by_level(joined: Joined, factor: str, table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    known = factors_of(joined)
    if factor not in known:
        allowed = ", ".join(known) or "a column of the manifest; these ratings have none"
        raise UserError(Problem("factor", f"is {factor}, and no rating has it", allowed, did_you_mean(factor, known)))
    parts: list[pd.DataFrame] = []
    plain: list[str] = []
    for part in joined.parts:
        ratings = part.side.ratings
        if ratings is None or f"{PREFIX}{factor}" not in ratings.kept:
            parts.append(table[table["question"].isin(part.questions)])
            plain += part.questions
        else:
            parts.append(_of_part(part, ratings, f"{PREFIX}{factor}"))
    note = f" level: of {factor}; where it is empty, the average over all levels, each weighing the same."
    if plain:
        note += f" Without {factor}, so as they are: {', '.join(plain)}."
    return pd.concat(parts, ignore_index=True), note


def _of_part(part: Part, ratings: Ratings, column: str) -> pd.DataFrame:
    """Return the conditions of one study, first over all levels and then for each."""
    asked = [name for name in ratings.questions if name in part.names]
    kept = ratings.kept[ratings.kept["question"].isin(asked)]
    kept = kept.assign(level=kept[column].fillna("").astype(str))
    votes = kept[kept["level"] != ""].groupby(_VOTE, sort=True, observed=True)["value"].mean().reset_index()
    whole = [_over_levels(ratings, part, votes, question, name) for question in asked for name in ratings.conditions]
    found = [pd.DataFrame([row for row in whole if row is not None], columns=COLUMNS)]
    for level in sorted(votes["level"].unique()):
        groups = Groups("condition", ratings.conditions, equal="content", narrower=())
        mine = by_group(ratings, votes[votes["level"] == level], groups)
        found.append(mine.assign(question=mine["question"].map(part.names), level=level)[COLUMNS])
    return turned_means(pd.concat([one for one in found if len(one)] or found, ignore_index=True), part)


def _over_levels(
    ratings: Ratings, part: Part, votes: pd.DataFrame, question: str, condition: str
) -> dict[str, Any] | None:
    mine = votes[(votes["question"] == question) & (votes["condition"] == condition)]
    if mine.empty:
        return None
    codes = [codes_of(mine[name]) for name in ("participant", "content", "level")]
    value, (participant, content, level) = averaged(mine["value"].to_numpy(float), *codes)
    found = mean_of(Cells(value, participant, content), equal=level)
    has_interval = found.participants > 1
    return {
        "question": part.names[question], "condition": condition, "level": "", "n": len(mine), "mean": found.mean,
        "ci_low": found.low if has_interval else float("nan"), "ci_high": found.high if has_interval else float("nan"),
    }  # fmt: skip


def _draw(table: pd.DataFrame) -> Any:
    from beholder.analyse.plots.profile import profile_chart

    return profile_chart(table)
