"""Both stores keep the contract, PostgreSQL also where each call comes from another of three servers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from beholder.store.contract import Store
from beholder.store.open import open_store
from beholder.testing import STORE_CHECKS, check_store
from support.shared_stores import store_in_turn
from support.variants import variant

Opener = Callable[[str], AbstractAsyncContextManager[Store]]


@pytest.fixture(params=["sqlite", "postgresql", variant("three servers")])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Return a function that opens stores by name, for the kind under test."""
    if request.param == "sqlite":
        return lambda name: open_store(tmp_path / name)
    make: Callable[[], str] = request.getfixturevalue("postgresql_databases")
    urls: dict[str, str] = {}

    def open_(name: str) -> AbstractAsyncContextManager[Store]:
        if name not in urls:
            urls[name] = make()
        return store_in_turn(urls[name]) if request.param == "three servers" else open_store(urls[name])

    return open_


@pytest.mark.parametrize("check", STORE_CHECKS)
async def test_store(opener: Opener, check: str) -> None:
    assert await check_store(opener, only=[check]) == (check,)
