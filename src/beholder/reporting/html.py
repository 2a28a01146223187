"""The tables of the page."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.report.markup import Markup, tag
from beholder.report.part import Part
from beholder.report.sheets import Sheet
from beholder.report.words import signed


def table(caption: str, sheet: Sheet) -> Markup:
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


def matrix(part: Part, labels: Mapping[str, str]) -> Markup:
    """Return every pair as row minus column, best first: the difference where it is clear, `=` where it is not."""
    clear = [abs(part.differences[pair]) for pair in part.clear]
    places = part.decimals - 1 if min(clear, default=1) * 10 ** (part.decimals - 1) >= 0.5 else part.decimals
    head = tag("tr", tag("td"), [tag("th", tag("span", labels[name]), scope="col") for name in part.lined_up])
    body = [
        tag("tr", tag("th", labels[row], scope="row"), [_cell(part, row, column, places) for column in part.lined_up])
        for row in part.lined_up
    ]
    caption = "Differences between conditions, row minus column"
    grid = tag(
        "table", tag("caption", caption, class_="unseen"), tag("thead", head), tag("tbody", body), class_="matrix"
    )
    return scrolling(caption, grid)


def _cell(part: Part, row: str, column: str, places: int) -> Markup:
    if row == column:
        return tag("td", class_="matrix__self")
    if (row, column) in part.clear:
        value = part.differences[row, column]
        return tag("td", signed(value, places), class_="matrix__above" if value > 0 else "matrix__below")
    if (row, column) not in part.tested:
        return tag("td", "–", class_="matrix__same", aria_label="not tested")
    return tag("td", "=", class_="matrix__same", aria_label="no clear difference")
