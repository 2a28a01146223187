"""shorter: which few questions would tell nearly what all of them tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from beholder.analysis.result import Result
from beholder.dimensionality.components import DRAWS, SEED, find_components, halves_of_people, turned_loadings
from beholder.dimensionality.data import NAMES, Data, Joined, Level, LevelRows, join, rows_of, scaled, scaling_note
from beholder.dimensionality.profile import turned_note
from beholder.stats.clustered import Floats
from beholder.stats.dimensions import cronbach_alpha

COLUMNS = [
    "size", "questions", "explained", "fresh", "covers", "pearson_condition", "pearson_stimulus", "alpha",
    "minutes_saved", "passes", "suggested",
]  # fmt: skip
ENOUGH = 0.95
"""How much of what all questions tell a shorter survey has to tell."""
_LEVELS: tuple[Level, ...] = ("stimulus", "condition")
_MOST = 12
"""Questions up to which every set is tried; above, each set is the one before and the best question beside it."""
_FEWEST_QUESTIONS = 3
_FEWEST_ROWS = 4
_SECONDS = 4
"""What a further question takes, as `beholder check` counts it."""


class _SelectionBasis(NamedTuple):
    """By what sets are judged."""

    level: Level
    rows: LevelRows
    groups: list[set[int]]
    """The questions of each component; one of each has to be in a set that tells everything."""


def shorter(
    data: Data | Sequence[Data], *, enough: float = ENOUGH, keep: int | None = None, seed: int = SEED
) -> Result | None:
    """Return the best set of every size, and which is the smallest that would do; None below three questions.

    A set does if its questions tell `enough` of what all of them tell, with other people where there are ratings, and
    if it has a question of every component that is kept. `keep` is as in `components`.
    """
    joined = join(data)
    ground = _ground(joined, keep, seed)
    if ground is None:
        return None
    best = list(_best(ground.rows, ground.groups))
    fresh = _fresh(joined, ground, seed)
    table = pd.DataFrame([_row(joined, ground, chosen, fresh, enough) for chosen in best], columns=COLUMNS[:-1])
    passing = table.index[table["passes"] & (table["size"] < len(joined.questions))]
    table["suggested"] = table.index == (passing[0] if len(passing) else -1)
    return Result(table, _note(joined, ground, enough, bool(fresh), seed), "")


def _ground(joined: Joined, keep: int | None, seed: int) -> _SelectionBasis | None:
    questions = joined.questions
    if len(questions) < _FEWEST_QUESTIONS:
        return None
    for level in _LEVELS:
        rows = rows_of(joined, questions, level)
        if rows.worth < _FEWEST_ROWS or not all(rows.varies):
            continue
        fit = find_components(joined, level, keep=keep, seed=seed)
        if fit is not None:
            strongest = np.abs(turned_loadings(fit)).argmax(axis=1)
            groups = [set(np.flatnonzero(strongest == one).tolist()) for one in range(fit.kept)]
            return _SelectionBasis(level, rows, [group for group in groups if group])
    return None


def _best(rows: LevelRows, groups: list[set[int]]) -> Iterator[tuple[int, ...]]:
    """Yield the best set of every size: of those with a question of most components, the one that tells most."""
    count = rows.value.shape[1]
    chosen: tuple[int, ...] = ()
    # A set as large as there are rows tells everything, whatever it is.
    for size in [one for one in range(1, count + 1) if one < rows.worth - 1 or one == count]:
        if count <= _MOST:
            sets: Sets = list(combinations(range(count), size))
        elif size == count:
            sets = [tuple(range(count))]
        else:
            sets = [tuple(sorted((*chosen, place))) for place in range(count) if place not in chosen]
        covered = np.array([_covered(groups, one) for one in sets])
        chosen = sets[int(np.argmax(np.where(covered == covered.max(), told_shares(rows, sets), -np.inf)))]
        yield chosen


def _covered(groups: list[set[int]], chosen: tuple[int, ...]) -> int:
    return sum(not group.isdisjoint(chosen) for group in groups)


def _fresh(joined: Joined, ground: _SelectionBasis, seed: int) -> dict[int, float]:
    """Return by size how well a set does with other people than those by whom it was picked, averaged over draws."""
    seen: dict[int, list[float]] = {}
    for one, other in halves_of_people(joined, ground.level, seed):
        mine = LevelRows(one - one.mean(axis=0), 1) if len(one) else LevelRows(one, 1)
        if len(one) < _FEWEST_ROWS or not all(mine.varies):
            continue
        for chosen in _best(mine, ground.groups):
            seen.setdefault(len(chosen), []).append(fresh_share(mine.value, other, chosen))
    return {size: float(np.mean(values)) for size, values in seen.items()}


def _row(
    joined: Joined, ground: _SelectionBasis, chosen: tuple[int, ...], fresh: dict[int, float], enough: float
) -> dict[str, Any]:
    names = [joined.questions[place] for place in chosen]
    explained = float(told_shares(ground.rows, [chosen])[0])
    covers = _covered(ground.groups, chosen) == len(ground.groups)
    answers = scaled(_single(joined, names), joined, names)
    explained_share = fresh.get(len(chosen), explained)
    return {
        "size": len(chosen), "questions": "; ".join(names), "explained": explained,
        "fresh": fresh.get(len(chosen), np.nan), "covers": covers,
        "pearson_condition": _average(joined, names, "condition"),
        "pearson_stimulus": _average(joined, names, "stimulus"),
        "alpha": cronbach_alpha(answers.covariance, answers.worth).value,
        "minutes_saved": _minutes(joined, set(names)), "passes": bool(covers and explained_share >= enough),
    }  # fmt: skip


def _average(joined: Joined, chosen: Sequence[str], level: Level) -> float:
    """Return the correlation of the plain average of some questions with that of all."""
    rows = scaled(rows_of(joined, joined.questions, level), joined, joined.questions).value
    if len(rows) < _FEWEST_ROWS:
        return float("nan")
    part = rows[:, [joined.questions.index(name) for name in chosen]].mean(axis=1)
    whole = rows.mean(axis=1)
    return float(np.corrcoef(part, whole)[0, 1]) if np.ptp(part) > 0 and np.ptp(whole) > 0 else float("nan")


def _single(joined: Joined, questions: Sequence[str]) -> LevelRows:
    """Return single answers to these questions; where nobody answered all, means."""
    levels: tuple[Level, ...] = ("answer", "stimulus", "condition")
    by_level = [rows_of(joined, questions, level) for level in levels]
    return next((rows for rows in by_level if rows.worth > 1), by_level[-1])


def _minutes(joined: Joined, chosen: set[str]) -> float:
    """Return how much shorter a participant's sessions are; NaN where nobody says how many stimuli one has."""
    saved = 0.0
    for part in joined.parts:
        if part.items is None:
            return float("nan")
        stimuli = np.bincount(part.items.participant)
        dropped = len([name for name in part.questions if name not in chosen])
        saved += dropped * _SECONDS * float(np.median(stimuli[stimuli > 0])) / 60
    return saved


def _note(joined: Joined, ground: _SelectionBasis, enough: float, has_fresh: bool, seed: int) -> str:
    tried = "of all sets" if len(joined.questions) <= _MOST else "when questions are added one by one"
    note = (
        f"For every size the best {tried}: one question at least of every component that is kept, as far as there is "
        f"room, then the highest explained: the share of the variance of all questions over {NAMES[ground.level]} that "
        "follows from its questions by least squares, adjusted for how many they are."
    )
    if has_fresh:
        note += (
            " fresh: the set and its weights are taken from half of the people, and what follows for every question is "
            "held against the other half's means: the share of the variance that it tells of these, as a share of what "
            f"asking that question itself would have told ({DRAWS} draws, seed {seed}; above 1, questions help each "
            "other out)."
        )
    else:
        note += " fresh: empty, as halves of the people take the ratings of four participants or more."
    return (
        f"{note} passes: a question of every component, and {enough:g} or more of "
        f"{'fresh' if has_fresh else 'explained, which is of the best of many sets and so a little too high'}. "
        "suggested: the smallest that passes. pearson: the correlation of its plain average with that of all, of which "
        "it is a part. alpha: of single answers, else of means. minutes_saved: each participant's, "
        f"{_SECONDS} seconds for a question and stimulus, over all studies.{scaling_note(joined)}{turned_note(joined)}"
    )


# Share of the variance of all questions that some of them explain


Sets: TypeAlias = list[tuple[int, ...]]
_RIDGE = 1e-9
"""Keeps questions that are alike to the last digit apart."""


def told_shares(rows: LevelRows, sets: Sets) -> Floats:
    """Return for each set, all of one size, the share of the variance of all questions that follows from it.

    It is the mean of the squared multiple correlations, adjusted for the size of the set, which has to be below the
    number of rows minus one unless it is all questions.
    """
    places = np.array(sets)
    size, free = places.shape[1], rows.worth - 1 - places.shape[1]
    if size == rows.value.shape[1]:
        return np.ones(len(sets))
    matrix = rows.correlation
    inner = matrix[places[:, :, None], places[:, None, :]] + _RIDGE * np.eye(size)
    across = matrix[places]
    squared = np.einsum("skp,skp->sp", across, np.linalg.solve(inner, across)).clip(0.0, 1.0)
    adjusted = 1 - (1 - squared) * (rows.worth - 1) / free
    np.put_along_axis(adjusted, places, 1.0, axis=1)
    return np.asarray(adjusted.mean(axis=1), np.float64)


def fresh_share(one: Floats, other: Floats, chosen: Sequence[int]) -> float:
    """Return how well means of some questions by one half of the people tell all questions of the other half.

    1 is as well as asking each question itself. Weights are those of the first half, which has no means left in it.
    """
    picked = one[:, list(chosen)]
    weights = np.linalg.lstsq(picked, one, rcond=_RIDGE)[0]
    by_itself = _squares(one, other).sum()
    return float(_squares(picked @ weights, other).sum() / by_itself) if by_itself > 0 else float("nan")


def _squares(one: Floats, other: Floats) -> Floats:
    """Return the squared correlation of each column with the same of the other; 0 where one does not vary."""
    one, other = one - one.mean(axis=0), other - other.mean(axis=0)
    spread = np.square(one).sum(axis=0) * np.square(other).sum(axis=0)
    return np.asarray(np.square((one * other).sum(axis=0)) / np.where(spread > 0, spread, np.inf), np.float64)
