"""strength_pairs: how far apart two strengths are, and how likely one is preferred (reference: statistics 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from beholder.analyse.comparing.fit import Fit
from beholder.analyse.comparing.outcomes import MODELS
from beholder.analyse.comparing.question import asked
from beholder.analyse.comparing.tally import sums
from beholder.analyse.result import Result
from beholder.analyse.strengths import sources
from beholder.analyse.table import Ratings, as_ratings
from beholder.stats.clustered import Codes, Floats
from beholder.stats.holm import holm
from beholder.stats.interval import t_bounds

COLUMNS = [
    "question", "model", "condition", "other_condition", "comparisons", "difference", "se", "df", "low", "high",
    "model_se", "win_probability", "win_low", "win_high", "statistic", "p", "p_holm", "note",
]  # fmt: skip
_HOLM = "Holm (1979), Scandinavian Journal of Statistics 6"


def strength_pairs(
    data: pd.DataFrame | Ratings, *, models: Sequence[str] = tuple(MODELS), from_grades: bool = False
) -> Result | None:
    """Return the difference of every two conditions' strengths with its own error, and the probability of a win."""
    ratings = as_ratings(data)
    questions = asked(ratings, from_grades=from_grades)
    if not questions:
        return None
    fits = [(one.question, one.conditions(MODELS[name])) for one in questions for name in models]
    table = pd.concat([_pairs(question, found) for question, found in fits], ignore_index=True)
    note = (
        "Differences of strengths (level condition) with errors that take their correlation into account, clustered by "
        "participant; model_se is as if all comparisons were independent. comparisons counts those of just these two. "
        "win_probability: how often condition is preferred to other_condition, ties and the order of showing aside. "
        "p: Student t against no difference, participants minus one degrees of freedom; p_holm: Holm's correction over "
        "all pairs of a question and model. Intervals are 95 %, not corrected for the number of pairs."
    )
    return Result(table, note, "; ".join([sources(fits)] + [_HOLM] * bool(table["p"].notna().any())))


def _pairs(question: str, found: Fit) -> pd.DataFrame:
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
        columns=COLUMNS,
    )
    return table


def _errors(covariance: Floats, one: Codes, other: Codes) -> Floats:
    variance = np.diag(covariance)
    both = variance[one] + variance[other] - 2 * covariance[one, other]
    return np.asarray(np.sqrt(np.maximum(0, both)), np.float64)


def _counts(found: Fit) -> Codes:
    """Return how often every two were compared."""
    size = len(found.tally.names)
    place = found.tally.one * size + found.tally.other
    return sums(place, found.tally.n, size * size).reshape(size, size).astype(np.intp)
