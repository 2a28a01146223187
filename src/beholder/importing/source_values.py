"""A value in a document of a source: what it holds, where it stands, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from beholder.importing.provenance import Fate, Leaf, Provenance
from beholder.study.yaml import ListNode, MapNode, Node, Scalar, core_value


class SourceValue:
    """A value with its place. What is said of it is said of every leaf in it."""

    __slots__ = ("_lines", "_provenance", "data", "file", "place")

    def __init__(self, data: Any, file: str, place: str, provenance: Provenance, lines: Mapping[str, int]) -> None:
        self.data, self.file, self.place = data, file, place
        self._provenance, self._lines = provenance, lines

    @property
    def where(self) -> str:
        """The place as messages name it: with the line where it is known, else with the key."""
        line = self._line()
        return f"{self.file}:{line}" if line else f"{self.file} {self.place}".strip()

    @property
    def is_map(self) -> bool:
        return isinstance(self.data, dict)

    @property
    def is_list(self) -> bool:
        return isinstance(self.data, list)

    def __contains__(self, key: object) -> bool:
        return isinstance(self.data, dict) and key in self.data

    def get(self, key: str) -> SourceValue | None:
        """Return the value of a key; None where there is none."""
        return self._below(key, self.data[key]) if key in self else None

    def items(self) -> Iterator[tuple[str, SourceValue]]:
        """Yield the keys and values of a map; nothing of anything else."""
        for key, value in self.data.items() if isinstance(self.data, dict) else ():
            yield key, self._below(key, value)

    def __iter__(self) -> Iterator[SourceValue]:
        """Yield the items of a list; nothing of anything else."""
        for number, value in enumerate(self.data if isinstance(self.data, list) else ()):
            yield self._below(str(number), value)

    def text(self, default: str = "") -> str:
        """Return a single value as text; the default of nothing, a list or a map."""
        if self.data is None or isinstance(self.data, dict | list):
            return default
        if isinstance(self.data, bool):
            return "true" if self.data else "false"
        return str(self.data)

    def number(self) -> float | None:
        """Return a number, also one that is written as text; None of anything else."""
        if isinstance(self.data, bool) or not isinstance(self.data, int | float | str):
            return None
        try:
            value = float(self.data)
        except (ValueError, OverflowError):
            return None
        return value if abs(value) < 1e15 else None

    def flag(self, default: bool = False) -> bool:
        """Return true or false, also as text; the default of anything else."""
        word = self.text().strip().lower()
        return word == "true" if word in ("true", "false") else default

    # What became of it

    def mapped(self, to: str) -> SourceValue:
        """Say what it became."""
        return self._settle("mapped", to)

    def assumed(self, default: str, why: str) -> SourceValue:
        """Say which default stands for it, and why."""
        return self._settle("assumed", why, default)

    def unsupported(self, why: str) -> SourceValue:
        """Say that it is kept as it is, and why it is not imported."""
        return self._settle("unsupported", why)

    def broken(self, what: str, done: str) -> SourceValue:
        """Say what is wrong with it, and what was done about it."""
        return self._settle("broken", what, done)

    def rest(self, why: str) -> SourceValue:
        """Say that what nothing was said of yet, in it, is not imported, and why."""
        for leaf, _ in self._leaves():
            if not self._provenance.is_settled(leaf):
                self._provenance.settle(leaf, "unsupported", why)
        return self

    def _settle(self, fate: Fate, words: str, done: str = "") -> SourceValue:
        for leaf, _ in self._leaves():
            self._provenance.settle(leaf, fate, words, done)
        return self

    def register(self, *, is_kept: bool) -> None:
        """Register every leaf in it; `is_kept` tells whether its values may be repeated in the report."""
        for leaf, value in self._leaves():
            self._provenance.register(leaf, value, is_kept=is_kept)

    def _leaves(self) -> Iterator[tuple[Leaf, Any]]:
        stack = [self]
        while stack:
            one = stack.pop()
            if isinstance(one.data, dict) and one.data:
                stack.extend(reversed([value for _, value in one.items()]))
            elif isinstance(one.data, list) and one.data:
                stack.extend(reversed(list(one)))
            else:
                yield Leaf(one.file, "key", one.place, one._line()), one.data

    def _below(self, key: str, value: Any) -> SourceValue:
        place = f"{self.place}.{key}" if self.place else key
        return SourceValue(value, self.file, place, self._provenance, self._lines)

    def _line(self) -> int:
        return self._lines.get(self.place, 0)


def read_tree(root: Node | None) -> tuple[Any, dict[str, int]]:
    """Return the values of a YAML tree, and the line of each of their places."""
    lines: dict[str, int] = {}

    def read(node: Node, place: str, line: int) -> Any:
        lines[place] = line
        below = f"{place}." if place else ""
        if isinstance(node, MapNode):
            return {key: read(part, f"{below}{key}", at) for key, (at, part) in node.entries.items()}
        if isinstance(node, ListNode):
            return [read(part, f"{below}{number}", part.line) for number, part in enumerate(node.items)]
        assert isinstance(node, Scalar)
        return core_value(node.text) if node.plain else node.text

    return (None if root is None else read(root, "", root.line)), lines
