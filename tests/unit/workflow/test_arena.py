"""The command `arena`: conditions that retire and come back, and what cannot be."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.errors import UserError
from beholder.methods import load_study
from beholder.server.process import run_server
from support.active_studies import write_active_study
from support.commands import command

ARENA: dict[str, Any] = {"trials": 4, "arena": {"per_day": 2}, "pairs": "active"}


def test_what_cannot_be_done_to_an_arena_is_told(tmp_path: Path) -> None:
    path = write_active_study(tmp_path / "arena", conditions="abc", design=ARENA)
    state = beholder.arena(path)
    assert state.words == (
        "3 conditions are dealt.", "  a: from the beginning", "  b: from the beginning", "  c: from the beginning"
    )  # fmt: skip
    assert all(line.strip() in state._repr_html_() for line in state.words)

    async def begin() -> None:
        async with run_server(load_study(path), port=0):
            pass

    asyncio.run(begin())
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"retire": ["d"]}, "--retire  is d, which is no condition. Allowed: a, b, c."),
        ({"bring_back": ["a"]}, "--return  is a, which has not retired. Allowed: nothing."),
        ({"retire": ["a", "b"]}, "--retire  would leave 1 to compare. Allowed: at least 2."),
    )
    for asked, expected in refused:
        with pytest.raises(UserError) as caught:
            beholder.arena(path, **asked)
        assert [str(problem) for problem in caught.value.problems] == [expected]
    beholder.arena(path, retire=["a"])
    with pytest.raises(UserError, match="has retired already"):
        beholder.arena(path, retire=["a"])
    assert beholder.arena(path, bring_back=["a"]).conditions[0].retired_at is None
    plain = write_active_study(tmp_path / "plain")
    with pytest.raises(UserError) as caught:
        beholder.arena(plain)
    assert [str(problem) for problem in caught.value.problems] == [
        "study.yaml:9  design.arena is not written, and this is a command for a study that does not end. "
        "Write arena: {} there."
    ]


def test_an_arena_has_no_end_and_active_pairs(tmp_path: Path) -> None:
    design = load_study(write_active_study(tmp_path, design=ARENA)).design
    assert design.dealt_lists is None
    assert design.lists_in_all(7) == 7
    assert design.sessions_per_participant == 50
    for keys, message in (
        (
            {"pairs": "all"},
            "design.arena is written, and pairs that are all planned",
        ),
        (
            {"looks": [4, 12]},
            "design.looks plans when the study is looked at for the last time",
        ),
    ):
        with pytest.raises(UserError, match=message):
            load_study(write_active_study(tmp_path, design={**ARENA, **keys}))


def test_the_plan_of_an_arena_is_told_without_an_end(tmp_path: Path) -> None:
    path = write_active_study(tmp_path, conditions="abc", design=ARENA)
    assert command("plan", cwd=path.parent).stdout.startswith(
        "2 lists are there now; as long as people come, 2 are dealt at a time after the answers so far; seed 1.\n"
    )


def test_earlier_votes_that_are_not_there_are_told_before_anybody_comes(tmp_path: Path) -> None:
    path = write_active_study(tmp_path, conditions="abc", design={**ARENA, "arena": {"earlier": "old.csv"}})
    with pytest.raises(UserError) as caught:
        beholder.check(path)
    assert [str(problem) for problem in caught.value.problems] == [
        "study.yaml:14  design.arena.earlier is old.csv, and there is no such file. Allowed: a table of votes. "
        "Put it beside study.yaml, or take this out."
    ]
    (tmp_path / "old.csv").write_text("voter,winner,loser\nv1,a,b\n", "utf-8")
    beholder.check(path)


@pytest.mark.parametrize("verb", ["power", "extend", "memory"])
def test_what_cannot_follow_answers_refuses_active_pairs(tmp_path: Path, verb: str) -> None:
    path = write_active_study(tmp_path)
    beholder.simulate(path, participants=2)
    told = {
        "power": "design.pairs is active: what is compared follows from answers, which cannot be simulated at once. "
        "Write pairs: all in a copy: active pairs need fewer votes for the same ranks.",
        "extend": "design.pairs is active: lists are made while people come, up to design.participants. "
        "Raise design.participants and start the server again; stimuli that are new join an arena.",
        "memory": "design.pairs is active: what is compared follows from answers, for which robots need a server. "
        "Leave --memory out.",
    }
    with pytest.raises(UserError) as caught:
        if verb == "memory":
            beholder.simulate(path, memory=True)
        else:
            getattr(beholder, verb)(path)
    assert [str(problem).partition("  ")[2] for problem in caught.value.problems] == [told[verb]]
