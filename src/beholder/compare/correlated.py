"""correlations: whether one side agrees with a second better than with a third (reference: statistics 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from beholder.analyse.result import Result
from beholder.analyse.side import Side
from beholder.compare.matching import LEVELS, Level, scores_of
from beholder.stats.correlation import compare_correlations, compare_dependent, varies
from beholder.stats.holm import CITATION as HOLM
from beholder.stats.holm import holm
from beholder.stats.resampling import SEED, drawn_counts, pearson_draws

COLUMNS = [
    "level", "question", "side", "other_side", "third_side", "test", "n", "third_n", "r", "third_r", "difference",
    "ci_low", "ci_high", "z", "p", "p_holm", "p_one_sided",
]  # fmt: skip
_FEWEST = 4
_SOURCES = "Meng, Rosenthal and Rubin (1992), Psychological Bulletin 111; Fisher (1921), Metron 1"


def correlated(sides: Sequence[Side], questions: Sequence[str]) -> Result | None:
    """Return for every side, and every two others, whether it correlates better with the one; None below three."""
    rows = [row for question in questions for level in LEVELS for row in _rows(sides, question, level)]
    if not rows:
        return None
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["p_holm"] = table.groupby(["level", "question"], sort=False)["p"].transform(holm)
    note = (
        "r: Pearson's between side and other_side; third_r: between side and third_side. Over the same n things both "
        "share a side and are dependent: the z of Meng, Rosenthal and Rubin, with a 95 % interval of the difference "
        "by a bootstrap over these things (percentiles of 1,000 draws). Where the two are over different things "
        "altogether they are independent: Fisher's z, without an interval. p is two-sided, p_holm corrected within "
        "level and question; p_one_sided is what some papers print, and half as large."
    )
    return Result(table, note, f"{_SOURCES}; {HOLM}")


def _rows(sides: Sequence[Side], question: str, level: Level) -> Iterator[tuple[object, ...]]:
    means = {side.name: scores_of(side, question, level).set_index("name")["mean"].astype(float) for side in sides}
    for one in means:
        for other, third in combinations([name for name in means if name != one], 2):
            found = _compared(means[one], means[other], means[third])
            if found is not None:
                yield (level, question, one, other, third, *found)


def _compared(one: pd.Series, other: pd.Series, third: pd.Series) -> tuple[object, ...] | None:
    shared = [one.index.intersection(some.index, sort=False) for some in (other, third)]
    same = shared[0].intersection(shared[1], sort=False)
    if len(same) >= _FEWEST:
        values = np.asarray([some.loc[same] for some in (one, other, third)], float)
        if not all(map(varies, values)):
            return None
        r = np.corrcoef(values)
        tested = compare_dependent(r[0, 1], r[0, 2], r[1, 2], len(same))
        counts = drawn_counts(len(same), SEED)
        apart = pearson_draws(values[0], values[1], counts) - pearson_draws(values[0], values[2], counts)
        ends = np.nanquantile(apart, [0.025, 0.975])
        return ("dependent", len(same), len(same), *_told(r[0, 1], r[0, 2]), *ends, tested.z, tested.p, np.nan,
                tested.p_one_sided)  # fmt: skip
    if len(same) or min(map(len, shared)) < _FEWEST:
        return None
    both = [np.asarray([side.loc[names] for side in (one, some)], float)
            for names, some in zip(shared, (other, third), strict=True)]  # fmt: skip
    if not all(varies(side) for values in both for side in values):
        return None
    r1, r2 = (float(np.corrcoef(values)[0, 1]) for values in both)
    tested = compare_correlations(r1, r2, len(shared[0]), len(shared[1]))
    return ("independent", len(shared[0]), len(shared[1]), *_told(r1, r2), np.nan, np.nan, tested.z, tested.p, np.nan,
            tested.p_one_sided)  # fmt: skip


def _told(r: float, third: float) -> tuple[float, float, float]:
    return float(r), float(third), float(r - third)
