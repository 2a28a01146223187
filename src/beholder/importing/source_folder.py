"""The files of a source: found, opened within limits, decoded, and registered leaf by leaf before anybody reads them.

A source may come from somebody who means harm. Nothing in it is run; no path leads out of it, no link is followed out
of it; nothing is fetched; files, values and levels of nesting are limited. Stimuli are looked for where the researcher
says, beside the source, and above a file that was given by itself.
"""

from __future__ import annotations

import ast
import configparser
import csv
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from beholder.analysis.spreadsheets import decode
from beholder.errors import Problem, StudyError, UserError
from beholder.files import unquoted
from beholder.formats import megabytes
from beholder.importing.provenance import Fate, Leaf, Provenance
from beholder.importing.source_values import SourceValue, read_tree
from beholder.stimuli.media_formats import medium_of
from beholder.study.csv_files import DELIMITERS, read_table
from beholder.study.parts import leads_inside
from beholder.study.yaml import UnreadableError, parse
from beholder.types import Json

MOST_FILES = 100_000
"""Files of a source; with more, somebody has named the wrong folder."""
MOST_DOCUMENT_BYTES = 64_000_000
"""Of a configuration or a dump, which is held in memory as a tree."""
MOST_YAML_BYTES = 1_000_000
MOST_TABLE_BYTES = 1_000_000_000
"""Of a table, which is read row by row."""
_MOST_UP = 4
"""Folders above a file that was given by itself in which its stimuli are looked for."""
_SKIPPED = frozenset({".git", ".svn", "node_modules", "__pycache__", "__MACOSX"})
_SECRET = re.compile(r"(?i)key|secret|token|passw|mail|storage|account|url|path")
"""Names of keys whose values may let somebody in, or say who somebody is: their values are repeated nowhere."""
_NEVER = ("thumbs.db", "desktop.ini", ".ds_store")


class SourceFolder:
    """A file or folder that another tool has written, and the account of what became of it."""

    def __init__(self, path: Path, stimuli: Path | None = None) -> None:
        self.provenance = Provenance()
        self.given = path.name if path.is_file() else ""
        """The name of the file that was given by itself; empty of a folder."""
        self.root = (path.parent if self.given else path).absolute()
        self.address = str(path)
        self._stimuli = stimuli
        self.opened: dict[str, Path] = {}
        if not path.exists():
            fix = "Give the file or the folder that the other tool wrote."
            raise UserError(Problem(self.address, "is not there", "", fix))
        if stimuli is not None and not stimuli.exists():
            raise UserError(Problem(str(stimuli), "is not there", "a folder of stimuli, or a CSV", ""))
        for name in self.names:
            self.provenance.register(Leaf(name, "file"))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The paths of all files in the source, with `/`, by code point; of a file that was given, itself."""
        if self.given:
            return (self.given,)
        found: list[str] = []
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(one for one in folders if one not in _SKIPPED and not one.startswith("."))
            inside = Path(folder).relative_to(self.root)
            found += [(inside / one).as_posix() for one in files if one.lower() not in _NEVER]
            if len(found) > MOST_FILES:
                what = f"holds more than {MOST_FILES:,} files"
                raise UserError(Problem(self.address, what, "the folder of one study", "Name that folder."))
        return tuple(sorted(found))

    def ending(self, *suffixes: str) -> tuple[str, ...]:
        """Return the files that end like this, in small letters."""
        return tuple(name for name in self.names if name.lower().endswith(suffixes))

    def peek(self, name: str, most: int = 20_000) -> str:
        """Return the beginning of a file as text, to recognise it by; nothing is registered. Empty where it is none."""
        try:
            with self._inside(name).open("rb") as file:
                return decode(file.read(most))[0]
        except (OSError, UserError):
            return ""

    def is_there(self, name: str) -> bool:
        """Return whether the source has a file of this path."""
        return name in self._names

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.names)

    # Documents

    def text(self, name: str, most: int = MOST_DOCUMENT_BYTES) -> str:
        """Return a file as text: UTF-8, else Windows-1252, which is told."""
        path = self._open(name, most)
        try:
            text, encoding = decode(path.read_bytes())
        except OSError as error:
            raise UserError(Problem(name, f"cannot be read: {error.strerror}", "a file that you may read")) from None
        if encoding != "UTF-8":
            self.provenance.assume(name, encoding, "it is not UTF-8")
        return text

    def yaml(self, name: str, repair: Callable[[str], str] | None = None, *, is_personal: bool = False) -> SourceValue:
        """Return a YAML file, by the rules of YAML 1.2; a text that cannot be read goes through `repair` once."""
        text = self.text(name, MOST_YAML_BYTES)
        try:
            tree = parse(text, name)
        except UnreadableError as error:
            if repair is None or (repaired := repair(text)) == text:
                raise _unreadable(name, error) from None
            try:
                tree = parse(repaired, name)
            except UnreadableError:
                raise _unreadable(name, error) from None
            self.provenance.assume(name, "quoted texts", f"strict YAML stops in line {error.line}: {error.what}")
        if tree.problems:
            raise UserError([problem for _, problem in tree.problems])
        data, lines = read_tree(tree.root)
        return self._document(name, data, lines, is_personal)

    def json(self, name: str, *, is_personal: bool = False) -> SourceValue:
        """Return a JSON file. A key that is written twice, NaN, or too much nesting is refused, with its line."""
        text = self.text(name)
        try:
            data = json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            what = f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
            raise UserError(
                Problem(f"{name}:{error.lineno}", what, "JSON", "Look at this line and above it.")
            ) from None
        except (ValueError, RecursionError) as error:
            what = "is nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise UserError(Problem(name, what, "plain JSON")) from None
        return self._document(name, data, {}, is_personal)

    def json_lines(self, name: str, *, is_personal: bool = False) -> SourceValue:
        """Return a file with an object of JSON on each line as a list of them; a line that is none is refused."""
        found = []
        for number, line in enumerate(self.text(name).splitlines(), 1):
            if not line.strip():
                continue
            try:
                found.append(json.loads(line, object_pairs_hook=_distinct, parse_constant=_no_constant))
            except (ValueError, RecursionError) as error:
                what = "is nested too deeply" if isinstance(error, RecursionError) else f"is not JSON: {error}"
                raise UserError(Problem(f"{name}:{number}", what, "an object of JSON on each line")) from None
        return self._document(name, found, {}, is_personal)

    def ini(self, name: str, *, is_personal: bool = False) -> SourceValue:
        """Return a file of sections and keys, with `:` or `=`, whose `%` stand for themselves."""
        text = self.text(name, MOST_YAML_BYTES)
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read_string(text, name)
        except configparser.Error as error:
            line = getattr(error, "lineno", 0) or next(iter(getattr(error, "errors", ())), (0, ""))[0]
            what = f"is no configuration: {str(error).splitlines()[0]}"
            place = f"{name}:{line}" if line else name
            fix = "Look at this line; each section and each key is there once."
            raise UserError(Problem(place, what, "sections in [ ] with keys", fix)) from None
        data: dict[str, Any] = {section: dict(parser.items(section)) for section in parser.sections()}
        lines, section = dict[str, int](), ""
        for number, line in enumerate(text.splitlines(), 1):
            if head := re.match(r"\s*\[([^]]+)\]", line):
                section = head[1]
            elif written := re.match(r"([^#;:=\s][^:=]*?)\s*[:=]", line):
                lines.setdefault(f"{section}.{written[1].strip().lower()}", number)
        root = self._document(name, data, lines, is_personal=True)
        for _, keys in root.items():
            for key, value in keys.items():
                value.register(is_kept=not is_personal and _SECRET.search(key) is None)
        return root

    def literals(self, name: str, *, is_personal: bool = False) -> SourceValue:
        """Return the names that a file of Python gives to literal values; nothing in it is ever run."""
        text = self.text(name)
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None) or 1
            what = f"is no Python that can be read: {str(error).splitlines()[0] if str(error) else 'nested too deeply'}"
            raise UserError(Problem(f"{name}:{line}", what, "names and literal values")) from None
        found: dict[str, Any] = {}
        for statement in tree.body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if isinstance(statement, ast.Assign) and isinstance(target, ast.Name):
                try:
                    found[target.id] = _literal(statement.value, found)
                except (ValueError, RecursionError):
                    what = f"{target.id} is more than literal values, and nothing of a source is run"
                    raise UserError(
                        Problem(f"{name}:{statement.lineno}", what, "text, numbers, lists and maps; names before it")
                    ) from None
            else:
                self.provenance.warn(f"{name}:{statement.lineno} is no name with a value, and is not run.")
        return self._document(name, found, {}, is_personal)

    def _document(self, name: str, data: Any, lines: Mapping[str, int], is_personal: bool) -> SourceValue:
        self.settle(name, "mapped", "read")
        root = SourceValue(data, name, "", self.provenance, lines)
        root.register(is_kept=not is_personal)
        return root

    # Tables

    def table(self, name: str, expected: Sequence[str] = ()) -> SourceTable:
        """Return a CSV file, to be read row by row; `expected` are columns by which its delimiter is recognised."""
        path = self._open(name, MOST_TABLE_BYTES)
        self.settle(name, "mapped", "read")
        return SourceTable(path, name, self.provenance, expected)

    # Files

    def whole(self, name: str) -> Path:
        """Return the path of a file that another reader reads as a whole, within limits of its own."""
        path = self._open(name, MOST_TABLE_BYTES)
        self.settle(name, "mapped", "read")
        return path

    def settle(self, name: str, fate: Fate, words: str, done: str = "") -> None:
        """Say what became of a file."""
        self.provenance.settle(Leaf(name, "file"), fate, words, done)

    def _open(self, name: str, most: int) -> Path:
        path = self._inside(name)
        try:
            size = path.stat().st_size
        except OSError:
            raise UserError(Problem(name, "is not there", "", f"It belongs into {self.root}.")) from None
        if size > most:
            raise UserError(Problem(name, f"has {megabytes(size)}", f"at most {megabytes(most)}", "Take a part of it."))
        self.provenance.register(Leaf(name, "file"))
        self.opened[name] = path
        return path

    def _inside(self, name: str) -> Path:
        path = self.root / name
        if not leads_inside(path, self.root):
            raise UserError(Problem(name, "is a link that leads out of the source", "files inside it", "Copy it in."))
        return path

    # Stimuli

    def find_stimulus(self, named: str) -> Path | None:
        """Return the file of a stimulus that the source names by a path or an address; None where there is none.

        Looked up in the CSV of `--stimuli`, by the whole name or without its query; in the folder of `--stimuli`, by
        its path and its name; in the source, and in the folders above a file that was given by itself. A path that
        leads out of these is found nowhere.
        """
        listed = self._listed(named)
        if listed is not None and listed.file is not None:
            return listed.file
        path = _plain_path(named)
        if path is None:
            return None
        for base in self._bases:
            candidate = base / path
            if candidate.is_file() and leads_inside(candidate, base) and medium_of(candidate.name) is not None:
                self.use(candidate)
                return candidate
        return self._by_name.get(PurePosixPath(path).name)

    def names_of(self, named: str) -> tuple[str, str] | None:
        """Return the content and the condition that the CSV of `--stimuli` has for a stimulus; None without them."""
        listed = self._listed(named)
        return (listed.content, listed.condition) if listed is not None and listed.content else None

    def _listed(self, named: str) -> _ListedStimulus | None:
        return self._map.get(named) or self._map.get(named.partition("?")[0])

    def media_folders(self) -> Iterator[Mapping[str, Path]]:
        """Yield the media in the folder of `--stimuli`, then those in the source, by their paths there with `/`."""
        given = [self._stimuli] if self._stimuli is not None and self._stimuli.is_dir() else []
        for base in (*given, self.root):
            found: dict[str, Path] = {}
            for path in sorted(base.rglob("*"), key=lambda one: one.as_posix()):
                if len(found) > MOST_FILES:
                    what = f"holds more than {MOST_FILES:,} files"
                    raise UserError(Problem(str(base), what, "the folder of one study", "Name that folder."))
                if path.is_file() and medium_of(path.name) is not None and leads_inside(path, base):
                    found[path.relative_to(base).as_posix()] = path
            yield found

    def use(self, path: Path) -> None:
        """Say of a file that it is a stimulus."""
        if path.is_relative_to(self.root):
            name = path.relative_to(self.root).as_posix()
            if self.is_there(name):
                self.settle(name, "mapped", "stimuli")

    @cached_property
    def _bases(self) -> tuple[Path, ...]:
        given = [self._stimuli.absolute()] if self._stimuli is not None and self._stimuli.is_dir() else []
        above = list(self.root.parents)[:_MOST_UP] if self.given else []
        return (*given, self.root, *above)

    @cached_property
    def _map(self) -> Mapping[str, _ListedStimulus]:
        """The lines of `--stimuli` as a CSV with the columns source and file, and perhaps content and condition."""
        if self._stimuli is None or self._stimuli.is_dir():
            return {}
        problems: list[Problem] = []
        folder, name = self._stimuli.parent, self._stimuli.name
        sheet = read_table(folder, name, ("source", "file"), problems)
        heads = [head.strip().lower() for head in sheet.heads] if sheet else []
        if sheet is not None and not {"source", "file"} <= {*heads}:
            problems.append(Problem(f"{name}:1", f"has the columns {', '.join(heads)}", "source and file"))
        if problems or sheet is None:
            raise UserError(problems)
        files = {}
        for line, cells in sheet.rows:
            row = dict(zip(heads, cells, strict=False))
            if not row.get("source"):
                continue
            content, condition = row.get("content", "").strip(), row.get("condition", "").strip()
            path = folder / row["file"] if row.get("file") or not content else None
            if path is not None and not path.is_file():
                problems.append(Problem(f"{name}:{line}", f"file is {row.get('file')}, which is not there", "a file"))
            if bool(content) != bool(condition):
                what = "has a content or a condition without the other"
                problems.append(Problem(f"{name}:{line}", what, "both, or neither"))
            files[row["source"]] = _ListedStimulus(path, content, condition)
        if problems:
            raise UserError(problems[:20])
        return files

    @cached_property
    def _by_name(self) -> Mapping[str, Path]:
        """The files in the folder of `--stimuli` whose names occur once in it."""
        if self._stimuli is None or not self._stimuli.is_dir():
            return {}
        found: dict[str, list[Path]] = {}
        for path in sorted(self._stimuli.rglob("*")):
            if path.is_file() and medium_of(path.name) is not None and leads_inside(path, self._stimuli):
                found.setdefault(path.name, []).append(path)
        return {name: paths[0] for name, paths in found.items() if len(paths) == 1}


class _ListedStimulus(NamedTuple):
    """A line of `--stimuli`: the file of a stimulus, and what it is called in the study, as far as it says so."""

    file: Path | None
    content: str
    condition: str


def _plain_path(named: str) -> str | None:
    """Return the path in what a source calls a stimulus, an address without its host; None where it leads outside."""
    text = named.strip().replace("\\", "/")
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+://", text):
        text = unquote(urlsplit(text).path)
    steps = [step for step in PurePosixPath(text.lstrip("/")).parts if step != "."]
    if not steps or ".." in steps or "\0" in text or ":" in steps[0]:
        return None
    return "/".join(steps)


def _literal(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """Return a literal value: text, numbers, lists and maps, names that have one, and texts put together."""
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str()):
            return node.value
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_literal(part, known) for part in parts]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            named = (_literal(key, known) for key in keys if key is not None)
            return {_key(key): _literal(value, known) for key, value in zip(named, values, strict=True)}
        case ast.UnaryOp(op=ast.USub(), operand=operand) if isinstance(number := _literal(operand, known), int | float):
            return -number
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _literal(left, known), _literal(right, known)
            if isinstance(first, str) and isinstance(second, str) and len(first) + len(second) < _MOST_LITERAL:
                return first + second
    raise ValueError


_MOST_LITERAL = 10_000
"""Characters of a text that is put together."""
PAIR_KEY = "\x1f"
"""Stands between the parts of a key that is a pair."""


def _key(value: Any) -> str:
    return PAIR_KEY.join(map(str, value)) if isinstance(value, list) else str(value)


def _unreadable(name: str, error: UnreadableError) -> UserError:
    return StudyError(Problem(f"{name}:{error.line}", error.what, error.allowed, error.fix))


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"has the key {twice!r} twice in one object")
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"holds {word}, which is no number of JSON")


# Tables, row by row


@dataclass(frozen=True)
class SourceRow:
    """One row of a table."""

    line: int
    cells: Sequence[str]
    """As they are written, one for each column."""
    table: SourceTable = field(repr=False)

    def __getitem__(self, column: str) -> str:
        """Return the cell of a column, by its name in small letters, stripped; empty where there is no such column."""
        place = self.table.places.get(column)
        if place is None:
            return ""
        cell = self.cells[place]
        return (unquoted(cell) if cell[:1] == "'" else cell).strip()

    @property
    def where(self) -> str:
        """The place as messages name it."""
        return f"{self.table.name}:{self.line}"

    def mapped(self, to: str) -> None:
        """Say what the row became."""
        self.table.settle_row(self.line, "mapped", to)

    def unsupported(self, why: str) -> None:
        """Say that the row is not imported, and why."""
        self.table.settle_row(self.line, "unsupported", why)

    def broken(self, what: str, done: str) -> None:
        """Say what is wrong with the row, and what was done about it."""
        self.table.settle_row(self.line, "broken", what, done)


class SourceTable:
    """A CSV file of a source: its columns, and its rows one after the other."""

    def __init__(self, path: Path, name: str, provenance: Provenance, expected: Sequence[str]) -> None:
        self.name, self._path, self._provenance = name, path, provenance
        with path.open("rb") as file:
            head = file.read(1_000_000)
        _, encoding = decode(head)
        self._encoding = _CODECS[encoding]
        if encoding != "UTF-8":
            provenance.assume(name, encoding, "it is not UTF-8")
        first = next(iter(decode(head)[0].splitlines()), "")
        self._delimiter = max(DELIMITERS, key=lambda one: (len({*_heads(first, one)} & {*expected}), first.count(one)))
        heads = next(iter(self._lines()), (1, []))[1]
        self.columns = _unique(heads)
        """The names of the columns in small letters, each once: a second `vote` is `vote#2`, one without is `#3`."""
        self.places: Mapping[str, int] = {column: place for place, column in enumerate(self.columns)}
        for place, column in enumerate(self.columns):
            written = heads[place].strip() if place < len(heads) else ""
            provenance.register(Leaf(name, "column", column if not written else _as_written(column, written)))
        self._written = {
            column: _as_written(column, head.strip()) for column, head in zip(self.columns, heads, strict=True)
        }

    def has(self, *columns: str) -> bool:
        """Return whether the table has all of these columns."""
        return {*columns} <= {*self.columns}

    def column(self, name: str, to: str) -> None:
        """Say what a column became."""
        self._provenance.settle(self._leaf(name), "mapped", to)

    def unsupported_column(self, name: str, why: str) -> None:
        """Say that a column is not imported, and why."""
        self._provenance.settle(self._leaf(name), "unsupported", why)

    def broken_column(self, name: str, what: str, done: str) -> None:
        """Say what is wrong with a column, and what was done about it."""
        self._provenance.settle(self._leaf(name), "broken", what, done)

    def _leaf(self, column: str) -> Leaf:
        return Leaf(self.name, "column", self._written[column])

    def settle_row(self, line: int, fate: Fate, words: str, done: str = "") -> None:
        """Say what became of a row."""
        self._provenance.settle(Leaf(self.name, "row", str(line), line), fate, words, done)

    def rows(self) -> Iterator[SourceRow]:
        """Yield the rows with a cell for each column; others are broken, and left out. Blank lines are skipped."""
        count = len(self.columns)
        for place, (line, cells) in enumerate(self._lines()):
            if place == 0 or not any(cell.strip() for cell in cells):
                continue
            self._provenance.register(Leaf(self.name, "row", str(line), line))
            if len(cells) != count and (len(cells) < count or any(cell.strip() for cell in cells[count:])):
                what = f"has {len(cells)} cells, and the first line has {count}"
                self.settle_row(line, "broken", what, "left out")
                continue
            yield SourceRow(line, cells, self)

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        with self._path.open(encoding=self._encoding, errors="replace", newline="") as file:
            reader = csv.reader(file, delimiter=self._delimiter)
            try:
                for cells in reader:
                    yield reader.line_num, cells
            except csv.Error as error:
                where = f"{self.name}:{reader.line_num}"
                raise UserError(Problem(where, f"is no CSV: {error}", "CSV", "Save the table again as CSV.")) from None


_CODECS: Mapping[str, str] = {
    "UTF-8": "utf-8-sig", "UTF-16": "utf-16", "Windows-1252": "cp1252", "Latin-1": "latin-1",
}  # fmt: skip


def _heads(line: str, delimiter: str) -> list[str]:
    return [cell.strip(' "').lower() for cell in line.split(delimiter)]


def _unique(heads: Sequence[str]) -> list[str]:
    names: list[str] = []
    for place, head in enumerate(heads, 1):
        name = head.strip().lower() or f"#{place}"
        names.append(name if name not in names else f"{name}#{sum(one.partition('#')[0] == name for one in names) + 1}")
    return names


def _as_written(column: str, head: str) -> str:
    """Return how the report calls a column: as it is written, with the number of a repeated one."""
    return head + column[len(head) :] if head and column.startswith(head.lower()) else column


# Values


def number_in(text: str) -> float | None:
    """Return the number in a cell, as `5`, `5.0` or ` 5 `; None where it is none."""
    try:
        value = float(text.strip())
    except ValueError:
        return None
    return value if abs(value) < 1e15 else None


def plain_number(value: float) -> int | float:
    """Return a number as an integer where it is one."""
    return int(value) if value == int(value) else value


def as_json(value: Any) -> Json:
    """Return a value of a document as JSON."""
    plain: Json = value
    return plain
