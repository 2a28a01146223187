"""Media from a bucket, in a real browser: across origins, after a break in the line, late, and while it is away."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.async_api import Response

from support.browser import MARKS, Site, StudyServers, Visit, events_of_step
from support.relay import Relay, relay_before
from support.s3_server import S3Server

pytestmark = MARKS

ACR: dict[str, Any] = {
    "method": "acr",
    "questions": [{"id": "quality", "text": "How good is it?", "scale": "acr5"}],
    "design": {"participants": 6, "trials": 2, "seed": 3},
}
IMPATIENT = """
const wait = globalThis.setTimeout;
globalThis.setTimeout = (run, ms, ...more) => wait(run, ms < 5000 ? ms / 20 : ms, ...more);
"""
"""A twentieth of each pause between retries."""


@asynccontextmanager
async def hosted(
    servers: StudyServers, s3: S3Server, monkeypatch: pytest.MonkeyPatch, **media: Any
) -> AsyncIterator[tuple[Site, Relay]]:
    """Serve a study whose media are in a bucket behind a relay, for pages of this study alone."""
    async with relay_before(s3.ports[3]) as relay:
        monkeypatch.setenv("AWS_ENDPOINT_URL", relay.address)
        s3.allow("*")  # the port is known afterwards
        site = await servers.serve(**ACR, media={"to": s3.new_folder(), "copies": 4, **media})
        s3.allow(site.server.address)
        site.other_hosts.add(urlsplit(relay.address).netloc)
        relay.heads.clear()
        yield site, relay
        for visit in site.visits:  # before the relay goes
            await visit.context.close()


def by_browser(head: str) -> bool:
    return "Mozilla" in head


async def agree(visit: Visit) -> list[dict[str, Any]]:
    """Agree, and return the media of the first trial."""
    async with visit.page.expect_response("**/api/answers/consent") as answering:
        await visit.page.click("#agree")
    media: list[dict[str, Any]] = (await (await answering.value).json())["step"]["prefetch"]
    return media


async def assert_whole(site: Site, *keys: str) -> None:
    """Assert that trials were rated, and that nothing of their media is told as a fault."""
    answers = await site.answers()
    for key in keys:
        assert list(answers[key]["answer"]) == ["scores"]
        assert [event for event in await events_of_step(site, key) if event[1] == "error"] == []


async def test_a_study_is_rated_with_media_from_a_bucket_whose_line_breaks(
    servers: StudyServers, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hosted(servers, s3, monkeypatch) as (site, relay):
        visit = await site.visit(expects_trouble=True, script=IMPATIENT)
        policy = await visit.page.evaluate(
            "async () => (await fetch(location.href)).headers.get('content-security-policy')"
        )
        assert f"connect-src 'self' {relay.address}/" in policy
        relay.cuts.append(6000)  # in the middle of the first clip
        media = await agree(visit)
        assert all(one["signed"].startswith(relay.address) for one in media)
        await visit.go("end")
        await assert_whole(site, "trial:1", "trial:2")
    fetched = [head for head in relay.heads if head.startswith("GET") and by_browser(head)]
    assert len(fetched) >= 3
    assert any("range: bytes=" in head.lower() for head in fetched), "it went on where it was cut off"
    assert len({head.split(" ")[1].partition("?")[0] for head in fetched}) == 2
    assert all(f"Origin: {site.server.address}".lower() in head.lower() for head in fetched)
    assert not any("cookie:" in head.lower() or "referer:" in head.lower() for head in fetched)
    refused = [trouble for trouble in visit.troubles if "Content Security" in trouble or "CORS" in trouble]
    assert refused == []


async def test_an_address_that_has_run_out_is_renewed_and_nobody_notices(
    servers: StudyServers, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hosted(servers, s3, monkeypatch, valid="1 s") as (site, relay):
        visit = await site.visit(expects_trouble=True)
        replies: list[int] = []

        def hear(response: Response) -> None:
            if "/media/" in response.url or response.url.startswith(relay.address):
                replies.append(response.status)

        visit.page.on("response", hear)
        relay.holds = by_browser
        (media,) = await agree(visit)
        async with httpx.AsyncClient() as client:
            while (await client.get(media["signed"])).is_success:
                pass
        relay.go_on()
        await visit.go("trial:2")
        await assert_whole(site, "trial:1")
        assert replies[:3] == [403, 307, 200]


async def wait_through(site: Site, relay: Relay, seconds: float, refusals: int) -> None:
    """Rate a study whose bucket is away before the first clip, for so long and so many attempts."""
    visit = await site.visit(expects_trouble=True, script=IMPATIENT if not seconds else "")
    relay.is_away = True
    since, words = time.monotonic(), visit.page.locator("main h1")
    await agree(visit)
    await visit.step("text:instructions")
    await visit.page.click("#next")
    await visit.page.wait_for_selector("#loading-title:text('Waiting for the connection')")
    while relay.refused < refusals or time.monotonic() - since < seconds:
        await visit.page.wait_for_timeout(100)
        assert await words.inner_text() == "Waiting for the connection"
        assert not await visit.page.is_visible("#next"), "nobody is asked to report what is no fault of theirs"
    assert "your place is saved" in await visit.page.locator("main").inner_text()
    relay.is_away = False
    await visit.go("end")
    await assert_whole(site, "trial:1", "trial:2")


async def test_while_the_bucket_is_away_the_page_waits_and_goes_on_by_itself(
    servers: StudyServers, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hosted(servers, s3, monkeypatch) as (site, relay):
        await wait_through(site, relay, 0, 15)


@pytest.mark.variant
async def test_a_bucket_may_be_away_for_a_whole_minute(
    servers: StudyServers, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hosted(servers, s3, monkeypatch) as (site, relay):
        await wait_through(site, relay, 60, 15)
