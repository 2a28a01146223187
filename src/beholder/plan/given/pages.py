"""The pages of a given plan: which stimuli, in which order, at which position of which list."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import NamedTuple

from beholder.errors import Problem, did_you_mean
from beholder.methods.contract import Units
from beholder.stimuli.catalogue import Catalogue
from beholder.study.cells import Line, plain, read_lines
from beholder.study.model import Study

COLUMNS = ("list", "position", "slot", "stimulus")
_NUMBERS = COLUMNS[:3]
_SHOWN = 5
"""Numbers that are listed; of more it is said how many there are."""


class Page(NamedTuple):
    """One trial as given: where it begins in the file, its stimuli in their slots, and what is asked."""

    where: str
    list: int
    position: int
    stimuli: tuple[str, ...]
    asks: tuple[str, ...]

    @property
    def told(self) -> str:
        """What the page is called in a message."""
        return f"list {self.list}, position {self.position}"


class _Cell(NamedTuple):
    where: str
    stimulus: str
    asks: str


def asked_together(asks: Sequence[str]) -> str:
    """Return the questions of a trial as one cell of the table."""
    return " ".join(asks)


def read_pages(study: Study, catalogue: Catalogue, units: Units, problems: list[Problem]) -> list[list[Page]]:
    """Return the pages of each list of the study's own plan, in order; what is wrong is added to `problems`.

    A stimulus goes by its id or its file. Where each question has a trial of its own, a column names it.
    """
    name = study.design.plan
    assert name is not None
    columns = (*COLUMNS, *(("question",) if units.asks else ()))
    before = len(problems)
    lines = read_lines(study.folder, name, columns, problems)
    if len(problems) == before and not lines:
        problems.append(Problem(name, "has no lines below the first", "one line for each stimulus of each trial"))
    placed = _place(lines, catalogue, units, problems)
    if len(problems) > before:
        return []
    problems.extend(_gaps(name, placed))
    if len(problems) > before:
        return []
    return [[_page(one, two, pages[two]) for two in sorted(pages)] for one, pages in sorted(placed.items())]


_Placed = Mapping[int, Mapping[int, Mapping[int, _Cell]]]
"""By list, position and slot."""


def _place(lines: Sequence[Line], catalogue: Catalogue, units: Units, problems: list[Problem]) -> _Placed:
    names = {**{plain(stimulus.file): stimulus.id for stimulus in catalogue.by_cell.values()}}
    names |= {stimulus.id: stimulus.id for stimulus in catalogue.stimuli}
    known = [stimulus.id for stimulus in catalogue.by_cell.values()]
    asks = [asked_together(one) for one in units.asks]
    placed: dict[int, dict[int, dict[int, _Cell]]] = {}
    unknown: dict[tuple[str, str], list[str]] = {}
    for where, cells in lines:
        numbers = [_whole(cells[column]) for column in _NUMBERS]
        for column, number in zip(_NUMBERS, numbers, strict=True):
            if number is None:
                problems.append(Problem(where, f"{column} is {cells[column] or 'empty'}", "whole numbers from 1"))
        stimulus, asked = names.get(cells["stimulus"]), cells.get("question", "")
        if stimulus is None:
            unknown.setdefault(("stimulus", cells["stimulus"]), []).append(where)
        if asks and asked not in asks:
            unknown.setdefault(("question", asked), []).append(where)
        if stimulus is None or None in numbers:
            continue
        one, two, three = (number for number in numbers if number is not None)
        slots = placed.setdefault(one, {}).setdefault(two, {})
        if three in slots:
            what = f"list {one}, position {two}, slot {three} is there already, on line {_line(slots[three].where)}"
            problems.append(Problem(where, what, "one line for each slot"))
        slots.setdefault(three, _Cell(where, stimulus, asked))
    problems.extend(_unknown(unknown, {"stimulus": known, "question": asks}))
    return placed


def _unknown(found: Mapping[tuple[str, str], Sequence[str]], known: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
    """Yield each name that is none, once, with how often it comes."""
    for (column, word), places in found.items():
        again = f", as on {len(places) - 1} more lines" if len(places) > 2 else ", as on one more" * (len(places) == 2)
        if not word:
            yield Problem(places[0], f"{column} is empty{again}", _some(known[column]))
            continue
        near = did_you_mean(word, known[column])
        article = "no stimulus" if column == "stimulus" else "asked in no trial of its own"
        allowed = "" if near else _some(known[column])
        yield Problem(places[0], f"{column} is {word}, which is {article}{again}", allowed, near)


def _gaps(name: str, placed: _Placed) -> Iterator[Problem]:
    """Yield numbers that are left out: lists, positions and slots are counted from 1."""
    if missing := _missing(placed):
        yield Problem(name, f"has lists up to {max(placed)}, without {missing}", "every number from 1")
    for one, pages in sorted(placed.items()):
        if missing := _missing(pages):
            where = next(iter(next(iter(pages.values())).values())).where
            what = f"list {one} has positions up to {max(pages)}, without {missing}"
            yield Problem(where, what, "every number from 1")
        for two, slots in sorted(pages.items()):
            if missing := _missing(slots):
                where = next(iter(slots.values())).where
                what = f"list {one}, position {two} has slots up to {max(slots)}, without {missing}"
                yield Problem(where, what, "every number from 1")
            if len(asked := {cell.asks for cell in slots.values()}) > 1:
                where = next(iter(slots.values())).where
                what = f"list {one}, position {two} has {len(asked)} questions: {_some(sorted(asked))}"
                yield Problem(where, what, "one question in a trial")


def _missing(numbers: Collection[int]) -> str:
    """Return the numbers below the largest that are not there."""
    left_out = (str(number) for number in count(1) if number not in numbers)
    return _some(list(islice(left_out, _SHOWN)), max(numbers, default=0) - len(numbers))


def _some(words: Sequence[str], number: int | None = None) -> str:
    """Return the first of so many words, and how many more there are."""
    whole = len(words) if number is None else number
    more = f" and {whole - _SHOWN} more" if whole > _SHOWN else ""
    return ", ".join(words[: min(whole, _SHOWN)]) + more


def _whole(cell: str) -> int | None:
    number = int(cell) if cell.isascii() and cell.isdecimal() and len(cell) < 9 else 0
    return number if number >= 1 else None


def _line(where: str) -> str:
    return where.rpartition(":")[2]


def _page(number: int, position: int, slots: Mapping[int, _Cell]) -> Page:
    cells = [slots[slot] for slot in sorted(slots)]
    asks = tuple(cells[0].asks.split()) if cells[0].asks else ()
    return Page(cells[0].where, number, position, tuple(cell.stimulus for cell in cells), asks)
