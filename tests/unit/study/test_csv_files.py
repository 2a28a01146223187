"""CSV files that a study names: delimiters, columns, and what is wrong with a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import Problem
from beholder.study.csv_files import column_names, plain_text, read_lines, read_table

COLUMNS = ("condition", "other")


def read(folder: Path, text: str) -> tuple[list[dict[str, str]], list[str]]:
    (folder / "pairs.csv").write_text(text, "utf-8")
    problems: list[Problem] = []
    lines = read_lines(folder, "pairs.csv", COLUMNS, problems)
    return [dict(line.cells) for line in lines], [f"{problem.where} {problem.what}" for problem in problems]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_cells_are_read_whatever_stands_between_them(tmp_path: Path, delimiter: str) -> None:
    text = f"Other{delimiter}condition\nb{delimiter}a\n\nc{delimiter} a \n"
    assert read(tmp_path, text) == ([{"other": "b", "condition": "a"}, {"other": "c", "condition": "a"}], [])
    assert column_names(tmp_path, "pairs.csv") == ["other", "condition"]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("condition\na\n", ["pairs.csv:1 column other is missing"]),
        ("condition,other,other\na,b,c\n", ["pairs.csv:1 column other is there twice"]),
        ("condition,other,more\n", ["pairs.csv:1 column more is unknown"]),
        ("condition,other\na,b,c\n", ["pairs.csv:2 has 3 cells, the first line has 2"]),
    ],
)
def test_wrong_columns_and_cells_are_problems_with_their_line(tmp_path: Path, text: str, problems: list[str]) -> None:
    assert read(tmp_path, text) == ([], problems)


def test_a_file_that_cannot_be_read_is_one_problem(tmp_path: Path) -> None:
    problems: list[Problem] = []
    assert read_table(tmp_path, "pairs.csv", COLUMNS, problems) is None
    (tmp_path / "pairs.csv").write_bytes(b"\xff\xfe")
    assert read_table(tmp_path, "pairs.csv", COLUMNS, problems) is None
    assert [problem.what for problem in problems] == ["does not exist", "is not UTF-8 text"]
    assert column_names(tmp_path, "other.csv") == []


def test_names_are_composed_and_without_line_ends() -> None:
    assert plain_text(" cafe\u0301\r\n") == "caf\u00e9"


def test_a_table_without_end_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "pairs.csv").open("wb") as file:
        file.truncate(65_000_000)
    problems: list[Problem] = []
    assert read_lines(tmp_path, "pairs.csv", COLUMNS, problems) == []
    assert [str(one) for one in problems] == [
        "pairs.csv  is pairs.csv, which has 65000000 bytes. Allowed: at most 64000000 bytes."
    ]


def test_what_we_wrote_for_a_spreadsheet_is_read_as_it_was(tmp_path: Path) -> None:
    assert read(tmp_path, "condition,other\n'-3dB,'=x\n") == ([{"condition": "-3dB", "other": "=x"}], [])
