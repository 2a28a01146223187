"""pairs: every pair of conditions, tested on participants (reference: statistics 4.2)."""

from __future__ import annotations

from itertools import combinations

import pandas as pd

from beholder.analyse.holm import holm
from beholder.analyse.interval import t_interval
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings
from beholder.analyse.wilcoxon import signed_rank

ALPHA = 0.05
COLUMNS = [
    "question", "condition", "other_condition", "unit", "n", "mean_difference", "ci_low", "ci_high", "statistic", "p",
    "p_holm", "test", "note",
]  # fmt: skip


def pairs(ratings: Ratings) -> Result:
    """Return the difference of every two conditions over the participants who rated both, with its test."""
    parts = [_question_pairs(ratings, question) for question in ratings.questions]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)
    note = (
        "Unit: the participant. Each participant's mean under condition minus their mean under other_condition; "
        "only participants who rated both. Wilcoxon signed rank test, two-sided; zero differences stay in the ranking "
        "(Pratt); no continuity correction. It tests symmetry about zero. Holm's correction within each question over "
        "all its pairs. Mean difference with 95 % Student t interval, which is not corrected for the number of pairs. "
        "The direction of a clear difference is the sign of this mean difference, although the test looks at ranks; a "
        "mean difference of zero has no direction and is not called clear. Where ratings are missing, it can point the "
        "other way than the condition means, which take in everybody who rated the condition."
    )
    citation = (
        "Wilcoxon (1945), Biometrics Bulletin 1; Pratt (1959), Journal of the American Statistical Association 54; "
        "Holm (1979), Scandinavian Journal of Statistics 6"
    )
    return Result(table, note, citation)


def _question_pairs(ratings: Ratings, question: str) -> pd.DataFrame:
    part = ratings.table[ratings.table["question"] == question]
    means = part.pivot_table(index="participant", columns="condition", values="value", aggfunc="mean")
    rows = []
    for one, other in combinations([name for name in ratings.conditions if name in means], 2):
        differences = (means[one] - means[other]).dropna().to_numpy()
        found = t_interval(differences)
        test = signed_rank(differences)
        difference = (found.n, found.mean, found.low, found.high)
        tested = (test.statistic, test.p, float("nan"), test.method, _note(found.n))
        rows.append((question, one, other, "participant", *difference, *tested))
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["p_holm"] = holm(table["p"].to_numpy(dtype=float))
    return table


def _note(n: int) -> str:
    if n == 0:
        return "nobody rated both"
    return "one participant: no test" if n == 1 else ""
