"""Replacement lists: the trials whose ratings cleaning excluded, in as few lists as possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from beholder.methods.contract import Method, Trial, Units
from beholder.planning.check_counts import count_checks
from beholder.planning.check_placement import Placer
from beholder.planning.given_plan import GivenPlan, GivenTrial, compose_given
from beholder.planning.groups import ParticipantGroup
from beholder.planning.slots import order_slots
from beholder.study.design import Design

TrialStimuli = tuple[str, ...]
"""The stimuli of a trial: one, two that are compared, or several."""


@dataclass(frozen=True)
class GroupShortfall:
    """The missing ratings of one group of participants."""

    group: ParticipantGroup
    needed: Mapping[TrialStimuli, int]
    """How often each stimulus, or each two that are compared, is needed."""
    counts: Mapping[str, int]
    """The votes of each stimulus, expected ones included."""
    orders: Mapping[TrialStimuli, int]
    """How often two came in this order."""
    trials: int
    """Allocated trials of a list."""


def can_recombine(units: Units, design: Design) -> bool:
    """Return whether single trials can be recombined; else only whole lists keep the promises of the design."""
    return not units.companions and design.plan is None and design.blocks is None


def make_replacement_lists(short: GroupShortfall, method: Method, turn: int) -> list[list[Trial]]:
    """Return lists that hold what is short, each as often as it is needed, nothing twice in a list.

    If shorter lists would hold fewer checks, or checks would replace what is short, lists are fill up with the stimuli
    that have the fewest votes.
    """
    catalogue, study = short.group.catalogue, short.group.study.reseeded(turn)
    units, rng = method.units(study, catalogue), np.random.default_rng([*study.seeds, 40])
    maker = _ListMaker(short, units, study.design, rng)
    lists = maker.allocate()
    visits = max(1, len(units.asks))
    usual = count_checks(study, catalogue, method, units, short.trials * visits)
    least = min(len(one) for one in lists)
    if usual.replaced or count_checks(study, catalogue, method, units, least * visits) != usual:
        lists = [maker.fill(one) for one in lists]
    pages = [
        [GivenTrial("", number, position, stimuli, asks) for position, (stimuli, asks) in enumerate(one, 1)]
        for number, one in enumerate(maker.in_order(lists), 1)
    ]
    composed = compose_given(study, catalogue, method, GivenPlan(units, pages, usual))
    return composed if usual.is_empty else Placer(study, catalogue, method, units, usual).place(composed).lists


class _ListMaker:
    """Allocates what is short in one group."""

    def __init__(self, short: GroupShortfall, units: Units, design: Design, rng: Generator) -> None:
        self._short, self._units, self._design, self._rng = short, units, design, rng
        self._is_board = units.kind == "content"
        self._once = self._is_board or design.contents == "once"
        self._counts = Counter(short.counts)
        named = {*design.always, *units.always}
        stimuli = short.group.catalogue.by_id
        self._always = {name for unit in units.items for name in unit.stimuli if stimuli[name].condition in named}

    def allocate(self) -> list[list[TrialStimuli]]:
        """Return the trials of each list, in no order."""
        needed = Counter(self._boards()) if self._is_board else self._short.needed
        return distribute(needed, self._content, self._short.trials, self._rng, once=self._once)

    def fill(self, trials: list[TrialStimuli]) -> list[TrialStimuli]:
        """Return a list with the usual number of trials, or with as many as are available."""
        present, contents = set(trials), {self._content(stimuli) for stimuli in trials}
        full = list(trials)
        for content in sorted({unit.content for unit in self._units.items}, key=self._least) if self._is_board else ():
            if len(full) < self._short.trials and content not in contents:
                full.append(self._board(content, ()))
        if not self._is_board:
            for stimuli in sorted((unit.stimuli for unit in self._units.items), key=self._votes):
                is_free = stimuli not in present and not (self._once and self._content(stimuli) in contents)
                if len(full) < self._short.trials and is_free:
                    full.append(stimuli)
                    contents.add(self._content(stimuli))
                    self._counts.update(stimuli)
        return full

    def in_order(self, lists: list[list[TrialStimuli]]) -> Iterator[list[tuple[TrialStimuli, tuple[str, ...]]]]:
        """Yield the trials of each list in order, with their stimuli in order and their questions."""
        shown = iter(self._in_slots([stimuli for trials_of_list in lists for stimuli in trials_of_list]))
        for trials_of_list in lists:
            trials = [next(shown) for _ in trials_of_list]
            visits = [(stimuli, asks) for stimuli in trials for asks in self._units.asks or ((),)]
            yield separate_contents(visits, lambda visit: self._content(visit[0]), self._rng)

    def _content(self, stimuli: TrialStimuli) -> str:
        return self._short.group.catalogue.by_id[stimuli[0]].content

    def _votes(self, stimuli: TrialStimuli) -> tuple[int, float]:
        return sum(self._counts[name] for name in stimuli), float(self._rng.random())

    def _least(self, content: str) -> int:
        return min(self._counts[name] for name in self._stimuli(content))

    def _stimuli(self, content: str) -> TrialStimuli:
        return next(unit.stimuli for unit in self._units.items if unit.content == content)

    def _boards(self) -> Iterator[TrialStimuli]:
        """Yield trials with what is short of each content, fill up with the stimuli that have the fewest votes."""
        short: dict[str, dict[str, int]] = {}
        for stimuli, number in self._short.needed.items():
            short.setdefault(self._content(stimuli), {})[stimuli[0]] = number
        for content, needed in short.items():
            free = {name: number for name, number in needed.items() if name not in self._always}
            capacity = self._units.per_trial - len(self._always.intersection(self._stimuli(content)))
            number = max(max(needed.values()), -(-sum(free.values()) // max(1, capacity)))
            pages: list[list[str]] = [[] for _ in range(number)]
            repeated = [name for name, times in sorted(free.items(), key=lambda one: -one[1]) for _ in range(times)]
            for place, name in enumerate(repeated):
                pages[place % number].append(name)
            for page in pages:
                yield self._board(content, page)

    def _board(self, content: str, required: list[str] | tuple[str, ...]) -> TrialStimuli:
        """Return a trial with these stimuli, those that are always shown, and others with few votes."""
        available = self._stimuli(content)
        page = {*required, *self._always.intersection(available)}
        self._counts.update(page)
        for name in sorted(available, key=lambda one: self._votes((one,))):
            if len(page) < self._units.per_trial and name not in page:
                page.add(name)
                self._counts[name] += 1
        return tuple(name for name in available if name in page)

    def _in_slots(self, trials: list[TrialStimuli]) -> Iterator[TrialStimuli]:
        """Yield the stimuli of each trial in the order in which they are shown."""
        if self._is_board and self._units.shuffle == "slots":
            place = {name: number for number, name in enumerate(self._short.group.catalogue.conditions)}
            catalogue_stimuli = self._short.group.catalogue.by_id
            columns = np.array(
                [[place[catalogue_stimuli[name].condition] for name in shown] for shown in trials], dtype=np.int64
            )
            orders = order_slots(columns, self._short.trials, self._rng).tolist()
            yield from (tuple(shown[n] for n in order) for shown, order in zip(trials, orders, strict=True))
        elif self._units.kind == "pair" and self._units.shuffle == "order" and self._design.both_orders:
            yield from self._both_orders(trials)
        else:
            yield from trials

    def _both_orders(self, trials: list[TrialStimuli]) -> Iterator[TrialStimuli]:
        """Yield each two in their less frequent order, alternating if both are equally frequent."""
        counts, is_next_turned = Counter(self._short.orders), bool(self._rng.integers(2))
        for one, two in trials:
            difference = counts[one, two] - counts[two, one]
            is_turned = difference > 0 if difference else is_next_turned
            is_next_turned = is_next_turned ^ (difference == 0)
            shown = (two, one) if is_turned else (one, two)
            counts[shown] += 1
            yield shown


# Distribution over lists


T = TypeVar("T", bound=Hashable)


def distribute(
    needed: Mapping[T, int], content: Callable[[T], str], most: int, rng: Generator, *, once: bool
) -> list[list[T]]:
    """Return lists of at most `most` items, each item as often as `needed` says; sizes differ by at most one.

    Items go to the lists in turn, those of one content one after the other: so none comes twice in a list, a content
    comes twice only if it has more items than there are lists, and with `once` never.
    """
    drawn = [list(needed)[place] for place in rng.permutation(len(needed))]
    totals: Counter[str] = Counter()
    for item in drawn:
        totals[content(item)] += needed[item]
    drawn.sort(key=lambda item: -totals[content(item)])
    by_content: dict[str, list[T]] = {}
    for item in drawn:
        by_content.setdefault(content(item), []).extend([item] * needed[item])
    number = max(-(-sum(totals.values()) // most), max(needed.values()), max(totals.values()) if once else 1)
    lists: list[list[T]] = [[] for _ in range(number)]
    for place, item in enumerate(item for items in by_content.values() for item in items):
        lists[place % number].append(item)
    return lists


def separate_contents(items: Sequence[T], content: Callable[[T], str], rng: Generator) -> list[T]:
    """Return items in a random order in which no two of one content are neighbours, if possible."""
    waiting: dict[str, list[T]] = {}
    for place in rng.permutation(len(items)):
        waiting.setdefault(content(items[place]), []).append(items[place])
    order: list[T] = []
    last = ""
    for left in range(len(items), 0, -1):
        others = [name for name in waiting if name != last] or list(waiting)
        # A content that is more than half of the rest is next; else a random one.
        forced = [name for name in others if 2 * len(waiting[name]) > left]
        weights = [float(len(waiting[name])) for name in others]
        last = forced[0] if forced else others[int(rng.choice(len(others), p=[w / sum(weights) for w in weights]))]
        order.append(waiting[last].pop())
        if not waiting[last]:
            del waiting[last]
    return order
