"""What is missing: votes on each stimulus against the plan, and which lists to open again for them."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from beholder.checks.trust import CHECK_ROLES
from beholder.clean.ratings import Rating
from beholder.clean.sessions import Judged
from beholder.methods.contract import Trial

VOTES = ("stimulus", "question", "planned", "used", "short")
EXTEND = ("list", "used_sessions", "missing_sessions")
Cell = tuple[str, str]
"""A stimulus and a question."""
_COMPARISONS = frozenset({"diff", "choice", "correct"})


@dataclass(frozen=True)
class Shortfall:
    """How far the used votes are from the plan, in which every list is answered once."""

    planned: Mapping[Cell, int]
    used: Mapping[Cell, int]
    sessions: Mapping[int, int]
    """Used sessions of each list."""
    extra: Mapping[int, int]
    """Sessions that are missing of each list to open again."""

    @property
    def short(self) -> int:
        """How many stimuli and questions have too few votes."""
        return sum(self.used.get(cell, 0) < planned for cell, planned in self.planned.items())

    def vote_rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each stimulus and question of the plan."""
        for cell in sorted(self.planned):
            planned, used = self.planned[cell], self.used.get(cell, 0)
            row = {"stimulus": cell[0], "question": cell[1], "planned": planned, "used": used}
            yield row | {"short": max(0, planned - used)}

    def extend_rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each list to open again."""
        for number in sorted(self.extra):
            yield {
                "list": number,
                "used_sessions": self.sessions.get(number, 0),
                "missing_sessions": self.extra[number],
            }


def shortfall(lists: Mapping[int, tuple[Trial, ...]], judged: Sequence[Judged]) -> Shortfall:
    """Return what is missing for every stimulus to have as many used votes as were planned."""
    cells = {number: _cells(trials) for number, trials in lists.items()}
    planned: Counter[Cell] = Counter(cell for some in cells.values() for cell in some)
    used: Counter[Cell] = Counter()
    sessions: Counter[int] = Counter()
    whole: Counter[int] = Counter()
    for one in judged:
        number = one.visit.list
        if not one.decision.use or number is None:
            continue
        sessions[number] += 1
        if len(one.ratings) == len(cells[number]) and all(_is_vote(row) for row in one.ratings):
            whole[number] += 1
        else:
            used.update(_votes(one.ratings))
    for number, times in whole.items():
        for cell in cells[number]:
            used[cell] += times
    wanted = {cell: count - used[cell] for cell, count in planned.items() if used[cell] < count}
    if not wanted:
        return Shortfall(planned, used, sessions, {})
    # A plan is made for each list to be answered once. Where some have been answered more often, fewer may do.
    plain = _again(cells, wanted, sessions, begin=[number for number in cells if not sessions[number]])
    if max(sessions.values(), default=0) <= 1:
        return Shortfall(planned, used, sessions, plain)
    other = _again(cells, wanted, sessions)
    return Shortfall(planned, used, sessions, min(plain, other, key=lambda way: sum(way.values())))


def _cells(trials: Sequence[Trial]) -> list[Cell]:
    """Return what a list gets votes on: each rated stimulus of a trial by each question, checks not among them."""
    return [
        (slot.stimulus, asked.question)
        for trial in trials
        for slot in trial.slots
        if slot.rated and slot.role not in CHECK_ROLES
        for asked in trial.asked
        if asked.purpose == "ask"
    ]


def _is_vote(row: Rating) -> bool:
    return row.use and row.value is not None and row.kind == "score"


def _votes(ratings: Iterable[Rating]) -> Iterator[Cell]:
    """Yield the used votes of a session. A comparison is one on each of the two; ticks are one answer together."""
    found: dict[tuple[int, str, Cell], None] = {}
    for row in ratings:
        if row.use and row.value is not None:
            found.setdefault((row.position, row.slot, (row.stimulus, row.question)))
            if row.kind in _COMPARISONS and row.other_stimulus is not None:
                found.setdefault((row.position, "", (row.other_stimulus, row.question)))
    return (cell for _, _, cell in found)


def _again(
    cells: Mapping[int, Sequence[Cell]],
    wanted: Mapping[Cell, int],
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
