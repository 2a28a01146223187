"""The folder report/: files of figures, tables and ratings."""

from __future__ import annotations

import pandas as pd
import pytest

from beholder.analysis.result import read_results
from beholder.reporting import report
from beholder.study.model import Study
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
