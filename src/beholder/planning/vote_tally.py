"""How often each condition has won over each other one so far: what batches of active pairs are computed from."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beholder.methods.contract import Method, Trial
from beholder.types import UNRATED_ROLES, Json


class PairVote(NamedTuple):
    """One comparison of two stimuli: how much of it the first one won, from 0 to 1, with a half for a tie."""

    stimulus: str
    other: str
    share: float


class VoteTally:
    """Wins of conditions over each other, counted as votes are added. Which content was shown does not matter."""

    def __init__(self, conditions: Sequence[str], condition_of: Mapping[str, str]) -> None:
        self._names = tuple(conditions)
        self._places = {name: place for place, name in enumerate(conditions)}
        self._condition_of = condition_of
        self.wins: NDArray[np.float64] = np.zeros((len(conditions), len(conditions)))
        self.votes = 0

    def add(self, vote: PairVote) -> None:
        """Add one comparison; one of stimuli that are no longer there is left out."""
        one, other = (self._places.get(self._condition_of.get(name, "")) for name in (vote.stimulus, vote.other))
        if one is not None and other is not None and one != other:
            self.wins[one, other] += vote.share
            self.wins[other, one] += 1 - vote.share
            self.votes += 1

    @property
    def digest(self) -> str:
        """The SHA-256 of the names of the conditions as JSON and all wins as little-endian doubles, row by row."""
        names = json.dumps(self._names, ensure_ascii=True).encode()
        return hashlib.sha256(names + self.wins.astype("<f8").tobytes()).hexdigest()


def comparisons_in(method: Method, trial: Trial, answer: Json, question: str) -> Iterator[PairVote]:
    """Yield the comparisons in an answer; of a page with several, every two in the order in which they were put.

    Those that nobody put into an order, as the ones between the best and the worst, are no comparison.
    """
    slots = trial.slot_by_id
    scores: dict[str, float] = defaultdict(float)
    for one in method.judgements(trial, answer):
        if one.question != question or one.value is None or slots[one.slot].role in UNRATED_ROLES:
            continue
        if one.other_slot is None:
            scores[slots[one.slot].stimulus] = one.value
        elif slots[one.other_slot].role not in UNRATED_ROLES:
            share = 0.5 if one.value == 0 else float(one.value > 0)
            yield PairVote(slots[one.slot].stimulus, slots[one.other_slot].stimulus, share)
    for first, second in combinations(scores, 2):
        if scores[first] != scores[second]:
            yield PairVote(first, second, float(scores[first] > scores[second]))
