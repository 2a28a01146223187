"""Models of quality: each gives every stimulus a quality with its standard error (`beholder analyse --model NAME`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analysis.means import ScaleEnds, average_by, codes_of, scale_ends
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.analysis.scores import on_scale, scores
from beholder.analysis.strengths import stimulus_strengths
from beholder.errors import Problem, UserError, did_you_mean
from beholder.formats import count, percent, precise_percent
from beholder.stats.intervals import IntervalBounds, is_share
from beholder.stats.rater_models import MAX_ONE_SIDED_SHARE, MAX_OUTLIER_SHARE, Floats, RaterModelFit, RaterVotes
from beholder.stats.rater_models import bt500 as bt500_fit
from beholder.stats.rater_models import p910 as p910_fit
from beholder.stats.rater_models import p913 as p913_fit
from beholder.stats.shrinkage import shrunken as shrunken_fit

# mos (reference: statistics 2.1)


def mos(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the mean opinion score of every stimulus; None where no question has scores or grades."""
    ratings = as_ratings(data)
    result = scores(ratings)
    table = result.table[~result.table["question"].map(ratings.kinds).map(is_share).astype(bool)]
    if table.empty:
        return None
    quality = table[["question", "stimulus", "content"]].assign(
        quality=table["mean"], se=table["sd"] / np.sqrt(table["n"]), low=table["ci_low"], high=table["ci_high"]
    )
    note = (
        "Mean over participants, repetitions averaged first; se is sd / √n, the interval 95 % Student t over "
        "participants (n - 1 degrees of freedom)."
    )
    return Result(quality.reset_index(drop=True), note, result.citation)


# The votes on a question


_KINDS = ("score", "diff")
_NAMES = ["stimulus", "content", "condition"]


class QuestionVotes(NamedTuple):
    """The votes on one question."""

    question: str
    votes: RaterVotes
    stimuli: pd.DataFrame
    """stimulus, content and condition, in the order of the study."""
    raters: list[str]
    scale: ScaleEnds

    @property
    def counts(self) -> Floats:
        """How many votes each rater gave."""
        return self.votes.sum_by_rater()

    @property
    def median_count(self) -> float:
        """How many votes half of the raters gave at least."""
        return float(np.median(self.counts))


def scale_questions(ratings: Ratings) -> list[str]:
    """Return the questions whose votes are numbers on a scale.

    A comparison that counts for both its conditions is none: what raters add to the one they take from the other.
    """
    scaled = [name for name in ratings.questions if ratings.kinds[name] in _KINDS]
    return [name for name in scaled if not ratings.is_mirrored(name)]


def question_votes(ratings: Ratings, question: str) -> QuestionVotes:
    """Return the votes on a question, one of each participant on a stimulus."""
    mine = ratings.table[ratings.table["question"] == question]
    keys = [codes_of(mine["condition"], ratings.conditions)]
    keys += [np.asarray(pd.factorize(mine[name], sort=True)[0], np.intp) for name in ("content", "stimulus")]
    joint = np.zeros(len(mine), np.int64)
    for key in keys:
        joint = joint * (int(key.max(initial=0)) + 1) + key
    _, first, place = np.unique(joint, return_index=True, return_inverse=True)
    rater, raters = pd.factorize(mine["participant"], sort=True)
    value, (stimulus, rater) = average_by(mine["value"].to_numpy(float), place, np.asarray(rater, np.intp))
    votes = RaterVotes(value, rater, stimulus, len(raters), len(first))
    stimuli = mine[_NAMES].iloc[first].reset_index(drop=True).astype(object)
    return QuestionVotes(question, votes, stimuli, [str(name) for name in raters], scale_ends(ratings, question))


# Rater models


_KEYS = ["question", "stimulus", "content", "quality", "se", "low", "high"]
_MIN_COVERAGE = 0.9
PLAIN_COVERAGE = 0.91
"""How often the intervals of plain means hold the truth, with any number of ratings from each participant."""


@dataclass(frozen=True)
class RaterModel:
    """A model of raters: its fit, its note and its warnings."""

    name: str
    fit: Callable[[RaterVotes], RaterModelFit]
    note: str
    """What it does with votes, and what its interval is."""
    citation: str
    coverage: Mapping[int, float]
    """How often its 95 % intervals hold the truth in the worst of three kinds of simulated studies, by the ratings that
    each participant gave."""
    remark: Callable[[QuestionVotes, RaterModelFit], str] = lambda _asked, _found: ""
    """What a reader should know of the votes on a question under this model; empty where nothing is odd."""

    def result(self, data: pd.DataFrame | Ratings) -> Result | None:
        """Return the quality of every stimulus; None where no question has scores."""
        ratings = as_ratings(data)
        fits = [(votes, self.fit(votes.votes)) for votes in all_question_votes(ratings)]
        if not fits:
            return None
        table = pd.concat([qualities(votes, fitted) for votes, fitted in fits], ignore_index=True)
        return Result(table[_KEYS], " ".join([self.note, *self.remarks(fits)]), self.citation)

    def remarks(self, fits: Sequence[tuple[QuestionVotes, RaterModelFit]]) -> list[str]:
        """Return what is odd, question by question."""
        remarks = [
            (votes.question, remark) for votes, fitted in fits for remark in self._question_remarks(votes, fitted)
        ]
        return [f"{question}: {remark}" if len(fits) > 1 else remark for question, remark in remarks]

    def _question_remarks(self, votes: QuestionVotes, fitted: RaterModelFit) -> list[str]:
        return [
            remark
            for remark in (
                self.remark(votes, fitted),
                self._coverage_remark(votes),
                _convergence_remark(fitted),
                _split_remark(fitted),
            )
            if remark
        ]

    def coverage_of(self, votes: QuestionVotes) -> float:
        """Return how often such intervals hold the truth where participants give as many ratings as here."""
        known = np.log(list(self.coverage))
        return round(float(np.interp(np.log(votes.median_count), known, list(self.coverage.values()))), 2)

    def _coverage_remark(self, votes: QuestionVotes) -> str:
        """Return a warning where intervals hold the truth clearly less often than they claim."""
        share = self.coverage_of(votes)
        if share >= _MIN_COVERAGE:
            return ""
        return (
            f"With {votes.median_count:g} ratings per participant such intervals hold the truth in about "
            f"{percent(share)} of simulated cases, and not in 95 %."
        )


def all_question_votes(ratings: Ratings) -> list[QuestionVotes]:
    """Return the votes on every question that rater models can use."""
    return [question_votes(ratings, name) for name in scale_questions(ratings)]


def qualities(votes: QuestionVotes, fitted: RaterModelFit) -> pd.DataFrame:
    """Return the quality of every stimulus of a question; without a vote that counts it has none."""
    counted = votes.votes.sum_by_stimulus((~fitted.is_rejected[votes.votes.rater]).astype(float))
    low, high = on_scale(fitted.quality, IntervalBounds(fitted.low, fitted.high), counted, votes.scale)
    return votes.stimuli.assign(question=votes.question, quality=fitted.quality, se=fitted.se, low=low, high=high)


def _convergence_remark(fitted: RaterModelFit) -> str:
    """Return a warning where a model stopped before nothing changed any more; empty where it had settled."""
    return "" if fitted.has_converged else f"It had not settled after {fitted.iterations:,} rounds."


def _split_remark(fitted: RaterModelFit) -> str:
    """Return a warning where groups of stimuli share no rater; empty where all are connected."""
    parts = len(np.unique(fitted.component))
    if parts < 2:
        return ""
    return (
        f"The stimuli fall into {parts} groups that share no participant: within a group qualities can be compared, "
        "between groups they differ by who happened to rate them. Bias is counted from the mean of each group."
    )


# bt500 (reference: statistics 3.2)


MAX_NAMES = 10
_OUTLIER_SHARE = precise_percent(MAX_OUTLIER_SHARE)


def _bt500_remark(votes: QuestionVotes, fitted: RaterModelFit) -> str:
    """Return the rejected raters, or why the rule rejects none."""
    out = [name for name, is_out in zip(votes.raters, fitted.is_rejected, strict=True) if is_out]
    if out:
        more = f" and {len(out) - MAX_NAMES:,} more" if len(out) > MAX_NAMES else ""
        return f"Left out: {', '.join(out[:MAX_NAMES])}{more}; {len(out):,} of {len(votes.raters):,}."
    return f"Nobody is left out: {why_none_rejected(int((fitted.outliers > MAX_OUTLIER_SHARE * votes.counts).sum()))}."


def why_none_rejected(far: int) -> str:
    """Return why the rule rejects no one, although `far` raters have too many ratings far from the others'."""
    if not far:
        return f"nobody has more than {_OUTLIER_SHARE} of their ratings far from the others'"
    who = count(far, "participant has", "participants have")
    return (
        f"{who} more than {_OUTLIER_SHARE} of their ratings far from the others', but mostly on one side, which the "
        "rule takes for a habit and not for carelessness"
    )


BT500 = RaterModel(
    "bt500",
    bt500_fit,
    "Rejection of ITU-R BT.500, applied once: a rating is far from the others' where it is 2 (or √20, where they are "
    "not bell-shaped) standard deviations from their mean; who has more than "
    f"{_OUTLIER_SHARE} of their own ratings far off, and those on both sides (the two counts differ by less than "
    f"{precise_percent(MAX_ONE_SIDED_SHARE)} of their sum), is left out. Stimuli with fewer than 4 ratings, or on "
    "which all agree, do not count against anybody. Then mean and 95 % Student t of those who stay.",
    "ITU-R BT.500-15 (05/2023), A1-2.3.1",
    {2: 0.91, 5: 0.92, 10: 0.93, 20: 0.92, 50: 0.94},
    _bt500_remark,
)


def bt500(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the mean of every stimulus over those who are kept; None where nothing has scores."""
    return BT500.result(data)


# p910 (reference: statistics 3.4)


MIN_RATINGS_P910 = 20
"""Ratings per participant from which Annex E's intervals can be believed."""
_EXACT = 1e-3
"""An inconsistency below this, next to nothing, gives a rater all the weight."""


def _p910_remark(votes: QuestionVotes, fitted: RaterModelFit) -> str:
    """Return a warning where participants rated too little for this model, or some of them weigh everything."""
    warnings = []
    if votes.median_count < MIN_RATINGS_P910:
        warnings.append(
            f"Too few ratings for Annex E: half of the participants gave {votes.median_count:g} or fewer, and below "
            f"{MIN_RATINGS_P910} its intervals are too narrow. Go by the plain mean, or by shrunken."
        )
    if (alone := int((fitted.inconsistency < _EXACT).sum())) and len(votes.raters) > 1:
        warnings.append(
            f"{alone:,} of {len(votes.raters):,} participants fit exactly, as one with a single rating always does; "
            "this model gives them nearly all the weight on what they rated."
        )
    return " ".join(warnings)


P910 = RaterModel(
    "p910",
    p910_fit,
    "ITU-T P.910 Annex E: quality, each participant's bias and inconsistency are estimated in turn until nothing "
    "changes; consistent participants weigh more. The interval is 1.96 se, se being the spread of what is left on a "
    "stimulus / √n.",
    "ITU-T P.910 (10/2023), Annex E; Li et al. (2020), Electronic Imaging 32",
    {2: 0.69, 5: 0.55, 10: 0.85, 20: 0.92, 50: 0.93},
    _p910_remark,
)


def p910(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the quality of every stimulus under Annex E; None where nothing has scores."""
    return P910.result(data)


# p913 (reference: statistics 3.3)


P913 = RaterModel(
    "p913",
    p913_fit,
    "Bias removal of ITU-T P.913: how much higher than the others each participant scores is estimated by least "
    "squares over all ratings and taken from their ratings; then mean and 95 % Student t (n - 1 degrees of freedom). "
    "The interval, as the standard has it, does not know that the bias was estimated and is too narrow.",
    "ITU-T P.910 (10/2023), which took it over; ITU-T P.913 (06/2021), 12.4",
    {2: 0.62, 5: 0.83, 10: 0.87, 20: 0.88, 50: 0.90},
)


def p913(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the mean of every stimulus once each participant's bias is removed; None where nothing has scores."""
    return P913.result(data)


# shrunken: Annex E's model for short sessions, not a standard (reference: statistics 3.5)


_MIN_RATINGS_SHRUNKEN = 3
"""Ratings per participant from which bias and inconsistency can be separated."""


def _shrunken_remark(votes: QuestionVotes, fitted: RaterModelFit) -> str:
    """Return a warning where participants gave hardly more than one rating."""
    if votes.median_count >= _MIN_RATINGS_SHRUNKEN:
        return ""
    return (
        f"Half of the participants gave {votes.median_count:g} or fewer ratings: bias and inconsistency can hardly be "
        "told apart. Go by the plain mean."
    )


SHRUNKEN = RaterModel(
    "shrunken",
    shrunken_fit,
    "Ours, no standard: the model of Annex E, but each participant's bias and inconsistency are drawn towards those of "
    "all participants, the more the fewer ratings they gave, so that it also holds in short sessions. se is 1 / √(sum "
    "of 1 / inconsistency²), as if bias and inconsistency were known; the 95 % interval, by Student t, also counts "
    "that they are estimated and that these participants are a sample.",
    "ITU-T P.910 (10/2023), Annex E; Smyth (2004), Statistical Applications in Genetics and Molecular Biology 3",
    {2: 0.93, 5: 0.94, 10: 0.94, 20: 0.93, 50: 0.94},
    _shrunken_remark,
)


def shrunken(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the quality of every stimulus under the shrunken model; None where nothing has scores."""
    return SHRUNKEN.result(data)


# bradley-terry and thurstone (reference: statistics 5)


def bradley_terry(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the strength of every stimulus, summing to zero within its content; None where nothing was compared."""
    return stimulus_strengths(data, "bradley-terry")


def thurstone(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the strength of every stimulus, summing to zero within its content; None where nothing was compared."""
    return stimulus_strengths(data, "thurstone")


# The registry of models, and the columns they add to the scores


MODELS: Mapping[str, Callable[[Ratings], Result | None]] = {
    "bradley-terry": bradley_terry,
    "bt500": bt500,
    "mos": mos,
    "p910": p910,
    "p913": p913,
    "shrunken": shrunken,
    "thurstone": thurstone,
}
"""Every model by its name. One that does not apply to these ratings returns None.

The table of its result has a row per question, stimulus and content, and the columns quality, se, low and high.
"""
_SCORES = "scores or grades"
_NEEDS = {
    "mos": _SCORES,
    "p913": _SCORES,
    "bt500": _SCORES,
    "p910": _SCORES,
    "shrunken": _SCORES,
    "bradley-terry": "choices between two (kind choice, with other_condition)",
    "thurstone": "choices between two (kind choice, with other_condition)",
}


def checked_models(models: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the models that are asked for, each once; raises UserError where one is not there."""
    names = (models,) if isinstance(models, str) else tuple(dict.fromkeys(models or ()))
    allowed = ", ".join(MODELS)
    problems = [
        Problem("model", f"is {name or 'empty'}, which is not a model", allowed, did_you_mean(name, list(MODELS)))
        for name in names
        if name not in MODELS
    ]
    if problems:
        raise UserError(problems)
    return names


def add_quality(scores: Result, ratings: Ratings, model: str) -> tuple[Result, dict[str, str]]:
    """Return the scores with `<model>_quality, _se, _low, _high`, and what is to be noted of the model."""
    result = quality(ratings, model)
    prefix = model.replace("-", "_")
    named = result.table.rename(columns={column: f"{prefix}_{column}" for column in ("quality", "se", "low", "high")})
    table = scores.table.merge(named, on=["question", "stimulus", "content"], how="left", validate="many_to_one")
    return replace(scores, table=table), {"note": result.note, "citation": result.citation}


def quality(data: pd.DataFrame | Ratings, model: str) -> Result:
    """Return the quality of every stimulus under a model; raises UserError where it cannot use these ratings."""
    checked_models(model)
    result = MODELS[model](as_ratings(data))
    if result is None:
        raise UserError(Problem("model", f"is {model}, which finds nothing in these ratings", _NEEDS[model]))
    return result
