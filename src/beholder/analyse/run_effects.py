"""runs: whether several runs of a study give the same scores (ITU-T P.910's reproducibility test; statistics 6)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from beholder.analyse.groups import averaged, codes_of
from beholder.analyse.result import Result
from beholder.analyse.scales import ends_of
from beholder.analyse.table import Ratings, as_ratings
from beholder.stats.run_effect import CITATION, MARGIN, run_effect

COLUMNS = [
    "question", "run", "other_run", "difference", "se", "ci_low", "ci_high", "statistic", "df", "p", "margin",
    "equivalent", "note",
]  # fmt: skip
_KINDS = ("score", "diff")


def runs(data: pd.DataFrame | Ratings, *, margin: float | None = None) -> Result | None:
    """Return whether runs differ, and by how much every two of them; None where there is one run.

    Runs are the values of the column `run`. `margin` is what two runs may differ by and still be called equivalent, in
    points of the scale; a twentieth of its width unless given.
    """
    ratings = as_ratings(data)
    if "run" not in ratings.kept or ratings.kept["run"].nunique() < 2:
        return None
    rows = [row for question in ratings.questions for row in _rows(ratings, question, margin)]
    if not rows:
        return None
    note = (
        "Score ~ stimulus + run (fixed) + participant (random). A row without runs is of all: the likelihood ratio "
        "against the same model without runs, ML, chi² with runs - 1 degrees of freedom. The others are of two runs: "
        "the difference on the same stimuli by REML, with 95 % Student t over participants, not corrected for their "
        "number. That runs do not differ clearly does not make them the same, so equivalent is a test of its own: yes "
        "where the 90 % interval of the difference lies within ± margin (two one-sided tests at 5 %), no where the "
        f"95 % interval lies beyond it, else undecided. margin: {_told(margin)}."
    )
    return Result(pd.DataFrame(rows, columns=COLUMNS), note, CITATION)


def _told(margin: float | None) -> str:
    return f"{100 * MARGIN:g} % of the width of the scale" if margin is None else f"{margin:g} points, as asked"


def _rows(ratings: Ratings, question: str, margin: float | None) -> Iterator[tuple[object, ...]]:
    """Yield a row for all runs of a question, then one for every two."""
    if ratings.kinds[question] not in _KINDS or ratings.is_mirrored(question):
        return
    kept = ratings.kept[(ratings.kept["question"] == question) & ratings.kept["run"].notna()]
    named = kept["run"].map(_name)
    names = sorted(dict.fromkeys(named), key=lambda name: (len(name), name) if name.isdecimal() else (99, name))
    if len(names) < 2:
        return
    codes = codes_of(kept["stimulus"]), codes_of(named, names), codes_of(kept["participant"])
    value, (stimulus, run, rater) = averaged(kept["value"].to_numpy(float), *codes)
    low, high, _ = ends_of(ratings, question)
    wide = MARGIN * (high - low) if margin is None else margin
    found = run_effect(value, stimulus, run, rater, margin=wide)
    nan = np.nan
    yield question, "", "", nan, nan, nan, nan, found.chi2, found.df, found.p, nan, "", found.note
    for one in found.differences:
        yield (
            question, names[one.run], names[one.other], one.difference, one.se, one.low, one.high,
            one.difference / one.se, one.df, one.p, wide, one.equivalent, "",
        )  # fmt: skip


def _name(run: object) -> str:
    """Return what a run is called; a table with gaps has its numbers as fractions."""
    return f"{run:g}" if isinstance(run, float) else str(run)
