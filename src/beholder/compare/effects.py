"""effects: whether one side rates higher than another as a whole, and whether they are equivalent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from beholder.analyse.groups import codes_of
from beholder.analyse.result import Result
from beholder.analyse.scales import ends_of
from beholder.analyse.side import Side
from beholder.stats.run_effect import CITATION, MARGIN, RunEffect, run_effect

COLUMNS = [
    "question", "side", "other_side", "difference", "se", "df", "ci_low", "ci_high", "p", "equivalent", "margin",
    "chi2", "chi2_df", "chi2_p", "note",
]  # fmt: skip
_KINDS = ("score", "diff")


def effects(sides: Sequence[Side], questions: Sequence[str], margin: float | None = None) -> Result | None:
    """Return the effect of the side beside stimulus and rater; None unless every side has ratings of the same kind."""
    rows = [row for question in questions for row in _rows(sides, question, margin)]
    if not rows:
        return None
    note = (
        "Mixed model: score by stimulus and side, with a random participant, over the stimuli that all sides have. "
        "chi2 and chi2_p: likelihood ratio of all sides together (ML). difference: side minus other_side (REML), "
        "Student t over participants. equivalent, with two one-sided tests at 5 %: yes, the 90 % interval is within "
        "plus or minus the margin; no, the 95 % interval is beyond it; undecided, neither. That no difference was "
        f"found is not equivalence. The margin is {100 * MARGIN:g} % of the scale unless another is given."
    )
    return Result(pd.DataFrame(rows, columns=COLUMNS), note, CITATION)


def _rows(sides: Sequence[Side], question: str, margin: float | None) -> list[tuple[object, ...]]:
    known = [side.ratings for side in sides]
    if any(one is None or one.kinds.get(question) not in _KINDS for one in known):
        return []
    tables, widths = [], []
    for place, (side, ratings) in enumerate(zip(sides, known, strict=True)):
        assert ratings is not None
        mine = ratings.votes[ratings.votes["question"] == question]
        # Of different studies the same name is another person.
        who = side.study or side.name
        tables.append(mine.assign(side=place, rater=who + "\n" + mine["participant"]))
        ends = ends_of(ratings, question)
        widths.append(ends.high - ends.low)
    shared = set.intersection(*(set(table["stimulus"]) for table in tables))
    whole = pd.concat(tables, ignore_index=True)
    whole = whole[whole["stimulus"].isin(shared)]
    if whole.empty:
        return []
    allowed = MARGIN * max(widths) if margin is None else margin
    found = run_effect(
        whole["value"].to_numpy(float), codes_of(whole["stimulus"]), np.asarray(whole["side"], np.intp),
        codes_of(whole["rater"]), margin=allowed,
    )  # fmt: skip
    return _told(question, sides, found, allowed)


def _told(question: str, sides: Sequence[Side], found: RunEffect, margin: float) -> list[tuple[object, ...]]:
    tested = (found.chi2, found.df, found.p, found.note)
    if not found.differences:
        return [(question, sides[0].name, sides[1].name, *(np.nan,) * 6, "", margin, *tested)]
    return [
        (question, sides[one.run].name, sides[one.other].name, one.difference, one.se, one.df, one.low, one.high, one.p,
         one.equivalent, margin, *tested)
        for one in found.differences
    ]  # fmt: skip
