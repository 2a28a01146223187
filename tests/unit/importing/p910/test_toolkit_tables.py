"""Tables of the toolkits are told apart by their columns, whatever their files are called."""

from __future__ import annotations

from pathlib import Path

from beholder.importing.p910.toolkit_tables import find_tables, heads_of
from beholder.importing.source_folder import SourceFolder
from support.toolkit_sources import url, write_p808, write_p910, write_rows


def test_each_table_is_found_by_its_columns(tmp_path: Path) -> None:
    source = write_p910(tmp_path / "one", suffix=".wav")
    write_rows(source / "x.csv", [{"PVS ": url("a"), "src": ""}])
    write_rows(source / "y.csv", [{"participant": 1}])
    assert find_tables(SourceFolder(source)) == {
        "platform": ["Batch_1_batch_results.csv"], "page": ["hitapp_answers.csv"], "training": ["training.csv"],
        "rating": ["x.csv"],
    }  # fmt: skip
    assert find_tables(SourceFolder(write_p808(tmp_path / "two"))) == {"batch": ["Batch_2_batch_results.csv"]}


def test_names_of_columns_are_small_and_stripped(tmp_path: Path) -> None:
    write_rows(tmp_path / "x.csv", [{" PVS": 1, "Src ": 2}])
    assert heads_of(SourceFolder(tmp_path), "x.csv") == {"pvs", "src"}
