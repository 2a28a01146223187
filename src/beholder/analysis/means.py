"""Votes gathered by groups, such as conditions: how many, their mean and spread, and its intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from beholder.analyse.metrics import metric
from beholder.analyse.table import Ratings
from beholder.stats.clustered import Cells, Codes, Estimate, Floats, Over, mean_of, sums_by
from beholder.stats.interval import bounds_for, is_share

INTERVALS: Mapping[Over, str] = {
    "both": "clustered t over participants and contents",
    "participants": "t over participants",
    "contents": "t over contents",
    "ratings": "t over ratings",
}
"""What the interval of a mean is called, by what it generalises over."""


class Groups(NamedTuple):
    """Which groups there are, what weighs the same in the mean of each, and over what intervals generalise."""

    column: str
    names: Sequence[str]
    """In the order in which they are told."""
    equal: str = "stimulus"
    """The column whose values weigh the same within a group."""
    over: Over = "both"
    """What the interval of the mean generalises over."""
    narrower: Sequence[Over] = ("participants", "contents", "ratings")
    """What further intervals generalise over."""


def codes_of(column: pd.Series, names: Sequence[str] | None = None) -> Codes:
    """Return the values of a column as numbers from 0, those of `names` by their place there and others as -1."""
    codes, found = pd.factorize(column)
    if names is not None:
        codes = pd.Index(list(names), dtype=object).get_indexer(pd.Index(found).astype(object))[codes]
    return np.asarray(codes, np.intp)


def averaged(value: Floats, *codes: Codes) -> tuple[Floats, tuple[Codes, ...]]:
    """Return the means of the values that share all codes, with these codes, sorted by them.

    `value` may have a row for each of several data sets.
    """
    joint = np.zeros(value.shape[-1], np.int64)
    for code in codes:
        joint = joint * (int(code.max(initial=0)) + 1) + code
    _, first, place = np.unique(joint, return_index=True, return_inverse=True)
    if len(first) == len(joint):
        return np.asarray(value[..., first], np.float64), tuple(code[first] for code in codes)
    means = sums_by(place, np.atleast_2d(value), len(first)) / np.bincount(place, minlength=len(first))
    return means.reshape(*value.shape[:-1], len(first)), tuple(code[first] for code in codes)


def by_group(ratings: Ratings, table: pd.DataFrame, groups: Groups) -> pd.DataFrame:
    """Return one row per question and group of these votes: counts, mean, sd, median, quartiles and intervals.

    The mean is taken over each participant's own mean of a stimulus, so that n, sd, median and quartiles are of votes.
    """
    names = list(groups.names)
    place = codes_of(table["question"], ratings.questions) * len(names) + codes_of(table[groups.column], names)
    spread = _spread(place, table["value"].to_numpy(float))
    codes = (place, codes_of(table["participant"]), codes_of(table["content"]), codes_of(table["stimulus"]))
    value, (place, participant, content, stimulus) = averaged(table["value"].to_numpy(float), *codes)
    equal = content if groups.equal == "content" else stimulus
    rows = []
    for number in spread.index:
        mine = slice(*np.searchsorted(place, [number, number + 1]))
        cells = Cells(value[mine], participant[mine], content[mine])
        question = ratings.questions[number // len(names)]
        rows.append(
            {
                "question": question,
                groups.column: names[number % len(names)],
                "metric": metric(ratings.methods[question], ratings.kinds[question]).name,
                **spread.loc[number].to_dict(),
                "stimuli": len(np.unique(stimulus[mine])),
                **_means(cells, equal[mine], ratings.kinds[question], int(spread.loc[number, "n"]), groups),
            }
        )
    return pd.DataFrame(rows, columns=_columns(groups)).astype({"n": int})


def _columns(groups: Groups) -> list[str]:
    ends = [f"{over}_{end}" for over in groups.narrower for end in ("low", "high")]
    return [
        "question", groups.column, "metric", "n", "participants", "contents", "stimuli", "mean", "sd", "median", "q1",
        "q3", "ci_low", "ci_high", "interval", *ends, "note",
    ]  # fmt: skip


def _spread(place: Codes, value: Floats) -> pd.DataFrame:
    """Return n, sd, median and quartiles of the votes of every group that has any, by its number."""
    groups = pd.Series(value).groupby(place)
    return pd.DataFrame(
        {
            "n": groups.size(),
            "sd": groups.std(),
            "median": groups.median(),
            "q1": groups.quantile(0.25),
            "q3": groups.quantile(0.75),
        }
    )


def _means(cells: Cells, equal: Codes, kind: str, votes: int, groups: Groups) -> dict[str, Any]:
    """Return the mean of one group with all its intervals."""
    found = mean_of(cells, groups.over, equal=equal)
    low, high = _ends(found, kind, votes)
    is_alone = found.participants == 1
    has_none = is_alone or np.isnan(low)
    row: dict[str, Any] = {
        "participants": found.participants,
        "contents": found.contents,
        "mean": found.mean,
        "ci_low": np.nan if has_none else low,
        "ci_high": np.nan if has_none else high,
        "interval": "" if has_none else interval_name(kind, found.over),
        "note": _note(found, groups.over, width=high - low),
    }
    for over in groups.narrower:
        ends = _ends(mean_of(cells, over, equal=equal), kind, votes)
        row |= dict(zip((f"{over}_low", f"{over}_high"), ends, strict=True))
    return row


def _ends(found: Estimate, kind: str, votes: int) -> tuple[float, float]:
    units = {"contents": found.contents, "ratings": found.n}.get(found.over, found.participants)
    ends = bounds_for(kind, found.mean, found.se, found.df, units=units, ratings=max(votes, found.n))
    return float(ends.low[0]), float(ends.high[0])


def interval_name(kind: str, over: Over) -> str:
    """Return what the interval of this kind of rating is called."""
    name = INTERVALS[over]
    return f"Korn-Graubard {name[name.index('over') :]}" if is_share(kind) else name


def _note(found: Estimate, over: Over, width: float) -> str:
    if found.participants == 1:
        return "one participant: no interval"
    if width == 0:
        return "all participants agree: interval of no width"
    return "one content: interval over participants only" if over == "both" and found.contents == 1 else ""
