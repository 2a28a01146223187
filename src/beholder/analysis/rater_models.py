"""models and model_raters: the tables of the rater models and of the plain mean (reference: statistics 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analysis.columns import CONDITION, CONTENT, HIGH, LOW, NOTE, PARTICIPANT, QUESTION, SE, STIMULUS, bounds
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.figures.raters import biases_chart
from beholder.analysis.models import (
    BT500,
    P910,
    P913,
    PLAIN_COVERAGE,
    SHRUNKEN,
    QuestionVotes,
    RaterModel,
    all_question_votes,
    qualities,
)
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.analysis.scores import on_scale
from beholder.stats.intervals import STUDENT_CITATION, IntervalBounds
from beholder.stats.rater_models import RaterModelFit, stimulus_components, t_means

PLAIN = "mos"
RATER_MODELS: Mapping[str, RaterModel] = {model.name: model for model in (P913, BT500, P910, SHRUNKEN)}
_ONE_RATING, _SAME_ANSWER = "one rating", "always the same answer"
_MODELS_NOTE = (
    "Quality of every stimulus under each model, with its standard error and 95 % interval, cut at the ends of the "
    "scale; mos is the plain mean with Student t, by which the report goes. n: ratings that the model counts. "
    "coverage: how often such an interval holds the truth in the worst of three kinds of simulated studies in which "
    "participants give as many ratings as here. component: groups of stimuli that share no participant; empty where "
    "all hang together."
)
_RATERS_NOTE = (
    "What each model finds of the participants. bias: how far above the others somebody scores. inconsistency: the "
    "standard deviation of what is left of somebody's ratings once quality and bias are taken away, with its 95 % "
    "interval (chi²; as many degrees of freedom as ratings, with shrunken also those lent by all participants). "
    "above, below: ratings that BT.500 calls far from the others'; rejected: whether it would leave somebody out."
)


def models(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the quality of every stimulus under every rater model; None where no question has scores."""
    fits = _rater_models(data)
    return fits.models if fits else None


def model_raters(data: pd.DataFrame | Ratings) -> Result | None:
    """Return bias, inconsistency and rejection of every participant; None where no question has scores."""
    fits = _rater_models(data)
    return fits.raters if fits else None


_CITATION = "; ".join([STUDENT_CITATION, *(model.citation for model in RATER_MODELS.values())])
MODELS = Analysis(
    "models",
    models,
    (
        QUESTION,
        Column("model", "text", "Name of the model; mos is the plain mean.", (PLAIN, *RATER_MODELS)),
        STIMULUS, CONTENT, CONDITION,
        Column("quality", "number", "Quality of the stimulus under the model."),
        SE, LOW, HIGH,
        Column("n", "integer", "Ratings that the model counts."),
        Column("coverage", "number", "How often such 95 % intervals hold the truth in the worst of three kinds of "
               "simulated studies in which participants give as many ratings as here."),
        Column("component", "text", "Number of the group of stimuli that share participants, as no model can compare "
               "others; empty where all hang together."),
    ),
    row="stimulus, model and question",
    holds="quality under the plain mean and four rater models",
    citation=_CITATION,
    order=21,
    apart="models",
)  # fmt: skip
MODEL_RATERS = Analysis(
    "model_raters",
    model_raters,
    (
        QUESTION,
        Column("model", "text", "Name of the rater model.", tuple(RATER_MODELS)),
        PARTICIPANT,
        Column("ratings", "integer", "How many of their ratings the model has."),
        Column("bias", "number", "How far above the others they score."),
        Column("inconsistency", "number", "How far their ratings scatter once quality and bias are taken away."),
        *bounds("inconsistency", "its 95 % interval"),
        Column("rejected", "text", "Whether BT.500 would leave them out; empty under other models.", ("yes", "no")),
        Column("above", "number", "Ratings far above the others'; of bt500 only."),
        Column("below", "number", "Ratings far below the others'; of bt500 only."),
        NOTE,
    ),
    row="participant, model and question",
    holds="bias, inconsistency, and whom BT.500 would leave out",
    citation=_CITATION,
    draw=biases_chart,
    order=22,
    apart="models",
)


class _RaterTables(NamedTuple):
    """Both tables, from the same fits."""

    models: Result
    raters: Result


def _rater_models(data: pd.DataFrame | Ratings) -> _RaterTables | None:
    """Return `models` and `model_raters`, every model fitted once; None where no question has scores."""
    ratings = as_ratings(data)
    return ratings.cached("rater models", lambda: _fitted(ratings))


def _fitted(ratings: Ratings) -> _RaterTables | None:
    questions = all_question_votes(ratings)
    if not questions:
        return None
    fits = {name: [(one, model.fit(one.votes)) for one in questions] for name, model in RATER_MODELS.items()}
    plain = [_plain(one) for one in questions]
    stimuli, raters = [], []
    for place, mean in enumerate(plain):
        stimuli.append(mean)
        for name in RATER_MODELS:
            one, fitted = fits[name][place]
            stimuli.append(_stimuli(one, fitted, name))
            raters.append(_raters(one, fitted, name))
    model_notes = [
        " ".join([f"{name}: {model.note}", *model.remarks(fits[name])]) for name, model in RATER_MODELS.items()
    ]
    return _RaterTables(
        MODELS.result(pd.concat(stimuli, ignore_index=True)[MODELS.names], " ".join([_MODELS_NOTE, *model_notes])),
        MODEL_RATERS.result(pd.concat(raters, ignore_index=True)[MODEL_RATERS.names], _RATERS_NOTE),
    )


def _plain(votes: QuestionVotes) -> pd.DataFrame:
    means = t_means(votes.votes)
    n = votes.votes.sum_by_stimulus()
    low, high = on_scale(means.quality, IntervalBounds(means.low, means.high), n, votes.scale)
    part = stimulus_components(votes.votes)
    return votes.stimuli.assign(
        question=votes.question,
        model=PLAIN,
        quality=means.quality,
        se=means.se,
        low=low,
        high=high,
        n=n.astype(int),
        coverage=PLAIN_COVERAGE,
        component=_named(part),
    )


def _stimuli(votes: QuestionVotes, fitted: RaterModelFit, name: str) -> pd.DataFrame:
    counted = (~fitted.is_rejected[votes.votes.rater]).astype(float)
    n = votes.votes.sum_by_stimulus(counted).astype(int)
    share = RATER_MODELS[name].coverage_of(votes)
    return qualities(votes, fitted).assign(model=name, n=n, coverage=share, component=_named(fitted.component))


def _named(component: np.typing.NDArray[np.intp]) -> list[str]:
    has_parts = len(np.unique(component)) > 1
    return [str(part + 1) if has_parts else "" for part in component.tolist()]


def _raters(votes: QuestionVotes, fitted: RaterModelFit, name: str) -> pd.DataFrame:
    nothing = np.full(len(votes.raters), np.nan)
    does_reject = fitted.above is not None
    return pd.DataFrame(
        {
            "question": votes.question,
            "model": name,
            "participant": votes.raters,
            "ratings": votes.counts.astype(int),
            "bias": fitted.bias,
            "inconsistency": fitted.inconsistency,
            "inconsistency_low": fitted.inconsistency_low,
            "inconsistency_high": fitted.inconsistency_high,
            "rejected": np.where(fitted.is_rejected, "yes", "no") if does_reject else "",
            "above": nothing if fitted.above is None else fitted.above,
            "below": nothing if fitted.below is None else fitted.below,
            "note": _remarks(votes),
        }
    )


def _remarks(votes: QuestionVotes) -> np.typing.NDArray[np.str_]:
    """Return what is odd about the votes of each rater."""
    least, most = np.full(len(votes.raters), np.inf), np.full(len(votes.raters), -np.inf)
    np.minimum.at(least, votes.votes.rater, votes.votes.value)
    np.maximum.at(most, votes.votes.rater, votes.votes.value)
    return np.where(votes.counts == 1, _ONE_RATING, np.where(least == most, _SAME_ANSWER, ""))
