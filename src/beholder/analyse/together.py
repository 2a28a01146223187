"""together: whether three questions or more measure one thing (reference: statistics 2.6)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from beholder.analyse.items import Items, items_of, stimulus_means
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings
from beholder.stats.components import CITATION as COMPONENTS
from beholder.stats.components import DRAWS, kept, parallel, principal
from beholder.stats.consistency import CITATION, alpha, omega

COLUMNS = ["questions", "n", "alpha", "alpha_low", "alpha_high", "omega", "stimuli", "components", "share", "note"]
SEED = 1
_FEWEST_QUESTIONS = 3
_FEWEST_STIMULI = 4


def together(data: pd.DataFrame | Ratings) -> Result | None:
    """Return alpha and omega of single answers, and how many components the means of stimuli have.

    None below three questions that are answered by numbers, or where nobody answered all of them about one stimulus.
    """
    items = items_of(as_ratings(data))
    whole = items.value[~np.isnan(items.value).any(axis=1)]
    if len(items.questions) < _FEWEST_QUESTIONS or len(whole) < 2 or not np.ptp(whole, axis=0).any():
        return None
    found = _row(items, whole)
    note = (
        "Questions that are answered by numbers, together. alpha, omega: of what one participant said of one stimulus, "
        f"n times all of them; Feldt's 95 % interval takes these as independent. components: how many eigenvalues of "
        "the correlations between questions, over the means of stimuli, stand above the 95th percentile of those of "
        f"noise ({DRAWS:,} draws, seed {SEED}), and the share of the variance that they hold."
    )
    if items.turned:
        note += f" Reversed, so turned within the scale: {', '.join(items.turned)}."
    return Result(pd.DataFrame([found], columns=COLUMNS), note, f"{CITATION}; {COMPONENTS}")


def _row(items: Items, whole: np.ndarray) -> dict[str, object]:
    covariance = np.cov(whole, rowvar=False)
    found = alpha(covariance, len(whole))
    means = stimulus_means(items)
    means = means[~np.isnan(means).any(axis=1)]
    varying = means[:, np.ptp(means, axis=0) > 0] if len(means) else means
    row: dict[str, object] = {
        "questions": len(items.questions), "n": len(whole), "alpha": found.value, "alpha_low": found.low,
        "alpha_high": found.high, "omega": omega(covariance), "stimuli": len(means), "components": 0,
        "share": math.nan, "note": "",
    }  # fmt: skip
    if len(means) < _FEWEST_STIMULI or varying.shape[1] < 2:
        return row | {"note": "too few stimuli, or they do not differ: no components"}
    values = principal(np.atleast_2d(np.corrcoef(varying, rowvar=False))).eigenvalues
    above = kept(values, parallel(len(means), len(values), np.random.default_rng(SEED)))
    return row | {"components": above, "share": float(values[:above].sum() / values.sum())}
