"""What participants read: the researcher's Markdown, and safe HTML made of it."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Literal, NamedTuple, get_args

from beholder.errors import Problem, StudyError, did_you_mean
from beholder.study.model import Study
from beholder.study.questions import Page
from beholder.study.reader import Fault

Which = Literal["consent", "instructions", "pause", "thanks"]

_TAGS = frozenset((
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "em",
    "strong", "s", "code", "pre", "blockquote", "a", "br", "hr",
))  # fmt: skip
_SCHEMES = {"http", "https", "mailto"}


def study_text(study: Study, which: Which | str) -> str | None:
    """Return a text of the study as Markdown, from its file where it names one; None where there is none."""
    if which not in get_args(Which):
        raise KeyError(which)
    if which == "instructions":
        return "\n\n".join(page.text for page in instruction_pages(study)) or None
    text: str | None = getattr(study.texts, which)
    return None if text is None else _read(study, f"texts.{which}", text)


def instruction_pages(study: Study) -> tuple[Page, ...]:
    """Return the pages of the instructions, their texts as Markdown; none where the study has none of its own."""
    pages = study.texts.pages
    keys = [f"texts.instructions.{place}.text" for place in range(len(pages))]
    if len(pages) == 1:
        keys = ["texts.instructions"]
    return tuple(
        page.model_copy(update={"text": _read(study, key, page.text)}) for key, page in zip(keys, pages, strict=True)
    )


def _read(study: Study, key: str, text: str) -> str:
    """Return a text as Markdown, from its file where it names one."""
    if not is_file_name(text):
        return text
    fault = text_fault(study.folder, text)
    if fault is not None:
        raise StudyError(study.problem(key, fault.what, fault.allowed, fault.fix))
    return (study.folder / text).read_text("utf-8-sig")


def is_file_name(text: str) -> bool:
    """Return whether a text of the study is the name of a file."""
    return text.endswith(".md") and "\n" not in text


def path_fault(path: str) -> Fault | None:
    """Return what is wrong with a path as such, if anything: it has to stay inside the study folder."""
    allowed = "a path inside the study folder, with / between folders"
    if "\0" in path or "\\" in path:
        return Fault(f"is {path!r}", allowed)
    if PurePosixPath(path).is_absolute() or PureWindowsPath(path).drive:
        return Fault(f"is {path}, an absolute path", allowed, "Move it into the study folder.")
    depth = 0
    for step in PurePosixPath(path).parts:
        depth += -1 if step == ".." else 1
        if depth < 0:
            return Fault(f"is {path}, outside the study folder", allowed, "Move it into the study folder.")
    return None


def text_fault(folder: Path, text: str) -> Fault | None:
    """Return what is wrong with a text of the study, if it names a file."""
    if not is_file_name(text):
        return None
    fault = path_fault(text)
    if fault is not None:
        return fault
    file = folder / text
    try:
        content = file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        return Fault(f"is {text}, which is not UTF-8", "UTF-8", "Save the file as UTF-8.")
    except (OSError, ValueError):
        allowed = "Markdown, or the name of a file that ends in .md"
        return Fault(f"is {text}, and there is no such file", allowed, f"Write it to {text} in the study folder.")
    if not content.strip():
        return Fault(f"is {text}, which is empty", "a file that says something")
    return None


def markdown(text: str) -> str:
    """Return safe HTML of a Markdown text: no raw HTML, no images, no links but to the web and to mail."""
    import nh3
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
    reader.add_render_rule("html_inline", _nothing)
    reader.add_render_rule("html_block", _words_only)
    reader.add_render_rule("image", _nothing)
    return nh3.clean(
        reader.render(text),
        tags=set(_TAGS),
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        attribute_filter=_keep,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    ).strip()


def _keep(tag: str, attribute: str, value: str) -> str | None:
    """Keep an attribute, unless it leads to somewhere on our own server."""
    if attribute == "href" and value.split(":", 1)[0].lower() not in _SCHEMES:
        return None
    return value


def _nothing(renderer: Any, tokens: Sequence[Any], index: int, options: Any, env: Mapping[str, Any]) -> str:
    return ""


def _words_only(renderer: Any, tokens: Sequence[Any], index: int, options: Any, env: Mapping[str, Any]) -> str:
    import nh3

    words = nh3.clean(tokens[index].content, tags=set()).strip()
    return f"<p>{words}</p>" if words else ""


# --- A CSV that a study names, as lines of cells under known columns ---


DELIMITERS = (",", ";", "\t")
"""What stands between cells: spreadsheets of half of Europe write semicolons."""

_CONTROL = dict.fromkeys((*range(32), 127), " ")


class CsvLine(NamedTuple):
    """One line of a CSV: where it stands, as `plan.csv:7`, and its cells by column."""

    where: str
    cells: Mapping[str, str]


class CsvTable(NamedTuple):
    """A CSV as it stands: its first line, the other lines with their numbers, and what stands between cells."""

    heads: list[str]
    rows: list[tuple[int, list[str]]]
    delimiter: str


def read_lines(folder: Path, name: str, columns: Sequence[str], problems: list[Problem]) -> list[CsvLine]:
    """Return the lines of a CSV that has exactly these columns, in any order; what is wrong is added to `problems`.

    Blank lines are passed over, a cell that is not there is empty.
    """
    sheet = read_sheet(folder, name, columns, problems)
    if sheet is None:
        return []
    heads = [head.lower() for head in sheet.heads]
    wrong = list(_wrong_columns(f"{name}:1", heads, columns))
    problems.extend(wrong)
    return [] if wrong else list(_lines(name, heads, sheet.rows, problems))


def read_sheet(folder: Path, name: str, columns: Sequence[str], problems: list[Problem]) -> CsvTable | None:
    """Return a CSV with whichever columns it has; None where it cannot be read, and `problems` tell why.

    `columns` are those that are looked for: by them it is told what stands between cells.
    """
    path = folder / name
    if not path.is_file():
        problems.append(Problem(name, "does not exist", "", f"Write it, with {_columns(columns)}."))
        return None
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        problems.append(Problem(name, "is not UTF-8 text", fix="Save it as CSV UTF-8."))
        return None
    delimiter = _delimiter(text, columns)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [(reader.line_num, [plain(cell) for cell in cells]) for cells in reader]
    except csv.Error as error:
        problems.append(Problem(f"{name}:{reader.line_num}", f"is no CSV: {error}"))
        return None
    return CsvTable(lines[0][1] if lines else [], lines[1:], delimiter)


def _columns(names: Sequence[str]) -> str:
    return f"the column{'s' * (len(names) != 1)} {', '.join(names)}"


def plain(text: str) -> str:
    """Return a name as the catalogue spells names: letters composed, and without line ends and the like."""
    return unicodedata.normalize("NFC", text.translate(_CONTROL)).strip()


def first_cells(folder: Path, name: str) -> list[str]:
    """Return the columns of a CSV in small letters; none where it cannot be read."""
    try:
        first = (folder / name).read_text(encoding="utf-8-sig").partition("\n")[0]
    except (OSError, ValueError):
        return []
    cells = re.split("|".join(DELIMITERS), first)
    return [cell.strip(' "\r').lower() for cell in cells]


def _lines(
    name: str, heads: Sequence[str], lines: Sequence[tuple[int, list[str]]], problems: list[Problem]
) -> Iterator[CsvLine]:
    for number, cells in lines:
        where = f"{name}:{number}"
        if len(cells) > len(heads) and any(cells[len(heads) :]):
            problems.append(Problem(where, f"has {len(cells)} cells, the first line has {len(heads)}"))
        elif any(cells):
            given = dict(zip(heads, cells, strict=False))
            yield CsvLine(where, {head: given.get(head, "") for head in heads if head})


def _delimiter(text: str, columns: Collection[str]) -> str:
    """Return what stands between cells: under which the first line has most of the columns, then most cells."""
    first = text.partition("\n")[0]

    def known(one: str) -> tuple[int, int]:
        cells = first.split(one)
        return len({cell.strip(' "\r').lower() for cell in cells} & {*columns}), len(cells)

    return max(DELIMITERS, key=known)


def _wrong_columns(where: str, heads: Sequence[str], columns: Sequence[str]) -> Iterator[Problem]:
    allowed = ", ".join(columns)
    for column in columns:
        if column not in heads:
            yield Problem(where, f"column {column} is missing", allowed)
        elif heads.count(column) > 1:
            yield Problem(where, f"column {column} is there twice", allowed)
    for head in dict.fromkeys(heads):
        if head and head not in columns:
            missing = [column for column in columns if column not in heads]
            yield Problem(where, f"column {head} is unknown", allowed, did_you_mean(head, missing))
