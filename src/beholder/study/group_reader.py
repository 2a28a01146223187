"""Each group of participants read as a study of its own, so that what is wrong is told where its level stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from beholder.errors import Problem
from beholder.study.between import Levels, groups_in, named
from beholder.study.document import Place
from beholder.study.reader import Reader, dotted

_BETWEEN: Place = ("design", "between")


class GroupReader(Reader):
    """Notes the problems of one group: those of a level at its place, others with the name of the group.

    What was told about the whole study is not told again.
    """

    def __init__(self, whole: Reader, levels: Levels, stands: Mapping[Place, Place]) -> None:
        super().__init__(whole.document)
        self.found, self._whole, self._stands, self._group = [], whole, stands, named(levels)
        self.refused, self.dropped = set(whole.refused), set(whole.dropped)

    def note(self, place: Place, what: str, allowed: str = "", fix: str = "") -> None:
        for part, moved in self._stands.items():
            if place[: len(part)] == part:
                self._tell(moved + place[len(part) :], what, allowed, fix)
                return
        subject = f"{dotted(place)} {what}" if place else what
        told = (self.document.line(place), Problem(self.document.where(place), subject, allowed, fix))
        if told not in self._whole.found:
            self._tell(place, f"{what}, in the group {self._group}", allowed, fix)

    def _tell(self, place: Place, what: str, allowed: str, fix: str) -> None:
        if place not in self._whole.refused:
            super().note(place, what, allowed, fix)


def group_data(data: Mapping[str, Any]) -> Iterator[tuple[Levels, dict[str, Any], dict[Place, Place]]]:
    """Yield each group with the study as it was read for them, and where the keys that are theirs stand."""
    between = data["design"]["between"]
    for levels in groups_in(between):
        theirs, stands = {**data, "design": {**data["design"], "between": {}}}, dict[Place, Place]()
        for factor, name in levels.items():
            level, place = between[factor][name] or {}, (*_BETWEEN, factor, name)
            for key in ("options", "playback"):
                changed = level.get(key) or {}
                theirs[key] = {**(theirs.get(key) or {}), **changed}
                stands |= {(key, option): (*place, key, option) for option in changed}
            for key, of in (("questions", "id"), ("conditions", "name")):
                if level.get(key) is not None:
                    kept, moved = _chosen(theirs.get(key) or [], level[key], of)
                    theirs[key] = kept
                    stands |= {(key, n): (key, at) for n, at in enumerate(moved)}
            if level.get("instructions") is not None:
                theirs["texts"] = {**(theirs.get("texts") or {}), "instructions": level["instructions"]}
                stands[("texts", "instructions")] = (*place, "instructions")
        yield levels, theirs, stands


def _chosen(items: list[Any], names: list[str], of: str) -> tuple[list[Any], list[int]]:
    """Return the items of these names, and their places: questions as they are named, conditions as they are listed."""
    by_name = {item.get(of) if isinstance(item, Mapping) else item: at for at, item in enumerate(items)}
    places = [by_name[name] for name in names if name in by_name]
    places = sorted(places) if of == "name" else places
    return [items[at] for at in places], places
