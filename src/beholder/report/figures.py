"""The figure of scores: dots with intervals, best first, over the bands of the scale."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from beholder.analyse.result import records
from beholder.report.markup import Markup, tag
from beholder.report.part import Part
from beholder.report.words import number
from beholder.study.scale import Scale

# The page's stylesheet finds these values in the SVG and turns them into the colours of its theme.
ACCENT, BAR, BAND, LINE, INK, SOFT, PAPER = "#34509e", "#7f96ca", "#ebebeb", "#d4d4d4", "#1a1a1a", "#4d4d4d", "#ffffff"
_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_ROW = 30


class Layout(NamedTuple):
    """The measures of a figure in pixels."""

    plot: int
    names: int
    size: int
    ticks: int
    dot: int
    """Area; small enough not to hide an interval of two points in a hundred."""
    has_margin: bool
    """Whether the interval stands beside the mean at the right."""


WIDE = Layout(plot=860, names=230, size=13, ticks=8, dot=130, has_margin=True)
PAPER_WIDTH = Layout(plot=460, names=170, size=12, ticks=8, dot=64, has_margin=True)
NARROW = Layout(plot=200, names=92, size=12, ticks=3, dot=16, has_margin=False)


def scores_chart(part: Part, labels: Mapping[str, str], layout: Layout, *, title: str = "") -> Any:
    """Return the Altair chart of one question."""
    import altair as alt

    low, high, bands = scale_bands(part.scale)
    names = [labels[name] for name in part.order]
    height = _ROW * len(names)
    rows = [_row(row, labels, part, low, high) for row in records(part.best_first)]
    calm: dict[str, Any] = {"domain": False, "ticks": False}
    across = alt.Axis(
        **calm, grid=False, labelPadding=8, labelColor=SOFT, labelFlush=False, format="~f", title=title or None,
        titleColor=SOFT, titleFontWeight="normal", titlePadding=10, values=_ticks(part.scale, layout.ticks),
    )  # fmt: skip
    # Where names have little room, the role goes under the name.
    split = r"split(replace(datum.label, / \((reference|anchor)\)$/, '\n($1)'), '\n')"
    lines: dict[str, Any] = {} if layout.has_margin else {"labelExpr": split, "labelBaseline": "middle"}
    down = alt.Axis(
        **calm, **lines, labelPadding=10, labelColor=INK, labelLimit=layout.names, labelFontSize=layout.size
    )
    y = alt.Y("name:N", sort=names, title=None, axis=down)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[low, high], nice=False, zero=False), axis=across)

    def chart(values: list[dict[str, Any]]) -> Any:
        return alt.Chart(alt.Data(values=values))  # type: ignore[no-untyped-call]

    def words(offset: float, field: str, colour: str, weight: str) -> Any:
        mark = chart(rows).mark_text(align="left", color=colour, fontWeight=weight, fontSize=layout.size)
        return mark.encode(x=alt.value(layout.plot + offset), y=y, text=f"{field}:N")

    whole = {"y": alt.value(0), "y2": alt.value(height)}
    shaded = [band._asdict() for band in bands[::2]] if len(bands) > 1 else []
    ranges = [row for row in rows if "low" in row]
    dot: dict[str, Any] = {
        "color": ACCENT,
        "size": layout.dot,
        "opacity": 1,
        "stroke": PAPER,
        "strokeWidth": layout.dot**0.5 / 6,
    }
    # Rounded inside its ends: a round line cap would make every interval look wider than it is.
    bar: dict[str, Any] = {"color": BAR, "height": 6, "cornerRadius": 3, "opacity": 1}
    layers = [
        chart(shaded).mark_rect(color=BAND, opacity=1).encode(x=x("start"), x2="stop:Q", **whole),
        chart(rows).mark_rule(color=LINE).encode(x=alt.value(0), x2=alt.value(layout.plot), y=y),
        chart(ranges).mark_bar(**bar).encode(x=x("low"), x2="high:Q", y=y),
        chart(rows).mark_circle(**dot).encode(x=x("mean"), y=y),
        words(10, "value", INK, "bold"),
    ]  # fmt: skip
    if part.zero is not None:
        middle = chart([{"place": part.zero}]).mark_rule(color=SOFT, strokeDash=[3, 3]).encode(x=x("place"), **whole)
        layers.insert(2, middle)
    if layout.has_margin:
        widest = max(len(row["value"]) for row in rows)
        layers.append(words(14 + 0.62 * layout.size * widest, "margin", SOFT, "normal"))
    longest = max(len(band.text) for band in bands)
    if longest and longest * layout.size * 0.55 < layout.plot / len(bands):
        mark = chart([band._asdict() for band in bands]).mark_text(
            baseline="bottom", color=SOFT, fontSize=layout.size - 1
        )
        layers.append(mark.encode(x=x("middle"), y=alt.value(-7), text="text:N"))
    elif longest:
        for band, place, align in ((bands[0], 0, "left"), (bands[-1], layout.plot, "right")):
            mark = chart([band._asdict()]).mark_text(
                baseline="bottom", align=align, color=SOFT, fontSize=layout.size - 1
            )
            layers.append(mark.encode(x=alt.value(place), y=alt.value(-7), text="text:N"))
    small = {"labelFontSize": layout.size - 1, "titleFontSize": layout.size - 1}
    config = alt.Config(aria=False, font=_FONT, view={"stroke": None}, axis=small)
    return alt.LayerChart(layer=layers, width=layout.plot, height=height, background=PAPER, padding=6, config=config)


def to_svg(chart: Any) -> str:
    """Return a chart as SVG, without a browser."""
    import altair as alt
    import vl_convert

    version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
    # Our own chart needs no validation, which would take longer than the drawing.
    return str(vl_convert.vegalite_to_svg(chart.to_dict(validate=False), vl_version=version))


def described(svg: str, name: str, title: str, description: str) -> Markup:
    """Return the SVG for use inside a page: it scales, and says what it shows to those who do not see it."""
    opening = re.match(r"<svg[^>]*>", svg)
    assert opening is not None
    box = re.search(r'viewBox="[^"]*"', opening.group())
    assert box is not None
    words = tag("title", title, id=f"{name}-t") + tag("desc", description, id=f"{name}-d")
    start = f'<svg class="plot" role="img" aria-labelledby="{name}-t {name}-d" {box.group()}>'
    return Markup(start + words + svg[opening.end() :])


class Band(NamedTuple):
    """A stretch of the scale with its word."""

    start: float
    stop: float
    middle: float
    text: str


def scale_bands(scale: Scale) -> tuple[float, float, list[Band]]:
    """Return the ends of the axis, and the bands round the labels: each reaches half-way to its neighbours.

    Where a label stands at the very end of the scale, as on category scales, the axis goes on for half a band.
    """
    labels = sorted(scale.labels)
    if len(labels) < 2:
        return scale.min, scale.max, [Band(scale.min, scale.max, (scale.min + scale.max) / 2, "")]
    places = [place for place, _ in labels]
    edges = [(a + b) / 2 for a, b in pairwise(places)]
    low = min(scale.min, places[0] - (edges[0] - places[0])) if places[0] == scale.min else scale.min
    high = max(scale.max, places[-1] + (places[-1] - edges[-1])) if places[-1] == scale.max else scale.max
    starts, stops = [low, *edges], [*edges, high]
    return low, high, [
        Band(start, stop, (start + stop) / 2, text)
        for start, stop, (_, text) in zip(starts, stops, labels, strict=True)
    ]  # fmt: skip


def _row(
    row: Mapping[str, Any], labels: Mapping[str, str], part: Part, lowest: float, highest: float
) -> dict[str, Any]:
    """Return what is drawn for one condition. A bar ends where the axis ends; the number keeps the whole width."""
    shown = {
        "name": labels[row["condition"]],
        "mean": row["mean"],
        "value": number(row["mean"], part.decimals),
        "margin": "",
    }
    if not math.isnan(row["ci_low"]):
        half = (row["ci_high"] - row["ci_low"]) / 2
        ends = {"low": max(row["ci_low"], lowest), "high": min(row["ci_high"], highest)}
        told = " to ".join(number(row[end], part.decimals) for end in ("ci_low", "ci_high"))
        shown |= ends | {"margin": told if part.is_share else f"± {number(half, part.decimals)}"}
    return shown


def _ticks(scale: Scale, most: int) -> list[float]:
    """Return tick values from end to end of the scale: every category, or a few even steps."""
    span = scale.max - scale.min
    for parts in (span / scale.step, 5, 4, 6, 2, 1):
        if parts == round(parts) and parts < most and round(span / parts / scale.step, 9).is_integer():
            return [scale.min + span * i / parts for i in range(int(parts) + 1)]
    return [scale.min, scale.max]
