"""Tables of a comparison as papers print them: every side against the first, and all of them in one triangle;
and those who failed a rule against the first.

They are laid out as Tables II to IX of Naderi and Cutler, with a row for each run and one for their average, and as
Tables 7 and 8 of Cutler et al., with a row for every two runs and a column for each question.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from beholder.analysis.failures import (
    GROUP_COLUMNS,
    failure_groups,
    group_sizes,
    group_words,
    measures_against,
    stimulus_means,
)
from beholder.analysis.ratings import Ratings, tidy
from beholder.analysis.result import Result, records
from beholder.analysis.score_tables import DIFFERENTIAL, is_differential
from beholder.analysis.sides import Side
from beholder.analysis.tests import ALPHA
from beholder.columns import names_of
from beholder.comparison.agreement import DEPENDENT
from beholder.comparison.agreement import MEASURES as _CORRELATIONS
from beholder.comparison.sides import LEVELS, scores_of
from beholder.formats import NONE, number, p_value, percent
from beholder.reporting.sensitivity import criterion_title
from beholder.reporting.sheets import TextTable
from beholder.stats.correlation import compare_dependent, varies
from beholder.stats.intervals import welch
from beholder.stats.tests import holm

_FEWEST = 3
"""Sides from which on there is something to average, or to lay out as a matrix."""
AVERAGE = "average"
_MEASURES = ("pearson", "spearman", "rmse", "rmse_mapped")
_HEADS = ("PCC", "SRCC", "RMSE", "RMSE FOM")
_DIFFERENTIAL = tuple(f"dmos_{name}" for name in _MEASURES)
COLUMNS = ["level", "question", "side", "other_side", "n", *_MEASURES, "differ", *_DIFFERENTIAL]
_CITATION = "Naderi and Cutler, A crowdsourcing approach to video quality assessment"


def accuracy(
    agreement: pd.DataFrame, names: Sequence[str], tested: Mapping[str, Result | None] | None = None
) -> Result | None:
    """Return every side against the first, by stimulus and by condition, and their average; None below three sides.

    Scores against a reference stand beside the others, where the sides have them. `tested` are the differences of
    stimuli and conditions, by level.
    """
    if len(names) < _FEWEST:
        return None
    first = agreement[(agreement["side"] == names[0]) & (agreement["question"] != "")]
    rows: list[dict[str, object]] = []
    for level in LEVELS:
        of_level = first[first["level"] == level]
        for question in [name for name in dict.fromkeys(of_level["question"]) if not is_differential(name)]:
            beside = _by_side(of_level, question + DIFFERENTIAL)
            differing = _differing(tested, level, question, names[0])
            own = [
                {
                    "level": level, "question": question, "side": names[0], "other_side": other, "n": row["n"],
                    **{name: row[name] for name in _MEASURES}, "differ": differing.get(other, math.nan),
                    **{f"dmos_{name}": beside.get(other, {}).get(name, math.nan) for name in _MEASURES},
                }
                for other, row in _by_side(of_level, question).items()
            ]  # fmt: skip
            rows += own
            if len(own) > 1:
                values = pd.DataFrame(own)
                means = {name: float(values[name].mean()) for name in (*_MEASURES, "differ", *_DIFFERENTIAL)}
                rows.append(
                    {"level": level, "question": question, "side": names[0], "other_side": AVERAGE, "n": math.nan}
                    | means
                )
    if not rows:
        return None
    note = (
        "Every side against the first: Pearson's and Spearman's correlation, root mean square error, and the same "
        "after the straight line that maps the side to the first (first-order mapping), as in agreement. differ: share "
        "of the stimuli or conditions that differ clearly (Welch's t, Holm's correction). dmos_*: the same of scores "
        "against the reference. average: the plain mean of the rows above it, as papers print it; that of correlations "
        "on Fisher's scale is a little higher."
    )
    return Result(pd.DataFrame(rows, columns=COLUMNS), note, _CITATION)


def _differing(tested: Mapping[str, Result | None] | None, level: str, question: str, first: str) -> dict[str, float]:
    """Return the share of what could be tested that differs clearly from the first side, by side."""
    result = (tested or {}).get(level)
    if result is None:
        return {}
    table = result.table
    own = table[(table["question"] == question) & (table["side"] == first) & table["clear"].notna()]
    return {str(side): float(share) for side, share in (own["clear"] == 1).groupby(own["other_side"]).mean().items()}


def _by_side(table: pd.DataFrame, question: str) -> dict[str, Mapping[str, float]]:
    return {row["other_side"]: row for row in records(table[table["question"] == question])}


def triangles(agreement: pd.DataFrame, names: Sequence[str]) -> Result | None:
    """Return sides by sides, Pearson's correlations above the diagonal and Spearman's below; None below three sides."""
    if len(names) < _FEWEST:
        return None
    rows = []
    named = agreement[agreement["question"] != ""]
    for (level, question), part in named.groupby(["level", "question"], sort=False):
        known: dict[tuple[str, str], float] = {}
        for row in records(part):
            known[row["side"], row["other_side"]] = row["pearson"]
            known[row["other_side"], row["side"]] = row["spearman"]
        for name in names:
            cells = {other: known.get((name, other), math.nan) for other in names}
            rows.append({"level": level, "question": question, "side": name, **cells})
    note = (
        "Every side against every other: Pearson's correlation above the diagonal, Spearman's below it; the numbers "
        "are those of agreement."
    )
    return Result(pd.DataFrame(rows), note, _CITATION) if rows else None


# Those who failed a rule, against the first side


_TESTED = ("pearson", "spearman", "rmse", "rmse_mapped", "z", "p", "p_one_sided", "differ")
FAILURE_COLUMNS = ["side", "question", *names_of(GROUP_COLUMNS), *_TESTED]
_FEWEST_SHARED = 4


def failures_against_first(sides: Sequence[Side], questions: Sequence[str]) -> Result | None:
    """Return the agreement with the first side of those who failed each rule, beside those who passed everything.

    Sides of the same study are taken together, as five runs of it are. None where no other study has a failure.
    """
    first, rows = sides[0], list[tuple[object, ...]]()
    for name, ratings in _studies(sides).items():
        groups = failure_groups(ratings)
        for question in [one for one in questions if one in ratings.questions]:
            standard = scores_of(first, question, "stimulus").set_index("name")
            passed = {one.by: stimulus_means(one.ratings.table, question) for one in groups if not one.criterion}
            for group in groups:
                own = group.ratings.table[group.ratings.table["question"] == question]
                if own["stimulus"].isin(standard.index).any():
                    sizes = group_sizes(group.ratings, question)
                    measures = measures_against(own, standard["mean"])
                    tested = _against_passed(own, standard["mean"], passed.get(group.by)) if group.criterion else _NONE
                    rows.append((name, question, *group[:5], *sizes, *measures, *tested, _differ(own, standard)))
    if not rows:
        return None
    note = (
        f"Mean of each stimulus by the ratings of a group against those of {first.name}: correlations, errors, and "
        "errors after a straight line. z, p: whether the group correlates with it as those do who passed everything, "
        "over the stimuli that all three have (Meng, Rosenthal and Rubin, dependent correlations; p_one_sided as some "
        "papers print it). differ: share of the stimuli that differ clearly (Welch's t, Holm's correction); empty "
        "where the first side has no sd and n. Sides of the same study are taken together."
    )
    return Result(pd.DataFrame(rows, columns=FAILURE_COLUMNS), note, f"{_CITATION}; {DEPENDENT}")


_NONE = (math.nan,) * 3


def _studies(sides: Sequence[Side]) -> dict[str, Ratings]:
    """Return the ratings of every study but that of the first side, all its sides together."""
    first, by_study = sides[0], dict[str, list[Side]]()
    for side in sides[1:]:
        if side.ratings is not None and (first.ratings is None or side.study != first.study):
            by_study.setdefault(side.study or side.name, []).append(side)
    return {(some[0].name if len(some) == 1 else study): _together(some) for study, some in by_study.items()}


def _together(sides: Sequence[Side]) -> Ratings:
    every = [side.ratings for side in sides if side.ratings is not None]
    if len(every) == 1:
        return every[0]
    rows = pd.concat([one.rows for one in every], ignore_index=True).assign(unit="")
    told = [
        {key: text for one in every for key, text in getattr(one, name).items()}
        for name in ("session_reasons", "session_failures")
    ]
    return replace(tidy(rows, every[0].order), session_reasons=told[0], session_failures=told[1])


def _against_passed(own: pd.DataFrame, standard: pd.Series, passed: pd.Series | None) -> tuple[float, float, float]:
    """Return z and both p-values of the difference of two correlations with the standard."""
    if passed is None:
        return _NONE
    means = [standard, passed, own.groupby("stimulus", sort=False)["value"].mean()]
    shared = pd.concat(means, axis=1, join="inner").to_numpy(float).T
    if shared.shape[1] < _FEWEST_SHARED or not all(map(varies, shared)):
        return _NONE
    r = np.corrcoef(shared)
    tested = compare_dependent(r[0, 1], r[0, 2], r[1, 2], shared.shape[1])
    return tested.z, tested.p, tested.p_one_sided


def _differ(own: pd.DataFrame, standard: pd.DataFrame) -> float:
    """Return the share of stimuli whose means differ clearly; NaN where nothing can be tested."""
    stats = own.groupby("stimulus", sort=False)["value"].agg(["mean", "sem", "count"])
    both = stats.join(standard[["mean", "se", "df"]].rename(columns={"mean": "other"}), how="inner")
    test = welch(both["mean"], both["sem"], both["count"] - 1, both["other"], both["se"], both["df"])
    p = holm(test.p)
    return float((p[~np.isnan(p)] < ALPHA).mean()) if (~np.isnan(p)).any() else math.nan


def paper_failure_sheet(table: pd.DataFrame) -> TextTable:
    """Return the groups of those who passed and failed, as a reader sees them."""
    has_many = table[["side", "question"]].drop_duplicates().shape[0] > 1
    rows = [
        (
            *((row["side"], row["question"]) if has_many else ()),
            group_words(row, criterion_title(row["criterion"])), f"{row['sessions']:,.0f}",
            number(row["per_stimulus"], 1), *(number(row[name], 2) for name in _MEASURES), p_value(row["p"]),
            _share(row["differ"]),
        )
        for row in records(table)
    ]  # fmt: skip
    heads = ("Group", "Sessions", "Per stimulus", *_HEADS, "p against all passed", "Differ clearly")
    return TextTable((*(("Side", "Question") if has_many else ()), *heads), rows, 1 + 2 * has_many)


# Every two sides by question

_KEPT = ("level", "measure", "side", "other_side")
"""Columns before those of the questions."""


def by_question(table: pd.DataFrame) -> Result | None:
    """Return correlations and errors with a row for every two sides and a column for each question, as papers print.

    Below them the plain average of each column. None where there are only two sides.
    """
    rated = table[table["question"] != ""]
    rated = rated.assign(question=[f"{name} (question)" if name in _KEPT else name for name in rated["question"]])
    questions = list(dict.fromkeys(rated["question"]))
    if len(rated[["side", "other_side"]].drop_duplicates()) < 2:
        return None
    parts = []
    for level in dict.fromkeys(rated["level"]):
        mine = rated[rated["level"] == level]
        pairs = list(dict.fromkeys(zip(mine["side"], mine["other_side"], strict=True)))
        for measure in (*_CORRELATIONS, "rmse"):
            wide = mine.pivot(index=["side", "other_side"], columns="question", values=measure).reindex(pairs)
            wide = wide.reindex(columns=questions)
            average = wide.mean().to_frame().T.assign(side=AVERAGE, other_side="")
            whole = pd.concat([wide.reset_index(), average], ignore_index=True).assign(level=level, measure=measure)
            parts.append(whole[[*_KEPT, *questions]])
    note = (
        "The numbers of agreement, a row for every two sides and a column for each question. average: the plain mean "
        "of the column, as papers print it; agreement averages correlations on Fisher's z scale."
    )
    whole = pd.concat(parts, ignore_index=True).rename_axis(columns=None)
    return Result(whole, note, "Cutler, Naderi, Gopal and Palle, Photorealistic avatar quality of experience")


# As a reader sees them


def accuracy_sheet(table: pd.DataFrame) -> TextTable:
    """Return the agreement with the first side, run by run, beside it that of scores against a reference."""
    has_differential = bool(table[list(_DIFFERENTIAL)].notna().any(axis=None))
    columns = (*_MEASURES, *(_DIFFERENTIAL if has_differential else ()))
    heads = [f"{score} {name}" for score in ("MOS", "DMOS") for name in _HEADS] if has_differential else [*_HEADS]
    has_tests = bool(table["differ"].notna().any())
    heads += ["Differ clearly"] if has_tests else []
    has_questions = table["question"].nunique() > 1
    rows = [
        (
            *((row["question"],) if has_questions else ()), _things(row["level"]), row["other_side"],
            NONE if row["n"] != row["n"] else f"{row['n']:,.0f}", *(number(row[name], 3) for name in columns),
            *((_share(row["differ"]),) if has_tests else ()),
        )
        for row in records(table)
    ]  # fmt: skip
    return TextTable((*(("Question",) if has_questions else ()), "Over", "Side", "n", *heads), rows, 2 + has_questions)


def by_question_sheet(table: pd.DataFrame) -> TextTable:
    """Return the rows of one measure: every two sides by question, and the average below."""
    questions = [name for name in table.columns if name not in _KEPT]
    rows = [
        (f"{row['side']} – {row['other_side']}" if row["other_side"] else "Average",
         *(number(row[name], 3) for name in questions))
        for row in records(table)
    ]  # fmt: skip
    return TextTable(("Sides", *map(str, questions)), rows)


def triangle_sheet(table: pd.DataFrame, names: Sequence[str]) -> TextTable:
    """Return the correlations of stimuli, and beside them those of conditions, for each question."""
    questions = list(dict.fromkeys(table["question"]))
    levels = [level for level in LEVELS if level in set(table["level"])]
    cells = {(row["level"], row["question"], row["side"]): row for row in records(table)}
    rows = []
    for question in questions:
        for name in names:
            numbers = [
                number(cells[level, question, name][other], 3) if (level, question, name) in cells else NONE
                for level in levels
                for other in names
            ]
            rows.append((*((question,) if len(questions) > 1 else ()), name, *numbers))
    heads = [f"{other}, {_things(level)}" if len(levels) > 1 else other for level in levels for other in names]
    is_many = len(questions) > 1
    return TextTable((*(("Question",) if is_many else ()), "Side", *heads), rows, 1 + is_many)


def triangle_averages(table: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the mean of all correlations above the diagonal and below it, a sentence for each level and question."""
    sentences = []
    for (level, question), part in table.groupby(["level", "question"], sort=False):
        matrix = part.set_index("side")[list(names)]
        pairs = [(one, other) for place, one in enumerate(names) for other in names[place + 1 :]]
        means = [
            pd.Series([matrix.loc[one, other] if above else matrix.loc[other, one] for one, other in pairs]).mean()
            for above in (True, False)
        ]
        if not any(map(math.isnan, means)):
            whose = f"{question}, {_things(str(level))}"
            sentences.append(f"{whose}: on average {number(means[0], 3)} and {number(means[1], 3)}.")
    return sentences


def _share(share: float) -> str:
    return NONE if share != share else percent(share)


def _things(level: str) -> str:
    return "stimuli" if level == "stimulus" else "conditions"
