"""What a result shows of itself, in a notebook, in a shell and in a browser.

A result that a public function returns names its sentences, a short table and the wide ones; this module writes them as
text and as HTML that needs nothing from the network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from beholder.formats import count

if TYPE_CHECKING:
    from pandas import DataFrame

_MOST_ROWS = 30
"""Rows of the short table; more are cut in the middle."""
_MOST_BEHIND = 200
"""Rows of each wide table in a notebook: what is longer is read from its data frame."""
_MOST_LINES = 12
"""Sentences that stand before the table; more are folded."""
_STYLE = (
    "<style>.beholder-view{max-width:60rem;overflow-wrap:anywhere}.beholder-view p{margin:.25em 0}"
    ".beholder-view div{overflow-x:auto}.beholder-view table{margin:.4em 0;font-variant-numeric:tabular-nums}"
    ".beholder-view td,.beholder-view th{white-space:nowrap}.beholder-view summary{cursor:pointer}"
    ".beholder-view .long td{white-space:normal;text-align:left;vertical-align:top}</style>"
)
_LONGEST_CELL = 60
"""Letters of a cell that stay on one line; sentences are broken."""


class ResultView(NamedTuple):
    """The parts of a result in the order in which one reads them."""

    lines: Sequence[str]
    """The finding, in sentences."""
    table: DataFrame | None = None
    """What most people look at: few columns, rounded, with labels."""
    more: Mapping[str, DataFrame] = {}
    """Every table with all of its columns, by the name of its attribute or file."""
    page: Path | None = None
    """The page that `open` shows."""
    page_name: str = "Page"
    text: str = ""
    """Lines of a fixed width, such as those of a dashboard."""


class ShownResult:
    """A result with a short form in a shell and an HTML view in a notebook. Subclasses return their view."""

    def _view(self) -> ResultView:
        raise NotImplementedError

    def summary(self) -> str:
        """Return the finding in sentences."""
        view = self._view()
        return "\n".join(view.lines) or view.text

    def __repr__(self) -> str:
        return text_view(self._view())

    def _repr_html_(self) -> str:
        return html_view(self._view())


class PagedResult(ShownResult):
    """A result with a page of its own, which `open` shows in the browser."""

    def open(self) -> Path:
        """Show the page of this result in the browser, and return its path.

        FileNotFoundError tells what to run where no page has been written, or where it is gone.
        """
        import webbrowser

        page = self._view().page
        if page is None or not page.is_file():
            what = "This result has no page yet" if page is None else f"{page} is not there any more"
            raise FileNotFoundError(f"{what}. Write it with {self._page_call}.")
        webbrowser.open(page.resolve().as_uri())
        return page

    _page_call = "the function that returned this result"
    """What writes the page."""


class DrawnResult(PagedResult):
    """A result with a page whose figures `plot` returns. Subclasses have the field `charts`."""

    charts: Mapping[str, Callable[[], Any]]
    """What draws each figure of the page, by its name."""

    def plot(self, name: str | None = None) -> Any:
        """Return a figure of the page as an Altair chart, which a notebook shows and `.save("figure.svg")` writes.

        The first one, or one by its name; ValueError tells the names.
        """
        if not self.charts:
            raise ValueError("This result is best read as a table: it has no figure.")
        if name is not None and name not in self.charts:
            raise ValueError(f"There is no figure {name}. Allowed: {', '.join(self.charts)}.")
        return offline_chart(self.charts[name or next(iter(self.charts))]())


# Text and HTML


def text_view(view: ResultView) -> str:
    """Return a view as text for a shell: sentences, the short table, and where the page is."""
    parts = ["\n".join(view.lines), view.text]
    if view.table is not None and len(view.table):
        parts.append(view.table.to_string(index=False, max_rows=_MOST_ROWS))
    parts.append(f"{view.page_name}: {view.page}" if view.page is not None else "")
    return "\n".join(part for part in parts if part)


def html_view(view: ResultView) -> str:
    """Return a view as HTML: sentences and the short table first, every wide table folded behind them."""
    lines = [f"<p>{escape(line)}</p>" for line in view.lines]
    parts = lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        parts.append(_folded(f"{len(lines) - _MOST_LINES} more", "".join(lines[_MOST_LINES:])))
    if view.text:
        parts.append(f"<pre>{escape(view.text)}</pre>")
    if view.table is not None and len(view.table):
        parts.append(f"<div>{_table(view.table, _MOST_ROWS)}</div>")
    for name, table in view.more.items():
        if len(table):
            title = f"{name}: {count(len(table), 'row')}, {count(len(table.columns), 'column')}"
            parts.append(_folded(title, f"<div>{_table(table, _MOST_BEHIND)}</div>"))
    if view.page is not None:
        where = escape(str(view.page))
        parts.append(
            f"<p>{view.page_name}: <a href='{escape(view.page.resolve().as_uri())}' target='_blank'>{where}</a></p>"
        )
    return f"{_STYLE}<div class='beholder-view'>{''.join(parts)}</div>"


def _table(table: DataFrame, most: int) -> str:
    longest = max((len(str(cell)) for name in table for cell in table[name].head(most)), default=0)
    classes = "long" if longest > _LONGEST_CELL else None
    return str(table.to_html(index=False, border=0, max_rows=most, na_rep="–", classes=classes))


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


# Charts


def offline_chart(chart: Any) -> Any:
    """Return an Altair chart that a notebook shows as a drawing, without fetching scripts from the network."""
    # On the object and not a class of its own: Altair finds the class of a chart by its schema.
    object.__setattr__(chart, "_repr_mimebundle_", _drawing(chart))
    return chart


def _drawing(chart: Any) -> Callable[..., dict[str, str]]:
    def bundle(*_include: object, **_exclude: object) -> dict[str, str]:
        import altair as alt
        import vl_convert

        version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
        svg = str(vl_convert.vegalite_to_svg(chart.to_dict(), vl_version=version))
        return {"image/svg+xml": svg, "text/plain": f"<{type(chart).__name__}: .save(path) writes it>"}

    return bundle
