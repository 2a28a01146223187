"""Results: tables from disk, what they print, and the names of numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis import analyse
from beholder.analysis.result import Results, metric, read_result
from beholder.errors import UserError
from support.crossed_ratings import crossed, write_csv
from support.installed_packages import install
from support.kind_ratings import Row, results, table


def test_tables_come_back_from_disk_as_they_were(tmp_path: Path) -> None:
    table = crossed({"no": 1, "01": 2, "NA": 3}, 5)
    results = analyse(write_csv(tmp_path, table))
    for name in ("scores", "conditions", "contents", "pairs", "participants"):
        written = getattr(results, name)
        back = read_result(tmp_path / "analyse" / f"{name}.csv")
        pd.testing.assert_frame_equal(back, written, check_dtype=False, rtol=1e-9)
    assert set(results.conditions["condition"]) == {"no", "01", "NA"}


def test_results_show_themselves_as_a_small_table(tmp_path: Path) -> None:
    table = crossed({"a": 1, "<b>": 2.5}, 4, noise=0)
    results = analyse(write_csv(tmp_path, table))
    assert [line.split() for line in repr(results).splitlines()] == [
        ["condition", "n", "mean", "interval"],
        ["<b>", "8", "2.50", "1.60", "to", "4.01"],
        ["a", "8", "1.00", "1.00", "to", "3.41"],
    ]
    shown = results._repr_html_()
    assert "<td>&lt;b&gt;</td>" in shown
    assert "<td>1.60 to 4.01</td>" in shown


def test_results_show_population_questions_and_report_where_there_is_something_to_say(tmp_path: Path) -> None:
    table = pd.concat([crossed({"a": 1}, 1).assign(question=question) for question in ("fit", "quality")])
    results = analyse(write_csv(tmp_path, table))
    robots = replace(results, notes=results.notes | {"population": "robots"}, report=Path("report") / "index.html")
    first, *lines, last = repr(robots).splitlines()
    assert first == "Simulated: these ratings come from robots."
    assert [line.split() for line in lines] == [
        ["question", "condition", "n", "mean", "interval"],
        ["fit", "a", "2", *lines[1].split()[3:]],
        ["quality", "a", "2", *lines[2].split()[3:]],
    ]
    assert last == f"Report: {Path('report') / 'index.html'}"
    shown = robots._repr_html_()
    words, short, wide, page = (
        shown.index(part) for part in ("<p>Simulated: these ratings", "<table", "<details", "<p>Report: ")
    )
    assert words < short < wide < page
    assert "<summary>conditions: 2 rows, " in shown


def labelled_results(folder: Path) -> Results:
    """Return results whose conditions and question have labels."""
    results = analyse(write_csv(folder, crossed({"a": 1, "b": 4}, 6, noise=0.2)))
    labels = {"condition_labels": {"a": "Old codec", "b": "New codec"}, "labels": {"quality": "Overall quality"}}
    return replace(results, notes=results.notes | labels)


def test_conditions_and_questions_go_by_their_names_or_their_labels(tmp_path: Path) -> None:
    results = labelled_results(tmp_path)
    question = results.notes["questions"][0]
    results = replace(results, notes=results.notes | {"labels": {question: "Overall quality"}})
    by_name, by_label = results.better("b", "a", question), results.better("New codec", "Old codec", "Overall quality")
    assert by_name == by_label
    assert (by_label.condition, by_label.other, by_label.question) == ("b", "a", question)
    assert "New codec" in str(by_label)
    assert "Old codec" in repr(results)
    with pytest.raises(UserError, match=r"no condition 'Newer codec' was rated.*Did you mean New codec\?"):
        results.better("Newer codec", "a")


def test_results_say_what_was_found_and_draw_it_without_the_network(tmp_path: Path) -> None:
    results = labelled_results(tmp_path)
    counted, found = results.summary().splitlines()
    assert counted == "24 ratings by 6 participants."
    assert found.startswith("New codec has the highest mean, 3.95.")
    assert "Is it ahead of the next? Yes: New codec scores" in found
    bundle = results.plot()._repr_mimebundle_()
    assert "<svg" in bundle["image/svg+xml"]
    assert "New codec" in bundle["image/svg+xml"]
    assert "cdn" not in bundle["image/svg+xml"]


def test_open_says_what_to_run_where_there_is_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = labelled_results(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no page yet\. Write it with `beholder\.report\(study\)`"):
        results.open()
    page = tmp_path / "report" / "index.html"
    page.parent.mkdir()
    page.write_text("<!doctype html>", "utf-8")
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert replace(results, report=page).open() == page
    assert opened == [page.resolve().as_uri()]


@pytest.mark.parametrize(
    ("method", "kind", "name"),
    [
        ("acr", "score", "MOS(ACR)"), ("acr-hr", "score", "MOS(ACR-HR)"), ("dcr", "score", "DMOS(DCR)"),
        ("ccr", "diff", "CMOS(CCR)"), ("mushra", "score", "MUSHRA mean"), ("parallel", "score", "Score (parallel)"),
        ("pair", "choice", "Preference (pair)"), ("ab", "choice", "Preference (AB)"),
        ("abx", "correct", "Share correct (ABX)"), ("abx", "choice", "Closeness (ABX)"),
        ("likert", "score", "Agreement (Likert)"), ("likert", "pick", "Share ticked (Likert)"),
        ("", "score", "Score"), ("", "diff", "CMOS"), ("gone", "score", "Score (gone)"), ("gone", "diff", "CMOS(gone)"),
    ],
)  # fmt: skip
def test_every_number_has_the_name_of_its_method(method: str, kind: str, name: str) -> None:
    assert metric(method, kind).name == name


OF_ANOTHER_PACKAGE = """
from beholder.methods.acr import Acr
from beholder.methods.contract import Metric, MetricWords, Scoring

class Named(Acr):
    name = "named"
    analyses = ("scores", "medians")
    scoring = Scoring(
        {"score": Metric("MOS(Named)", "Ours.", MetricWords(unit="JND")), "medians": Metric("Middle", "Between.")},
        short="Ours",
        citation="Somebody (2030), A journal 1",
    )

class Unnamed(Acr):
    name = "unnamed"
    scoring = None

named, unnamed = Named(), Unnamed()
"""


def test_a_method_of_another_package_names_its_own_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = "[beholder.methods]\nnamed = scored_elsewhere:named\nunnamed = scored_elsewhere:unnamed\n"
    install(tmp_path / "site", monkeypatch, "scored_elsewhere", OF_ANOTHER_PACKAGE, points)
    named = metric("named", "score")
    assert (named.name, named.meaning, named.words.unit) == ("MOS(Named)", "Ours.", "JND")
    assert metric("named", "diff").name == "CMOS(Ours)"
    assert metric("unnamed", "score").name == "Score (unnamed)"
    rows: list[Row] = [(f"p{n}", "a", "", n) for n in range(7)]
    analysed = results(tmp_path, table("score", *rows, method="named"))
    assert set(analysed.scores["metric"]) == {"MOS(Named)"}
    assert set(analysed.also["medians"]["metric"]) == {"Middle"}
    assert "dmos" not in analysed.also
    assert analysed.notes["analyses"]["scores"]["citation"].startswith("Somebody (2030), A journal 1; ")


@pytest.mark.parametrize(
    ("method", "kind", "sources", "others"),
    [
        ("mushra", "score", ["ITU-R BS.1534", "Student"], ["P.910", "Korn"]),
        ("acr", "score", ["P.910", "Student"], ["BS.1534", "Korn"]),
        ("pair", "choice", ["Korn and Graubard", "Wilcoxon"], ["P.910", "BS.1534"]),
        ("abx", "correct", ["Clopper and Pearson", "Korn and Graubard"], ["P.910", "Wilcoxon", "Student", "Spearman"]),
    ],
)
def test_sources_are_those_of_the_method(
    method: str, kind: str, sources: list[str], others: list[str], tmp_path: Path
) -> None:
    other = "" if kind == "score" else "b"
    rows: list[Row] = [(f"p{n}", "a", other, n % 2) for n in range(4)]
    rows += [(f"p{n}", "c", other, 1) for n in range(4)]
    notes = results(tmp_path, table(kind, *rows, method=method)).notes
    of_method = [name for name in notes["analyses"] if name not in ("models", "model_raters")]
    cited = "; ".join(notes["analyses"][name]["citation"] for name in of_method)
    assert [name for name in sources if name not in cited] == []
    assert [name for name in others if name in cited] == []


def test_both_of_which_one_had_to_be_named_are_told_alike_everywhere(tmp_path: Path) -> None:
    analysis = results(tmp_path, table("correct", ("p1", "a", "b", 1), ("p2", "a", "b", 0)))
    assert analysis.display_name("a") == "a or b"
    assert "a or b" in repr(analysis)
