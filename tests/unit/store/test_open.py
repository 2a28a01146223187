"""Opening stores by folder and address, and reading whole tables."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from beholder.errors import StoreError
from beholder.store.open import read_tables
from support.sqlite_files import fill


def test_a_store_is_read_without_a_loop_and_without_a_writer(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path))
    assert [row["stimulus"] for row in read_tables(str(tmp_path), ["stimuli"])["stimuli"]] == ["a/b"]


def test_reading_a_folder_without_facts_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as missing:
        read_tables(tmp_path / "store", ["answers"])
    assert str(missing.value) == (
        f"{tmp_path / 'store'}  holds no facts yet. Run `beholder serve` or `beholder simulate` first."
    )
    assert not (tmp_path / "store").exists()


def test_another_kind_of_address_is_refused() -> None:
    with pytest.raises(StoreError) as refused:
        read_tables("mysql://user:password@host/db", ["answers"])
    assert str(refused.value) == (
        "mysql://  is not the address of a store. Allowed: a folder, sqlite:///folder, postgresql://user@host/database."
    )
