"""p910: quality, bias and inconsistency of Annex E (reference: statistics 3.4)."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.models.rater_model import RaterModel
from beholder.analyse.models.votes import Asked
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings
from beholder.stats.rater_models.annex_e import p910 as fit
from beholder.stats.rater_models.votes import Fitted

ENOUGH = 20
"""Ratings per participant from which Annex E's intervals can be believed."""
_EXACT = 1e-3
"""An inconsistency below this, next to nothing, gives a rater all the weight."""


def short(asked: Asked, fitted: Fitted) -> str:
    """Return a warning where participants rated too little for this model, or some of them weigh everything."""
    told = []
    if asked.usual < ENOUGH:
        told.append(
            f"Too few ratings for Annex E: half of the participants gave {asked.usual:g} or fewer, and below {ENOUGH} "
            "its intervals are too narrow (at 5 they hold the truth in about 70 % of cases, not 95 %). Go by the "
            "plain mean, or by shrunken."
        )
    if (alone := int((fitted.inconsistency < _EXACT).sum())) and len(asked.raters) > 1:
        told.append(
            f"{alone:,} of {len(asked.raters):,} participants fit exactly, as one with a single rating always does; "
            "this model gives them nearly all the weight on what they rated."
        )
    return " ".join(told)


P910 = RaterModel(
    "p910",
    fit,
    "ITU-T P.910 Annex E: quality, each participant's bias and inconsistency are estimated in turn until nothing "
    "changes; consistent participants weigh more. The interval is 1.96 se, se being the spread of what is left on a "
    "stimulus / √n.",
    "ITU-T P.910 (2023), Annex E; Li et al. (2020), Electronic Imaging 32",
    short,
)


def p910(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the quality of every stimulus under Annex E; None where nothing has scores."""
    return P910.result(data)
