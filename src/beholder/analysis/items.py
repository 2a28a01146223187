"""Items: numeric questions as the columns of one matrix, and the table of their consistency."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analysis.columns import NOTE, bounds
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.means import ScaleEnds, codes_of, scale_ends
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.stats.clustered import Codes, Floats
from beholder.stats.dimensions import COMPONENT_CITATION as COMPONENTS
from beholder.stats.dimensions import (
    CONSISTENCY_CITATION,
    DRAWS,
    cronbach_alpha,
    mcdonald_omega,
    parallel_analysis,
    principal_components,
    retained_components,
)

KINDS = ("score", "diff")
"""Kinds of rating that are numbers on a scale."""
_KEYS = ["participant", "stimulus", "other_stimulus"]


class ItemMatrix(NamedTuple):
    """What each participant said of each stimulus: a row for the two, a column for each question."""

    questions: tuple[str, ...]
    value: Floats
    """NaN where it was not asked or not answered."""
    participant: Codes
    stimulus: Codes
    stimuli: pd.DataFrame
    """stimulus, content, condition of every number in `stimulus`."""
    ends: dict[str, ScaleEnds]
    turned: tuple[str, ...]
    """Reversed questions, whose values are turned round."""


def items_of(ratings: Ratings) -> ItemMatrix:
    """Return the questions of a table that are answered by numbers; repetitions are averaged."""
    questions = tuple(name for name in ratings.questions if ratings.kinds[name] in KINDS)
    votes = ratings.votes
    if len(questions) < len(ratings.questions):
        votes = votes[votes["question"].isin(questions)]
    codes = [codes_of(votes[name]) for name in _KEYS]
    joint = np.zeros(len(votes), np.int64)
    for code in codes:
        joint = joint * (int(code.max(initial=0)) + 1) + code
    _, first, row = np.unique(joint, return_index=True, return_inverse=True)
    value = np.full((len(first), len(questions)), np.nan)
    value[row, codes_of(votes["question"], questions)] = votes["value"].to_numpy(float)
    ends = {name: scale_ends(ratings, name) for name in questions}
    names = votes.loc[~votes["stimulus"].duplicated(), ["stimulus", "content", "condition"]]
    return ItemMatrix(
        questions, value, codes[0][first], codes[1][first], names.reset_index(drop=True), ends, ratings.turned
    )


def stimulus_means(items: ItemMatrix) -> Floats:
    """Return the mean of every stimulus on every question; NaN without an answer."""
    sums, counts = np.zeros((2, len(items.stimuli), len(items.questions)))
    for place in range(len(items.questions)):
        column = items.value[:, place]
        is_there = ~np.isnan(column)
        counts[:, place] = np.bincount(items.stimulus[is_there], minlength=len(counts))
        sums[:, place] = np.bincount(items.stimulus[is_there], column[is_there], minlength=len(sums))
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


# together.csv: whether three questions or more measure one thing (reference: statistics 2.6)


SEED = 1
_MIN_QUESTIONS = 3
_MIN_STIMULI = 4


def item_consistency(data: pd.DataFrame | Ratings) -> Result | None:
    """Return alpha and omega of single answers, and how many components the means of stimuli have.

    None below three questions that are answered by numbers, or without complete answers about any stimulus.
    """
    items = items_of(as_ratings(data))
    whole = items.value[~np.isnan(items.value).any(axis=1)]
    if len(items.questions) < _MIN_QUESTIONS or len(whole) < 2 or not np.ptp(whole, axis=0).any():
        return None
    row = _row(items, whole)
    note = (
        "Questions that are answered by numbers, together. alpha, omega: of what one participant said of one stimulus, "
        f"n times all of them; Feldt's 95 % interval takes these as independent. components: how many eigenvalues of "
        "the correlations between questions, over the means of stimuli, stand above the 95th percentile of those of "
        f"noise ({DRAWS:,} draws, seed {SEED}), and the share of the variance that they hold."
    )
    if items.turned:
        note += f" Reversed, so turned within the scale: {', '.join(items.turned)}."
    return TOGETHER.result(pd.DataFrame([row], columns=TOGETHER.names), note)


TOGETHER = Analysis(
    "together",
    item_consistency,
    (
        Column("questions", "integer", "How many questions are answered by numbers."),
        Column("n", "integer", "How often one participant answered all of them about one stimulus."),
        Column("alpha", "number", "Cronbach's alpha of these answers."),
        *bounds("alpha", "its 95 % interval"),
        Column("omega", "number", "McDonald's omega of these answers."),
        Column("stimuli", "integer", "Stimuli with means on all questions."),
        Column("components", "integer", "How many components of these means stand above chance."),
        Column("share", "number", "Share of the variance that these components hold."),
        NOTE,
    ),
    row="(one row)",
    holds="whether three questions or more measure one thing",
    citation=f"{CONSISTENCY_CITATION}; {COMPONENTS}",
    seed=SEED,
    order=24,
)


def _row(items: ItemMatrix, whole: np.ndarray) -> dict[str, object]:
    covariance = np.cov(whole, rowvar=False)
    alpha = cronbach_alpha(covariance, len(whole))
    means = stimulus_means(items)
    means = means[~np.isnan(means).any(axis=1)]
    varying = means[:, np.ptp(means, axis=0) > 0] if len(means) else means
    row: dict[str, object] = {
        "questions": len(items.questions), "n": len(whole), "alpha": alpha.value, "alpha_low": alpha.low,
        "alpha_high": alpha.high, "omega": mcdonald_omega(covariance), "stimuli": len(means), "components": 0,
        "share": math.nan, "note": "",
    }  # fmt: skip
    if len(means) < _MIN_STIMULI or varying.shape[1] < 2:
        return row | {"note": "too few stimuli, or they do not differ: no components"}
    values = principal_components(np.atleast_2d(np.corrcoef(varying, rowvar=False))).eigenvalues
    above = retained_components(values, parallel_analysis(len(means), len(values), np.random.default_rng(SEED)))
    return row | {"components": above, "share": float(values[:above].sum() / values.sum())}
