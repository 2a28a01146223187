"""The folder board/: written when votes have come, and only then; of a study after cleaning."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

import beholder
from beholder.errors import UserError
from beholder.leaderboard.folder import update_board
from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.testing import write_study
from support.active_studies import write_active_study
from support.arena_votes import write_votes


def test_the_board_is_written_again_only_when_votes_have_come(tmp_path: Path) -> None:
    path = write_votes(tmp_path, people=12, drop=10)
    first = update_board(path)
    assert first is not None
    assert first.words == (
        "Too few people for ranks: 11 people have voted so far, and a condition has a rank once 20 people have "
        "compared it.",
    )
    before = first.page.read_bytes()
    assert update_board(path) is None
    assert first.page.read_bytes() == before
    write_votes(tmp_path, people=12)
    second = update_board(path)
    assert second is not None
    assert second.page.read_bytes() != before
    third = update_board(path, retired=["c3"])
    assert third is not None
    assert third.conditions["is_retired"].sum() == 1


def test_what_somebody_else_wrote_is_not_replaced(tmp_path: Path) -> None:
    path = write_votes(tmp_path, people=5)
    (tmp_path / "board").mkdir()
    (tmp_path / "board" / "votes.csv").write_text("mine", "utf-8")
    with pytest.raises(UserError, match=r"has votes\.csv already, not from an earlier run of this command"):
        beholder.board(path)
    assert (tmp_path / "board" / "votes.csv").read_text("utf-8") == "mine"


def test_a_study_in_which_nobody_has_voted_has_an_empty_board(tiny: Path, tmp_path: Path) -> None:
    questions = [{"id": "preference", "text": "Which one do you prefer?"}]
    path = write_study(tmp_path, tiny, method="pair", questions=questions, design={"participants": 4, "trials": 6})
    made = beholder.board(path)
    assert made.words == ("No votes yet.",)
    assert len(made.conditions) == 4
    assert made.votes.empty
    text = made.page.read_text("utf-8")
    assert "Ranks come with the votes." in text
    assert json.loads((tmp_path / "board" / "notes.json").read_text("utf-8"))["updated_at"] == ""
    assert update_board(path) is None


def test_answers_of_a_study_are_cleaned_first(tiny: Path, tmp_path: Path) -> None:
    questions = [{"id": "preference", "text": "Which one do you prefer?"}]
    path = write_study(tmp_path, tiny, method="pair", questions=questions, design={"participants": 6, "trials": 6})
    beholder.simulate(path, participants=6)
    made = beholder.board(path, minimum=5)
    assert len(made.votes) == 36
    assert made.conditions["people"].max() == 6
    assert "Simulated." in made.page.read_text("utf-8")


def test_what_retired_in_an_arena_is_on_its_board_without_a_rank(tmp_path: Path) -> None:
    path = write_active_study(tmp_path, conditions="abcd", design={"trials": 4, "arena": {}})
    beholder.simulate(path, participants=6)
    beholder.arena(path, retire=["b"])
    made = beholder.board(path, minimum=5).conditions.set_index("condition")
    assert made["is_retired"].to_dict() == {"a": False, "b": True, "c": False, "d": False}
    assert made["people"].min() > 0
    assert not made["is_ranked"]["b"]


def test_a_board_tells_how_a_table_was_read_and_what_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    rows = [f"v{who},a,b,{'false' if who == 3 else 'true'}" for who in range(12)]
    path.write_text("\n".join(["voter,winner,loser,use", *rows]) + "\n", "utf-8")
    made = beholder.board(path)
    assert made.notes["read"][0] == "voter is the participant"
    assert made.notes["left_out"] == "Left out before, by the rules of the study: 1 rating of 1 person."
    page = made.page.read_text("utf-8")
    assert "Left out before, by the rules of the study: 1 rating of 1 person." in page
    assert "old.csv: voter is the participant" in page


def test_votes_from_before_an_arena_come_first_and_what_the_study_lacks_has_retired(tmp_path: Path) -> None:
    path = write_active_study(tmp_path, conditions="ab", design={"trials": 4, "arena": {"earlier": "old.csv"}})
    path.write_text(path.read_text("utf-8") + "conditions: [a, b]\n", "utf-8")
    rows = [f"v{who},{'a,b' if who % 3 else 'gone,a'}" for who in range(24)]
    (tmp_path / "old.csv").write_text("\n".join(["voter,winner,loser", *rows]) + "\n", "utf-8")
    made = beholder.board(path, minimum=5)
    assert len(made.votes) == 24
    assert made.votes["content"].nunique() == 24
    assert made.conditions.set_index("condition")["is_retired"].to_dict() == {"a": False, "b": False, "gone": True}
    assert made.notes["read"][0] == "voter is the participant"
    beholder.simulate(path, participants=2)
    robots = beholder.board(path, minimum=5)
    assert len(robots.votes) == 2 * 3 * 4, "a rehearsal has no votes of people, and each robot came three times"
    assert robots.votes["person"].nunique() == 2


def test_what_stimuli_differ_in_is_measured_without_a_manifest(tmp_path: Path) -> None:
    path = write_active_study(tmp_path, conditions="abc", contents=8, design={"trials": 6, "arena": {}})
    for place, file in enumerate(sorted((tmp_path / "stimuli").rglob("*.txt"))):
        file.write_text("word " * (20 + 7 * (place * 5 % 11)), "utf-8")
    beholder.simulate(path, participants=8)
    made = beholder.board(path, minimum=5)
    assert made.also["covariates"]["factor"].tolist() == ["words_100"]
    assert "100 words more" in made.page.read_text("utf-8")


def test_an_arena_that_was_never_served_has_a_board_of_its_stimuli(tmp_path: Path) -> None:
    path = write_active_study(tmp_path, conditions="abc", design={"trials": 4, "arena": {}})
    made = beholder.board(path)
    assert made.words == ("No votes yet.",)
    assert made.conditions["condition"].tolist() == ["a", "b", "c"]
    assert "nan" not in str(made).lower()


async def test_an_arena_that_is_served_has_a_board_before_anybody_comes(tmp_path: Path) -> None:
    path = write_active_study(tmp_path, conditions="abcd", design={"trials": 4, "arena": {}})
    async with run_server(load_study(path), port=0):
        made = await asyncio.to_thread(beholder.board, path)
    assert made.words == ("No votes yet.",)
    assert made.conditions["condition"].tolist() == ["a", "b", "c", "d"]
