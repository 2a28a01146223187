"""The board of an arena that is served: written by a process beside the server, where anything is new."""

from __future__ import annotations

import json
import logging
from datetime import timedelta
from pathlib import Path

import pytest

import beholder
from beholder.leaderboard.board_cycle import BoardCycle, keeping_board
from beholder.methods import load_study
from support.active_studies import write_active_study

ARENA = {"trials": 4, "arena": {"board": "10 min"}}


def cycle_of(path: Path, leads: bool = True) -> BoardCycle:
    return BoardCycle(path, path.parent / "store", timedelta(0), lambda: leads)


def people_on(path: Path) -> int:
    notes = json.loads((path.parent / "board" / "notes.json").read_text("utf-8"))
    return int(notes["people"])


def test_the_board_is_written_where_votes_have_come_or_a_condition_has_retired(tmp_path: Path) -> None:
    path = write_active_study(tmp_path, conditions="abcd", design=ARENA)
    beholder.simulate(path, participants=3)
    cycle = cycle_of(path)
    assert cycle.look()
    assert people_on(path) == 3
    assert not cycle.look(), "nothing is new"
    beholder.arena(path, retire=["b"])
    assert cycle.look()
    assert "1 retired" in (tmp_path / "board" / "index.html").read_text("utf-8")


@pytest.mark.variant
def test_what_keeps_a_board_from_being_written_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write_active_study(tmp_path, conditions="abcd", design=ARENA)
    beholder.simulate(path, participants=2)
    (tmp_path / "board").mkdir()
    (tmp_path / "board" / "votes.csv").write_text("mine", "utf-8")
    cycle = cycle_of(path)
    with caplog.at_level(logging.WARNING, "beholder.board"):
        assert not cycle.look()
        assert not cycle.look()
    assert [record.getMessage() for record in caplog.records] == [
        f"the board could not be written, and is tried again: {tmp_path / 'board'}  has votes.csv already, not from an "
        "earlier run of this command. Allowed: a new or an empty folder. Name another with --out."
    ]


def test_a_server_keeps_a_board_where_its_study_says_so_and_where_it_leads(tmp_path: Path) -> None:
    path = write_active_study(tmp_path, conditions="abcd", design=ARENA)
    beholder.simulate(path, participants=2)
    study = load_study(path)
    with keeping_board(path)(study, tmp_path / "store", lambda: True) as cycle:
        assert cycle is not None
    plain = study.model_copy(update={"design": study.design.model_copy(update={"arena": None})})
    with keeping_board(path)(plain, tmp_path / "store", lambda: True) as none:
        assert none is None
