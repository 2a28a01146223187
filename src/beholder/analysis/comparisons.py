"""Who preferred which of two, counted by pair, order and person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from beholder.analyse.groups import codes_of
from beholder.analyse.table import COMPARISONS, Ratings
from beholder.stats.clustered import Codes, Floats

_Names = tuple[str, ...]


def sums(codes: Codes, weights: ArrayLike, size: int = 0) -> Floats:
    """Return the sum of the weights by code."""
    return np.bincount(codes, np.asarray(weights, np.float64), size).astype(np.float64)


class Tally(NamedTuple):
    """Counts of comparisons: one row for two of `names`, their order on the screen, and a person."""

    names: _Names
    one: Codes
    """The place in `names` of the one that stands first there."""
    other: Codes
    order: Floats
    """1 where `one` was shown first, or left; -1 where it was second; 0 where nobody knows."""
    person: Codes
    wins: Floats
    """How often `one` was preferred."""
    ties: Floats
    losses: Floats

    @property
    def n(self) -> Floats:
        """How many comparisons each row counts."""
        return self.wins + self.ties + self.losses

    @property
    def people(self) -> int:
        """How many people made these comparisons."""
        return len(np.unique(self.person))

    def everybody(self) -> Tally:
        """Return the counts of all people together."""
        place = (self.one * len(self.names) + self.other) * 3 + self.order.astype(np.intp) + 1
        _, first, row = np.unique(place, return_index=True, return_inverse=True)
        wins, ties, losses = (sums(row, each) for each in (self.wins, self.ties, self.losses))
        nobody = np.zeros(len(first), np.intp)
        return Tally(self.names, self.one[first], self.other[first], self.order[first], nobody, wins, ties, losses)


class Comparisons(NamedTuple):
    """Every comparison of a question, its names as places in `conditions`, `stimuli` and `contents`."""

    conditions: _Names
    stimuli: _Names
    """In the order of their conditions."""
    contents: _Names
    condition_of: dict[str, str]
    """The condition of each stimulus."""
    condition: Codes
    other_condition: Codes
    stimulus: Codes
    other_stimulus: Codes
    content: Codes
    person: Codes
    order: Floats
    """Of the stimulus, as in a tally."""
    sign: Floats

    def by_condition(self) -> Tally:
        """Return the comparisons of conditions, all contents together."""
        return _counted(self.conditions, self.condition, self.other_condition, self.order, self.person, self.sign)

    def by_content(self) -> Iterator[tuple[str, Tally]]:
        """Yield for each content the comparisons of its stimuli."""
        together = np.argsort(self.content, kind="stable")
        ends = np.searchsorted(self.content[together], np.arange(len(self.contents) + 1))
        for place, content in enumerate(self.contents):
            rows = together[ends[place] : ends[place + 1]]
            one, other, person = (codes[rows] for codes in (self.stimulus, self.other_stimulus, self.person))
            yield content, _counted(self.stimuli, one, other, self.order[rows], person, self.sign[rows])


def comparisons(ratings: Ratings, question: str, *, from_grades: bool = False) -> Comparisons | None:
    """Return the comparisons of two conditions under a question; None where it has none.

    They are choices; with `from_grades` graded comparisons too, of which only the sign counts.
    """
    if ratings.kinds[question] not in (COMPARISONS if from_grades else ("choice",)):
        return None
    kept = ratings.kept
    is_pair = (kept["other_condition"] != "") & (kept["condition"] != kept["other_condition"])
    kept = kept[is_pair & (kept["question"] == question)]
    if kept.empty:
        return None
    under = _conditions(kept)
    rank = {name: place for place, name in enumerate(ratings.conditions)}
    stimuli = tuple(sorted(under, key=lambda name: (rank[under[name]], name)))
    contents = tuple(sorted(kept["content"].unique()))
    return Comparisons(
        ratings.conditions,
        stimuli,
        contents,
        under,
        codes_of(kept["condition"], ratings.conditions),
        codes_of(kept["other_condition"], ratings.conditions),
        codes_of(kept["stimulus"], stimuli),
        codes_of(kept["other_stimulus"], stimuli),
        codes_of(kept["content"], contents),
        codes_of(kept["participant"]),
        _order(kept),
        np.sign(kept["value"].to_numpy(np.float64)),
    )


def _conditions(kept: pd.DataFrame) -> dict[str, str]:
    """Return the condition of each stimulus that was compared."""
    sides = (("stimulus", "condition"), ("other_stimulus", "other_condition"))
    named = [kept[list(side)].drop_duplicates(side[0]) for side in sides]
    return {str(one): str(under) for part in named for one, under in part.itertuples(index=False)}


def _order(kept: pd.DataFrame) -> Floats:
    """Return 1 where the stimulus was shown first, or left, -1 where it was second, 0 where nobody knows.

    The raw value speaks for the second, the value for the stimulus; of a tie only the slot can tell.
    """
    if "raw_value" not in kept:
        return np.zeros(len(kept))
    order: Floats = -np.sign((kept["value"] * kept["raw_value"]).fillna(0).to_numpy(np.float64))
    told = order != 0
    if "slot" not in kept or told.all():
        return order
    slot, names = pd.factorize(kept["slot"])
    sums, sizes = np.bincount(slot[told], order[told], len(names)), np.bincount(slot[told], minlength=len(names))
    by_slot = np.where(np.abs(sums) == sizes, np.sign(sums), 0.0)
    return np.where(told, order, by_slot[slot])


def _counted(names: _Names, one: Codes, other: Codes, order: Floats, person: Codes, sign: Floats) -> Tally:
    """Return the counts, of the names that were compared, with the earlier of two first."""
    present, codes = np.unique(np.concatenate([one, other]), return_inverse=True)
    one, other = codes[: len(one)], codes[len(one) :]
    turned = one > other
    one, other = np.where(turned, other, one), np.where(turned, one, other)
    order, sign = np.where(turned, -order, order), np.where(turned, -sign, sign)
    people = int(person.max()) + 1
    place = ((one * len(present) + other) * 3 + order.astype(np.intp) + 1) * people + person
    _, first, row = np.unique(place, return_index=True, return_inverse=True)
    wins, ties, losses = (sums(row, sign == wanted) for wanted in (1, 0, -1))
    compared = tuple(names[code] for code in present)
    return Tally(compared, one[first], other[first], order[first], person[first], wins, ties, losses)
