"""Votes as tables of stimuli by raters."""

from __future__ import annotations

import numpy as np
import pandas as pd

from beholder.analysis.reliability import reliability
from beholder.stats.rater_models import Floats

ICCS = [f"ICC({kind},{many})" for many in "1k" for kind in "1AC"]


def rated(things: int, raters: int, seed: int = 1, gaps: float = 0.0) -> Floats:
    """Return votes on five points with effects of stimuli and raters, and noise."""
    rng = np.random.default_rng(seed)
    felt = rng.normal(3, 1, (things, 1)) + rng.normal(0, 0.4, raters) + rng.normal(0, 0.7, (things, raters))
    table = np.clip(np.round(felt), 1, 5)
    table[rng.random(table.shape) < gaps] = np.nan
    return table


def frame(table: Floats) -> pd.DataFrame:
    thing, rater = np.nonzero(~np.isnan(table))
    return pd.DataFrame(
        {
            "participant": [f"p{n}" for n in rater], "content": [f"c{n}" for n in thing], "condition": "x",
            "value": table[thing, rater], "scale_min": 1, "scale_max": 5,
        }
    )  # fmt: skip


def measured(data: pd.DataFrame) -> pd.DataFrame:
    result = reliability(data)
    assert result is not None
    return result.table.set_index("measure")
