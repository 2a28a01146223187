"""Answers become sessions with their checks, their playback and their origin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder import import_study
from beholder.cleaning import clean
from beholder.importing import ImportedFolder
from beholder.importing.p910.toolkit_sessions import plate_number
from beholder.store.open import read_tables
from support.imported_folders import read_rows
from support.toolkit_sources import write_p910


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> ImportedFolder:
    folder = tmp_path_factory.mktemp("p910")
    return import_study(write_p910(folder / "batch", suffix=".wav"), folder / "mine")


def test_answers_become_sessions_with_their_checks_and_what_the_platform_decided(imported: ImportedFolder) -> None:
    assert (imported.people, imported.sessions) == (4, 7)
    done = clean(imported.studies[0])
    sessions = read_rows(done.folder / "sessions.csv")
    assert [row["reasons"] for row in sessions if row["outcome"] == "completed"] == [""] * 6
    assert {row["accept"] for row in sessions} == {"true", ""}
    foreign = read_rows(done.folder / "foreign.csv")
    assert [row["verdict"] for row in foreign] == ["fail", *["pass"] * 5]
    verdicts = {(row["check"], row["verdict"]) for row in read_rows(done.folder / "verdicts.csv")}
    assert {("trap", "pass"), ("gold", "pass"), ("colour", "pass"), ("brightness", "pass")} <= verdicts
    ratings = read_rows(done.folder / "ratings.csv")
    assert len(ratings) == 6 * 4
    first = ratings[0]
    assert (first["content"], first["condition"], first["value"], first["position"]) == ("src1_c_v1", "01", "5", "1")
    assert first["origin"] == "hitapp_answers.csv:2"


def test_a_reference_that_came_second_turns_the_sign_of_what_was_clicked_and_of_what_a_trap_asks(
    tmp_path: Path,
) -> None:
    done = import_study(write_p910(tmp_path / "batch", "ccr", suffix=".wav"), tmp_path / "mine")
    cleaned = clean(done.studies[0]).folder
    assert {(row["value"], row["raw_value"]) for row in read_rows(cleaned / "ratings.csv")} == {
        ("1", "1"), ("-1", "-1"), ("-1", "1"), ("1", "-1"), ("0", "0"), ("-2", "2"), ("-2", "-2"),
    }  # fmt: skip
    checks = [row for row in read_rows(cleaned / "verdicts.csv") if row["check"] in ("trap", "gold")]
    assert {row["verdict"] for row in checks if row["measured"] == "0" and row["reason"] == ""} == {"pass"}
    assert not [row for row in checks if row["verdict"] == "fail"]


@pytest.mark.parametrize(
    ("address", "number"),
    [
        ("https://x.example.org/X594MJK=4U5J03.png?sig=1", "29"), ("plates/8R5DMTU=2L0B04.png", "15"),
        ("https://x.example.org/3.jpg", None), ("", None),
    ],
)  # fmt: skip
def test_the_number_on_a_plate_is_in_the_name_of_its_file(address: str, number: str | None) -> None:
    assert plate_number(address) == number


def test_plates_whose_names_tell_nothing_are_judged_by_nobody(tmp_path: Path) -> None:
    def change(page: list[dict[str, Any]], _: object) -> None:
        page[0]["Input.cv_plate_3_url"] = "https://media.example.org/3.jpg"

    done = import_study(write_p910(tmp_path / "batch", suffix=".wav", changes=change), tmp_path / "mine")
    verdicts = read_rows(clean(done.studies[0]).folder / "verdicts.csv")
    assert [row["verdict"] for row in verdicts if row["check"] == "colour"].count("fail") == 0


def test_what_a_hidden_section_asks_was_not_answered(tmp_path: Path) -> None:
    done = import_study(write_p910(tmp_path / "batch", suffix=".wav"), tmp_path / "mine")
    posed = read_tables(done.folder / "store", ("posed",))["posed"]
    assert [row["key"] for row in posed[:4]] == [
        "check:colour:1", "check:brightness:1", "check:brightness:2", "check:brightness_second:1",
    ]  # fmt: skip
    assert len(posed) == 3 * 4
    assert posed[1]["private"] == {"counts": {"circles": 3, "triangles": 1}}
