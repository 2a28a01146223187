"""Batches of active pairs: which conditions are compared next, on which contents, in which lists and order.

What is compared is drawn by `beholder.stats.expected_information`, from the answers so far; everything else, contents,
places and sides, is kept even over all lists that were dealt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beholder.methods.contract import Break, Method, Trial, Unit, Units
from beholder.planning.slots import arrange, draw_colours
from beholder.planning.vote_tally import VoteTally
from beholder.stats.expected_information import Draw, draw_pairs, draw_sets, sampling_of
from beholder.stimuli.catalogue import Catalogue
from beholder.study.design import Active
from beholder.study.model import Study
from beholder.types import UNRATED_ROLES

FIRST_BATCH = 1
"""The number of the batch that is planned before anybody answers."""
_STREAM = 60
"""The stream of chance of batches."""
_SELDOM = 1e3
"""The cost of a comparison that is no longer new in its batch, beside 1 for each time that it was dealt before."""
_NEVER = 1e9


class DealtPairs:
    """What was dealt so far: each two stimuli, each content, and which of two stood first."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._conditions = {stimulus.id: stimulus.condition for stimulus in catalogue.by_cell.values()}
        self._contents = {stimulus.id: stimulus.content for stimulus in catalogue.by_cell.values()}
        self.stimuli: Counter[tuple[str, ...]] = Counter()
        """By the stimuli of a trial, sorted."""
        self.contents: Counter[str] = Counter()
        self.pairs: Counter[frozenset[str]] = Counter()
        """By two conditions."""
        self.orders: Counter[tuple[str, str]] = Counter()
        """By two conditions in the order in which they stood."""

    def add(self, entries: Iterable[Trial | Break]) -> None:
        """Add the trials of a list."""
        for entry in entries:
            if isinstance(entry, Trial) and entry.draw_probability is not None:
                self._add([slot.stimulus for slot in entry.slots if slot.rated and slot.role not in UNRATED_ROLES])

    def _add(self, stimuli: Sequence[str]) -> None:
        known = [name for name in stimuli if name in self._conditions]
        self.stimuli[tuple(sorted(known))] += 1
        if known:
            self.contents[self._contents[known[0]]] += 1
        conditions = [self._conditions[name] for name in known]
        self.pairs.update(frozenset(pair) for pair in combinations(conditions, 2))
        if len(conditions) == 2:
            self.orders[conditions[0], conditions[1]] += 1


class BatchShape(NamedTuple):
    """How large a batch is."""

    lists: int
    trials: int


def batch_shape(study: Study, units: Units, trials: int) -> BatchShape:
    """Return how many lists of so many trials are dealt at a time.

    Unless the study says so: a tree over all conditions, that is one comparison less than there are conditions, in
    whole lists and at least two; of pages with several, each condition on a page.
    """
    active = study.design.active or Active()
    conditions = len(study_conditions(units))
    needed = conditions - 1 if units.kind == "pair" else -(-conditions // max(1, units.per_trial - 1))
    lists = active.batch or max(2, -(-needed // trials))
    return BatchShape(min(lists, study.design.dealt_lists or lists), trials)


def study_conditions(units: Units) -> set[str]:
    """Return the stimuli of the content with the most of them, as many as there are conditions to compare."""
    by_content: dict[str, set[str]] = {}
    for unit in units.items:
        by_content.setdefault(unit.content, set()).update(unit.stimuli)
    return max(by_content.values(), key=len, default=set())


class BatchComposer:
    """Composes the trials of batches of one study. Made once: of 100 conditions there are thousands of pairs."""

    def __init__(self, study: Study, catalogue: Catalogue, method: Method, units: Units) -> None:
        self._study, self._catalogue, self._method, self._units = study, catalogue, method, units
        self._active = study.design.active or Active()
        self._conditions = catalogue.conditions
        place = {name: number for number, name in enumerate(self._conditions)}
        self._contents = [one for one in catalogue.contents if any(unit.content == one for unit in units.items)]
        number = {content: at for at, content in enumerate(self._contents)}
        self._cells: list[dict[int, str]] = [{} for _ in self._contents]
        """By content, the stimulus of each condition."""
        self._possible: NDArray[np.bool_] = np.zeros((len(place), len(place)), np.bool_)
        for unit in units.items:
            places = [place[catalogue.by_id[stimulus].condition] for stimulus in unit.stimuli]
            self._cells[number[unit.content]].update(zip(places, unit.stimuli, strict=True))
            if units.kind == "pair":
                self._possible[places[0], places[1]] = self._possible[places[1], places[0]] = True
            else:
                self._possible[np.ix_(places, places)] = True
        np.fill_diagonal(self._possible, val=False)

    def compose(
        self, tally: VoteTally, dealt: DealtPairs, seeds: Sequence[int], shape: BatchShape, retired: Iterable[str] = ()
    ) -> list[list[Trial]]:
        """Return the trials of every list of a batch; fewer where nothing is left to compare."""
        rng = np.random.default_rng([*seeds, _STREAM])
        sampling = sampling_of(tally.wins, self._allowed(dealt, frozenset(retired)), self._active.uniform)
        number = shape.lists * shape.trials
        if self._units.kind == "pair":
            draws = draw_pairs(sampling, number, rng)
        else:
            draws = draw_sets(sampling, self._units.per_trial, number, rng)
        draws = [draws[place] for place in rng.permutation(len(draws))]
        used: Counter[tuple[str, ...]] = Counter()
        orders = Counter(dealt.orders)
        contents, times = Counter(dealt.contents), dealt.stimuli
        colours = draw_colours(len(draws), 2 if self._units.kind == "pair" else self._units.per_trial, rng).tolist()
        lists: list[list[Trial]] = []
        for first in range(0, len(draws) // shape.trials * shape.trials, shape.trials):
            own = draws[first : first + shape.trials]
            dealt_units = self._on_contents(own, contents, times, used, rng)
            trials: list[Trial] = []
            turned = 0
            for position, (draw, unit) in enumerate(dealt_units, 1):
                composed = self._method.compose(self._study, unit, self._catalogue, rng)
                order = self._order(unit, orders, 2 * turned - len(trials), rng)
                turned += order[0] != 0
                trial = arrange(composed, f"trial:{position}", order, colours[first + position - 1])
                trials.append(replace(trial, draw_probability=float(f"{draw.probability:.6g}")))
            lists.append(trials)
        return lists

    def _allowed(self, dealt: DealtPairs, retired: frozenset[str]) -> NDArray[np.bool_]:
        """Return which conditions may be compared now."""
        allowed = self._possible.copy()
        gone = [place for place, name in enumerate(self._conditions) if name in retired]
        allowed[gone, :] = allowed[:, gone] = False
        if self._active.cap is not None:
            for pair, times in dealt.pairs.items():
                if times >= self._active.cap:
                    one, two = (self._conditions.index(name) for name in pair)
                    allowed[one, two] = allowed[two, one] = False
        return allowed

    def _on_contents(
        self,
        draws: Sequence[Draw],
        contents: Counter[str],
        times: Counter[tuple[str, ...]],
        used: Counter[tuple[str, ...]],
        rng: Generator,
    ) -> list[tuple[Draw, Unit]]:
        """Return what is compared in each trial of a list, in order; contents that were dealt least come first.

        The same stimuli come together once in a batch, as long as there are other contents.
        """
        sequence = self._content_sequence(len(draws), contents, rng)
        present = dict.fromkeys(sequence)
        of_content = np.full((len(draws), len(self._contents)), _NEVER)
        ties = rng.random((len(draws), len(sequence))) / 2
        for row, draw in enumerate(draws):
            for content in present:
                stimuli = self._stimuli(draw, content)
                if stimuli is not None:
                    of_content[row, content] = times.get(stimuli, 0) + _SELDOM * used.get(stimuli, 0)
        costs = of_content[:, sequence] + ties
        from scipy.optimize import linear_sum_assignment  # it takes long to load, and few plans need it

        rows, columns = linear_sum_assignment(costs)
        of_column = dict(zip(columns.tolist(), rows.tolist(), strict=True))
        dealt = []
        for column, content in enumerate(sequence):
            draw = draws[of_column[column]]
            if costs[of_column[column], column] >= _NEVER:  # the content lacks one of the conditions
                holding = [one for one in range(len(self._contents)) if self._stimuli(draw, one) is not None]
                content = min(holding, key=lambda one: (one in sequence, contents[self._contents[one]]))
            stimuli = self._stimuli(draw, content)
            assert stimuli is not None
            used[stimuli] += 1
            contents[self._contents[content]] += 1
            canonical = tuple(self._cells[content][place] for place in draw.conditions)
            dealt.append((draw, Unit(self._contents[content], canonical, ())))
        return dealt

    def _stimuli(self, draw: Draw, content: int) -> tuple[str, ...] | None:
        """Return the stimuli of some conditions of a content, sorted; None where one is missing."""
        cells = self._cells[content]
        try:
            return tuple(sorted([cells[place] for place in draw.conditions]))
        except KeyError:
            return None

    def _content_sequence(self, trials: int, contents: Counter[str], rng: Generator) -> list[int]:
        """Return the contents of a list in order: all of them in turn, and of a part those that were dealt least."""
        rounds: list[list[int]] = []
        left = trials
        while left > 0:
            order = sorted(rng.permutation(len(self._contents)).tolist(), key=lambda one: contents[self._contents[one]])
            chosen = order[:left]
            chosen = [chosen[place] for place in rng.permutation(len(chosen))]
            if rounds and len(chosen) > 1 and rounds[-1][-1] == chosen[0]:
                chosen[0], chosen[-1] = chosen[-1], chosen[0]
            elif rounds and len(chosen) == 1 and rounds[-1][-1] == chosen[0]:
                chosen = [one for one in order if one != rounds[-1][-1]][:1] or chosen
            rounds.append(chosen)
            left -= len(chosen)
        return [content for part in rounds for content in part]

    def _order(self, unit: Unit, orders: Counter[tuple[str, str]], surplus: int, rng: Generator) -> list[int]:
        """Return in which order stimuli stand: of two the one first that seldom was, then as in fewer of the list."""
        if self._units.shuffle == "none" or (self._units.shuffle == "order" and not self._study.design.both_orders):
            return list(range(len(unit.stimuli)))
        if len(unit.stimuli) > 2:
            return [int(place) for place in rng.permutation(len(unit.stimuli))]
        one, two = (self._catalogue.by_id[stimulus].condition for stimulus in unit.stimuli)
        lead = orders[one, two] - orders[two, one] or -surplus
        is_turned = bool(rng.integers(2)) if lead == 0 else lead > 0
        orders[(two, one) if is_turned else (one, two)] += 1
        return [1, 0] if is_turned else [0, 1]
