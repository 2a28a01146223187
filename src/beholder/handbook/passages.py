"""The docs in passages, wherever this copy of Beholder keeps its pages, and the one that explains a word or message."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import beholder
from beholder.errors import Problem, UserError

_PACKAGE = Path(beholder.__file__).parent
_INSTALLED = Path(__file__).with_name("pages")
"""Where a wheel has docs/."""
_CHECKED_OUT = _PACKAGE.parent.parent / "docs"
_HEADING = re.compile(r"^(#{1,4}) (.+)$")
_ROW = re.compile(r"^\| (`[^|]+`)(?: \(|,? \||,)")
_CODE = re.compile(r"`([^`]+)`")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)


MOST = 8
"""How many places are named."""
_REFERENCE = (
    "study-file.md",
    "commands.md",
    "troubleshooting.md",
    "methods",
    "trust.md",
    "qualification.md",
    "data.md",
)
"""Pages that explain what has a name, in the order in which a name is looked up."""
_MESSAGES = ("troubleshooting.md", "mistakes.md")
_WORD = re.compile(r"[\w.-]+")
_LEAST_SHARE = 0.4
"""Of the neighbouring words of a message that was pasted, whose names and numbers are somebody's own."""


@dataclass(frozen=True)
class Passage:
    """A heading with the text below it, down to the next heading."""

    page: str
    """The page's path on the site, such as `trust.md` or `methods/acr.md`."""
    title: str
    """Of the page."""
    heading: str
    anchor: str
    """As hosts of code make it from the heading; empty for the beginning of a page."""
    text: str
    above: str = ""
    """The heading that this one stands below."""

    @property
    def rows(self) -> Mapping[str, str]:
        """Return the rows of tables whose first cell is code, by each of the names in it."""
        lines = [line for line in self.text.splitlines() if _ROW.match(line)]
        return {name: line for line in lines for name in _CODE.findall(line.split(" | ")[0])}

    @property
    def place(self) -> str:
        """Return page and anchor, as a link has them."""
        return f"{self.page}#{self.anchor}" if self.anchor else self.page


def docs_files() -> dict[str, Path]:
    """Return the file of each page by its path on the site; methods keep theirs in their folders."""
    folder = _INSTALLED if _INSTALLED.is_dir() else _CHECKED_OUT
    if not (folder / "index.md").is_file():
        fix = "Install Beholder from its wheel or its repository: both bring the docs along."
        raise UserError(Problem(str(folder), "has no pages of the docs", "", fix))
    found = {path.name: path for path in sorted(folder.glob("*.md"))}
    for path in sorted((_PACKAGE / "methods").glob("*/README.md")):
        found[f"methods/{path.parent.name.replace('_', '-')}.md"] = path
    return found


@cache
def docs_passages() -> tuple[Passage, ...]:
    """Return all passages of all pages, the index of the docs first."""
    files = docs_files()
    order = sorted(files, key=lambda page: (page != "index.md", "/" in page, page))
    return tuple(section for page in order for section in passages_of(page, files[page].read_text("utf-8")))


def passages_of(page: str, text: str) -> Iterator[Passage]:
    """Yield the passages of a page; a line that begins with # inside a block of code is no heading."""
    title, heading, anchor, above = page, "", "", {1: ""}
    lines: list[str] = []
    level, in_code = 1, False
    for line in [*_COMMENT.sub("", text).splitlines(), None]:
        in_code ^= line is not None and line.startswith("```")
        match = None if line is None or in_code else _HEADING.match(line)
        if line is not None and match is None:
            lines.append(line)
            continue
        if heading:
            below = next((above[one] for one in range(level - 1, 1, -1) if one in above), "")
            yield Passage(page, title, heading, anchor, "\n".join(lines).strip(), below)
        if match is not None:
            level, heading, lines = len(match[1]), match[2], []
            title = heading if level == 1 else title
            anchor = "" if level == 1 else anchor_of(heading)
            above = {one: words for one, words in above.items() if one < level} | {level: heading}


def anchor_of(heading: str) -> str:
    """Return the anchor of a heading, as hosts of code make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


@dataclass(frozen=True)
class Explanation:
    """A place in the docs, with the line that says it."""

    passage: Passage
    line: str
    rank: float
    """How well it fits: the lower, the better."""


def find_passages(asked: str) -> tuple[Explanation, ...]:
    """Return the places that explain a word or message, the best first; refuse what is nowhere."""
    words = asked.strip().strip("`")
    best: dict[str, Explanation] = {}
    for passage in docs_passages():
        for rank, line in _ranks(passage, words):
            held = best.get(passage.place)
            if held is None or rank < held.rank:
                best[passage.place] = Explanation(passage, line, rank)
    found = sorted(best.values(), key=lambda one: (one.rank, _page_rank(one.passage)))
    if not found:
        near = difflib.get_close_matches(words.lower(), sorted(_names()), 5, 0.6)
        allowed = f"a key, method, check, command or words of a message; near it: {', '.join(near)}" if near else ""
        fix = "`beholder docs` without a word opens the first page, where everything is listed."
        raise UserError(Problem("WORD", f"is {asked}, which no page of the docs explains", allowed, fix))
    return tuple(found[:MOST])


def _ranks(passage: Passage, asked: str) -> Iterator[tuple[float, str]]:
    """Yield how well a passage fits, each time with the line that does."""
    lower = asked.lower()
    heading = _plain(passage.heading)
    if heading == lower:
        yield 0 if passage.anchor or passage.page.startswith("methods/") else 0.5, ""
    if heading in {f"beholder {lower}", f"{_plain(passage.above)}.{heading}"} and heading.endswith(lower):
        yield 0, ""
    first, _, last = lower.rpartition(".")
    for name, row in passage.rows.items():
        if name.lower() == lower:
            yield 1, row
        elif first and name.lower() == last and heading in {first, first.rpartition(".")[2]}:
            yield 0, row
    if re.search(rf"\b{re.escape(lower)}\b", heading):
        yield 2, ""
    if passage.page in _MESSAGES and len(asked_words := _WORD.findall(lower)) > 3:
        share, line = max(((_share(asked_words, line), line) for line in passage.text.splitlines()), default=(0.0, ""))
        if share > _LEAST_SHARE:
            yield 3 - share, line
    message = _plain(passage.text)
    if " " in lower and lower in message:
        yield 3, next((line for line in passage.text.splitlines() if lower in _plain(line)), "")
    count = len(re.findall(rf"\b{re.escape(lower)}\b", message))
    if count:
        yield 6 - min(count, 10) / 10, _line_with(passage.text, lower)


def _share(asked: Sequence[str], line: str) -> float:
    """Return the share of the neighbouring words of a message that stand beside each other in a line."""
    words = _WORD.findall(_plain(line))
    there = set(pairwise(words))
    return sum(pair in there for pair in pairwise(asked)) / (len(asked) - 1)


def _page_rank(passage: Passage) -> tuple[int, str]:
    begins = [place for place, page in enumerate(_REFERENCE) if passage.page.startswith(page)]
    return (begins[0] if begins else len(_REFERENCE), passage.page)


def _plain(text: str) -> str:
    return re.sub(r"[`*]", "", text).lower()


def _line_with(text: str, lower: str) -> str:
    return next((line for line in text.splitlines() if re.search(rf"\b{re.escape(lower)}\b", _plain(line))), "")


def _names() -> set[str]:
    """Return everything that has a name: headings and rows."""
    passages: Sequence[Passage] = docs_passages()
    return {_plain(one.heading) for one in passages} | {name.lower() for one in passages for name in one.rows}
