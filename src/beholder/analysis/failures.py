"""failures: scores of those who failed a rule or check beside those who passed everything.

They are grouped as in Tables V to VII of Naderi and Cutler: by session or by rater, whatever else was failed or with
nothing else failed, also where a check only records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from beholder.analysis.columns import PARTICIPANTS, QUESTION, THEIR_STIMULI
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.ratings import Ratings, as_ratings, ratings_of
from beholder.analysis.reasons import FailedReasons, failed_reasons, rule_of
from beholder.analysis.result import Result
from beholder.stats.correlation import agreement

CITATION = "Naderi and Cutler, A crowdsourcing approach to video quality assessment"
_UNITS = {"session": "session", "rater": "participant"}
"""Whose failures count together, and the column that tells them apart."""
_ANY, _PASSED = "any", "passed"


class FailureGroup(NamedTuple):
    """The ratings of those who passed or failed something."""

    criterion: str
    """The rule or check; empty of those who passed everything."""
    reason: str
    """Why it was failed, where it can be failed in several ways; empty for all of them."""
    result: str
    """passed or failed"""
    others: str
    """`passed`, all other rules were; `any`, whatever else was failed."""
    by: str
    """session or rater"""
    ratings: Ratings


def failure_groups(ratings: Ratings) -> list[FailureGroup]:
    """Return those who passed everything, and for each rule those who passed it, failed it, and failed nothing else.

    By rater, everything counts that any session of a person failed; where nobody has several sessions it is the same
    as by session, and left out. Nobody failed anything: no groups.
    """
    rows = ratings.rows
    if rows.empty:
        return []
    single = failed_reasons(ratings, ratings.session_reasons, ratings.session_failures)

    @cache
    def chosen(mask: bytes) -> Ratings:
        # By session and by rater, with any other failure and with none, groups are often of the same rows.
        return ratings_of(ratings, np.frombuffer(mask, bool))

    groups: list[FailureGroup] = []
    seen: FailedReasons | None = None
    for by, column in _UNITS.items():
        if column not in rows:
            column = "participant"
        failed = single.by_unit(rows[column])
        if seen is not None and failed.is_same(seen):
            continue
        seen = failed
        groups += _groups(chosen, failed, by)
    return groups if any(group.result == "failed" for group in groups) else []


def _groups(of: Callable[[bytes], Ratings], failed: FailedReasons, by: str) -> Iterator[FailureGroup]:
    every = sorted({reason for reasons in failed.reasons for reason in reasons})
    rules = {rule: [reason for reason in every if rule_of(reason) == rule] for rule in map(rule_of, every)}
    yield from _group(of, failed.is_nothing, "", "", _PASSED, _PASSED, by)
    for rule, reasons in rules.items():
        has_failed = failed.has_rule(rule)
        yield from _group(of, ~has_failed, rule, "", "passed", _ANY, by)
        yield from _group(of, has_failed, rule, "", "failed", _ANY, by)
        yield from _group(of, failed.has_rule(rule, only=True), rule, "", "failed", _PASSED, by)
        for reason in reasons if len(reasons) > 1 else ():
            why = reason.partition(":")[2]
            yield from _group(of, failed.has_reason(reason), rule, why, "failed", _ANY, by)
            yield from _group(of, failed.has_reason(reason, only=True), rule, why, "failed", _PASSED, by)


def _group(
    of: Callable[[bytes], Ratings],
    chosen: NDArray[np.bool_],
    criterion: str,
    reason: str,
    result: str,
    others: str,
    by: str,
) -> Iterator[FailureGroup]:
    """Yield the group of these rows, if anything of it was rated."""
    group = of(chosen.tobytes())
    if len(group.used):
        yield FailureGroup(criterion, reason, result, others, by, group)


# The table


_NOTE = (
    "Mean of each stimulus by the ratings of a group, held against that by those who passed everything (sessions of "
    "other people that no rule or check says anything of, also none that only records): correlations over stimuli, "
    "root mean square error, and the same after a straight line (first-order mapping). others: whether all other rules "
    "were passed. by rater: what any session of a person failed counts for all of them; without such rows it is the "
    "same. With few ratings even good ones are off: criteria.csv says what as many used participants would reach."
)


def failures(data: pd.DataFrame | Ratings) -> Result | None:
    """Return how far the scores of those who failed agree with those of whom passed everything; None without any."""
    ratings = as_ratings(data)
    groups = failure_groups(ratings)
    passed = {group.by: group.ratings for group in groups if not group.criterion}
    rows = []
    for question in ratings.questions:
        for group in groups:
            own = group.ratings.table[group.ratings.table["question"] == question]
            if own.empty:
                continue
            measures = (math.nan,) * 4
            if group.criterion and group.by in passed:
                standard = passed[group.by].table
                others = standard[~standard["participant"].isin(own["participant"].unique())]
                measures = measures_against(own, stimulus_means(others, question))
            names = group.criterion, group.reason, group.result, group.others, group.by
            rows.append((question, *names, *group_sizes(group.ratings, question), *measures))
    return FAILURES.result(pd.DataFrame(rows, columns=FAILURES.names), _NOTE) if rows else None


def stimulus_means(table: pd.DataFrame, question: str) -> pd.Series:
    """Return the mean of each stimulus in a question."""
    return table[table["question"] == question].groupby("stimulus", sort=False)["value"].mean()


def measures_against(own: pd.DataFrame, standard: pd.Series) -> tuple[float, float, float, float]:
    """Return Pearson, Spearman, error and error after mapping of stimulus means against those of others."""
    means = own.groupby("stimulus", sort=False)["value"].mean()
    both = pd.concat([means, standard], axis=1, join="inner", keys=["own", "standard"])
    if both.empty:
        return (math.nan,) * 4
    agreed = agreement(both["own"], both["standard"])
    return agreed.pearson, agreed.spearman, agreed.rmse, agreed.rmse_mapped


def group_sizes(ratings: Ratings, question: str) -> tuple[float, ...]:
    """Return sessions, participants, ratings, stimuli, and participants per stimulus, of one question."""
    own = ratings.used[ratings.used["question"] == question]
    table = ratings.table[ratings.table["question"] == question]
    stimuli = table["stimulus"].nunique()
    sessions = own["session"].nunique() if "session" in own else own["participant"].nunique()
    return sessions, own["participant"].nunique(), len(own), stimuli, len(table) / stimuli if stimuli else 0.0


RATINGS = Column("ratings", "integer", "Ratings that it rests on.")
PER_STIMULUS = Column("per_stimulus", "number", "Participants per stimulus, on average.")
ERRORS = (
    Column("spearman", "number", "Rank correlation with them."),
    Column("rmse", "number", "Root mean square difference from them."),
    Column("rmse_mapped", "number", "The same after a straight line."),
)
"""How far scores are from those of others, after Pearson's correlation."""
GROUP_COLUMNS = (
    Column("criterion", "text", "The rule or check; empty of those who passed everything."),
    Column("reason", "text", "Why it was failed, where there are several reasons; empty for all of them together."),
    Column("result", "text", "Whether they passed or failed it.", ("passed", "failed")),
    Column("others", "text", "Whether they passed everything else, or any.", (_PASSED, _ANY)),
    Column("by", "text", "Whether sessions are told apart, or people with all their sessions.", tuple(_UNITS)),
    Column("sessions", "integer", "How many sessions these are."),
    PARTICIPANTS,
    RATINGS,
    THEIR_STIMULI,
    PER_STIMULUS,
)
FAILURES = Analysis(
    "failures",
    failures,
    (
        QUESTION, *GROUP_COLUMNS,
        Column("pearson", "number", "Correlation over stimuli with the scores of those who passed everything."),
        *ERRORS,
    ),
    row="rule that was passed or failed, by session and by rater, and question",
    holds="how far scores of those who failed agree with scores of those who passed everything",
    citation=CITATION,
    order=29.5,
    apart="failures",
)  # fmt: skip


def group_words(row: Mapping[str, str], title: str) -> str:
    """Return a group as a reader sees it; `title` is what its criterion is called."""
    if not row["criterion"]:
        words = "Everything passed"
    else:
        words = f"{title}: {row['result']}" + (f" ({row['reason'].replace('_', ' ')})" if row["reason"] else "")
        words += ", all else passed" if row["others"] == _PASSED else ""
    return words + (", by rater" if row["by"] == "rater" else "")
