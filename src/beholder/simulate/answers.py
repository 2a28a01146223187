"""Answers of simulated people to everything that a plan asks for, at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from beholder.methods.choices import NOISE, chosen_values
from beholder.methods.scores import score_values
from beholder.simulate.casting import Chance, Floats, Progress, named_chance, quick_chance
from beholder.simulate.filling import Bools, Ints
from beholder.simulate.people import Look, perceived
from beholder.simulate.population import Population
from beholder.simulate.sheet import Sheet
from beholder.simulate.truth import Truth


class Answers(NamedTuple):
    """Who said what: a value for each judgement that was made."""

    sheet: Sheet
    """That of these people: its lists are theirs."""
    participant: Ints
    """From 0."""
    entry: Ints
    """The judgement, as an entry of that sheet."""
    value: Floats
    """Of a comparison, above zero for the judged stimulus."""
    stayed: Bools
    """Whether each person stayed to the end."""


def simulate_sheet(
    sheet: Sheet,
    truth: Truth,
    people: Population | None = None,
    kinds: Sequence[str] | None = None,
    seed: int = 1,
    *,
    repetition: int | None = None,
    run: int = 1,
    progress: Progress | None = None,
) -> Answers:
    """Return the answers of one person for each of `kinds`, who take the lists in turn; honest ones to all lists.

    The same seed gives what robots give over HTTP. With a `repetition` all chance is one stream, which is many times
    faster and follows the same laws.
    """
    people = people or Population()
    kinds = ["honest"] * sheet.lists if kinds is None else kinds
    mine = sheet.dealt(len(kinds))
    if repetition is None:
        chance = named_chance(mine, truth, people, kinds, seed, run, progress)
    else:
        chance = quick_chance(mine, people, kinds, np.random.default_rng([seed, repetition]))
    entry = np.flatnonzero(mine.position <= chance.trials[mine.list])
    values = values_of(mine, truth, people, chance)[entry]
    return Answers(mine, mine.list[entry], entry, values, chance.trials == mine.trials)


def values_of(sheet: Sheet, truth: Truth, people: Population, chance: Chance) -> Floats:
    """Return the answer to each entry of a sheet, by chance that has been cast."""
    progress = (sheet.position - 1) / np.maximum(1, sheet.trials[sheet.list] - 1)
    carried = people.carry * carry_over(sheet, truth) if people.carry else 0.0

    def strength(rows: Ints, look: Look) -> Floats:
        quality = truth.quality[rows, sheet.question]
        return perceived(chance.person, people, quality, look, carried=carried, progress=progress)

    judged = strength(sheet.stimulus, chance.judged)
    if chance.other is None:
        return _scored(sheet, np.where(chance.is_recognised, 1.0, judged))
    other = strength(sheet.other, chance.other)
    is_second = np.where(sheet.slot > sheet.other_slot, 1.0, -1.0)
    return is_second * _chosen(sheet, is_second * (judged - other) + NOISE * chance.doubt) + 0.0


def carry_over(sheet: Sheet, truth: Truth) -> Floats:
    """Return for each entry how far the trial before was above the average of all stimuli; 0 for a first trial."""
    of_row = truth.quality.mean(axis=1)
    both = [sheet.stimulus, sheet.other] if sheet.is_compared else [sheet.stimulus]
    quality = np.mean([of_row[rows] for rows in both], axis=0)
    counts = np.bincount(sheet.trial)
    means = np.bincount(sheet.trial, weights=quality) / np.maximum(1, counts)
    first = sheet.trial[sheet.starts[:-1][np.diff(sheet.starts) > 0]]
    before = np.concatenate([[0.0], means - of_row.mean()])[:-1]
    before[first] = 0.0
    return np.asarray(before[sheet.trial], dtype=np.float64)


def _scored(sheet: Sheet, strength: Floats) -> Floats:
    found = np.zeros(len(sheet))
    for place, scale in enumerate(sheet.scales):
        here = sheet.scale == place
        found[here] = score_values(scale, strength[here], is_reversed=sheet.is_reversed[here])
    return found


def _chosen(sheet: Sheet, difference: Floats) -> Floats:
    found = np.zeros(len(sheet))
    turned = np.where(sheet.is_reversed, -difference, difference)
    for place, scale in enumerate(sheet.scales):
        here = sheet.scale == place
        found[here] = chosen_values(scale, turned[here])
    return found
