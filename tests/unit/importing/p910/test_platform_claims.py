"""A code belongs to the person whose answers it was given for; what others decided is kept beside our decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beholder import import_study
from beholder.cleaning import clean
from support.imported_folders import import_document, read_rows
from support.toolkit_sources import write_p910, write_rows


def test_a_code_of_somebody_else_and_one_that_nobody_got_are_told(tmp_path: Path) -> None:
    def change(page: list[dict[str, Any]], platform: list[dict[str, Any]]) -> None:
        platform.append({**platform[0], "WorkerId": "THIEF", "Answer.hitapp_assignmentId": "other"})
        platform.append({**platform[1], "Answer.v_code": "good survey"})
        page[2]["Answer.q1"] = "7"
        page[3]["AssignmentId"] = page[2]["AssignmentId"]
        page[4]["Answer.video_n_play_Q1"] = 0

    done = import_study(write_p910(tmp_path / "batch", suffix=".wav", changes=change), tmp_path / "mine")
    broken = [(one["file"], one["what"]) for one in import_document(done)["broken"]]
    assert broken == [
        ("hitapp_answers.csv", "answer.q1 is '7', not a whole number from 1 to 5"),
        ("hitapp_answers.csv", "has the session of an earlier row"),
        ("Batch_1_batch_results.csv", "has the code of answers that belong to another person"),
        ("Batch_1_batch_results.csv", "has a code that the page never gave, or gave once"),
    ]
    assert done.uncertain == {"voted without having played it": 1}
    assert done.sessions == 6


def test_what_the_parser_of_the_toolkit_decided_is_held_against_our_decisions(tmp_path: Path) -> None:
    source = write_p910(tmp_path / "batch", suffix=".wav")
    decided = [
        {"worker_id": "x", "assignment": f"AMT{n}", "accept": 1, "accept_and_use": n % 2, "failures": "[]"}
        for n in range(6)
    ]  # fmt: skip
    write_rows(source / "answers_data_cleaning_report.csv", decided)
    done = import_study(source, tmp_path / "mine")
    foreign = read_rows(clean(done.studies[0]).folder / "foreign.csv")
    assert [(row["check"], row["verdict"]) for row in foreign[:4]] == [
        ("accept", "pass"), ("use", "fail"), ("accept", "pass"), ("use", "pass"),
    ]  # fmt: skip
