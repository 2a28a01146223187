"""A study of texts that asks for answers, and its store on either backend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support.extended_folders import TRAPS, write_texts
from support.variants import variant


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_texts(tmp_path / "texts", checks=TRAPS, clean={"use": {"trap": {"max_failed": 0}}})


@pytest.fixture(params=["postgresql", variant("sqlite")])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "facts")
    make: Callable[[], str] = request.getfixturevalue("postgresql_databases")
    return make()
