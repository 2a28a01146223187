"""Erasure while a server runs: withdrawing and receipts, and the bytes on the disk beside readers."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from beholder.server.erasure import Wiping
from beholder.server.process import report_until_stopped
from beholder.store.contract import Remains, Store
from beholder.store.open import open_store
from beholder.testing.stores.facts import NOON
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
