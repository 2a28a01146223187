"""shrunken: Annex E's model for short sessions, ours and no standard (reference: statistics 3.5)."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.models.rater_model import RaterModel
from beholder.analyse.models.votes import Asked
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings
from beholder.stats.rater_models.shrunken import shrunken as fit
from beholder.stats.rater_models.votes import Fitted

ENOUGH = 3
"""Ratings per participant from which bias and inconsistency can be told apart at all."""


def too_short(asked: Asked, fitted: Fitted) -> str:
    """Return a warning where participants gave hardly more than one rating."""
    if asked.usual >= ENOUGH:
        return ""
    return (
        f"Half of the participants gave {asked.usual:g} or fewer ratings: bias and inconsistency can hardly be told "
        "apart. Go by the plain mean."
    )


SHRUNKEN = RaterModel(
    "shrunken",
    fit,
    "Ours, no standard: the model of Annex E, but each participant's bias and inconsistency are drawn towards those of "
    "all participants, the more the fewer ratings they gave, so that it also holds in short sessions. The interval is "
    "1.96 se, se being 1 / √(sum of 1 / inconsistency²).",
    "ITU-T P.910 (2023), Annex E; Smyth (2004), Statistical Applications in Genetics and Molecular Biology 3",
    too_short,
)


def shrunken(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the quality of every stimulus under the shrunken model; None where nothing has scores."""
    return SHRUNKEN.result(data)
