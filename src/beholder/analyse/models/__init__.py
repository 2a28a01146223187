"""Models of quality: each gives every stimulus a quality with its error. `beholder analyse --model NAME` picks one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from beholder.analyse.models.bradley_terry import bradley_terry
from beholder.analyse.models.bt500 import bt500
from beholder.analyse.models.mos import mos
from beholder.analyse.models.p910 import p910
from beholder.analyse.models.p913 import p913
from beholder.analyse.models.shrunken import shrunken
from beholder.analyse.models.thurstone import thurstone
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings
from beholder.errors import Problem, UserError, did_you_mean

MODELS: Mapping[str, Callable[[Ratings], Result | None]] = {
    "bradley-terry": bradley_terry,
    "bt500": bt500,
    "mos": mos,
    "p910": p910,
    "p913": p913,
    "shrunken": shrunken,
    "thurstone": thurstone,
}
"""Every model by its name. One that has nothing to say of these ratings gives None.

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
    found = quality(ratings, model)
    prefix = model.replace("-", "_")
    named = found.table.rename(columns={column: f"{prefix}_{column}" for column in ("quality", "se", "low", "high")})
    table = scores.table.merge(named, on=["question", "stimulus", "content"], how="left", validate="many_to_one")
    return replace(scores, table=table), {"note": found.note, "citation": found.citation}


def quality(data: pd.DataFrame | Ratings, model: str) -> Result:
    """Return the quality of every stimulus under a model; raises UserError where it cannot use these ratings."""
    checked_models(model)
    found = MODELS[model](as_ratings(data))
    if found is None:
        raise UserError(Problem("model", f"is {model}, which finds nothing in these ratings", _NEEDS[model]))
    return found
