"""pairs: how far every two conditions are apart, tested over participants and contents (reference: statistics 4.2)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from beholder.analyse.contrasts import Contrast, Pair
from beholder.analyse.correction import ALPHA, TESTS, Family, corrected, family_note
from beholder.analyse.plots.pairs import pairs_chart
from beholder.analyse.result import Result, records
from beholder.analyse.table import COMPARISONS, Ratings, as_ratings
from beholder.stats.clustered import CITATION as CLUSTERED
from beholder.stats.effects import CITATION as EFFECT
from beholder.stats.effects import dz
from beholder.stats.holm import CITATION as HOLM
from beholder.stats.interval import SHARES
from beholder.stats.wilcoxon import Zeros

__all__ = ["ALPHA", "pairs"]

COLUMNS = [
    "question", "condition", "other_condition", "comparison", "n", "participants", "contents", "mean_difference", "se",
    "df", "ci_low", "ci_high", "statistic", "p", "p_holm", "test", "effect", "effect_low", "effect_high", "clear_by",
    "note",
]  # fmt: skip
_CHANCE = "Correct answers are held against chance, not against each other, and have no pairs."


def pairs(
    data: pd.DataFrame | Ratings,
    *,
    contrasts: Sequence[Pair] | None = None,
    family: Family | None = None,
    zeros: Zeros = "pratt",
) -> Result:
    """Return the difference of every two conditions with its interval, test and size.

    `contrasts` and `family` are those of the study when left out; `zeros` is the rule of the Wilcoxon test in clear_by.
    """
    ratings = as_ratings(data)
    found = corrected(ratings, contrasts, family, zeros)
    by_contrast = [found.table[place :: len(TESTS)].reset_index(drop=True) for place in range(len(TESTS))]
    clear = pd.DataFrame({name: rows["clear"] == 1 for name, rows in zip(TESTS, by_contrast, strict=True)})
    rows = [
        _row(one, tests, "; ".join(name for name in TESTS if agrees[name]))
        for one, tests, agrees in zip(found.contrasts, records(by_contrast[0]), records(clear), strict=True)
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    note = _note(ratings, family_note(ratings, contrasts, family))
    return Result(table, note, _citation(ratings, table), pairs_chart)


def _row(one: Contrast, clustered: dict[str, object], clear_by: str) -> tuple[object, ...]:
    found, effect = one.found, dz(one.own)
    return (
        one.question, one.condition, one.other_condition, one.comparison, found.n, found.participants, found.contents,
        found.mean, found.se, found.df, found.low, found.high, found.statistic, found.p, clustered["p_holm"],
        clustered["test"], *effect, clear_by, clustered["note"],
    )  # fmt: skip


def _note(ratings: Ratings, family: str) -> str:
    kinds = set(ratings.kinds.values())
    if kinds == {"correct"}:
        return _CHANCE
    note = (
        "condition minus other_condition. paired: differences on the same pages (one participant and one content; n "
        "counts them), where at least half of the pages that could have both conditions have them; unpaired: the "
        "difference of the two means, where fewer do (n counts the pages of either). Every content weighs the same. "
        "clustered t: the error is clustered by participant and by content, with small-sample factors, so that it "
        "generalises over both; t has the smaller number of the two minus one degrees of freedom; over participants "
        f"only where there is one content. Two-sided. {family} The {_intervals(kinds)} is not corrected for the number "
        "of pairs. effect: the mean over participants of their own differences, in its standard deviations (dz), with "
        "an exact noncentral t interval; clear_by: by which of the tests in tests the difference is clear after "
        "correction. A difference of zero has no direction and is not called clear. Where ratings are missing, a "
        "paired difference can point the other way than the two means, which take in everybody who rated the condition."
    )
    if not kinds.isdisjoint(COMPARISONS):
        note += (
            " direct: two conditions were compared with each other, and the difference is the mean of these "
            "comparisons, above zero where the condition was better; conditions that were compared with the same "
            "reference only differ as they differ from it."
        )
    return f"{note} {_CHANCE}" if "correct" in kinds else note


def _intervals(kinds: set[str]) -> str:
    """Return which interval a difference has."""
    cut = " (of shares cut at -1 and 1)" if "pick" in kinds else ""
    plain = [f"95 % Student t interval{cut}"] if kinds - {"choice", "correct"} else []
    shares = ["95 % Korn-Graubard interval of the preference between the two"] if "choice" in kinds else []
    return " or ".join([*plain, *shares])


def _citation(ratings: Ratings, table: pd.DataFrame) -> str:
    """Return the sources of the tests that were made and of the intervals that were drawn."""
    has_interval = table[table["ci_low"].notna()]["question"].map(ratings.kinds)
    sources = [CLUSTERED] if table["p"].notna().any() else []
    sources += [SHARES] if (has_interval == "choice").any() else []
    sources += [HOLM] if table["p_holm"].notna().any() else []
    sources += [EFFECT] if table["effect"].notna().any() else []
    return "; ".join(sources)
