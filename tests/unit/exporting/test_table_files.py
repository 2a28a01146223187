"""CSV and Parquet hold the same names, types and values."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from support.export_store import CONDITIONS, package


def read_as_the_readme_says(folder: Path) -> Any:
    """Return the function that the page beside the tables gives to its reader."""
    (block,) = re.findall(r"^```python\n(.*?)^```$", (folder / "README.md").read_text("utf-8"), re.M | re.S)
    names: dict[str, Any] = {}
    exec(block.replace('Path(".")', f"Path({str(folder)!r})"), names)
    return names


def test_names_and_numbers_come_back_in_pandas_as_they_were(folder: Path) -> None:
    read = read_as_the_readme_says(folder)["read"]
    ratings = read("ratings")
    assert list(ratings["condition"].unique()) == list(CONDITIONS)
    assert list(ratings["content"].unique()) == ["city", "007"]
    assert set(ratings["factor_rate"]) == {"0050"}
    assert list(ratings["value"][:4]) == [5, 3, 2, 1]
    assert list(ratings["value_label"][:4]) == ["Excellent", "Fair", "Poor", "Bad"]
    assert ratings["plays"].dtype == "Int64"
    assert ratings["unit"].isna().all()
    assert ratings["use"].dtype == "boolean"
    assert list(ratings["block"].unique()) == [1, 2]
    assert (ratings["answered_at"] - ratings["shown_at"] == pd.Timedelta(seconds=9)).all()
    questionnaires = read("questionnaires").set_index(["session", "question", "number"])
    alice = questionnaires.loc["alice"][["answer", "value", "withheld"]]
    assert alice.loc[("sees", 1)].to_list() == ["no", 1, False]
    assert alice.loc[("uses", 2)].to_list() == ["NA", 2, False]
    assert alice.loc[("age", 1)].to_list() == ["30.5", 30.5, False]
    assert alice.loc[("easy", 1)].to_list() == ["Disagree", 2, False]
    assert alice.loc[("name", 1), "withheld"]
    for resource in package(folder)["resources"]:
        assert len(read(resource["name"])) == resource["rows"]


def test_parquet_has_the_same_names_types_and_values(folder: Path, parquet: Path) -> None:
    read = read_as_the_readme_says(folder)["read"]
    kinds = {"string": "str", "integer": "Int64", "number": "Float64", "boolean": "boolean", "datetime": "datetime"}
    for resource in package(parquet)["resources"]:
        from_csv = read(resource["name"])
        table = pd.read_parquet(parquet / resource["path"], dtype_backend="numpy_nullable")
        assert list(table.columns) == list(from_csv.columns)
        for field in resource["schema"]["fields"]:
            assert str(table[field["name"]].dtype).startswith(kinds[field["type"]]), field
        for name in table:
            one, other = table[name], from_csv[name]
            assert list(one.isna()) == list(other.isna()), (resource["name"], name)
            is_there = one.notna()
            if one.dtype == "Float64":
                assert one[is_there].to_list() == pytest.approx(other[is_there].to_list(), rel=1e-9)
            else:
                assert one[is_there].to_list() == other[is_there].to_list(), (resource["name"], name)
    names = read_as_the_readme_says_of_parquet(parquet)
    assert list(names["used"]["condition"].unique()) == list(CONDITIONS)


def read_as_the_readme_says_of_parquet(folder: Path) -> dict[str, Any]:
    (block,) = re.findall(r"^```python\n(.*?)^```$", (folder / "README.md").read_text("utf-8"), re.M | re.S)
    names: dict[str, Any] = {}
    exec(block.replace('"ratings.parquet"', repr(str(folder / "ratings.parquet"))), names)
    return names
