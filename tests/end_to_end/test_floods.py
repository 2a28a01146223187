"""Floods of strangers, with the numbers of real attacks: memory, descriptors and disk stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.testing import write_study
from support.flooded_server import flooded_server, get


@pytest.fixture
def study(tmp_path: Path, tiny: Path) -> Path:
    (tmp_path / "study").mkdir()
    return write_study(tmp_path / "study", tiny, design={"participants": 40})


@pytest.mark.long
async def test_made_up_tokens_and_large_headers_fill_no_memory(study: Path, whole: bool) -> None:
    count = 4500 if whole else 200
    async with flooded_server(study, study.parent / "store") as server:
        memory, descriptors = server.memory, server.descriptors
        tokens = (f"{number:08}{'a' * 300_000}" for number in range(count))
        assert await server.statuses(get("/api/step", authorization=f"Bearer {token}") for token in tokens) <= {0, 431}
        tokens = (f"{number:08}{'a' * 28_000}" for number in range(2 * count))
        assert await server.statuses(get("/api/step", authorization=f"Bearer {token}") for token in tokens) == {401}
        session = (f"tiny.{number:020}.{'a' * 22}" for number in range(2 * count))
        assert await server.statuses(get("/api/step", authorization=f"Bearer {token}") for token in session) == {401}
        assert server.memory < memory + 25, "each kept token would be 300 kB"
        assert server.descriptors < descriptors + 20
