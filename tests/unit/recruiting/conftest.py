"""What tests of recruiting share: a folder in memory, as every entry of a ledger is synced to disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.payable_study import in_memory


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder in memory, if the system has such a place."""
    yield from in_memory(tmp_path)
