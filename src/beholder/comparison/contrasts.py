"""Contrasts: whether two sides agree on which conditions differ clearly, and in which direction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import scipy

from beholder.analysis.pairs import pairs
from beholder.analysis.result import Result, records
from beholder.analysis.sides import Side
from beholder.analysis.tests import ALPHA
from beholder.methods.boards import HEMVIP
from beholder.stats.clustered import CITATION as CLUSTERED
from beholder.stats.correlation import varies
from beholder.stats.intervals import welch
from beholder.stats.tests import HOLM_CITATION as HOLM
from beholder.stats.tests import holm

COLUMNS = [
    "question", "condition", "other_condition", "side", "other_side", "difference", "other_difference", "p_holm",
    "other_p_holm", "clear", "other_clear", "same_direction", "verdict",
]  # fmt: skip
COUNTS = [
    "question", "side", "other_side", "contrasts", "same_direction", "tested", "agree", "both_clear", "only_side",
    "only_other", "neither", "opposite_clear",
]  # fmt: skip
# Means are sums of fractions: a difference that is none on paper may be one in the last bits.
_DECIMALS = 9
_Pair: TypeAlias = tuple[str, str]


class SideContrast(NamedTuple):
    """What one side says of two conditions; p is NaN where it cannot be tested."""

    difference: float
    p: float
    is_judged: bool = True
    """False for anchors, hidden references and pairs that the study is not about."""


def contrasts(sides: Sequence[Side], questions: Sequence[str]) -> Result | None:
    """Return every contrast of two conditions that two sides have, beside each other; None where there is none."""
    rated = {side.name: _from_ratings(side) for side in sides if side.ratings is not None}
    rows: list[tuple[object, ...]] = []
    for question in questions:
        for one, other in combinations([side for side in sides if question in side.questions], 2):
            rows += _rows(question, one, other, rated)
    note = (
        "condition minus other_condition on either side. A side with ratings is tested by the clustered t of its "
        "pairs; a table of scores of stimuli by a paired t over the contents that have both conditions; a table of "
        "scores of conditions by Welch's t of its sd and n or its intervals; with means alone only the direction is "
        "known. Holm's correction within a question, on each side over the contrasts that both have; anchors, hidden "
        f"references and pairs that are no named contrast are left out. clear: corrected p below {ALPHA:g}."
    )
    table = pd.DataFrame(rows, columns=COLUMNS)
    return Result(table, note, "; ".join((HEMVIP, CLUSTERED, HOLM))) if len(table) else None


def contrast_counts(table: pd.DataFrame) -> Result:
    """Return on how many contrasts two sides agree, per question and, where there are several, over all."""
    groups = ["question", "side", "other_side"]
    rows = [(*names, *_counted(part)) for names, part in table.groupby(groups, sort=False)]
    if table["question"].nunique() > 1:
        rows += [("", *names, *_counted(part)) for names, part in table.groupby(groups[1:], sort=False)]
    note = (
        "same_direction: contrasts that do not point opposite ways; tested: those with a test on both sides; agree: of "
        "these, clear on both or on neither; opposite_clear: clear on both, but in opposite ways. A row without a "
        "question is over all of them."
    )
    return Result(pd.DataFrame(rows, columns=COUNTS), note, HEMVIP)


def _counted(part: pd.DataFrame) -> tuple[int, ...]:
    tested = part[part["clear"].notna() & part["other_clear"].notna()]
    one, other = tested["clear"] == 1, tested["other_clear"] == 1
    both, neither = int((one & other).sum()), int((~one & ~other).sum())
    only = int((one & ~other).sum()), int((~one & other).sum())
    opposite = int((one & other & (tested["same_direction"] == 0)).sum())
    return len(part), int(part["same_direction"].sum()), len(tested), both + neither, both, *only, neither, opposite


def _rows(
    question: str, one: Side, other: Side, rated: Mapping[str, Mapping[str, Mapping[_Pair, SideContrast]]]
) -> list[tuple[object, ...]]:
    names = [list(side.conditions[side.conditions["question"] == question]["condition"]) for side in (one, other)]
    shared = [name for name in names[0] if name in set(names[1])]
    by_side = [
        rated[side.name].get(question, {}) if side.ratings is not None else _from_scores(side, question, shared)
        for side in (one, other)
    ]
    both = [
        (pair, mine, theirs)
        for pair in combinations(shared, 2)
        for mine, theirs in ((_turned(by_side[0], pair), _turned(by_side[1], pair)),)
        if mine is not None and theirs is not None and mine.is_judged and theirs.is_judged
    ]
    corrected = [holm([mine.p for _, mine, _ in both]), holm([theirs.p for _, _, theirs in both])]
    rows = []
    for place, (pair, mine, theirs) in enumerate(both):
        adjusted = [float(p[place]) for p in corrected]
        signs = [round(some.difference, _DECIMALS) for some in (mine, theirs)]
        clear = [_clear(p, sign) for p, sign in zip(adjusted, signs, strict=True)]
        is_same = signs[0] * signs[1] >= 0
        rows.append(
            (question, *pair, one.name, other.name, mine.difference, theirs.difference, *adjusted, *clear,
             float(is_same), _verdict(clear, is_same, one.name, other.name))
        )  # fmt: skip
    return rows


def _turned(contrasts: Mapping[_Pair, SideContrast], pair: _Pair) -> SideContrast | None:
    if pair in contrasts:
        return contrasts[pair]
    turned = contrasts.get(pair[::-1])
    return turned._replace(difference=-turned.difference) if turned is not None else None


def _clear(p: float, sign: float) -> float:
    return math.nan if math.isnan(p) else float(p < ALPHA and sign != 0)


def _verdict(clear: Sequence[float], is_same: bool, one: str, other: str) -> str:
    if any(math.isnan(value) for value in clear):
        return "same direction" if is_same else "opposite directions"
    if all(clear):
        return "clear in both" if is_same else "clear in both, opposite directions"
    return f"clear in {one} only" if clear[0] else f"clear in {other} only" if clear[1] else "clear in neither"


def _from_ratings(side: Side) -> dict[str, dict[_Pair, SideContrast]]:
    """Return the contrasts of a side with ratings, by question: those of its pairs."""
    assert side.ratings is not None
    by_question: dict[str, dict[_Pair, SideContrast]] = {}
    for row in records(pairs(side.ratings).table):
        if row["mean_difference"] == row["mean_difference"]:
            is_judged = row["p"] != row["p"] or row["p_holm"] == row["p_holm"]
            one = SideContrast(row["mean_difference"], row["p"], is_judged)
            by_question.setdefault(row["question"], {})[row["condition"], row["other_condition"]] = one
    return by_question


def _from_scores(side: Side, question: str, names: Sequence[str]) -> dict[_Pair, SideContrast]:
    """Return the contrasts of a table of scores: over contents, else by Welch's t of what it tells of conditions."""
    mine = side.stimuli[(side.stimuli["question"] == question) & (side.stimuli["content"] != "")]
    cells = mine.pivot_table(index="content", columns="condition", values="mean", observed=True)
    means = side.conditions[side.conditions["question"] == question].set_index("condition")
    contrasts = {}
    for pair in combinations(names, 2):
        one, other = ({**means.loc[name, ["mean", "se", "df"]]} for name in pair)
        apart = welch(one["mean"], one["se"], one["df"], other["mean"], other["se"], other["df"])
        p = float(apart.p[0])
        if math.isnan(p) and set(pair) <= set(cells.columns):
            p = _over_contents((cells[pair[0]] - cells[pair[1]]).dropna().to_numpy(float))
        contrasts[pair] = SideContrast(float(apart.difference[0]), p)
    return contrasts


def _over_contents(differences: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    if len(differences) < 2 or not varies(differences):
        return math.nan
    return float(scipy.stats.ttest_1samp(differences, 0).pvalue)
