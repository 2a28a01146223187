"""Blinding: no response to a participant reveals a condition, a content, a file name or an early code."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.methods import load_study
from beholder.server.assets import Assets
from beholder.server.process import RunningServer, run_server
from beholder.server.tokens import robot_signature
from beholder.simulation.robot import watch_events
from beholder.testing import write_study

MARKS = {"natural": "zqfullmotion", "smooth": "zqdamped", "jerky": "zqjerky", "frozen": "zqstill"}


def mark(folder: Path, tiny: Path) -> Path:
    """Write a study with a unique mark in every condition and file name."""
    stimuli = folder / "stimuli"
    for condition, name in MARKS.items():
        for file in sorted((tiny / "stimuli" / condition).iterdir()):
            target = stimuli / name / f"zqcontent-{file.name}"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    shutil.copytree(folder / "stimuli", folder / "like" / "stimuli")
    (folder / "like" / "media").mkdir()
    return write_study(
        folder / "study", folder / "like",
        conditions=[{"name": name, "label": f"zqlabel {name}"} for name in MARKS.values()],
        before=[{"id": "zqscreen", "text": "Which?", "type": "single", "options": ["a", "b"], "correct": ["b"]}],
        during=[{
            "id": "easy", "text": "Easy?", "type": "single", "options": ["a", "b"], "every": "trial",
            "when": "zqscreen = b", "file": f"stimuli/{MARKS['natural']}/zqcontent-greeting.mp4",
        }],
        ending={"agreement": True, "crowd": True},
    )  # fmt: skip


class Crawler:
    """A participant that records every byte it receives, with the headers."""

    def __init__(self, server: RunningServer) -> None:
        self.server = server
        self.assets = Assets.of(server.service.served)
        self.received: list[tuple[str, bytes]] = []
        self.media: dict[str, httpx.Response] = {}

    async def fetch(self, client: httpx.AsyncClient, method: str, path: str, body: Any = None) -> httpx.Response:
        response = await client.request(method, path, json=body)
        headers = "\n".join(f"{name}: {value}" for name, value in response.headers.multi_items())
        self.received.append((f"{method} {path}", headers.encode() + b"\n" + path.encode() + b"\n" + response.content))
        return response

    async def crawl(self) -> list[dict[str, Any]]:
        """Take the whole study; return every step."""
        steps = []
        async with httpx.AsyncClient(base_url=self.server.address, timeout=60) as client:
            await self.fetch(client, "GET", "/s/tiny")
            for path in self.assets.files:
                await self.fetch(client, "GET", f"/web/{self.assets.hash}/{path}")
            params = {"robot": "p", "signature": robot_signature(self.server.store.secret, "p")}  # in its own time
            body = {"study": "tiny", "params": params, "device": {}}
            arrival = (await self.fetch(client, "POST", "/api/arrive", body)).json()
            client.headers["authorization"] = f"Bearer {arrival['token']}"
            step = arrival["step"]
            while step["kind"] != "end":
                steps.append(step)
                slots = step["trial"]["slots"] if step["kind"] == "trial" else []
                shown = step["trial"]["slots"] if step["kind"] == "questions" and "trial" in step else []
                for slot in (*slots, *shown):
                    self.media[slot["media"]["url"]] = await self.fetch(client, "GET", slot["media"]["url"])
                wrongs: list[dict[str, Any]] = [{"scores": {}}, {"agree": "yes"}]
                for wrong in wrongs:  # error messages are received too
                    await self.fetch(client, "PUT", f"/api/answers/{step['key']}", {"answer": wrong})
                events = watch_events(step["trial"]) if slots else []
                answer = {
                    "consent": {"agree": True},
                    "questions": {"answers": {item["id"]: "b" for item in step.get("items", ())}},
                    "trial": {"scores": {"q1": {slot["id"]: 50 for slot in slots}}},
                }.get(step["kind"], {})
                reply = await self.fetch(
                    client, "PUT", f"/api/answers/{step['key']}", {"answer": answer, "events": events}
                )
                assert reply.status_code == 200, reply.text
                step = reply.json()["step"]
            steps.append(step)
        return steps


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> tuple[Crawler, list[dict[str, Any]], bytes]:
    async def crawl() -> tuple[Crawler, list[dict[str, Any]], bytes]:
        async with run_server(load_study(mark(tmp_path_factory.mktemp("marked"), tiny)), port=0) as server:
            crawler = Crawler(server)
            return crawler, await crawler.crawl(), server.store.secret

    return asyncio.run(crawl())


async def test_nothing_received_carries_a_mark(crawled: tuple[Crawler, list[dict[str, Any]], bytes]) -> None:
    crawler, steps, secret = crawled
    code = steps[-1]["code"]
    marks = [name.encode() for name in (*MARKS.values(), *MARKS, "zqcontent", "zqlabel", 'correct"')]
    for what, data in crawler.received:
        text = data.lower()
        if not what.startswith("GET /web"):  # our own code and words may contain such words
            assert not [name for name in marks if name in text], what
        assert secret.hex().encode() not in text, what
    before_the_end = crawler.received[:-1]
    assert all(code.encode() not in data for _, data in before_the_end)
    assert all(b'"result"' not in data for what, data in before_the_end if not what.startswith("GET /web"))
    assert steps[-1]["result"] == {"agreement": None, "questions": []}
    assert any(code.encode() in data for _, data in crawler.received[-1:])


async def test_correct_answers_are_not_sent(crawled: tuple[Crawler, list[dict[str, Any]], bytes]) -> None:
    _, steps, _ = crawled
    item, *between = [step["items"][0] for step in steps if step["kind"] == "questions"]
    known = {"id", "text", "type", "options", "required", "placeholder", "min", "max"}
    assert set(item) == known
    assert len(between) == 3
    # A comparison with an answer of another page is not sent either.
    assert {frozenset(one) for one in between} == {frozenset({*known, "slot", "play"})}


async def test_a_trial_has_only_public_fields(crawled: tuple[Crawler, list[dict[str, Any]], bytes]) -> None:
    _, steps, _ = crawled
    for step in steps:
        if step["kind"] != "trial":
            continue
        assert set(step) == {"key", "kind", "progress", "prefetch", "method", "trial"}
        assert set(step["trial"]) == {"asked", "slots", "playback", "together", "passes", "extra"}
        for asked in step["trial"]["asked"]:
            assert set(asked) == {"id", "text", "scale", "ticks"}
        for slot in step["trial"]["slots"]:
            assert set(slot) == {"id", "label", "colour", "rated", "media"}
            assert set(slot["media"]) == {"url", "medium", "bytes", "sound", "ms", "width", "height"}


async def test_no_two_addresses_share_bytes_size_or_tag(crawled: tuple[Crawler, list[dict[str, Any]], bytes]) -> None:
    crawler, _, _ = crawled
    assert len(crawler.media) == 12 + 3  # each rating page, and the file of each page between them
    bodies = {hashlib.sha256(response.content).hexdigest() for response in crawler.media.values()}
    tags = {response.headers["etag"] for response in crawler.media.values()}
    assert len(bodies) == len(tags) == 12 + 3
    for response in crawler.media.values():
        assert "last-modified" not in response.headers
        assert "content-disposition" not in response.headers
