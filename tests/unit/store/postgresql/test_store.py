"""The PostgreSQL store inside a running loop."""

from __future__ import annotations

import pytest

from beholder.errors import StoreError
from beholder.store.open import open_store, read_tables
from beholder.testing.stores.facts import (
    answer,
    arrive,
    study_record,
)


async def test_a_database_is_read_inside_a_running_loop(postgresql_url: str) -> None:
    with pytest.raises(
        StoreError, match=r"nobody has taken part in this study yet. Run `beholder run` with people or "
    ):
        read_tables(postgresql_url, ["answers"])
    async with open_store(postgresql_url) as store:
        await store.begin(study_record())
        await store.append([answer(await arrive(store, "ann"))])
    assert [row["key"] for row in read_tables(postgresql_url, ["answers"])["answers"]] == ["trial:1"]
    async with open_store(postgresql_url, write=False) as reader:
        with pytest.raises(StoreError, match=r"is open for reading only. Open it with write=True."):
            await reader.begin(study_record())
