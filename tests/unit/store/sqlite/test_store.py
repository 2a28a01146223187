"""The SQLite store beside other readers, and after closing."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import StoreError
from beholder.store.contract import StoreUnavailable
from beholder.store.open import open_store, read_tables
from beholder.testing.stores.facts import (
    answer,
    arrive,
    session_facts,
    session_of,
    study_record,
)


async def test_others_read_while_one_writes(tmp_path: Path) -> None:
    async with open_store(f"sqlite:///{tmp_path}") as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        await store.append([answer(session)])
        tables = read_tables(tmp_path, ["sessions", "answers"])
        assert [row["session"] for row in tables["sessions"]] == [session]
        assert [row["key"] for row in tables["answers"]] == ["trial:1"]
        async with open_store(tmp_path, write=False) as reader:
            assert reader.secret == store.secret
            assert (await session_facts(reader, session)).answers == {"trial:1": answer(session)}
            assert await reader.current() == study_record()
            assert not await reader.ready()
            with pytest.raises(StoreError) as refused:
                await reader.append([answer(session, "trial:2")])
            assert str(refused.value) == f"{tmp_path}  is open for reading only. Open it with write=True."


async def test_a_closed_store_is_away(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await store.begin(study_record())
    with pytest.raises(StoreUnavailable, match="the store is closed"):
        await store.arrive(session_of("ann"))
