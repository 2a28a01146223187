"""The page of an example: every table and figure of its paper, ours beside theirs, as HTML and as Markdown."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from beholder.examples.contract import ORIGINS, Exhibit, PaperStudy, merge
from beholder.files import json_bytes, table_bytes, utf8, write_atomically
from beholder.formats import count
from beholder.reporting.html import Child, Markup, document, panel, table, tag
from beholder.reporting.result_page import population_line
from beholder.reporting.sheets import TextTable, latex_table, markdown_table

_SIMULATED = (
    "Unless a table says that it is from published numbers, its people are robots with planted opinions. It shows that "
    "the table is made, not that the finding holds."
)


def write_example(example: PaperStudy, exhibits: Sequence[Exhibit], folder: Path) -> Path:
    """Write `exhibits/` with every table as CSV and LaTeX, exhibits.json, and index.html; return the page."""
    for exhibit in exhibits:
        if exhibit.ours is not None:
            base = folder / "exhibits" / exhibit.key
            write_atomically(base.with_suffix(".csv"), _csv(exhibit.ours))
            write_atomically(base.with_suffix(".tex"), utf8(latex_table(exhibit.ours)))
    write_atomically(folder / "exhibits" / "exhibits.json", json_bytes([_entry(one, folder) for one in exhibits]))
    page = folder / "index.html"
    write_atomically(page, utf8(_html(example, exhibits, folder)))
    return page


def _csv(sheet: TextTable) -> bytes:
    heads = [head or "row" for head in sheet.heads]
    return table_bytes(heads, (dict(zip(heads, row, strict=True)) for row in sheet.rows))


def _entry(exhibit: Exhibit, folder: Path) -> dict[str, Any]:
    return {
        "name": exhibit.name, "title": exhibit.title, "origin": exhibit.origin, "made_by": exhibit.made_by,
        "table": f"{exhibit.key}.csv" if exhibit.ours else "",
        "figure": _relative(exhibit.figure, folder) if exhibit.figure else "", "note": exhibit.note,
    }  # fmt: skip


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


def tables_of(exhibit: Exhibit) -> Iterator[tuple[str, TextTable]]:
    """Yield the tables of an exhibit with their captions: ours with theirs in brackets, or one after the other."""
    if exhibit.ours is None:
        return
    if exhibit.theirs is None:
        yield "Ours", exhibit.ours
        return
    both = merge(exhibit.ours, exhibit.theirs)
    if both is not None:
        yield "Ours, and in brackets the paper’s", both
    else:
        yield "Ours", exhibit.ours
        yield "The paper’s", exhibit.theirs


def _html(example: PaperStudy, exhibits: Sequence[Exhibit], folder: Path) -> str:
    made = sum(exhibit.origin != "not made" for exhibit in exhibits)
    top = tag(
        "header",
        tag("p", "The papers, again", class_="paper__kind"),
        tag("h1", example.title),
        tag("p", f"{example.citation}. {count(made, 'exhibit')} of {len(exhibits)} made again."),
        class_="paper__head",
    )
    sections = [_panel(exhibit, folder) for exhibit in exhibits]
    body = [population_line(_SIMULATED), tag("main", top, sections, class_="paper")]
    return document(f"{example.title}, again", body, ["interactive.js"])


def _panel(exhibit: Exhibit, folder: Path) -> Markup:
    parts: list[Child] = [tag("p", _origin(exhibit))]
    parts += [table(caption, sheet) for caption, sheet in tables_of(exhibit)]
    if exhibit.figure is not None:
        parts.append(tag("img", src=_relative(exhibit.figure, folder), alt=exhibit.title, style="max-width: 100%"))
    content = Markup("".join(part for part in parts if isinstance(part, str)))
    return panel(exhibit.key, f"{exhibit.name}. {exhibit.title}", content, foot=exhibit.note or None, is_wide=True)


def _origin(exhibit: Exhibit) -> str:
    return f"{ORIGINS[exhibit.origin]} {exhibit.made_by}.".replace("`", "")


def markdown_section(example: PaperStudy, exhibits: Sequence[Exhibit], pictures: dict[str, str]) -> str:
    """Return an example as a section of a Markdown page; `pictures` are the links of figures by key."""
    lines = [
        f"## {example.title}",
        "",
        f"{example.citation}.",
        "",
        "```console",
        f"$ beholder examples run {example.name}",
        "```",
        "",
    ]
    for exhibit in exhibits:
        lines += [f"### {exhibit.name}: {exhibit.title}", "", f"{ORIGINS[exhibit.origin]} {exhibit.made_by}.", ""]
        if exhibit.key in pictures:
            lines += [f"![{exhibit.title}]({pictures[exhibit.key]})", ""]
        for caption, sheet in tables_of(exhibit):
            lines += [f"{caption}:", "", markdown_table(sheet).strip(), ""]
        if exhibit.note:
            lines += [exhibit.note, ""]
    return "\n".join(lines)
