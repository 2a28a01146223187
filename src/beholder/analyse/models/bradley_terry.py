"""bradley-terry: strengths of stimuli within each content, in logits (reference: statistics 5)."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.result import Result
from beholder.analyse.strengths import stimulus_strengths
from beholder.analyse.table import Ratings


def bradley_terry(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the strength of every stimulus, summing to zero within its content; None where nothing was compared."""
    return stimulus_strengths(data, "bradley-terry")
