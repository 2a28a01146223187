"""What results show of themselves: short forms, tables behind, and pages that open."""

from __future__ import annotations

import inspect
from pathlib import Path

import pandas as pd
import pytest

import beholder
from beholder.analysis.condition_difference import ConditionDifference
from beholder.recruiting.closure import Closed
from beholder.result_view import PagedResult, ResultView, ShownResult, html_view, text_view

WIDE = pd.DataFrame({f"column {place}": range(40) for place in range(12)})
PLAIN = {Path, dict, type(None), str, object}
"""What needs no view: paths, and documents."""


class Found(PagedResult):
    """A result with a page."""

    def __init__(self, view: ResultView) -> None:
        self.view = view

    def _view(self) -> ResultView:
        return self.view


def test_the_short_table_stands_first_and_wide_ones_are_folded_behind_it() -> None:
    short = pd.DataFrame({"condition": ["<a>", "b"], "mean": ["4.10", None]})
    shown = html_view(ResultView(["One & two."], short, {"wide": WIDE}, Path("page") / "index.html"))
    places = [shown.index(part) for part in ("<p>One &amp; two.</p>", "&lt;a&gt;", "<details>", "<p>Page: <a")]
    assert places == sorted(places)
    assert "<summary>wide: 40 rows, 12 columns</summary>" in shown
    assert "<td>–</td>" in shown
    assert "http" not in shown
    assert "<script" not in shown


def test_text_has_sentences_the_short_table_and_the_page_in_few_lines() -> None:
    shown = text_view(ResultView(["Found."], WIDE.iloc[:, :2], {"wide": WIDE}, Path("index.html"), "Report"))
    first, heads, *_, last = shown.splitlines()
    assert (first, heads.split(), last) == ("Found.", ["column", "0", "column", "1"], "Report: index.html")
    assert len(shown.splitlines()) < 40
    assert "column 5" not in shown


def test_many_sentences_are_folded_after_the_first_dozen() -> None:
    shown = html_view(ResultView([f"Sentence {place}." for place in range(20)]))
    assert "<summary>8 more</summary>" in shown
    assert shown.index("Sentence 11") < shown.index("<details>") < shown.index("Sentence 12")


def test_a_fixed_width_text_keeps_its_lines() -> None:
    view = ResultView((), text="a  <b>\n  c")
    assert "<pre>a  &lt;b&gt;\n  c</pre>" in html_view(view)
    assert Found(view).summary() == "a  <b>\n  c"


def test_a_page_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="is not there any more"):
        Found(ResultView(["Found."], page=tmp_path / "index.html")).open()


def test_every_result_of_a_public_function_has_a_view() -> None:
    unseen = []
    for name in beholder.__all__:
        verb = getattr(beholder, name)
        if not inspect.isfunction(verb):
            continue
        for kind in result_kinds(verb):
            if kind in (ConditionDifference, Closed):  # of words of its own; `summary` is a file
                assert "_repr_html_" in vars(kind)
            elif kind not in PLAIN and not issubclass(kind, ShownResult):
                unseen.append((name, kind))
    assert unseen == []


def result_kinds(verb: object) -> list[type]:
    """Return the classes that a function may return, those inside of collections too."""
    import importlib

    text = str(getattr(verb, "__annotations__", {}).get("return", "None"))
    module = importlib.import_module(str(getattr(verb, "__module__", "")))
    names = {part.strip("[], ") for part in text.replace("|", " ").replace("[", " ").replace(",", " ").split()}
    kinds = []
    for name in names - {"None", "Any", "str", "Mapping", "Sequence", "dict", "Path"}:
        kind = getattr(module, name, None) or imported(module, name)
        kinds.append(kind)
    return kinds


def imported(module: object, name: str) -> type:
    """Return a class that a module imports for its types only."""
    source = inspect.getsource(module)  # type: ignore[arg-type]
    line = next(line.strip() for line in source.splitlines() if "import" in line and name in line.split("import")[1])
    where = line.removeprefix("from ").split(" import ")[0]
    kind = getattr(__import__(where, fromlist=[name]), name)
    assert isinstance(kind, type)
    return kind
