"""tests and agreement: every contrast by five tests, corrected, and which tests agree (reference: statistics 4.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from beholder.analysis.columns import (
    CI_HIGH,
    CI_LOW,
    CONDITION,
    DF,
    NOTE,
    OTHER_CONDITION,
    P_HOLM,
    PAGES_N,
    QUESTION,
    THESE_HIGH,
    THESE_LOW,
    THESE_P,
    THESE_P_HOLM,
    P,
)
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.contrasts import Contrast, Pair, contrasts_of, known_references
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result, records
from beholder.errors import Problem, UserError, did_you_mean
from beholder.formats import precise_percent
from beholder.methods.boards import HEMVIP
from beholder.stats.additive import CITATION as CLUSTERED
from beholder.stats.clustered import Floats, mean_of
from beholder.stats.intervals import STUDENT_CITATION, t_interval
from beholder.stats.tests import HOLM_CITATION as HOLM
from beholder.stats.tests import SIGNED_RANK_CITATIONS as RANKS
from beholder.stats.tests import ZERO_RULES, Zeros, holm, sign_test, signed_rank

# ruff: noqa: PT028 - named as its table, and not a test of ours


# Every contrast by five tests, corrected for their number (reference: statistics 4.2)


ALPHA = 0.05
TESTS = ("clustered t", "page-paired t", "paired t", "Wilcoxon", "sign")
Family: TypeAlias = Literal["question", "study"]
"""What Holm's correction runs over: the tests of one question, or of the whole study."""
_UNITS = {"both": "participant and content", "participants": "participant", "contents": "content"}
Verdict: TypeAlias = Literal["beyond", "these", "undecided", ""]
"""Whether a difference is clear: beyond these contents too, on these contents only, or not; empty where not judged."""
UNNAMED = "not a named contrast: not corrected for"
"""What is noted of a pair that the study is not about."""


Claim: TypeAlias = Literal["beyond", "these"]
"""What a study claims: what holds beyond its contents, or on them."""


def is_clear(verdict: str, claim: Claim = "beyond") -> bool:
    """Return whether a pair with this verdict counts as clearly different, by what the study claims."""
    return verdict == "beyond" or verdict == claim


def verdict_words(verdict: str, contents: int) -> str:
    """Return `clear on these 4 contents; beyond them undecided`, or another verdict in words."""
    if verdict not in ("beyond", "these"):
        return "undecided"
    if contents == 1:
        return "clear on this one content"
    these = f"these {contents} contents"
    return f"clear, also beyond {these}" if verdict == "beyond" else f"clear on {these}; beyond them undecided"


# Means are sums of fractions: a difference that is none on paper may be one in the last bits.
_DECIMALS = 9


class CorrectedTests(NamedTuple):
    """All contrasts, and the table of their tests, `len(TESTS)` rows for each in this order."""

    contrasts: list[Contrast]
    table: pd.DataFrame


def family_note(ratings: Ratings, contrasts: Sequence[Pair] | None = None, family: Family | None = None) -> str:
    """Return over what the tests are corrected."""
    settings = ratings.order.settings
    scope = "over the whole study" if (family or settings.family) == "study" else "within each question"
    share = _share_note(ratings.order.share)
    if settings.contrasts if contrasts is None else contrasts:
        return (
            f"Holm's correction {scope} over the named contrasts; other pairs are told, but not corrected for.{share}"
        )
    left_out = (
        ", without anchors and the hidden reference of MUSHRA and SAMVIQ" if _uncorrected_conditions(ratings) else ""
    )
    return f"Holm's correction {scope} over all pairs of conditions{left_out}.{share}"


def _share_note(share: float) -> str:
    if share == 1:
        return ""
    return f" The study has {precise_percent(share)} of the error rate of its chain: p_holm is divided by this share."


def corrected_tests(
    ratings: Ratings, contrasts: Sequence[Pair] | None = None, family: Family | None = None, zeros: Zeros = "pratt"
) -> CorrectedTests:
    """Return all contrasts with their tests, corrected."""
    settings = ratings.order.settings
    named = tuple((one, other) for one, other in (settings.contrasts if contrasts is None else contrasts))
    family = family or settings.family
    return ratings.cached(("corrected", named, family, zeros), lambda: _corrected(ratings, named, family, zeros))


class Conclusion(NamedTuple):
    """What is concluded of two conditions in one question; above zero the first is better."""

    question: str
    condition: str
    other_condition: str
    difference: float
    verdict: Verdict
    is_tested: bool
    """Whether it has a p-value, and the study is about it."""


def conclusions_of(ratings: Ratings) -> list[Conclusion]:
    """Return what `pairs` concludes of every two conditions, without its other tests and the sizes of effects."""
    settings = ratings.order.settings
    contrasts = list(contrasts_of(ratings, settings.contrasts, has_pages=False))
    names = ["question", "test", "estimate", "p", "these_p", "note", "p_holm", "these_p_holm", "all_p_holm"]
    later = (math.nan,) * 3
    rows = [(one.question, TESTS[0], one.estimate.mean, one.estimate.p, one.these.p, "", *later) for one in contrasts]
    table = pd.DataFrame(rows, columns=names)
    table = _with_corrections(ratings, contrasts, table, settings.contrasts, settings.family)
    return [
        Conclusion(
            one.question, one.condition, one.other_condition, one.estimate.mean,
            verdict(row["clear"], row["these_clear"]),
            not math.isnan(row["p"]) and UNNAMED not in row["note"],
        )
        for one, row in zip(contrasts, records(table), strict=True)
    ]  # fmt: skip


def _corrected(ratings: Ratings, named: Sequence[Pair], family: Family, zeros: Zeros) -> CorrectedTests:
    contrasts = list(contrasts_of(ratings, named))
    table = pd.DataFrame([row for one in contrasts for row in _rows(one, zeros, ratings)], columns=PAIR_TESTS.names)
    return CorrectedTests(contrasts, _with_corrections(ratings, contrasts, table, named, family, len(TESTS)))


def _with_corrections(
    ratings: Ratings, contrasts: Sequence[Contrast], table: pd.DataFrame, named: Sequence[Pair], family: Family,
    tests_of_each: int = 1,
) -> pd.DataFrame:  # fmt: skip
    """Return the tests of contrasts, as many rows for each, with their corrections and what is clear by them."""
    outside, outside_all = (
        [
            _why_contrast_uncorrected(ratings, one, has_named=has_named)
            for one in contrasts
            for _ in range(tests_of_each)
        ]
        for has_named in (bool(named), False)
    )
    table["note"] = ["; ".join(filter(None, both)) for both in zip(table["note"], outside, strict=True)]
    is_counted, is_counted_of_all = (np.asarray([not why for why in some], bool) for some in (outside, outside_all))
    scope = ["test"] if family == "study" else ["question", "test"]
    if len(table):
        groups = [table[key] for key in scope]
        for column, of, corrected in (
            ("p", is_counted, "p_holm"), ("these_p", is_counted, "these_p_holm"),
            ("p", is_counted_of_all, "all_p_holm"),
        ):  # fmt: skip
            adjusted = table[column].where(of).groupby(groups).transform(holm)
            # A study of a chain has a share of one error rate: p is made larger, so that 5 % is the limit everywhere.
            table[corrected] = (adjusted / ratings.order.share).clip(upper=1)
    above = table["estimate"].sub(np.where(table["test"] == "sign", 0.5, 0))
    table["clear"] = are_clear(table["p"], table["p_holm"], above, outside)
    table["these_clear"] = are_clear(table["these_p"], table["these_p_holm"], above, outside)
    table["all_clear"] = are_clear(table["p"], table["all_p_holm"], above, outside_all)
    return table


def are_clear(p: ArrayLike, p_holm: ArrayLike, above: ArrayLike, outside: Sequence[str]) -> Floats:
    """Return 1 where a difference is clear, 0 where it is not, and NaN where it is not judged.

    `outside` says of each, in the last dimension, why it is not corrected for.
    """
    # Anchors and references are judged without correction; a pair outside the named contrasts is not judged.
    is_alone = np.asarray([why not in ("", UNNAMED) for why in outside], dtype=bool)
    judged = np.where(is_alone, np.asarray(p, float), np.asarray(p_holm, float))
    has_direction = np.round(np.asarray(above, float), _DECIMALS) != 0
    return np.where(np.isnan(judged), math.nan, (judged < ALPHA) & has_direction)


def verdict(clear: float, these_clear: float) -> Verdict:
    """Return how far a difference is clear, from `clear` and `these_clear` of its test."""
    if math.isnan(clear) and math.isnan(these_clear):
        return ""
    if clear > 0:
        return "beyond"
    return "these" if these_clear > 0 else "undecided"


def _uncorrected_conditions(ratings: Ratings) -> frozenset[str]:
    return ratings.anchors.union(*(known_references(ratings, question) for question in ratings.methods))


def _why_contrast_uncorrected(ratings: Ratings, one: Contrast, *, has_named: bool) -> str:
    if has_named:
        return "" if one.is_named else UNNAMED
    hidden = known_references(ratings, one.question)
    return why_uncorrected((one.condition, one.other_condition), ratings.anchors, hidden)


def why_uncorrected(pair: Pair, anchors: frozenset[str], hidden: frozenset[str]) -> str:
    """Return why a pair is not corrected for where no contrasts are named; nothing where it is."""
    if not anchors.isdisjoint(pair):
        return "anchor: not corrected for"
    return "" if hidden.isdisjoint(pair) else "hidden reference: not corrected for"


def _rows(one: Contrast, zeros: Zeros, ratings: Ratings) -> list[tuple[object, ...]]:
    """Return the rows of one contrast, before correction for their number."""
    pages, estimate, these, nan = one.pages.value, one.estimate, one.these, math.nan
    n, names = len(pages), (one.question, one.condition, one.other_condition)
    signs, ranks, plain, paired = (
        sign_test(pages, ratings.level),
        signed_rank(pages, zeros=zeros),
        t_interval(pages, ratings.level),
        mean_of(one.pages, level=ratings.level),
    )
    share, (t, p) = signs.proportion, _one_sample(plain.mean, plain.sd, n)
    pages_note = "" if n > 1 else "fewer than two pages with both: no test"
    page, later = ("page", n, signs.ties), (nan,) * 9
    p_sign = nan if n < 2 else 1.0 if n == signs.ties else share.p
    over_pages = [paired.p, p, ranks.p, p_sign]
    paired_p, p, p_ranks, p_sign = over_pages if ratings.look is None else ratings.look.p(over_pages).tolist()
    return [
        (*names, TESTS[0], _UNITS.get(estimate.over, ""), estimate.n, signs.ties, estimate.mean, estimate.low,
         estimate.high, estimate.statistic, estimate.df, estimate.p, nan, these.low, these.high, these.p, *later[:5],
         one.note),
        (*names, TESTS[1], _UNITS.get(paired.over, ""), n, signs.ties, paired.mean, paired.low, paired.high,
         paired.statistic, paired.df, paired_p, *later, pages_note),
        (*names, TESTS[2], *page, plain.mean, plain.low, plain.high, t, n - 1 if n > 1 else nan, p, *later, pages_note),
        (*names, TESTS[3], *page, ranks.biserial, nan, nan, ranks.statistic, nan, p_ranks, *later,
         pages_note or ranks.method),
        (*names, TESTS[4], *page, share.share, share.low, share.high, signs.above if n else nan, nan, p_sign, *later,
         pages_note),
    ]  # fmt: skip


def _one_sample(mean: float, sd: float, n: int) -> tuple[float, float]:
    """Return t and its two-sided p-value; where nothing varies, p is that of a sign test."""
    if n < 2:
        return math.nan, math.nan
    if round(sd, _DECIMALS) == 0:
        return math.nan, 1.0 if round(mean, _DECIMALS) == 0 else 2.0 ** (1 - n)
    t = mean / (sd / math.sqrt(n))
    return t, float(2 * special.stdtr(n - 1, -abs(t)))


# tests


def tests(
    data: pd.DataFrame | Ratings,
    *,
    contrasts: Sequence[Pair] | None = None,
    family: Family | None = None,
    zeros: Zeros = "pratt",
) -> Result | None:
    """Return five tests of every two conditions: on all ratings, and over pages that have both.

    `contrasts` and `family` are those of the study when left out. None where no question compares conditions.
    """
    ratings = as_ratings(data)
    table = corrected_tests(ratings, contrasts, family, zeros).table
    if table.empty:
        return None
    note = (
        "clustered t: the difference on all ratings with its error clustered by participant and content, as in pairs; "
        "these_: the same with these contents. page-paired t: the mean difference over pages (one participant and one "
        "content) that have both conditions, clustered by participant and content; it leaves out all other ratings. "
        "The other three take every such page as independent of all others, as HEMVIP does: they are here to compare "
        "with other papers. Where everybody rates everything they found what is not there in 12 to 26 % of simulated "
        "studies where 5 % are claimed, because the pages of one person, and of one content, are alike; where few "
        "pages have both they rest on those few. paired t: mean difference "
        f"over pages. Wilcoxon: signed rank ({ZERO_RULES[zeros]}), no continuity correction, a test of symmetry about "
        "zero; estimate: matched rank-biserial correlation; statistic: the smaller rank sum. sign: exact binomial "
        "test, ties ignored; estimate: share of pages on which condition is above other_condition, with Clopper and "
        "Pearson's exact interval; statistic: their number. ties: pages without a difference. All tests are two-sided, "
        f"intervals are 95 %. {family_note(ratings, contrasts, family)} Each test has a family of its own. clear: 1 "
        f"where p_holm (p, of an anchor or the hidden reference) is below {ALPHA:g}. all_p_holm and all_clear: the "
        "same corrected over all pairs of conditions, whether or not contrasts are named; who reads both reads two "
        f"families, each with its own error rate.{ratings.look_note}"
    )
    return PAIR_TESTS.result(table, note, _citation(RANKS[zeros]))


def _citation(ranks: str) -> str:
    exact = "Clopper and Pearson (1934), Biometrika 26"
    return "; ".join([CLUSTERED, STUDENT_CITATION, ranks, exact, HEMVIP, HOLM])


PAIR_TESTS = Analysis(
    "tests",
    tests,
    (
        QUESTION, CONDITION, OTHER_CONDITION,
        Column("test", "text", "Name of the test.", TESTS),
        Column("unit", "text", "What it takes as independent of each other."),
        PAGES_N,
        Column("ties", "integer", "Pages without a difference."),
        Column("estimate", "number", "Mean difference, rank-biserial correlation (Wilcoxon) or share of pages (sign)."),
        CI_LOW, CI_HIGH,
        Column("statistic", "number", "t, the smaller rank sum (Wilcoxon), or pages with the first above (sign)."),
        DF, P, P_HOLM, THESE_LOW, THESE_HIGH, THESE_P, THESE_P_HOLM,
        Column("clear", "number", "1 where the difference is clear, 0 where it is not, empty where it is not judged."),
        Column("these_clear", "number", "The same with these contents."),
        Column("all_p_holm", "number", "The p-value after Holm's correction over all pairs, named or not."),
        Column("all_clear", "number", "The same as `clear`, by `all_p_holm`."),
        NOTE,
    ),
    row="pair of conditions, question and test",
    holds="the difference by five tests",
    citation=_citation("; ".join(RANKS.values())),
    order=5,
    holds_at_looks=True,
)  # fmt: skip


# agreement: which tests call the same differences clear, as in HEMVIP's Table 1 (reference: statistics 4.2)


_KEYS = ["question", "condition", "other_condition"]
_NEEDED = {*_KEYS, "test", "estimate", "clear"}


def agreement(data: pd.DataFrame | Ratings | Result) -> Result | None:
    """Return for every two tests on how many contrasts they agree; None where nothing was tested.

    `data` are ratings, or the result of `tests`, or any table with its columns question, condition, other_condition,
    test, estimate and clear: so that a test of another study can be added.
    """
    if isinstance(data, pd.DataFrame) and set(data.columns) >= _NEEDED:
        data = Result(data, "", "")
    result = data if isinstance(data, Result) else tests(as_ratings(data))
    if result is None:
        return None
    table = _counted(result.table)
    note = (
        "For every two tests: contrasts that both have tested; agree: on how many of them they say the same, clear "
        "after correction or not; same_direction: on how many they do not point in opposite ways. A row without a "
        "question is over all of them."
    )
    return AGREEMENT.result(table, note) if len(table) else None


AGREEMENT = Analysis(
    "agreement",
    agreement,
    (
        Column("question", "text", "Id of the question; a row without one is over all of them."),
        Column("test", "text", "Name of a test."),
        Column("other_test", "text", "Name of the test with which it is compared."),
        Column("contrasts", "integer", "Pairs of conditions that both tests have judged."),
        Column("agree", "integer", "On how many of them they say the same, clear after correction or not."),
        Column("both_clear", "integer", "On how many both find a clear difference."),
        Column("only_test", "integer", "On how many only the first does."),
        Column("only_other", "integer", "On how many only the other does."),
        Column("neither", "integer", "On how many neither does."),
        Column("same_direction", "integer", "On how many they do not point in opposite ways."),
    ),
    row="two tests, and question",
    holds="on how many pairs they say the same",
    citation=HEMVIP,
    takes="tests",
    order=30,
)


def _counted(table: pd.DataFrame) -> pd.DataFrame:
    tested = table[table["p_holm" if "p_holm" in table else "clear"].notna()]
    names = list(dict.fromkeys(tested["test"]))
    # The share of a sign test points nowhere at one half, everything else at zero.
    middle = np.where(tested["test"].str.startswith("sign"), 0.5, 0.0)
    direction = np.sign((tested["estimate"].to_numpy(float) - middle).round(_DECIMALS))
    is_clear = tested["clear"].to_numpy(float) == 1
    contrasts = list(zip(*(tested[key] for key in _KEYS), strict=True))
    by_test: dict[str, dict[tuple[str, ...], tuple[bool, float]]] = {name: {} for name in names}
    for contrast, test, *said in zip(contrasts, tested["test"], is_clear.tolist(), direction.tolist(), strict=True):
        by_test[test][contrast] = (said[0], said[1])
    questions = list(dict.fromkeys(tested["question"]))
    rows = []
    for question in [*questions, *([""] if len(questions) > 1 else [])]:
        asked = [contrast for contrast in dict.fromkeys(contrasts) if question in ("", contrast[0])]
        for one, other in combinations(names, 2):
            first, second = by_test[one], by_test[other]
            both = [(first[key], second[key]) for key in asked if key in first and key in second]
            rows.append((question, one, other, *_row(both)))
    return pd.DataFrame(rows, columns=AGREEMENT.names)


def _row(both: Sequence[tuple[tuple[bool, float], tuple[bool, float]]]) -> tuple[int, ...]:
    """Return the counts of two tests from whether each is clear, and its direction, contrast by contrast."""
    clear = [(one[0], other[0]) for one, other in both]
    opposite = sum(one[1] * other[1] < 0 for one, other in both)
    only = clear.count((True, False)), clear.count((False, True))
    all_clear, neither = clear.count((True, True)), clear.count((False, False))
    return len(clear), all_clear + neither, all_clear, *only, neither, len(clear) - opposite


def beside_earlier(data: pd.DataFrame | Result, earlier: str) -> pd.DataFrame:
    """Return what each test finds beside the test called `earlier`, as HEMVIP's Table 1: a row for each contrast.

    The column `earlier` tells whether that one found a difference; of every other test `+` is a difference that only
    it found, `-` one that only the earlier found, and an empty cell is agreement. `data` as in `agreement`.
    """
    table = data.table if isinstance(data, Result) else data
    judged = table[table["clear"].notna()]
    clear = judged.pivot_table(index=_KEYS, columns="test", values="clear", sort=False) == 1
    if earlier not in clear:
        known = list(dict.fromkeys(judged["test"]))
        what = f"is {earlier}, which is no test of the table"
        raise UserError(Problem("earlier", what, ", ".join(known), did_you_mean(earlier, known)))
    signs = {
        str(name): np.select([clear[name] & ~clear[earlier], ~clear[name] & clear[earlier]], ["+", "-"], "")
        for name in clear.columns
        if name != earlier
    }
    return pd.DataFrame({"earlier": clear[earlier], **signs}).reset_index()
