"""Writing CSV and JSON files."""

from __future__ import annotations

import csv
import io
import math
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from beholder.errors import UserError
from beholder.files import (
    cell,
    cells,
    csv_text,
    json_bytes,
    number,
    read_cells,
    staged,
    table_bytes,
    utf8,
    write_all,
    write_atomically,
    write_private,
    write_table,
)


def test_a_table_is_csv_with_empty_cells_for_what_is_missing() -> None:
    rows: list[dict[str, object]] = [{"a": 1, "b": math.nan, "c": True}, {"a": None, "b": 0.5, "c": "x,y"}]
    assert table_bytes(["a", "b", "c"], rows) == b'a,b,c\n1,,true\n,0.5,"x,y"\n'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), (True, "true"), (math.nan, ""), (-0.0, "0"), (1 / 3, "0.3333333333"),
        ({"b": 1, "a": 2}, '{"a": 2, "b": 1}'),
        (datetime(2026, 5, 4, 12, tzinfo=UTC), "2026-05-04T12:00:00+00:00"), ("a\r\nb\rc", "a\nb\nc"),
    ],
)  # fmt: skip
def test_a_cell_is_the_same_text_for_the_same_value(value: object, text: str) -> None:
    assert cell(value) == text


@pytest.mark.parametrize("text", ["=1+1", "+A1", "-2+3", "@SUM(A1)", "\t=1", "\n=1", "\r=1", "'=1", "''=1", "＝1"])
def test_no_text_is_a_formula_and_what_we_read_is_what_was_written(text: str, tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", [text, "b"], [{text: text, "b": "x"}, {text: "y", "b": text}])
    written = text.replace("\r", "\n")
    for line in csv.reader(io.StringIO((tmp_path / "t.csv").read_text("utf-8"), newline="")):
        assert not any(one.startswith(("=", "+", "-", "@", "\t", "\n", "＝")) for one in line)
    read = read_cells(tmp_path / "t.csv")
    assert [list(read.columns), *read.to_numpy().tolist()] == [[written, "b"], [written, "x"], ["y", written]]
    assert csv_text([text]).strip('"').startswith("'")


def test_a_number_below_zero_stays_a_number() -> None:
    values = (-3, -0.5, "-3", "+4.5", "-1e-5", "-", "-x")
    assert [cell(value) for value in values] == ["-3", "-0.5", "-3", "+4.5", "-1e-5", "-", "'-x"]
    assert list(cells(["-3", None, "a", "-x"])) == ["-3", "", "a", "'-x"]


def test_no_zero_is_in_a_table() -> None:
    assert table_bytes(["a\0"], [{"a\0": "x\0y"}]) == "a\ufffd\nx\ufffdy\n".encode()
    assert csv_text(["x\0y"]) == "x\ufffdy"


def test_half_a_character_becomes_a_replacement() -> None:
    assert utf8("a\ud800b") == "a\ufffdb".encode()
    assert number(2.50) == "2.5"


def test_nan_is_not_json() -> None:
    with pytest.raises(ValueError):
        json_bytes(math.nan)


def test_files_are_written_all_or_none(tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError

    write_all(tmp_path, {"a.csv": b"1", "b.csv": b"1"})
    with pytest.raises(RuntimeError):
        write_all(tmp_path, {"a.csv": b"2", "b.csv": broken()})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.csv": b"1", "b.csv": b"1"}
    write_all(tmp_path, {"a.csv": b"2"}, stale=["b.csv"])
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.csv": b"2"}


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match="cannot be written"), staged(tmp_path / "file"):
        pass


def test_a_private_file_is_for_its_owner_and_out_of_git(tmp_path: Path) -> None:
    write_private(tmp_path / "ids" / "people.csv", b"a")
    assert stat.S_IMODE((tmp_path / "ids" / "people.csv").stat().st_mode) & 0o077 == 0
    assert (tmp_path / "ids" / ".gitignore").read_text() == "*\n"
    write_atomically(tmp_path / "x" / "y.txt", b"b")
    assert (tmp_path / "x" / "y.txt").read_bytes() == b"b"
