"""Two versions of a file held against each other: every cell of a table, every number of a text, every figure.

What is equal is counted; what is not is named with its place, both values and how far they are apart. Numbers that
differ by less than what the order of additions explains are equal. Nothing is called equal that could not be compared.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

State: TypeAlias = Literal["equal", "different", "not checkable"]
CLOSE = 1e-9
"""Relative difference of two computations of the same number on other processors."""
_MOST = 200
"""Differences of one file that are kept; all are counted."""
_CONTEXT = 40
_LONGEST = 120
_KEYS = 3
"""Words of a line by which it is known."""
_NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d{1,3}(?:[,\u202f ]\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_TAGS = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_SPACES = re.compile(r"\s+")


class ValueDifference(NamedTuple):
    """One value that is not the same."""

    file: str
    place: str
    bundled: str
    computed: str
    by: float | None
    """How far two numbers are apart; None of what are no numbers."""


@dataclass
class FileCheck:
    """What came of holding one file against the one that was computed anew."""

    file: str
    kind: Literal["table", "record", "text", "figure", "data"]
    values: int = 0
    """Numbers, cells, or the whole where it is a figure."""
    equal: int = 0
    differences: list[ValueDifference] = field(default_factory=list)
    different: int = 0
    unchecked: str = ""
    """Why it cannot be checked; empty where it was."""

    @property
    def state(self) -> State:
        """Equal only if every value is."""
        if self.different:
            return "different"
        return "not checkable" if self.unchecked else "equal"

    @property
    def largest(self) -> float | None:
        """How far the two numbers are apart that differ most."""
        return max((one.by for one in self.differences if one.by is not None), default=None)

    def add(self, place: str, bundled: str, computed: str) -> None:
        """Count a value, and keep it where it is different."""
        self.values += 1
        if bundled == computed or is_close(bundled, computed):
            self.equal += 1
            return
        self.different += 1
        if len(self.differences) < _MOST:
            one, other = as_number(bundled), as_number(computed)
            by = abs(one - other) if one is not None and other is not None else None
            self.differences.append(ValueDifference(self.file, place, shortened(bundled), shortened(computed), by))


def as_number(text: str) -> float | None:
    """Return a number as files of ours write it; None of anything else."""
    plain = text.strip().replace("−", "-").replace("\u202f", "").replace(",", "")
    try:
        value = float(plain)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def is_close(one: str, other: str) -> bool:
    """Return whether two numbers are the same but for rounding."""
    first, second = as_number(one), as_number(other)
    return first is not None and second is not None and math.isclose(first, second, rel_tol=CLOSE, abs_tol=1e-12)


def shortened(text: str) -> str:
    """Return a value on one line."""
    line = _SPACES.sub(" ", text).strip()
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


# Files


def check_file(name: str, bundled: Path, computed: Path, versions: Mapping[str, str]) -> FileCheck:
    """Return what came of one file; `versions` are of the software that is another one here, by its name."""
    ending = name.rpartition(".")[2]
    compare = _BY_ENDING.get(ending, _whole)
    kind = _KIND_OF.get(ending, "data")
    check = FileCheck(name, kind)
    if not bundled.is_file():
        check.add("", "is not in the bundle", "is computed here")
        return check
    if not computed.is_file() and ending == "parquet":
        check.values, check.unchecked = 1, "needs pyarrow, which is not installed here; the CSV beside it is checked"
        return check
    if not computed.is_file():
        check.add("", "is in the bundle", "is not computed here")
        return check
    before, after = bundled.read_bytes(), computed.read_bytes()
    if before == after:
        check.values = check.equal = _size(ending, after)
        return check
    compare(check, before, after, versions)
    if not check.different and not check.unchecked and not check.values:
        check.add("", "other bytes", "other bytes than in the bundle")
    return check


def _size(ending: str, content: bytes) -> int:
    """Return how many values a file has that is the same byte by byte."""
    if ending == "csv":
        return sum(len(row) for row in _rows(content)[1:])
    if ending == "json":
        return sum(1 for _ in _leaves(json.loads(content), ""))
    return max(1, len(_numbers(ending, content))) if ending in ("html", "md", "tex", "svg") else 1


def _rows(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8", "replace"), newline="")))


def _table(check: FileCheck, before: bytes, after: bytes, versions: Mapping[str, str]) -> None:
    one, other = _rows(before), _rows(after)
    if one[:1] != other[:1]:
        check.add("columns", ", ".join(one[0] if one else ()), ", ".join(other[0] if other else ()))
        return
    names = one[0]
    for line, (mine, theirs) in enumerate(zip_longest(one[1:], other[1:]), 2):
        if mine is None or theirs is None or len(mine) != len(theirs):
            missing = "no such line"
            check.add(f"line {line}", ", ".join(mine) if mine else missing, ", ".join(theirs) if theirs else missing)
            continue
        key = ", ".join([cell for cell in mine if cell and as_number(cell) is None][:_KEYS])
        for column, cell, new in zip(names, mine, theirs, strict=False):
            check.add(f"line {line} ({key}), {column}", cell, new)


_SOFTWARE = "software"


def _record(check: FileCheck, before: bytes, after: bytes, versions: Mapping[str, str]) -> None:
    try:
        one, other = dict(_leaves(json.loads(before), "")), dict(_leaves(json.loads(after), ""))
    except ValueError:
        check.add("", "is no JSON", "JSON")
        return
    for place in dict.fromkeys([*one, *other]):
        if place.partition(".")[0] == _SOFTWARE:
            continue  # told apart from results
        check.add(place, one.get(place, "nothing"), other.get(place, "nothing"))


def _leaves(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{place}.{name}" if place else str(name))
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{place}.{number}")
    else:
        yield place, value if isinstance(value, str) else json.dumps(value)


def _text(check: FileCheck, before: bytes, after: bytes, versions: Mapping[str, str]) -> None:
    """Compare the words and numbers of two texts, each with what stands before it."""
    ending = check.file.rpartition(".")[2]
    one = _without_versions(_words(ending, before), versions)
    other = _without_versions(_words(ending, after), versions)
    if ending == "html":
        _markup(check, before, after)
    mine, theirs = _tokens(one), _tokens(other)
    matched = SequenceMatcher(None, [token.text for token in mine], [token.text for token in theirs], autojunk=False)
    for what, i1, i2, j1, j2 in matched.get_opcodes():
        if what == "equal":
            number = sum(token.is_number for token in mine[i1:i2])
            check.values += number
            check.equal += number
            continue
        for old, new in zip_longest(mine[i1:i2], theirs[j1:j2]):
            place = (old or new).before if (old or new) is not None else ""
            check.add(f"after “{place}”", old.text if old else "nothing", new.text if new else "nothing")


def _markup(check: FileCheck, before: bytes, after: bytes) -> None:
    """Compare what a page runs, and what is drawn in it."""
    for name in ("script", "style"):
        pattern = re.compile(rf"<{name}\b.*?</{name}>", re.DOTALL | re.IGNORECASE)
        one, other = (" ".join(pattern.findall(content.decode("utf-8", "replace"))) for content in (before, after))
        if one != other:
            check.add(name, f"{len(one):,} letters", f"other {len(other):,} letters")
    _tags(check, before, after)


class _Token(NamedTuple):
    text: str
    is_number: bool
    before: str


def _tokens(text: str) -> list[_Token]:
    """Return the numbers of a text, and the words between two numbers as one."""
    tokens: list[_Token] = []
    end = 0
    for match in _NUMBER.finditer(text):
        if words := text[end : match.start()].strip():
            tokens.append(_Token(words, False, text[max(0, end - _CONTEXT) : end].strip()))
        tokens.append(_Token(match[0], True, text[max(0, match.start() - _CONTEXT) : match.start()].strip()))
        end = match.end()
    if words := text[end:].strip():
        tokens.append(_Token(words, False, text[max(0, end - _CONTEXT) : end].strip()))
    return tokens


def _words(ending: str, content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    if ending in ("html", "svg"):
        from html import unescape

        text = unescape(_TAGS.sub(" ", text))
    return _SPACES.sub(" ", text)


def _numbers(ending: str, content: bytes) -> list[str]:
    return _NUMBER.findall(_words(ending, content))


def _without_versions(text: str, versions: Mapping[str, str]) -> str:
    """Return a text without the versions of software, which are told apart from results."""
    for name in versions:
        text = re.sub(rf"(?i)\b({re.escape(name)})(\s*[{{(]?\s*(?:version )?)\d[\w.+-]*\w", r"\1\2*", text)
    return text


def _figure(check: FileCheck, before: bytes, after: bytes, versions: Mapping[str, str]) -> None:
    """Compare what is drawn: the numbers of every shape and every label."""
    check.add("words", *(" ".join(_words("svg", content).split()) for content in (before, after)))
    _tags(check, before, after)


def _tags(check: FileCheck, before: bytes, after: bytes) -> None:
    one, other = _shapes(before), _shapes(after)
    if len(one) != len(other):
        check.add("shapes and elements", str(len(one)), str(len(other)))
        return
    different = [(number, *pair) for number, pair in enumerate(zip(one, other, strict=True), 1) if pair[0] != pair[1]]
    check.values += len(one) - len(different)
    check.equal += len(one) - len(different)
    for number, mine, theirs in different:
        check.add(f"element {number}", mine, theirs)


def _shapes(content: bytes) -> list[str]:
    return re.findall(r"<[a-zA-Z][^>]*>", content.decode("utf-8", "replace"))


def _whole(check: FileCheck, before: bytes, after: bytes, versions: Mapping[str, str]) -> None:
    """Compare what other software writes with other bytes: where the software is the same, they have to be."""
    if versions:
        check.values, check.unchecked = (
            1,
            _OTHER_SOFTWARE.get(check.file.rpartition(".")[2], "written by other software"),
        )
    else:
        check.add("", f"{len(before):,} bytes", f"other {len(after):,} bytes")


_OTHER_SOFTWARE = {
    "png": "drawn by other software; the SVG beside it is checked",
    "pdf": "drawn by other software; the SVG beside it is checked",
    "parquet": "written by other software; the CSV beside it is checked",
}


_Comparison: TypeAlias = Callable[[FileCheck, bytes, bytes, Mapping[str, str]], None]
_BY_ENDING: Mapping[str, _Comparison] = {
    "csv": _table, "json": _record, "html": _text, "md": _text, "tex": _text, "bib": _text, "svg": _figure,
    "png": _whole, "pdf": _whole, "parquet": _whole,
}  # fmt: skip
_KIND_OF: Mapping[str, Literal["table", "record", "text", "figure", "data"]] = {
    "csv": "table", "json": "record", "html": "text", "md": "text", "tex": "text", "bib": "text", "svg": "figure",
    "png": "figure", "pdf": "figure",
}  # fmt: skip


def counted(checks: Sequence[FileCheck]) -> Mapping[State, int]:
    """Return how many files are equal, different and not checkable."""
    return {state: sum(one.state == state for one in checks) for state in ("equal", "different", "not checkable")}
