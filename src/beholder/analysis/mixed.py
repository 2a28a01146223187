"""mixed, variances and runs: mixed models with random participants and contents, and the effect of runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analysis.columns import (
    CI_HIGH,
    CI_LOW,
    CONDITION,
    DF,
    NOTE,
    QUESTION,
    RATINGS_N,
    SE,
    THESE_HIGH,
    THESE_LOW,
    THESE_P,
    P,
)
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.figures.raters import variances_chart
from beholder.analysis.means import average_by, codes_of, scale_ends
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.formats import precise_percent
from beholder.stats.crossed import (
    CITATION,
    CrossedModel,
    GroupMeans,
    cell_codes,
    fit_crossed,
    fit_fixed_contents,
    is_too_large,
)
from beholder.stats.intervals import t_bounds
from beholder.stats.mixed import Codes, Floats, count_components
from beholder.stats.runs import EQUIVALENCE_MARGIN, RUN_EFFECT_CITATION, run_effect

SOURCES = ("condition", "participant", "content", "participant x condition", "content x condition", "residual")
_LEFT_OUT = {"participant": "participants", "content": "contents"}
_KINDS = ("score", "diff")
_TOO_LARGE = (
    "too many participants, contents and conditions for their interactions: no errors and no test, as without these "
    "they would be too sure"
)
_APART = "conditions share no content, not even through others: no test"


_MIN_CONTENTS = 4
_FEW_CONTENTS = (
    f"fewer than {_MIN_CONTENTS} contents: F finds what is not there in 7 to 9 % of studies; with these contents in 5 %"
)


class _QuestionModel(NamedTuple):
    """The model of one question."""

    question: str
    names: list[str]
    """Of the conditions that were rated, in the order of the study."""
    n: Codes
    """Ratings of each of them."""
    levels: dict[str, int]
    """Of each source but the conditions and the residual."""
    absent: dict[str, str]
    """Why a source is not in the model."""
    model: CrossedModel
    these: GroupMeans | None
    """The same with these contents; None where the ratings leave nothing to chance, or are too many."""
    is_whole: bool
    """Whether the interactions are in the model, so that its errors can be believed."""
    is_connected: bool
    """Whether conditions can be compared: they share contents, at least through others."""


def mixed(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the mean of every condition by a mixed model; None where no question can have one.

    Of questions that are answered by a number: value ~ condition + (1 | participant) + (1 | content) +
    (1 | participant:condition) + (1 | content:condition), by REML.
    """
    ratings = as_ratings(data)
    parts = []
    for fitted in _models(ratings):
        model = fitted.model
        unknown = np.full(len(model.mean), np.nan)
        ends = scale_ends(ratings, fitted.question)[:2]
        se, df = (np.sqrt(np.diag(model.covariance)), model.df) if fitted.is_whole else (unknown, unknown)
        low, high = _bounds(model.mean, se, df, ends, ratings.level)
        these = (unknown, unknown)
        if fitted.is_whole and fitted.these is not None:
            own = np.sqrt(np.diag(fitted.these.covariance))
            these = _bounds(fitted.these.mean, own, fitted.these.df, ends, ratings.level)
        note = "; ".join(f"without {_LEFT_OUT.get(source, source)}: {why}" for source, why in fitted.absent.items())
        parts.append(
            pd.DataFrame(
                {
                    "question": fitted.question, "condition": fitted.names, "n": fitted.n, "mean": model.mean, "se": se,
                    "df": df, "ci_low": low, "ci_high": high, "these_low": these[0], "these_high": these[1],
                    "note": note if fitted.is_whole else _TOO_LARGE,
                }
            )
        )  # fmt: skip
    if not parts:
        return None
    note = (
        "Linear mixed model by REML: condition fixed; participant, content, and what each of them does to single "
        "conditions, random. 95 % Student t with Satterthwaite's degrees of freedom as lmerTest has them. ci_low to "
        "ci_high: contents like these, participants and contents being samples. these_low to these_high: these "
        "contents, content x condition being fixed and only participants a sample; round the mean over these contents, "
        "each counting alike. An end beyond the scale is cut. The model takes for granted that people, and contents, "
        "vary as much in every condition; where one is far more uneven than the others it is too sure of that one, so "
        "scores and pairs go by the clustered error, and this model stands beside it as a check."
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
        CI_LOW, CI_HIGH, THESE_LOW, THESE_HIGH, NOTE,
    ),
    row="condition and question",
    holds="mean and 95 % interval by a mixed model",
    citation=CITATION,
    order=16,
    apart="mixed",
    holds_at_looks=True,
)  # fmt: skip


def variances(data: pd.DataFrame | Ratings) -> Result | None:
    """Return how much conditions, participants, contents and the rest add to what ratings differ by, per question."""
    rows = []
    ratings = as_ratings(data)
    for fitted in _models(ratings):
        model = fitted.model
        components = (model.groups, model.one, model.other, model.one_group, model.other_group, model.residual)
        levels = {"condition": len(fitted.names), **fitted.levels, "residual": int(fitted.n.sum())}
        absent = {"condition": _why_untested(fitted), **fitted.absent}
        whole = sum(variance for variance in components if variance == variance)
        for source, variance in zip(SOURCES, components, strict=True):
            test: tuple[float, ...] = (np.nan,) * 5
            if source == "condition" and not absent[source]:
                p = np.array([model.test.p, fitted.these.test.p if fitted.these else np.nan])
                test = (*model.test[:3], *(p if ratings.look is None else ratings.look.p(p)))
            why = absent.get(source, "") or (_FEW_CONTENTS if source == "condition" and _has_few(fitted) else "")
            rows.append(
                (fitted.question, source, levels[source], variance, variance**0.5, variance / whole, *test, why)
            )
    if not rows:
        return None
    note = (
        "The variances of the model of mixed.csv. condition: between the means of the conditions, without what chance "
        "adds; its statistic is the F test of no difference, by REML with Satterthwaite's degrees of freedom as "
        "lmerTest has them (df, df_error). p is of contents like these, these_p of these contents. participant x "
        "condition: what one person thinks of one condition on any content; content x condition: what a condition does "
        "to one content. residual: what one person says of one stimulus beside all of this. share: of the sum of the "
        "variances. levels: how many there are; of residual, ratings."
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
        Column("statistic", "number", "Of condition: F of no difference between them."),
        DF,
        Column("df_error", "number", "Satterthwaite's degrees of freedom of its error."),
        P, THESE_P, NOTE,
    ),
    row="question and source of differences",
    holds="variance of conditions, participants, contents, their interactions and the rest, and its share",
    citation=CITATION,
    draw=variances_chart,
    order=17,
    apart="mixed",
    holds_at_looks=True,
)  # fmt: skip


def _bounds(mean: Floats, se: Floats, df: Floats, ends: tuple[float, float], level: float) -> tuple[Floats, Floats]:
    """Return the interval within the ends of the scale; a mean is never outside its own."""
    low, high = t_bounds(mean, se, df, level)
    return np.maximum(low, np.minimum(ends[0], mean)), np.minimum(high, np.maximum(ends[1], mean))


def _why_untested(fitted: _QuestionModel) -> str:
    """Return why the conditions of a question are not tested; empty where they are."""
    if len(fitted.names) < 2:
        return "one condition"
    if not fitted.is_connected:
        return _APART
    return "" if fitted.is_whole else _TOO_LARGE


def _has_few(fitted: _QuestionModel) -> bool:
    """Return whether the test beyond these contents rests on so few of them that it finds too much."""
    contents = "content x condition"
    return contents not in fitted.absent and fitted.levels["content"] < _MIN_CONTENTS


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
        value = table["value"].to_numpy(float)
        is_whole = not is_too_large(condition, participant, content)
        model = fit_crossed(value, condition, participant, content, has_interactions=is_whole)
        if model is None:
            continue
        codes = dict(zip(SOURCES[1:], (participant, content), strict=False))
        codes |= {f"{name} x condition": cell_codes(code, condition) for name, code in codes.items()}
        known = (model.one, model.other, model.one_group, model.other_group)
        absent = {
            name: _why(name, codes, condition) if is_whole else _TOO_LARGE
            for name, variance in zip(codes, known, strict=True)
            if variance != variance
        }
        yield _QuestionModel(
            question, [ratings.conditions[place] for place in present], np.bincount(condition),
            {name: int(code.max()) + 1 for name, code in codes.items()}, absent, model,
            fit_fixed_contents(value, condition, participant, content) if is_whole else None,
            is_whole, count_components(content, condition) == 1,
        )  # fmt: skip


def _why(name: str, codes: dict[str, Codes], condition: Codes) -> str:
    """Return why a source of differences is not in the model."""
    code = codes[name]
    size, single = int(code.max()) + 1, name.partition(" ")[0]
    if (levels := int(codes[single].max()) + 1) == 1:
        return f"one {single}"
    if name != single and size == levels:
        return f"every {single} has one condition"
    if size == count_components(code, condition):
        return f"every condition has a {single} of its own"
    if size == len(code):
        return f"one rating of each {single}" if name == single else f"one rating of each {single} and condition"
    return f"too few ratings of each {single}" if name == single else f"too few ratings of each {single} and condition"


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
        "Score ~ stimulus + run (fixed) + participant (random). Rows without runs are of all. likelihood ratio: "
        "against the same model without runs, ML, chi² with runs - 1 degrees of freedom; with few participants it "
        "finds too much. F: by REML, its error over participants, and by this we go. The others are of two runs: the "
        "difference on the same stimuli by REML, with 95 % Student t over participants, not corrected for their "
        "number. That runs do not differ clearly does not make them the same, so equivalent is a test of its own: yes "
        "where the 90 % interval of the difference lies within ± margin (two one-sided tests at 5 %), no where the "
        f"95 % interval lies beyond it, else undecided. margin: {_margin_text(margin)}."
    )
    return RUNS.result(pd.DataFrame(rows, columns=RUNS.names), note)


RUN_TESTS = ("likelihood ratio", "F", "t")
RUNS = Analysis(
    "runs",
    runs,
    (
        QUESTION,
        Column("run", "text", "A run; empty in the rows of all of them."),
        Column("other_run", "text", "The run with which it is compared."),
        Column("difference", "number", "How far the first is above the second on the same stimuli."),
        SE, CI_LOW, CI_HIGH,
        Column("test", "text", "Which test it is; empty where there is none.", RUN_TESTS),
        Column("statistic", "number", "t of the difference, F of all runs, or their likelihood ratio."),
        DF,
        Column("df_error", "number", "Degrees of freedom of the error of F."),
        P,
        Column("margin", "number", "What runs may differ by and still be called equivalent, in points."),
        Column("equivalent", "text", "Whether they are; empty in the rows of all.", ("yes", "no", "undecided")),
        NOTE,
    ),
    row="question, then every two runs",
    holds="whether runs differ, and whether they are equivalent",
    citation=RUN_EFFECT_CITATION,
    order=18,
    apart="runs",
)  # fmt: skip


def _margin_text(margin: float | None) -> str:
    return (
        f"{precise_percent(EQUIVALENCE_MARGIN)} of the width of the scale"
        if margin is None
        else f"{margin:g} points, as asked"
    )


def _rows(ratings: Ratings, question: str, margin: float | None) -> Iterator[tuple[object, ...]]:
    """Yield the tests of all runs of a question, then a row for every two."""
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
    all_runs = (question, "", "", nan, nan, nan, nan)
    if effect.note:
        yield *all_runs, "", nan, nan, nan, nan, nan, "", effect.note
        return
    yield *all_runs, RUN_TESTS[0], effect.chi2, effect.df, nan, effect.p, nan, "", ""
    yield *all_runs, RUN_TESTS[1], *effect.test, nan, "", ""
    for one in effect.differences:
        yield (
            question, names[one.run], names[one.other], one.difference, one.se, one.low, one.high, RUN_TESTS[2],
            one.difference / one.se, one.df, nan, one.p, wide, one.equivalent, "",
        )  # fmt: skip


def _name(run: object) -> str:
    """Return what a run is called; a table with gaps has its numbers as fractions."""
    return f"{run:g}" if isinstance(run, float) else str(run)
