"""strengths: comparisons of two put on one scale, by Bradley-Terry and by Thurstone (reference: statistics 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from beholder.analysis.bradley_terry import ExtraParameter, StrengthFit, fit_strengths
from beholder.analysis.comparisons import (
    BRADLEY_TERRY,
    COMPARISON_MODELS,
    ComparisonModel,
    Comparisons,
    Tally,
    comparisons,
    join_names,
    sum_by_code,
)
from beholder.analysis.figures.scores import strengths_chart
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.stats.clustered import Codes, Floats
from beholder.stats.intervals import STUDENT_CITATION, t_bounds
from beholder.stats.tests import holm

COLUMNS = [
    "question", "model", "level", "content", "condition", "stimulus", "component", "comparisons", "quality", "se",
    "low", "high", "model_se", "estimator", "note",
]  # fmt: skip
SANDWICH_CITATION = "Liang and Zeger (1986), Biometrika 73"
_POSITION = "Davidson and Beaver (1977), Biometrics 33"


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
            found = one.conditions(model)
            fits.append((one.question, found))
            rows += _question_rows(one, found)
    return Result(pd.DataFrame(rows, columns=COLUMNS), _note(fits, from_grades), _citation(fits), strengths_chart)


def _question_rows(one: ComparedQuestion, found: StrengthFit) -> Iterator[dict[str, Any]]:
    key = {"question": one.question, "model": found.model.name}
    for row in _rows(found):
        yield {**key, "level": "condition", "content": "", "condition": row.pop("name"), "stimulus": "", **row}
    everybody, n = found.tally.people, int(found.tally.n.sum())
    for level, extra in (("position", found.position), ("tie", found.ties)):
        if extra is not None:
            names = {"level": level, "content": "", "condition": "", "stimulus": "", "component": ""}
            yield {**key, **names, "comparisons": n, **_extra(level, extra, everybody, found.model)}
    for content, part in one.stimuli(found).items():
        for row in _rows(part):
            name = row.pop("name")
            condition = one.compared.condition_of[name]
            yield {**key, "level": "stimulus", "content": content, "condition": condition, "stimulus": name, **row}


def _rows(found: StrengthFit) -> Iterator[dict[str, Any]]:
    """Yield every strength with its error."""
    tally, component = found.tally, found.graph.component
    size = len(tally.names)
    n = np.bincount(tally.one, tally.n, size) + np.bincount(tally.other, tally.n, size)
    ends = t_bounds(found.quality, found.se, found.df)
    model_se = np.sqrt(np.maximum(0, np.diag(found.model_covariance)))
    for place, name in enumerate(tally.names):
        part = int(component[place])
        yield {
            "name": name, "component": str(part + 1), "comparisons": int(n[place]),
            "quality": float(found.quality[place]), "se": float(found.se[place]), "low": float(ends.low[place]),
            "high": float(ends.high[place]), "model_se": float(model_se[place]), "estimator": found.estimator[part],
            "note": found.note[part],
        }  # fmt: skip


def _extra(level: str, extra: ExtraParameter, people: int, model: ComparisonModel) -> dict[str, Any]:
    notes: Mapping[str, str] = {
        "position": "what being shown first, or left, adds to a difference",
        "tie": "log ν of Davidson" if model is BRADLEY_TERRY else "log τ of Glenn and David",
    }
    ends = t_bounds(extra.value, extra.se, people - 1)
    return {
        "quality": extra.value, "se": extra.se, "low": float(ends.low[0]), "high": float(ends.high[0]),
        "model_se": extra.model_se, "estimator": "", "note": notes[level],
    }  # fmt: skip


def _note(fits: Sequence[tuple[str, StrengthFit]], from_grades: bool) -> str:
    """Return what strengths are, and what is particular about these."""
    models = dict.fromkeys(found.model for _, found in fits)
    units = "; ".join(f"{model.title} in {model.unit}" for model in models)
    note = (
        f"Strengths ({units}) from choices between two, by Newton's method; they sum to zero within a component, that "
        "is among those which were compared, directly or through others. Level condition: all contents together; level "
        "stimulus: within each content, as contents are not compared with each other. se and interval: clustered by "
        "participant (sandwich, factor G / (G - 1), Student t with participants minus one degrees of freedom), "
        "contents taken as fixed; model_se is as if all comparisons were independent. The error of a strength depends "
        "on all others: compare two by strength_pairs."
    )
    if from_grades:
        note += " Of grades only the sign counts."
    if any(found.ties for _, found in fits):
        kinds = [f"{'Davidson' if one is BRADLEY_TERRY else 'Glenn and David'} ({one.title})" for one in models]
        note += (
            f" Ties are an outcome of their own, by {' and '.join(kinds)}; the rows of level tie hold its parameter."
        )
    if any(found.position for _, found in fits):
        note += (
            " The order of showing has an effect of its own, in the rows of level position: above zero the one shown "
            "first, or left, is preferred among equals."
        )
    if any(found.ties or found.position for _, found in fits):
        note += " Stimuli take both over from the conditions."
    return note + "".join(dict.fromkeys(_particular(question, found) for question, found in fits))


def _particular(question: str, found: StrengthFit) -> str:
    """Return which were never compared, and whose strength only a prior holds."""
    graph, names = found.graph, found.tally.names
    groups = [[names[at] for at in np.flatnonzero(graph.component == part)] for part in range(graph.components)]
    note = ""
    if graph.components > 1:
        told = "; ".join(join_names(group) for group in groups)
        note += (
            f" {question}: there are {graph.components} groups that were never compared with each other, not even "
            f"through others ({told}), so that strengths compare within a group only."
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
    found: dict[str, None] = {}
    for _, one in fits:
        found[one.model.citation] = None
        if one.ties:
            found[one.model.ties_citation] = None
        if one.position:
            found[_POSITION] = None
        if np.isfinite(one.se).any():
            found |= {SANDWICH_CITATION: None, STUDENT_CITATION: None}
    return "; ".join(found)


def stimulus_strengths(data: pd.DataFrame | Ratings, model: str) -> Result | None:
    """Return the quality of every stimulus within its content under one model; None where nothing was compared."""
    found = strengths(data, models=[model])
    if found is None:
        return None
    table = found.table[found.table["level"] == "stimulus"]
    columns = ["question", "stimulus", "content", "quality", "se", "low", "high"]
    return Result(table[columns].reset_index(drop=True), found.note, found.citation)


# --- strength_pairs: how far apart two strengths are, and how likely one is preferred (reference: statistics 5) ---


STRENGTH_PAIR_COLUMNS = [
    "question", "model", "condition", "other_condition", "comparisons", "difference", "se", "df", "low", "high",
    "model_se", "win_probability", "win_low", "win_high", "statistic", "p", "p_holm", "note",
]  # fmt: skip
_HOLM = "Holm (1979), Scandinavian Journal of Statistics 6"


def strength_pairs(
    data: pd.DataFrame | Ratings, *, models: Sequence[str] = tuple(COMPARISON_MODELS), from_grades: bool = False
) -> Result | None:
    """Return the difference of every two conditions' strengths with its own error, and the probability of a win."""
    ratings = as_ratings(data)
    questions = compared_questions(ratings, from_grades=from_grades)
    if not questions:
        return None
    fits = [(one.question, one.conditions(COMPARISON_MODELS[name])) for one in questions for name in models]
    table = pd.concat([_pairs(question, found) for question, found in fits], ignore_index=True)
    note = (
        "Differences of strengths (level condition) with errors that take their correlation into account, clustered by "
        "participant; model_se is as if all comparisons were independent. comparisons counts those of just these two. "
        "win_probability: how often condition is preferred to other_condition, ties and the order of showing aside. "
        "p: Student t against no difference, participants minus one degrees of freedom; p_holm: Holm's correction over "
        "all pairs of a question and model. Intervals are 95 %, not corrected for the number of pairs."
    )
    return Result(table, note, "; ".join([_citation(fits)] + [_HOLM] * bool(table["p"].notna().any())))


def _pairs(question: str, found: StrengthFit) -> pd.DataFrame:
    """Return all pairs of a question."""
    names = np.array(found.tally.names, dtype=object)
    one, other = np.triu_indices(len(names), 1)
    component = found.graph.component
    is_one = component[one] == component[other]
    difference = np.where(is_one, found.quality[one] - found.quality[other], np.nan)
    error, model_error = (_errors(cov, one, other) for cov in (found.covariance, found.model_covariance))
    df = found.df[one]
    se = np.where(is_one & (df > 0), error, np.nan)
    ends = t_bounds(difference, se, df)
    still = se == 0
    statistic = np.where(still, np.nan, difference / np.where(still, 1.0, se))
    p = np.where(still, (np.abs(difference) < 1e-9).astype(float), 2 * stats.t.sf(np.abs(statistic), np.maximum(df, 1)))
    table = pd.DataFrame(
        {
            "question": question,
            "model": found.model.name,
            "condition": names[one],
            "other_condition": names[other],
            "comparisons": _counts(found)[one, other],
            "difference": difference,
            "se": se,
            "df": np.where(np.isnan(se), np.nan, df),
            "low": ends.low,
            "high": ends.high,
            "model_se": np.where(is_one, model_error, np.nan),
            "win_probability": found.model.win(difference),
            "win_low": found.model.win(ends.low),
            "win_high": found.model.win(ends.high),
            "statistic": statistic,
            "p": p,
            "p_holm": holm(p),
            "note": [
                found.note[component[a]] if same else "never compared, not even through others"
                for a, same in zip(one, is_one, strict=True)
            ],
        },
        columns=STRENGTH_PAIR_COLUMNS,
    )
    return table


def _errors(covariance: Floats, one: Codes, other: Codes) -> Floats:
    variance = np.diag(covariance)
    both = variance[one] + variance[other] - 2 * covariance[one, other]
    return np.asarray(np.sqrt(np.maximum(0, both)), np.float64)


def _counts(found: StrengthFit) -> Codes:
    """Return how often every two were compared."""
    size = len(found.tally.names)
    place = found.tally.one * size + found.tally.other
    return sum_by_code(place, found.tally.n, size * size).reshape(size, size).astype(np.intp)


# --- The strengths of one question: of conditions over all contents, and of stimuli within each content ---


@dataclass(frozen=True)
class ComparedQuestion:
    """A question with its comparisons."""

    question: str
    compared: Comparisons

    @cached_property
    def tally(self) -> Tally:
        """The comparisons of conditions, all contents together."""
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
    found = ((name, comparisons(ratings, name, from_grades=from_grades)) for name in ratings.questions)
    return [ComparedQuestion(name, compared) for name, compared in found if compared is not None]
