"""Every contrast by four tests, corrected for how many there are (reference: statistics 4.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from beholder.analyse.contrasts import Contrast, Pair, contrasts_of
from beholder.analyse.metrics import MUSHRA
from beholder.analyse.table import Ratings
from beholder.stats.clustered import Floats
from beholder.stats.holm import holm
from beholder.stats.interval import t_interval
from beholder.stats.signs import sign_test
from beholder.stats.wilcoxon import Zeros, signed_rank

ALPHA = 0.05
TESTS = ("clustered t", "paired t", "Wilcoxon", "sign")
COLUMNS = [
    "question", "condition", "other_condition", "test", "unit", "n", "ties", "estimate", "ci_low", "ci_high",
    "statistic", "df", "p", "p_holm", "clear", "note",
]  # fmt: skip
Family: TypeAlias = Literal["question", "study"]
"""What Holm's correction runs over: the tests of one question, or of the whole study."""
_UNITS = {"both": "participant and content", "participants": "participant", "contents": "content"}
UNNAMED = "not a named contrast: not corrected for"
"""What is noted of a pair that the study is not about."""


def is_clear(clear_by: str) -> bool:
    """Return whether a pair with these tests in `clear_by` counts as clearly different: by the test that we go by."""
    return TESTS[0] in clear_by.split("; ")


# Means are sums of fractions: a difference that is none on paper may be one in the last bits.
_DECIMALS = 9


class Corrected(NamedTuple):
    """All contrasts, and the table of their tests, `len(TESTS)` rows for each in this order."""

    contrasts: list[Contrast]
    table: pd.DataFrame


def family_note(ratings: Ratings, contrasts: Sequence[Pair] | None = None, family: Family | None = None) -> str:
    """Return over what the tests are corrected."""
    asked = ratings.order.asked
    scope = "over the whole study" if family == "study" else "within each question"
    if asked.contrasts if contrasts is None else contrasts:
        return f"Holm's correction {scope} over the named contrasts; other pairs are told, but not corrected for."
    left_out = ", without anchors and MUSHRA's hidden reference" if _outsiders(ratings) else ""
    return f"Holm's correction {scope} over all pairs of conditions{left_out}."


def corrected(
    ratings: Ratings, contrasts: Sequence[Pair] | None = None, family: Family | None = None, zeros: Zeros = "pratt"
) -> Corrected:
    """Return all contrasts with their tests, corrected."""
    asked = ratings.order.asked
    named = tuple((one, other) for one, other in (asked.contrasts if contrasts is None else contrasts))
    family = family or asked.family
    return ratings.once(("corrected", named, family, zeros), lambda: _corrected(ratings, named, family, zeros))


def _corrected(ratings: Ratings, named: Sequence[Pair], family: Family, zeros: Zeros) -> Corrected:
    found = list(contrasts_of(ratings, named))
    table = pd.DataFrame([row for one in found for row in _rows(one, zeros)], columns=COLUMNS)
    outside = [_outside(ratings, one, has_named=bool(named)) for one in found for _ in TESTS]
    table["note"] = ["; ".join(filter(None, both)) for both in zip(table["note"], outside, strict=True)]
    counted = table["p"].where(np.asarray([not why for why in outside], dtype=bool))
    scope = ["test"] if family == "study" else ["question", "test"]
    if len(table):
        table["p_holm"] = counted.groupby([table[key] for key in scope]).transform(holm)
    above = table["estimate"].sub(np.where(table["test"] == "sign", 0.5, 0))
    table["clear"] = are_clear(table["p"], table["p_holm"], above, outside)
    return Corrected(found, table)


def are_clear(p: ArrayLike, p_holm: ArrayLike, above: ArrayLike, outside: Sequence[str]) -> Floats:
    """Return 1 where a difference is clear, 0 where it is not, and NaN where it is not judged.

    `outside` says of each, in the last dimension, why it is not corrected for.
    """
    # What the others are held against is judged by itself; a pair that the study is not about is not judged.
    is_alone = np.asarray([why not in ("", UNNAMED) for why in outside], dtype=bool)
    judged = np.where(is_alone, np.asarray(p, float), np.asarray(p_holm, float))
    has_direction = np.round(np.asarray(above, float), _DECIMALS) != 0
    return np.where(np.isnan(judged), math.nan, (judged < ALPHA) & has_direction)


def _outsiders(ratings: Ratings) -> frozenset[str]:
    is_mushra = MUSHRA in ratings.methods.values()
    return ratings.anchors | (ratings.references if is_mushra else frozenset())


def _outside(ratings: Ratings, one: Contrast, *, has_named: bool) -> str:
    if has_named:
        return "" if one.is_named else UNNAMED
    hidden = ratings.references if ratings.methods[one.question] == MUSHRA else frozenset()
    return outside_of((one.condition, one.other_condition), ratings.anchors, hidden)


def outside_of(pair: Pair, anchors: frozenset[str], hidden: frozenset[str]) -> str:
    """Return why a pair is not corrected for where no contrasts are named; nothing where it is."""
    if not anchors.isdisjoint(pair):
        return "anchor: not corrected for"
    return "" if hidden.isdisjoint(pair) else "hidden reference: not corrected for"


def _rows(one: Contrast, zeros: Zeros) -> list[tuple[object, ...]]:
    """Return the rows of one contrast, before correction."""
    pages, found, nan = one.pages.value, one.found, math.nan
    n, names = len(pages), (one.question, one.condition, one.other_condition)
    signs, ranks, plain = sign_test(pages), signed_rank(pages, zeros=zeros), t_interval(pages)
    share, (t, p) = signs.found, _one_sample(plain.mean, plain.sd, n)
    pages_note = "" if n > 1 else "fewer than two pages with both: no test"
    page, later = ("page", n, signs.ties), (nan, nan)
    return [
        (*names, TESTS[0], _UNITS.get(found.over, ""), found.n, signs.ties, found.mean, found.low, found.high,
         found.statistic, found.df, found.p, *later, one.note),
        (*names, TESTS[1], *page, plain.mean, plain.low, plain.high, t, n - 1 if n > 1 else nan, p, *later, pages_note),
        (*names, TESTS[2], *page, ranks.biserial, nan, nan, ranks.statistic, nan, ranks.p, *later,
         pages_note or ranks.method),
        (*names, TESTS[3], *page, share.share, share.low, share.high, signs.above if n else nan, nan,
         nan if n < 2 else 1.0 if n == signs.ties else share.p, *later, pages_note),
    ]  # fmt: skip


def _one_sample(mean: float, sd: float, n: int) -> tuple[float, float]:
    """Return t and its two-sided p-value; where nothing varies, p is that of a sign test."""
    if n < 2:
        return math.nan, math.nan
    if round(sd, _DECIMALS) == 0:
        return math.nan, 1.0 if round(mean, _DECIMALS) == 0 else 2.0 ** (1 - n)
    t = mean / (sd / math.sqrt(n))
    return t, float(2 * special.stdtr(n - 1, -abs(t)))
