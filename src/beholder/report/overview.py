"""The overview of a report with many questions: a row for each, a dot for each condition."""

from __future__ import annotations

from beholder.analyse.result import records
from beholder.report.markup import Child, Markup, tag
from beholder.report.material import Material
from beholder.report.part import Part
from beholder.report.tables import scrolling
from beholder.report.words import number, span

MOST_OPEN = 3
"""Questions up to this many are told one after the other, without an overview."""
_WIDTH, _HEIGHT, _EDGE = 96, 14, 7


def overview(material: Material) -> Markup:
    """Return a table of the means: a question in each row, a condition in each column, all dots on their scale."""
    parts = [part for part in material.parts if part.order]
    rated = {name for part in parts for name in part.order}
    names = [name for name in material.labels if name in rated]
    scales = {(part.scale.min, part.scale.max) for part in parts}
    heads: list[Child] = [tag("th", "Question", scope="col")]
    heads += [tag("th", material.labels[name], scope="col") for name in names]
    shorts = short_names(material)
    rows = [_row(part, shorts[part.id], names, has_span=len(scales) > 1) for part in parts]
    title = "Mean of every condition, by question"
    grid = tag(
        "table",
        tag("caption", title, class_="unseen"),
        tag("thead", tag("tr", heads)),
        tag("tbody", rows),
        class_="table overview",
    )
    return scrolling(title, grid)


def overview_foot(material: Material) -> str:
    """Return how the overview is read."""
    parts = [part for part in material.parts if part.order]
    scales = {(part.scale.min, part.scale.max) for part in parts}
    metrics = " or ".join(dict.fromkeys(part.metric for part in parts))
    line = f"from {span(*scales.pop())}" if len(scales) == 1 else "over the scale of its question"
    turned = " ↓ marks a reversed statement: less is better." if any(part.keyed == "-" for part in parts) else ""
    return f"Dot: {metrics}, on a line {line}.{turned} Intervals and tests stand below."


def short_names(material: Material) -> dict[str, str]:
    """Return what each question is called in a list of all; ticks need not repeat what was asked, if all differ."""
    shorts = [part.short for part in material.parts]
    return {part.id: part.short if shorts.count(part.short) == 1 else part.id for part in material.parts}


def _row(part: Part, called: str, names: list[str], *, has_span: bool) -> Markup:
    means = {str(row["condition"]): float(row["mean"]) for row in records(part.conditions)}
    scale = f" ({span(part.scale.min, part.scale.max)})" if has_span else ""
    link = tag("a", called, href=f"#findings-{part.slug}")
    name = tag("th", link, scale, " ↓" if part.keyed == "-" else None, scope="row")
    return tag("tr", name, [_cell(part, means.get(condition)) for condition in names])


def _cell(part: Part, mean: float | None) -> Markup:
    if mean is None:
        return tag("td", "–")
    return tag("td", tag("span", _strip(part, mean), number(mean, part.decimals), class_="overview__cell"))


def _strip(part: Part, mean: float) -> Markup:
    """Return a line from end to end of the scale with a dot on it; the number beside it says the same."""
    low, high = part.scale.min, part.scale.max
    place = _EDGE + (_WIDTH - 2 * _EDGE) * (mean - low) / (high - low)
    middle = _HEIGHT / 2
    zero = None
    if part.zero is not None:
        at = _EDGE + (_WIDTH - 2 * _EDGE) * (part.zero - low) / (high - low)
        zero = tag("path", d=f"M{at:g} 1V{_HEIGHT - 1}")
    return tag(
        "svg",
        tag("path", d=f"M{_EDGE} {middle:g}H{_WIDTH - _EDGE}"),
        zero,
        tag("circle", cx=f"{place:.1f}", cy=f"{middle:g}", r="5"),
        class_="strip",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        aria_hidden="true",
    )
