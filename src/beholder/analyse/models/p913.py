"""p913: means of votes without the bias of those who gave them (reference: statistics 3.3)."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.models.rater_model import RaterModel
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings
from beholder.stats.rater_models.bias import p913 as fit

P913 = RaterModel(
    "p913",
    fit,
    "Bias removal of ITU-T P.913: how much higher than the others each participant scores is estimated by least "
    "squares over all ratings and taken from their ratings; then mean and 95 % Student t (n - 1 degrees of freedom). "
    "The interval does not know that the bias was estimated and is slightly too narrow.",
    "ITU-T P.913 (2021), 12.4",
)


def p913(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the mean of every stimulus once each participant's bias is removed; None where nothing has scores."""
    return P913.result(data)
