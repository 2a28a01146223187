"""From a chart to SVG for the page, and to files for a paper."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from beholder.analyse.plots.theme import COLUMN, Layout
from beholder.report.markup import Markup, tag

_COLUMN_MM, _DOUBLE_MM = 88, 180
_PPI = 300
_KEPT = 64
"""So many figures stay in memory, a tenth of a megabyte each."""
_POINTS = 72 / 25.4
"""Of a millimetre."""
_TOLD = re.compile(r' aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="[^"]*"')
_ROLES = re.compile(r' role="graphics-(?:object|symbol)"| aria-roledescription="[^"]*"| aria-label="[^"]*"')


def to_svg(draw: Callable[[Layout], Any], layout: Layout) -> str:
    """Return a chart as SVG, without a browser."""
    import altair as alt
    from altair.utils.schemapi import debug_mode

    version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
    # Our own charts need no validation, which would take longer than the drawing.
    with debug_mode(False):
        chart = draw(layout).to_dict(validate=False)
    return _converted(json.dumps(chart), version)


# A report that is made again has most of its figures unchanged, and drawing them is most of its work.
@lru_cache(maxsize=_KEPT)
def _converted(chart: str, version: str) -> str:
    import vl_convert

    # Taken apart again, as the converter takes no text with NaN in it.
    return str(vl_convert.vegalite_to_svg(json.loads(chart), vl_version=version))


def described(svg: str, name: str, title: str, description: str) -> Markup:
    """Return the SVG for use inside a page: it scales, and says what it shows to those who do not see it.

    What each mark stands for is left to the page's script, which shows it where somebody points.
    """
    start, rest = _opened(svg)
    words = tag("title", title, id=f"{name}-t") + tag("desc", description, id=f"{name}-d")
    opening = f'<svg class="plot" role="img" aria-labelledby="{name}-t {name}-d" {_box(start)}>'
    return Markup(opening + words + _ROLES.sub("", _TOLD.sub(r' data-tip="\1"', rest)))


@lru_cache(maxsize=_KEPT)
def paper_files(svg: str, layout: Layout) -> Mapping[str, bytes]:
    """Return a figure as SVG, PDF and PNG, as wide as one column of a paper or as two."""
    import vl_convert

    width = _COLUMN_MM if layout == COLUMN else _DOUBLE_MM
    start, rest = _opened(svg)
    _, _, across, down = (float(part) for part in _box(start).split('"')[1].split())
    height = width * down / across
    bare = f'<svg xmlns="http://www.w3.org/2000/svg" {_box(start)} width="{{}}" height="{{}}">' + _ROLES.sub("", rest)

    def sized(unit: str, scale: float) -> str:
        return bare.replace(
            'width="{}" height="{}"', f'width="{width * scale:.2f}{unit}" height="{height * scale:.2f}{unit}"', 1
        )

    # The converter takes a pixel for a point.
    points = sized("", _POINTS)
    return {
        "svg": sized("mm", 1).encode(),
        "pdf": vl_convert.svg_to_pdf(points),
        "png": vl_convert.svg_to_png(points, scale=1, ppi=_PPI),
    }


def _opened(svg: str) -> tuple[str, str]:
    opening = re.match(r"<svg[^>]*>", svg)
    assert opening is not None
    return opening.group(), svg[opening.end() :]


def _box(opening: str) -> str:
    box = re.search(r'viewBox="[^"]*"', opening)
    assert box is not None
    return box.group()
