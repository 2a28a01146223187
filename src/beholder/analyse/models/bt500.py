"""bt500: means without those whom BT.500's rule rejects (reference: statistics 3.2)."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.models.rater_model import RaterModel
from beholder.analyse.models.votes import Asked
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings
from beholder.stats.rater_models.rejection import MOST_ONE_SIDED, MOST_OUTLIERS
from beholder.stats.rater_models.rejection import bt500 as fit
from beholder.stats.rater_models.votes import Fitted

MOST_NAMES = 10
SHARE = f"{100 * MOST_OUTLIERS:g} %"


def rejected(asked: Asked, fitted: Fitted) -> str:
    """Return who is left out, or why nobody is."""
    out = [name for name, is_out in zip(asked.raters, fitted.is_rejected, strict=True) if is_out]
    if out:
        more = f" and {len(out) - MOST_NAMES:,} more" if len(out) > MOST_NAMES else ""
        return f"Left out: {', '.join(out[:MOST_NAMES])}{more}; {len(out):,} of {len(asked.raters):,}."
    return f"Nobody is left out: {why_nobody(int((fitted.far > MOST_OUTLIERS * asked.counts).sum()))}."


def why_nobody(far: int) -> str:
    """Return why the rule leaves nobody out, where so many have too many ratings far from the others'."""
    if not far:
        return f"nobody has more than {SHARE} of their ratings far from the others'"
    who = "1 participant has" if far == 1 else f"{far:,} participants have"
    return (
        f"{who} more than {SHARE} of their ratings far from the others', but mostly on one side, which the rule takes "
        "for a habit and not for carelessness"
    )


BT500 = RaterModel(
    "bt500",
    fit,
    "Rejection of ITU-R BT.500, applied once: a rating is far from the others' where it is 2 (or √20, where they are "
    "not bell-shaped) standard deviations from their mean; who has more than "
    f"{SHARE} of their own ratings far off, and those on both sides (the two counts differ by less than "
    f"{100 * MOST_ONE_SIDED:g} % of their sum), is left out. Stimuli with fewer than 4 ratings, or on which all agree, "
    "do not count against anybody. Then mean and 95 % Student t of those who stay.",
    "ITU-R BT.500-14 (2019), A1-2.3.1",
    rejected,
)


def bt500(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the mean of every stimulus over those who are kept; None where nothing has scores."""
    return BT500.result(data)
