"""Copies of a whole store: consistent, the same from either database, and into either."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from beholder.errors import StoreError
from beholder.store.contract import LedgerEntry, Store
from beholder.store.full_copy import copy_store, held, live_counts, load_copy
from beholder.store.open import open_store, read_rows
from beholder.store.tables import SHAPES
from beholder.testing.stores.facts import NOON, end
from support.planted_bytes import plant, planted_in


async def _fill(url: str | Path) -> None:
    async with open_store(url) as store:
        for name in ("ann", "bob"):
            await plant(store, name, trials=3)
        await plant(store, "cy", trials=2)
        await store.append([end("s-bob-link-d1-1")])
        await store.erase("s-cy-link-d1-1", NOON)
        await store.ledger.append([LedgerEntry("bonus", "planned", NOON, submission="sub-1", amount_minor=250)])


async def _content(store: Store) -> dict[str, object]:
    tables: dict[str, object] = {table: await read_rows(store, table) for table in SHAPES}
    return tables | {
        "links": sorted(await store.platform_identities()),
        "visits": list(await store.platform_visits()),
        "secret": store.secret,
        "free": await store.has_free_list(NOON),
        "counts": await store.counts(NOON),
        "record": await store.current(),
    }


async def _content_of(url: str | Path) -> dict[str, object]:
    async with open_store(url, write=False) as store:
        return await _content(store)


def test_a_copy_of_a_served_store_holds_all_of_it_and_no_gap_with_what_was_erased(tmp_path: Path) -> None:
    async def work() -> tuple[dict[str, object], dict[str, object]]:
        await _fill(tmp_path / "store")
        async with open_store(tmp_path / "store") as store:  # as a server has it
            counts = await asyncio.to_thread(copy_store, tmp_path / "store", tmp_path / "copy")
            assert held(counts, "answers") == 6
            assert held(counts, "ledger") == 1
            assert held(counts, "nothing") == 0
            return await _content(store), await _content_of(tmp_path / "copy")

    there, copied = asyncio.run(work())
    assert copied == there
    assert planted_in(tmp_path / "copy", "cy") == {}
    assert planted_in(tmp_path / "copy", "ann")


def test_a_copy_of_postgresql_is_a_store_of_sqlite_and_goes_back(
    tmp_path: Path, postgresql_databases: Callable[[], str]
) -> None:
    first, second = postgresql_databases(), postgresql_databases()

    async def work() -> tuple[dict[str, object], ...]:
        await _fill(first)
        copy_store(first, tmp_path / "copy")
        await load_copy(tmp_path / "copy", second)
        return await _content_of(first), await _content_of(tmp_path / "copy"), await _content_of(second)

    there, copied, loaded = asyncio.run(work())
    assert copied == there
    assert loaded == there
    assert live_counts(first) == live_counts(second)
    assert planted_in(tmp_path / "copy", "cy") == {}
    with pytest.raises(StoreError, match=r"holds a study already\. Name an empty database: nothing in this one"):
        asyncio.run(load_copy(tmp_path / "copy", second))


def test_counts_change_with_what_is_answered_and_not_with_leases(tmp_path: Path) -> None:
    async def work() -> None:
        await _fill(tmp_path)
        before = live_counts(tmp_path)
        assert "leases" not in before["facts.sqlite"]
        async with open_store(tmp_path) as store:
            await store.release("s-ann-link-d1-1")
            assert live_counts(tmp_path) == before
            await store.append([end("s-ann-link-d1-1")])
            assert live_counts(tmp_path) != before

    asyncio.run(work())


def test_a_damaged_store_is_not_copied(tmp_path: Path) -> None:
    asyncio.run(_fill(tmp_path / "store"))
    file = tmp_path / "store" / "facts.sqlite"
    content = file.read_bytes()
    file.write_bytes(content[:8192] + b"\xff" * 8192 + content[16384:])
    with pytest.raises(StoreError, match="is damaged"):
        copy_store(tmp_path / "store", tmp_path / "copy")
