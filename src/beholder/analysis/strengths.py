"""strengths and strength_pairs: comparisons on one scale, by Bradley-Terry and Thurstone (reference: statistics 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from beholder.analysis.bradley_terry import (
    TEST_CITATION,
    ExtraParameter,
    StrengthFit,
    difference_claims,
    fit_strengths,
)
from beholder.analysis.columns import (
    CONDITION,
    CONTENT_OR_NONE,
    DF,
    ESTIMATOR,
    HIGH,
    LOW,
    NOTE,
    OTHER_CONDITION,
    P_HOLM,
    QUESTION,
    STIMULUS_OR_NONE,
    THESE_HIGH,
    THESE_LOW,
    THESE_P,
    THESE_P_HOLM,
    P,
    bounds,
)
from beholder.analysis.comparisons import (
    BRADLEY_TERRY,
    COMPARISON_MODELS,
    ComparisonModel,
    Comparisons,
    Tally,
    comparisons,
    sum_by_code,
)
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.figures.scores import strengths_chart
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.formats import join_names
from beholder.stats.clustered import CITATION as CLUSTERED
from beholder.stats.clustered import Codes
from beholder.stats.contrast_errors import CITATION as MODERATED
from beholder.stats.intervals import STUDENT_CITATION, t_bounds
from beholder.stats.tests import HOLM_CITATION as HOLM
from beholder.stats.tests import holm

SANDWICH_CITATION = "Liang and Zeger (1986), Biometrika 73"
_ERRORS_NOTE = (
    "Their variance is that over participants plus that over contents minus that over pages (one participant and "
    "content), neither of the first two below the last, and moderated over all differences; degrees of freedom are "
    "Satterthwaite's. With one content they are over participants only."
)
_POSITION = "Davidson and Beaver (1977), Biometrics 33"


# The strengths of one question


@dataclass(frozen=True)
class ComparedQuestion:
    """A question with its comparisons."""

    question: str
    compared: Comparisons

    @cached_property
    def tally(self) -> Tally:
        """The comparisons of conditions, pooled over contents."""
        return self.compared.by_condition()

    @cached_property
    def contents(self) -> tuple[tuple[str, Tally], ...]:
        """For each content the comparisons of its stimuli."""
        return tuple(self.compared.by_content())

    def conditions(self, model: ComparisonModel) -> StrengthFit:
        """Return the strengths of conditions."""
        return fit_strengths(self.tally, model)

    def stimuli(self, conditions: StrengthFit) -> dict[str, StrengthFit]:
        """Return the strengths of the stimuli by content, with ties and position effect as among the conditions."""
        return {content: fit_strengths(tally, conditions.model, conditions) for content, tally in self.contents}


def compared_questions(ratings: Ratings, *, from_grades: bool = False) -> list[ComparedQuestion]:
    """Return the questions that compare two conditions."""
    by_question = ((name, comparisons(ratings, name, from_grades=from_grades)) for name in ratings.questions)
    return [ComparedQuestion(name, compared) for name, compared in by_question if compared is not None]


def _fitted(ratings: Ratings, one: ComparedQuestion, model: ComparisonModel, *, from_grades: bool) -> StrengthFit:
    """Return the strengths of conditions, which both tables show."""
    return ratings.cached(("strengths", one.question, model.name, from_grades), lambda: one.conditions(model))


# strengths


def strengths(
    data: pd.DataFrame | Ratings, *, models: Sequence[str] = tuple(COMPARISON_MODELS), from_grades: bool = False
) -> Result | None:
    """Return the strength of every condition, and of every stimulus within its content, from choices between two.

    With `from_grades` graded comparisons count too, by their sign alone. None where nothing was compared.
    """
    ratings = as_ratings(data)
    questions = compared_questions(ratings, from_grades=from_grades)
    if not questions:
        return None
    rows: list[dict[str, Any]] = []
    fits = []
    for one in questions:
        for model in (COMPARISON_MODELS[name] for name in models):
            fitted = _fitted(ratings, one, model, from_grades=from_grades)
            fits.append((one.question, fitted))
            rows += _question_rows(one, fitted, ratings.level)
    return STRENGTHS.result(pd.DataFrame(rows, columns=STRENGTHS.names), _note(fits, from_grades), _citation(fits))


_MODEL = Column("model", "text", "Name of the model.", tuple(COMPARISON_MODELS))
_MODEL_SE = Column("model_se", "number", "Standard error as if all comparisons were independent.")
_SOURCES = (
    *(one.citation for one in COMPARISON_MODELS.values()), *(one.ties_citation for one in COMPARISON_MODELS.values()),
    _POSITION, SANDWICH_CITATION, CLUSTERED, MODERATED, STUDENT_CITATION,
)  # fmt: skip
STRENGTHS = Analysis(
    "strengths",
    strengths,
    (
        QUESTION, _MODEL,
        Column("level", "text", "A condition, a stimulus within its content, what being first adds, or ties.",
               ("condition", "stimulus", "position", "tie")),
        CONTENT_OR_NONE, CONDITION, STIMULUS_OR_NONE,
        Column("component", "text", "Number of the group of those that were compared, directly or through others: "
               "strengths compare within it only."),
        Column("comparisons", "integer", "Comparisons that it rests on."),
        Column("quality", "number", "Strength; those of a component sum to zero."),
        Column("se", "number", "Standard error of it, clustered by participant and content."),
        DF, LOW, HIGH, THESE_LOW, THESE_HIGH, _MODEL_SE,
        ESTIMATOR,
        NOTE,
    ),
    row="condition, then stimulus, of choices between two",
    holds="strength by Bradley-Terry and by Thurstone, with errors",
    citation="; ".join(_SOURCES),
    draw=strengths_chart,
    order=13,
)  # fmt: skip


def _question_rows(one: ComparedQuestion, fitted: StrengthFit, confidence: float) -> Iterator[dict[str, Any]]:
    key = {"question": one.question, "model": fitted.model.name}
    for row in _rows(fitted, confidence):
        yield {**key, "level": "condition", "content": "", "condition": row.pop("name"), "stimulus": "", **row}
    n = int(fitted.tally.n.sum())
    for level, extra in (("position", fitted.position), ("tie", fitted.ties)):
        if extra is not None:
            names = {"level": level, "content": "", "condition": "", "stimulus": "", "component": ""}
            yield {**key, **names, "comparisons": n, **_extra(level, extra, fitted, confidence)}
    for content, part in one.stimuli(fitted).items():
        for row in _rows(part, confidence):
            name = row.pop("name")
            condition = one.compared.condition_of[name]
            yield {**key, "level": "stimulus", "content": content, "condition": condition, "stimulus": name, **row}


def _rows(fitted: StrengthFit, level: float) -> Iterator[dict[str, Any]]:
    """Yield every strength with its errors."""
    tally, component = fitted.tally, fitted.graph.component
    size = len(tally.names)
    n = np.bincount(tally.one, tally.n, size) + np.bincount(tally.other, tally.n, size)
    se, these_se = (np.sqrt(np.diag(fitted.covariance_of(each))) for each in (fitted.beyond, fitted.these))
    df, these_df = (fitted.df_of(each) for each in (fitted.beyond, fitted.these))
    ends, these = t_bounds(fitted.quality, se, df, level), t_bounds(fitted.quality, these_se, these_df, level)
    model_se = np.sqrt(np.maximum(0, np.diag(fitted.model_covariance)))
    numbers = {
        "quality": fitted.quality, "se": se, "df": np.where(np.isnan(se), np.nan, df), "low": ends.low,
        "high": ends.high, "these_low": these.low, "these_high": these.high, "model_se": model_se,
    }  # fmt: skip
    for place, name in enumerate(tally.names):
        part = int(component[place])
        yield {
            "name": name, "component": str(part + 1), "comparisons": int(n[place]),
            **{column: float(values[place]) for column, values in numbers.items()},
            "estimator": fitted.estimator[part], "note": fitted.note[part],
        }  # fmt: skip


def _extra(name: str, extra: ExtraParameter, fitted: StrengthFit, level: float) -> dict[str, Any]:
    notes: Mapping[str, str] = {
        "position": "what being shown first, or left, adds to a difference",
        "tie": "log ν of Davidson" if fitted.model is BRADLEY_TERRY else "log τ of Glenn and David",
    }
    at = (extra.place, extra.place)
    (se, df), (these_se, these_df) = (
        (np.sqrt(each.variance[at]) if each.is_known[at] else np.nan, each.df[at])
        for each in (fitted.beyond, fitted.these)
    )
    ends, these = t_bounds(extra.value, se, df, level), t_bounds(extra.value, these_se, these_df, level)
    return {
        "quality": extra.value, "se": float(se), "df": np.nan if np.isnan(se) else float(df), "low": float(ends.low[0]),
        "high": float(ends.high[0]), "these_low": float(these.low[0]), "these_high": float(these.high[0]),
        "model_se": extra.model_se, "estimator": "", "note": notes[name],
    }  # fmt: skip


def _note(fits: Sequence[tuple[str, StrengthFit]], from_grades: bool) -> str:
    """Return what strengths are, and what is particular about these."""
    models = dict.fromkeys(fitted.model for _, fitted in fits)
    units = "; ".join(f"{model.title} in {model.unit}" for model in models)
    note = (
        f"Strengths ({units}) from choices between two, by Newton's method; they sum to zero within a component, that "
        "is among those which were compared, directly or through others. Level condition: all contents together; level "
        "stimulus: within each content, as contents are not compared with each other. se, low, high: clustered by "
        f"participant and content, so that they hold for other contents too. {_ERRORS_NOTE} these_low, these_high: "
        "clustered by participant, with these contents. model_se is as if all comparisons were independent; no error "
        "is below it. The error of a strength depends on all others: compare two by strength_pairs."
    )
    if from_grades:
        note += " Of grades only the sign counts."
    if any(fitted.ties for _, fitted in fits):
        kinds = [f"{'Davidson' if one is BRADLEY_TERRY else 'Glenn and David'} ({one.title})" for one in models]
        note += (
            f" Ties are an outcome of their own, by {' and '.join(kinds)}; the rows of level tie hold its parameter."
        )
    if any(fitted.position for _, fitted in fits):
        note += (
            " The order of showing has an effect of its own, in the rows of level position: above zero the one shown "
            "first, or left, is preferred among equals."
        )
    if any(fitted.ties or fitted.position for _, fitted in fits):
        note += " Stimuli take both over from the conditions."
    return note + "".join(dict.fromkeys(_particular(question, fitted) for question, fitted in fits))


def _particular(question: str, fitted: StrengthFit) -> str:
    """Return which were never compared, and whose strength only a prior holds."""
    graph, names = fitted.graph, fitted.tally.names
    groups = [[names[at] for at in np.flatnonzero(graph.component == part)] for part in range(graph.components)]
    note = ""
    if graph.components > 1:
        group_names = "; ".join(join_names(group) for group in groups)
        note += (
            f" {question}: there are {graph.components} groups that were never compared with each other, not even "
            f"through others ({group_names}), so that strengths compare within a group only."
        )
    for why in dict.fromkeys(why for why in graph.why if why):
        note += (
            f" {question}: {why}. The likelihood alone would put such a strength at infinity, so a Gaussian prior "
            f"around zero holds this group (sd {_sds()}); its error is that of the posterior."
        )
    return note


def _sds() -> str:
    return ", ".join(f"{model.prior_sd:g} for {model.title}" for model in COMPARISON_MODELS.values())


def _citation(fits: Sequence[tuple[str, StrengthFit]]) -> str:
    """Return where models and errors come from."""
    citations: dict[str, None] = {}
    for _, one in fits:
        citations[one.model.citation] = None
        if one.ties:
            citations[one.model.ties_citation] = None
        if one.position:
            citations[_POSITION] = None
        if (one.people > 1).any():
            citations |= dict.fromkeys([SANDWICH_CITATION, CLUSTERED, MODERATED, STUDENT_CITATION])
    return "; ".join(citations)


def stimulus_strengths(data: pd.DataFrame | Ratings, model: str) -> Result | None:
    """Return the quality of every stimulus within its content under one model; None where nothing was compared."""
    result = strengths(data, models=[model])
    if result is None:
        return None
    table = result.table[result.table["level"] == "stimulus"]
    columns = ["question", "stimulus", "content", "quality", "se", "low", "high"]
    return Result(table[columns].reset_index(drop=True), result.note, result.citation)


# strength_pairs: differences of strengths, and probabilities of a win (reference: statistics 5)


def strength_pairs(
    data: pd.DataFrame | Ratings, *, models: Sequence[str] = tuple(COMPARISON_MODELS), from_grades: bool = False
) -> Result | None:
    """Return the difference of every two conditions' strengths with its own error, and the probability of a win."""
    ratings = as_ratings(data)
    questions = compared_questions(ratings, from_grades=from_grades)
    if not questions:
        return None
    asked = [(one, COMPARISON_MODELS[name]) for one in questions for name in models]
    fits = [(one.question, _fitted(ratings, one, model, from_grades=from_grades)) for one, model in asked]
    table = pd.concat([_pairs(question, fitted, ratings) for question, fitted in fits], ignore_index=True)
    note = (
        "Differences of strengths (level condition) with errors that take their correlation into account, clustered by "
        f"participant and content, so that they hold for other contents too. {_ERRORS_NOTE} these_: the same, but "
        "clustered by participant, with these contents. model_se is as if all comparisons were independent; no error "
        "is below it. comparisons counts those of just these two. win_probability: how often condition is preferred to "
        "other_condition, ties and the order of showing aside. statistic, p and intervals: the likelihood ratio to "
        "no difference, divided by how far the variance is above that of independent comparisons (Rao and Scott's "
        "correction), its root held against Student t; so p and interval agree, and neither turns round where one "
        "nearly always won. p_holm: Holm's correction over all pairs of a question and model. Intervals are 95 %, "
        "not corrected for the number of pairs."
    )
    tested = [TEST_CITATION, HOLM] if table["p"].notna().any() or table["these_p"].notna().any() else []
    return STRENGTH_PAIRS.result(table, note, "; ".join([_citation(fits), *tested]))


STRENGTH_PAIRS = Analysis(
    "strength_pairs",
    strength_pairs,
    (
        QUESTION, _MODEL, CONDITION, OTHER_CONDITION,
        Column("comparisons", "integer", "Comparisons of just these two."),
        Column("difference", "number", "Strength of the first minus that of the second."),
        Column("se", "number", "Standard error of the difference itself, clustered by participant and content."),
        DF, LOW, HIGH, _MODEL_SE,
        Column("win_probability", "number", "How often the first is preferred to the second, ties and order aside."),
        *bounds("win", "its 95 % interval"),
        Column("statistic", "number", "Signed root of the corrected likelihood ratio, which is held against t."),
        P, P_HOLM, THESE_LOW, THESE_HIGH, THESE_P, THESE_P_HOLM, NOTE,
    ),
    row="pair of conditions, of choices between two",
    holds="difference of the strengths, and how likely one is preferred",
    citation="; ".join([*_SOURCES, TEST_CITATION, HOLM]),
    order=14,
)  # fmt: skip


def _pairs(question: str, fitted: StrengthFit, ratings: Ratings) -> pd.DataFrame:
    """Return all pairs of a question."""
    names = np.array(fitted.tally.names, dtype=object)
    one, other = np.triu_indices(len(names), 1)
    component = fitted.graph.component
    is_one = component[one] == component[other]
    difference = np.where(is_one, fitted.quality[one] - fitted.quality[other], np.nan)
    model = fitted.model_covariance
    model_variance = model[one, one] + model[other, other] - 2 * model[one, other]
    beyond, these = (
        difference_claims(fitted, errors, one, other, ratings.level) for errors in (fitted.beyond, fitted.these)
    )
    if ratings.look is not None:
        beyond, these = (claim._replace(p=ratings.look.p(claim.p)) for claim in (beyond, these))
    return pd.DataFrame(
        {
            "question": question,
            "model": fitted.model.name,
            "condition": names[one],
            "other_condition": names[other],
            "comparisons": _counts(fitted)[one, other],
            "difference": difference,
            "se": beyond.se,
            "df": beyond.df,
            "low": beyond.low,
            "high": beyond.high,
            "model_se": np.where(is_one, np.sqrt(np.maximum(0, model_variance)), np.nan),
            "win_probability": fitted.model.win(difference),
            "win_low": fitted.model.win(beyond.low),
            "win_high": fitted.model.win(beyond.high),
            "statistic": beyond.statistic,
            "p": beyond.p,
            "p_holm": holm(beyond.p),
            "these_low": these.low,
            "these_high": these.high,
            "these_p": these.p,
            "these_p_holm": holm(these.p),
            "note": [_pair_note(fitted, *pair) for pair in zip(one.tolist(), other.tolist(), strict=True)],
        },
        columns=STRENGTH_PAIRS.names,
    )


def _pair_note(fitted: StrengthFit, one: int, other: int) -> str:
    """Return what is particular about the difference of two."""
    part = fitted.graph.component[one]
    if part != fitted.graph.component[other]:
        return "never compared, not even through others"
    notes = [fitted.note[part]] if fitted.note[part] else []
    if fitted.people[part] > 1 and not fitted.these.is_known[one, other]:
        notes.append("rests on one participant: no test")
    elif fitted.people[part] > 1 and not fitted.beyond.is_known[one, other]:
        notes.append("rests on one content: nothing is known beyond it")
    return "; ".join(notes)


def _counts(fitted: StrengthFit) -> Codes:
    """Return how often every two were compared."""
    size = len(fitted.tally.names)
    place = fitted.tally.one * size + fitted.tally.other
    return sum_by_code(place, fitted.tally.n, size * size).reshape(size, size).astype(np.intp)
