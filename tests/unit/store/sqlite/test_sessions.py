"""Sessions in SQLite: the cache holds what the file holds."""

from __future__ import annotations

from pathlib import Path

from beholder.store.open import open_store
from beholder.store.sqlite.sessions import SessionCache, without_erasable
from beholder.testing.stores.facts import NOON, answer, arrive, claim, session_facts, study_record


async def test_cached_facts_are_those_of_the_file(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        await claim(store, session)
        await store.append([answer(session)])
        cached = await session_facts(store, session)
        async with open_store(tmp_path, write=False) as reader:
            assert await session_facts(reader, session) == cached
        await store.erase(session, NOON)
        async with open_store(tmp_path, write=False) as reader:
            assert await session_facts(reader, session) == without_erasable(cached)


async def test_a_cache_without_a_session_ignores_its_rows(tmp_path: Path) -> None:
    cache = SessionCache()
    cache.put(None)
    cache.add("answers", ("s1", "trial:1"))
    assert cache.get("s1") is None
