"""Spreadsheets: separators, encodings, workbooks and Parquet, and what is wrong with a file."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis.spreadsheets import Sheet, is_table, read_sheet
from beholder.errors import UserError

ROWS = [["Rater", "Größe"], ["p1", "3"], ["p2", "4"]]


def cells(sheet: Sheet) -> list[list[str]]:
    return [list(map(str, sheet.cells.columns)), *sheet.cells.to_numpy().tolist()]


@pytest.mark.parametrize(
    ("separator", "encoding", "notes"),
    [
        (",", "utf-8", ()),
        (",", "utf-8-sig", ()),
        (";", "utf-8", ("semicolons between the cells",)),
        ("\t", "utf-16", ("UTF-16", "tabs between the cells")),
        (",", "utf-16-le", ("UTF-16",)),
        (",", "utf-16-be", ("UTF-16",)),
        ("|", "latin-1", ("Windows-1252", "bars between the cells")),
        (", ", "cp1252", ("Windows-1252",)),
    ],
)
def test_separator_and_encoding_are_found_out(
    tmp_path: Path, separator: str, encoding: str, notes: tuple[str, ...]
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes("\r\n".join(separator.join(row) for row in ROWS).encode(encoding))
    sheet = read_sheet(path)
    assert cells(sheet) == ROWS
    assert sheet.notes == notes
    assert sheet.place(1) == f"{path}:3"


def test_decimal_commas_do_not_hide_semicolons(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a;b\n1,5;2,5\n3,5;4,5\n", "utf-8")
    assert cells(read_sheet(path)) == [["a", "b"], ["1,5", "2,5"], ["3,5", "4,5"]]


def test_lines_above_the_header_declared_separators_and_doubled_names_are_told(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('sep=;\nMay;\n\nwho;"vo\nte";vote;vote;\np1;1;2;3;\n', "utf-8")
    sheet = read_sheet(path)
    assert cells(sheet) == [["who", "vo\nte", "vote", "vote (2)"], ["p1", "1", "2", "3"]]
    assert sheet.notes == (
        "semicolons between the cells", "the header in line 4", "1 name twice in the header (vote)",
    )  # fmt: skip
    assert sheet.place(0) == f"{path}:6"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.csv", b"", "is empty. Allowed: a header line, and a line for each rating."),
        ("a.csv", b"one\n1\n",
         "has one column only. Allowed: comma, semicolon, tab or bar between the cells, and a header line."),
        ("a.csv", b"a,b\n", "has no ratings below its header. Allowed: a header line, and a line for each rating."),
        ("a.csv", b"PK\x03\x04....", "is a workbook under another name. Allowed: .csv, .tsv, .tab, .txt, .xlsx, .xlsm, "
         ".parquet, .pq. Give it the ending of what it is."),
        ("a.xls", b"", "ends in .xls. Allowed: .csv, .tsv, .tab, .txt, .xlsx, .xlsm, .parquet, .pq. Excel's old format "
         "is not read: save it as .csv or .xlsx."),
        ("gone.tsv", None, "is not there. Give another file."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file(tmp_path: Path, name: str, content: bytes | None, told: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError) as error:
        read_sheet(path)
    assert str(error.value) == f"{path}  {told}"


def test_numbers_in_place_of_a_header_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("1,2\n3,4\n", "utf-8")
    with pytest.raises(UserError, match=r"has numbers where the header is: 1, 2. Allowed: a name for each column"):
        read_sheet(path)


@pytest.mark.parametrize(
    ("name", "module", "told"),
    [
        ("a.xlsx", "openpyxl", "is a workbook, and needs openpyxl. Install it with `pip install beholder[excel]`, or "
         "save the sheet as CSV."),
        ("a.parquet", "pyarrow", "is Parquet, and needs pyarrow. Install it with `pip install beholder[parquet]`, or "
         "save the table as CSV."),
    ],
)  # fmt: skip
def test_what_an_ending_needs_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, module: str, told: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / name
    path.write_bytes(b"PK")
    with pytest.raises(UserError) as error:
        read_sheet(path)
    assert str(error.value) == f"{path}  {told}"


def test_parquet_is_read_as_text_would_be(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet is an extra: pip install beholder[parquet]")
    path = tmp_path / "a.parquet"
    pd.DataFrame({"rater": ["p1", "p2"], "n": [1, 2], "score": [3.0, None]}).to_parquet(path)
    assert cells(read_sheet(path)) == [["rater", "n", "score"], ["p1", "1", "3"], ["p2", "2", ""]]


def test_a_workbook_with_two_tables_asks_which(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="Excel is an extra: pip install beholder[excel]")
    book = openpyxl.Workbook()
    for row in (["rater", "score"], ["p1", 4.5], ["p2", 3.0]):
        book.active.append(row)
    book.active.title = "Ratings"
    path = tmp_path / "a.xlsx"
    book.create_sheet("Notes").append(["by hand"])
    book.save(path)
    sheet = read_sheet(path)
    assert cells(sheet) == [["rater", "score"], ["p1", "4.5"], ["p2", "3"]]
    assert sheet.notes == ("sheet 'Ratings'",)
    for row in (["rater", "age"], ["p1", 33]):
        book["Notes"].append(row)
    book.save(path)
    with pytest.raises(UserError) as error:
        read_sheet(path)
    assert str(error.value) == (
        f'{path}  has 2 sheets with tables: Ratings, Notes. Allowed: one of them. Say which: --sheet "Ratings".'
    )
    assert len(read_sheet(path, "Notes").cells) == 1
    with pytest.raises(UserError, match="'Gone' is no sheet with a table"):
        read_sheet(path, "Gone")


def test_a_table_is_known_by_its_ending() -> None:
    assert is_table("a.CSV")
    assert is_table(Path("a.xlsx"))
    assert not is_table("study.yaml")
    assert not is_table("folder")
