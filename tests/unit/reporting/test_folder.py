"""The folder report/: files of figures, tables and ratings."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import beholder
from beholder.analysis.result import read_results
from beholder.cli import cli
from beholder.errors import UserError
from beholder.reporting import report
from beholder.study.model import Study
from support.messy_tables import MESSY_TABLES
from support.report_pages import FIGURES, Page


def test_figures_tables_and_ratings_lie_beside_the_page(people: tuple[Study, Page]) -> None:
    folder = people[0].folder / "report"
    heads = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG"}
    for name in FIGURES:
        assert (folder / name).read_bytes().startswith(heads[name.rpartition(".")[2]])
    for name in ("scores", "conditions", "contents", "pairs", "participants"):
        assert (folder / "tables" / f"{name}.csv").read_bytes() == (
            folder.parent / "analyse" / f"{name}.csv"
        ).read_bytes()
        assert "\\bottomrule" in (folder / "tables" / f"{name}.tex").read_text(encoding="utf-8")
    assert (folder / "ratings.csv").read_bytes() == (folder.parent / "clean" / "ratings.csv").read_bytes()


def test_parquet_holds_the_same_ratings(people: tuple[Study, Page]) -> None:
    pytest.importorskip("pyarrow", reason="Parquet is an extra: pip install beholder[parquet]")
    ratings = pd.read_parquet(people[0].folder / "report" / "ratings.parquet")
    pd.testing.assert_frame_equal(ratings, read_results(people[0].folder).ratings, check_dtype=False)


def test_reporting_twice_gives_the_same_page_and_clears_what_is_stale(people: tuple[Study, Page]) -> None:
    folder = people[0].folder / "report"
    before = (folder / "index.html").read_bytes()
    stale = folder / "figures" / "scores-gone.svg"
    stale.write_text("old")
    assert report(people[0]).read_bytes() == before
    assert not stale.exists()


def test_every_figure_and_table_lies_beside_the_page(people: tuple[Study, Page]) -> None:
    folder = people[0].folder / "report"
    figures = {path.stem for path in (folder / "figures").glob("*.svg")}
    assert {"scores-quality", "distributions-quality", "pairs-quality", "raters"} <= figures
    for name in figures:
        assert {path.suffix for path in (folder / "figures").glob(f"{name}.*")} == {".svg", ".pdf", ".png"}
    for name in ("scores", "conditions", "contents", "pairs", "participants"):
        assert {path.suffix for path in (folder / "tables").glob(f"{name}.*")} == {".csv", ".tex", ".md"}


def test_a_table_has_a_whole_report_at_once(tmp_path: Path) -> None:
    twice = next(one for one in MESSY_TABLES if one.name == "twice.csv")
    out = tmp_path / "out"
    done = CliRunner().invoke(
        cli, ["report", str(twice.write(tmp_path)), "--out", str(out), "--reference", "A"], catch_exceptions=False
    )
    assert done.output == (
        f"twice.csv: {twice.read}.\n\nLook at the table before you believe the scores:\n"
        + "".join(f"- {words}\n" for words in twice.odd.split(" | "))
        + f"\n{out / 'index.html'}\n"
    )
    page = (out / "index.html").read_text("utf-8")
    for words in ("From the table ", "Is the table sound?", "3 rows are there twice", "A (reference)"):
        assert words in page
    assert "Method acr" not in page
    files = json.loads((out / "notes.json").read_text("utf-8"))["files"]
    assert {"figures/scores-rating.svg", "tables/conditions.tex", "ratings.csv", "methods.md"} <= set(files)
    assert all((out / name).is_file() for name in files)
    assert len(pd.read_csv(out / "ratings.csv")) == 19


def test_a_table_in_which_nobody_answered_is_refused_and_one_of_ours_has_a_report(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("rater,system,item,score\np,A,s1,NA\np,B,s1,\n", "utf-8")
    with pytest.raises(UserError) as error:
        beholder.report(path, out=tmp_path / "out")
    assert str(error.value) == (
        f"{path}  has no rating: every cell is empty or stands for a missing answer. Allowed: ratings. Is it another "
        "column? Columns: rater, system, item, score. --columns value=NAME says which."
    )
    path.write_text("participant,condition,content,kind,value\np,A,s1,score,\np,B,s1,score,\n", "utf-8")
    page = beholder.report(path, out=tmp_path / "out").read_text("utf-8")
    assert "No row has a value: every cell is empty or stands for a missing answer." in page


def test_a_report_of_a_table_overwrites_nothing_of_others(tmp_path: Path) -> None:
    path = MESSY_TABLES[0].write(tmp_path)
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "index.html").write_text("mine")
    with pytest.raises(UserError, match=r"has index.html already, not from an earlier run of this command"):
        beholder.report(path)
    with pytest.raises(UserError) as error:
        beholder.report("study.yaml", out=tmp_path)
    assert str(error.value) == (
        "--out  is for a table, and study.yaml is a study. Its report is in report/ beside the study file."
    )
