"""A participant who sends requests without a browser, and the server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.methods import load_study
from beholder.server.process import RunningServer, run_server
from beholder.server.tokens import robot_signature
from beholder.simulation.robot import watch_events
from beholder.testing import write_study

BEFORE = [
    {"id": "field", "text": "Do you work on video?", "type": "single", "options": ["yes", "no"], "correct": ["no"]}
]


@dataclass(frozen=True)
class Site(RunningServer):
    """A running server, and one client for all visitors."""

    client: httpx.AsyncClient


@pytest.fixture
async def server(tmp_path: Path, tiny: Path) -> AsyncIterator[Site]:
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "blocked.txt").write_text("mallory\n", "utf-8")
    study = write_study(tmp_path / "study", tiny, before=BEFORE, recruit={"mode": "link", "block": "blocked.txt"})
    async with (
        run_server(load_study(study), port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        yield Site(server.service, server.store, server.address, client)


class Visitor:
    """A participant who sends requests without a browser."""

    def __init__(self, server: Site, **params: str) -> None:
        self.server, self.params = server, params
        self.client = server.client
        self.token = ""
        self.step: dict[str, Any] = {}

    async def arrive(self) -> httpx.Response:
        body = {"study": "tiny", "params": self.params, "device": {"width": 1280}, "token": self.token}
        response = await self.client.post("/api/arrive", json=body)
        if response.is_success:
            self.token, self.step = response.json()["token"], response.json()["step"]
        return response

    async def send(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return await self.client.request(
            method, path, json=body, headers={"authorization": f"Bearer {self.token}"} if self.token else {}
        )

    async def answer(self, answer: Any, events: Any = (), key: str | None = None, **more: Any) -> httpx.Response:
        body = {"answer": answer, "events": list(events), "tab": "t1", "shown_ms": 1, "sent_ms": 2, **more}
        response = await self.send("PUT", f"/api/answers/{key or self.step['key']}", body)
        if response.status_code == 200:
            self.step = response.json()["step"]
        return response

    async def until_trial(self) -> None:
        await self.arrive()
        for answer in ({"agree": True}, {"answers": {"field": "no"}}, {}):
            (await self.answer(answer)).raise_for_status()
        assert self.step["kind"] == "trial"

    def scores(self, value: float = 50) -> dict[str, Any]:
        return {"scores": {"q1": {slot["id"]: value for slot in self.step["trial"]["slots"]}}}

    def watched(self) -> list[Any]:
        return watch_events(self.step["trial"])


def robot(server: Site, name: str = "r1") -> Visitor:
    return Visitor(server, robot=name, signature=robot_signature(server.store.secret, name))


async def facts_of(server: Site, visitor: Visitor) -> Any:
    return await server.store.session_facts(visitor.token.split(".")[1])
