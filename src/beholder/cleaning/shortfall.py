"""What is missing: votes on each stimulus against the plan, and which lists to open again for them."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from beholder.cleaning import columns as c
from beholder.cleaning.ratings import Rating
from beholder.cleaning.sessions import JudgedSession
from beholder.columns import Column
from beholder.methods.contract import Method, Trial
from beholder.planning.counts import compared_slots
from beholder.planning.known_answers import judged_kinds
from beholder.planning.model import PlannedList
from beholder.study.groups import group_name
from beholder.types import UNRATED_ROLES

VOTES = (
    c.STIMULUS,
    Column("other_stimulus", "text", "The stimulus that it is compared with."),
    c.QUESTION,
    Column("group", "text", "The group of participants."),
    Column(
        "planned",
        "integer",
        "As many votes as `design.votes` says, else as many as there are if every list is answered once.",
    ),
    Column("used", "integer", "Votes in use."),
    Column("short", "integer", "Votes that are missing."),
)
EXTEND = (
    Column("list", "integer", "The planned list."),
    Column("used_sessions", "integer", "How many sessions on it are in use."),
    Column("missing_sessions", "integer", "How often it would have to be finished once more."),
)
_COMPARISONS = frozenset({"diff", "choice", "correct"})


class VoteCell(NamedTuple):
    """What gets votes: a stimulus, or two that are compared, by a question, in a group of participants."""

    stimulus: str
    other_stimulus: str
    question: str
    group: str

    @property
    def stimuli(self) -> tuple[str, ...]:
        """The stimulus, or the two."""
        return (self.stimulus, self.other_stimulus) if self.other_stimulus else (self.stimulus,)


@dataclass(frozen=True)
class Shortfall:
    """How far the used votes are from what was planned, or from what the study asks for."""

    cells: Mapping[int, Sequence[VoteCell]]
    """What each list gets votes on."""
    planned: Mapping[VoteCell, int]
    used: Mapping[VoteCell, int]
    sessions: Mapping[int, int]
    """Used sessions of each list."""
    finished: frozenset[int]
    """Lists that somebody has finished, used or not."""

    @property
    def short(self) -> int:
        """How many stimuli and questions have too few votes."""
        return len(self.wanted)

    @property
    def wanted(self) -> dict[VoteCell, int]:
        """How many votes are missing where any are."""
        return {cell: n - self.used.get(cell, 0) for cell, n in self.planned.items() if self.used.get(cell, 0) < n}

    @property
    def coming(self) -> Counter[VoteCell]:
        """The votes that come when every list is finished that nobody has finished yet."""
        return Counter(cell for number, cells in self.cells.items() if number not in self.finished for cell in cells)

    @property
    def lost(self) -> list[int]:
        """Lists that were finished, and of which no session is used."""
        return sorted(number for number in self.finished if not self.sessions.get(number))

    def vote_rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each stimulus and question of the plan."""
        for cell in sorted(self.planned):
            planned, used = self.planned[cell], self.used.get(cell, 0)
            yield cell._asdict() | {"planned": planned, "used": used, "short": max(0, planned - used)}

    def extra(self) -> dict[int, int]:
        """Return how many sessions of which lists are missing, as few as bring all votes."""
        wanted = self.wanted
        if not wanted:
            return {}
        # A plan is made for each list to be answered once. Where some have been answered more often, fewer may do.
        unused = [number for number in self.cells if not self.sessions.get(number)]
        begin = sorted(unused, key=lambda number: (number in self.finished, number))
        plain = lists_to_reopen(self.cells, wanted, self.sessions, begin)
        if max(self.sessions.values(), default=0) <= 1:
            return plain
        return min(plain, lists_to_reopen(self.cells, wanted, self.sessions), key=lambda way: sum(way.values()))

    def extend_rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each list to open again."""
        for number, missing in sorted(self.extra().items()):
            yield {"list": number, "used_sessions": self.sessions.get(number, 0), "missing_sessions": missing}


def is_compared(lists: Iterable[PlannedList], method: Method) -> bool:
    """Return whether people compare two in each trial: then it is the two that get a vote."""
    first = next((trial for planned in lists for trial in planned.rated), None)
    return first is not None and bool(judged_kinds(method, first) & _COMPARISONS)


def shortfall(
    lists: Mapping[int, PlannedList],
    judged: Sequence[JudgedSession],
    *,
    votes: int | None = None,
    in_pairs: bool = False,
) -> Shortfall:
    """Return what is missing for every stimulus to have as many used votes as were planned, or as are asked for.

    Lists that make up for others add nothing to what was planned. With `in_pairs` it is two stimuli that get a vote.
    """
    # Of stimuli of one person's own there are as many votes as that person gives.
    cells = {number: list_cells(planned.common, in_pairs) for number, planned in lists.items()}
    planned: Counter[VoteCell] = Counter()
    for place, some in cells.items():
        if not lists[place].makes_up:
            planned.update(some)
    if votes is not None:
        planned = Counter(dict.fromkeys((cell for some in cells.values() for cell in some), votes))
    used: Counter[VoteCell] = Counter()
    sessions: Counter[int] = Counter()
    whole: Counter[int] = Counter()
    for one in judged:
        number = one.visit.list
        if not one.decision.use or number is None:
            continue
        sessions[number] += 1
        ratings = [row for row in one.ratings if not row.is_own]
        if len(ratings) == len(cells[number]) and all(_is_vote(row) for row in ratings):
            whole[number] += 1
        else:
            used.update(_votes(one, group_name(lists[number].group), in_pairs))
    for place, times in whole.items():
        for cell in cells[place]:
            used[cell] += times
    finished = frozenset(one.visit.list for one in judged if one.visit.outcome == "completed" and one.visit.list)
    return Shortfall(cells, planned, used, sessions, finished)


def list_cells(planned: PlannedList, in_pairs: bool) -> list[VoteCell]:
    """Return what a list gets votes on, by each question; checks are not among them."""
    group = group_name(planned.group)
    return [
        VoteCell(*stimuli, asked.question, group)
        for trial in planned.trials
        for stimuli in voted_stimuli(trial, in_pairs)
        for asked in trial.asked
        if asked.purpose == "ask"
    ]


def voted_stimuli(trial: Trial, in_pairs: bool) -> list[tuple[str, str]]:
    """Return what a trial gets votes on: the two that are compared, or each rated stimulus and nothing."""
    if in_pairs:
        shown = {slot.stimulus for slot in compared_slots(trial) if slot.role not in UNRATED_ROLES}
        return [(min(shown), max(shown))] if len(shown) == 2 else []
    return [(slot.stimulus, "") for slot in trial.slots if slot.rated and slot.role not in UNRATED_ROLES]


def _is_vote(row: Rating) -> bool:
    return row.use and row.value is not None and row.kind == "score"


def _votes(one: JudgedSession, group: str, in_pairs: bool) -> Iterator[VoteCell]:
    """Yield the used votes of a session; ticks are one answer together."""
    used: dict[tuple[int, str, VoteCell], bool] = {}
    for row in one.ratings:
        if row.is_own:
            continue
        pairs = voted_stimuli(one.visit.trials[row.position - 1], True) if in_pairs else [(row.stimulus, "")]
        for stimuli in pairs:
            key = (row.position, "" if in_pairs else row.slot, VoteCell(*stimuli, row.question, group))
            is_used = row.use and row.value is not None
            # Two that are scored in one trial are one vote, if both scores are used.
            used[key] = used.get(key, in_pairs) and is_used if in_pairs else used.get(key, False) or is_used
    return (cell for (_, _, cell), is_used in used.items() if is_used)


def lists_to_reopen(
    cells: Mapping[int, Sequence[VoteCell]],
    wanted: Mapping[VoteCell, int],
    sessions: Mapping[int, int],
    begin: Sequence[int] = (),
) -> dict[int, int]:
    """Return how often to open which list: those to begin with, then always what brings the most missing votes."""
    left, extra = dict(wanted), Counter[int]()

    def gain(number: int) -> int:
        return sum(cell in left for cell in cells[number])

    def open_again(number: int) -> None:
        extra[number] += 1
        for cell in cells[number]:
            if left.get(cell) == 1:
                del left[cell]
            elif cell in left:
                left[cell] -= 1

    for number in begin:
        if gain(number):
            open_again(number)
    # Of lists that bring as much, the one with the fewest sessions. What a list brings only ever falls, so that one
    # which is still the best when it is looked at again is the best.
    heap = [(-gain(number), sessions.get(number, 0) + extra[number], number) for number in cells] if left else []
    heapq.heapify(heap)
    while left:
        before, so_far, number = heap[0]
        brings = gain(number)
        if brings == -before:
            open_again(number)
            brings, so_far = gain(number), so_far + 1
        heapq.heapreplace(heap, (-brings, so_far, number))
    return dict(extra)
