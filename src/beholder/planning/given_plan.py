"""Whether a method can show the pages of a given plan: told page by page, with the line where each begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from beholder.errors import Problem
from beholder.methods.contract import Unit, Units
from beholder.plan.dealing.slots import PALETTE
from beholder.plan.given.pages import Page
from beholder.plan.ground.grid import count
from beholder.stimuli.catalogue import Catalogue

_FEWEST = 2
"""Stimuli of a page on which they stand beside each other."""


class Fitting:
    """Holds pages against what a method deals."""

    def __init__(self, units: Units, catalogue: Catalogue, method: str) -> None:
        self._units, self._catalogue, self._method = units, catalogue, method
        self._pairs = {frozenset(unit.stimuli): unit for unit in units.items} if units.kind == "pair" else {}
        beside = [stimulus for stimuli in units.companions.values() for stimulus in stimuli]
        self._dealt = {*beside, *(stimulus for unit in units.items for stimulus in unit.stimuli)}
        self._rows: Mapping[str, Unit] = {unit.content: unit for unit in units.items}

    def unit(self, page: Page) -> Unit:
        """Return what a page shows, its stimuli in the order of the method."""
        content = self._content(page.stimuli[0])
        if self._units.kind == "pair":
            return Unit(content, self._pairs[frozenset(page.stimuli)].stimuli, page.asks)
        if self._units.kind == "content":
            there = [stimulus for stimulus in self._rows[content].stimuli if stimulus in page.stimuli]
            return Unit(content, tuple(there), page.asks)
        return Unit(content, page.stimuli, page.asks)

    def shown(self, lists: Sequence[Sequence[Page]]) -> Units:
        """Return what the plan is about: of pairs those that it holds, else everything that could be dealt."""
        if self._units.kind != "pair":
            return self._units
        held = {frozenset(page.stimuli) for pages in lists for page in pages}
        items = tuple(unit for unit in self._units.items if frozenset(unit.stimuli) in held)
        return Units("pair", items, self._units.per_trial, self._units.shuffle, asks=self._units.asks)

    def problems(self, lists: Sequence[Sequence[Page]]) -> Iterator[Problem]:
        """Yield every page that cannot be shown, and every list that shows something twice or without its reference."""
        for pages in lists:
            wrong = [problem for page in pages for problem in self._wrong_page(page)]
            yield from wrong
            if not wrong:
                yield from self._twice(pages)
                yield from self._alone(pages)

    def _content(self, stimulus: str) -> str:
        return self._catalogue.by_id[stimulus].content

    def _wrong_page(self, page: Page) -> Iterator[Problem]:
        contents = list(dict.fromkeys(self._content(stimulus) for stimulus in page.stimuli))
        if len(contents) > 1:
            what = f"{page.told} has stimuli of {len(contents)} contents: {', '.join(contents)}"
            yield Problem(page.where, what, "stimuli of one content in a trial")
            return
        strangers = [stimulus for stimulus in dict.fromkeys(page.stimuli) if stimulus not in self._dealt]
        for stimulus in strangers:
            yield self._stranger(page, stimulus)
        if strangers:
            return
        slots = len(page.stimuli)
        if self._units.kind == "stimulus" and slots != 1:
            what = f"{page.told} has {slots} slots, and {self._method} shows one stimulus at a time"
            yield Problem(page.where, what, "slot 1 alone", "Give each stimulus a position of its own.")
        elif self._units.kind == "pair":
            yield from self._wrong_pair(page)
        elif self._units.kind == "content":
            yield from self._wrong_board(page)

    def _stranger(self, page: Page, stimulus: str) -> Problem:
        role = self._catalogue.by_id[stimulus].role
        if role in ("test", "reference", "anchor"):
            what = f"{page.told} has {stimulus}, with the role {role}, which {self._method} does not ask about"
            return Problem(
                page.where, what, "stimuli that are rated", "Leave the line out: the method adds what it needs."
            )
        what = f"{page.told} has {stimulus}, with the role {role}, which the rules of the study place"
        return Problem(page.where, what, "stimuli that are rated", "Leave the line out.")

    def _wrong_pair(self, page: Page) -> Iterator[Problem]:
        if len(page.stimuli) != 2:
            slots = count(len(page.stimuli), "slot", "slots")
            yield Problem(
                page.where, f"{page.told} has {slots}, and {self._method} compares two stimuli", "slots 1 and 2"
            )
            return
        one, two = page.stimuli
        unit = self._pairs.get(frozenset(page.stimuli))
        if unit is None:
            others = [other for pair in self._pairs for other in pair if one in pair and other != one]
            what = f"{page.told} compares {one} with {two}, which {self._method} does not"
            allowed = f"{one} with {' or '.join(sorted(others))}" if others else ""
            yield Problem(page.where, what, allowed)
        elif self._units.shuffle == "none" and unit.stimuli != page.stimuli:
            what = f"{page.told} has {one} before {two}, and {self._method} shows them the other way round"
            yield Problem(page.where, what, f"{two} in slot 1", "Swap the two slots.")

    def _wrong_board(self, page: Page) -> Iterator[Problem]:
        slots, fewest = len(page.stimuli), min(_FEWEST, self._units.per_trial)
        if not fewest <= slots <= len(PALETTE):
            why = f"{self._method} compares at least {fewest}"
            if slots > len(PALETTE):
                why = f"there are {len(PALETTE)} colours to tell slots apart"
            what = f"{page.told} has {count(slots, 'slot', 'slots')}, and {why}"
            yield Problem(page.where, what, f"{fewest} to {len(PALETTE)} slots")
        there = {self._catalogue.by_id[stimulus].condition for stimulus in page.stimuli}
        for condition in self._units.always:
            if condition not in there:
                what = f"{page.told} lacks {condition}, which {self._method} has in every trial"
                yield Problem(
                    page.where, what, "", f"Add a line with the {condition} of {self._content(page.stimuli[0])}."
                )

    def _twice(self, pages: Sequence[Page]) -> Iterator[Problem]:
        """Yield what comes twice in a list; a stimulus may come in several pairs, and for several questions."""
        first: dict[tuple[object, ...], Page] = {}
        for page in pages:
            shown = [frozenset(page.stimuli)] if self._units.kind == "pair" else page.stimuli
            for one in shown:
                before = first.setdefault((one, page.asks), page)
                if before is page and page.stimuli.count(str(one)) < 2:
                    continue
                name = one if isinstance(one, str) else " with ".join(page.stimuli)
                again = "twice" if before is page else f"again, after position {before.position}"
                what = f"{page.told} has {name} {again}"
                yield Problem(page.where, what, "nothing twice in a list", "Take another stimulus, or another list.")
                break

    def _alone(self, pages: Sequence[Page]) -> Iterator[Problem]:
        """Yield what stands in a list without what goes with it, or too near to it."""
        places = {page.stimuli[0]: page for page in pages}
        apart = self._units.apart
        for stimulus, page in places.items():
            for other in self._units.companions.get(stimulus, ()):
                if other not in places:
                    what = f"{page.told} has {stimulus}, and {other}, which goes with it, is not in the list"
                    yield Problem(page.where, what, "", f"Give {other} a position in list {page.list}.")
                elif (far := abs(places[other].position - page.position)) < apart:
                    away = count(far, "trial", "trials")
                    what = f"{page.told} has {stimulus}, {away} away from {other}, which goes with it"
                    yield Problem(page.where, what, f"{apart} trials or more")
