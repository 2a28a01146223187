"""The data dictionary, the Data Package and the notes describe the tables as they are."""

from __future__ import annotations

import csv
import hashlib
import re
from pathlib import Path

from beholder.study.model import Study
from support.data import ROOT
from support.export_store import package, rows


def test_every_column_is_described(folder: Path) -> None:
    described = {(row["table"], row["column"]): row["description"] for row in rows(folder, "dictionary")}
    for resource in package(folder)["resources"]:
        with (folder / resource["path"]).open(encoding="utf-8", newline="") as file:
            header = next(csv.reader(file))
        fields = resource["schema"]["fields"]
        assert [field["name"] for field in fields] == header
        for field in fields:
            assert field["description"], f"{resource['name']}.{field['name']} is not described"
            assert described[resource["name"], field["name"]] == field["description"]


def test_the_package_tells_the_truth_about_its_files(folder: Path) -> None:
    described = package(folder)
    assert described["created"] == "2026-11-15T18:00:00.000000Z"  # the last fact, an erasure
    keys: dict[tuple[str, tuple[str, ...]], set[tuple[str, ...]]] = {}
    for resource in described["resources"]:
        content = (folder / resource["path"]).read_bytes()
        assert (resource["bytes"], resource["hash"]) == (len(content), f"sha256:{hashlib.sha256(content).hexdigest()}")
        assert resource["schema"]["missingValues"] == [""]
        assert b"\r" not in content
        table = rows(folder, resource["name"])
        assert len(table) == resource["rows"]
        key = tuple(resource["schema"].get("primaryKey", ()))
        if key:
            values = [tuple(row[name] for name in key) for row in table]
            assert len(set(values)) == len(values), resource["name"]
            assert all(all(value) for value in values), resource["name"]
            keys[resource["name"], key] = set(values)
        for field in resource["schema"]["fields"]:
            allowed = field.get("constraints", {}).get("enum")
            assert not allowed or {row[field["name"]] for row in table} <= {*allowed, ""}, field
    for resource in described["resources"]:
        for link in resource["schema"].get("foreignKeys", ()):
            known = keys[link["reference"]["resource"], tuple(link["reference"]["fields"])]
            references = {tuple(row[name] for name in link["fields"]) for row in rows(folder, resource["name"])}
            assert references <= known, (resource["name"], link)


def test_names_that_a_careless_reader_changes_are_named(study: Study, folder: Path) -> None:
    note = "Names that plain `read_csv` would change: `007`, `01`, `NA`. "
    assert note + "Read the CSV as the README shows, or take Parquet." in (folder / "README.md").read_text("utf-8")


def test_every_table_of_an_export_is_named_in_the_docs(folder: Path) -> None:
    part = (ROOT / "docs" / "data.md").read_text("utf-8").partition("\n## Export\n")[2]
    cells = re.findall(r"^\| (`[^|]*`) \|", part, re.MULTILINE)
    named = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert {resource["name"] for resource in package(folder)["resources"]} <= named
