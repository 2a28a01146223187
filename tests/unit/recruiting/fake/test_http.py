"""HTTP of the fake platform: the server, routes, lists, faults."""

from __future__ import annotations

import httpx
import pytest

from beholder.recruiting.fake import FakeProlific, serve_fake
from beholder.recruiting.fake.http import FAULT_KINDS, FAULTS_WITHOUT_REPLY, FaultKind
from beholder.testing.prolific import check_prolific
from support.prolific_researcher import AUTH, BODY, LIST, PAY, Researcher, make


async def test_over_real_http_it_answers_the_same(fake: FakeProlific) -> None:
    async with serve_fake(fake) as url, httpx.AsyncClient(base_url=url, headers=AUTH) as client:
        await check_prolific(client)
        made = await client.post("/api/v1/studies/", json=BODY)
        assert made.status_code == 201
        fake.faults.next("GET /api/v1/users/me/", "cut_before", "502", "429_wait")
        with pytest.raises(httpx.TransportError):
            await client.get("/api/v1/users/me/")
        assert (await client.get("/api/v1/users/me/")).text.startswith("<html>")
        slow = await client.get("/api/v1/users/me/")
        assert (slow.status_code, slow.headers["retry-after"]) == (429, "7")


async def test_the_token_is_asked_for(fake: FakeProlific) -> None:
    async with httpx.AsyncClient(base_url="https://x", transport=fake.transport()) as client:
        for headers in ({}, {"Authorization": "Bearer rehearsal"}, {"Authorization": "Token other"}):
            assert (await client.get("/api/v1/users/me/", headers=headers)).status_code == 401


@pytest.mark.parametrize("path", ["/users/me", "/studies", "/nothing/", "/studies/x/transition"])
async def test_paths_are_exact(researcher: Researcher, path: str) -> None:
    assert (await researcher.send("GET", path)).status_code == 404


async def test_lists_are_paged_to_their_end(researcher: Researcher) -> None:
    study = await researcher.publish(total_available_places=25)
    researcher.fake.people.finish(study, 23)
    pages = [(await researcher.get("/submissions/", study=study, page=str(page)))["results"] for page in (1, 2, 3)]
    assert [len(page) for page in pages] == [20, 3, 0]
    researcher.fake.faults.next(LIST, "duplicate", "reordered")
    doubled = (await researcher.get("/submissions/", study=study))["results"]
    assert len(doubled) == 21
    assert len({one["id"] for one in doubled}) == 20
    assert (await researcher.get("/submissions/", study=study))["results"] == pages[0][::-1]


async def test_a_study_may_look_busy(researcher: Researcher) -> None:
    study = await researcher.publish()
    researcher.fake.faults.next("GET /api/v1/studies/{id}/", "processing")
    assert await researcher.status(study) == "PROCESSING"
    assert await researcher.status(study) == "ACTIVE"


ERRORS: dict[FaultKind, type[Exception]] = {
    "refused": httpx.ConnectError, "cut_before": httpx.RemoteProtocolError, "cut_after": httpx.RemoteProtocolError,
    "slow_before": httpx.ReadTimeout, "slow_after": httpx.ReadTimeout,
}  # fmt: skip


@pytest.mark.parametrize("kind", [kind for kind in FAULT_KINDS if kind not in ("duplicate", "reordered", "processing")])
async def test_a_fault_strikes_before_or_after_the_money_moved(researcher: Researcher, kind: FaultKind) -> None:
    fake = researcher.fake
    study = await researcher.publish()
    one = fake.people.finish(study)[0].submission
    bulk = (await researcher.set_up(study, f"{one.id},1.00")).json()["id"]
    fake.faults.next(PAY, kind)
    if kind in FAULTS_WITHOUT_REPLY:
        with pytest.raises(ERRORS[kind]):
            await researcher.send("POST", f"/bulk-bonus-payments/{bulk}/pay/")
    else:
        response = await researcher.send("POST", f"/bulk-bonus-payments/{bulk}/pay/")
        assert response.status_code in (200, 408, 429, 500, 502, 504)
    fake.advance(minutes=5)
    assert len(fake.payments) == kind.endswith("_after")
    assert fake.faults.happened == [(PAY, kind)]


async def test_faults_by_chance_are_the_same_ones_each_time() -> None:
    def struck() -> list[bool]:
        fake = make()
        fake.faults.every("*", "500", share=0.3, seed=5)
        return [fake.faults.take("GET /x") is not None for _ in range(200)]

    first = struck()
    assert first == struck()
    assert 30 < sum(first) < 90
