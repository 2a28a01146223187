"""Scatter: how far each person's votes lie round those of the others, once quality and bias are taken away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from beholder.checks.agreement import voted
from beholder.checks.verdict import Scatter
from beholder.clean.ratings import Rating
from beholder.stats.rater_models.shrunken import shrunken
from beholder.stats.rater_models.votes import Fitted, Floats, Votes
from beholder.stats.robust import robust_z

_GRADED = ("score", "diff")
"""Kinds of votes that can be near or far; a choice is one or the other."""
_ALIKE = 0.08
"""Deviation of the logarithm of scatter that people have at least: among many who are nearly the same, as robots are,
nobody is far off who scatters a tenth more."""


def scatters(ratings: Sequence[Rating], fewest: int) -> dict[str, Scatter]:
    """Return the scatter of every person with such ratings; what is usual is that of people with `fewest` or more.

    All questions enter one model, each vote in widths of its scale. What somebody rated several times counts once,
    with its mean.
    """
    rows = [
        (row.participant, row.question, voted(row.kind, row.stimulus, row.other_stimulus), row.value / width)
        for row in ratings
        if row.kind in _GRADED and row.value is not None and (width := row.scale_max - row.scale_min) > 0
    ]
    if not rows:
        return {}
    table = pd.DataFrame(rows, columns=["participant", "question", "judged", "value"])
    votes = table.groupby(["participant", "question", "judged"], sort=False)["value"].mean().reset_index()
    rater, people = pd.factorize(votes["participant"])
    thing = np.asarray(votes.groupby(["question", "judged"], sort=False).ngroup(), np.intp)
    given = Votes(votes["value"].to_numpy(float), np.asarray(rater, np.intp), thing, len(people), int(thing.max()) + 1)
    counts = np.bincount(given.rater, minlength=given.raters)
    fitted = shrunken(given)
    z = scatter_z(given, fitted, fewest)
    raters = int((counts >= fewest).sum())
    return {
        str(person): Scatter(int(count), raters, None if np.isnan(one) else float(one), float(width))
        for person, count, one, width in zip(people, counts, z, np.nan_to_num(fitted.inconsistency), strict=True)
    }


def scatter_z(votes: Votes, fitted: Fitted, fewest: int) -> Floats:
    """Return the robust z of each rater's log inconsistency among those with enough votes; NaN for everybody else."""
    found = np.full(votes.raters, np.nan)
    has_enough = np.bincount(votes.rater, minlength=votes.raters) >= fewest
    is_known = has_enough & np.isfinite(fitted.inconsistency) & (fitted.inconsistency > 0)
    z = robust_z(np.log(fitted.inconsistency[is_known]), _ALIKE)
    if z is not None:
        found[is_known] = z
    return found
