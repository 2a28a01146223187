"""A board that is only read, made once."""

from __future__ import annotations

import pytest

import beholder
from beholder.leaderboard.folder import BoardResult
from support.arena_votes import write_votes


@pytest.fixture(scope="session")
def board(tmp_path_factory: pytest.TempPathFactory) -> BoardResult:
    """A board of 30 people, with ties, factors and draw probabilities; its votes are beside it."""
    return beholder.board(write_votes(tmp_path_factory.mktemp("arena")))
