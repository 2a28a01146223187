"""Differential votes: each participant's votes held against their own vote on the reference (ACR-HR)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from beholder.analyse.groups import averaged, codes_of
from beholder.analyse.scales import Ends, ends_of
from beholder.analyse.table import Ratings
from beholder.stats.clustered import Floats

Crush: TypeAlias = Literal["none", "crush", "clip"]
"""What becomes of votes that are better than that on the reference."""
KEYS = ["condition", "content", "stimulus"]


class Votes(NamedTuple):
    """The votes of one question on stimuli under test, and on references; people, contents and stimuli are numbers."""

    tests: pd.DataFrame
    """participant, stimulus, content, value, `reference` (the same participant's vote on it) and `dv`"""
    references: pd.DataFrame
    """participant, content, value"""
    stimuli: pd.DataFrame
    """By its number, the condition, content and stimulus as they are called, and the number of the content."""
    contents: Sequence[str]
    ends: Ends


def crushed(dv: ArrayLike, highest: float, crush: Crush = "crush") -> Floats:
    """Return differential votes with those above the highest vote drawn in: (M + 2) DV / (2 + DV), or cut at M."""
    votes = np.asarray(dv, dtype=float)
    if crush == "none":
        return votes
    above = np.maximum(votes, highest)
    drawn_in = highest if crush == "clip" else (highest + 2) * above / (2 + above)
    return np.where(votes > highest, drawn_in, votes)


def differential_votes(ratings: Ratings, question: str, crush: Crush) -> Votes:
    """Return the votes of a question, each with the same participant's vote on the reference where there is one."""
    votes = ratings.votes[ratings.votes["question"] == question].reset_index(drop=True)
    ends = ends_of(ratings, question)
    people, value = codes_of(votes["participant"]), votes["value"].to_numpy(float)
    content, contents = pd.factorize(votes["content"])
    is_reference = votes["condition"].isin(ratings.references).to_numpy(bool)
    voted, (by, on) = averaged(value[is_reference], people[is_reference], content[is_reference])
    tests = votes[~is_reference]
    stimulus = np.asarray(tests.groupby(KEYS, sort=False, observed=True).ngroup(), np.intp)
    people, content, value = people[~is_reference], content[~is_reference], value[~is_reference]
    own = pd.Series(voted, by * len(contents) + on).reindex(people * len(contents) + content).to_numpy(float)
    first = ~pd.Series(stimulus).duplicated().to_numpy()
    return Votes(
        pd.DataFrame(
            {
                "participant": people, "stimulus": stimulus, "content": content, "value": value, "reference": own,
                "dv": crushed(value - own + ends.high, ends.high, crush),
            }
        ),
        pd.DataFrame({"participant": by, "content": on, "value": voted}),
        tests[KEYS].astype(object)[first].reset_index(drop=True).assign(number=content[first]),
        [str(name) for name in contents],
        ends,
    )  # fmt: skip
