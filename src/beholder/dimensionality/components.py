"""components and loadings: how many things the questions measure, and which question belongs to which."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from beholder.analysis.items import ItemMatrix, stimulus_means
from beholder.analysis.result import Result
from beholder.dimensionality.data import LEVELS as DATA_LEVELS
from beholder.dimensionality.data import NAMES, Data, Joined, Level, LevelRows, join, rows_of, scaled, scaling_note
from beholder.dimensionality.profile import turned_note
from beholder.stats.clustered import Floats as ClusteredFloats
from beholder.stats.correlation import mean_correlation
from beholder.stats.dimensions import (
    COMPONENT_CITATION,
    CONSISTENCY_CITATION,
    Floats,
    PrincipalComponents,
    alpha_without_each,
    cronbach_alpha,
    mcdonald_omega,
    parallel_analysis,
    principal_components,
    retained_components,
    varimax,
)
from beholder.stats.dimensions import DRAWS as DIMENSION_DRAWS

COMPONENTS = ["level", "component", "n", "eigenvalue", "share", "cumulative", "chance", "kept", "repeats"]
LOADINGS = ["level", "question", "component", "loading", "unrotated", "communality"]
SEED = 1
_FEWEST_ROWS = 4
_FEWEST_QUESTIONS = 2
_NOTHING = 1e-9


class LevelComponents(NamedTuple):
    """The components of one level."""

    level: Level
    questions: tuple[str, ...]
    """Those that vary."""
    rows: int
    worth: int
    principal: PrincipalComponents
    chance: Floats
    kept: int


def components(
    data: Data | Sequence[Data], *, levels: Sequence[Level] = DATA_LEVELS, keep: int | None = None, seed: int = SEED
) -> Result:
    """Return the eigenvalues of the questions' correlations at every level, and which stand above chance.

    `keep` keeps so many, whatever chance says.
    """
    joined = join(data)
    fits = [one for level in levels if (one := find_components(joined, level, keep=keep, seed=seed)) is not None]
    parts = [_table(one).assign(repeats=_repeats(joined, one, seed)) for one in fits]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COMPONENTS)
    note = (
        "Principal components of the correlations between questions. share, cumulative: of the variance of all "
        "questions. chance: the 95th percentile of the same eigenvalue with as many rows of independent noise "
        f"({DIMENSION_DRAWS:,} draws, seed {seed}); kept: those above it before the first that is not (parallel "
        "analysis). "
        "repeats: the correlation of the component between two halves of the people, raised to all of them "
        "(Spearman-Brown): with few conditions or stimuli a component can be real to people and yet not above chance."
    )
    return Result(table, note + _warnings(joined, fits, levels) + turned_note(joined), COMPONENT_CITATION, _draw)


def loadings(
    data: Data | Sequence[Data], *, levels: Sequence[Level] = DATA_LEVELS, keep: int | None = None, seed: int = SEED
) -> Result:
    """Return how far each question belongs to each of the components that are kept, turned by varimax."""
    joined = join(data)
    fits = [one for level in levels if (one := find_components(joined, level, keep=keep, seed=seed)) is not None]
    parts = [_loadings(one) for one in fits]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=LOADINGS)
    note = (
        "Correlation of each question with each component that is kept, one at least. loading: turned by varimax, so "
        "that each question belongs to as few as can be; unrotated: as they come out. communality: the share of the "
        "question's variance in all of these together, the same before and after."
    )
    return Result(
        table, note + _warnings(joined, fits, levels) + turned_note(joined), COMPONENT_CITATION, _draw_loadings
    )


def find_components(
    joined: Joined, level: Level, *, keep: int | None = None, seed: int = SEED
) -> LevelComponents | None:
    """Return the components of a level; None where too little has all questions."""
    questions = joined.questions
    rows = rows_of(joined, questions, level)
    varying = tuple(name for name, varies in zip(questions, rows.varies, strict=True) if varies)
    if len(varying) < len(questions):
        rows = rows_of(joined, varying, level)
    if rows.worth < _FEWEST_ROWS or len(varying) < _FEWEST_QUESTIONS:
        return None
    principal = principal_components(rows.correlation)
    chance = parallel_analysis(rows.worth, len(varying), np.random.default_rng(seed))
    above = (
        retained_components(principal.eigenvalues, chance)
        if keep is None
        else min(keep, int((principal.eigenvalues > 0).sum()))
    )
    return LevelComponents(level, varying, len(rows.value), rows.worth, principal, chance, above)


def turned_loadings(fit: LevelComponents) -> Floats:
    """Return the loadings on the components that are kept, one at least, turned by varimax."""
    return varimax(fit.principal.loadings[:, : max(1, fit.kept)])


def _table(fit: LevelComponents) -> pd.DataFrame:
    values = fit.principal.eigenvalues
    share = values / values.sum()
    place = np.arange(1, len(values) + 1)
    return pd.DataFrame(
        {
            "level": fit.level, "component": place, "n": fit.rows, "eigenvalue": values, "share": share,
            "cumulative": np.cumsum(share), "chance": fit.chance, "kept": place <= fit.kept,
        }
    )  # fmt: skip


def _repeats(joined: Joined, fit: LevelComponents, seed: int) -> Floats:
    """Return how far each component, weighed as over all people, is the same with two halves of them."""
    places = [joined.questions.index(name) for name in fit.questions]
    values = fit.principal.eigenvalues
    # A component without variance is noise of the arithmetic.
    weights = np.where(values > _NOTHING, fit.principal.loadings / np.sqrt(np.maximum(values, _NOTHING)), np.nan)
    rows = rows_of(joined, fit.questions, fit.level)
    weights = weights / np.sqrt(np.diagonal(rows.covariance))[:, None]
    seen = []
    for half in halves_of_people(joined, fit.level, seed):
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


def _loadings(fit: LevelComponents) -> pd.DataFrame:
    plain = fit.principal.loadings[:, : max(1, fit.kept)]
    count = plain.shape[1]
    return pd.DataFrame(
        {
            "level": fit.level,
            "question": np.repeat(fit.questions, count),
            "component": np.tile(np.arange(1, count + 1), len(fit.questions)),
            "loading": turned_loadings(fit).ravel(),
            "unrotated": plain.ravel(),
            "communality": np.repeat(np.square(plain).sum(axis=1), count),
        }
    )[LOADINGS]


def _warnings(joined: Joined, fits: Sequence[LevelComponents], levels: Sequence[Level]) -> str:
    """Return what limits the components of each level."""
    warnings = ""
    for one in fits:
        asked = len(one.questions)
        if one.worth <= asked:
            warnings += (
                f" {one.level}: {one.worth} {NAMES[one.level]} for {asked} questions span at most {one.worth - 1} "
                "dimensions, whatever the questions measure: read it as a description."
            )
        still = [name for name in joined.questions if name not in one.questions]
        if still:
            warnings += f" {one.level}: left out, as it does not vary: {', '.join(still)}."
        if not one.kept:
            warnings += f" {one.level}: no component stands above chance."
        elif one.kept > retained_components(one.principal.eigenvalues, one.chance):
            warnings += f" {one.level}: {one.kept} are kept because that was asked for, more than stand above chance."
    for level in levels:
        if level not in {one.level for one in fits}:
            warnings += f" {level}: left out, as fewer than {_FEWEST_ROWS} {NAMES[level]} have all questions."
    return warnings


def _draw(table: pd.DataFrame) -> Any:
    from beholder.dimensionality.figures import components_chart

    return components_chart(table)


def _draw_loadings(table: pd.DataFrame) -> Any:
    from beholder.dimensionality.figures import loadings_chart

    return loadings_chart(table)


# Internal consistency: Cronbach's alpha and McDonald's omega


COLUMNS = ["of", "level", "without", "questions", "n", "alpha", "alpha_low", "alpha_high", "omega", "note"]
LEVELS: tuple[Level, ...] = ("condition", "stimulus", "answer", "within")
ALL = "all questions"
_HIGH = 0.9
_CONSISTENCY_FEWEST_ROWS = 3


def consistency(data: Data | Sequence[Data], *, levels: Sequence[Level] = LEVELS) -> Result:
    """Return alpha and omega of all questions, and of those of each study, and alpha without each of them.

    `level` says over what: means of conditions or stimuli, single answers, or answers without what is common to a
    stimulus or a participant.
    """
    joined = join(data)
    sets = {ALL: joined.questions}
    if len(joined.parts) > 1:
        sets |= {part.side.name or part.questions[0]: part.questions for part in joined.parts if part.questions}
    rows = [row for name, asked in sets.items() for level in levels for row in _of(joined, name, asked, level)]
    table = pd.DataFrame(rows, columns=COLUMNS).astype({"questions": int, "n": int})
    return Result(table, _note(table) + scaling_note(joined) + turned_note(joined), CONSISTENCY_CITATION)


def _of(joined: Joined, name: str, questions: Sequence[str], level: Level) -> Iterator[dict[str, Any]]:
    rows = scaled(rows_of(joined, questions, level), joined, questions)
    if len(questions) < 2 or rows.worth < _CONSISTENCY_FEWEST_ROWS or not any(rows.varies):
        return
    matrix = rows.covariance
    alpha = cronbach_alpha(matrix, rows.worth)
    base: dict[str, Any] = {"of": name, "level": level, "n": len(rows.value)}
    yield base | {
        "without": "", "questions": len(questions), "alpha": alpha.value, "alpha_low": alpha.low,
        "alpha_high": alpha.high, "omega": mcdonald_omega(matrix), "note": _against(questions, rows),
    }  # fmt: skip
    if len(questions) < 3:
        return
    for place, (question, left) in enumerate(zip(questions, alpha_without_each(matrix), strict=True)):
        smaller = np.delete(np.delete(matrix, place, 0), place, 1)
        yield base | {
            "without": question, "questions": len(questions) - 1, "alpha": float(left), "alpha_low": math.nan,
            "alpha_high": math.nan, "omega": mcdonald_omega(smaller), "note": "",
        }  # fmt: skip


def _against(questions: Sequence[str], rows: LevelRows) -> str:
    """Return which questions fall where the others rise: perhaps they are reversed and nobody said so."""
    matrix = rows.covariance
    with_others = matrix.sum(axis=1) - np.diagonal(matrix)
    against = [name for name, sum_ in zip(questions, with_others, strict=True) if sum_ < 0]
    return f"runs against the others: {', '.join(against)}" if against else ""


def _note(table: pd.DataFrame) -> str:
    note = (
        "alpha: Cronbach's, of the average of the questions, with Feldt's 95 % interval, which takes rows as "
        "independent (one participant's answers are not: at levels answer and within it is too narrow). omega: "
        "McDonald's, from one common factor, for three questions or more. without: the same when that question is left "
        "out; where alpha rises without it, it measures something else. Averages over many people have a high alpha "
        "in any case: level answer is what questionnaires report."
    )
    answers = table[(table["level"] == "answer") & (table["without"] == "")]
    if (answers["alpha"] > _HIGH).any():
        note += (
            " Above 0.9 questions may be more than alike: one impression may colour all answers on a page (halo). "
            "layout: random asks each with its own showing, and is the control."
        )
    return note


# Split halves of the participants


DRAWS = 20
_FEWEST = 4
"""Participants of each study below whom there are no halves."""


class Halves(NamedTuple):
    """Means of the same rows by two halves of the people; a column for each question."""

    one: ClusteredFloats
    other: ClusteredFloats


def halves_of_people(joined: Joined, level: Level, seed: int, draws: int = DRAWS) -> Iterator[Halves]:
    """Yield means by halves of the people; nothing at levels of single answers, or where only scores are known."""
    every = [part.items for part in joined.parts]
    items = [one for one in every if one is not None]
    people = [len(np.unique(one.participant)) for one in items]
    if level not in ("condition", "stimulus") or len(items) < len(every) or min(people, default=0) < _FEWEST:
        return
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        picked = [_half(one, rng) for one in items]
        both = [
            pd.concat([_means(one, level, is_mine == side) for one, is_mine in zip(items, picked, strict=True)], axis=1)
            for side in (True, False)
        ]
        one, other = (frame.reindex(columns=list(joined.questions)) for frame in both)
        rows = one.dropna().index.intersection(other.dropna().index, sort=False)
        yield Halves(one.loc[rows].to_numpy(float), other.loc[rows].to_numpy(float))


def _half(items: ItemMatrix, rng: np.random.Generator) -> np.ndarray:
    """Return for every row whether its participant is in the first half."""
    people = np.unique(items.participant)
    chosen = rng.permutation(people)[: len(people) // 2]
    return np.isin(items.participant, chosen)


def _means(items: ItemMatrix, level: Level, is_mine: np.ndarray) -> pd.DataFrame:
    mine = items._replace(value=items.value[is_mine], stimulus=items.stimulus[is_mine])
    frame = pd.DataFrame(stimulus_means(mine), columns=list(items.questions))
    if level == "stimulus":
        return frame.set_axis(items.stimuli["stimulus"])
    return frame.groupby(items.stimuli["condition"].to_numpy(), sort=False).mean()
