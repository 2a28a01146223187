"""models and model_raters: the tables of the rater models and of the plain mean (reference: statistics 3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from beholder.analysis.figures.raters import biases_chart
from beholder.analysis.models import (
    BT500,
    P910,
    P913,
    SHRUNKEN,
    QuestionVotes,
    RaterModel,
    all_question_votes,
    qualities,
)
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result
from beholder.stats.intervals import STUDENT_CITATION
from beholder.stats.rater_models import RaterModelFit, stimulus_components, t_means

PLAIN = "mos"
RATER_MODELS: Mapping[str, RaterModel] = {model.name: model for model in (P913, BT500, P910, SHRUNKEN)}
MODEL_COLUMNS = [
    "question", "model", "stimulus", "content", "condition", "quality", "se", "low", "high", "n", "component",
]  # fmt: skip
RATER_COLUMNS = [
    "question", "model", "participant", "ratings", "bias", "inconsistency", "inconsistency_low", "inconsistency_high",
    "rejected", "above", "below", "note",
]  # fmt: skip
_ONE_RATING, _SAME_ANSWER = "one rating", "always the same answer"
_MODELS_NOTE = (
    "Quality of every stimulus under each model, with its standard error and 95 % interval; mos is the plain mean with "
    "Student t, by which the report goes. n: ratings that the model counts. component: groups of stimuli that share no "
    "participant; empty where all hang together."
)
_RATERS_NOTE = (
    "What each model finds of the participants. bias: how far above the others somebody scores. inconsistency: the "
    "standard deviation of what is left of somebody's ratings once quality and bias are taken away, with its 95 % "
    "interval (chi²; as many degrees of freedom as ratings, with shrunken also those lent by all participants). "
    "above, below: ratings that BT.500 calls far from the others'; rejected: whether it would leave somebody out."
)


def models(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the quality of every stimulus under every rater model; None where no question has scores."""
    return _rater_models(data).get("models")


def model_raters(data: pd.DataFrame | Ratings) -> Result | None:
    """Return bias, inconsistency and rejection of every participant; None where no question has scores."""
    return _rater_models(data).get("model_raters")


def _rater_models(data: pd.DataFrame | Ratings) -> dict[str, Result]:
    """Return `models` and `model_raters`, every model fitted once; empty where no question has scores."""
    ratings = as_ratings(data)
    return ratings.cached("rater models", lambda: _fitted(ratings))


def _fitted(ratings: Ratings) -> dict[str, Result]:
    questions = all_question_votes(ratings)
    if not questions:
        return {}
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
    citation = "; ".join([STUDENT_CITATION, *(model.citation for model in RATER_MODELS.values())])
    return {
        "models": Result(
            pd.concat(stimuli, ignore_index=True)[MODEL_COLUMNS], " ".join([_MODELS_NOTE, *model_notes]), citation
        ),
        "model_raters": Result(
            pd.concat(raters, ignore_index=True)[RATER_COLUMNS], _RATERS_NOTE, citation, draw=biases_chart
        ),
    }


def _plain(votes: QuestionVotes) -> pd.DataFrame:
    means = t_means(votes.votes)._asdict()
    part = stimulus_components(votes.votes)
    return votes.stimuli.assign(
        question=votes.question,
        model=PLAIN,
        n=votes.votes.sum_by_stimulus().astype(int),
        component=_named(part),
        **means,
    )


def _stimuli(votes: QuestionVotes, fitted: RaterModelFit, name: str) -> pd.DataFrame:
    counted = (~fitted.is_rejected[votes.votes.rater]).astype(float)
    n = votes.votes.sum_by_stimulus(counted).astype(int)
    return qualities(votes, fitted).assign(model=name, n=n, component=_named(fitted.component))


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
