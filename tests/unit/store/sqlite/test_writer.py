"""The writer thread of an SQLite store: full disks, lost files, and what is acknowledged."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from beholder.store.contract import PlatformIdentity, StoreUnavailable
from beholder.store.open import open_store
from beholder.testing.stores.facts import (
    NOON,
    answer,
    arrive,
    rows,
    session_facts,
    session_of,
    study_record,
)


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot limit the size of a file")
async def test_a_full_disk_is_said_and_survived(tmp_path: Path) -> None:
    import resource

    async with open_store(tmp_path) as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        await store.append([answer(session)])
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
        try:
            with pytest.raises(StoreUnavailable):
                await store.append([answer(session, "trial:2")])
            assert not await store.ready()
            assert list((await session_facts(store, session)).answers) == ["trial:1"]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert await store.ready()
        await store.append([answer(session, "trial:2")])
        assert [row["key"] for row in await rows(store, "answers")] == ["trial:1", "trial:2"]


@pytest.mark.skipif(os.name == "nt", reason="Windows deletes no file that is open")
@pytest.mark.parametrize("replaced", [False, True])
async def test_nothing_is_acknowledged_into_a_file_that_was_deleted_or_replaced(tmp_path: Path, replaced: bool) -> None:
    folder, backup = tmp_path / "store", tmp_path / "backup"
    async with open_store(folder) as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        shutil.copytree(folder, backup)
        shutil.rmtree(folder)
        if replaced:
            shutil.copytree(backup, folder)
        results = await asyncio.gather(
            *(store.append([answer(session, f"trial:{number}")]) for number in range(5)),
            store.arrive(session_of("bob")),
            store.counts(NOON),
            rows(store, "answers"),
            return_exceptions=True,
        )
        message = f"{folder / 'facts.sqlite'} was deleted or replaced while it was open"
        assert [(type(result), str(result)) for result in results] == [(StoreUnavailable, message)] * 8
        assert not await store.ready()
        with pytest.raises(StoreUnavailable, match=r"identity\.sqlite was deleted or replaced while it was open"):
            await store.identify(PlatformIdentity("p-ann", "prolific", "5f3a"))


@pytest.mark.skipif(os.name == "nt", reason="Windows moves no folder with open files")
async def test_a_folder_that_was_moved_away_and_back_holds_what_is_known(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    async with open_store(folder) as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        folder.rename(elsewhere)
        with pytest.raises(StoreUnavailable):
            await store.append([answer(session)])
        elsewhere.rename(folder)
        assert await store.ready()
        await store.append([answer(session)])
        assert (await session_facts(store, session)).answers == {"trial:1": answer(session)}
        assert [row["key"] for row in await rows(store, "answers")] == ["trial:1"]
