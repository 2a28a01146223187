"""ranks: the probability of each rank for each condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

from beholder.analysis.bradley_terry import StrengthFit, fit_strengths
from beholder.analysis.columns import CONDITION, QUESTION
from beholder.analysis.comparisons import BRADLEY_TERRY, comparisons, sum_by_code
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.figures.pairs import ranks_chart
from beholder.analysis.means import average_by, codes_of
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.analysis.strengths import SANDWICH_CITATION
from beholder.stats.clustered import CITATION as CLUSTERED
from beholder.stats.clustered import Codes, Floats

SEED = 20_240_229
_DRAWS = 10_000
_MEANS = "means"
_CITATIONS = {_MEANS: CLUSTERED, BRADLEY_TERRY.name: f"{BRADLEY_TERRY.citation}; {SANDWICH_CITATION}"}
# Means are sums of fractions: what is equal on paper may differ in the last bits.
_DECIMALS = 9


class _Estimates(NamedTuple):
    """Conditions on one scale, with how sure their places are."""

    names: tuple[str, ...]
    value: Floats
    covariance: Floats


def ranks(data: pd.DataFrame | Ratings, *, draws: int = _DRAWS, seed: int = SEED) -> Result | None:
    """Return the probability of each rank, 1 being the highest mean or strength; None where errors are not known."""
    ratings = as_ratings(data)
    rng = np.random.default_rng(seed)
    parts = []
    sources = set()
    for question in ratings.questions:
        for place, (source, spread) in enumerate(_spreads(ratings, question), 1):
            parts.append(_ranked(question, source, str(place), spread, rng, draws))
            sources.add(source)
    if not parts:
        return None
    note = (
        "Probability of each rank among the conditions of a question, 1 being the highest: the share of "
        f"{draws:,} draws (seed {seed}) from a normal distribution around the means (source means) or the strengths "
        "(source bradley-terry), with a covariance that is clustered by participant and content. Conditions that were "
        "never compared, not even through others, are ranked apart, by component."
    )
    citation = "; ".join(text for source, text in _CITATIONS.items() if source in sources)
    return RANKS.result(pd.concat(parts, ignore_index=True), note, citation)


RANKS = Analysis(
    "ranks",
    ranks,
    (
        QUESTION,
        Column("source", "text", "What is ranked: means, or strengths of choices.", tuple(_CITATIONS)),
        Column("component", "text", "Number of the group; those of different groups were never compared."),
        CONDITION,
        Column("rank", "integer", "1 is the highest."),
        Column("probability", "number", "How probable the rank is; those of a condition sum to one."),
    ),
    row="condition and rank",
    holds="how probable the rank is",
    citation="; ".join(_CITATIONS.values()),
    draw=ranks_chart,
    seed=SEED,
    order=15,
)


def _spreads(ratings: Ratings, question: str) -> Iterator[tuple[str, _Estimates]]:
    """Yield what is on one scale: strengths of choices by component, else the means."""
    kind = ratings.kinds[question]
    if kind in ("score", "diff"):
        means = _means(ratings, question)
        if means is not None:
            yield _MEANS, means
    elif kind == "choice":
        compared = comparisons(ratings, question)
        for strengths in _strengths(fit_strengths(compared.by_condition(), BRADLEY_TERRY)) if compared else ():
            yield BRADLEY_TERRY.name, strengths


def _strengths(fitted: StrengthFit) -> Iterator[_Estimates]:
    """Yield the strengths of each component whose errors are known."""
    covariance = fitted.covariance
    for part in range(fitted.graph.components):
        mine = np.flatnonzero(fitted.graph.component == part)
        if np.isfinite(covariance[np.ix_(mine, mine)]).all():
            names = tuple(fitted.tally.names[at] for at in mine)
            yield _Estimates(names, fitted.quality[mine], covariance[np.ix_(mine, mine)])


def _means(ratings: Ratings, question: str) -> _Estimates | None:
    """Return the condition means as in conditions.csv, with their two-way clustered covariance."""
    table = ratings.table[ratings.table["question"] == question]
    names = tuple(name for name in ratings.conditions if (table["condition"] == name).any())
    codes = (
        codes_of(table["condition"], names), codes_of(table["stimulus"]), codes_of(table["participant"]),
        codes_of(table["content"]),
    )  # fmt: skip
    value, (condition, _, participant, content) = average_by(table["value"].to_numpy(float), *codes)
    people, contents = len(np.unique(participant)), len(np.unique(content))
    if len(names) < 2 or people < 2:
        return None
    _, first, under = np.unique(condition * contents + content, return_index=True, return_inverse=True)
    in_condition = np.bincount(condition[first], minlength=len(names))
    share = 1 / (np.bincount(under)[under] * in_condition[condition])
    mean = sum_by_code(condition, share * value, len(names))
    pulls = share * (value - mean[condition])
    covariance = _within(pulls, participant, condition)
    if contents > 1:
        cell = participant * (int(content.max()) + 1) + content
        both = covariance + _within(pulls, content, condition) - _within(pulls, cell, condition)
        # As for single means: the difference can fall below zero by chance where neither cluster matters.
        covariance = both if (np.diag(both) > 0).all() else covariance
    return _Estimates(names, mean, covariance)


def _within(pulls: Floats, cluster: Codes, condition: Codes) -> Floats:
    """Return the covariance of the means when clusters are independent."""
    _, row = np.unique(cluster, return_inverse=True)
    sums = csr_matrix((pulls, (row, condition)))
    count = sums.shape[0]
    return np.asarray((sums.T @ sums).toarray() * count / max(1, count - 1), np.float64)


def _ranked(
    question: str, source: str, component: str, spread: _Estimates, rng: np.random.Generator, draws: int
) -> pd.DataFrame:
    size = len(spread.names)
    values, vectors = np.linalg.eigh((spread.covariance + spread.covariance.T) / 2)
    root = vectors * np.sqrt(np.maximum(0, values))
    drawn = np.round(spread.value + rng.standard_normal((draws, size)) @ root.T, _DECIMALS)
    # Equals share their ranks by lot.
    order = np.lexsort((rng.random(drawn.shape), -drawn), axis=1)
    place = order + size * np.arange(size)
    counts = np.bincount(place.ravel(), minlength=size * size).reshape(size, size)
    return pd.DataFrame(
        {
            "question": question,
            "source": source,
            "component": component,
            "condition": np.repeat(np.array(spread.names, dtype=object), size),
            "rank": np.tile(np.arange(1, size + 1), size),
            "probability": (counts.T / draws).ravel(),
        },
        columns=RANKS.names,
    )
