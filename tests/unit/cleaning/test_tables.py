"""The tables of clean/."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from beholder.cleaning.tables import clean_tables
from beholder.planning.serialization import list_to_json
from beholder.study.model import Study
from support.store_tables import add, empty, make_study, planned, rows


def test_sessions_and_participants_carry_both_decisions_and_every_reason(study: Study) -> None:
    tables = empty(study)
    add(tables, "good")
    add(tables, "flat", scores=(50, 50, 50))
    add(tables, "left", outcome=None, trials=1)
    add(tables, "screened", outcome="screened_out", trials=0)
    cleaned = clean_tables(study, tables)
    decided = [(row["session"], row["accept"], row["use"], row["reasons"]) for row in rows(cleaned, "sessions")]
    assert decided == [
        ("good", "true", "true", ""),
        ("flat", "true", "false", "variance:same_answer"),
        ("left", "", "false", "complete:not_finished"),
        ("screened", "true", "false", "complete:screened_out"),
    ]
    assert rows(cleaned, "sessions")[0]["minutes"] == "6"
    people = rows(cleaned, "participants")
    assert [person["answer_age"] for person in people] == ["30"] * 4
    assert [person["used_ratings"] for person in people] == ["6", "0", "0", "0"]
    assert [lost.words for lost in cleaned.lost] == [
        "Did not finish", "Screened out before the trials", "Nearly the same answer throughout",
    ]  # fmt: skip
    assert cleaned.counts["used_participants"] == 1


ASKED = [
    {"id": "age", "text": "Age", "type": "number"},
    {"id": "remarks", "text": "Remarks?", "type": "text"},
    {"id": "mood", "text": "Mood?", "type": "single", "options": ["-1", "0", "+1"]},
]


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("half \ud83d emoji", "half \ufffd emoji"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("whole \U0001f600, line\nbreak", "whole \U0001f600, line\nbreak"),
        ('=HYPERLINK("x")', '\'=HYPERLINK("x")'),
        ("+1", "+1"),
        ("-1+2", "'-1+2"),
        ("zero\0byte", "zero\ufffdbyte"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\n=1"),
        ("fine\r=1\r\n=2", "fine\n=1\n=2"),
        ("\n=1", "'\n=1"),
        ("'tis fine = good", "'tis fine = good"),
    ],
)
def test_whatever_was_typed_can_be_written_and_never_is_a_formula(tmp_path: Path, typed: str, written: str) -> None:
    study = make_study(tmp_path, after=ASKED)
    tables = empty(study)
    add(tables, "a", after={"remarks": json.loads(json.dumps(typed)), "mood": "-1", "age": -3})
    (row,) = rows(clean_tables(study, tables), "participants")
    assert (row["answer_remarks"], row["answer_mood"], row["answer_age"]) == (written, "-1", "-3")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.mark.parametrize("name", ["sessions.csv", "account.json"])
def test_when_one_table_cannot_be_written_all_stay_as_they_were(study: Study, name: str) -> None:
    tables = empty(study)
    add(tables, "a")
    folder = clean_tables(study, tables).folder
    (folder / name).unlink()
    (folder / name / "in the way").mkdir(parents=True)
    before = contents(folder)
    add(tables, "b")
    with pytest.raises(OSError, match=re.escape(name)):
        clean_tables(study, tables)
    assert contents(folder) == before
    assert sorted(path.name for path in folder.iterdir()) == sorted([*before, name])


def test_cleaning_twice_gives_the_same_bytes(study: Study) -> None:
    tables = empty(study)
    rng = np.random.default_rng(3)
    for number in range(5):
        low, middle, high = (int(score) for score in rng.integers(0, 101, 3))
        add(tables, f"s{number}", scores=(low, middle, high))
    folder = clean_tables(study, tables).folder
    first = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    clean_tables(study, tables)
    assert {path.name: path.read_bytes() for path in sorted(folder.iterdir())} == first
    assert sorted(first) == [
        "accept.csv", "account.json", "account.md", "bonus.csv", "checks.csv", "comments.csv", "devices.csv",
        "extend.csv", "look.csv", "participants.csv", "playback.csv", "qualification.csv", "ratings.csv", "reject.csv",
        "sessions.csv", "stimuli.csv", "verdicts.csv", "votes.csv",
    ]  # fmt: skip


def test_participants_carry_their_group(tmp_path: Path) -> None:
    between = {"Asked": {"Q1": {}, "Q2": {"playback": {"watch": "none"}}}}
    study = make_study(tmp_path, design={"participants": 2, "between": between})
    tables = empty(study)
    tables["lists"][0]["trials"] = list_to_json(replace(planned(study), group={"Asked": "Q1"}))
    add(tables, "one")
    add(tables, "gone", outcome="screened_out", trials=0)
    tables["claims"] = [row for row in tables["claims"] if row["session"] == "one"]
    cleaned = clean_tables(study, tables)
    people = rows(cleaned, "participants")
    assert [person["factor_Asked"] for person in people] == ["Q1", ""]
    assert [*people[0]][-2:] == ["factor_Asked", "answer_age"]
    assert json.loads((cleaned.folder / "account.json").read_text())["groups"] == [
        {"levels": {"Asked": "Q1"}, "began": 1, "finished": 1, "used": 1}
    ]


def test_looped_parts_have_a_table_only_where_somebody_looped_one(study: Study) -> None:
    tables = empty(study)
    add(tables, "plain")
    cleaned = clean_tables(study, tables)
    names = set(contents(cleaned.folder))
    assert "loops.csv" not in names
    assert "loops" not in json.loads((cleaned.folder / "account.json").read_text("utf-8"))

    add(tables, "looping")
    (first, *_) = (row for row in tables["answers"] if row["session"] == "looping" and row["key"] == "trial:1")
    first["playback"] = {**first["playback"], "page": {"loops": [[500, 1500], [0, 800]]}}
    cleaned = clean_tables(study, tables)
    assert set(contents(cleaned.folder)) == names | {"loops.csv"}
    assert [(row["session"], row["position"], row["from_ms"], row["to_ms"]) for row in rows(cleaned, "loops")] == [
        ("looping", "1", "500", "1500"),
        ("looping", "1", "0", "800"),
    ]
    account = json.loads((cleaned.folder / "account.json").read_text("utf-8"))
    assert account["loops"]["pages"] == 1
    assert account["loops"]["median_ms"] == 900

    del first["playback"]["page"]
    assert set(contents(clean_tables(study, tables).folder)) == names, "what is no longer true is taken away"
