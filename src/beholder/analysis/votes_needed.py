"""votes_needed: agreement of scores from fewer votes, by resampling (reference: statistics 6; P.910)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from beholder.analysis.columns import QUESTION, bounds
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.figures.votes_needed import TARGET_CORRELATION, main_curve, votes_needed_chart
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.errors import Problem, UserError
from beholder.stats.rater_models import Floats, RaterVotes
from beholder.stats.votes_needed import (
    SamplingUnit,
    agreement_curve,
    spearman_brown,
    votes_for_correlation,
)

__all__ = ["TARGET_CORRELATION", "VotesForTarget", "votes_for_target"]


_KINDS = ("score", "diff")
"""Kinds of ratings that are numbers on a scale."""
REPLICATES, SEED = 200, 1
_MAX_DRAWN = 20_000_000
"""Ratings that are drawn in all unless `replicates` is given: about a second."""
_MIN_DRAWS = 20
_MIN_STIMULI = 3
_STEPS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64, 80, 100, 150, 200, 300, 500, 1000)
_NOTE = (
    "votes: how many per stimulus a score is made of. pearson, spearman and rmse: between these scores and those they "
    "are held against, over stimuli; means over replicates, with the range of 95 % of them. against halves: two groups "
    "with nobody in common, both with so many votes, as if a study were repeated at that size; so a curve ends at half "
    "the votes. against all: the scores of all votes, of which those drawn are a part, which flatters. against scores: "
    "the given ones. by participant: whole people are drawn, with replacement but for halves; where people rate a part "
    "of the stimuli, so many that a stimulus has this number of votes on average, and one without any vote is left out "
    "of that draw. by rating: votes are drawn for each stimulus, with replacement but for halves, where one with fewer "
    "votes gives half of its own. votes_now: votes per stimulus in these ratings, on average."
)


def votes_needed(
    data: pd.DataFrame | Ratings,
    *,
    by: SamplingUnit = "participant",
    against: Literal["halves", "all"] | pd.DataFrame = "halves",
    replicates: int | None = None,
    seed: int = SEED,
    sizes: Sequence[int] | None = None,
) -> Result | None:
    """Return how agreement grows with the number of votes per stimulus; None where the ratings are too few.

    `against`: the other half of the participants, all votes, or a table of scores (stimulus, mean, optional question).
    `replicates` is 200 when left out, fewer beyond 100,000 ratings; `sizes` are the numbers of votes to evaluate.
    """
    _check(by, against, replicates, sizes)
    rows = [*_rows(as_ratings(data), by, against, replicates, seed, sizes)]
    return _result(rows, is_bound=replicates is None)


def default_curves(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the curve of repeated studies, and that of P.910: single votes against all of them."""
    ratings = as_ratings(data)
    halves = [*_rows(ratings, "participant", "halves", None, SEED, None)]
    rows = [*halves, *_rows(ratings, "rating", "all", None, SEED, None)] if halves else []
    return _result(rows, is_bound=True)


def _result(rows: list[pd.DataFrame], *, is_bound: bool) -> Result | None:
    if not rows:
        return None
    table = pd.concat(rows, ignore_index=True)[VOTES_NEEDED.names]
    fewest = int(table["replicates"].min())
    fewer = ", fewer than usual as there are so many ratings" if is_bound and fewest < REPLICATES else ""
    note = f"{_NOTE} {fewest} replicates{fewer}."
    return VOTES_NEEDED.result(table, note)


VOTES_NEEDED = Analysis(
    "votes_needed",
    default_curves,
    (
        QUESTION,
        Column("by", "text", "What is drawn: whole people, or votes of each stimulus.", ("participant", "rating")),
        Column("against", "text", "What the scores are held against: as many votes of other people, the scores of all "
               "votes, or a table of yours.", ("halves", "all", "scores")),
        Column("votes", "integer", "Votes per stimulus that a score is made of."),
        Column("pearson", "number", "Correlation over stimuli: mean over the draws."),
        *bounds("pearson", "the range of 95 % of the draws"),
        Column("rmse", "number", "Root mean square difference, in points of the scale: mean over the draws."),
        *bounds("rmse", "the range of 95 % of the draws"),
        Column("spearman", "number", "Rank correlation over stimuli: mean over the draws."),
        Column("replicates", "integer", "How many draws there were."),
        Column("votes_now", "number", "Votes per stimulus that there are, on average."),
    ),
    row="number of votes per stimulus, and question",
    holds="how far scores agree that are made of so many",
    citation="Naderi and Cutler, A crowdsourcing approach to video quality assessment; Spearman (1910), British "
    "Journal of Psychology 3; Brown (1910), British Journal of Psychology 3",
    draw=votes_needed_chart,
    seed=SEED,
    order=26,
    apart="votes",
)  # fmt: skip


def _rows(
    ratings: Ratings,
    by: SamplingUnit,
    against: str | pd.DataFrame,
    replicates: int | None,
    seed: int,
    sizes: Sequence[int] | None,
) -> Iterator[pd.DataFrame]:
    """Yield the curve of each question that has one."""
    votes = ratings.votes
    many = replicates or min(REPLICATES, max(_MIN_DRAWS, _MAX_DRAWN // max(1, len(votes))))
    for question in ratings.questions:
        if ratings.kinds[question] not in _KINDS:
            continue
        mine = votes if len(ratings.questions) == 1 else votes[votes["question"] == question]
        stimulus_votes, names = _stimulus_votes(mine)
        if stimulus_votes.stimuli < _MIN_STIMULI or stimulus_votes.raters < 2:
            continue
        target = _target(stimulus_votes, names, against, question)
        most = stimulus_votes.per_stimulus / (1 if target is not None else 2)
        chosen = _sizes(most, sizes, is_bound=target is None)
        if not len(chosen):
            continue
        if target is not None:
            stimulus_votes, target = _shared(stimulus_votes, target)
        curve = agreement_curve(stimulus_votes, by, target, chosen, many, np.random.default_rng(seed))
        if np.isfinite(curve.rmse).any():
            yield pd.DataFrame(curve._asdict()).assign(
                question=question, by=by, against=against if isinstance(against, str) else "scores",
                votes_now=stimulus_votes.per_stimulus,
            )  # fmt: skip


def _stimulus_votes(votes: pd.DataFrame) -> tuple[RaterVotes, pd.Series]:
    """Return votes by number, and the names of the stimuli."""
    stimulus = votes["stimulus"]
    if (votes["other_stimulus"] != "").any():
        stimulus = stimulus + "\n" + votes["other_stimulus"]
    place, names = pd.factorize(stimulus)
    rater, raters = pd.factorize(votes["participant"])
    value = votes["value"].to_numpy(float)
    return RaterVotes(value, rater, place, len(raters), len(names)), pd.Series(names, dtype=object)


def _target(votes: RaterVotes, names: pd.Series, against: str | pd.DataFrame, question: str) -> Floats | None:
    """Return the target scores of the stimuli; None for halves."""
    if isinstance(against, str):
        if against == "halves":
            return None
        counts = np.bincount(votes.stimulus, minlength=votes.stimuli)
        return np.bincount(votes.stimulus, votes.value, votes.stimuli) / counts
    scores = against[against["question"].astype(str) == question] if "question" in against else against
    means = pd.to_numeric(scores["mean"], errors="coerce").groupby(scores["stimulus"].astype(str)).mean()
    target: Floats = names.str.partition("\n")[0].map(means).to_numpy(float)
    if np.isfinite(target).sum() < _MIN_STIMULI:
        shared = f"shares {np.isfinite(target).sum()} stimuli with the ratings of {question}"
        raise UserError(Problem("against", shared, f"{_MIN_STIMULI} or more, by the names in the column stimulus"))
    return target


def _shared(votes: RaterVotes, target: Floats) -> tuple[RaterVotes, Floats]:
    """Return the votes on stimuli that have a target, with new codes."""
    is_known = np.isfinite(target)
    if is_known.all():
        return votes, target
    kept = is_known[votes.stimulus]
    place = (np.cumsum(is_known) - 1)[votes.stimulus[kept]]
    rater, raters = pd.factorize(votes.rater[kept])
    return RaterVotes(votes.value[kept], rater, place, len(raters), int(is_known.sum())), target[is_known]


def _sizes(
    most: float, requested: Sequence[int] | None, *, is_bound: bool
) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the numbers of votes to evaluate: up to all votes, a hard limit without replacement."""
    end = math.floor(most + 1e-9)
    if requested is not None:
        return np.array(sorted({size for size in requested if size <= end or not is_bound}), dtype=np.intp)
    steps = [step for step in _STEPS if step < end]
    return np.array([*steps, end] if end > 0 else [], dtype=np.intp)


def _check(by: object, against: object, replicates: int | None, sizes: Sequence[int] | None) -> None:
    problems = []
    if by not in ("participant", "rating"):
        problems.append(Problem("by", f"is {by!r}", "participant or rating"))
    if isinstance(against, pd.DataFrame):
        absent = [column for column in ("stimulus", "mean") if column not in against]
        problems += [Problem("against", f"has no column {column}", "stimulus, mean") for column in absent]
    elif against not in ("halves", "all"):
        problems.append(Problem("against", f"is {against!r}", "halves, all, or a table of scores"))
    if replicates is not None and replicates < 1:
        problems.append(Problem("replicates", f"is {replicates}", "1 or more"))
    if sizes is not None and (not len(sizes) or any(size < 1 or size != int(size) for size in sizes)):
        problems.append(Problem("sizes", f"is {list(sizes)}", "whole numbers, 1 or more"))
    if problems:
        raise UserError(problems)


# Summary of a curve: the agreement with an equal study, and the votes for the target correlation


class VotesForTarget(NamedTuple):
    """Of one question: the agreement of the current votes, and the number that reaches TARGET_CORRELATION."""

    votes_now: float
    r_now: float
    """With an equal study: from halves by Spearman and Brown's formula; NaN where halves do not agree at all."""
    votes: float
    """NaN where the number cannot be estimated."""
    is_measured: bool
    """Whether this many votes are on the curve, and not beyond its end."""


def votes_for_target(table: pd.DataFrame, question: str) -> VotesForTarget:
    """Return what the curve of repeated studies says of a question."""
    rows = main_curve(table)
    rows = rows[(rows["question"] == question) & rows["pearson"].notna()]
    if rows.empty:
        known = table[table["question"] == question]["votes_now"]
        return VotesForTarget(float(known.iloc[0]) if len(known) else math.nan, math.nan, math.nan, False)
    votes, r = rows["votes"].astype(float).tolist(), rows["pearson"].tolist()
    now = float(rows["votes_now"].iloc[0])
    r_now = spearman_brown(r[-1], votes[-1], now) if r[-1] > 0 else math.nan
    reached = [place for place, value in enumerate(r) if value >= TARGET_CORRELATION]
    if not reached:
        return VotesForTarget(
            now,
            r_now,
            math.ceil(votes_for_correlation(r[-1], votes[-1], TARGET_CORRELATION)) if r[-1] > 0 else math.nan,
            False,
        )
    first = reached[0]
    before = votes[first - 1] if first else 0.0
    between = math.ceil(votes_for_correlation(r[first], votes[first], TARGET_CORRELATION) - 1e-9)
    return VotesForTarget(now, r_now, float(min(votes[first], max(before + 1, between))), True)
