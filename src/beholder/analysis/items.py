"""Items: the questions whose answers are numbers, side by side and all pointing the same way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analyse.groups import codes_of
from beholder.analyse.scales import Ends, ends_of
from beholder.analyse.table import Ratings
from beholder.stats.clustered import Codes, Floats

KINDS = ("score", "diff")
"""Kinds of rating that are numbers on a scale."""
_KEYS = ["participant", "stimulus", "other_stimulus"]


class Items(NamedTuple):
    """What each participant said of each stimulus: a row for the two, a column for each question."""

    questions: tuple[str, ...]
    value: Floats
    """NaN where it was not asked or not answered."""
    participant: Codes
    stimulus: Codes
    stimuli: pd.DataFrame
    """stimulus, content, condition of every number in `stimulus`."""
    ends: dict[str, Ends]
    turned: tuple[str, ...]
    """Reversed questions, of which each value is taken as lowest plus highest of the scale minus the value."""


def items_of(ratings: Ratings) -> Items:
    """Return the questions of a table that are answered by numbers; repetitions are averaged."""
    questions = tuple(name for name in ratings.questions if ratings.kinds[name] in KINDS)
    votes = ratings.votes
    if len(questions) < len(ratings.questions):
        votes = votes[votes["question"].isin(questions)]
    codes = [codes_of(votes[name]) for name in _KEYS]
    joint = np.zeros(len(votes), np.int64)
    for code in codes:
        joint = joint * (int(code.max(initial=0)) + 1) + code
    _, first, row = np.unique(joint, return_index=True, return_inverse=True)
    value = np.full((len(first), len(questions)), np.nan)
    value[row, codes_of(votes["question"], questions)] = votes["value"].to_numpy(float)
    ends = {name: ends_of(ratings, name) for name in questions}
    turned = turned_questions(ratings)
    for place, name in enumerate(questions):
        if name in turned:
            value[:, place] = ends[name].low + ends[name].high - value[:, place]
    names = votes.loc[~votes["stimulus"].duplicated(), ["stimulus", "content", "condition"]]
    return Items(questions, value, codes[0][first], codes[1][first], names.reset_index(drop=True), ends, turned)


def turned_questions(ratings: Ratings) -> tuple[str, ...]:
    """Return the questions that ask for the opposite: their ratings hold the value turned round beside it."""
    if "keyed" not in ratings.kept:
        return ()
    keyed = pd.to_numeric(ratings.kept["keyed"], errors="coerce")
    reversed_ = set(ratings.kept["question"][keyed.notna() & (keyed != ratings.kept["value"])])
    return tuple(name for name in ratings.questions if name in reversed_ and ratings.kinds[name] in KINDS)


def stimulus_means(items: Items) -> Floats:
    """Return the mean of every stimulus on every question; NaN where nobody answered it."""
    sums, counts = np.zeros((2, len(items.stimuli), len(items.questions)))
    for place in range(len(items.questions)):
        column = items.value[:, place]
        is_there = ~np.isnan(column)
        counts[:, place] = np.bincount(items.stimulus[is_there], minlength=len(counts))
        sums[:, place] = np.bincount(items.stimulus[is_there], column[is_there], minlength=len(sums))
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
