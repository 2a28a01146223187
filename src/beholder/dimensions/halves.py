"""Two halves of the people, drawn again and again: whether other people would say the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analyse.items import Items, stimulus_means
from beholder.dimensions.joined import Joined
from beholder.dimensions.levels import Level
from beholder.stats.clustered import Floats

DRAWS = 20
_FEWEST = 4
"""Participants of each study below whom there are no halves."""


class Halves(NamedTuple):
    """Means of the same rows by two halves of the people; a column for each question."""

    one: Floats
    other: Floats


def halves_of_people(joined: Joined, level: Level, seed: int, draws: int = DRAWS) -> Iterator[Halves]:
    """Yield means by halves of the people; nothing at levels of single answers, or where only scores are known."""
    every = [part.items for part in joined.parts]
    items = [one for one in every if one is not None]
    people = [len(np.unique(one.participant)) for one in items]
    if level not in ("condition", "stimulus") or len(items) < len(every) or min(people, default=0) < _FEWEST:
        return
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        picked = [_half(one, rng) for one in items]
        both = [
            pd.concat([_means(one, level, is_mine == side) for one, is_mine in zip(items, picked, strict=True)], axis=1)
            for side in (True, False)
        ]
        one, other = (frame.reindex(columns=list(joined.questions)) for frame in both)
        rows = one.dropna().index.intersection(other.dropna().index, sort=False)
        yield Halves(one.loc[rows].to_numpy(float), other.loc[rows].to_numpy(float))


def _half(items: Items, rng: np.random.Generator) -> np.ndarray:
    """Return for every row whether its participant is in the first half."""
    people = np.unique(items.participant)
    chosen = rng.permutation(people)[: len(people) // 2]
    return np.isin(items.participant, chosen)


def _means(items: Items, level: Level, is_mine: np.ndarray) -> pd.DataFrame:
    mine = items._replace(value=items.value[is_mine], stimulus=items.stimulus[is_mine])
    frame = pd.DataFrame(stimulus_means(mine), columns=list(items.questions))
    if level == "stimulus":
        return frame.set_axis(items.stimuli["stimulus"])
    return frame.groupby(items.stimuli["condition"].to_numpy(), sort=False).mean()
