"""The tables of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beholder.analyse.result import records
from beholder.report.markup import Child, Markup, tag
from beholder.report.material import Part
from beholder.report.words import number, p_value, signed


def table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[Child]], *, names: int = 1) -> Markup:
    """Return a table that scrolls by itself where it is too wide; the first `names` columns are text."""
    kinds = ["is-name" if place < names else None for place in range(len(heads))]
    head = tag("tr", [tag("th", word, scope="col", class_=kind) for word, kind in zip(heads, kinds, strict=True)])
    body = []
    for first, *rest in rows:
        cells = [tag("td", cell, class_=kind) for cell, kind in zip(rest, kinds[1:], strict=True)]
        body.append(tag("tr", tag("th", first, scope="row"), cells))
    return scrolling(
        caption, tag("table", tag("caption", caption), tag("thead", head), tag("tbody", body), class_="table")
    )


def scrolling(label: str, content: Markup) -> Markup:
    """Return content in a box that scrolls sideways, also by keyboard."""
    return tag("div", content, class_="scroll", role="region", aria_label=label, tabindex=0)


def matrix(part: Part, labels: Mapping[str, str]) -> Markup:
    """Return every pair as row minus column: the difference where it is clear, `=` where it is not."""
    clear = [abs(part.differences[pair]) for pair in part.clear]
    places = part.decimals - 1 if min(clear, default=1) * 10 ** (part.decimals - 1) >= 0.5 else part.decimals
    head = tag("tr", tag("td"), [tag("th", tag("span", labels[name]), scope="col") for name in part.order])
    body = [
        tag("tr", tag("th", labels[row], scope="row"), [_cell(part, row, column, places) for column in part.order])
        for row in part.order
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


def score_table(part: Part, labels: Mapping[str, str]) -> Markup:
    """Return n, participants, mean, interval, sd and median of every condition, best first."""
    d = part.decimals
    rows = [
        (
            labels[row["condition"]], f"{row['n']:,.0f}", f"{row['participants']:,.0f}", number(row["mean"], d),
            _interval(row["ci_low"], row["ci_high"], d), number(row["sd"], d), number(row["median"], d),
        )
        for row in records(part.conditions)
    ]  # fmt: skip
    heads = ("Condition", "Ratings", "Participants", "Mean", "95 % interval", "SD of ratings", "Median")
    return table(f"Scores: {part.id}", heads, rows)


def pair_table(part: Part, labels: Mapping[str, str]) -> Markup:
    """Return every pair with difference, interval and test."""
    d = part.decimals
    rows = [
        (
            labels[row["condition"]], labels[row["other_condition"]], f"{row['n']:.0f}",
            signed(row["mean_difference"], d), _interval(row["ci_low"], row["ci_high"], d), p_value(row["p"]),
            p_value(row["p_holm"]),
        )
        for row in records(part.pairs)
    ]  # fmt: skip
    heads = ("Condition", "minus", "Participants", "Mean difference", "95 % interval", "p", "p, Holm")
    return table(f"Pairs of conditions: {part.id}", heads, rows, names=2)


def content_table(part: Part, labels: Mapping[str, str]) -> Markup:
    """Return the mean of every content under every condition, and over all of them."""
    d = part.decimals
    cells = part.scores.groupby(["content", "condition"])["mean"].mean().to_dict()
    rows = [
        (
            row["content"],
            *(number(cells.get((row["content"], name), float("nan")), d) for name in part.order),
            number(row["mean"], d),
            f"{row['n']:,.0f}",
        )
        for row in records(part.contents)
    ]
    heads = ("Content", *(labels[name] for name in part.order), "All", "Ratings")
    return table(f"Mean score of each content under each condition: {part.id}", heads, rows)


def _interval(low: float, high: float, decimals: int) -> str:
    return "–" if low != low else f"{number(low, decimals)} to {number(high, decimals)}"
