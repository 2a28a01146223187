"""equivalence: contrasts that are small enough not to matter, by two one-sided tests against the study's margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import special

from beholder.analysis.columns import CONDITION, NOTE, OTHER_CONDITION, QUESTION
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.contrasts import Contrast, Pair
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.analysis.tests import ALPHA, TESTS, Family, corrected_tests, family_note
from beholder.stats.additive import CITATION as ADDITIVE
from beholder.stats.clustered import Estimate, Floats
from beholder.stats.tests import EQUIVALENCE_CITATION, HOLM_CITATION, holm, margin_tests
from beholder.study.cleaning import Analyse

INNER = 1 - 2 * ALPHA
"""Level of the interval that decides: within the margin where both one-sided tests refute."""
_CLAIMS = {"": "", "these_": " with these contents (other people)"}
"""Prefixes of columns, and of what population they are."""


def equivalence(
    data: pd.DataFrame | Ratings,
    *,
    margin: float | Mapping[str, float] | None = None,
    contrasts: Sequence[Pair] | None = None,
    family: Family | None = None,
) -> Result | None:
    """Return for every contrast whether it is within the margin, and whether its first condition is not worse.

    `margin`, in points or by question, `contrasts` and `family` are those of the study when left out. None without a
    margin, or where no question with one compares conditions.
    """
    ratings = as_ratings(data)
    settings = ratings.order.settings
    asked = settings if margin is None else Analyse(margin=margin if isinstance(margin, float | int) else dict(margin))
    corrected = corrected_tests(ratings, contrasts, family)
    tests = corrected.table[:: len(TESTS)].reset_index(drop=True)
    allowed = np.array([asked.margin_of(one.question) or np.nan for one in corrected.contrasts], float)
    is_asked = ~np.isnan(allowed)
    if not is_asked.any():
        return None
    mine = [one for one, is_mine in zip(corrected.contrasts, is_asked, strict=True) if is_mine]
    tests, allowed = tests[is_asked].reset_index(drop=True), allowed[is_asked]
    columns: dict[str, object] = {
        "question": [one.question for one in mine],
        "condition": [one.condition for one in mine],
        "other_condition": [one.other_condition for one in mine],
        "margin": allowed,
        "mean_difference": [one.estimate.mean for one in mine],
    }
    is_whole = (family or settings.family) == "study"
    over = tests["question"].map(lambda question: "" if is_whole else question)
    # What is not corrected for, such as a pair that is not named, has no p-value of this kind either.
    is_counted = ~tests["note"].str.contains("not corrected for", regex=False)
    for prefix in _CLAIMS:
        columns |= _claim(ratings, prefix, mine, allowed, is_counted, over)
    table = pd.DataFrame({**columns, "note": tests["note"]})[EQUIVALENCE.names]
    note = (
        "Two one-sided t tests of each contrast against the margin, the largest difference that does not matter. "
        "equivalent: yes where both are below 5 % after correction; before it, they are where the 90 % interval "
        "(inner_low, inner_high) lies within the margin on both sides. not_worse: yes where the first condition is not "
        "worse than the other by the margin or more. no means that it is not shown, not that they differ. Difference "
        f"and errors as in pairs. {family_note(ratings, contrasts, family)} A margin is evidence only if it was chosen "
        "before the ratings were seen."
    )
    if ratings.look is not None:
        note += " Interval and p-values are corrected for the looks at the study."
    return EQUIVALENCE.result(table, note)


def _columns(prefix: str, of: str) -> tuple[Column, ...]:
    return (
        Column(f"{prefix}inner_low", "number", f"Lower end of the 90 % interval{of}."),
        Column(f"{prefix}inner_high", "number", f"Upper end of the 90 % interval{of}."),
        Column(f"{prefix}equivalent_p", "number", f"p-value against a difference of the margin or more{of}."),
        Column(f"{prefix}equivalent_p_holm", "number", f"The same after Holm's correction{of}."),
        Column(f"{prefix}equivalent", "text", f"Whether the two are shown to be equivalent{of}.", ("yes", "no")),
        Column(f"{prefix}not_worse_p", "number", f"p-value against the first being worse by the margin or more{of}."),
        Column(f"{prefix}not_worse_p_holm", "number", f"The same after Holm's correction{of}."),
        Column(f"{prefix}not_worse", "text", f"Whether the first is shown not to be worse{of}.", ("yes", "no")),
    )


EQUIVALENCE = Analysis(
    "equivalence",
    equivalence,
    (
        QUESTION, CONDITION, OTHER_CONDITION,
        Column("margin", "number", "The largest difference that does not matter: `analyse.margin`."),
        Column("mean_difference", "number", "The first minus the second, as in pairs.csv."),
        *(column for prefix, of in _CLAIMS.items() for column in _columns(prefix, of)),
        NOTE,
    ),
    row="pair of conditions and question with a margin",
    holds="whether the two are equivalent, and whether the first is not worse",
    citation=f"{EQUIVALENCE_CITATION}; {ADDITIVE}; {HOLM_CITATION}",
    order=6,
    holds_at_looks=True,
)  # fmt: skip


def _claim(
    ratings: Ratings, prefix: str, contrasts: Sequence[Contrast], margin: Floats, is_counted: pd.Series, over: pd.Series
) -> dict[str, object]:
    """Return the columns of one population."""
    estimates: list[Estimate] = [one.these if prefix else one.estimate for one in contrasts]
    mean, se, df = (np.array([getattr(one, name) for one in estimates], float) for name in ("mean", "se", "df"))
    # As if one page had been a margin away: what all say alike is not known for ever.
    pages = np.array([max(1, one.n) for one in estimates], float)
    se = np.maximum(se, margin / pages)
    tested = margin_tests(mean, se, df, margin)
    half = special.stdtrit(df, (1 + _inner_level(ratings)) / 2) * se
    columns: dict[str, object] = {f"{prefix}inner_low": mean - half, f"{prefix}inner_high": mean + half}
    for name, raw in (("equivalent", tested.within), ("not_worse", tested.not_below)):
        p = _corrected_for_looks(ratings, raw)
        p_holm = pd.Series(p).where(is_counted).groupby(over).transform(holm)
        verdict = np.where(p_holm.isna(), "", np.where(p_holm < ALPHA, "yes", "no"))
        columns |= {f"{prefix}{name}_p": p, f"{prefix}{name}_p_holm": p_holm, f"{prefix}{name}": verdict}
    return columns


def _corrected_for_looks(ratings: Ratings, p: Floats) -> Floats:
    """Return one-sided p-values that hold for all looks at the study together."""
    if ratings.look is None:
        return p
    return np.where(p < 0.5, ratings.look.p(np.minimum(1, 2 * p)) / 2, p)


def _inner_level(ratings: Ratings) -> float:
    """Return the level of an interval that holds at 90 % for all looks at the study together."""
    if ratings.look is None:
        return INNER
    rates = np.geomspace(1e-12, 1 - INNER, 4000)
    is_below = ratings.look.p(rates) <= 1 - INNER
    return 1 - float(rates[is_below].max(initial=rates[0]))
