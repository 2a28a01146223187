"""Where everything in a source went: each key, column, row and file is mapped, assumed, unsupported or broken, once.

A leaf is the smallest part of a source that is accounted for: a value in a document, a column or a row of a table, a
file. A reader registers every leaf of what it opens before an importer sees any of it, so that what an importer
overlooks is told as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal, NamedTuple

from beholder.errors import Problem
from beholder.types import Json

Fate = Literal["mapped", "assumed", "unsupported", "broken"]
FATES: tuple[Fate, ...] = ("mapped", "assumed", "unsupported", "broken")
"""From harmless to worst: what two parts of an importer say of one leaf ends as the worse of the two."""
LeafKind = Literal["file", "key", "column", "row"]
UNREAD = "not known to this importer"
_RANK = {fate: rank for rank, fate in enumerate(FATES)}


class Leaf(NamedTuple):
    """The smallest part of a source that is accounted for."""

    file: str
    """Its path in the source, with `/`."""
    kind: LeafKind
    place: str = ""
    """The dotted path of a key, as `pages.2.name`; the name of a column; the line of a row; empty of a file."""
    line: int = 0
    """Where it is in the file, from 1; 0 where that is not known."""

    @property
    def where(self) -> str:
        """The place as messages name it."""
        return f"{self.file}:{self.line}" if self.line else self.file


class Settlement(NamedTuple):
    """What became of a leaf, and what is said of it."""

    fate: Fate
    words: str
    """Of what is mapped: to what. Of what is assumed, unsupported or broken: why, or what is wrong."""
    done: str = ""
    """What was done about something broken, or which default stands for something assumed."""


class Assumption(NamedTuple):
    """A key of the study that the source says nothing about, what stands there, and why."""

    key: str
    default: str
    why: str


@dataclass
class Provenance:
    """The account of a source. It is filled while the source is read, and written as import-report.json."""

    _leaves: dict[Leaf, Settlement | None] = field(default_factory=dict)
    _values: dict[Leaf, Json] = field(default_factory=dict)
    assumptions: list[Assumption] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """What a researcher should know about the source, beside what became of it."""
    notes: dict[str, int] = field(default_factory=dict)
    """Doubts that are flagged on single ratings, and on how many."""

    def register(self, leaf: Leaf, value: Json = None, *, is_kept: bool = False) -> None:
        """Add a leaf that nobody has looked at yet; its value is told where it is unsupported, if it may be."""
        self._leaves.setdefault(leaf, None)
        if is_kept:
            self._values[leaf] = value

    def settle(self, leaf: Leaf, fate: Fate, words: str, done: str = "") -> None:
        """Say what becomes of a leaf. Of two that are said of one, the worse stays."""
        before = self._leaves.get(leaf)
        if before is None or _RANK[fate] > _RANK[before.fate]:
            self._leaves[leaf] = Settlement(fate, words, done)

    def is_settled(self, leaf: Leaf) -> bool:
        """Return whether something was said of a leaf."""
        return self._leaves.get(leaf) is not None

    def assume(self, key: str, default: object, why: str) -> None:
        """Say which default stands for something that the source does not hold."""
        one = Assumption(key, str(default), why)
        if one not in self.assumptions:
            self.assumptions.append(one)

    def warn(self, words: str) -> None:
        """Tell something about the source that a researcher should know, once."""
        if words not in self.warnings:
            self.warnings.append(words)

    def doubt(self, why: str, ratings: int = 1) -> None:
        """Count ratings that are flagged as uncertain for a reason."""
        self.notes[why] = self.notes.get(why, 0) + ratings

    def close(self) -> None:
        """Settle what no importer has looked at, as unsupported."""
        for leaf, settled in self._leaves.items():
            if settled is None:
                self._leaves[leaf] = Settlement("unsupported", UNREAD)

    def leaves(self) -> frozenset[Leaf]:
        """Return every leaf."""
        return frozenset(self._leaves)

    def of(self, fate: Fate) -> dict[Leaf, Settlement]:
        """Return the leaves with this fate, in the order of the source."""
        return {leaf: one for leaf, one in self._leaves.items() if one is not None and one.fate == fate}

    def unsupported_values(self) -> dict[str, Json]:
        """Return what is kept verbatim of unsupported keys, by file and place."""
        return {
            f"{leaf.file}#{leaf.place}": self._values[leaf] for leaf in self.of("unsupported") if leaf in self._values
        }

    def counts(self) -> dict[str, int]:
        """Return how many leaves have each fate."""
        counts: dict[str, int] = dict.fromkeys(FATES, 0)
        for one in self._leaves.values():
            if one is not None:
                counts[one.fate] += 1
        return counts

    def problems(self, fate: Fate) -> list[Problem]:
        """Return the leaves with a fate as problems, neighbouring rows with the same words as one."""
        return [
            Problem(entry["file"] + (f":{entry['line']}" if entry.get("line") else ""), _sentence(entry))
            for entry in self.entries(fate)
        ]

    def entries(self, fate: Fate) -> list[dict[str, Any]]:
        """Return the leaves with a fate as objects of JSON, neighbouring rows with the same words as one."""
        found = []
        for (leaf, one), last in _runs(self.of(fate).items()):
            entry: dict[str, Any] = {"file": leaf.file, leaf.kind: leaf.place} if leaf.place else {"file": leaf.file}
            if last is not leaf:
                entry[leaf.kind] = f"{leaf.place}-{last.place}"
            if leaf.line:
                entry["line"] = leaf.line
            entry[_SAID[fate]] = one.words
            if one.done:
                entry["default" if fate == "assumed" else "done"] = one.done
            if fate == "unsupported" and leaf in self._values:
                entry["value"] = self._values[leaf]
            found.append(entry)
        return found


_SAID = {"mapped": "to", "assumed": "why", "unsupported": "why", "broken": "what"}


def _sentence(entry: dict[str, Any]) -> str:
    place = next((str(entry[kind]) for kind in ("key", "column", "row") if kind in entry), "")
    words = next(str(entry[name]) for name in ("what", "why", "to") if name in entry)
    done = entry.get("done", "")
    return f"{place} {words}".strip() + (f"; {done}" if done else "")


def _runs(items: Iterable[tuple[Leaf, Settlement]]) -> Iterator[tuple[tuple[Leaf, Settlement], Leaf]]:
    """Yield each leaf with the last of the rows behind it that share its file and words; other leaves stand alone."""

    def key(item: tuple[Leaf, Settlement]) -> object:
        leaf, one = item
        return (leaf.file, one) if leaf.kind == "row" else leaf

    for _, group in groupby(items, key):
        run = list(group)
        yield run[0], run[-1][0]
