"""Export: every fact as tidy tables that come back as they were, each column described, nobody to be found in them."""

from __future__ import annotations

import asyncio
import csv
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import beholder
from beholder.cli import cli
from beholder.errors import UserError
from beholder.study.model import Study
from support.export_store import CONDITIONS, NAMED, SECRETS, fill, make_study, package, rows


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = make_study(tmp_path_factory.mktemp("exported"))
    asyncio.run(fill(study))
    return study


@pytest.fixture(scope="module")
def folder(study: Study) -> Path:
    return beholder.export(study, p910=True).folder


@pytest.fixture(scope="module")
def parquet(study: Study) -> Path:
    return beholder.export(study, out=study.folder / "parquet", format="parquet", p910=True).folder


def read_as_the_readme_says(folder: Path) -> Any:
    """Return the function that the page beside the tables gives to its reader."""
    (block,) = re.findall(r"^```python\n(.*?)^```$", (folder / "README.md").read_text("utf-8"), re.M | re.S)
    names: dict[str, Any] = {}
    exec(block.replace('Path(".")', f"Path({str(folder)!r})"), names)
    return names


def test_every_table_is_there_and_counts_people_alone(folder: Path, study: Study) -> None:
    written = {resource["name"]: resource["rows"] for resource in package(folder)["resources"]}
    assert written == {
        "ratings": 24, "participants": 5, "sessions": 5, "questionnaires": 18, "studies": 1, "questions": 6,
        "stimuli": 8, "answers": 18, "playback": 24, "checks": len(rows(folder, "checks")),
        "verdicts": len(rows(folder, "verdicts")), "exclusions": 3, "posed": 3, "told": 3, "matrix": 2, "events": 36,
        "votes_per_clip": 8, "votes_per_cond": 4, "votes_per_worker": 16,
    }  # fmt: skip
    assert {path.name for path in folder.iterdir()} == {
        *(f"{name}.csv" for name in written), "dictionary.csv", "datapackage.json", "README.md",
    }  # fmt: skip


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
    found = package(folder)
    assert found["created"] == "2026-11-15T18:00:00.000000Z"  # the last fact, an erasure
    keys: dict[tuple[str, tuple[str, ...]], set[tuple[str, ...]]] = {}
    for resource in found["resources"]:
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
    for resource in found["resources"]:
        for link in resource["schema"].get("foreignKeys", ()):
            known = keys[link["reference"]["resource"], tuple(link["reference"]["fields"])]
            told = {tuple(row[name] for name in link["fields"]) for row in rows(folder, resource["name"])}
            assert told <= known, (resource["name"], link)


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
    told = questionnaires.loc["alice"][["answer", "value", "withheld"]]
    assert told.loc[("sees", 1)].to_list() == ["no", 1, False]
    assert told.loc[("uses", 2)].to_list() == ["NA", 2, False]
    assert told.loc[("age", 1)].to_list() == ["30.5", 30.5, False]
    assert told.loc[("easy", 1)].to_list() == ["Disagree", 2, False]
    assert told.loc[("name", 1), "withheld"]
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


def test_raw_and_used_rows_are_in_one_table_and_every_exclusion_has_its_reason(folder: Path) -> None:
    used = {row["session"]: row["use"] for row in rows(folder, "ratings")}
    assert used == {"alice": "true", "bob": "true", "same": "false"}
    names = ("level", "session", "check", "reason", "words")
    assert [tuple(row[name] for name in names) for row in rows(folder, "exclusions")] == [
        ("session", "same", "variance", "same_answer", "Nearly the same answer throughout"),
        ("session", "gone", "complete", "withdrawn", "Withdrew; answers erased"),
        ("session", "left", "complete", "not_finished", "Did not finish"),
    ]  # fmt: skip
    (same,) = (row for row in rows(folder, "sessions") if row["session"] == "same")
    assert (same["use"], same["reasons"]) == ("false", "variance:same_answer")


def test_who_withdrew_leaves_a_tombstone_and_nothing_else(folder: Path) -> None:
    (gone,) = (row for row in rows(folder, "sessions") if row["session"] == "gone")
    assert (gone["outcome"], gone["erased_at"]) == ("withdrawn", "2026-11-15T18:00:00.000000Z")
    assert int(gone["erased_rows"]) > 0
    assert {gone[name] for name in ("device", "width_px", "browser", "system")} == {""}
    for name in ("ratings", "answers", "events", "posed", "told", "playback", "questionnaires", "checks"):
        assert "gone" not in {row["session"] for row in rows(folder, name)}, name


def test_neither_free_text_nor_anything_that_leads_to_a_person_is_in_it(folder: Path, parquet: Path) -> None:
    for path in [*folder.iterdir(), *parquet.iterdir()]:
        for secret in (*SECRETS, "CODE-1", "5eed"):
            assert secret.encode() not in path.read_bytes(), (path.name, secret)
    (typed, chosen) = (
        row for row in rows(folder, "events") if row["key"] == "questions:before" and row["session"] == "bob"
    )
    assert json.loads(typed["data"]) == {"question": "name"}
    assert json.loads(chosen["data"]) == {"question": "sees", "value": "no"}
    assert not (folder / "comments.csv").exists()


def test_free_text_is_there_when_it_is_asked_for(study: Study, tmp_path: Path) -> None:
    exported = beholder.export(study, out=tmp_path / "all", with_texts=True)
    folder, masked = exported.folder, "Write to [e-mail]: I am [id], and [id] is my friend."
    written = [row["text"] for row in rows(folder, "comments") if row["session"] == "alice"]
    assert written == [SECRETS[1], SECRETS[2], masked]
    (answer,) = (row["answer"] for row in rows(folder, "answers") if (row["session"], row["key"]) == ("bob", "trial:2"))
    assert json.loads(answer)["comment"] == masked
    assert exported.notes[0] == (
        "What people wrote in their own words is here. E-mail addresses and ids of platforms were replaced by [e-mail] "
        "and [id]: 9 in `answers`, 9 in `comments`. Names are not looked for: look through it before you hand it on."
    )
    assert f"- {exported.notes[0]}" in (folder / "README.md").read_text("utf-8")
    told = {(row["session"], row["question"]): row["answer"] for row in rows(folder, "questionnaires")}
    assert told["alice", "name"] == SECRETS[0]
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    for secret in (*SECRETS[3:], *NAMED.split()[2:3], "5F3A", "5f0f0f0f"):
        assert secret.encode() not in content


def test_the_same_facts_give_the_same_bytes_and_an_older_export_leaves_nothing_behind(
    study: Study, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    beholder.export(study, out=out, p910=True)
    (out / "my notes.txt").write_text("keep", "utf-8")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    beholder.export(study, out=out, p910=True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    beholder.export(study, out=out, format="parquet")
    assert sorted(path.name for path in out.glob("*.csv")) == ["dictionary.csv"]
    assert (out / "my notes.txt").read_text("utf-8") == "keep"


def test_a_rehearsal_can_be_exported_too(study: Study, tmp_path: Path) -> None:
    exported = beholder.export(study, out=tmp_path / "robots", robots=True)
    assert exported.population == "robots"
    assert exported.notes[0] == "These are robots, a rehearsal and not a result."
    assert {row["mode"] for row in rows(exported.folder, "sessions")} == {"robot"}


def test_names_that_a_careless_reader_changes_are_named(study: Study, folder: Path) -> None:
    note = "Names that plain `read_csv` would change: `007`, `01`, `NA`. "
    assert note + "Read the CSV as the README shows, or take Parquet." in (folder / "README.md").read_text("utf-8")


def test_a_folder_that_is_something_else_is_not_overwritten(study: Study, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work", "utf-8")
    for taken in (tmp_path, tmp_path / "thesis.tex"):
        with pytest.raises(UserError) as caught:
            beholder.export(study, out=taken)
        assert str(caught.value) == (
            f"{taken}  is there, and is not an export of Beholder. Allowed: a new or empty folder, or an earlier "
            "export. Name another folder with --out."
        )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_an_unknown_format_and_a_missing_pyarrow_say_what_to_do(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError) as caught:
        beholder.export(study, format="parket")  # type: ignore[arg-type]
    assert str(caught.value) == "--format  is parket. Allowed: csv, parquet. Did you mean parquet?"
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError) as caught:
        beholder.export(study, format="parquet")
    assert str(caught.value) == "--format parquet  needs pyarrow. Install it with `pip install beholder[parquet]`."


def test_the_command_takes_the_same_options() -> None:
    options = {option for parameter in cli.commands["export"].params for option in parameter.opts}
    assert options == {"study", "--store", "--out", "--format", "--robots", "--with-texts", "--p910"}


def test_progress_comes_to_its_end(study: Study, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    beholder.export(study, out=tmp_path / "out", progress=lambda done, total: told.append((done, total)))
    assert told[0][0] == 0
    assert told[-1][0] == told[-1][1]
    assert told == sorted(told)


def test_an_export_that_was_killed_is_simply_made_again(study: Study, tmp_path: Path) -> None:
    half = tmp_path / "out" / ".new.killed" / "new"
    half.mkdir(parents=True)
    (half / "comments.csv").write_text("what somebody wrote", "utf-8")
    beholder.export(study, out=tmp_path / "out")
    assert not (tmp_path / "out" / ".new.killed").exists()
    assert (tmp_path / "out" / "datapackage.json").exists()
