"""components and loadings: how many things the questions measure, and which question belongs to which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from beholder.analyse.result import Result
from beholder.dimensions.correlations import turned_note
from beholder.dimensions.halves import halves_of_people
from beholder.dimensions.joined import Data, Joined, join
from beholder.dimensions.levels import LEVELS, NAMES, Level, rows_of
from beholder.stats.components import CITATION, DRAWS, Floats, Principal, kept, parallel, principal, varimax
from beholder.stats.correlation import mean_correlation

COMPONENTS = ["level", "component", "n", "eigenvalue", "share", "cumulative", "chance", "kept", "repeats"]
LOADINGS = ["level", "question", "component", "loading", "unrotated", "communality"]
SEED = 1
_FEWEST_ROWS = 4
_FEWEST_QUESTIONS = 2
_NOTHING = 1e-9


class Found(NamedTuple):
    """The components of one level."""

    level: Level
    questions: tuple[str, ...]
    """Those that vary."""
    rows: int
    worth: int
    principal: Principal
    chance: Floats
    kept: int


def components(
    data: Data | Sequence[Data], *, levels: Sequence[Level] = LEVELS, keep: int | None = None, seed: int = SEED
) -> Result:
    """Return the eigenvalues of the questions' correlations at every level, and which stand above chance.

    `keep` keeps so many, whatever chance says.
    """
    joined = join(data)
    found = [one for level in levels if (one := find_components(joined, level, keep=keep, seed=seed)) is not None]
    parts = [_table(one).assign(repeats=_repeats(joined, one, seed)) for one in found]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COMPONENTS)
    note = (
        "Principal components of the correlations between questions. share, cumulative: of the variance of all "
        "questions. chance: the 95th percentile of the same eigenvalue with as many rows of independent noise "
        f"({DRAWS:,} draws, seed {seed}); kept: those above it before the first that is not (parallel analysis). "
        "repeats: the correlation of the component between two halves of the people, raised to all of them "
        "(Spearman-Brown): with few conditions or stimuli a component can be real to people and yet not above chance."
    )
    return Result(table, note + _warnings(joined, found, levels) + turned_note(joined), CITATION, _draw)


def loadings(
    data: Data | Sequence[Data], *, levels: Sequence[Level] = LEVELS, keep: int | None = None, seed: int = SEED
) -> Result:
    """Return how far each question belongs to each of the components that are kept, turned by varimax."""
    joined = join(data)
    found = [one for level in levels if (one := find_components(joined, level, keep=keep, seed=seed)) is not None]
    parts = [_loadings(one) for one in found]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=LOADINGS)
    note = (
        "Correlation of each question with each component that is kept, one at least. loading: turned by varimax, so "
        "that each question belongs to as few as can be; unrotated: as they come out. communality: the share of the "
        "question's variance in all of these together, the same before and after."
    )
    return Result(table, note + _warnings(joined, found, levels) + turned_note(joined), CITATION, _draw_loadings)


def find_components(joined: Joined, level: Level, *, keep: int | None = None, seed: int = SEED) -> Found | None:
    """Return the components of a level; None where too little has all questions."""
    questions = joined.questions
    rows = rows_of(joined, questions, level)
    varying = tuple(name for name, varies in zip(questions, rows.varies, strict=True) if varies)
    if len(varying) < len(questions):
        rows = rows_of(joined, varying, level)
    if rows.worth < _FEWEST_ROWS or len(varying) < _FEWEST_QUESTIONS:
        return None
    found = principal(rows.correlation)
    chance = parallel(rows.worth, len(varying), np.random.default_rng(seed))
    above = kept(found.eigenvalues, chance) if keep is None else min(keep, int((found.eigenvalues > 0).sum()))
    return Found(level, varying, len(rows.value), rows.worth, found, chance, above)


def turned_loadings(found: Found) -> Floats:
    """Return the loadings on the components that are kept, one at least, turned by varimax."""
    return varimax(found.principal.loadings[:, : max(1, found.kept)])


def _table(found: Found) -> pd.DataFrame:
    values = found.principal.eigenvalues
    share = values / values.sum()
    place = np.arange(1, len(values) + 1)
    return pd.DataFrame(
        {
            "level": found.level, "component": place, "n": found.rows, "eigenvalue": values, "share": share,
            "cumulative": np.cumsum(share), "chance": found.chance, "kept": place <= found.kept,
        }
    )  # fmt: skip


def _repeats(joined: Joined, found: Found, seed: int) -> Floats:
    """Return how far each component, weighed as over all people, is the same with two halves of them."""
    places = [joined.questions.index(name) for name in found.questions]
    values = found.principal.eigenvalues
    # A component without variance is noise of the arithmetic.
    weights = np.where(values > _NOTHING, found.principal.loadings / np.sqrt(np.maximum(values, _NOTHING)), np.nan)
    rows = rows_of(joined, found.questions, found.level)
    weights = weights / np.sqrt(np.diagonal(rows.covariance))[:, None]
    seen = []
    for half in halves_of_people(joined, found.level, seed):
        one, other = (side[:, places] @ weights for side in half)
        if len(one) >= _FEWEST_ROWS:
            seen.append([_pearson(*pair) for pair in zip(one.T, other.T, strict=True)])
    if not seen:
        return np.full(len(values), np.nan)
    half_way = np.array([mean_correlation(column) for column in np.array(seen).T])
    return np.asarray(2 * half_way / (1 + np.maximum(half_way, 0.0)), np.float64).clip(-1.0, 1.0)


def _pearson(one: Floats, other: Floats) -> float:
    if np.isnan(one).any() or np.ptp(one) < _NOTHING or np.ptp(other) < _NOTHING:
        return float("nan")
    return float(np.corrcoef(one, other)[0, 1])


def _loadings(found: Found) -> pd.DataFrame:
    plain = found.principal.loadings[:, : max(1, found.kept)]
    count = plain.shape[1]
    return pd.DataFrame(
        {
            "level": found.level,
            "question": np.repeat(found.questions, count),
            "component": np.tile(np.arange(1, count + 1), len(found.questions)),
            "loading": turned_loadings(found).ravel(),
            "unrotated": plain.ravel(),
            "communality": np.repeat(np.square(plain).sum(axis=1), count),
        }
    )[LOADINGS]


def _warnings(joined: Joined, found: Sequence[Found], levels: Sequence[Level]) -> str:
    """Return what limits the components of each level."""
    told = ""
    for one in found:
        asked = len(one.questions)
        if one.worth <= asked:
            told += (
                f" {one.level}: {one.worth} {NAMES[one.level]} for {asked} questions span at most {one.worth - 1} "
                "dimensions, whatever the questions measure: read it as a description."
            )
        still = [name for name in joined.questions if name not in one.questions]
        if still:
            told += f" {one.level}: left out, as it does not vary: {', '.join(still)}."
        if not one.kept:
            told += f" {one.level}: no component stands above chance."
        elif one.kept > kept(one.principal.eigenvalues, one.chance):
            told += f" {one.level}: {one.kept} are kept because that was asked for, more than stand above chance."
    for level in levels:
        if level not in {one.level for one in found}:
            told += f" {level}: left out, as fewer than {_FEWEST_ROWS} {NAMES[level]} have all questions."
    return told


def _draw(table: pd.DataFrame) -> Any:
    from beholder.dimensions.charts import components_chart

    return components_chart(table)


def _draw_loadings(table: pd.DataFrame) -> Any:
    from beholder.dimensions.charts import loadings_chart

    return loadings_chart(table)
