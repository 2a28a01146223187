"""The result of a comparison: its folder, and what a notebook shows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from beholder.analysis.sides import read_side
from beholder.cli import cli
from beholder.comparison.page import figures
from beholder.comparison.result import find
from beholder.comparison.sides import open_sides
from beholder.errors import UserError
from support.compared_sides import ratings


def test_the_folder_and_what_a_notebook_shows(tmp_path: Path) -> None:
    a, b = ratings(tmp_path / "a.csv", 1), ratings(tmp_path / "<b>.csv", 2, 1.2)
    result = CliRunner().invoke(cli, ["compare", str(a), f"Lab={b}"], catch_exceptions=False)
    folder = tmp_path / "compare"
    assert result.exit_code == 0
    assert result.stdout.startswith("a and Lab: r = 0.9")
    assert result.stdout.endswith(f"Page: {folder / 'index.html'}\n")
    page = (folder / "index.html").read_text("utf-8")
    assert "Stimuli that differ clearly" in page
    assert "Orange" in page
    assert "nan" not in page.lower().replace("nanosecond", "")
    notes = json.loads((folder / "notes.json").read_text("utf-8"))
    assert set(notes["analyses"]) == {path.stem for path in folder.glob("*.csv")}
    assert notes["words"] == result.stdout.splitlines()[:1]
    assert {path.name for path in (folder / "figures").glob("*.svg")} == {
        "scatter-stimulus-rating-1-2.svg", "scatter-condition-rating-1-2.svg", "difference-stimulus-rating-1-2.svg",
    }  # fmt: skip


@pytest.mark.variant
def test_runs_of_two_questionnaires_are_compared_at_once(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 5)):
        files = [ratings(tmp_path / f"{run}.csv", seed + run, question=f"q{name}", run=run) for run in (1, 2, 3)]
        parts = [pd.read_csv(file, keep_default_na=False) for file in files]
        pd.concat(parts).to_csv(tmp_path / f"{name}.csv", index=False)
    both = find([open_sides([tmp_path / "a.csv"]), open_sides([tmp_path / "b.csv"])], None)
    assert both.names == ["run 1", "run 2", "run 3"]
    printed = both.table("by_question").query("level == 'condition' and measure == 'pearson'")
    assert list(printed.columns[4:]) == ["qa", "qb"]
    assert len(printed) == 4
    assert printed.iloc[:, 4:].notna().all(axis=None)
    assert set(both.table("effects")["question"]) == {"qa", "qb"}
    with pytest.raises(UserError) as error:
        find([open_sides([tmp_path / "a.csv"])] * 2, None)
    assert str(error.value.problems[0]) == (
        "--runs  joins studies that both ask qa. Allowed: studies with other questions. Compare the runs of each by "
        "itself."
    )


def test_sentences_and_pictures_have_labels_and_files_have_ids(three: tuple[Path, Path, Path]) -> None:
    sides = [replace(read_side(path), question_labels={"rating": "Not creepy"}) for path in three]
    tables = find(open_sides(sides), None)
    assert set(tables.table("agreement")["question"]) == {"rating"}
    assert set(tables.labelled.table("agreement")["question"]) == {"Not creepy"}
    assert "Not creepy" in tables.labelled.table("by_question")
    assert {one.question for one in tables.labelled.matched} == {"Not creepy"}
    names = [figure.name for figure in figures(tables.labelled)]
    assert names == [figure.name for figure in figures(tables)]
    assert "matrix-stimulus-rating" in names
