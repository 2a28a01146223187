"""What results show of themselves: short forms, tables behind, and pages that open."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

import pandas as pd
import pytest

import beholder
from beholder.analysis.condition_difference import ConditionDifference
from beholder.recruiting.closure import Closed
from beholder.result_view import DrawnResult, PagedResult, ResultView, ShownResult, html_view, text_view
from support.taken_study import LABEL, TakenStudy

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


def results_of(study: Path) -> dict[str, object]:
    """Return what public functions say of a study that people have taken, in the order of its stages."""
    verbs: dict[str, Callable[[], object]] = {
        "check": lambda: beholder.check(study), "plan": lambda: beholder.plan(study),
        "doctor": lambda: beholder.doctor(study), "monitor": lambda: beholder.monitor(study),
        "participants": lambda: beholder.participants(study), "participant": lambda: beholder.participants(study)[0],
        "clean": lambda: beholder.clean(study), "analyse": lambda: beholder.analyse(study),
        "better": lambda: beholder.better(study, "natural", "smooth"), "export": lambda: beholder.export(study),
        "extend": lambda: beholder.extend(study, dry_run=True), "launch": lambda: beholder.launch(study, dry_run=True),
        "decide": lambda: beholder.decide(study), "sign": lambda: beholder.decide(study, sign="Ann <b>"),
        "pay": lambda: beholder.pay(study, send=True), "paid": lambda: beholder.pay(study, paid=True),
        "close": lambda: beholder.close(study, dry_run=True), "purge": lambda: beholder.purge(study, dry_run=True),
        "simulate": lambda: beholder.simulate(study, participants=2, memory=True),
    }  # fmt: skip
    return {name: verb() for name, verb in verbs.items()}


DRAWN = {
    "ArenaState",
    "BoardResult",
    "Comparison",
    "Dimensions",
    "Metrics",
    "Power",
    "RepeatedStudy",
    "Storyboard",
    "Crowd",
    "Deployment",
    "Forgotten",
    "BackedUp",
    "Restored",
    "ImportedFolder",
    "Preregistration",
    "Bundled",
    "Repetition",
    "Verification",
}
"""Results whose making is long or ends the study: the tests of their own packages look at their views."""


def test_every_view_is_whole_and_nothing_of_a_study_becomes_html(taken: TakenStudy) -> None:
    folder, people = taken
    results = results_of(folder / "study.yaml")
    for name, result in results.items():
        shown = result._repr_html_()  # type: ignore[attr-defined]
        assert shown.count("<table") == shown.count("</table>"), name
        assert not set(re.findall(r"<(\w+)", shown)) & {"i", "b", "script"}, f"{name}: {shown}"
        assert [one for one in tables_in(result) if f">{one}: " not in shown] == [], name
        summary = getattr(result, "summary", None)
        if callable(summary) and name != "analyse":  # which shows its scores, and says of them what was found
            assert [line for line in summary().splitlines() if escape(line) not in shown] == [], name
    assert escape(LABEL) in results["analyse"]._repr_html_()  # type: ignore[attr-defined]
    assert people["open"] in results["participants"]._repr_html_()  # type: ignore[attr-defined]
    assert "<summary>rules: " in results["participant"]._repr_html_()  # type: ignore[attr-defined]
    assert "2.00 GBP" in results["pay"]._repr_html_()  # type: ignore[attr-defined]
    kinds = {
        kind.__name__ for name in beholder.__all__ if inspect.isfunction(verb := getattr(beholder, name))
        for kind in result_kinds(verb) if kind not in PLAIN
    }  # fmt: skip
    assert kinds - {type(one).__name__ for one in results.values()} == DRAWN


def tables_in(result: object) -> list[str]:
    """Return the tables with rows among the public fields of a result; ratings are too many to show."""
    found = {name: value for name, value in getattr(result, "__dict__", {}).items() if isinstance(value, pd.DataFrame)}
    return [name for name, table in found.items() if len(table) and not (name == "ratings" and len(found) > 1)]


def test_a_figure_of_a_page_is_drawn_by_its_name() -> None:
    class Compared(DrawnResult):
        charts = {"scores": lambda: Chart("scores"), "pairs": lambda: Chart("pairs")}  # noqa: RUF012 - never changed

        def _view(self) -> ResultView:
            return ResultView(["Found."])

    class Chart:
        def __init__(self, name: str) -> None:
            self.name = name

    assert Compared().plot().name == "scores"
    assert Compared().plot("pairs").name == "pairs"
    with pytest.raises(ValueError, match=r"There is no figure pair\. Allowed: scores, pairs\."):
        Compared().plot("pair")


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
