"""YAML 1.2 as a tree with line numbers; the study file on disk, and the lines of its keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from beholder.errors import Problem, StudyError, did_you_mean

MOST_VALUES = 100_000
"""A study with more values is a mistake, or an attack by aliases of aliases."""
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
class ListNode:
    """A list."""

    items: tuple[Node, ...]
    line: int


@dataclass(frozen=True)
class MapNode:
    """A map: from key to the line of the key and the value."""

    entries: dict[str, tuple[int, Node]]
    line: int


Node: TypeAlias = "Scalar | ListNode | MapNode"


@dataclass(frozen=True)
class Tree:
    """The tree of a text, with problems of its notation."""

    root: Node | None
    problems: tuple[tuple[int, Problem], ...] = ()


class UnreadableError(Exception):
    """A text that cannot be parsed."""

    def __init__(self, line: int, what: str, allowed: str = "", fix: str = "") -> None:
        self.line, self.what, self.allowed, self.fix = line, what, allowed, fix
        super().__init__(what)


def core_value(text: str) -> bool | int | float | str | None:
    """Return the value of a plain scalar by the core schema of YAML 1.2 (clause 10.3.2)."""
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


@lru_cache(maxsize=16)
def parse(text: str, file: str) -> Tree:
    """Return the tree of a YAML text; raises `UnreadableError`.

    Kept for the last few texts: a command reads its study file several times, and a store holds the same text for
    every session.
    """
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

    # PyYAML follows YAML 1.1, where a question mark ends a plain text inside {} and []; YAML 1.2 lets it stand.
    def scan_plain(self) -> Any:
        if not self.flow_level:
            return super().scan_plain()
        # On the instance, and only here: `peek` is called for every letter of the file.
        self.peek = self._peek_in_plain  # type: ignore[method-assign]
        try:
            return super().scan_plain()
        finally:
            del self.peek

    def _peek_in_plain(self, index: int = 0) -> Any:
        letter = super().peek(index)
        return "-" if letter == "?" else letter

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
    """Converts nodes of PyYAML. An alias stays one shared node, so that nothing is expanded here."""

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
            result = ListNode(tuple(part for part, _ in parts), line), 1 + sum(size for _, size in parts)
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

    def _entries(self, node: Any, line: int) -> tuple[MapNode, int]:
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
        return MapNode(entries, line), total

    def _report(self, line: int, what: str, allowed: str = "", fix: str = "") -> None:
        self.problems.append((line, Problem(f"{self.file}:{line}", what, allowed, fix)))


def _is_usual(node: yaml.Node) -> bool:
    usual = "seq" if isinstance(node, yaml.SequenceNode) else "map"
    return not isinstance(node, yaml.ScalarNode) and node.tag == f"tag:yaml.org,2002:{usual}"


def _short(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")


def _explained(error: yaml.MarkedYAMLError, text: str) -> UnreadableError:
    """Return an error of PyYAML in words that need no knowledge of its scanner."""
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


def plain_values(text: str) -> dict[str, Any]:
    """Return the plain values of a YAML text whose root is a map; an empty map for any other."""
    root = parse(text, "study.yaml").root
    value = _plain_value(root) if isinstance(root, MapNode) else {}
    assert isinstance(value, dict)
    return value


def _plain_value(node: Node) -> Any:
    if isinstance(node, MapNode):
        return {key: _plain_value(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, ListNode):
        return [_plain_value(item) for item in node.items]
    return core_value(node.text) if node.plain else node.text


# The study file

FILE = "study.yaml"
MOST_BYTES = 1_000_000

Place = tuple[str | int, ...]
"""The path to a value: keys, and positions in lists from 0."""


@dataclass(frozen=True)
class StudyDocument:
    """A study file that is a map of keys, with problems of its notation."""

    path: Path
    root: MapNode
    problems: tuple[tuple[int, Problem], ...] = field(default=())

    @property
    def folder(self) -> Path:
        """The folder of the study."""
        return self.path.parent.absolute()

    def text(self, key: str) -> str | None:
        """Return the text of a key of the top level, if it has a single value."""
        _, node = self.root.entries.get(key, (0, None))
        return node.text if isinstance(node, Scalar) else None

    def line(self, place: Place) -> int:
        """Return the line of a place, or of the nearest written place around it."""
        node: Node = self.root
        line = 1 if not place else node.line
        for step in place:
            if isinstance(node, MapNode) and isinstance(step, str) and step in node.entries:
                line, node = node.entries[step]
            elif isinstance(node, ListNode) and isinstance(step, int) and step < len(node.items):
                node = node.items[step]
                line = node.line
            else:
                break
        return line

    def lines(self) -> Lines:
        """Return the lines of all written keys."""
        return Lines(self.path.name, dict(_lines(self.root, "", self.root.line)))

    def where(self, place: Place) -> str:
        """Return `study.yaml:LINE`."""
        return f"{self.path.name}:{self.line(place)}"


def _lines(node: Node, key: str, line: int) -> Iterator[tuple[str, int]]:
    yield key, line
    if isinstance(node, MapNode):
        for name, (below, part) in node.entries.items():
            yield from _lines(part, f"{key}.{name}".lstrip("."), below)
    elif isinstance(node, ListNode):
        for index, part in enumerate(node.items):
            yield from _lines(part, f"{key}.{index}", part.line)


def read_document(path: str | Path) -> StudyDocument:
    """Return the study file at `path`, or in the folder `path`; raises `StudyError` where it cannot be read."""
    path = Path(path)
    if path.is_dir():
        path = path / FILE
    text = _read(path)
    try:
        tree = parse(text, path.name)
    except UnreadableError as error:
        raise StudyError(Problem(f"{path.name}:{error.line}", error.what, error.allowed, error.fix)) from None
    if tree.root is None or (isinstance(tree.root, Scalar) and not tree.root.text):
        raise StudyError(
            Problem(f"{path.name}:1", "is empty", "a map of keys", "Start with `beholder new METHOD FOLDER`.")
        )
    if not isinstance(tree.root, MapNode):
        kind = "a list" if isinstance(tree.root, ListNode) else "one value"
        where = f"{path.name}:{tree.root.line}"
        raise StudyError(Problem(where, f"holds {kind}", "a map of keys such as `title: Video quality`"))
    return StudyDocument(path, tree.root, tree.problems)


def _read(path: Path) -> str:
    try:
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            raise StudyError(Problem(path.name, f"has {path.stat().st_size} bytes", f"at most {MOST_BYTES} bytes"))
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        others = [one.name for one in path.parent.glob("*.y*ml")] if path.parent.is_dir() else []
        start = "Give the path of a study, or start one with `beholder new METHOD FOLDER`."
        fix = did_you_mean(path.name, sorted(others)) or start
        raise StudyError(Problem(str(path), "is not there", "a study file or its folder", fix)) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise StudyError(Problem(f"{path.name}:{line}", "is not UTF-8", "UTF-8", "Save the file as UTF-8.")) from None
    except OSError as error:
        raise StudyError(Problem(str(path), f"cannot be read: {error.strerror}", "a file that you may read")) from None


# Lines of keys


@dataclass(frozen=True)
class Lines:
    """The lines of all written keys. All instances are equal: the lines are no part of what a study is."""

    file: str = field(default="study.yaml", compare=False)
    by_key: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    """Line by dotted key, as `questions.0.scale`; the whole study has the empty key."""
    moved_keys: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """For the study of a group: where keys are written that come from a level of the design."""

    def written_key(self, key: str) -> str:
        """Return a key as it is written in the file."""
        for part, place in self.moved_keys.items():
            if key == part or key.startswith(f"{part}."):
                return place + key.removeprefix(part)
        return key

    def has(self, key: str) -> bool:
        """Return whether a key was written."""
        return self.written_key(key) in self.by_key

    def where(self, key: str) -> str:
        """Return `FILE:LINE` of a key or of the nearest one around it; the file alone without a line."""
        key = self.written_key(key)
        while key and key not in self.by_key:
            key = key.rpartition(".")[0]
        return f"{self.file}:{self.by_key[key]}" if key in self.by_key else self.file
