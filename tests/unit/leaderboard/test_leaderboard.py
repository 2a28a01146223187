"""The verb `board`: ranks from votes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import beholder
from beholder.errors import UserError
from beholder.leaderboard.folder import BoardResult
from support.arena_votes import write_votes


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"minimum": 2}, "--minimum  is 2. Allowed: 5 people or more. Intervals rest on many people; fewer would make "
                         "ranks that do not hold."),
        ({"question": "worse"}, "--question  is worse, which compares nothing here. Allowed: better."),
        ({"retired": ["c9"]}, "--retired  names c9, of which there are no votes. Allowed: c0, c1, c2, c3. Write names "
                              "as in the table."),
    ],
)  # fmt: skip
def test_what_is_asked_wrongly_is_said(tmp_path: Path, options: dict[str, object], said: str) -> None:
    path = write_votes(tmp_path, people=6)
    with pytest.raises(UserError) as refused:
        beholder.board(path, **options)  # type: ignore[arg-type]
    assert " ".join(str(refused.value).split()) == " ".join(said.split())
    assert not (tmp_path / "board").exists()


def test_scores_make_no_board(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("participant,content,condition,value\np1,k1,a,3\np1,k1,b,4\np2,k1,a,2\np2,k1,b,5\n", "utf-8")
    with pytest.raises(UserError, match="has no comparisons of two conditions"):
        beholder.board(path)


def test_votes_of_nobody_make_no_board(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("model_a,model_b,winner\n" + "a,b,model_a\n" * 9, "utf-8")
    with pytest.raises(UserError, match="has no column that says who rated"):
        beholder.board(path)


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_few_votes_make_a_board_without_ranks(tmp_path: Path, rows: int) -> None:
    path = write_votes(tmp_path, people=6)
    pd.read_csv(path).head(rows).to_csv(path, index=False)
    made = beholder.board(path)
    assert made.conditions["best_rank"].isna().all()
    assert made.words[0].startswith("Too few people for ranks: ")
    assert np.isfinite(made.conditions["strength"]).all()


def test_the_board_ranks_what_was_voted_on(board: BoardResult) -> None:
    assert board.conditions["condition"].tolist() == ["c0", "c1", "c2", "c3"]
    assert board.conditions["people"].max() <= 30
    assert (board.conditions["best_rank"] <= board.conditions["worst_rank"]).all()
    assert len(board.pairs) == 6
    assert board.history["people"].max() == 30
    assert set(board.also) == {"slices", "covariates"}
    assert "c0" in board.words[0]
    assert "rank condition" in repr(board)
