"""HTML of a report: elements, in which text is always escaped, panels, tables and whole pages."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib import resources
from typing import TypeAlias

from beholder.formats import signed
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.sheets import TextTable

_VOID_TAGS = frozenset({"meta", "br", "col", "img"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "str | int | float | Sequence[Child] | None"


def tag(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """Return an element. `class_` is class, `aria_label` is aria-label; None and False leave an attribute out."""
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        word = key.rstrip("_").replace("_", "-")
        parts.append(f" {word}" if value is True else f' {word}="{escape(str(value))}"')
    parts.append(">")
    if name not in _VOID_TAGS:
        parts.extend((render(children), f"</{name}>"))
    return Markup("".join(parts))


def render(child: Child) -> Markup:
    """Return a child as HTML: elements as they are, anything else as text."""
    if child is None:
        return Markup()
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int | float):
        return Markup(escape(str(child)))
    return Markup("".join(render(one) for one in child))


# Pages


def document(title: str, body: Child, scripts: Sequence[str]) -> str:
    """Return a whole page with its style and these scripts."""
    alive = Markup("\n".join(_text(name) for name in scripts))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        policy(alive),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · Beholder"),
        tag("style", _text("style.css")),
    )
    return (
        "<!doctype html>\n"
        + tag("html", head, tag("body", body, tag("script", alive, type="module")), lang="en")
        + "\n"
    )


def policy(script: str = "") -> Markup:
    """Return the content security policy of a page that is read from a folder: this script alone, and no network.

    Names of conditions and words of participants are escaped; should one get through, it is still no script.
    """
    allowed = f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" if script else "'none'"
    rules = (
        "default-src 'none'", f"script-src {allowed}", "style-src 'unsafe-inline'", "img-src 'self' file: data:",
        "base-uri 'none'", "form-action 'none'",
    )  # fmt: skip
    return tag("meta", http_equiv="Content-Security-Policy", content="; ".join(rules))


def _text(name: str) -> Markup:
    return Markup(resources.files("beholder.reporting").joinpath(name).read_text(encoding="utf-8"))


# Contents


_HEADINGS = re.compile(r'<h2 id="([^"]+)-h">(.*?)</h2>', re.DOTALL)
_FEWEST_LISTED = 4
"""A page with fewer sections has no list of contents."""


def headings(content: Child) -> list[tuple[str, Markup]]:
    """Return the anchor and the title of every panel in a piece of a page."""
    return [(anchor, Markup(title)) for anchor, title in _HEADINGS.findall(render(content))]


def contents(lines: Sequence[Sequence[tuple[str, Child]]]) -> Markup | None:
    """Return the list of contents, folded: each line has anchors with their titles, the first of them the main one.

    None where a page is too short for one.
    """
    if len(lines) < _FEWEST_LISTED:
        return None
    items = []
    for line in lines:
        first, *further = [tag("a", title, href=f"#{anchor}") for anchor, title in line]
        items.append(tag("li", first, tag("span", further) if further else None))
    listed = tag("details", tag("summary", "Contents"), tag("ol", items))
    return tag("nav", listed, class_="contents", aria_label="Contents")


# Panels


def folded(title: str, content: Child) -> Markup:
    """Return content that is too long to stand open, behind its title; on paper it is open."""
    return tag("details", tag("summary", title), tag("div", content, class_="folded"), class_="question")


def panel(name: str, title: str, content: Markup, *, foot: Child = None, is_wide: bool = False) -> Markup:
    """Return a panel with an anchor of this name; a wide one has the whole width of the page."""
    return tag(
        "section",
        tag("h2", title, id=f"{name}-h"),
        content,
        tag("p", foot, class_="panel__foot") if foot else None,
        class_="panel paper__wide" if is_wide else "panel",
        id=name,
        aria_labelledby=f"{name}-h",
    )


# Tables


MOST_ROWS = 12
"""The most rows of a table that stands open."""


def table(caption: str, sheet: TextTable) -> Markup:
    """Return a table that scrolls by itself where it is too wide."""
    kinds = ["is-name" if place < sheet.names else None for place in range(len(sheet.heads))]
    head = tag("tr", [tag("th", word, scope="col", class_=kind) for word, kind in zip(sheet.heads, kinds, strict=True)])
    body = []
    for first, *rest in sheet.rows:
        cells = [tag("td", cell, class_=kind) for cell, kind in zip(rest, kinds[1:], strict=True)]
        body.append(tag("tr", tag("th", first, scope="row"), cells))
    return scrolling(
        caption, tag("table", tag("caption", caption), tag("thead", head), tag("tbody", body), class_="table")
    )


def scrolling(label: str, content: Markup) -> Markup:
    """Return content in a box that scrolls sideways, also by keyboard."""
    return tag("div", content, class_="scroll", role="region", aria_label=label, tabindex=0)


_MANY_COLUMNS = 12


def matrix(part: QuestionResults, labels: Mapping[str, str]) -> Markup:
    """Return the matrix of differences, row minus column, best first; `=` if a difference is not clear."""
    clear = [abs(part.differences[pair]) for pair in part.clear_on_these]
    places = part.decimals - 1 if min(clear, default=1) * 10 ** (part.decimals - 1) >= 0.5 else part.decimals
    heads = [tag("th", tag("span", labels[name], title=labels[name]), scope="col") for name in part.matrix_order]
    head = tag("tr", tag("td"), heads)
    body = [
        tag(
            "tr",
            tag("th", labels[row], scope="row"),
            [_cell(part, row, column, places) for column in part.matrix_order],
        )
        for row in part.matrix_order
    ]
    caption = "Differences between conditions, row minus column"
    kind = "matrix matrix--many" if len(part.matrix_order) > _MANY_COLUMNS else "matrix"
    grid = tag("table", tag("caption", caption, class_="unseen"), tag("thead", head), tag("tbody", body), class_=kind)
    return scrolling(caption, grid)


def _cell(part: QuestionResults, row: str, column: str, places: int) -> Markup:
    if row == column:
        return tag("td", class_="matrix__self")
    if (row, column) in part.clear_on_these:
        value = part.differences[row, column]
        shown, kind = signed(value, places), "matrix__above" if value > 0 else "matrix__below"
        if (row, column) in part.only_on_these:
            return tag("td", shown, class_="matrix__these", aria_label=f"{shown}, clear on these contents only")
        return tag("td", shown, class_=kind)
    if (row, column) not in part.tested:
        return tag("td", "–", class_="matrix__same", aria_label="not tested")
    return tag("td", "=", class_="matrix__same", aria_label="no clear difference")


# Files


def file_list(files: Sequence[str]) -> Markup:
    """Return links to all files, the formats of one figure in one line."""
    by_stem: dict[str, list[str]] = {}
    for name in files:
        stem = name.rpartition(".")[0] if name.startswith("figures/") else name
        by_stem.setdefault(stem, []).append(name)
    lines = []
    for stem, names in by_stem.items():
        if names == [stem]:
            lines.append(tag("li", tag("a", stem, href=stem)))
            continue
        links = [[" ", tag("a", name.rpartition(".")[2], href=name)] for name in names]
        lines.append(tag("li", stem.removeprefix("figures/"), render(links)))
    return tag("ul", lines, class_="files")


Figures = Mapping[str, Markup]
