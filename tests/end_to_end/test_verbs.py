"""The verbs as functions and as commands: complete, repeated, in a notebook, and with bad input."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
import yaml

import beholder
from beholder.errors import UserError
from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.store.open import read_tables


def test_every_verb_can_be_called_twice(study: Path) -> None:
    for _ in range(2):
        assert beholder.check(study).participants == 6
        assert len(beholder.plan(study).lists) == 6
        assert beholder.schema()["title"]
    # A run simulates, cleans, analyses and reports.
    assert beholder.run(study, simulate=True, participants=4).report is not None
    assert len(beholder.simulate(study, participants=4).robots) == 4
    assert beholder.clean(study).counts["sessions"] == 4
    assert len(beholder.analyse(study).conditions) == 4
    assert beholder.report(study).is_file()
    for _ in range(2):
        assert beholder.export(study).rows["sessions"] == 4
    assert beholder.run(study, simulate=True, participants=4).report is not None
    assert len(read_tables(study.parent / "store", ["sessions"])["sessions"]) == 4


def test_outputs_are_the_same_byte_for_byte_when_made_again(study: Path) -> None:
    beholder.run(study, simulate=True, participants=4)
    outputs = [p for part in ("clean", "analyse") for p in sorted((study.parent / part).rglob("*")) if p.is_file()]
    before = {path: path.read_bytes() for path in outputs}
    beholder.clean(study)
    beholder.analyse(study)
    assert {path: path.read_bytes() for path in outputs} == before


async def test_the_verbs_work_inside_a_running_loop_as_in_a_notebook(study: Path) -> None:
    assert len(beholder.simulate(study, participants=3).robots) == 3
    assert beholder.clean(study).counts["sessions"] == 3
    assert len(beholder.analyse(study).participants) == 3
    assert beholder.export(study).rows["sessions"] == 3


def test_texts_may_change_after_somebody_has_started_but_the_design_may_not(study: Path) -> None:
    async def arrive() -> str:
        async with (
            run_server(load_study(study), port=0) as server,
            httpx.AsyncClient(base_url=server.address, timeout=60) as client,
        ):
            body = {"study": "tiny", "params": {"participant": "ada"}, "device": {}}
            token = str((await client.post("/api/arrive", json=body)).json()["token"])
            headers = {"authorization": f"Bearer {token}"}
            await client.put("/api/answers/consent", json={"answer": {"agree": True}}, headers=headers)
            return token

    token = asyncio.run(arrive())
    written = yaml.safe_load(study.read_text("utf-8"))
    written["title"] = "Another title"
    written["questions"][0]["text"] = "How good is it really?"
    study.write_text(yaml.safe_dump(written), "utf-8")

    async def come(participant: str, **known: str) -> tuple[str, str]:
        """Return the title and the question that somebody reads now."""
        async with (
            run_server(load_study(study), port=0) as server,
            httpx.AsyncClient(base_url=server.address, timeout=60) as client,
        ):
            body = {"study": "tiny", "params": {"participant": participant}, "device": {}, **known}
            response = await client.post("/api/arrive", json=body)
            assert response.is_success
            arrival = response.json()
            headers = {"authorization": f"Bearer {arrival['token']}"}
            await client.put("/api/answers/consent", json={"answer": {"agree": True}}, headers=headers)
            reply = await client.put("/api/answers/text:instructions", json={"answer": {}}, headers=headers)
            return arrival["study"]["title"], reply.json()["step"]["trial"]["asked"][0]["text"]

    first = asyncio.run(come("ada", token=token))
    assert first == ("A tiny study", "How good is it?"), "who has begun goes on with the texts of then"
    assert asyncio.run(come("bob")) == ("Another title", "How good is it really?")

    written["design"]["trials"] = 2
    study.write_text(yaml.safe_dump(written), "utf-8")

    async def again() -> None:
        async with run_server(load_study(study), port=0):
            pass

    with pytest.raises(UserError, match="Texts may change, the design may not"):
        asyncio.run(again())
