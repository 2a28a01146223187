"""An arena over HTTP: a crowd of robots, conditions that join and retire, people who come again, and two servers."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

import beholder
from beholder.clock import utc_now
from beholder.errors import Refused, StudyError
from beholder.methods import load_study
from beholder.planning.serialization import lists_from_json
from beholder.server.batch_dealer import add_joined
from beholder.server.process import RunningServer, load_served, run_server
from beholder.simulation.crowd import send_robots
from beholder.store.condition_changes import condition_changes
from beholder.store.contract import Store
from beholder.store.open import open_store, read_tables
from beholder.testing.stores.facts import rows
from support.active_studies import batches_of, conditions_in, write_active_study, write_text

ARENA: dict[str, Any] = {"trials": 4, "arena": {"per_day": 2}, "pairs": "active"}


def conditions_dealt(stored: list[dict[str, Any]], after: int = 0) -> Counter[str]:
    lists = [planned for planned in lists_from_json([row["trials"] for row in stored]) if planned.number > after]
    return Counter(name for pair in conditions_in(lists) for name in pair)


async def crowd(server: RunningServer, robots: int, seed: int) -> int:
    sent = await send_robots(server.service.served, server.store, server.address, robots, seed=seed)
    return sum(robot.has_completed for robot in sent.robots)


@pytest.mark.long
async def test_a_crowd_goes_through_an_arena_whose_conditions_join_and_retire(tmp_path: Path, whole: bool) -> None:
    robots = 125 if whole else 8
    path = write_active_study(tmp_path, conditions="abcdef", design=ARENA)
    store = tmp_path / "store"
    done = 0
    async with run_server(load_study(path), port=0) as server:
        done += await crowd(server, robots, 1)
        first = len(await rows(server.store, "lists"))
    for content in range(1, 5):
        write_text(tmp_path, "new", content)
    async with run_server(load_study(path), port=0) as server:
        done += await crowd(server, robots, 2)
        stored = await rows(server.store, "lists")
        assert stored[:first] == (await rows(server.store, "lists"))[:first], "what was dealt stays as it was"
        assert conditions_dealt(stored, first)["new"] > 0, "dealt from now on"
        assert conditions_dealt(stored[:first])["new"] == 0
        # Another process retires a condition while this one serves.
        told = await asyncio.to_thread(beholder.arena, path, retire=["c"])
        assert "c has retired: dealt no more from the next person on; votes stay." in told.words
        await server.service.refresh()
        await server.service.context.dealer.finish()  # a batch that was being made when nothing had retired
        before = len(await rows(server.store, "lists"))
        claimed = {row["list"] for row in await rows(server.store, "claims")}
        done += await crowd(server, robots, 3)
        later = await rows(server.store, "lists")
        given = {row["list"] for row in await rows(server.store, "claims")} - claimed
        assert len(given) == 2 * robots
        assert conditions_dealt([row for row in later if row["list"] in given])["c"] == 0
        assert conditions_dealt(later, before)["c"] == 0
        assert "c" in conditions_dealt(later), "what was said of it stays"
    write_text(tmp_path, "a", 5)
    for name in [*"bcdef", "new"]:
        write_text(tmp_path, name, 5)
    async with run_server(load_study(path), port=0) as server:
        done += await crowd(server, robots, 4)
        stored = await rows(server.store, "lists")
        contents = {row["trials"]["entries"][0]["content"] for row in stored}
        assert "text5" in contents | {entry["content"] for row in stored for entry in row["trials"]["entries"]}
        entries = await server.store.ledger.entries()
    assert [(one.what, one.condition) for one in condition_changes(entries)] == [
        ("join", "new"), ("retire", "c"), ("join", "text5")
    ]  # fmt: skip
    assert done == 2 * 4 * robots, "every robot came twice, as often as a day allows"
    tables = read_tables(store, ["claims", "sessions"])
    assert max(Counter(row["list"] for row in tables["claims"]).values()) == 1, "nobody shares a list"
    for batch, lists in batches_of(stored).items():
        drawn = [pair for one in lists for pair in [tuple(sorted(s.stimulus for s in t.slots)) for t in one.rated]]
        assert len(set(drawn)) == len(drawn), f"batch {batch} has a pair twice"
    beholder.clean(path, robots=True)
    ratings = beholder.analyse(path, robots=True)
    assert set(ratings.also["strengths"]["condition"]) >= {"a", "c", "new"}
    made = beholder.board(path, minimum=20 if whole else 5)
    assert len(made.votes) == 2 * 4 * robots * 4, "every answer of everybody, in its order"
    assert made.votes["draw_probability"].between(0, 1, inclusive="right").all()
    table = made.conditions.set_index("condition")
    assert table["is_retired"].to_dict() == dict.fromkeys("abdef", False) | {"c": True, "new": False}
    assert table["strength"].notna().all()
    assert not table["is_ranked"]["c"]
    assert made.notes["founders"] == 6, "what joins later moves the zero of nobody"
    if whole:
        assert table["is_ranked"].drop("c").all()
        assert len(made.history["people"].unique()) > 5


async def test_who_came_as_often_as_a_day_allows_comes_again_tomorrow(tmp_path: Path) -> None:
    now = [utc_now()]
    path = write_active_study(tmp_path, conditions="abcdef", design=ARENA)
    async with run_server(load_study(path), port=0, now=lambda: now[0]) as server:

        async def session(name: str) -> str:
            _, arrived = await server.service.arrive({"participant": name}, {})
            return str(arrived["token"])

        further = server.service.context.further
        assert further.max_sessions == 50
        tokens = []
        for visit in range(1, 3):
            token = await session("ann")
            tokens.append(token)
            facts = await server.store.session_facts(server.service.session_of(token))
            assert facts is not None
            assert facts.session.visit == visit
            assert await further.is_enough_today(facts.session, now[0]) == (visit == 2)
            await finish(server, facts.session.session)
        with pytest.raises(Refused) as refused:
            await session("ann")
        assert refused.value.what == server.service.words["enough_today"]
        now[0] += timedelta(hours=25)
        assert await session("ann") not in tokens
        await session("bob")


async def finish(server: RunningServer, session: str) -> None:
    from beholder.store.contract import Answer, End

    facts = await server.store.session_facts(session)
    assert facts is not None
    at = server.service.now()
    await server.service.context.leases.claim(facts.session, (), at)
    await server.store.append([Answer(session, "consent", {"agree": True}, {}, 0, 1, "mouse", "t", at)])
    await server.store.append([End(session, "completed", "", "", f"receipt-{session}", at)])


async def test_a_stimulus_that_is_gone_keeps_an_arena_from_starting(tmp_path: Path) -> None:
    path = write_active_study(tmp_path, conditions="abcd", design=ARENA)
    async with run_server(load_study(path), port=0) as server:
        await crowd(server, 2, 1)
    (tmp_path / "stimuli" / "a" / "text1.txt").unlink()
    for content in range(1, 5):
        write_text(tmp_path, "new", content)
    with pytest.raises(StudyError, match="Put the files back"):
        async with run_server(load_study(path), port=0):
            raise AssertionError("a server began")
    write_text(tmp_path, "a", 1)
    async with open_store(str(tmp_path / "store"), write=False) as store:
        assert condition_changes(await store.ledger.entries()) == [], "nothing has joined"
    async with run_server(load_study(path), port=0) as server:
        assert "new" in server.service.served.catalogue.conditions


class Killed(Exception):
    """The process ended."""


class Until:
    """A store of a process that ends before one of its verbs, as by kill -9."""

    def __init__(self, store: Any, verb: str) -> None:
        self._store, self._verb = store, verb

    def __getattr__(self, name: str) -> Any:
        first, _, rest = self._verb.partition(".")
        if name != first:
            return getattr(self._store, name)
        if rest:
            return Until(getattr(self._store, name), rest)
        raise Killed


@pytest.mark.parametrize("verb", ["ledger.append", "grow", "begin"])
async def test_a_server_that_is_killed_while_a_condition_joins_goes_on_at_its_next_start(
    tmp_path: Path, verb: str
) -> None:
    path = write_active_study(tmp_path, conditions="abc", design=ARENA)
    async with run_server(load_study(path), port=0) as server:
        await crowd(server, 2, 1)
        before = len(await rows(server.store, "lists"))
    for content in range(1, 5):
        write_text(tmp_path, "new", content)
    async with open_store(str(tmp_path / "store")) as store:
        served, _ = load_served(load_study(path), "http://localhost")
        with pytest.raises(Killed):
            await add_joined(served, cast("Store", Until(store, verb)), utc_now)
    async with run_server(load_study(path), port=0) as server:
        stored = await rows(server.store, "lists")
        assert conditions_dealt(stored, before)["new"] > 0
        assert await crowd(server, 2, 2) == 4
        entries = await server.store.ledger.entries()
    assert [(one.what, one.condition) for one in condition_changes(entries)] == [("join", "new")], "once"
    for batch, lists in batches_of(stored).items():
        drawn = [tuple(sorted(s.stimulus for s in t.slots)) for one in lists for t in one.rated]
        assert len(set(drawn)) == len(drawn), f"batch {batch} has a pair twice"
