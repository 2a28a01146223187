"""A study that two people have finished and one has begun."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.testing import write_study
from support.commands import command
from support.link_visitors import arrived, take_as_a_person

LABEL = "<i>Full</i> motion & more"
"""Of a condition: what a page has to escape."""
TAKEN_KEYS: dict[str, object] = {
    "title": "Walks <script>alert(1)</script>",
    "conditions": [{"name": "natural", "role": "reference", "label": LABEL}, "smooth", "jerky", "frozen"],
    "design": {"participants": 4, "trials": 1, "seed": 3},
    "questions": [{"id": "quality", "text": "How good is it?"}],
    "recruit": {"mode": "link", "reward": "2.00 GBP", "minutes": 5},
}
TakenStudy = tuple[Path, dict[str, str]]


@pytest.fixture(scope="session")
def _taken_once(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Path:
    study = write_study(tmp_path_factory.mktemp("taken"), tiny, **TAKEN_KEYS)

    async def come() -> None:
        async with run_server(load_study(study), port=0) as server:
            await take_as_a_person(server.link, "ada")
            await take_as_a_person(server.link, "bob")
            async with arrived(server.link, "cy") as person:
                await person.answer({"agree": True})

    asyncio.run(come())
    return study.parent


@pytest.fixture
def taken(_taken_once: Path, tmp_path: Path) -> TakenStudy:
    """A folder of its own with such a study, and the names of somebody who is done and of who is under way."""
    folder = tmp_path / "taken"
    shutil.copytree(_taken_once, folder)
    everybody = json.loads(command("participants", "list", "--json", cwd=folder).stdout)["participants"]
    by_outcome = {one["sessions"][0]["outcome"]: one["participant"] for one in everybody}
    return folder, {"done": by_outcome["completed"], "open": by_outcome[None]}
