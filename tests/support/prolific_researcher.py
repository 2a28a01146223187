"""A researcher with a token on the fake Prolific, and a study to post."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from beholder.recruiting.fake import FakeProlific
from support.data import DATA

OPENAPI = DATA / "prolific_openapi.yml"
AUTH = {"Authorization": "Token rehearsal"}
PAY = "POST /api/v1/bulk-bonus-payments/{id}/pay/"
LIST = "GET /api/v1/submissions/"
URL = "https://h.example/s/k?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
CODES = [
    {"code": "DONE", "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]},
    {
        "code": "OUT", "code_type": "SCREENED_OUT",
        "actions": [{"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 30, "slots": 2}],
    },
    {
        "code": "NO", "code_type": "NO_CONSENT",
        "actions": [{"action": "REQUEST_RETURN", "return_reason": "Withdrew consent"}],
    },
    {"code": "AUTO", "code_type": "OTHER", "actions": [{"action": "AUTOMATICALLY_APPROVE"}]},
]  # fmt: skip
BODY: dict[str, Any] = {
    "name": "Which sounds better?", "internal_name": "tiny key-1", "description": "<p>Listen.</p>",
    "external_study_url": URL, "prolific_id_option": "url_parameters", "total_available_places": 3,
    "estimated_completion_time": 10, "reward": 200, "completion_codes": CODES,
    "filters": [{"filter_id": "age", "selected_range": {"lower": 18, "upper": 60}}],
}  # fmt: skip


def make(**more: Any) -> FakeProlific:
    return FakeProlific(openapi=OPENAPI if OPENAPI.is_file() else None, **more)


class Researcher:
    """A researcher with a token."""

    def __init__(self, fake: FakeProlific) -> None:
        self.fake = fake
        self.client = httpx.AsyncClient(base_url="https://api.prolific.com", transport=fake.transport(), headers=AUTH)

    async def send(self, method: str, path: str, body: Any = None, **query: str) -> httpx.Response:
        return await self.client.request(method, f"/api/v1{path}", json=body, params=query)

    async def get(self, path: str, **query: str) -> Any:
        response = await self.send("GET", path, **query)
        assert response.status_code == 200, response.text
        return response.json()

    async def publish(self, **more: Any) -> str:
        """Return a published study."""
        response = await self.send("POST", "/studies/", {**BODY, **more})
        assert response.status_code == 201, response.text
        id_ = str(response.json()["id"])
        assert (await self.move(id_, "PUBLISH")).json()["status"] == "ACTIVE"
        return id_

    async def move(self, study: str, action: str, **more: str) -> httpx.Response:
        return await self.send("POST", f"/studies/{study}/transition/", {"action": action, **more})

    async def status(self, study: str) -> str:
        return str((await self.get(f"/studies/{study}/"))["status"])

    async def decide(self, submission: str, action: str, **more: str) -> httpx.Response:
        return await self.send("POST", f"/submissions/{submission}/transition/", {"action": action, **more})

    async def set_up(self, study: str, rows: str) -> httpx.Response:
        return await self.send("POST", "/submissions/bonus-payments/", {"study_id": study, "csv_bonuses": rows})


@pytest.fixture
def fake() -> FakeProlific:
    """A fake Prolific that validates requests by the published document, if it is available."""
    return make()


@pytest.fixture
async def researcher(fake: FakeProlific) -> AsyncIterator[Researcher]:
    person = Researcher(fake)
    yield person
    await person.client.aclose()


def detail(response: httpx.Response) -> Any:
    body = response.json()
    return body.get("error", body)["detail"]
