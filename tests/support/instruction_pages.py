"""Studies whose instructions have pages with examples."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.testing import write_study
from support.visitor import Site, Visitor

PLAYED: dict[str, Any] = {
    "text": "## Look for *this*",
    "play": True,
    "examples": [
        {"file": "examples/torn.mp4", "caption": "Torn blocks"},
        {"file": "examples/still.mp4", "caption": "It stands still"},
    ],
}


def written(folder: Path, tiny: Path, instructions: Any, **keys: Any) -> Path:
    """Write a study with these instructions, and two examples in its folder."""
    path = write_study(folder, tiny, texts={"instructions": instructions}, **keys)
    clips = sorted((folder / "stimuli").rglob("*.mp4"))
    (folder / "examples").mkdir()
    for clip, name in zip(clips, ("torn", "still"), strict=False):
        shutil.copy(clip, folder / "examples" / f"{name}.mp4")
    return path


@asynccontextmanager
async def served(path: Path) -> AsyncIterator[Site]:
    async with (
        run_server(load_study(path), port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        yield Site(server.service, server.store, server.address, client)


async def until(visitor: Visitor, key: str) -> None:
    await visitor.arrive()
    await visitor.answer({"agree": True})
    while visitor.step["key"] != key:
        (await visitor.answer({})).raise_for_status()
