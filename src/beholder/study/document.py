"""The study file as it stands on disk: its place, its tree, its lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from beholder.errors import Problem, StudyError
from beholder.study.lines import Lines
from beholder.study.nodes import Entries, Items, Node, Scalar, UnreadableError, parse

FILE = "study.yaml"
MOST_BYTES = 1_000_000

Place = tuple[str | int, ...]
"""The way to a value: keys, and places in lists from 0."""


@dataclass(frozen=True)
class Document:
    """A study file that is a map of keys, with what is wrong with its writing."""

    path: Path
    root: Entries
    problems: tuple[tuple[int, Problem], ...] = field(default=())

    @property
    def folder(self) -> Path:
        """The folder in which everything else of the study lies."""
        return self.path.parent.absolute()

    def text(self, key: str) -> str | None:
        """Return what was written for a key of the top level, if that is one value."""
        _, node = self.root.entries.get(key, (0, None))
        return node.text if isinstance(node, Scalar) else None

    def line(self, place: Place) -> int:
        """Return the line of a place; of the nearest place around it that was written, if it was not."""
        node: Node = self.root
        line = 1 if not place else node.line
        for step in place:
            if isinstance(node, Entries) and isinstance(step, str) and step in node.entries:
                line, node = node.entries[step]
            elif isinstance(node, Items) and isinstance(step, int) and step < len(node.items):
                node = node.items[step]
                line = node.line
            else:
                break
        return line

    def lines(self) -> Lines:
        """Return the line of every key that is written."""
        return Lines(self.path.name, dict(_lines(self.root, "", self.root.line)))

    def where(self, place: Place) -> str:
        """Return `study.yaml:LINE`."""
        return f"{self.path.name}:{self.line(place)}"


def _lines(node: Node, key: str, line: int) -> Iterator[tuple[str, int]]:
    yield key, line
    if isinstance(node, Entries):
        for name, (below, part) in node.entries.items():
            yield from _lines(part, f"{key}.{name}".lstrip("."), below)
    elif isinstance(node, Items):
        for index, part in enumerate(node.items):
            yield from _lines(part, f"{key}.{index}", part.line)


def read_document(path: str | Path) -> Document:
    """Return the study file at `path`, or in the folder `path`; raises `StudyError` when there is none to read."""
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
    if not isinstance(tree.root, Entries):
        found = "a list" if isinstance(tree.root, Items) else "one value"
        where = f"{path.name}:{tree.root.line}"
        raise StudyError(Problem(where, f"holds {found}", "a map of keys such as `title: Video quality`"))
    return Document(path, tree.root, tree.problems)


def _read(path: Path) -> str:
    try:
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            raise StudyError(Problem(path.name, f"has {path.stat().st_size} bytes", f"at most {MOST_BYTES} bytes"))
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        fix = "Give the path of a study, or start one with `beholder new METHOD FOLDER`."
        raise StudyError(Problem(str(path), "is not there", "a study file or its folder", fix)) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise StudyError(Problem(f"{path.name}:{line}", "is not UTF-8", "UTF-8", "Save the file as UTF-8.")) from None
    except OSError as error:
        raise StudyError(Problem(str(path), f"cannot be read: {error.strerror}", "a file that you may read")) from None
