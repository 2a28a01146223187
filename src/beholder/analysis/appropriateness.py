"""appropriateness: how often people found what belongs together, of pairs of a matched and a mismatched stimulus.

The mean of graded answers is in `conditions`; here is the share of those who called the matched one more fitting, ties
split, which has a plain meaning: one half is chance.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from beholder.analysis.columns import (
    CI_HIGH,
    CI_LOW,
    CONDITION,
    CONTENTS,
    INTERVAL,
    NOTE,
    PARTICIPANTS,
    QUESTION,
    RATINGS_N,
    THESE_HIGH,
    THESE_LOW,
)
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.figures.scores import scores_chart
from beholder.analysis.means import MEAN_CITATION, MeanGroups, group_means, interval_citation
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result

CHANCE = 0.5
_ENDS = ("ci_low", "ci_high", "these_low", "these_high")


def appropriateness(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the share of answers for the matched stimulus per condition, ties split; None where nothing is matched."""
    ratings = as_ratings(data)
    used = ratings.used
    asked = [name for name in ratings.questions if ratings.is_matched(name)]
    if not asked:
        return None
    signs = _as_choices(ratings, asked)
    groups = MeanGroups(
        [*APPROPRIATENESS.names, "mean"], "condition", ratings.conditions, equal="content", narrower=["participants"]
    )
    table = group_means(signs, signs.table, groups)
    kept = used[used["question"].isin(asked)].assign(sign=lambda rows: np.sign(rows["value"]))
    counts = kept.groupby(["question", "condition"])["sign"].agg(
        matched=lambda signs: int((signs > 0).sum()),
        ties=lambda signs: int((signs == 0).sum()),
        mismatched=lambda signs: int((signs < 0).sum()),
    )
    keys = pd.MultiIndex.from_frame(table[["question", "condition"]])
    # From -1 to 1, where a tie is 0, to a share in which a tie is one half.
    shares = {name: (1 + table[name]) / 2 for name in _ENDS}
    table = table.assign(
        **{name: counts[name].reindex(keys).to_numpy() for name in counts}, share=(1 + table["mean"]) / 2, **shares
    )
    table["verdict"] = [_verdict(low, high) for low, high in zip(table["ci_low"], table["ci_high"], strict=True)]
    note = (
        "share: of the answers, those that called the stimulus with its own companion more fitting, a tie counting as "
        "half for either; one half is chance. Every content weighs the same, and within it every participant. The "
        "interval is Korn and Graubard's, over people and contents like these; these_low and these_high: other "
        f"people, these contents. It is not corrected for how many conditions there are.{ratings.look_note}"
    )
    return APPROPRIATENESS.result(table[APPROPRIATENESS.names], note, interval_citation(signs, "both"))


def _as_choices(ratings: Ratings, asked: list[str]) -> Ratings:
    """Return the ratings of these questions as which of the two was chosen, grades left out."""

    def signed(table: pd.DataFrame) -> pd.DataFrame:
        mine = table[table["question"].isin(asked)]
        return mine.assign(value=np.sign(mine["value"]))

    return replace(
        ratings,
        table=signed(ratings.table),
        votes=signed(ratings.votes),
        questions=tuple(asked),
        kinds=dict.fromkeys(asked, "choice"),
    )


def _verdict(low: float, high: float) -> str:
    if np.isnan(low):
        return ""
    return "above chance" if low > CHANCE else "below chance" if high < CHANCE else "not clear"


APPROPRIATENESS = Analysis(
    "appropriateness",
    appropriateness,
    (
        QUESTION, CONDITION, RATINGS_N, PARTICIPANTS, CONTENTS,
        Column("matched", "integer", "Answers for the stimulus with its own companion."),
        Column("ties", "integer", "Answers that both fit equally."),
        Column("mismatched", "integer", "Answers for the stimulus with a foreign companion."),
        Column("share", "number", "Share of answers for its own companion, ties split, all contents equal."),
        CI_LOW, CI_HIGH, INTERVAL, THESE_LOW, THESE_HIGH,
        Column("verdict", "text", "Whether the interval lies on one side of chance, one half; empty without one.",
               ("above chance", "not clear", "below chance", "")),
        NOTE,
    ),
    row="condition and question",
    holds="how often its own companion was found more fitting than a foreign one",
    citation=MEAN_CITATION,
    draw=lambda table: scores_chart(table, estimate="share", is_share=True),
    order=2.5,
    holds_at_looks=True,
)  # fmt: skip
