"""tests: every pair of conditions by four tests, for comparison with other papers (reference: statistics 4.2)."""
# ruff: noqa: PT028 - named as its table, and not a test of ours

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from beholder.analyse.contrasts import Pair
from beholder.analyse.correction import ALPHA, Family, corrected, family_note
from beholder.analyse.metrics import HEMVIP
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings
from beholder.stats.clustered import CITATION as CLUSTERED
from beholder.stats.holm import CITATION as HOLM
from beholder.stats.interval import STUDENT
from beholder.stats.wilcoxon import CITATIONS as RANKS
from beholder.stats.wilcoxon import RULES, Zeros


def tests(
    data: pd.DataFrame | Ratings,
    *,
    contrasts: Sequence[Pair] | None = None,
    family: Family | None = None,
    zeros: Zeros = "pratt",
) -> Result | None:
    """Return four tests of every two conditions: clustered t, and paired t, Wilcoxon and sign test over pages.

    `contrasts` and `family` are those of the study when left out. None where no question compares conditions.
    """
    ratings = as_ratings(data)
    table = corrected(ratings, contrasts, family, zeros).table
    if table.empty:
        return None
    note = (
        "clustered t: the difference with its error clustered by participant and content, as in pairs. The other three "
        "take every page (one participant and one content with both conditions) as independent of all others, as "
        "HEMVIP does: they are here to compare with other papers, and reject a true null 12 to 26 % of the time where "
        "5 % are claimed, because the pages of one person, and of one content, are alike. paired t: mean difference "
        f"over pages. Wilcoxon: signed rank ({RULES[zeros]}), no continuity correction, a test of symmetry about zero; "
        "estimate: matched rank-biserial correlation; statistic: the smaller rank sum. sign: exact binomial test, ties "
        "ignored; estimate: share of pages on which condition is above other_condition, with Clopper and Pearson's "
        "exact interval; statistic: their number. ties: pages without a difference. All tests are two-sided, intervals "
        f"are 95 %. {family_note(ratings, contrasts, family)} Each test has a family of its own. clear: 1 where p_holm "
        f"(p, of an anchor or the hidden reference) is below {ALPHA:g}."
    )
    exact = "Clopper and Pearson (1934), Biometrika 26"
    return Result(table, note, "; ".join([CLUSTERED, STUDENT, RANKS[zeros], exact, HEMVIP, HOLM]))
