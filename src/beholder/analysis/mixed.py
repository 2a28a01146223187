"""mixed, variances and runs: mixed models with random participants and contents, and the effect of runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analysis.columns import CI_HIGH, CI_LOW, CONDITION, DF, NOTE, QUESTION, RATINGS_N, SE, P
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.figures.raters import variances_chart
from beholder.analysis.means import average_by, codes_of, scale_ends
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.stats.crossed import (
    CITATION,
    EQUIVALENCE_MARGIN,
    RUN_EFFECT_CITATION,
    CrossedModel,
    fit_crossed,
    run_effect,
)
from beholder.stats.intervals import t_bounds
from beholder.stats.mixed import Codes, count_components

SOURCES = ("condition", "participant", "content", "residual")
_KINDS = ("score", "diff")


class _QuestionModel(NamedTuple):
    """The model of one question."""

    question: str
    names: list[str]
    """Of the conditions that were rated, in the order of the study."""
    n: Codes
    """Ratings of each of them."""
    levels: dict[str, int]
    """Participants and contents."""
    absent: dict[str, str]
    """Why a source is not in the model."""
    model: CrossedModel


def mixed(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the mean of every condition by a mixed model; None where no question can have one.

    Of questions that are answered by a number: value ~ condition + (1 | participant) + (1 | content), by REML.
    """
    parts = []
    for fitted in _models(as_ratings(data)):
        model = fitted.model
        se = np.sqrt(np.diag(model.covariance))
        low, high = t_bounds(model.mean, se, model.df)
        note = "; ".join(f"without {source}s: {why}" for source, why in fitted.absent.items())
        parts.append(
            pd.DataFrame(
                {
                    "question": fitted.question, "condition": fitted.names, "n": fitted.n, "mean": model.mean, "se": se,
                    "df": model.df, "ci_low": low, "ci_high": high, "note": note,
                }
            )
        )  # fmt: skip
    if not parts:
        return None
    note = (
        "Linear mixed model by REML: condition fixed, participant and content random and crossed. 95 % Student t with "
        "Satterthwaite's degrees of freedom, from what participants, contents and the rest have in the variance of a "
        "mean; it generalises over participants and contents. The model knows that some people are strict and some "
        "contents easy. It takes for granted that no person, and no content, favours a condition more than others do. "
        "Where they do its errors of differences are too small, so scores and pairs go by the clustered error, which "
        "asks for no such thing; where both agree this model stands beside it as a check."
    )
    return MIXED.result(pd.concat(parts, ignore_index=True)[MIXED.names], note)


MIXED = Analysis(
    "mixed",
    mixed,
    (
        QUESTION, CONDITION, RATINGS_N,
        Column("mean", "number", "Mean of the condition, participants and contents being random."),
        SE,
        Column("df", "number", "Satterthwaite's degrees of freedom."),
        CI_LOW, CI_HIGH, NOTE,
    ),
    row="condition and question",
    holds="mean and 95 % interval by a mixed model",
    citation=CITATION,
    order=16,
)  # fmt: skip


def variances(data: pd.DataFrame | Ratings) -> Result | None:
    """Return how much conditions, participants, contents and the rest add to what ratings differ by, per question."""
    rows = []
    for fitted in _models(as_ratings(data)):
        model = fitted.model
        components = dict(zip(SOURCES, (model.groups, model.one, model.other, model.residual), strict=True))
        levels = {"condition": len(fitted.names), **fitted.levels, "residual": int(fitted.n.sum())}
        whole = sum(variance for variance in components.values() if variance == variance)
        for source, variance in components.items():
            is_tested = source == "condition" and len(fitted.names) > 1
            test = (model.chi2, len(fitted.names) - 1, model.p) if is_tested else (np.nan,) * 3
            why = "one condition" if source == "condition" and not is_tested else fitted.absent.get(source, "")
            rows.append(
                (fitted.question, source, levels[source], variance, variance**0.5, variance / whole, *test, why)
            )
    if not rows:
        return None
    note = (
        "The variances of the model of mixed.csv. condition: between the means of the conditions, without what chance "
        "adds; its statistic is the likelihood ratio against a model without conditions, chi² with conditions - 1 "
        "degrees of freedom, by ML. residual: what one person says of one stimulus beside all of this, with whatever a "
        "person or a content favours. share: of the sum of the variances. levels: how many conditions, participants "
        "and contents there are; of residual, ratings."
    )
    return VARIANCES.result(pd.DataFrame(rows, columns=VARIANCES.names), note)


VARIANCES = Analysis(
    "variances",
    variances,
    (
        QUESTION,
        Column("source", "text", "What the differences come from.", SOURCES),
        Column("levels", "integer", "How many there are; of residual, ratings."),
        Column("variance", "number", "Variance; empty where it is not in the model."),
        Column("sd", "number", "Its root."),
        Column("share", "number", "Its share of the sum of the variances."),
        Column("statistic", "number", "Of condition: likelihood ratio against a model without conditions."),
        DF, P, NOTE,
    ),
    row="question and source of differences",
    holds="variance of conditions, participants, contents and the rest, and its share",
    citation=CITATION,
    draw=variances_chart,
    order=17,
)  # fmt: skip


def _models(ratings: Ratings) -> list[_QuestionModel]:
    return ratings.cached("mixed", lambda: list(_fitted(ratings)))


def _fitted(ratings: Ratings) -> Iterator[_QuestionModel]:
    """Yield the model of every question that can have one."""
    for question in ratings.questions:
        # What counts for both conditions of a comparison is not two ratings.
        if ratings.kinds[question] not in _KINDS or ratings.is_mirrored(question):
            continue
        table = ratings.table[ratings.table["question"] == question]
        codes_in_order = codes_of(table["condition"], ratings.conditions)
        present, condition = np.unique(codes_in_order, return_inverse=True)
        participant, content = codes_of(table["participant"]), codes_of(table["content"])
        model = fit_crossed(table["value"].to_numpy(float), condition, participant, content)
        if model is None:
            continue
        codes = {"participant": participant, "content": content}
        levels = {name: int(code.max()) + 1 for name, code in codes.items()}
        known = {"participant": model.one, "content": model.other}
        absent = {name: _why(name, codes[name], condition) for name in codes if known[name] != known[name]}
        names = [ratings.conditions[place] for place in present]
        yield _QuestionModel(question, names, np.bincount(condition), levels, absent, model)


def _why(name: str, code: Codes, condition: Codes) -> str:
    """Return why a source of differences is not in the model."""
    size = int(code.max()) + 1
    if size == 1:
        return f"one {name}"
    if size == count_components(code, condition):
        return f"every condition has a {name} of its own"
    return f"one rating of each {name}" if size == len(code) else f"too few ratings of each {name}"


# runs: reproducibility of scores over runs of a study (ITU-T P.910; reference: statistics 6)


def runs(data: pd.DataFrame | Ratings, *, margin: float | None = None) -> Result | None:
    """Return whether runs differ, and by how much every two of them; None for a single run.

    Runs are the values of the column `run`. `margin` is what two runs may differ by and still be called equivalent, in
    points of the scale; a twentieth of its width unless given.
    """
    ratings = as_ratings(data)
    if "run" not in ratings.used or ratings.used["run"].nunique() < 2:
        return None
    rows = [row for question in ratings.questions for row in _rows(ratings, question, margin)]
    if not rows:
        return None
    note = (
        "Score ~ stimulus + run (fixed) + participant (random). A row without runs is of all: the likelihood ratio "
        "against the same model without runs, ML, chi² with runs - 1 degrees of freedom. The others are of two runs: "
        "the difference on the same stimuli by REML, with 95 % Student t over participants, not corrected for their "
        "number. That runs do not differ clearly does not make them the same, so equivalent is a test of its own: yes "
        "where the 90 % interval of the difference lies within ± margin (two one-sided tests at 5 %), no where the "
        f"95 % interval lies beyond it, else undecided. margin: {_margin_text(margin)}."
    )
    return RUNS.result(pd.DataFrame(rows, columns=RUNS.names), note)


RUNS = Analysis(
    "runs",
    runs,
    (
        QUESTION,
        Column("run", "text", "A run; empty in the row of all of them."),
        Column("other_run", "text", "The run with which it is compared."),
        Column("difference", "number", "How far the first is above the second on the same stimuli."),
        SE, CI_LOW, CI_HIGH,
        Column("statistic", "number", "t of the difference; in a row without runs the likelihood ratio of all."),
        DF, P,
        Column("margin", "number", "What runs may differ by and still be called equivalent, in points."),
        Column("equivalent", "text", "Whether they are; empty in the row of all.", ("yes", "no", "undecided")),
        NOTE,
    ),
    row="question, then every two runs",
    holds="whether runs differ, and whether they are equivalent",
    citation=RUN_EFFECT_CITATION,
    order=18,
)  # fmt: skip


def _margin_text(margin: float | None) -> str:
    return (
        f"{100 * EQUIVALENCE_MARGIN:g} % of the width of the scale"
        if margin is None
        else f"{margin:g} points, as asked"
    )


def _rows(ratings: Ratings, question: str, margin: float | None) -> Iterator[tuple[object, ...]]:
    """Yield a row for all runs of a question, then one for every two."""
    if ratings.kinds[question] not in _KINDS or ratings.is_mirrored(question):
        return
    kept = ratings.used[(ratings.used["question"] == question) & ratings.used["run"].notna()]
    named = kept["run"].map(_name)
    names = sorted(dict.fromkeys(named), key=lambda name: (len(name), name) if name.isdecimal() else (99, name))
    if len(names) < 2:
        return
    codes = codes_of(kept["stimulus"]), codes_of(named, names), codes_of(kept["participant"])
    value, (stimulus, run, rater) = average_by(kept["value"].to_numpy(float), *codes)
    low, high, _ = scale_ends(ratings, question)
    wide = EQUIVALENCE_MARGIN * (high - low) if margin is None else margin
    effect = run_effect(value, stimulus, run, rater, margin=wide)
    nan = np.nan
    yield question, "", "", nan, nan, nan, nan, effect.chi2, effect.df, effect.p, nan, "", effect.note
    for one in effect.differences:
        yield (
            question, names[one.run], names[one.other], one.difference, one.se, one.low, one.high,
            one.difference / one.se, one.df, one.p, wide, one.equivalent, "",
        )  # fmt: skip


def _name(run: object) -> str:
    """Return what a run is called; a table with gaps has its numbers as fractions."""
    return f"{run:g}" if isinstance(run, float) else str(run)
