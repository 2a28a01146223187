"""Erasure while a server runs: withdrawing and receipts, visits without an answer, and the bytes beside readers."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from beholder.errors import Refused
from beholder.methods import load_study
from beholder.server.erasure import Wiping
from beholder.server.process import report_until_stopped, run_server
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from beholder.store.contract import LedgerEntry, Remains, Store
from beholder.store.open import open_store
from beholder.testing import write_study
from beholder.testing.stores.facts import NOON, rows, session_of
from support.clock_service import Clock, Person, hosted
from support.planted_bytes import plant, planted_in
from support.visitor import Site, Visitor


def reader_of(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(folder / "facts.sqlite", isolation_level=None)
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM answers").fetchone()
    return connection


async def comes_and_answers(site: Site, name: str) -> Visitor:
    """Let somebody come on a device, and write a comment and a draft, all of them planted."""
    visitor = Visitor(site, participant=name)
    device = {"browser": f"planted-{name}-device"}
    body = {"study": "tiny", "params": {"participant": name}, "device": device}
    arrived = (await site.client.post("/api/arrive", json=body)).json()
    visitor.token, visitor.step = arrived["token"], arrived["step"]
    await visitor.answer({"agree": True})
    events = {"key": visitor.step["key"], "tab": f"planted-{name}-tab", "from": 0, "events": []}
    assert (await visitor.send("POST", "/api/events", events)).status_code == 204
    return visitor


async def test_who_withdraws_leaves_no_byte_behind(server: Site) -> None:
    folder = server.service.served.study.folder
    visitor = await comes_and_answers(server, "ann")
    assert planted_in(folder, "ann")
    page = (await visitor.send("POST", "/api/withdraw", {})).json()["step"]
    assert planted_in(folder, "ann") == {}
    assert "disk" not in page["text"]


async def test_who_withdraws_beside_a_reader_is_told_and_the_server_finishes_it(server: Site) -> None:
    folder = server.service.served.study.folder
    server.service.wiping = Wiping(server.store, patience=0)
    visitor = await comes_and_answers(server, "ann")
    with closing(reader_of(folder / "store")):
        page = (await visitor.send("POST", "/api/withdraw", {})).json()["step"]
        assert page["text"].endswith(
            "<p>The last copies on the disk of the study are being removed, which needs nothing from you.</p>"
        )
        forgotten = await server.client.post("/api/forget", json={"receipt": page["receipt"]})
        assert forgotten.json()["is_on_disk"] is True
        assert planted_in(folder, "ann")
    stop = asyncio.Event()
    looking = asyncio.create_task(report_until_stopped(server, stop, None))
    while planted_in(folder, "ann"):
        await asyncio.sleep(0.01)
    stop.set()
    await looking
    forgotten = await server.client.post("/api/forget", json={"receipt": page["receipt"]})
    assert forgotten.json()["is_on_disk"] is False


class LargeStore:
    """A store whose files are too large to be rewritten while people answer."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.asked: list[int | None] = []

    async def wipe(self, largest: int | None = None) -> Remains | None:
        self.asked.append(largest)
        return await self._store.wipe(None if largest is None else 1000)


async def test_a_large_store_is_rewritten_when_nobody_is_in_the_study(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await store.erase(await plant(store, "ann"), NOON)
        large = LargeStore(store)
        wiping = Wiping(large)  # type: ignore[arg-type]
        remains = await wiping.wipe()
        assert remains is not None
        assert "when nobody is in the study" in remains.words
        await wiping.go_on(is_quiet=False)
        assert await wiping.go_on(is_quiet=True) is None, "not tried again at once"
        assert await Wiping(large).go_on(is_quiet=True) is None  # type: ignore[arg-type]
        assert large.asked[-1] is None
    assert planted_in(tmp_path, "ann") == {}


# Visits without an answer


async def come(host: StudyService, clock: Clock, *names: str) -> dict[str, Person]:
    return {name: await Person(host, clock, name).come() for name in names}


async def people(store: Store) -> set[str]:
    """Return whose identities are stored; each has a session, and a visit that led to it."""
    sessions = {row["session"]: row["participant"] for row in await rows(store, "sessions")}
    identities = {one.participant: one.platform_id for one in await store.platform_identities()}
    assert {sessions[one.session] for one in await store.platform_visits()} == identities.keys()
    return set(identities.values())


async def test_a_visit_without_an_answer_goes_after_a_day_and_stays_in_the_count(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny) as (host, clock, store):
        here = await come(host, clock, "left", "agreed", "declined", "withdrew", "open", "named")
        await here["agreed"].answer()
        await here["declined"].answer(SubmittedAnswer({"agree": False}))
        await host.withdraw(here["withdrew"].token)
        named = (await here["named"].facts()).session.participant
        await store.ledger.append([LedgerEntry("shut_out", "done", clock(), participant=named)])
        assert await host.removal.go_on() == 0
        clock.wait(hours=23)
        await come(host, clock, "late")
        assert await host.removal.go_on() == 0
        clock.wait(hours=1.1)
        host.hear(here["open"].token, "tab", is_open=True)
        assert await host.removal.go_on() == 1
        assert await people(store) == {"agreed", "open", "named", "late"}
        assert len(await rows(store, "sessions")) == 6, "of who declined or withdrew the end is kept"
        assert (await store.counts(clock()))["arrived"] == 7
        clock.wait(minutes=50)
        assert await host.removal.go_on() == 0, "the next round begins after an hour"
        clock.wait(hours=24)
        assert await host.removal.go_on() == 2
        assert [row["sessions"] for row in await rows(store, "removals")] == [1, 2]


async def test_whoever_comes_back_after_that_begins_anew(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny) as (host, clock, store):
        here = await come(host, clock, "by id", "by link", "by both")
        stranger = Person(host, clock)
        stranger.params = {}
        await stranger.come()
        clock.wait(hours=25)
        assert await host.removal.go_on() == 4
        gone = {one.session for one in (*here.values(), stranger)}
        for person in (*here.values(), stranger):
            with pytest.raises(Refused) as refused:
                await person.answer()
            assert (refused.value.status, refused.value.code) == (401, "unknown_token")
        here["by link"].params = {"resume": here["by link"].token}
        here["by both"].params |= {"resume": here["by both"].token}
        stranger.params = {"resume": stranger.token}
        for person in (*here.values(), stranger):
            assert (await person.come()).key == "consent"
            assert person.session not in gone
            await person.until("end")
        ids = {one.platform_id for one in await store.platform_identities()}
        assert ids == {"by id", "by both"}, "an address says who comes, a link to what was removed does not"
        counts = await store.counts(clock())
        assert (counts["arrived"], counts["completed"]) == (8, 4)


async def test_a_link_to_a_session_that_is_there_leads_to_it_whatever_else_the_address_says(
    tmp_path: Path, tiny: Path
) -> None:
    async with hosted(tmp_path, tiny) as (host, clock, _):
        ann = (await come(host, clock, "ann"))["ann"]
        await ann.until("trial")
        other = Person(host, clock, "bea")
        other.params |= {"resume": ann.token}
        assert (await other.come()).session == ann.session


async def test_a_study_that_gives_people_longer_keeps_their_visits_longer(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny, recruit={"mode": "link", "time_limit": "72 h"}) as (host, clock, _):
        await come(host, clock, "left")
        clock.wait(hours=71)
        assert await host.removal.go_on() == 0
        clock.wait(hours=2)
        assert await host.removal.go_on() == 1


async def test_many_visits_go_some_at_a_time(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny) as (host, clock, store):
        first = replace(session_of("x", digest=host.served.digest), at=clock())
        many = [replace(first, session=f"s{number}", participant=f"p{number:03}") for number in range(450)]
        await asyncio.gather(*map(store.arrive, many))
        kept = [LedgerEntry("shut_out", "done", clock(), participant=f"p{number:03}") for number in range(250)]
        await store.ledger.append(kept)
        clock.wait(hours=25)
        assert [await host.removal.go_on() for _ in range(4)] == [0, 150, 50, 0], "who stays holds nobody up"
        assert len(await rows(store, "sessions")) == 250


async def test_a_flood_of_arrivals_over_http_leaves_no_byte_behind(tmp_path: Path, tiny: Path) -> None:
    study, clock = load_study(write_study(tmp_path / "study", tiny)), Clock()
    async with (
        run_server(study, port=0, now=clock) as running,
        httpx.AsyncClient(base_url=running.address, timeout=60) as client,
    ):
        site = Site(running.service, running.store, running.address, client)
        stays = await comes_and_answers(site, "stays")
        bodies = [
            {
                "study": "tiny",
                "params": {"participant": f"planted-flood-{number}"},
                "device": {"browser": "planted-flood-x"},
            }
            for number in range(40)
        ]
        replies = [await client.post("/api/arrive", json=body) for body in bodies]
        assert {reply.status_code for reply in replies} == {201}
        flooded = Visitor(site)
        flooded.token, flooded.step = replies[0].json()["token"], replies[0].json()["step"]
        assert planted_in(tmp_path, "flood")
        clock.wait(hours=25)
        stop = asyncio.Event()
        running_on = asyncio.create_task(report_until_stopped(site, stop, None))
        while planted_in(tmp_path, "flood"):
            await asyncio.sleep(0.01)
        stop.set()
        await running_on
        assert [row["sessions"] for row in await rows(site.store, "removals")] == [40]
        assert (await site.store.counts(clock()))["arrived"] == 41
        assert planted_in(tmp_path, "stays")
        assert (await stays.answer({})).status_code == 200
        assert (await flooded.answer({"agree": True})).status_code == 401
        flooded.params = {"resume": flooded.token}
        assert (await flooded.arrive()).status_code == 201
        assert (await flooded.answer({"agree": True})).status_code == 200
