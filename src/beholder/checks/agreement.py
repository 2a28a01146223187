"""Rules that compare a participant with the others: `agreement` and `consistency`."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import mul
from statistics import fmean, median
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from beholder.checks.contract import (
    NOT_MET,
    AnsweredTrial,
    ComparedRating,
    ComparedSession,
    MeansOfOthers,
    RuleResult,
    Scatter,
    SessionEvidence,
    SessionRule,
    Verdict,
)
from beholder.study.checks import After
from beholder.types import UNRATED_ROLES, Json

if TYPE_CHECKING:
    from beholder.stats.rater_models import Floats, RaterModelFit, RaterVotes

Vote = tuple[str, str]
"""What was judged, and by which question."""


class Agreement(SessionRule):
    """agreement: votes correlate by rank with the mean of all other participants (reference: checks 7)."""

    name: ClassVar[str] = "agreement"
    title: ClassVar[str] = "Agreement with the others"
    order: ClassVar[int] = 110
    compared: ClassVar[int | None] = 20
    compares_ratings: ClassVar[bool] = True
    summary: ClassVar[str] = "Answers agree with those of the others."
    threshold_summary: ClassVar[str] = "Answers agree with the others."
    reasons: ClassVar[Mapping[str, str]] = {"disagrees": "Disagrees with the others"}

    class Options(SessionRule.Options):
        """Agreement with the others: rank correlation with their mean, without one's own votes."""

        action: Literal["flag", "record"] = Field(
            default="record", description="`flag`: silent, cleaning decides; `record`: only noted, and costs nothing."
        )
        min: Annotated[float, After()] = Field(default=0.5, ge=-1, le=1, description="Least rank correlation.")
        stimuli: Annotated[int, After()] = Field(default=10, ge=3, description="Fewer shared stimuli tell nothing.")
        warn: Annotated[float, After("A lower median is told in the report.")] = Field(
            default=0.75, ge=-1, le=1, description="A lower median over all raters is told in the report."
        )

    options: Options

    def sentence(self) -> str:
        return (
            f"Rank correlation of at least {self.options.min:g} with the mean of the others, without one's own votes, "
            f"over {self.options.stimuli} stimuli or more."
        )

    def prepare(self, sessions: Sequence[ComparedSession]) -> Sequence[SessionEvidence]:
        """Return the evidence with the means of everybody else."""
        votes = VotesOfOthers(rating for one in sessions for rating in one.ratings if rating.use)
        return [replace(one.evidence, others=votes.others(one.participant, one.ratings)) for one in sessions]

    def account(self, results: Sequence[RuleResult]) -> dict[str, Json]:
        measured = (one.verdict.measured for one in results)
        values = [float(value) for value in measured if isinstance(value, int | float)]
        return {"median": round(median(values), 2) if values else None, "warn": self.options.warn}

    def judge(self, evidence: SessionEvidence) -> Verdict:
        if not evidence.others:
            reason = "too_few_shared" if any(votes_of(answered) for answered in evidence.trials) else NOT_MET
            return self.verdict("unknown", reason, needed=self.options.min, stimuli=0)
        own = _means([vote for answered in evidence.trials for vote in votes_of(answered)])
        shared = [vote for vote in own if vote in evidence.others]
        stimuli = len({stimulus for stimulus, _ in shared})
        if stimuli < self.options.stimuli:
            reason = "too_few_shared" if own else NOT_MET
            return self.verdict("unknown", reason, needed=self.options.min, stimuli=stimuli)
        r = spearman([own[vote] for vote in shared], [evidence.others[vote] for vote in shared])
        if r is None:
            return self.verdict("unknown", "same_answer", needed=self.options.min, stimuli=stimuli)
        reason = "disagrees" if r < self.options.min else ""
        return self.pass_or_fail(reason, measured=round(r, 4), needed=self.options.min, stimuli=stimuli)


def votes_of(answered: AnsweredTrial) -> list[tuple[Vote, float]]:
    """Return the ratings of a trial: of a stimulus or, in a comparison, of a pair."""
    slots, asked = answered.trial.slot_by_id, answered.trial.rated_questions
    votes = []
    for one in answered.judgements:
        slot, other = slots[one.slot], slots.get(one.other_slot or "")
        if one.value is None or one.question not in asked or slot.role in UNRATED_ROLES:
            continue
        if other is not None and other.role in UNRATED_ROLES:
            continue
        subject = vote_subject(one.kind, slot.stimulus, other.stimulus if other else None)
        if subject is not None:
            votes.append(((subject, one.question), one.value))
    return votes


def vote_subject(kind: str, stimulus: str, other: str | None) -> str | None:
    """Return what a vote is about: a stimulus or a pair; None for kinds that have a right answer."""
    if kind == "score":
        return stimulus
    return f"{stimulus} {other}" if kind in ("diff", "choice") else None


def spearman(one: Sequence[float], two: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation, with mean ranks for ties; None where one side does not vary."""
    first, second = _ranks(one), _ranks(two)
    # Twice the ranks are whole numbers, whose sums are exact: a value at a limit is there on every machine.
    whole = sum(map(mul, first, first)) * sum(map(mul, second, second))
    return sum(map(mul, first, second)) / math.sqrt(whole) if whole else None


def _ranks(values: Sequence[float]) -> list[int]:
    """Return twice the rank of each value minus the mean rank: below zero for the lower half."""
    counts = Counter(values)
    ranks: dict[float, int] = {}
    below = 0
    for value in sorted(counts):
        ranks[value] = 2 * below + counts[value] - len(values)
        below += counts[value]
    return [ranks[value] for value in values]


def _means(votes: Sequence[tuple[Vote, float]]) -> dict[Vote, float]:
    by_vote: dict[Vote, list[float]] = {}
    for vote, value in votes:
        by_vote.setdefault(vote, []).append(value)
    return {vote: values[0] if len(values) == 1 else fmean(values) for vote, values in by_vote.items()}


class VotesOfOthers:
    """All votes on each stimulus and question, and how many of them each person gave."""

    def __init__(self, ratings: Iterable[ComparedRating]) -> None:
        self._all: dict[Vote, list[float]] = {}
        self._own: dict[str, dict[Vote, list[float]]] = defaultdict(dict)
        for rating in ratings:
            vote = _vote(rating)
            if vote is not None and rating.value is not None:
                for sums in (self._all, self._own[rating.participant]):
                    known = sums.setdefault(vote, [0.0, 0])
                    known[0] += rating.value
                    known[1] += 1

    def others(self, participant: str, ratings: Iterable[ComparedRating]) -> MeansOfOthers:
        """Return the means of everybody else on what a participant judged in a session."""
        own = self._own.get(participant, {})
        means = {}
        for vote in {vote for rating in ratings if (vote := _vote(rating)) is not None}:
            whole, count = self._all.get(vote, (0.0, 0))
            mine, times = own.get(vote, (0.0, 0))
            if count > times:
                means[vote] = (whole - mine) / (count - times)
        return means


def _vote(rating: ComparedRating) -> Vote | None:
    judged = vote_subject(rating.kind, rating.stimulus, rating.other_stimulus)
    return None if judged is None else (judged, rating.question)


# Consistency: each rater's scatter, with quality and bias removed

GRADED = ("score", "diff")
"""Kinds of votes that can be near or far; a choice is one or the other."""
_MIN_LOG_SCATTER = 0.08
"""Deviation of the logarithm of scatter that people have at least: among many who are nearly the same, as robots are,
nobody is far off who scatters a tenth more."""
FEWEST_RATERS = 10
"""The usual scatter cannot be estimated from fewer."""
NORMAL_SCATTER = 0.1
"""Scatter, in widths of the scale, that never fails, however little the others have: 0.4 points of five."""


class Consistency(SessionRule):
    """consistency: votes scatter around those of the others as is usual, bias apart (reference: statistics 3.5)."""

    name: ClassVar[str] = "consistency"
    title: ClassVar[str] = "Scatter of the answers"
    order: ClassVar[int] = 120
    compared: ClassVar[int | None] = 30
    compares_ratings: ClassVar[bool] = True
    summary: ClassVar[str] = "Answers do not scatter more than is usual."
    threshold_summary: ClassVar[str] = "Answers do not scatter unusually."
    reasons: ClassVar[Mapping[str, str]] = {"inconsistent": "Answers scatter much more than is usual"}

    class Options(SessionRule.Options):
        """Consistency: votes that scatter round those of the others much more than is usual among the raters."""

        action: Literal["flag", "record"] = Field(
            default="record", description="`flag`: silent, cleaning decides; `record`: only noted, and costs nothing."
        )
        z: Annotated[float, After("So many robust standard deviations are too many.")] = Field(
            default=2.5, gt=0, description="So many robust standard deviations above the median are too many."
        )
        ratings: Annotated[int, After("Fewer ratings of a person tell nothing.")] = Field(
            default=8, ge=2, description="Fewer ratings of a person, over all sessions, tell nothing."
        )

    options: Options

    def sentence(self) -> str:
        return (
            "How far answers scatter round those of the others, bias apart, is at most "
            f"{self.options.z:g} robust standard deviations above the median of all, on a logarithmic scale, over "
            f"{self.options.ratings} ratings or more."
        )

    def prepare(self, sessions: Sequence[ComparedSession]) -> Sequence[SessionEvidence]:
        """Return the evidence with the scatter of each participant."""
        used = [rating for one in sessions for rating in one.ratings if rating.use]
        scatter = rater_scatter(used, self.options.ratings)
        return [replace(one.evidence, scatter=scatter.get(one.participant)) for one in sessions]

    def judge(self, evidence: SessionEvidence) -> Verdict:
        scatter = evidence.scatter
        if scatter is None:
            return self.verdict("unknown", NOT_MET, needed=self.options.z)
        details = {"ratings": scatter.ratings, "raters": scatter.raters, "scatter": round(scatter.width, 4)}
        if scatter.ratings < self.options.ratings:
            return self.verdict("unknown", "too_few_ratings", needed=self.options.z, **details)
        if scatter.raters < FEWEST_RATERS:
            return self.verdict("unknown", "too_few_raters", needed=self.options.z, **details)
        if scatter.z is None:
            return self.verdict("unknown", "all_alike", needed=self.options.z, **details)
        reason = "inconsistent" if scatter.z > self.options.z and scatter.width > NORMAL_SCATTER else ""
        return self.pass_or_fail(reason, measured=round(scatter.z, 4), needed=self.options.z, **details)


def rater_scatter(ratings: Sequence[ComparedRating], fewest: int) -> dict[str, Scatter]:
    """Return the scatter of every person with such ratings; what is usual is that of people with `fewest` or more.

    All questions enter one model, each vote in widths of its scale. What somebody rated several times counts once,
    with its mean.
    """
    import numpy as np
    import pandas as pd

    from beholder.stats.rater_models import RaterVotes
    from beholder.stats.shrinkage import shrunken

    rows = [
        (row.participant, row.question, vote_subject(row.kind, row.stimulus, row.other_stimulus), row.value / width)
        for row in ratings
        if row.kind in GRADED and row.value is not None and (width := row.scale_max - row.scale_min) > 0
    ]
    if not rows:
        return {}
    table = pd.DataFrame(rows, columns=["participant", "question", "judged", "value"])
    votes = table.groupby(["participant", "question", "judged"], sort=False)["value"].mean().reset_index()
    rater, people = pd.factorize(votes["participant"])
    thing = np.asarray(votes.groupby(["question", "judged"], sort=False).ngroup(), np.intp)
    rater_votes = RaterVotes(
        votes["value"].to_numpy(float), np.asarray(rater, np.intp), thing, len(people), int(thing.max()) + 1
    )
    counts = np.bincount(rater_votes.rater, minlength=rater_votes.raters)
    fitted = shrunken(rater_votes)
    z = scatter_z(rater_votes, fitted, fewest)
    raters = int((counts >= fewest).sum())
    return {
        str(person): Scatter(int(count), raters, None if np.isnan(one) else float(one), float(width))
        for person, count, one, width in zip(people, counts, z, np.nan_to_num(fitted.inconsistency), strict=True)
    }


def scatter_z(votes: RaterVotes, fitted: RaterModelFit, fewest: int) -> Floats:
    """Return the robust z of each rater's log inconsistency among those with enough votes; NaN for everybody else."""
    import numpy as np

    from beholder.stats.tests import robust_z

    scores = np.full(votes.raters, np.nan)
    has_enough = np.bincount(votes.rater, minlength=votes.raters) >= fewest
    is_known = has_enough & np.isfinite(fitted.inconsistency) & (fitted.inconsistency > 0)
    z = robust_z(np.log(fitted.inconsistency[is_known]), _MIN_LOG_SCATTER)
    if z is not None:
        scores[is_known] = z
    return scores
