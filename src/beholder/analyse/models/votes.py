"""The votes on a question as rater models take them, with the names behind the numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analyse.groups import averaged, codes_of
from beholder.analyse.table import Ratings
from beholder.stats.rater_models.votes import Floats, Votes

KINDS = ("score", "diff")
_NAMES = ["stimulus", "content", "condition"]


class Asked(NamedTuple):
    """The votes on one question."""

    question: str
    votes: Votes
    stimuli: pd.DataFrame
    """stimulus, content and condition, in the order in which they are told."""
    raters: list[str]

    @property
    def counts(self) -> Floats:
        """How many votes each rater gave."""
        return self.votes.of_rater()

    @property
    def usual(self) -> float:
        """How many votes half of the raters gave at least."""
        return float(np.median(self.counts))


def modelled_questions(ratings: Ratings) -> list[str]:
    """Return the questions whose votes are numbers on a scale.

    A comparison that counts for both its conditions is none: what raters add to the one they take from the other.
    """
    scaled = [name for name in ratings.questions if ratings.kinds[name] in KINDS]
    return [name for name in scaled if not ratings.is_mirrored(name)]


def asked_votes(ratings: Ratings, question: str) -> Asked:
    """Return the votes on a question, one of each participant on a stimulus."""
    mine = ratings.table[ratings.table["question"] == question]
    keys = [codes_of(mine["condition"], ratings.conditions)]
    keys += [np.asarray(pd.factorize(mine[name], sort=True)[0], np.intp) for name in ("content", "stimulus")]
    joint = np.zeros(len(mine), np.int64)
    for key in keys:
        joint = joint * (int(key.max(initial=0)) + 1) + key
    _, first, place = np.unique(joint, return_index=True, return_inverse=True)
    rater, raters = pd.factorize(mine["participant"], sort=True)
    value, (stimulus, rater) = averaged(mine["value"].to_numpy(float), place, np.asarray(rater, np.intp))
    votes = Votes(value, rater, stimulus, len(raters), len(first))
    stimuli = mine[_NAMES].iloc[first].reset_index(drop=True).astype(object)
    return Asked(question, votes, stimuli, [str(name) for name in raters])
