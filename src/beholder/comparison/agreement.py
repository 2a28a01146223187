"""Agreement of every two sides: correlations and errors, tests between correlations, differences and equivalence.

Reference: statistics 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from beholder.analysis.means import codes_of, scale_ends
from beholder.analysis.result import Result
from beholder.analysis.score_tables import is_differential
from beholder.analysis.sides import Side
from beholder.analysis.tests import ALPHA
from beholder.comparison.sides import LEVELS, Level, MatchedScores, scores_of
from beholder.formats import precise_percent
from beholder.stats.correlation import (
    CITATION,
    INTERVALS,
    SEED,
    Correlation,
    agreement,
    bootstrap_counts,
    bootstrap_pearson,
    compare_correlations,
    compare_dependent,
    correlations,
    linear_mapping,
    mean_correlation,
    varies,
)
from beholder.stats.intervals import WELCH_CITATION as WELCH
from beholder.stats.intervals import welch
from beholder.stats.runs import EQUIVALENCE_MARGIN, RUN_EFFECT_CITATION, RunEffect, run_effect
from beholder.stats.tests import FALSE_DISCOVERY_CITATION as DISCOVERY
from beholder.stats.tests import HOLM_CITATION as HOLM
from beholder.stats.tests import benjamini_hochberg, holm

MEASURES = ("pearson", "spearman", "tau_b")
ERRORS = ("rmse", "rmse_mapped", "rmse_mapped_unbiased")
AGREEMENT_COLUMNS = [
    "level", "question", "side", "other_side", "n",
    *(f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high", "_p")),
    "mean_difference", *ERRORS, "slope", "intercept",
]  # fmt: skip
_P1401 = "ITU-T P.1401 (first-order mapping)"


def agreeing(matched: Sequence[MatchedScores]) -> Result:
    """Return how well every two sides agree, per question and over all of them, by stimulus and by condition."""
    rows = [_row(one) for one in matched]
    table = pd.DataFrame([*rows, *_averages(rows)], columns=AGREEMENT_COLUMNS)
    note = (
        f"n things that both sides have scored. {INTERVALS}. rmse: root mean square difference. rmse_mapped: after the "
        "straight line that maps other_side to side, slope times other_side plus intercept, divided by n as papers "
        "do; rmse_mapped_unbiased: divided by n - 2 (ITU-T P.1401). mean_difference: side minus other_side. A row "
        "without a question is the mean over questions; correlations are averaged on Fisher's z scale, plainly "
        "where one is perfect. Below three things, or where all are equal, there is no correlation; below four no "
        "interval (tau-b: five)."
    )
    return Result(table, note, f"{CITATION}; {_P1401}")


def _row(one: MatchedScores) -> dict[str, Any]:
    mine, theirs = one.table["mean"].to_numpy(float), one.table["other_mean"].to_numpy(float)
    measured = correlations(mine, theirs)
    line = linear_mapping(theirs, mine) if not math.isnan(measured.pearson.value) else None
    return {
        "level": one.level, "question": one.question, "side": one.side, "other_side": one.other_side, "n": measured.n,
        **{key: value for name in MEASURES for key, value in _correlation(name, getattr(measured, name)).items()},
        "mean_difference": float((mine - theirs).mean()),
        "rmse": agreement(mine, theirs).rmse,
        "rmse_mapped": line.rmse if line else math.nan,
        "rmse_mapped_unbiased": line.rmse_unbiased if line else math.nan,
        "slope": line.slope if line else math.nan,
        "intercept": line.intercept if line else math.nan,
    }  # fmt: skip


def _correlation(name: str, correlation: Correlation) -> dict[str, float]:
    return {
        name: correlation.value,
        f"{name}_low": correlation.low,
        f"{name}_high": correlation.high,
        f"{name}_p": correlation.p,
    }


def _averages(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the means over questions of every two sides that share several."""
    averages = []
    for level in LEVELS:
        groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for row in rows:
            if row["level"] == level and not is_differential(row["question"]):
                groups.setdefault((row["side"], row["other_side"]), []).append(row)
        for (side, other), some in groups.items():
            if len(some) < 2:
                continue
            means = {name: mean_correlation([row[name] for row in some]) for name in MEASURES}
            errors = {name: float(pd.Series([row[name] for row in some], dtype=float).mean()) for name in ERRORS}
            averages.append({"level": level, "question": "", "side": side, "other_side": other, **means, **errors})
    return averages


def matrices(table: pd.DataFrame, names: Sequence[str]) -> Result | None:
    """Return correlations and errors as sides by sides; None for two sides, whose agreement has one row."""
    if len(names) < 3:
        return None
    rows = []
    for (level, question), part in table.groupby(["level", "question"], sort=False):
        for measure in (*MEASURES, "rmse"):
            known = {**dict(zip(zip(part["side"], part["other_side"], strict=True), part[measure], strict=True))}
            known |= {(other, one): value for (one, other), value in known.items()}
            known |= {(name, name): 0.0 if measure == "rmse" else 1.0 for name in names}
            for name in names:
                cells = {other: known.get((name, other), math.nan) for other in names}
                rows.append({"level": level, "question": question, "measure": measure, "side": name, **cells})
    note = "Every side against every other; the numbers are those of agreement. A row without a question is the mean."
    return Result(pd.DataFrame(rows), note, "")


# Whether one side agrees with a second better than with a third


CORRELATION_COLUMNS = [
    "level", "question", "side", "other_side", "third_side", "test", "n", "third_n", "r", "third_r", "difference",
    "ci_low", "ci_high", "z", "p", "p_holm", "p_one_sided",
]  # fmt: skip
_FEWEST = 4
DEPENDENT = "Meng, Rosenthal and Rubin (1992), Psychological Bulletin 111; Fisher (1921), Metron 1"


def correlated(sides: Sequence[Side], questions: Sequence[str]) -> Result | None:
    """Return for every side, and every two others, whether it correlates better with the one; None below three."""
    rows = [row for question in questions for level in LEVELS for row in _rows(sides, question, level)]
    if not rows:
        return None
    table = pd.DataFrame(rows, columns=CORRELATION_COLUMNS)
    table["p_holm"] = table.groupby(["level", "question"], sort=False)["p"].transform(holm)
    note = (
        "r: Pearson's between side and other_side; third_r: between side and third_side. Over the same n things both "
        "share a side and are dependent: the z of Meng, Rosenthal and Rubin, with a 95 % interval of the difference "
        "by a bootstrap over these things (percentiles of 1,000 draws). Where the two are over different things "
        "altogether they are independent: Fisher's z, without an interval. p is two-sided, p_holm corrected within "
        "level and question; p_one_sided is what some papers print, and half as large."
    )
    return Result(table, note, f"{DEPENDENT}; {HOLM}")


def _rows(sides: Sequence[Side], question: str, level: Level) -> Iterator[tuple[object, ...]]:
    means = {side.name: scores_of(side, question, level).set_index("name")["mean"].astype(float) for side in sides}
    for one in means:
        for other, third in combinations([name for name in means if name != one], 2):
            compared = _compare_correlations(means[one], means[other], means[third])
            if compared is not None:
                yield (level, question, one, other, third, *compared)


def _compare_correlations(one: pd.Series, other: pd.Series, third: pd.Series) -> tuple[object, ...] | None:
    shared = [one.index.intersection(some.index, sort=False) for some in (other, third)]
    same = shared[0].intersection(shared[1], sort=False)
    if len(same) >= _FEWEST:
        values = np.asarray([some.loc[same] for some in (one, other, third)], float)
        if not all(map(varies, values)):
            return None
        r = np.corrcoef(values)
        tested = compare_dependent(r[0, 1], r[0, 2], r[1, 2], len(same))
        counts = bootstrap_counts(len(same), SEED)
        apart = bootstrap_pearson(values[0], values[1], counts) - bootstrap_pearson(values[0], values[2], counts)
        ends = np.nanquantile(apart, [0.025, 0.975])
        return ("dependent", len(same), len(same), *_with_difference(r[0, 1], r[0, 2]), *ends, tested.z, tested.p,
                np.nan, tested.p_one_sided)  # fmt: skip
    if len(same) or min(map(len, shared)) < _FEWEST:
        return None
    both = [np.asarray([side.loc[names] for side in (one, some)], float)
            for names, some in zip(shared, (other, third), strict=True)]  # fmt: skip
    if not all(varies(side) for values in both for side in values):
        return None
    r1, r2 = (float(np.corrcoef(values)[0, 1]) for values in both)
    tested = compare_correlations(r1, r2, len(shared[0]), len(shared[1]))
    return ("independent", len(shared[0]), len(shared[1]), *_with_difference(r1, r2), np.nan, np.nan, tested.z,
            tested.p, np.nan, tested.p_one_sided)  # fmt: skip


def _with_difference(r: float, third: float) -> tuple[float, float, float]:
    return float(r), float(third), float(r - third)


# Differences of two sides on each stimulus and condition, by Welch's test


_TESTED = [
    "side", "other_side", "n", "mean", "se", "other_n", "other_mean", "other_se", "difference", "difference_se", "df",
    "ci_low", "ci_high", "statistic", "p", "p_holm", "p_bh", "clear",
]  # fmt: skip
_KEYS = {"stimulus": ["question", "stimulus", "content", "condition"], "condition": ["question", "condition"]}
_ERRORS = {
    "stimulus": "the error of a mean is sd / √n over participants",
    "condition": (
        "the error of a mean is that of its interval: clustered by participant and content where a side has ratings; "
        "sd / √n, as if ratings were independent, where a table has these only; none where there are only means"
    ),
}


def differences(matched: Sequence[MatchedScores], level: Level) -> Result | None:
    """Return the difference of two sides on everything that both have scored; None where they share nothing."""
    parts = [_tested(one) for one in matched if one.level == level]
    if not parts:
        return None
    note = (
        f"side minus other_side. Welch's t, two-sided, for two groups of different people; {_ERRORS[level]}. p_holm "
        "(Holm) and p_bh (Benjamini and Hochberg) are corrected within a question and two sides. clear: p_holm is "
        f"below {ALPHA:g}. Without an error on both sides, or where nobody disagreed on either, there is no test."
    )
    return Result(pd.concat(parts, ignore_index=True), note, "; ".join((WELCH, HOLM, DISCOVERY)))


def _tested(one: MatchedScores) -> pd.DataFrame:
    table = one.table
    test = welch(*(table[f"{who}{column}"] for who in ("", "other_") for column in ("mean", "se", "df")))
    corrected = holm(test.p)
    tested = table.assign(
        question=one.question, side=one.side, other_side=one.other_side, difference=test.difference,
        difference_se=test.se, df=test.df, ci_low=test.low, ci_high=test.high, statistic=test.statistic,
        p=test.p, p_holm=corrected, p_bh=benjamini_hochberg(test.p),
        clear=np.where(np.isnan(corrected), np.nan, corrected < ALPHA),
    )  # fmt: skip
    return tested.rename(columns={"name": "stimulus"} if one.level == "stimulus" else {})[[*_KEYS[one.level], *_TESTED]]


# The mean difference between sides, and whether they are equivalent


EFFECT_COLUMNS = [
    "question", "side", "other_side", "difference", "se", "df", "ci_low", "ci_high", "p", "equivalent", "margin",
    "f", "f_df", "f_df_error", "f_p", "chi2", "chi2_df", "chi2_p", "note",
]  # fmt: skip
_KINDS = ("score", "diff")


def effects(sides: Sequence[Side], questions: Sequence[str], margin: float | None = None) -> Result | None:
    """Return the effect of the side, given stimulus and rater; None unless every side has ratings of the same kind."""
    rows = [row for question in questions for row in _effect_rows(sides, question, margin)]
    if not rows:
        return None
    note = (
        "Mixed model: score by stimulus and side, with a random participant, over the stimuli that all sides have. "
        "f to f_p: F test of all sides together (REML), its error over participants; chi2 to chi2_p: the likelihood "
        "ratio (ML), which finds too much where participants are few. difference: side minus other_side (REML), "
        "Student t over participants. equivalent, with two one-sided tests at 5 %: yes, the 90 % interval is within "
        "plus or minus the margin; no, the 95 % interval is beyond it; undecided, neither. That no difference was "
        f"found is not equivalence. The margin is {precise_percent(EQUIVALENCE_MARGIN)} of the scale unless another is "
        "given."
    )
    return Result(pd.DataFrame(rows, columns=EFFECT_COLUMNS), note, RUN_EFFECT_CITATION)


def _effect_rows(sides: Sequence[Side], question: str, margin: float | None) -> list[tuple[object, ...]]:
    known = [side.ratings for side in sides]
    if any(one is None or one.kinds.get(question) not in _KINDS for one in known):
        return []
    tables, widths = [], []
    for place, (side, ratings) in enumerate(zip(sides, known, strict=True)):
        assert ratings is not None
        mine = ratings.votes[ratings.votes["question"] == question]
        # Of different studies the same name is another person.
        who = side.study or side.name
        tables.append(mine.assign(side=place, rater=who + "\n" + mine["participant"]))
        ends = scale_ends(ratings, question)
        widths.append(ends.high - ends.low)
    shared = set.intersection(*(set(table["stimulus"]) for table in tables))
    whole = pd.concat(tables, ignore_index=True)
    whole = whole[whole["stimulus"].isin(shared)]
    if whole.empty:
        return []
    allowed = EQUIVALENCE_MARGIN * max(widths) if margin is None else margin
    effect = run_effect(
        whole["value"].to_numpy(float), codes_of(whole["stimulus"]), np.asarray(whole["side"], np.intp),
        codes_of(whole["rater"]), margin=allowed,
    )  # fmt: skip
    return _effect_cells(question, sides, effect, allowed)


def _effect_cells(question: str, sides: Sequence[Side], effect: RunEffect, margin: float) -> list[tuple[object, ...]]:
    tested = (*effect.test, effect.chi2, effect.df, effect.p, effect.note)
    if not effect.differences:
        return [(question, sides[0].name, sides[1].name, *(np.nan,) * 6, "", margin, *tested)]
    return [
        (question, sides[one.run].name, sides[one.other].name, one.difference, one.se, one.df, one.low, one.high, one.p,
         one.equivalent, margin, *tested)
        for one in effect.differences
    ]  # fmt: skip
