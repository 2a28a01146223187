"""What all figures share: layouts, colours, axes, and the assembly of a chart."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pandas as pd

from beholder.study.questions import Scale

_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_LETTER = 0.6
"""The width of a letter, of its size, on average: of the widest font that a page may fall back to."""
_LEGEND_GAP = 28
"""Between words of a legend: the reader's font may be a fifth wider than the one by which they were placed."""
_LEADING = 1.15
"""From line to line of a name, of the size of its letters."""
_MOST_LINES = 3
"""Of a name that is too long for one."""
_BREAKS = re.compile(r"(?<=[-_/.,:;+])(?=\w)|\s+")
"""Where a name may go on in the next line."""


class Layout(NamedTuple):
    """The measures of a figure in pixels."""

    whole: int
    """The width of everything."""
    names: int
    """The most that names at the left may take of it."""
    size: int
    """Of the letters."""
    row: int
    """The height of a line of the figure."""
    dot: int
    """Area; it must not hide an interval of two points in a hundred."""
    is_wide: bool

    @property
    def small(self) -> int:
        """The size of the letters of axes and legends."""
        return self.size - 1

    def names_width(self, names: Sequence[str]) -> int:
        """Return the room that these names get."""
        lines = [line for name in names for line in self.lines(name)]
        return min(self.names, math.ceil(max((self.letters(line) for line in lines), default=0)) + 14)

    def height(self, names: Sequence[str]) -> float:
        """Return the height of one row for each name; higher ones where a name takes two lines, or three."""
        return len(names) * self.row_height(names)

    def row_height(self, names: Sequence[str]) -> float:
        """Return how high each row is, as the longest name needs it."""
        lines = max((len(self.lines(name)) for name in names), default=1)
        return max(float(self.row), lines * self.leading + 4)

    def lines(self, name: str) -> list[str]:
        """Return a name in lines that fit beside the figure; the last one ends in dots where three are too few."""
        most = max(1, int((self.names - 14) / (self.size * _LETTER)))
        lines: list[str] = []
        rest = name.strip()
        while len(rest) > most and len(lines) < _MOST_LINES - 1:
            ends = [found.start() for found in _BREAKS.finditer(rest) if 0 < found.start() <= most]
            end = ends[-1] if ends else most
            lines.append(rest[:end].rstrip())
            rest = rest[end:].lstrip()
        return [*lines, rest if len(rest) <= most else f"{rest[: most - 1].rstrip()}…"]

    @property
    def leading(self) -> float:
        """From line to line of a name."""
        return round(self.size * _LEADING)

    def line_offset(self, lines: int) -> float:
        """Return by how much so many lines start higher than one line does, to be in the middle of their row."""
        return -self.leading * (lines - 1) / 2

    def letters(self, text: str) -> float:
        """Return about how wide a text is."""
        return len(text) * self.size * _LETTER


WIDE = Layout(whole=1180, names=250, size=13, row=30, dot=130, is_wide=True)
DOUBLE = Layout(whole=696, names=240, size=11, row=20, dot=30, is_wide=True)
COLUMN = Layout(whole=340, names=142, size=11, row=20, dot=16, is_wide=False)
"""One column of a paper, 88 mm: letters of 7 to 8 points. It is also what a phone shows."""


def chart_of(values: Sequence[Mapping[str, Any]]) -> Any:
    """Return an empty chart of these rows."""
    import altair as alt

    # A tuple: whatever Altair does with a chart, it copies lists deeply.
    return alt.Chart(alt.Data(values=tuple(values)))  # type: ignore[no-untyped-call]


def tooltip(name: str = "tip") -> dict[str, Any]:
    """Return the encodings of a mark's tooltip and description, in a notebook and in the page."""
    import altair as alt

    return {"tooltip": alt.Tooltip(f"{name}:N"), "description": alt.Description(f"{name}:N")}


def at_pixels(**pixels: float) -> dict[str, Any]:
    """Return encodings at places of the picture, such as `x=0`, and not of the data."""
    import altair as alt

    # Altair is slow at choosing the class for `alt.value` itself.
    return {name: getattr(alt, f"{name.upper()}Value")(value) for name, value in pixels.items()}


def axis_keys(**keys: Any) -> Any:
    """Return an axis by its keys.

    A dictionary: an object of Altair has a hundred keys that are not set, and every chart around it copies them all.
    """
    return keys


def name_axis(names: Sequence[str], layout: Layout, width: int, *, has_names: bool = True) -> Any:
    """Return the y channel with one name for each row."""
    import altair as alt

    split = {name: parts for name in names if (parts := layout.lines(name)) != [name]} if has_names else {}
    # Altair takes an array only by an expression: the lines of each name are looked up in it.
    lines: dict[str, Any] = {"labelExpr": f"{json.dumps(split)}[datum.label] || datum.label"} if split else {}
    if split:
        # Vega centres the first line of several on its row.
        tests = {n: [name for name, parts in split.items() if len(parts) == n] for n in range(2, _MOST_LINES + 1)}
        higher = [
            {"test": f"indexof({json.dumps(some)}, datum.label) >= 0", "value": layout.line_offset(n)}
            for n, some in tests.items()
            if some
        ]
        lines |= {"labelBaseline": "middle", "labelLineHeight": layout.leading}
        lines |= {"labelOffset": {"condition": higher, "value": 0}} if higher else {}
    axis = axis_keys(
        **lines, domain=False, ticks=False, grid=False, labelPadding=8, labelColor=INK, labelLimit=0,
        labelFontSize=layout.size, minExtent=width, maxExtent=width, aria=False, labels=has_names,
    )  # fmt: skip
    return alt.Y(
        "name:N", sort=list(names), title=None, axis=axis, scale=alt.Scale(paddingInner=0.3, paddingOuter=0.15)
    )


def value_axis(title: str = "", **keys: Any) -> Any:
    """Return a calm axis of numbers."""
    return axis_keys(
        **{"domain": False, "ticks": False, "grid": False, "labelPadding": 6, "format": "~f", **keys},
        labelColor=SOFT, labelFlush=False, title=title or None, titleColor=SOFT, titleFontWeight="normal",
        titlePadding=6, aria=False,
    )  # fmt: skip


def kept_room(x: float) -> Any:
    """Return an unseen mark at the end of the texts at the right, which may be wider in the reader's font."""
    return chart_of([{}]).mark_point(opacity=0, size=1, aria=False).encode(**at_pixels(x=x, y=0))


def name_texts(rows: Sequence[Mapping[str, Any]], field: str, layout: Layout, align: str) -> list[Any]:
    """Return texts of one to three lines, which `field` holds, each in the middle of its place; to be encoded."""
    style: dict[str, Any] = {"fontSize": layout.size, "color": INK, "baseline": "middle", "aria": False}
    counts = sorted({len(row[field]) for row in rows})
    return [
        chart_of([row for row in rows if len(row[field]) == n]).mark_text(
            align=align, lineHeight=layout.leading, dy=layout.line_offset(n), **style
        )
        for n in counts
    ]


def layer_chart(layers: Sequence[Any], width: float, height: float) -> Any:
    """Return the layers as one chart."""
    import altair as alt

    for layer in layers:
        # A dictionary for the same reason as an axis.
        if isinstance(layer, alt.Chart) and isinstance(layer.mark, alt.MarkDef):
            layer.mark = layer.mark.to_dict(validate=False)
    return alt.LayerChart(layer=list(layers), width=width, height=height)


def apply_theme(chart: Any, layout: Layout) -> Any:
    """Return a chart with the look of the house."""
    import altair as alt

    small = {"labelFontSize": layout.small, "titleFontSize": layout.small}
    legend = {
        **small, "labelColor": SOFT, "titleColor": SOFT, "titleFontWeight": "normal", "symbolType": "square",
        "symbolSize": 90, "symbolStrokeWidth": 0, "orient": "top", "direction": "horizontal", "aria": False,
        "padding": 0, "offset": 6, "columnPadding": _LEGEND_GAP,
    }  # fmt: skip
    config = alt.Config(
        font=_FONT, view={"stroke": None}, axis=small, legend=legend, title={"fontSize": layout.size, "color": INK}
    )
    # Set, not copied with `properties`: a copy takes as long as the drawing.
    chart.background, chart.padding, chart.config = PAPER, 5, config
    return chart


def split_components(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with a question for each of its components: what was never compared has no common scale."""
    if "component" not in table or table["component"].nunique() < 2:
        return table
    return table.assign(question=table["question"] + ", group " + table["component"])


def by_question(table: pd.DataFrame, layout: Layout, draw: Callable[[pd.DataFrame], Any]) -> Any:
    """Return the chart of a table; one under the other where it holds several questions."""
    import altair as alt

    questions = dict.fromkeys(table["question"]) if "question" in table else {}
    if len(questions) < 2:
        return apply_theme(draw(table), layout)
    charts = [draw(table[table["question"] == name]).properties(title=name) for name in questions]
    return apply_theme(alt.VConcatChart(vconcat=charts, spacing=24), layout)


# Colours


# The page's stylesheet replaces these values in the SVG by the colours of its theme.
ACCENT, BAR, BAND, LINE, INK, SOFT, PAPER = "#34509e", "#7f96ca", "#ebebeb", "#d4d4d4", "#1a1a1a", "#4d4d4d", "#ffffff"
# Orange and blue differ with every kind of colour vision, on white and on black. No value is one of those
# above: these stay as they are in every theme.
_ENDS = ("#b35806", "#efa75a", "#c9c9c9", "#8aa0d6", "#3a57ad")


def ramp(n: int) -> list[str]:
    """Return n colours from the low end of a scale to its high end."""
    if n == 1:
        return [_ENDS[-1]]
    colours = []
    for place in range(n):
        at = place * (len(_ENDS) - 1) / (n - 1)
        below = min(int(at), len(_ENDS) - 2)
        colours.append(_between(_ENDS[below], _ENDS[below + 1], at - below))
    return colours


def _between(one: str, other: str, share: float) -> str:
    both = [[int(colour[place : place + 2], 16) for place in (1, 3, 5)] for colour in (one, other)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(*both, strict=True))


# The axis of a scale


class Band(NamedTuple):
    """A stretch of the scale with its word."""

    start: float
    stop: float
    middle: float
    text: str


class ScaleAxis(NamedTuple):
    """The range of an axis, with the labelled bands of its scale."""

    low: float
    high: float
    bands: tuple[Band, ...]
    scale: Scale | None = None
    zero: float | None = None
    """Where neither side is favoured."""

    def ticks(self, most: int) -> list[float] | None:
        """Return tick values from end to end of the scale: every category, or a few even steps that meet `zero`."""
        if self.scale is None:
            return None
        scale, span = self.scale, self.scale.max - self.scale.min
        choices = [
            [scale.min + span * place / parts for place in range(int(parts) + 1)]
            for parts in (span / scale.step, 5, 4, 6, 2, 1)
            if parts == round(parts) and parts < most and round(span / parts / scale.step, 9).is_integer()
        ]
        with_zero = [ticks for ticks in choices if self.zero is None or self.zero in ticks]
        return (with_zero or choices or [[scale.min, scale.max]])[0]


def axis_of_scale(scale: Scale, zero: float | None = None) -> ScaleAxis:
    """Return the axis of a scale that is known."""
    low, high, bands = scale_bands(scale)
    return ScaleAxis(low, high, tuple(bands), scale, zero)


def axis_of_values(values: Iterable[float], zero: float | None = None) -> ScaleAxis:
    """Return an axis with some air round all values."""
    known = [value for value in values if not math.isnan(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    air = 0.05 * (high - low) or 0.5
    return ScaleAxis(low - air, high + air, (Band(low - air, high + air, (low + high) / 2, ""),), None, zero)


def scale_bands(scale: Scale) -> tuple[float, float, list[Band]]:
    """Return the ends of the axis, and the bands round the labels: each reaches half-way to its neighbours.

    Where a label is at the very end of the scale, as on category scales, the axis extends by half a band.
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
