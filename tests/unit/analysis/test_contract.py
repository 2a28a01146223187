"""The contract of an analysis: its columns decide what is written and what is read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis.contract import Analysis, Column
from beholder.errors import UserError

COLUMNS = (
    Column("name", "text", "A name."),
    Column("n", "integer", "A count."),
    Column("share", "number", "A share."),
    Column("use", "boolean", "A truth."),
    Column("*_se", "number", "An error."),
)
SAMPLE = Analysis("sample", lambda _: None, COLUMNS, row="name", holds="everything", citation="A (2000); B (2001)")
TABLE = pd.DataFrame(
    {"name": ["NA", "01"], "n": [1, 2], "share": [0.25, float("nan")], "use": [True, False], "x_se": [1.0, 2.0]}
)


def test_a_table_comes_back_with_its_declared_types(tmp_path: Path) -> None:
    path = tmp_path / SAMPLE.file
    path.write_bytes(SAMPLE.write(TABLE))
    assert path.read_text("utf-8") == "name,n,share,use,x_se\nNA,1,0.25,true,1\n01,2,,false,2\n"
    pd.testing.assert_frame_equal(SAMPLE.read(path), TABLE, check_dtype=False, check_column_type=False)
    assert SAMPLE.read(path)["n"].dtype == int


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        (TABLE.drop(columns=["n", "use"]), "the table lacks n and use"),
        (TABLE.assign(more=1), "the table has more, which is not declared"),
        (TABLE[["n", "name", "share", "use"]], "the columns of the table are not in the order name, n, share and use"),
        (TABLE.assign(name=[1, 2]), "name does not hold texts"),
        (TABLE.assign(n=[1.5, 2]), "n does not hold whole numbers"),
        (TABLE.assign(n=[1, float("nan")]), "n does not hold whole numbers"),
        (TABLE.assign(share=["a", "b"]), "share does not hold numbers"),
        (TABLE.assign(use=["yes", "no"]), "use does not hold truths"),
        (TABLE.assign(x_se="large"), "x_se does not hold numbers"),
    ],
)
def test_a_table_that_is_not_as_declared_is_not_written(table: pd.DataFrame, fault: str) -> None:
    assert list(SAMPLE.faults(table)) == [fault]
    with pytest.raises(ValueError, match=fault):
        SAMPLE.write(table)


def test_an_undeclared_column_of_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sample.csv"
    path.write_text("name,colour\na,red\n", "utf-8")
    with pytest.raises(UserError) as caught:
        SAMPLE.read(path)
    what = "has the column colour, which the analysis sample does not have. Run `beholder analyse` again."
    assert str(caught.value) == f"{path}  {what}"


def test_a_result_cites_everything_unless_told_what() -> None:
    assert SAMPLE.result(TABLE, "Note.").citation == "A (2000); B (2001)"
    assert SAMPLE.result(TABLE, "Note.", "A (2000)").citation == "A (2000)"


@pytest.mark.parametrize("name", ["", "../up", "Scores", "two words", "a.b"])
def test_a_name_is_one_of_a_file(name: str) -> None:
    with pytest.raises(ValueError, match="small letters, digits and _"):
        Analysis(name, lambda _: None, COLUMNS, row="name", holds="everything")


def test_a_time_is_no_kind_of_result() -> None:
    with pytest.raises(ValueError, match="began of the analysis sample is of none of text, integer, number and"):
        Analysis("sample", lambda _: None, (Column("began", "time", "A time."),), row="name", holds="everything")
