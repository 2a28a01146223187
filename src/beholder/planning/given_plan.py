"""A plan that the researcher gives as a table of list, position, slot and stimulus.

The table is read into trials, or every wrong line is reported; the trials are checked against the method, and composed
as they are, with colours and the method's own draws by the seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import NamedTuple

import numpy as np

from beholder.errors import PlanError, Problem, did_you_mean
from beholder.formats import first_names, plain_count
from beholder.methods.contract import Method, Trial, Unit, Units
from beholder.planning.check_counts import CheckCounts, count_checks
from beholder.planning.feasibility import locate, method_problems
from beholder.planning.slots import PALETTE, arrange, draw_colours
from beholder.planning.training import training_problems
from beholder.stimuli.catalogue import Catalogue
from beholder.study.csv_files import CsvLine, plain_text, read_lines
from beholder.study.design import Design
from beholder.study.model import Study

COLUMNS = ("list", "position", "slot", "stimulus")

_NUMBERS = COLUMNS[:3]

_SHOWN = 5
"""Numbers that a message lists."""


class GivenTrial(NamedTuple):
    """One trial as given: its first line in the file, its stimuli in their slots, and its questions."""

    where: str
    list: int
    position: int
    stimuli: tuple[str, ...]
    asks: tuple[str, ...]

    @property
    def place(self) -> str:
        """The trial as messages name it."""
        return f"list {self.list}, position {self.position}"


class GivenPlan(NamedTuple):
    """A given plan: its units, its trials by list, and the checks of each list."""

    units: Units
    pages: list[list[GivenTrial]]
    checks: CheckCounts


_MOST_PROBLEMS = 20
"""Problems that are listed one by one: a file may have a hundred thousand lines with the same mistake."""

_ALLOCATION_KEYS = tuple(key for key in Design.model_fields if key not in ("plan", "breaks", "seed"))
"""Keys of the design about allocation."""


def read_given(study: Study, catalogue: Catalogue, method: Method) -> GivenPlan:
    """Return the given plan of a study, or raise PlanError with all problems."""
    units = method.units(study, catalogue)
    general = [_unused_key(study, key) for key in _ALLOCATION_KEYS if study.is_written(f"design.{key}")]
    general += [locate(study, problem) for problem in method_problems(study, catalogue, method)]
    general += training_problems(study, catalogue, method)
    problems: list[Problem] = []
    pages = read_pages(study, catalogue, units, problems)
    check = GivenPlanCheck(units, catalogue, method.name)
    problems.extend(check.problems(pages))
    if problems or general:
        more = len(problems) - _MOST_PROBLEMS
        rest = [Problem(str(study.design.plan), f"has {more} more problems")] if more > 0 else []
        raise PlanError((*general, *problems[:_MOST_PROBLEMS], *rest))
    checks = count_checks(study, catalogue, method, units, min(len(one) for one in pages))
    if checks.problems:
        raise PlanError(checks.problems)
    return GivenPlan(check.shown(pages), pages, checks)


def _unused_key(study: Study, key: str) -> Problem:
    what = f"is written beside design.plan, and {study.design.plan} says all of that"
    return study.problem(f"design.{key}", what, "plan, breaks and seed", "Leave it out, or leave out design.plan.")


def compose_given(study: Study, catalogue: Catalogue, method: Method, given: GivenPlan) -> list[list[Trial]]:
    """Return the trials of every list, as given."""
    # The random streams of an allocated plan: given back unchanged, it has the same colours and draws.
    colour_rng, compose_rng = (np.random.default_rng([*study.seeds, stream]) for stream in (2, 3))
    check = GivenPlanCheck(method.units(study, catalogue), catalogue, method.name)
    width = max(len(page.stimuli) for pages in given.pages for page in pages)
    colours = iter(draw_colours(sum(map(len, given.pages)), width, colour_rng).tolist())
    lists = []
    for pages in given.pages:
        trials = []
        for page in pages:
            unit = check.unit(page)
            composed = method.compose(study, unit, catalogue, compose_rng)
            order = _order(unit.stimuli, page, composed)
            trials.append(arrange(composed, f"trial:{page.position}", order, next(colours)))
        lists.append(trials)
    return lists


def _order(stimuli: Sequence[str], page: GivenTrial, composed: Trial) -> list[int]:
    """Return the order of the stimuli without a labelled place."""
    free = sum(slot.label is None for slot in composed.slots)
    if free != len(stimuli):
        return list(range(free))  # others have a labelled place
    return [stimuli.index(stimulus) for stimulus in page.stimuli]


def given_sha256(study: Study) -> str:
    """Return the hash of the given plan's file: a changed file is another plan. Empty if there is no such file."""
    path = study.folder / str(study.design.plan)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


# Reading the table


class _Cell(NamedTuple):
    where: str
    stimulus: str
    asks: str


_CellsByPlace = Mapping[int, Mapping[int, Mapping[int, _Cell]]]
"""Cells by list, position and slot."""


def read_pages(study: Study, catalogue: Catalogue, units: Units, problems: list[Problem]) -> list[list[GivenTrial]]:
    """Return the trials of each list of the given plan, in order; add what is wrong to `problems`.

    A stimulus is named by its id or its file. If each question has a trial of its own, a column names it.
    """
    name = study.design.plan
    assert name is not None
    columns = (*COLUMNS, *(("question",) if units.asks else ()))
    before = len(problems)
    lines = read_lines(study.folder, name, columns, problems)
    if len(problems) == before and not lines:
        problems.append(Problem(name, "has no lines below the first", "one line for each stimulus of each trial"))
    cells = _cells_by_place(lines, catalogue, units, problems)
    if len(problems) > before:
        return []
    problems.extend(_gaps(name, cells))
    if len(problems) > before:
        return []
    return [[_page(one, two, pages[two]) for two in sorted(pages)] for one, pages in sorted(cells.items())]


def _cells_by_place(
    lines: Sequence[CsvLine], catalogue: Catalogue, units: Units, problems: list[Problem]
) -> _CellsByPlace:
    names = {**{plain_text(stimulus.file): stimulus.id for stimulus in catalogue.by_cell.values()}}
    names |= {stimulus.id: stimulus.id for stimulus in catalogue.stimuli}
    ids = [stimulus.id for stimulus in catalogue.by_cell.values()]
    asks = [join_questions(one) for one in units.asks]
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
    problems.extend(_unknown(unknown, {"stimulus": ids, "question": asks}))
    return placed


def _page(number: int, position: int, slots: Mapping[int, _Cell]) -> GivenTrial:
    cells = [slots[slot] for slot in sorted(slots)]
    asks = tuple(cells[0].asks.split()) if cells[0].asks else ()
    return GivenTrial(cells[0].where, number, position, tuple(cell.stimulus for cell in cells), asks)


def join_questions(asks: Sequence[str]) -> str:
    """Return the questions of a trial as one cell of the table."""
    return " ".join(asks)


def _whole(cell: str) -> int | None:
    number = int(cell) if cell.isascii() and cell.isdecimal() and len(cell) < 9 else 0
    return number if number >= 1 else None


def _unknown(
    places_of: Mapping[tuple[str, str], Sequence[str]], allowed_names: Mapping[str, Sequence[str]]
) -> Iterator[Problem]:
    """Yield each unknown name once, with the number of lines."""
    for (column, word), places in places_of.items():
        again = f", as on {len(places) - 1} more lines" if len(places) > 2 else ", as on one more" * (len(places) == 2)
        if not word:
            yield Problem(places[0], f"{column} is empty{again}", first_names(allowed_names[column], _SHOWN))
            continue
        near = did_you_mean(word, allowed_names[column])
        article = "no stimulus" if column == "stimulus" else "asked in no trial of its own"
        allowed = "" if near else first_names(allowed_names[column], _SHOWN)
        yield Problem(places[0], f"{column} is {word}, which is {article}{again}", allowed, near)


def _gaps(name: str, placed: _CellsByPlace) -> Iterator[Problem]:
    """Yield missing numbers: lists, positions and slots are counted from 1."""
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
            if len(questions := {cell.asks for cell in slots.values()}) > 1:
                where = next(iter(slots.values())).where
                names = first_names(sorted(questions), _SHOWN)
                what = f"list {one}, position {two} has {len(questions)} questions: {names}"
                yield Problem(where, what, "one question in a trial")


def _missing(numbers: Collection[int]) -> str:
    """Return the missing numbers below the largest."""
    left_out, missing = (str(one) for one in count(1) if one not in numbers), max(numbers, default=0) - len(numbers)
    # The largest may be anything that somebody typed.
    return first_names(list(islice(left_out, min(missing, _SHOWN))), _SHOWN, missing)


def _line(where: str) -> str:
    return where.rpartition(":")[2]


# Checking it against the method

_FEWEST = 2
"""Fewest stimuli of a trial with several slots."""


class GivenPlanCheck:
    """Checks given trials against what a method can show."""

    def __init__(self, units: Units, catalogue: Catalogue, method: str) -> None:
        self._units, self._catalogue, self._method = units, catalogue, method
        self._pairs = {frozenset(unit.stimuli): unit for unit in units.items} if units.kind == "pair" else {}
        companions = [stimulus for stimuli in units.companions.values() for stimulus in stimuli]
        self._stimuli = {*companions, *(stimulus for unit in units.items for stimulus in unit.stimuli)}
        self._rows: Mapping[str, Unit] = {unit.content: unit for unit in units.items}

    def unit(self, page: GivenTrial) -> Unit:
        """Return the unit of a trial, its stimuli in the order of the method."""
        content = self._content(page.stimuli[0])
        if self._units.kind == "pair":
            return Unit(content, self._pairs[frozenset(page.stimuli)].stimuli, page.asks)
        if self._units.kind == "content":
            stimuli = [stimulus for stimulus in self._rows[content].stimuli if stimulus in page.stimuli]
            return Unit(content, tuple(stimuli), page.asks)
        return Unit(content, page.stimuli, page.asks)

    def shown(self, lists: Sequence[Sequence[GivenTrial]]) -> Units:
        """Return the units of the plan: the pairs that it holds, or everything that could be allocated."""
        if self._units.kind != "pair":
            return self._units
        held = {frozenset(page.stimuli) for pages in lists for page in pages}
        items = tuple(unit for unit in self._units.items if frozenset(unit.stimuli) in held)
        return Units("pair", items, self._units.per_trial, self._units.shuffle, asks=self._units.asks)

    def problems(self, lists: Sequence[Sequence[GivenTrial]]) -> Iterator[Problem]:
        """Yield every trial that cannot be shown, and every list with a repetition or without a companion."""
        for pages in lists:
            page_problems = [problem for page in pages for problem in self._page_problems(page)]
            yield from page_problems
            if not page_problems:
                yield from self._twice(pages)
                yield from self._alone(pages)

    def _content(self, stimulus: str) -> str:
        return self._catalogue.by_id[stimulus].content

    def _page_problems(self, page: GivenTrial) -> Iterator[Problem]:
        contents = list(dict.fromkeys(self._content(stimulus) for stimulus in page.stimuli))
        if len(contents) > 1:
            what = f"{page.place} has stimuli of {len(contents)} contents: {', '.join(contents)}"
            yield Problem(page.where, what, "stimuli of one content in a trial")
            return
        unknown = [stimulus for stimulus in dict.fromkeys(page.stimuli) if stimulus not in self._stimuli]
        for stimulus in unknown:
            yield self._unknown_stimulus(page, stimulus)
        if unknown:
            return
        slots = len(page.stimuli)
        if self._units.kind == "stimulus" and slots != 1:
            what = f"{page.place} has {slots} slots, and {self._method} shows one stimulus at a time"
            yield Problem(page.where, what, "slot 1 alone", "Give each stimulus a position of its own.")
        elif self._units.kind == "pair":
            yield from self._pair_problems(page)
        elif self._units.kind == "content":
            yield from self._board_problems(page)

    def _unknown_stimulus(self, page: GivenTrial, stimulus: str) -> Problem:
        role = self._catalogue.by_id[stimulus].role
        if role in ("test", "reference", "anchor"):
            what = f"{page.place} has {stimulus}, with the role {role}, which {self._method} does not ask about"
            return Problem(
                page.where, what, "stimuli that are rated", "Leave the line out: the method adds what it needs."
            )
        what = f"{page.place} has {stimulus}, with the role {role}, which the rules of the study place"
        return Problem(page.where, what, "stimuli that are rated", "Leave the line out.")

    def _pair_problems(self, page: GivenTrial) -> Iterator[Problem]:
        if len(page.stimuli) != 2:
            slots = plain_count(len(page.stimuli), "slot")
            yield Problem(
                page.where, f"{page.place} has {slots}, and {self._method} compares two stimuli", "slots 1 and 2"
            )
            return
        one, two = page.stimuli
        unit = self._pairs.get(frozenset(page.stimuli))
        if unit is None:
            others = [other for pair in self._pairs for other in pair if one in pair and other != one]
            what = f"{page.place} compares {one} with {two}, which {self._method} does not"
            allowed = f"{one} with {' or '.join(sorted(others))}" if others else ""
            yield Problem(page.where, what, allowed)
        elif self._units.shuffle == "none" and unit.stimuli != page.stimuli:
            what = f"{page.place} has {one} before {two}, and {self._method} shows them the other way round"
            yield Problem(page.where, what, f"{two} in slot 1", "Swap the two slots.")

    def _board_problems(self, page: GivenTrial) -> Iterator[Problem]:
        slots, fewest = len(page.stimuli), min(_FEWEST, self._units.per_trial)
        if not fewest <= slots <= len(PALETTE):
            why = f"{self._method} compares at least {fewest}"
            if slots > len(PALETTE):
                why = f"there are {len(PALETTE)} colours to tell slots apart"
            what = f"{page.place} has {plain_count(slots, 'slot')}, and {why}"
            yield Problem(page.where, what, f"{fewest} to {len(PALETTE)} slots")
        conditions = {self._catalogue.by_id[stimulus].condition for stimulus in page.stimuli}
        for condition in self._units.always:
            if condition not in conditions:
                what = f"{page.place} lacks {condition}, which {self._method} has in every trial"
                yield Problem(
                    page.where, what, "", f"Add a line with the {condition} of {self._content(page.stimuli[0])}."
                )

    def _twice(self, pages: Sequence[GivenTrial]) -> Iterator[Problem]:
        """Yield what comes twice in a list; a stimulus may come in several pairs, and for several questions."""
        first: dict[tuple[object, ...], GivenTrial] = {}
        for page in pages:
            shown = [frozenset(page.stimuli)] if self._units.kind == "pair" else page.stimuli
            for one in shown:
                before = first.setdefault((one, page.asks), page)
                if before is page and page.stimuli.count(str(one)) < 2:
                    continue
                name = one if isinstance(one, str) else " with ".join(page.stimuli)
                again = "twice" if before is page else f"again, after position {before.position}"
                what = f"{page.place} has {name} {again}"
                yield Problem(page.where, what, "nothing twice in a list", "Take another stimulus, or another list.")
                break

    def _alone(self, pages: Sequence[GivenTrial]) -> Iterator[Problem]:
        """Yield stimuli without their companion in the list, or too close to it."""
        places = {page.stimuli[0]: page for page in pages}
        apart = self._units.apart
        for stimulus, page in places.items():
            for other in self._units.companions.get(stimulus, ()):
                if other not in places:
                    what = f"{page.place} has {stimulus}, and {other}, which goes with it, is not in the list"
                    yield Problem(page.where, what, "", f"Give {other} a position in list {page.list}.")
                elif (distance := abs(places[other].position - page.position)) < apart:
                    distance_text = plain_count(distance, "trial")
                    what = f"{page.place} has {stimulus}, {distance_text} away from {other}, which goes with it"
                    yield Problem(page.where, what, f"{apart} trials or more")
