"""Comparing: every problem of every side, in words that say how to fix it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import beholder
from beholder.cli import cli
from beholder.errors import UserError

NEEDED = "Allowed: stimulus or condition, and mean; also question, content, sd and n."


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.csv").write_text("stimulus,mean\na,1\nb,2\nc,3\n", "utf-8")


def problems(*sides: str, **options: object) -> list[str]:
    with pytest.raises(UserError) as error:
        beholder.compare(*sides, **options)  # type: ignore[arg-type]
    return str(error.value).splitlines()


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("what,number\na,1\n", [
            f"bad.csv  has no column mean. {NEEDED}",
            f"bad.csv  has neither a column stimulus nor a column condition. {NEEDED}",
        ]),
        ("stimulus,mean\na,x\n,2\n", [
            "bad.csv:2  mean is 'x'. Allowed: a number, or an empty cell.",
            "bad.csv:3  stimulus is empty. Allowed: a name.",
        ]),
        ("stimulus,mean,sd,n\na,1,-1,5\nb,2,1,0\n", [
            "bad.csv:2  sd is -1. Allowed: 0 or more.",
            "bad.csv:3  n is 0. Allowed: 1 or more.",
        ]),
        ("condition,mean\na,1\nb,2\na,3\n", [
            "bad.csv:4  condition 'a' of question 'rating' is there twice, also in line 2. Allowed: one row each.",
        ]),
        ("stimulus,mean\nx,1\ny,2\n", [
            "good  shares no stimulus and no condition with another side: a, b, c. Allowed: names as the others have "
            "them: x, y.",
            "bad  shares no stimulus and no condition with another side: x, y. Allowed: names as the others have "
            "them: a, b, c.",
        ]),
        ("stimulus,mean,question\na,1,one\na,2,two\n", [
            "good  has no question of another side: rating. Allowed: one, two. Give both the same names, or one "
            "question each.",
            "bad  has no question of another side: one, two. Allowed: rating. Give both the same names, or one "
            "question each.",
        ]),
        ("stimulus,mean\na,\n", ["bad  has no score that can be used."]),
        ("participant,score\np,1\n", [
            "bad.csv  has no column that says what was rated. Allowed: a name such as condition, system, model, hrc, "
            "codec, algorithm. Columns: participant, score. --columns "
            '"participant=participant,value=score,condition=NAME".',
        ]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table(written: str, told: list[str]) -> None:
    Path("bad.csv").write_text(written, "utf-8")
    assert problems("good.csv", "bad.csv") == told


def test_the_problems_of_all_sides_are_told_at_once() -> None:
    Path("bad.csv").write_text("stimulus,mean\na,x\n", "utf-8")
    assert problems("bad.csv", "good.csv", "gone.csv", "good.csv@2") == [
        "bad.csv:2  mean is 'x'. Allowed: a number, or an empty cell.",
        "gone.csv  is not there. Give another file.",
        "good.csv  is a table of scores and has no run 2. Allowed: a study or ratings.",
    ]


def test_one_side_is_none() -> None:
    one = (
        "compare  has one side only. Allowed: two or more. Give another study, a run of it as study.yaml@2, or a table."
    )
    assert problems("good.csv") == [one]
    assert problems("a=good.csv") == [one]
    assert problems() == [
        "compare  has no sides. Allowed: two or more. Give studies, runs (study.yaml@2) or tables (.csv, .tsv, .xlsx, "
        ".parquet)."
    ]


def test_a_run_that_a_table_lacks() -> None:
    Path("ratings.csv").write_text("participant,content,condition,value,run\np,c,a,1,1\nq,c,a,1,3\n", "utf-8")
    assert problems("ratings.csv@2", "good.csv") == ["ratings.csv  has no ratings of run 2. Allowed: 1, 3."]


def test_a_question_that_nobody_asked_and_a_margin_of_nothing() -> None:
    assert problems("good.csv", "good.csv", questions=["ratings"]) == [
        "--question  'ratings' is no question of two sides. Allowed: rating. Did you mean rating?"
    ]
    assert problems("good.csv", "good.csv", margin=0) == [
        "--margin  is 0. Allowed: a number above 0, in points of the scale."
    ]


@pytest.mark.variant
def test_columns_that_nobody_knows_do_no_harm() -> None:
    Path("more.csv").write_text("stimulus,mean,laboratory,note\na,1,x,\nb,2,x,\nc,3,,y\n", "utf-8")
    found = beholder.compare("good.csv", "more.csv")
    assert found.agreement["rmse"].tolist() == [0.0]


def test_the_command_line_ends_with_two() -> None:
    result = CliRunner().invoke(cli, ["compare"])
    assert result.exit_code == 2


def test_tables_of_others_are_sides_and_what_is_odd_in_them_is_told() -> None:
    Path("lab.csv").write_text("System;MOS;Std;n\nA;4,21;0,5;20\nB;2,15;0,5;20\nC;1,55;0,5;20\n", "utf-8")
    votes = {"A": (4, 5), "B": (2, 5), "C": (1, 5)}
    rows = [f"p{at}\t{name}\t{vote}" for name, some in votes.items() for at, vote in enumerate(some)]
    Path("crowd.tsv").write_text("\n".join(["worker\tmodel\tvote", *rows]), "utf-8")
    found = beholder.compare("lab.csv", "crowd.tsv", columns={"participant": "worker"}, out="out")
    assert found.notes["tables"] == [
        "lab: read with semicolons between the cells; MOS is the mean, System is the condition and Std is the sd.",
        "lab: 1 of 3 means no whole votes can give (A: 4,21 of 20 votes). Fine if votes had decimals or people were "
        "weighted; else a wrong n or a slip of the pen (GRIM).",
        "crowd: read with tabs between the cells; worker is the participant, model is the condition and vote is the "
        "value; no column says the content: ratings of a condition are taken together; scale 1 to 5, by its values.",
    ]
    assert "GRIM" in found.page.read_text("utf-8")
    assert problems("lab.csv", "crowd.tsv", columns="condition=gone") == [
        "--columns  condition=gone: lab.csv has no column 'gone'. Allowed: System, MOS, Std, n.",
    ]
