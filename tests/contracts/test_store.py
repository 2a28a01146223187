"""Both stores keep the contract."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from beholder.store.contract import Store
from beholder.store.open import open_store
from beholder.testing import STORE_CHECKS, check_store

Opener = Callable[[str], AbstractAsyncContextManager[Store]]


@pytest.fixture(params=["sqlite", "postgresql"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Return a function that opens stores by name, for the kind under test."""
    if request.param == "sqlite":
        return lambda name: open_store(tmp_path / name)
    make: Callable[[], str] = request.getfixturevalue("postgresql_databases")
    urls: dict[str, str] = {}

    def open_(name: str) -> AbstractAsyncContextManager[Store]:
        if name not in urls:
            urls[name] = make()
        return open_store(urls[name])

    return open_


@pytest.mark.parametrize("check", STORE_CHECKS)
async def test_store(opener: Opener, check: str) -> None:
    assert await check_store(opener, only=[check]) == (check,)
