"""Responses of ReSEval are decoded as its writer wrote them, and its traps are told."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from beholder import import_study
from beholder.cleaning import clean
from beholder.importing.reseval.responses import ORDER, STALE
from beholder.store.open import read_tables
from support.reseval_source import write_reseval, write_table


def rows(tmp_path: Path, test: str, *more: Sequence[object], **options: Any) -> list[dict[str, str]]:
    done = import_study(write_reseval(tmp_path / "root", test, "audio", *more), tmp_path / "mine", **options)
    return ratings(done.folder)


def ratings(folder: Path) -> list[dict[str, str]]:
    clean(folder / "study.yaml")
    with (folder / "clean" / "ratings.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def broken(tmp_path: Path) -> list[tuple[int, str]]:
    report = json.loads((tmp_path / "mine" / "import-report.json").read_text("utf-8"))
    return [(one["line"], one["what"]) for one in report["broken"]]


@pytest.mark.parametrize("test", ["ab", "abx"])
def test_a_choice_favours_the_condition_that_it_names(tmp_path: Path, test: str) -> None:
    found = rows(tmp_path, test, ("one", "p3", 1, "third"))
    assert [(row["condition"], row["other_condition"], row["value"], row["slot"]) for row in found[:3]] == [
        ("new", "old", "1", ""), ("new", "old", "1", ""), ("new", "old", "-1", ""),
    ]  # fmt: skip
    assert [row["position"] for row in found] == ["1", "2", "1", "2", "1"]
    assert broken(tmp_path) == [(7, "Response is third, which is no condition")]


def test_a_score_stands_behind_the_last_hyphen(tmp_path: Path) -> None:
    odd = [("one", "p3", place, said) for place, said in enumerate(("old-2-6", "old-2", "", "new-1"), 1)]
    found = rows(tmp_path, "mos", *odd)
    assert [(row["condition"], row["value"]) for row in found] == [
        ("new", "5"), ("new", "5"), ("old-2", "3"), ("old-2", "3"), ("new", "5"), ("new", "1"),
    ]  # fmt: skip
    assert [what for _, what in broken(tmp_path)] == [
        "Response is old-2-6, not a condition, a hyphen and 1 to 5",
        "Response is old-2, not a condition, a hyphen and 1 to 5",
        "has no response",
    ]


def test_three_digits_for_each_condition_in_the_order_of_the_database(tmp_path: Path) -> None:
    found = rows(tmp_path, "mushra", ("one", "p3", 1, "0900700"), ("one", "p3", 2, "090070101"))
    assert [(row["condition"], row["value"]) for row in found[:3]] == [("new", "90"), ("old", "70"), ("worse", "20")]
    assert {row["uncertain"] for row in found} == {STALE}
    assert [line for line, _ in broken(tmp_path)] == [7, 8]


def test_where_names_sort_in_several_ways_the_order_of_the_table_counts_and_is_in_doubt(tmp_path: Path) -> None:
    source = write_reseval(tmp_path / "root", "mushra")
    (source / "files" / "old").rename(source / "files" / "Old")
    write_table(source / "my-test" / "tables" / "conditions.csv", ("Condition",), [("new",), ("Old",), ("worse",)])
    found = ratings(import_study(source, tmp_path / "mine").folder)
    assert {row["condition"]: row["value"] for row in found[:3]} == {"Old": "70", "new": "90", "worse": "20"}
    assert {row["uncertain"] for row in found} == {f"{STALE}; {ORDER}"}


def test_sliders_in_the_middle_can_be_left_out(tmp_path: Path) -> None:
    found = rows(tmp_path, "mushra", drop_untouched=True)
    assert [row["value"] for row in found if row["condition"] == "old"] == ["70", "70", "", "", "70"]


def test_a_sign_for_each_word(tmp_path: Path) -> None:
    found = rows(tmp_path, "wordselect", ("one", "p3", 1, "0101"))
    assert [row["word"] for row in found if row["value"] == "1"] == ["storm"] * 3
    assert broken(tmp_path) == [(7, "Response has 4 signs for 5 words")]


def test_a_response_that_was_sent_twice_counts_once(tmp_path: Path) -> None:
    found = rows(tmp_path, "ab", ("two", "p3", 0, "old"), ("two", "p3", 1, "old"), ("nine", "p3", 2, "old"))
    assert [row["value"] for row in found] == ["1", "1", "-1", "-1", "1", "-1"]
    assert broken(tmp_path) == [
        (7, "was sent twice: this participant has answered this page before"),
        (9, "Stem is nine, which is no file of the test"),
    ]


def test_who_answered_every_page_is_complete_and_a_code_says_nothing(tmp_path: Path) -> None:
    rows(tmp_path, "ab")
    store = tmp_path / "mine" / "store"
    outcomes = {row["session"]: row["outcome"] for row in read_tables(store, ("ends",))["ends"]}
    sessions = [row["session"] for row in read_tables(store, ("sessions",))["sessions"]]
    assert [outcomes.get(session) for session in sessions] == ["completed", "completed", None, "screened_out"]
    with (tmp_path / "mine" / "clean" / "participants.csv").open(encoding="utf-8", newline="") as file:
        people = list(csv.DictReader(file))
    assert [person["answer_language"] for person in people] == ["Yes", "", "Yes", "No"]
    report = json.loads((tmp_path / "mine" / "import-report.json").read_text("utf-8"))
    assert report["warnings"] == [
        "my-test/tables/participants.csv:3: the answer to Language is '6', and left out: the hearing test writes "
        "over it."
    ]


def test_workers_of_mechanical_turk_are_known_again_and_their_ids_are_nowhere(tmp_path: Path) -> None:
    source = write_reseval(tmp_path / "root")
    crowd = [
        {"WorkerId": "AWORKER1", "AssignmentStatus": "Approved", "ParticipantID": "p1", "Answer": "<a>&amp;</a>"},
        {"WorkerId": "AWORKER1", "AssignmentStatus": "Rejected", "ParticipantID": "p3", "Answer": ""},
        {"WorkerId": "AWORKER2", "AssignmentStatus": "Submitted", "ParticipantID": ""},
    ]
    (source / "my-test" / "crowdsource").mkdir()
    (source / "my-test" / "crowdsource" / "crowdsource.json").write_text(json.dumps(crowd), "utf-8")
    done = import_study(source, tmp_path / "mine")
    assert (done.people, done.sessions) == (3, 4)
    report = (tmp_path / "mine" / "import-report.json").read_text("utf-8")
    assert "AWORKER" not in report + (tmp_path / "mine" / "study.yaml").read_text("utf-8")
    ratings(done.folder)
    with (tmp_path / "mine" / "clean" / "foreign.csv").open(encoding="utf-8", newline="") as file:
        assert [row["verdict"] for row in csv.DictReader(file)] == ["pass", "fail"]
