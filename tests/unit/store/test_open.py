"""Opening stores by folder and address, and reading whole tables."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from beholder.errors import StoreError
from beholder.store.open import display_address, read_tables
from support.sqlite_files import fill


def test_a_store_is_read_without_a_loop_and_without_a_writer(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path))
    assert [row["stimulus"] for row in read_tables(str(tmp_path), ["stimuli"])["stimuli"]] == ["a/b"]


def test_reading_a_folder_without_facts_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as missing:
        read_tables(tmp_path / "store", ["answers"])
    assert str(missing.value) == (
        f"{tmp_path / 'store'}  holds no answers: nobody has taken part in this study yet. Run `beholder run` with "
        "people or `beholder run --simulate` with robots first."
    )
    assert not (tmp_path / "store").exists()


def test_another_kind_of_address_is_refused() -> None:
    with pytest.raises(StoreError) as refused:
        read_tables("mysql://user:password@host/db", ["answers"])
    assert str(refused.value) == (
        "mysql://  is not the address of a store. Allowed: a folder, sqlite:///folder, postgresql://user@host/database."
    )


@pytest.mark.parametrize("password", ["hush", "hu%2Fsh", "12/hush", "hu#sh", "12?hush", "hu/sh", "hu@sh"])
def test_an_address_is_shown_without_any_part_of_its_password(password: str) -> None:
    shown = display_address(f"postgresql://ann:{password}@db.example.org:5432/study?password=hush")
    assert "sh" not in shown
    assert "12" not in shown
    assert shown in ("postgresql://db.example.org:5432/study", "postgresql://…")
    assert display_address("study/store") == "study/store"
