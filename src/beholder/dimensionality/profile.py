"""profile: every condition on every question, over all levels of a factor or for each of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from beholder.analysis.factors import FACTOR_PREFIX
from beholder.analysis.means import MeanGroups, average_by, codes_of, group_means
from beholder.analysis.ratings import Ratings
from beholder.analysis.result import Result
from beholder.dimensionality.data import (
    LEVELS,
    MEANING,
    NAMES,
    Data,
    Joined,
    JoinedStudy,
    Level,
    LevelRows,
    join,
    rows_of,
)
from beholder.errors import Problem, UserError, did_you_mean
from beholder.stats.clustered import CITATION as CLUSTERED_CITATION
from beholder.stats.clustered import Cells, mean_of
from beholder.stats.correlation import mean_correlation, pearson_interval
from beholder.stats.intervals import STUDENT_CITATION, t_interval

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
    questions = [joined.name_of(name) for name in questions] if questions is not None else None
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
    return Result(
        table.reset_index(drop=True), note + turned_note(joined), f"{STUDENT_CITATION}; {CLUSTERED_CITATION}", _draw
    )


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
    tables = [part.side.ratings.used for part in joined.parts if part.side.ratings is not None]
    columns = [str(name) for table in tables for name in table.columns if str(name).startswith(FACTOR_PREFIX)]
    return list(dict.fromkeys(name.removeprefix(FACTOR_PREFIX) for name in columns))


def _by_level(joined: Joined, factor: str, table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    known = factors_of(joined)
    if factor not in known:
        allowed = ", ".join(known) or "a column of the manifest; these ratings have none"
        raise UserError(Problem("factor", f"is {factor}, and no rating has it", allowed, did_you_mean(factor, known)))
    parts: list[pd.DataFrame] = []
    plain: list[str] = []
    for part in joined.parts:
        ratings = part.side.ratings
        if ratings is None or f"{FACTOR_PREFIX}{factor}" not in ratings.used:
            parts.append(table[table["question"].isin(part.questions)])
            plain += part.questions
        else:
            parts.append(_of_part(part, ratings, f"{FACTOR_PREFIX}{factor}"))
    note = f" level: of {factor}; where it is empty, the average over all levels, each weighing the same."
    if plain:
        note += f" Without {factor}, so as they are: {', '.join(plain)}."
    return pd.concat(parts, ignore_index=True), note


def _of_part(part: JoinedStudy, ratings: Ratings, column: str) -> pd.DataFrame:
    """Return the conditions of one study, first over all levels and then for each."""
    asked = [name for name in ratings.questions if name in part.names]
    kept = ratings.used[ratings.used["question"].isin(asked)]
    kept = kept.assign(level=kept[column].fillna("").astype(str))
    votes = kept[kept["level"] != ""].groupby(_VOTE, sort=True, observed=True)["value"].mean().reset_index()
    whole = [_over_levels(ratings, part, votes, question, name) for question in asked for name in ratings.conditions]
    tables = [pd.DataFrame([row for row in whole if row is not None], columns=COLUMNS)]
    for level in sorted(votes["level"].unique()):
        groups = MeanGroups(COLUMNS, "condition", ratings.conditions, equal="content", narrower=())
        mine = group_means(ratings, votes[votes["level"] == level], groups)
        tables.append(mine.assign(question=mine["question"].map(part.names), level=level))
    return pd.concat([one for one in tables if len(one)] or tables, ignore_index=True)


def _over_levels(
    ratings: Ratings, part: JoinedStudy, votes: pd.DataFrame, question: str, condition: str
) -> dict[str, Any] | None:
    mine = votes[(votes["question"] == question) & (votes["condition"] == condition)]
    if mine.empty:
        return None
    codes = [codes_of(mine[name]) for name in ("participant", "content", "level")]
    value, (participant, content, level) = average_by(mine["value"].to_numpy(float), *codes)
    estimate = mean_of(Cells(value, participant, content), equal=level)
    has_interval = estimate.participants > 1
    return {
        "question": part.names[question], "condition": condition, "level": "", "n": len(mine), "mean": estimate.mean,
        "ci_low": estimate.low if has_interval else float("nan"),
        "ci_high": estimate.high if has_interval else float("nan"),
    }  # fmt: skip


def _draw(table: pd.DataFrame) -> Any:
    from beholder.analysis.figures.profile import profile_chart

    return profile_chart(table)


# One row per condition: every question and every objective metric


def table(data: Data | Sequence[Data], values: pd.DataFrame | None = None) -> Result:
    """Return conditions x questions x metrics as one wide table.

    `values` holds metric and value, perhaps region, by condition or by stimulus; a stimulus counts for its condition,
    contents weighing the same.
    """
    joined = join(data)
    table = joined.by_condition.copy()
    table.insert(0, "label", [joined.labels[name] for name in table.index])
    if (table["label"] == table.index).all():
        table = table.drop(columns="label")
    note = "Mean of every condition on every question, and of its stimuli on every metric."
    if values is not None:
        metrics = _wide(by_condition(joined, values))
        unknown = sorted(set(metrics.index) - set(table.index))
        table = table.join(metrics.rename(columns={name: f"{name} (metric)" for name in metrics if name in table}))
        if unknown:
            note += f" Nobody rated {', '.join(unknown)}."
    return Result(table.rename_axis("condition").reset_index(), note + turned_note(joined), "")


def metric_names(values: pd.DataFrame) -> pd.Series:
    """Return what each value is of: the metric, with its region behind where there is one."""
    if "region" not in values:
        return values["metric"].astype(str)
    region = values["region"].fillna("").astype(str)
    return values["metric"].astype(str).where(region == "", values["metric"].astype(str) + " (" + region + ")")


def by_condition(joined: Joined, values: pd.DataFrame) -> pd.DataFrame:
    """Return the values with the condition of each stimulus as the ratings have it, those without any left out."""
    if "stimulus" not in values:
        return values
    known = values["stimulus"].map(joined.condition_of)
    own = values["condition"].replace("", None) if "condition" in values else pd.Series(None, index=values.index)
    return values.assign(condition=known.where(known.notna(), own)).dropna(subset=["condition"])


def _wide(values: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each condition, a column for each metric, in the order in which they come."""
    named = values.assign(metric=metric_names(values))
    grid = named.groupby(["condition", "metric"], sort=False)["value"].mean().unstack()
    return grid[list(dict.fromkeys(named["metric"]))].rename_axis(columns=None)


# The same for conditions above and below a threshold of one question


MEANS = ["part", "question", "conditions", "mean", "sd", "ci_low", "ci_high", "mean_pearson"]
RESTRICTED = (
    "Within a part the conditions differ less, which alone lowers correlations: it does not show that questions come "
    "apart."
)


class Half(NamedTuple):
    """What is on one side of a threshold."""

    name: str
    joined: Joined


def halves(data: Data | Sequence[Data], question: str, threshold: float) -> tuple[Half, Half]:
    """Return what lies above the threshold of a question, and what does not.

    Conditions go by their own means and stimuli by theirs; a stimulus without a score on the question goes with its
    condition. What has neither is on no side.
    """
    joined = join(data)
    question = joined.name_of(question)
    check_names("split", [question], joined.questions)
    conditions, stimuli = joined.by_condition[question], joined.by_stimulus[question]
    own = pd.Series({name: joined.condition_of[str(name)] for name in stimuli.index}, dtype=object)
    stimuli = stimuli.where(stimuli.notna(), own.map(conditions).astype(float) if len(own) else stimuli)
    return (
        Half(f"{question} > {threshold:g}", _only(joined, conditions > threshold, stimuli > threshold)),
        Half(f"{question} ≤ {threshold:g}", _only(joined, conditions <= threshold, stimuli <= threshold)),
    )


def split_correlations(
    data: Data | Sequence[Data], question: str, threshold: float, *, levels: Sequence[Level] = LEVELS
) -> Result:
    """Return the correlations between questions once for each side of a threshold."""
    joined = join(data)
    parts = [
        correlations(half.joined, levels=levels).table.assign(part=half.name)
        for half in halves(joined, question, threshold)
    ]
    table = pd.concat([one for one in parts if len(one)] or parts, ignore_index=True)[["part", *CORRELATION_COLUMNS]]
    note = (
        f"{correlation_note(table)} part: conditions by their means on {question}, stimuli by theirs, answers with "
        f"their stimulus. {RESTRICTED}"
    )
    return Result(table, note + turned_note(joined), CITATION)


def split_means(data: Data | Sequence[Data], question: str, threshold: float) -> Result:
    """Return the mean over conditions of every question once for each side of a threshold."""
    joined = join(data)
    rows = [row for half in halves(joined, question, threshold) for row in _means(half)]
    note = (
        f"Conditions by their means on {question}, above {threshold:g} or not. mean, sd and 95 % Student t over "
        "conditions; mean_pearson: of its correlations with the other questions over these conditions, averaged on "
        f"Fisher's z scale. {RESTRICTED}"
    )
    return Result(
        pd.DataFrame(rows, columns=MEANS).astype({"conditions": int}), note + turned_note(joined), STUDENT_CITATION
    )


def _means(half: Half) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for name in half.joined.questions:
        one = t_interval(half.joined.by_condition[name].dropna())
        others = [_pearson(half.joined, name, other) for other in half.joined.questions if other != name]
        together = mean_correlation([r for r in others if not np.isnan(r)])
        rows.append((half.name, name, one.n, one.mean, one.sd, one.low, one.high, together))
    return rows


def _pearson(joined: Joined, one: str, other: str) -> float:
    rows = rows_of(joined, [one, other], "condition")
    return float(rows.correlation[0, 1]) if rows.worth > 3 and all(rows.varies) else float("nan")


def _only(joined: Joined, is_condition: pd.Series, is_stimulus: pd.Series) -> Joined:
    """Return what is known of these conditions and of these stimuli."""
    by_condition, by_stimulus = joined.by_condition[is_condition], joined.by_stimulus[is_stimulus]
    return replace(
        joined,
        parts=tuple(_split_of_part(part, set(by_stimulus.index)) for part in joined.parts),
        means=joined.means[joined.means["condition"].isin(by_condition.index)],
        by_condition=by_condition,
        by_stimulus=by_stimulus,
    )


def _split_of_part(part: JoinedStudy, stimuli: set[str]) -> JoinedStudy:
    if part.items is None:
        return part
    items = part.items
    is_mine = items.stimuli["stimulus"].isin(stimuli).to_numpy(bool)[items.stimulus]
    kept = items._replace(
        value=items.value[is_mine], participant=items.participant[is_mine], stimulus=items.stimulus[is_mine]
    )
    return replace(part, items=kept)


# Correlations of every two questions


CORRELATION_COLUMNS = [
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
    table = pd.DataFrame(rows, columns=CORRELATION_COLUMNS).astype({"n": int})
    return Result(table, correlation_note(table) + turned_note(joined), CITATION, _correlation_draw)


def _at(joined: Joined, level: Level) -> Iterator[dict[str, Any]]:
    whole: dict[int, LevelRows] = {}
    for one, other in combinations(joined.questions, 2):
        part = joined.part_of([one, other])
        if level == "within" and part is not None and part.items is not None and not np.isnan(part.items.value).any():
            # With every cell filled one centring serves all pairs.
            if id(part) not in whole:
                whole[id(part)] = rows_of(joined, part.questions, level)
            places = [part.questions.index(one), part.questions.index(other)]
            rows = LevelRows(whole[id(part)].value[:, places], whole[id(part)].taken)
        else:
            rows = rows_of(joined, [one, other], level)
        if len(rows.value):
            yield {"level": level, "question": one, "other_question": other, **_pair(rows)}


def _pair(rows: LevelRows) -> dict[str, Any]:
    n, df = len(rows.value), rows.worth - 2
    row: dict[str, Any] = dict.fromkeys(CORRELATION_COLUMNS[4:9], math.nan) | {"n": n, "note": ""}
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
    meanings = [f"{level}: {MEANING[level]}" for level in LEVELS if (table["level"] == level).any()]
    note = (
        f"Pearson's r of every two questions over what has both ({'; '.join(meanings) or 'nothing has'}), with its "
        "95 % interval by Fisher's z and its p by Student's t, not corrected for how many there are. At level within, "
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


def _correlation_draw(table: pd.DataFrame) -> Any:
    from beholder.dimensionality.figures import correlations_chart

    return correlations_chart(table)
