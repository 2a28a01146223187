"""ranks: the probability of each rank for each condition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, shortest_path

from beholder.analysis.bradley_terry import StrengthFit, fit_strengths
from beholder.analysis.columns import CONDITION, QUESTION
from beholder.analysis.comparisons import BRADLEY_TERRY, comparisons
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.contrasts import Contrast, contrasts_of
from beholder.analysis.figures.pairs import ranks_chart
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.analysis.strength_errors import StrengthErrors
from beholder.analysis.strengths import SANDWICH_CITATION
from beholder.stats.additive import CITATION as ADDITIVE
from beholder.stats.clustered import Codes, Floats
from beholder.stats.contrast_errors import CITATION as MODERATED

SEED = 20_240_229
_DRAWS = 10_000
_MEANS = "means"
_CITATIONS = {_MEANS: ADDITIVE, BRADLEY_TERRY.name: f"{BRADLEY_TERRY.citation}; {SANDWICH_CITATION}; {MODERATED}"}
# Means are sums of fractions: what is equal on paper may differ in the last bits.
_DECIMALS = 9


class _Errors(NamedTuple):
    """How sure the differences of every two conditions are, over one population."""

    variance: Floats
    """Of every difference; NaN where it is not known."""
    df: Floats


class _Estimates(NamedTuple):
    """Conditions on one scale, with how sure their places are."""

    names: tuple[str, ...]
    value: Floats
    beyond: _Errors
    """Over people and contents like these."""
    these: _Errors
    """Over people, with these contents."""


def ranks(data: pd.DataFrame | Ratings, *, draws: int = _DRAWS, seed: int = SEED) -> Result | None:
    """Return the probability of each rank, 1 being the highest mean or strength; None where errors are not known."""
    ratings = as_ratings(data)
    rng = np.random.default_rng(seed)
    parts = []
    sources = set()
    for question in ratings.questions:
        for place, (source, estimates) in enumerate(_scales(ratings, question), 1):
            parts.append(_ranked(question, source, str(place), estimates, rng, draws))
            sources.add(source)
    if not parts:
        return None
    note = (
        "Probability of each rank among the conditions of a question, 1 being the highest: the share of "
        f"{draws:,} draws (seed {seed}) from a Student t distribution round the estimates, in which the differences of "
        "every two conditions have the errors and, in the middle, the degrees of freedom of pairs.csv (source means) "
        "or strength_pairs.csv (source bradley-terry). probability: contents like these; these_probability: these "
        "contents. Where conditions hardly differ in truth they are too high. Conditions that were never "
        "compared, not even through others, are ranked apart, by component."
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
        Column("probability", "number", "How probable the rank is with contents like these; those of a condition sum "
               "to one. Empty where nothing is known beyond these contents."),
        Column("these_probability", "number", "How probable it is with these contents (other people)."),
    ),
    row="condition and rank",
    holds="how probable the rank is",
    citation="; ".join(_CITATIONS.values()),
    draw=ranks_chart,
    seed=SEED,
    order=15,
)  # fmt: skip


def _scales(ratings: Ratings, question: str) -> Iterator[tuple[str, _Estimates]]:
    """Yield what is on one scale: strengths of choices, else means, by component."""
    kind = ratings.kinds[question]
    if kind in ("score", "diff"):
        found = [one for one in contrasts_of(ratings) if one.question == question]
        for means in _components(tuple(ratings.conditions), found) if found else ():
            yield _MEANS, means
    elif kind == "choice":
        compared = comparisons(ratings, question)
        for strengths in _strengths(fit_strengths(compared.by_condition(), BRADLEY_TERRY)) if compared else ():
            yield BRADLEY_TERRY.name, strengths


def _strengths(fitted: StrengthFit) -> Iterator[_Estimates]:
    """Yield the strengths of each component whose errors are known."""
    for part in range(fitted.graph.components):
        mine = np.flatnonzero(fitted.graph.component == part)
        beyond, these = (_strength_errors(errors, mine) for errors in (fitted.beyond, fitted.these))
        if np.isfinite(these.variance).all():
            yield _Estimates(tuple(fitted.tally.names[at] for at in mine), fitted.quality[mine], beyond, these)


def _strength_errors(errors: StrengthErrors, members: Codes) -> _Errors:
    at = np.ix_(members, members)
    variance, df = errors.variance[at].copy(), errors.df[at].copy()
    # On the diagonal they have the strengths themselves, and not differences.
    variance[np.diag_indices_from(variance)], df[np.diag_indices_from(df)] = 0.0, np.nan
    return _Errors(variance, df)


def _components(names: tuple[str, ...], found: Sequence[Contrast]) -> Iterator[_Estimates]:
    """Yield conditions whose differences are known, at least through others."""
    size, place = len(names), {name: at for at, name in enumerate(names)}
    one, other = np.array([(place[pair.condition], place[pair.other_condition]) for pair in found], np.intp).T

    def table(values: Sequence[float], sign: float = 1.0) -> Floats:
        filled = np.full((size, size), np.nan)
        filled[one, other], filled[other, one] = values, sign * np.asarray(values, np.float64)
        return filled

    difference = table([pair.estimate.mean for pair in found], -1.0)
    beyond, these = (
        _Errors(table([estimate.se**2 for estimate in estimates]), table([estimate.df for estimate in estimates]))
        for estimates in ([pair.estimate for pair in found], [pair.these for pair in found])
    )
    is_known = np.isfinite(these.variance) & np.isfinite(difference)
    component = connected_components(coo_array(is_known), directed=False)[1]
    for part in np.unique(component):
        mine = np.flatnonzero(component == part)
        if len(mine) > 1:
            at = np.ix_(mine, mine)
            own = [_Errors(_through_others(some.variance[at]), some.df[at]) for some in (beyond, these)]
            yield _Estimates(tuple(names[place] for place in mine), _places(difference[at], is_known[at]), *own)


def _places(difference: Floats, is_known: np.typing.NDArray[np.bool_]) -> Floats:
    """Return places that fit the known differences best, their mean being zero."""
    laplacian = np.diag(is_known.sum(axis=1)) - is_known.astype(float)
    return np.asarray(np.linalg.pinv(laplacian) @ np.where(is_known, difference, 0.0).sum(axis=1), np.float64)


def _through_others(variance: Floats) -> Floats:
    """Return the variances of all differences; of two that were not compared, the sum along the surest way."""
    is_known = np.isfinite(variance) | np.eye(len(variance), dtype=bool)
    # A variance of zero would be taken for no connection.
    known = np.where(np.isfinite(variance), np.maximum(variance, 1e-300), 0.0)
    ways = np.where(is_known, variance, shortest_path(known, directed=False)) if not is_known.all() else variance
    filled = np.where(np.isfinite(ways), ways, np.nan)
    filled[np.diag_indices_from(filled)] = 0.0
    return filled


def _ranked(
    question: str, source: str, component: str, estimates: _Estimates, rng: np.random.Generator, draws: int
) -> pd.DataFrame:
    size = len(estimates.names)
    beyond, these = (_probabilities(estimates.value, errors, rng, draws) for errors in estimates[2:])
    return pd.DataFrame(
        {
            "question": question,
            "source": source,
            "component": component,
            "condition": np.repeat(np.array(estimates.names, dtype=object), size),
            "rank": np.tile(np.arange(1, size + 1), size),
            "probability": beyond.ravel(),
            "these_probability": these.ravel(),
        },
        columns=RANKS.names,
    )


def _probabilities(value: Floats, errors: _Errors, rng: np.random.Generator, draws: int) -> Floats:
    """Return the share of draws in which each condition, a row, has each rank."""
    size = len(value)
    if not np.isfinite(errors.variance).all():
        return np.full((size, size), np.nan)
    centre = np.eye(size) - 1 / size
    # The covariance whose differences have these variances; moderated one by one they need not be those of any.
    values, vectors = np.linalg.eigh(-centre @ errors.variance @ centre / 2)
    root = vectors * np.sqrt(np.maximum(0, values))
    df = max(1.0, float(np.nanmedian(errors.df))) if np.isfinite(errors.df).any() else np.inf
    wider = np.sqrt(df / rng.chisquare(df, (draws, 1))) if np.isfinite(df) else 1.0
    drawn = np.round(value + wider * (rng.standard_normal((draws, size)) @ root.T), _DECIMALS)
    # Equals share their ranks by lot.
    order = np.lexsort((rng.random(drawn.shape), -drawn), axis=1)
    place = order + size * np.arange(size)
    counts: Codes = np.bincount(place.ravel(), minlength=size * size).reshape(size, size)
    return np.asarray(counts.T / draws, np.float64)
