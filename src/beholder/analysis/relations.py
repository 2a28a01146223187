"""relations and relation_differences: what people give stimuli of their own, beside those that are for everybody.

Stimuli that a manifest binds to people by its column `for` are in no other table: each is rated by few people, or one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import pandas as pd
from scipy import special

from beholder.analysis.columns import (
    CI_HIGH,
    CI_LOW,
    CONTENTS,
    DF,
    METRIC,
    NOTE,
    P_HOLM,
    PARTICIPANTS,
    QUESTION,
    RATINGS_N,
    SD,
    STATISTIC,
    STIMULI,
    P,
)
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.figures.scores import scores_chart
from beholder.analysis.means import MEAN_CITATION, interval_citation, scale_ends
from beholder.analysis.ratings import COMPARISONS, Ratings, as_ratings, tidy
from beholder.analysis.result import Result, metric
from beholder.stats.intervals import STUDENT_CITATION, interval_for, t_interval
from beholder.stats.tests import HOLM_CITATION, holm
from beholder.stimuli.relations import COMMON, OWN

_RELATION = Column("relation", "text", f"What the stimuli are to those who rated them; `{COMMON}`: for everybody.")
_CONDITION = Column("condition", "text", "Name of the condition; empty over all conditions.")
_FEWEST_PEOPLE = 5
"""With fewer people a row says that they are few."""
# Means are sums of fractions: differences that are equal on paper may differ in the last bits.
_NO_ERROR = 1e-9


def ratings_by_relation(ratings: Ratings) -> dict[str, Ratings]:
    """Return the ratings of each relation: own first, others by code point, what is for everybody last."""
    words = sorted(ratings.related, key=lambda word: (word != OWN, word))
    parts = {word: replace(tidy(ratings.related[word], ratings.order), look=ratings.look) for word in words}
    parts = {word: part for word, part in parts.items() if len(part.votes)}
    return {**parts, COMMON: ratings} if parts else {}


def relations(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the mean of every condition under each relation; None where no stimulus was for some people alone."""
    ratings = as_ratings(data)
    rows = [row for word, part in ratings_by_relation(ratings).items() for row in _means(word, part, ratings)]
    if not rows:
        return None
    table = pd.DataFrame(rows, columns=RELATIONS.names)
    order = {name: place for place, name in enumerate(ratings.questions)}
    table = table.sort_values("question", key=lambda names: names.map(order), kind="stable", ignore_index=True)
    note = (
        "What people gave stimuli that are for them, by what these are to them, and stimuli for everybody (common). "
        "Every participant weighs the same, and intervals are over participants, as everybody has other stimuli: with "
        "few people they are wide. All other tables are of stimuli for everybody. Relations differ in their stimuli "
        f"and, where not everybody has each of them, in their people.{ratings.look_note}"
    )
    return RELATIONS.result(table, note, interval_citation(ratings, "participants"))


def _means(word: str, part: Ratings, ratings: Ratings) -> list[tuple[object, ...]]:
    """Return the rows of one relation: all conditions together where that says something, then each."""
    rows: list[tuple[object, ...]] = []
    for question in part.questions:
        mine, kind = part.table[part.table["question"] == question], part.kinds[question]
        groups = {} if kind in COMPARISONS else {"": mine}
        groups |= {name: mine[mine["condition"] == name] for name in ratings.conditions}
        called = metric(part.methods[question], kind).name
        rows += [
            (question, word, name, called, *_mean(some, part, question)) for name, some in groups.items() if len(some)
        ]
    return rows


def _mean(votes: pd.DataFrame, part: Ratings, question: str) -> tuple[object, ...]:
    """Return counts, the mean of participants' own means, and its interval over participants, within the scale."""
    own = votes.groupby("participant")["value"].mean()
    interval = interval_for(part.kinds[question], own.to_numpy(float), len(votes), part.level)
    low, high = scale_ends(part, question)[:2]
    counts = (len(votes), interval.n, votes["content"].nunique(), votes["stimulus"].nunique())
    note = "few people" if interval.n < _FEWEST_PEOPLE else ""
    return (*counts, interval.mean, float(votes["value"].std()), max(interval.low, low), min(interval.high, high), note)


def named_by_relation(table: pd.DataFrame, labels: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return the rows of single conditions, each called by its condition and its relation, as figures show them."""
    shown = table[table["condition"] != ""]
    names = shown["condition"].map(lambda name: (labels or {}).get(name, name))
    return shown.assign(condition=names + " (" + shown["relation"] + ")")


def _draw(table: pd.DataFrame) -> Any:
    return scores_chart(named_by_relation(table))


RELATIONS = Analysis(
    "relations",
    relations,
    (
        QUESTION, _RELATION, _CONDITION, METRIC, RATINGS_N, PARTICIPANTS, CONTENTS, STIMULI,
        Column("mean", "number", "Mean of the participants' own means."),
        SD, CI_LOW, CI_HIGH, NOTE,
    ),
    row="relation, condition and question",
    holds="mean of stimuli that are for some people alone, and of those for everybody, with intervals over people",
    citation=MEAN_CITATION,
    draw=_draw,
    order=8.6,
    holds_at_looks=True,
)  # fmt: skip


# Differences within people


def relation_differences(data: pd.DataFrame | Ratings) -> Result | None:
    """Return every two relations against each other, within the people who rated both; None without relations."""
    ratings = as_ratings(data)
    parts = ratings_by_relation(ratings)
    means = {word: _own_means(part) for word, part in parts.items()}
    rows = [
        row
        for question in ratings.questions
        if ratings.kinds[question] not in COMPARISONS
        for row in _differences(question, means, ratings)
    ]
    if not rows:
        return None
    table = pd.DataFrame(rows, columns=RELATION_DIFFERENCES.names)
    return RELATION_DIFFERENCES.result(table, _DIFFERENCES_NOTE + ratings.look_note)


_DIFFERENCES_NOTE = (
    "relation minus other_relation: the mean of each participant's own differences, among those who rated both. All "
    "conditions: over those that somebody rated under both relations. Student's t with as many degrees of freedom as "
    "there are participants, less one; Holm's correction over all rows of a question that have a test. Everybody has "
    "other stimuli, so that a difference may also lie in these."
)
RELATION_DIFFERENCES = Analysis(
    "relation_differences",
    relation_differences,
    (
        QUESTION,
        _RELATION,
        Column("other_relation", "text", "The relation with which it is compared."),
        _CONDITION,
        PARTICIPANTS,
        Column("mean_difference", "number", "The first minus the second, each participant weighing the same."),
        Column("sd", "number", "Standard deviation of the participants' differences."),
        DF, CI_LOW, CI_HIGH, STATISTIC, P, P_HOLM, NOTE,
    ),
    row="pair of relations, condition and question",
    holds="difference within people with interval, test, and p after Holm's correction",
    citation=f"{STUDENT_CITATION}; {HOLM_CITATION}",
    order=8.7,
    holds_at_looks=True,
)  # fmt: skip


def _own_means(part: Ratings) -> pd.DataFrame:
    """Return the mean of each participant by question and condition."""
    return part.votes.groupby(["question", "participant", "condition"])["value"].mean().reset_index()


class _WithinPeople(NamedTuple):
    """The differences of some people, tested."""

    participants: int
    mean: float
    sd: float = math.nan
    df: float = math.nan
    low: float = math.nan
    high: float = math.nan
    t: float = math.nan
    p: float = math.nan
    note: str = ""


def _differences(question: str, means: Mapping[str, pd.DataFrame], ratings: Ratings) -> Iterator[tuple[object, ...]]:
    """Yield the differences of one question: every two relations, over all conditions and in each."""
    tested: list[tuple[tuple[str, str, str], _WithinPeople]] = []
    for one, other in combinations(means, 2):
        mine, theirs = (table[table["question"] == question] for table in (means[one], means[other]))
        both = mine.merge(theirs, on=["participant", "condition"], suffixes=("", "_other"))
        both = both.assign(difference=both["value"] - both["value_other"])
        groups = {"": both.groupby("participant")["difference"].mean()}
        groups |= {name: both[both["condition"] == name]["difference"] for name in ratings.conditions}
        tested += [((one, other, name), _test(some, ratings.level)) for name, some in groups.items() if len(some)]
    corrected = holm([test.p for _, test in tested])
    for (names, test), p_holm in zip(tested, corrected, strict=True):
        yield (question, *names, *test[:-1], float(p_holm), test.note)


def _test(values: pd.Series, level: float) -> _WithinPeople:
    """Return Student's t test of the differences of some people."""
    own = t_interval(values.to_numpy(float), level)
    if own.n < 2:
        return _WithinPeople(own.n, own.mean, note="one person: no test")
    error, df = own.sd / math.sqrt(own.n), own.n - 1
    if error < _NO_ERROR:
        return _WithinPeople(own.n, own.mean, own.sd, note="all differ alike: no test")
    t = own.mean / error
    p = float(2 * special.stdtr(df, -abs(t)))
    note = "few people" if own.n < _FEWEST_PEOPLE else ""
    return _WithinPeople(own.n, own.mean, own.sd, df, own.low, own.high, t, p, note)
