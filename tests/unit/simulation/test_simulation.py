"""The verb `simulate`."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

from beholder.methods import load_study
from beholder.server.process import run_server
from support.commands import command


def test_simulate_on_a_store_that_is_in_use_says_so(study: Path) -> None:
    async def while_serving() -> subprocess.CompletedProcess[str]:
        async with run_server(load_study(study), port=0):
            return await asyncio.to_thread(command, "simulate", "--participants", "2", cwd=study.parent)

    result = asyncio.run(while_serving())
    assert result.returncode == 2
    assert "in use" in result.stderr
