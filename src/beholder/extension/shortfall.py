"""The votes that are missing after cleaning, and the lists that replace them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from beholder.cleaning.screening import JudgedPopulation
from beholder.cleaning.shortfall import Shortfall, VoteCell, list_cells, lists_to_reopen, shortfall
from beholder.methods.contract import Method, Trial
from beholder.planning.builder import in_order, with_breaks
from beholder.planning.counts import first_occurrences, free_slots
from beholder.planning.groups import ParticipantGroup, groups_of
from beholder.planning.growth import extension_seed
from beholder.planning.model import PlannedList
from beholder.planning.replacement_lists import GroupShortfall, TrialStimuli, can_recombine, make_replacement_lists
from beholder.stimuli.catalogue import Catalogue
from beholder.study.groups import group_name
from beholder.study.model import Study

_ROUNDS = 50
"""Checks replace rated stimuli, so that missing votes may have to be allocated again."""


class ShortfallLists(NamedTuple):
    """Lists for missing votes: whole lists again, and recombined ones."""

    repeated: list[PlannedList]
    recombined: list[PlannedList]


class ShortfallPlanner:
    """Makes lists for missing votes and new stimuli of a study."""

    def __init__(self, study: Study, catalogue: Catalogue, method: Method, lists: Sequence[PlannedList]) -> None:
        # Stimuli of one person's own are rated by that person or by nobody: votes are counted on the others.
        catalogue = catalogue.common
        self._study, self._method, self._lists = study, method, [planned.common for planned in lists]
        self._groups = groups_of(study, catalogue, method)
        self._units = method.units(study, catalogue)
        self.in_pairs = self._units.kind == "pair"
        self.can_recombine = can_recombine(self._units, study.design)
        self._allocatable_by_group = {group_name(group.levels): self._allocatable(group) for group in self._groups}

    def _allocatable(self, group: ParticipantGroup) -> frozenset[frozenset[str]]:
        """Return what can be allocated to a group: stimuli, or pairs."""
        units = self._method.units(group.study, group.catalogue)
        if self.in_pairs:
            return frozenset(frozenset(unit.stimuli) for unit in units.items)
        return frozenset(frozenset({name}) for unit in units.items for name in unit.stimuli)

    def shortfall(self, judging: JudgedPopulation) -> Shortfall:
        """Return how far the used votes are from the plan."""
        lists = {planned.number: planned for planned in self._lists}
        return shortfall(lists, judging.judged, votes=self._study.design.votes, in_pairs=self.in_pairs)

    def lists_for_new(self, stimuli: Sequence[str], votes: int) -> list[PlannedList]:
        """Return lists that give each of these stimuli, or each two with one of them, `votes` votes."""
        needed: dict[VoteCell, int] = {}
        for group in self._groups:
            units = self._method.units(group.study, group.catalogue)
            questions = [question.id for question in self._method.questions(group.study)]
            for unit in units.items:
                shown = [_pair(unit.stimuli)] if self.in_pairs else [(name, "") for name in unit.stimuli]
                for one, other in shown:
                    if not set(stimuli).isdisjoint((one, other)):
                        needed[VoteCell(one, other, questions[0], group_name(group.levels))] = votes
        return self._recombine(needed, Counter(), Counter(), makes_up=False)

    def make_up(self, short: Shortfall, judging: JudgedPopulation) -> ShortfallLists:
        """Return lists for every missing vote that no open list will bring."""
        coming = short.coming
        needed = Counter({cell: n - coming[cell] for cell, n in short.wanted.items() if n > coming[cell]})
        repeated = list(self._lost_lists(short, needed))
        bound = {cell: n for cell, n in needed.items() if not self._can_recombine(cell)}
        for number, often in sorted(lists_to_reopen(short.cells, bound, short.sessions).items()):
            repeated += [replace(self._lists[number - 1], makes_up=True)] * often
            for _ in range(often):
                needed -= Counter(short.cells[number])
        if not needed:
            return ShortfallLists(repeated, [])
        counts, orders = self._votes_and_orders(short, judging, [*self._open(short), *repeated])
        return ShortfallLists(repeated, self._recombine(needed, counts, orders, makes_up=True, after=len(repeated)))

    def _can_recombine(self, cell: VoteCell) -> bool:
        """Return whether a trial for a cell can be recombined: pairs may have changed with the stimuli."""
        return self.can_recombine and frozenset(cell.stimuli) in self._allocatable_by_group[cell.group]

    def _lost_lists(self, short: Shortfall, needed: Counter[VoteCell]) -> Iterator[PlannedList]:
        """Yield lists that were lost as a whole and all of whose votes are missing; subtract them from `needed`."""
        for number in short.lost:
            cells = Counter(short.cells[number])
            if cells and all(needed[cell] >= n for cell, n in cells.items()):
                needed -= cells
                yield replace(self._lists[number - 1], makes_up=True)

    def _open(self, short: Shortfall) -> list[PlannedList]:
        return [planned for planned in self._lists if planned.number not in short.finished]

    def _votes_and_orders(
        self, short: Shortfall, judging: JudgedPopulation, coming: Iterable[PlannedList]
    ) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, TrialStimuli]]]:
        """Return by group the votes of each stimulus, and how often two came in which order."""
        counts: Counter[tuple[str, str]] = Counter()
        for cells in (short.used, Counter(cell for planned in coming for cell in list_cells(planned, self.in_pairs))):
            for cell, n in cells.items():
                counts.update({(cell.group, name): n for name in cell.stimuli})
        orders: Counter[tuple[str, TrialStimuli]] = Counter()
        for planned in coming:
            orders.update((group_name(planned.group), _order(trial)) for trial in planned.rated)
        for one in judging.judged:
            if one.decision.use and one.visit.list is not None:
                group = group_name(self._lists[one.visit.list - 1].group)
                places = {row.position for row in one.ratings if row.use and row.value is not None}
                orders.update((group, _order(one.visit.trials[place - 1])) for place in places)
        return counts, orders

    def _recombine(
        self,
        needed: Mapping[VoteCell, int],
        counts: Mapping[tuple[str, str], int],
        orders: Mapping[tuple[str, TrialStimuli], int],
        *,
        makes_up: bool,
        after: int = 0,
    ) -> list[PlannedList]:
        lists: list[PlannedList] = []
        for group in self._groups:
            own = group_name(group.levels)
            missing = Counter({cell: n for cell, n in needed.items() if cell.group == own})
            for turn in range(_ROUNDS):
                if not missing:
                    break
                short = GroupShortfall(
                    group,
                    self._units_of(group, missing),
                    {name: n for (group_name, name), n in counts.items() if group_name == own},
                    {order: n for (group_name, order), n in orders.items() if group_name == own},
                    self._trials_per_list(group),
                )
                question_orders = self._method.units(group.study, group.catalogue).orders
                for trials in make_replacement_lists(
                    short, self._method, extension_seed(len(self._lists) + after + len(lists), turn)
                ):
                    ordered = in_order(trials, question_orders, len(self._lists) + after + len(lists))
                    entries = (*self._training(group), *with_breaks(ordered, group.study.design.breaks))
                    planned = PlannedList(0, entries, group.levels, makes_up)
                    cells = Counter(list_cells(planned, self.in_pairs))
                    # Checks may have replaced everything that was needed from it.
                    if cells & missing:
                        lists.append(planned)
                        missing -= cells
        return lists

    def _units_of(self, group: ParticipantGroup, needed: Mapping[VoteCell, int]) -> dict[TrialStimuli, int]:
        """Return how often each stimulus, or pair, is needed: as often as its question with the fewest votes needs."""
        units = self._method.units(group.study, group.catalogue)
        names = {_pair(unit.stimuli): unit.stimuli for unit in units.items} if self.in_pairs else {}
        counts: dict[TrialStimuli, int] = {}
        for cell, n in needed.items():
            stimuli = names.get((cell.stimulus, cell.other_stimulus), cell.stimuli)
            counts[stimuli] = max(counts.get(stimuli, 0), n)
        return counts

    def _trials_per_list(self, group: ParticipantGroup) -> int:
        """Return the number of allocated trials of a list."""
        own = [planned for planned in self._lists if planned.group == group.levels and not planned.makes_up]
        return max(len(list(first_occurrences(planned))) for planned in own)

    def _training(self, group: ParticipantGroup) -> tuple[Trial, ...]:
        return next(planned.training for planned in self._lists if planned.group == group.levels)


def _pair(stimuli: TrialStimuli) -> tuple[str, str]:
    """Return two stimuli in the order of vote cells."""
    return min(stimuli), max(stimuli)


def _order(trial: Trial) -> TrialStimuli:
    return tuple(slot.stimulus for slot in free_slots(trial))
