"""split: the same once more for what is above a threshold of one question, and for what is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analyse.result import Result
from beholder.dimensions.correlations import CITATION, correlation_note, correlations, turned_note
from beholder.dimensions.correlations import COLUMNS as PAIRS
from beholder.dimensions.joined import Data, Joined, Part, join
from beholder.dimensions.levels import LEVELS, Level, rows_of
from beholder.dimensions.profile import check_names
from beholder.stats.correlation import mean_correlation
from beholder.stats.interval import STUDENT, t_interval

MEANS = ["part", "question", "conditions", "mean", "sd", "ci_low", "ci_high", "mean_pearson"]
RESTRICTED = (
    "Within a part the conditions differ less, which alone lowers correlations: it does not show that questions come "
    "apart."
)


class Half(NamedTuple):
    """What is on one side of a threshold."""

    name: str
    joined: Joined


def halves(data: Data | Sequence[Data], question: str, threshold: float) -> tuple[Half, Half]:
    """Return what lies above the threshold of a question, and what does not.

    Conditions go by their own means and stimuli by theirs; a stimulus without a score on the question goes with its
    condition. What has neither is on no side.
    """
    joined = join(data)
    check_names("split", [question], joined.questions)
    conditions, stimuli = joined.by_condition[question], joined.by_stimulus[question]
    own = pd.Series({name: joined.condition_of[str(name)] for name in stimuli.index}, dtype=object)
    stimuli = stimuli.where(stimuli.notna(), own.map(conditions).astype(float) if len(own) else stimuli)
    return (
        Half(f"{question} > {threshold:g}", _only(joined, conditions > threshold, stimuli > threshold)),
        Half(f"{question} ≤ {threshold:g}", _only(joined, conditions <= threshold, stimuli <= threshold)),
    )


def split_correlations(
    data: Data | Sequence[Data], question: str, threshold: float, *, levels: Sequence[Level] = LEVELS
) -> Result:
    """Return the correlations between questions once for each side of a threshold."""
    joined = join(data)
    parts = [
        correlations(half.joined, levels=levels).table.assign(part=half.name)
        for half in halves(joined, question, threshold)
    ]
    table = pd.concat([one for one in parts if len(one)] or parts, ignore_index=True)[["part", *PAIRS]]
    note = (
        f"{correlation_note(table)} part: conditions by their means on {question}, stimuli by theirs, answers with "
        f"their stimulus. {RESTRICTED}"
    )
    return Result(table, note + turned_note(joined), CITATION)


def split_means(data: Data | Sequence[Data], question: str, threshold: float) -> Result:
    """Return the mean over conditions of every question once for each side of a threshold."""
    joined = join(data)
    rows = [row for half in halves(joined, question, threshold) for row in _means(half)]
    note = (
        f"Conditions by their means on {question}, above {threshold:g} or not. mean, sd and 95 % Student t over "
        "conditions; mean_pearson: of its correlations with the other questions over these conditions, averaged on "
        f"Fisher's z scale. {RESTRICTED}"
    )
    return Result(pd.DataFrame(rows, columns=MEANS).astype({"conditions": int}), note + turned_note(joined), STUDENT)


def _means(half: Half) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for name in half.joined.questions:
        one = t_interval(half.joined.by_condition[name].dropna())
        others = [_pearson(half.joined, name, other) for other in half.joined.questions if other != name]
        together = mean_correlation([r for r in others if not np.isnan(r)])
        found.append((half.name, name, one.n, one.mean, one.sd, one.low, one.high, together))
    return found


def _pearson(joined: Joined, one: str, other: str) -> float:
    rows = rows_of(joined, [one, other], "condition")
    return float(rows.correlation[0, 1]) if rows.worth > 3 and all(rows.varies) else float("nan")


def _only(joined: Joined, is_condition: pd.Series, is_stimulus: pd.Series) -> Joined:
    """Return what is known of these conditions and of these stimuli."""
    by_condition, by_stimulus = joined.by_condition[is_condition], joined.by_stimulus[is_stimulus]
    return replace(
        joined,
        parts=tuple(_of_part(part, set(by_stimulus.index)) for part in joined.parts),
        means=joined.means[joined.means["condition"].isin(by_condition.index)],
        by_condition=by_condition,
        by_stimulus=by_stimulus,
    )


def _of_part(part: Part, stimuli: set[str]) -> Part:
    if part.items is None:
        return part
    items = part.items
    is_mine = items.stimuli["stimulus"].isin(stimuli).to_numpy(bool)[items.stimulus]
    kept = items._replace(
        value=items.value[is_mine], participant=items.participant[is_mine], stimulus=items.stimulus[is_mine]
    )
    return replace(part, items=kept)
