"""pairs: every pair of conditions, tested on participants (reference: statistics 4.2)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from beholder.analyse.holm import holm
from beholder.analyse.interval import SHARES, STUDENT, Interval, interval_for, t_interval
from beholder.analyse.result import Result
from beholder.analyse.table import COMPARISONS, Ratings
from beholder.analyse.wilcoxon import signed_rank

Differences: TypeAlias = dict[tuple[str, str], NDArray[np.float64]]
"""For two conditions, one value for each participant: above zero the first is better."""

ALPHA = 0.05
COLUMNS = [
    "question", "condition", "other_condition", "unit", "n", "mean_difference", "ci_low", "ci_high", "statistic", "p",
    "p_holm", "test", "note",
]  # fmt: skip


def pairs(ratings: Ratings) -> Result:
    """Return the difference of every two conditions over the participants who rated both, with its test."""
    parts = [_question_pairs(ratings, question) for question in ratings.questions]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)
    return Result(table, _about(ratings, table), _citation(ratings, table))


def _about(ratings: Ratings, table: pd.DataFrame) -> str:
    kinds = set(ratings.kinds.values())
    chance = "Correct answers are held against chance, not against each other, and have no pairs."
    if kinds == {"correct"}:
        return chance
    note = (
        "Unit: the participant. Each participant's mean under condition minus their mean under other_condition; "
        "only participants who rated both. Wilcoxon signed rank test, two-sided; zero differences stay in the ranking "
        "(Pratt); no continuity correction. It tests symmetry about zero. Holm's correction within each question over "
        f"all its pairs. Mean difference with {_intervals(kinds)}, which is not corrected for the number of pairs. "
        "The direction of a clear difference is the sign of this mean difference, although the test looks at ranks; a "
        "mean difference of zero has no direction and is not called clear. Where ratings are missing, it can point the "
        "other way than the condition means, which take in everybody who rated the condition."
    )
    if not kinds.isdisjoint(COMPARISONS):
        note += (
            " Where two conditions were compared with each other, the difference is the mean of each participant's own "
            "comparisons of the two, above zero where the condition was better; conditions that were compared with the "
            "same reference only differ as they differ from it."
        )
    return f"{note} {chance}" if "correct" in kinds else note


def _intervals(kinds: set[str]) -> str:
    """Return which interval a difference has."""
    told = []
    if kinds - {"choice", "correct"}:
        cut = " (of shares, cut at -1 and 1)" if "pick" in kinds else ""
        told.append(f"95 % Student t interval{cut}")
    if "choice" in kinds:
        told.append("Korn and Graubard's 95 % interval of the preference between the two")
    return " or ".join(told)


def _citation(ratings: Ratings, table: pd.DataFrame) -> str:
    """Return the sources of the tests that were made and of the intervals that were drawn."""
    sources = []
    has_interval = table[table["ci_low"].notna()]["question"].map(ratings.kinds)
    sources += [STUDENT] if (has_interval != "choice").any() else []
    sources += [SHARES] if (has_interval == "choice").any() else []
    if table["p"].notna().any():
        sources += [
            "Wilcoxon (1945), Biometrics Bulletin 1",
            "Pratt (1959), Journal of the American Statistical Association 54",
            "Holm (1979), Scandinavian Journal of Statistics 6",
        ]
    return "; ".join(sources)


def _question_pairs(ratings: Ratings, question: str) -> pd.DataFrame:
    kind = ratings.kinds[question]
    if kind in COMPARISONS:
        found = _of_comparisons(ratings, question)
    else:
        found = {} if kind == "correct" else _of_means(ratings, question)
    votes = _comparisons(ratings, question) if kind == "choice" else {}
    rows = [
        _row(question, one, other, differences, _interval(kind, differences, votes.get((one, other), 0)))
        for (one, other), differences in found.items()
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["p_holm"] = holm(table["p"].to_numpy(dtype=float))
    return table


def _of_means(ratings: Ratings, question: str) -> Differences:
    """Return for every two conditions the difference of each participant's means."""
    part = ratings.table[ratings.table["question"] == question]
    means = part.pivot_table(index="participant", columns="condition", values="value", aggfunc="mean")
    present = [name for name in ratings.conditions if name in means]
    return {
        (one, other): (means[one] - means[other]).dropna().to_numpy(dtype=float)
        for one, other in combinations(present, 2)
    }


def _of_comparisons(ratings: Ratings, question: str) -> Differences:
    """Return for every two conditions the mean of each participant's own comparisons of the two.

    Two that were never compared with each other but with one reference differ as they differ from it.
    """
    part = ratings.votes[ratings.votes["question"] == question]
    rank = {name: place for place, name in enumerate(ratings.conditions)}
    is_turned = part["condition"].map(rank) > part["other_condition"].map(rank)
    signed = part.assign(
        one=part["condition"].where(~is_turned, part["other_condition"]),
        other=part["other_condition"].where(~is_turned, part["condition"]),
        value=part["value"].where(~is_turned, -part["value"]),
    )
    means = signed.groupby(["one", "other", "participant"], sort=True)["value"].mean().reset_index()
    direct = {
        (str(one), str(other)): values.to_numpy(dtype=float)
        for (one, other), values in means.groupby(["one", "other"], sort=False)["value"]
    }
    indirect = {} if ratings.is_mirrored(question) else _of_means(ratings, question)
    found = {**indirect, **direct}
    order = combinations(ratings.conditions, 2)
    return {pair: found[pair] for pair in order if pair in found}


def _comparisons(ratings: Ratings, question: str) -> dict[tuple[str, str], int]:
    """Return how often each two conditions were compared, both ways round."""
    part = ratings.table[ratings.table["question"] == question]
    return dict(Counter(zip(part["condition"], part["other_condition"], strict=True)))


def _interval(kind: str, differences: NDArray[np.float64], votes: int) -> Interval:
    if kind == "choice":
        return interval_for(kind, differences, votes)
    found = t_interval(differences)
    # Two shares cannot differ by more than one.
    return (
        found._replace(low=max(-1.0, found.low), high=min(1.0, found.high)) if kind == "pick" and found.n > 1 else found
    )


def _row(question: str, one: str, other: str, differences: NDArray[np.float64], found: Interval) -> tuple[object, ...]:
    test = signed_rank(differences)
    difference = (found.n, found.mean, found.low, found.high)
    tested = (test.statistic, test.p, float("nan"), test.method, _note(found.n))
    return (question, one, other, "participant", *difference, *tested)


def _note(n: int) -> str:
    if n == 0:
        return "nobody rated both"
    return "one participant: no test" if n == 1 else ""
