"""Lists for what cleaning left out: exactly what is short, spread over as few lists as it takes."""

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
"""What a trial shows: one stimulus, two that are compared, or those of a page."""


@dataclass(frozen=True)
class GroupShortfall:
    """What is short in one group of participants."""

    group: ParticipantGroup
    wanted: Mapping[TrialStimuli, int]
    """How often each stimulus, or each two that are compared, has to come."""
    counts: Mapping[str, int]
    """How many votes each stimulus has, or will have."""
    orders: Mapping[TrialStimuli, int]
    """How often two came in this order."""
    trials: int
    """How many trials are dealt to a list."""


def can_recombine(units: Units, design: Design) -> bool:
    """Return whether single trials can be put together anew; else only whole lists keep what the design promises."""
    return not units.companions and design.plan is None and design.blocks is None


def make_replacement_lists(short: GroupShortfall, method: Method, turn: int) -> list[list[Trial]]:
    """Return lists that hold what is short, each as often as it is wanted, nothing twice in a list.

    Where lists that are shorter than usual would hold fewer checks, or checks would stand in place of what is short,
    they are filled up with what has fewest votes.
    """
    catalogue, study = short.group.catalogue, short.group.study.reseeded(turn)
    units, rng = method.units(study, catalogue), np.random.default_rng([*study.seeds, 40])
    maker = _ListMaker(short, units, study.design, rng)
    lists = maker.deal()
    visits = max(1, len(units.asks))
    usual = count_checks(study, catalogue, method, units, short.trials * visits)
    least = min(len(one) for one in lists)
    if usual.replaced or count_checks(study, catalogue, method, units, least * visits) != usual:
        lists = [maker.filled(one) for one in lists]
    pages = [
        [GivenTrial("", number, position, stimuli, asks) for position, (stimuli, asks) in enumerate(one, 1)]
        for number, one in enumerate(maker.ordered(lists), 1)
    ]
    composed = compose_given(study, catalogue, method, GivenPlan(units, pages, usual))
    return composed if usual.is_nothing else Placer(study, catalogue, method, units, usual).place(composed).lists


class _ListMaker:
    """Deals what is short of one group."""

    def __init__(self, short: GroupShortfall, units: Units, design: Design, rng: Generator) -> None:
        self._short, self._units, self._design, self._rng = short, units, design, rng
        self._is_board = units.kind == "content"
        self._once = self._is_board or design.contents == "once"
        self._counts = Counter(short.counts)
        named = {*design.always, *units.always}
        stimuli = short.group.catalogue.by_id
        self._always = {name for unit in units.items for name in unit.stimuli if stimuli[name].condition in named}

    def deal(self) -> list[list[TrialStimuli]]:
        """Return what stands in each list, in no order."""
        wanted = Counter(self._boards()) if self._is_board else self._short.wanted
        return distribute(wanted, self._content, self._short.trials, self._rng, once=self._once)

    def filled(self, one: list[TrialStimuli]) -> list[TrialStimuli]:
        """Return a list with as many trials as usual, or as many as there are to fill it with."""
        there, contents = set(one), {self._content(dealt) for dealt in one}
        whole = list(one)
        for content in sorted({unit.content for unit in self._units.items}, key=self._least) if self._is_board else ():
            if len(whole) < self._short.trials and content not in contents:
                whole.append(self._board(content, ()))
        if not self._is_board:
            for dealt in sorted((unit.stimuli for unit in self._units.items), key=self._votes):
                is_free = dealt not in there and not (self._once and self._content(dealt) in contents)
                if len(whole) < self._short.trials and is_free:
                    whole.append(dealt)
                    contents.add(self._content(dealt))
                    self._counts.update(dealt)
        return whole

    def ordered(self, lists: list[list[TrialStimuli]]) -> Iterator[list[tuple[TrialStimuli, tuple[str, ...]]]]:
        """Yield the trials of each list in order, each with its stimuli in order and what is asked."""
        shown = iter(self._in_slots([dealt for one in lists for dealt in one]))
        for one in lists:
            trials = [next(shown) for _ in one]
            visits = [(dealt, asks) for dealt in trials for asks in self._units.asks or ((),)]
            yield separate_contents(visits, lambda visit: self._content(visit[0]), self._rng)

    def _content(self, dealt: TrialStimuli) -> str:
        return self._short.group.catalogue.by_id[dealt[0]].content

    def _votes(self, dealt: TrialStimuli) -> tuple[int, float]:
        return sum(self._counts[name] for name in dealt), float(self._rng.random())

    def _least(self, content: str) -> int:
        return min(self._counts[name] for name in self._stimuli(content))

    def _stimuli(self, content: str) -> TrialStimuli:
        return next(unit.stimuli for unit in self._units.items if unit.content == content)

    def _boards(self) -> Iterator[TrialStimuli]:
        """Yield pages that hold what is short of each content, filled up with what has fewest votes."""
        short: dict[str, dict[str, int]] = {}
        for dealt, number in self._short.wanted.items():
            short.setdefault(self._content(dealt), {})[dealt[0]] = number
        for content, wanted in short.items():
            free = {name: number for name, number in wanted.items() if name not in self._always}
            room = self._units.per_trial - len(self._always.intersection(self._stimuli(content)))
            number = max(max(wanted.values()), -(-sum(free.values()) // max(1, room)))
            pages: list[list[str]] = [[] for _ in range(number)]
            again = [name for name, times in sorted(free.items(), key=lambda one: -one[1]) for _ in range(times)]
            for place, name in enumerate(again):
                pages[place % number].append(name)
            for page in pages:
                yield self._board(content, page)

    def _board(self, content: str, held: list[str] | tuple[str, ...]) -> TrialStimuli:
        """Return a page with these stimuli, those that are always there, and others with few votes."""
        there = self._stimuli(content)
        page = {*held, *self._always.intersection(there)}
        self._counts.update(page)
        for name in sorted(there, key=lambda one: self._votes((one,))):
            if len(page) < self._units.per_trial and name not in page:
                page.add(name)
                self._counts[name] += 1
        return tuple(name for name in there if name in page)

    def _in_slots(self, trials: list[TrialStimuli]) -> Iterator[TrialStimuli]:
        """Yield the stimuli of each trial in the order in which they are shown."""
        if self._is_board and self._units.shuffle == "slots":
            place = {name: number for number, name in enumerate(self._short.group.catalogue.conditions)}
            stimuli = self._short.group.catalogue.by_id
            columns = np.array([[place[stimuli[name].condition] for name in dealt] for dealt in trials], dtype=np.int64)
            orders = order_slots(columns, self._short.trials, self._rng).tolist()
            yield from (tuple(dealt[n] for n in order) for dealt, order in zip(trials, orders, strict=True))
        elif self._units.kind == "pair" and self._units.shuffle == "order" and self._design.both_orders:
            yield from self._both_orders(trials)
        else:
            yield from trials

    def _both_orders(self, trials: list[TrialStimuli]) -> Iterator[TrialStimuli]:
        """Yield each two in the order in which they came less often, and by turns where that says nothing."""
        came, turned = Counter(self._short.orders), bool(self._rng.integers(2))
        for one, two in trials:
            more = came[one, two] - came[two, one]
            is_turned = more > 0 if more else turned
            turned = turned ^ (more == 0)
            shown = (two, one) if is_turned else (one, two)
            came[shown] += 1
            yield shown


# --- What is to come so many times, spread over as few lists as it takes, nothing twice in one of them ---


T = TypeVar("T", bound=Hashable)


def distribute(
    wanted: Mapping[T, int], content: Callable[[T], str], most: int, rng: Generator, *, once: bool
) -> list[list[T]]:
    """Return lists of at most so many, each thing as often as it is wanted; sizes differ by one at most.

    Things go round the lists, those of one content one after the other: so none comes twice in a list, a content
    comes twice only where there are more of it than lists, and with `once` never.
    """
    drawn = [list(wanted)[place] for place in rng.permutation(len(wanted))]
    totals: Counter[str] = Counter()
    for thing in drawn:
        totals[content(thing)] += wanted[thing]
    drawn.sort(key=lambda thing: -totals[content(thing)])
    by_content: dict[str, list[T]] = {}
    for thing in drawn:
        by_content.setdefault(content(thing), []).extend([thing] * wanted[thing])
    number = max(-(-sum(totals.values()) // most), max(wanted.values()), max(totals.values()) if once else 1)
    lists: list[list[T]] = [[] for _ in range(number)]
    for place, thing in enumerate(thing for things in by_content.values() for thing in things):
        lists[place % number].append(thing)
    return lists


def separate_contents(things: Sequence[T], content: Callable[[T], str], rng: Generator) -> list[T]:
    """Return things in a drawn order in which no two of one content are neighbours, where that can be."""
    waiting: dict[str, list[T]] = {}
    for place in rng.permutation(len(things)):
        waiting.setdefault(content(things[place]), []).append(things[place])
    order: list[T] = []
    last = ""
    for left in range(len(things), 0, -1):
        others = [name for name in waiting if name != last] or list(waiting)
        # Of what is more than half of the rest the next one has to be; else any, by chance.
        pressing = [name for name in others if 2 * len(waiting[name]) > left]
        weights = [float(len(waiting[name])) for name in others]
        last = pressing[0] if pressing else others[int(rng.choice(len(others), p=[w / sum(weights) for w in weights]))]
        order.append(waiting[last].pop())
        if not waiting[last]:
            del waiting[last]
    return order
