"""Folders of results beside the report: written anew, and nothing of anybody else's lost."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis.result import Result
from beholder.analysis.sides import CONDITIONS, SCORES, Side
from beholder.errors import UserError
from beholder.reporting.html import file_list
from beholder.reporting.result_page import (
    Outcome,
    headline,
    population_line,
    simulated,
    table_notes,
    write_outcome,
)


def outcome(*names: str, kind: str = "Comparison") -> Outcome:
    table = Result(pd.DataFrame({"condition": ["no", "01"], "mean": [1.5, 2.0]}), "Counted.", "")
    return Outcome(kind, "A and B", "They agree.", dict.fromkeys(names, table), (), lambda figures: [])


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_what_an_earlier_run_left_is_gone_and_files_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    for name in ("mine.csv", "figures/mine.svg"):
        (tmp_path / name).write_text("mine", "utf-8")
    write_outcome(outcome("agreement", "runs"), tmp_path)
    assert files(tmp_path) == ["agreement.csv", "figures/mine.svg", "index.html", "mine.csv", "notes.json", "runs.csv"]
    write_outcome(outcome("agreement"), tmp_path)
    assert files(tmp_path) == ["agreement.csv", "figures/mine.svg", "index.html", "mine.csv", "notes.json"]


def test_a_file_of_others_in_the_way_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    for name in ("agreement.csv", "index.html"):
        (tmp_path / name).write_text("mine", "utf-8")
    with pytest.raises(UserError) as caught:
        write_outcome(outcome("agreement", "runs"), tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}  has agreement.csv, index.html already, not from an earlier run of this command. Allowed: a new "
        "or an empty folder. Name another with --out."
    )
    assert files(tmp_path) == ["agreement.csv", "index.html"]


def test_one_command_does_not_write_over_another(tmp_path: Path) -> None:
    write_outcome(outcome("agreement"), tmp_path)
    with pytest.raises(UserError, match=r"has notes\.json, index\.html already"):
        write_outcome(outcome("values", kind="Objective metrics"), tmp_path)
    assert "agreement.csv" in files(tmp_path)


def test_notes_that_were_changed_lead_to_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("mine", "utf-8")
    folder = tmp_path / "compare"
    write_outcome(outcome("agreement"), folder)
    notes = json.loads((folder / "notes.json").read_text("utf-8"))
    notes["files"] += ["../mine.csv", "..", "figures/..", "figures/../../mine.csv", str(tmp_path / "mine.csv"), 3]
    (folder / "notes.json").write_text(json.dumps(notes), "utf-8")
    write_outcome(outcome("runs"), folder)
    assert files(tmp_path) == ["compare/index.html", "compare/notes.json", "compare/runs.csv", "mine.csv"]


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "compare"
    path.write_text("mine", "utf-8")
    with pytest.raises(UserError) as caught:
        write_outcome(outcome("agreement"), path)
    assert str(caught.value) == f"{path}  cannot be written: File exists. Allowed: a folder in which you may write."


def side(name: str, population: str) -> Side:
    return Side(name, pd.DataFrame(columns=SCORES), pd.DataFrame(columns=CONDITIONS), population=population)


@pytest.mark.parametrize(
    ("populations", "shown"),
    [
        (["robots", "robots"], "These ratings come from robots. A rehearsal, not a result."),
        (["robots", "people"], "The ratings of a come from robots. A rehearsal, not a result."),
        (["robots", "", "robots"], "The ratings of a and c come from robots. A rehearsal, not a result."),
        (["people", ""], ""),
    ],
)
def test_robots_are_named(populations: Sequence[str], shown: str) -> None:
    assert simulated([side(name, one) for name, one in zip("abc", populations, strict=False)]) == shown


def test_the_first_line_is_there_only_where_robots_answered() -> None:
    assert population_line("") is None
    assert "<b>Simulated.</b> These &lt;ratings&gt;" in str(population_line("These <ratings>"))


def test_the_finding_is_one_paragraph_or_a_list() -> None:
    assert headline(["One."]).count("<li>") == 0
    assert headline(["One.", "<Two>."], "More below.").count("<li>") == 2


def test_every_table_says_how_it_was_made_and_what_to_cite() -> None:
    table = pd.DataFrame()
    shown = table_notes({"one": Result(table, "A note.", "Fisher (1921)"), "other": Result(table, "Another.", "")})
    assert shown.startswith("<details")
    assert "Cite: Fisher (1921)." in shown
    assert shown.count("Cite:") == 1
    assert 'href="one.csv"' in shown


def test_the_formats_of_a_figure_stand_in_one_line() -> None:
    shown = file_list(["a.csv", "notes.json", "figures/x.y.svg", "figures/x.y.pdf"])
    assert shown.count("<li>") == 3
    assert re.findall(r'href="([^"]+)"', shown) == ["a.csv", "notes.json", "figures/x.y.svg", "figures/x.y.pdf"]
