"""The figure of scores: dots with intervals, best first, over the bands of the scale."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from beholder.report.markup import Markup, tag
from beholder.report.material import Part
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
    has_margin: bool
    """Whether the interval stands beside the mean at the right."""


WIDE = Layout(plot=860, names=230, size=13, ticks=6, has_margin=True)
PAPER_WIDTH = Layout(plot=460, names=170, size=12, ticks=6, has_margin=True)
NARROW = Layout(plot=200, names=92, size=12, ticks=3, has_margin=False)


def scores_chart(part: Part, labels: Mapping[str, str], layout: Layout, *, title: str = "") -> Any:
    """Return the Altair chart of one question."""
    import altair as alt

    low, high, bands = scale_bands(part.scale)
    names = [labels[name] for name in part.order]
    height = _ROW * max(1, len(names))
    rows = [_row(row, labels, part.decimals) for row in part.conditions.to_dict("records")]
    axis = alt.Axis(
        grid=False, domain=False, ticks=False, labelPadding=8, labelColor=SOFT, title=title or None, titleColor=SOFT,
        titleFontWeight="normal", titlePadding=10, values=_ticks(part.scale, layout.ticks), format="~g",
    )  # fmt: skip
    x_scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    place = alt.Y(
        "name:N",
        sort=names,
        title=None,
        axis=alt.Axis(
            domain=False, ticks=False, labelPadding=10, labelColor=INK, labelLimit=layout.names, labelFontSize=layout.size
        ),
    )
    data = alt.Data(values=rows)
    band_data = alt.Data(values=[band._asdict() for band in bands])
    shaded = alt.Data(values=[band._asdict() for band in bands[::2]] if len(bands) > 1 else [])
    across = {"y": alt.value(0), "y2": alt.value(height)}
    layers = [
        alt.Chart(shaded).mark_rect(color=BAND, opacity=1).encode(
            x=alt.X("start:Q", scale=x_scale, axis=axis), x2="stop:Q", **across
        ),
        alt.Chart(data).mark_rule(color=LINE).encode(x=alt.value(0), x2=alt.value(layout.plot), y=place),
        alt.Chart(alt.Data(values=[row for row in rows if "low" in row]))
        .mark_rule(color=BAR, strokeWidth=6, strokeCap="round", clip=True, opacity=1)
        .encode(x=alt.X("low:Q", scale=x_scale, axis=axis), x2="high:Q", y=place),
        alt.Chart(data).mark_circle(color=ACCENT, size=130, opacity=1, stroke=PAPER, strokeWidth=2).encode(
            x=alt.X("mean:Q", scale=x_scale, axis=axis), y=place
        ),
        alt.Chart(data).mark_text(align="left", color=INK, fontWeight="bold", fontSize=layout.size).encode(
            x=alt.value(layout.plot + 10), y=place, text="value:N"
        ),
    ]  # fmt: skip
    if layout.has_margin:
        widest = max((len(row["value"]) for row in rows), default=0)
        layers.append(
            alt.Chart(data)
            .mark_text(align="left", color=SOFT, fontSize=layout.size)
            .encode(x=alt.value(layout.plot + 14 + 0.62 * layout.size * widest), y=place, text="margin:N")
        )
    shown = [band for band in bands if band.text]
    room = layout.plot / max(1, len(bands))
    if shown and max(len(band.text) for band in shown) * layout.size * 0.55 < room:
        layers.append(
            alt.Chart(band_data).mark_text(baseline="bottom", color=SOFT, fontSize=layout.size - 1).encode(
                x=alt.X("middle:Q", scale=x_scale, axis=axis), y=alt.value(-7), text="text:N"
            )
        )  # fmt: skip
    return (
        alt.layer(*layers)
        .properties(width=layout.plot, height=height, background=PAPER, padding=6)
        .configure(aria=False, font=_FONT)
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=layout.size - 1, titleFontSize=layout.size - 1)
    )


def to_svg(chart: Any) -> str:
    """Return a chart as SVG, without a browser."""
    buffer = io.StringIO()
    chart.save(buffer, format="svg")
    return buffer.getvalue()


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
    edges = [(a + b) / 2 for a, b in zip(places, places[1:], strict=False)]
    low = min(scale.min, places[0] - (edges[0] - places[0])) if places[0] == scale.min else scale.min
    high = max(scale.max, places[-1] + (places[-1] - edges[-1])) if places[-1] == scale.max else scale.max
    starts, stops = [low, *edges], [*edges, high]
    return low, high, [
        Band(start, stop, (start + stop) / 2, text)
        for start, stop, (_, text) in zip(starts, stops, labels, strict=True)
    ]  # fmt: skip


def _row(row: Mapping[str, Any], labels: Mapping[str, str], decimals: int) -> dict[str, Any]:
    shown = {"name": labels[row["condition"]], "mean": row["mean"], "value": number(row["mean"], decimals), "margin": ""}
    if not math.isnan(row["ci_low"]):
        half = (row["ci_high"] - row["ci_low"]) / 2
        shown |= {"low": row["ci_low"], "high": row["ci_high"], "margin": f"± {number(half, decimals)}"}
    return shown


def _ticks(scale: Scale, most: int) -> list[float]:
    """Return tick values from end to end of the scale: every category, or a few even steps."""
    span = scale.max - scale.min
    for parts in (span / scale.step, 5, 4, 2, 1):
        if parts == round(parts) and parts < most and round(span / parts / scale.step, 9).is_integer():
            return [scale.min + span * i / parts for i in range(int(parts) + 1)]
    return [scale.min, scale.max]
