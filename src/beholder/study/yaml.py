"""YAML text as a tree that remembers lines, and the values of plain scalars by the core rules of YAML 1.2."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

from beholder.errors import Problem

MOST_VALUES = 100_000
"""A study with more values than this is a mistake, or an attack by aliases of aliases."""
MOST_LEVELS = 50

_PLAIN, _TEXT = "plain", "text"
_STRING = "tag:yaml.org,2002:str"
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", re.ASCII
)
_NULLS = ("", "~", "null", "Null", "NULL")
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_LONGEST_NUMBER = 300


@dataclass(frozen=True)
class Scalar:
    """One value. `plain` means that it was written without quotes."""

    text: str
    plain: bool
    line: int


@dataclass(frozen=True)
class Items:
    """A list."""

    items: tuple[Node, ...]
    line: int


@dataclass(frozen=True)
class Entries:
    """A map: from key to the line of the key and the value."""

    entries: dict[str, tuple[int, Node]]
    line: int


Node: TypeAlias = "Scalar | Items | Entries"


@dataclass(frozen=True)
class Tree:
    """What a text holds, and what is wrong with how it was written."""

    root: Node | None
    problems: tuple[tuple[int, Problem], ...] = ()


class UnreadableError(Exception):
    """A text of which no tree can be made."""

    def __init__(self, line: int, what: str, allowed: str = "", fix: str = "") -> None:
        self.line, self.what, self.allowed, self.fix = line, what, allowed, fix
        super().__init__(what)


def core_value(text: str) -> bool | int | float | str | None:
    """Return what a plain scalar means by the core schema of YAML 1.2 (clause 10.3.2)."""
    if text in _NULLS:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INT.fullmatch(text):
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if _FLOAT.fullmatch(text):
        lowered = text.lower()
        return float(lowered.replace(".", "") if lowered.endswith(("inf", "nan")) else lowered)
    return text


def parse(text: str, file: str) -> Tree:
    """Return the tree of a YAML text; raises `UnreadableError` where there is none."""
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UnreadableError(line, f"holds the character {error.character:#04x}", "printable text") from None
    except yaml.MarkedYAMLError as error:
        raise _explained(error, text) from None
    except (ValueError, OverflowError):
        raise UnreadableError(1, "holds an escape that is no character", r"escapes such as \n and \u00e9") from None
    if root is None:
        return Tree(None)
    builder = _Builder(file)
    return Tree(builder.build(root), tuple(builder.problems))


class _Loader(yaml.BaseLoader):
    """PyYAML's scanner and parser, with scalars left as they were written."""

    _level = 0
    _is_in_plain = False

    # PyYAML follows YAML 1.1, where a question mark ends a plain text inside {} and []; YAML 1.2 lets it stand.
    def scan_plain(self) -> Any:
        self._is_in_plain = True
        try:
            return super().scan_plain()
        finally:
            self._is_in_plain = False

    def peek(self, index: int = 0) -> Any:
        letter = super().peek(index)
        return "-" if letter == "?" and self._is_in_plain else letter

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else _TEXT
        return super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._level += 1
        if self._level > MOST_LEVELS:
            line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
            raise UnreadableError(line, f"is nested deeper than {MOST_LEVELS} levels", f"at most {MOST_LEVELS} levels")
        try:
            return super().compose_node(parent, index)
        finally:
            self._level -= 1


class _Builder:
    """Turns PyYAML's nodes into ours. An alias stays one shared node, so that nothing is expanded here."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[tuple[int, Problem]] = []
        self.done: dict[int, tuple[Node, int]] = {}
        self.open: set[int] = set()

    def build(self, root: yaml.Node) -> Node:
        node, size = self._node(root)
        if size > MOST_VALUES:
            raise UnreadableError(
                node.line, f"expands to more than {MOST_VALUES} values by its aliases", "aliases of small values"
            )
        return node

    def _node(self, node: yaml.Node) -> tuple[Node, int]:
        if id(node) in self.done:
            return self.done[id(node)]
        line = node.start_mark.line + 1
        if id(node) in self.open:
            raise UnreadableError(line, "holds an alias of a value that contains it", "aliases of finished values")
        if node.tag not in (_PLAIN, _TEXT, _STRING) and not _is_usual(node):
            self._report(line, f"has the tag {_short(node.tag)}", "plain values without tags", "Take the tag out.")
        self.open.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            result: tuple[Node, int] = self._scalar(node, line), 1
        elif isinstance(node, yaml.SequenceNode):
            parts = [self._node(part) for part in node.value]
            result = Items(tuple(part for part, _ in parts), line), 1 + sum(size for _, size in parts)
        else:
            result = self._entries(node, line)
        self.open.discard(id(node))
        self.done[id(node)] = result
        return result

    def _scalar(self, node: yaml.ScalarNode, line: int) -> Scalar:
        text = node.value
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            # JSON writes a rare character as two escapes, which PyYAML leaves apart.
            pairs = text.encode("utf-16-le", "surrogatepass")
            text = pairs.decode("utf-16-le", "replace")
            if "\ufffd" in text:
                self._report(line, "holds half of a character, by an escape", "whole characters")
        return Scalar(text, node.tag == _PLAIN, line)

    def _entries(self, node: Any, line: int) -> tuple[Entries, int]:
        entries: dict[str, tuple[int, Node]] = {}
        total = 1
        for key_node, value_node in node.value:
            key_line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                self._report(key_line, "has a list or a map as a key", "plain words as keys")
                continue
            key = self._scalar(key_node, key_line).text
            value, size = self._node(value_node)
            total += size
            if key in entries:
                first = entries[key][0]
                fix = "Keep one of them."
                self._report(
                    key_line, f"{key} is written twice, in lines {first} and {key_line}", "every key once", fix
                )
                continue
            entries[key] = key_line, value
        return Entries(entries, line), total

    def _report(self, line: int, what: str, allowed: str = "", fix: str = "") -> None:
        self.problems.append((line, Problem(f"{self.file}:{line}", what, allowed, fix)))


def _is_usual(node: yaml.Node) -> bool:
    usual = "seq" if isinstance(node, yaml.SequenceNode) else "map"
    return not isinstance(node, yaml.ScalarNode) and node.tag == f"tag:yaml.org,2002:{usual}"


def _short(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")


def _explained(error: yaml.MarkedYAMLError, text: str) -> UnreadableError:
    """Return the error of PyYAML in the words of somebody who does not know its scanner."""
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    problem = error.problem or "cannot be read"
    lines = text.splitlines()
    here = lines[line - 1] if line <= len(lines) else ""
    if "\t" in problem or here[: len(here) - len(here.lstrip())].count("\t"):
        return UnreadableError(line, "is indented with a tab", "spaces", "Replace the tab by spaces.")
    if "undefined alias" in problem:
        return UnreadableError(line, f"uses an alias that stands nowhere: {problem}", "aliases of anchors further up")
    if "but found another document" in problem:
        return UnreadableError(line, "begins a second document", "one document", "Take the line --- out.")
    if "mapping values are not allowed" in problem:
        fix = 'Put a text that holds ": " in quotes.'
        return UnreadableError(line, "has a colon where no key can be", "one key and one value in a line", fix)
    context = f" ({error.context})" if error.context else ""
    return UnreadableError(line, f"is not YAML: {problem}{context}", "YAML", "Look at this line and the one above it.")
