"""No response to a participant reveals the private answer of a check."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from beholder.checks.page_contract import CheckContext, PageCheck, RobotAbilities
from beholder.checks.page_registry import page_checks
from beholder.methods import load_study
from beholder.server.page_checks import check_of
from beholder.server.process import RunningServer, run_server
from beholder.server.tokens import robot_signature
from beholder.simulation.robot import watch_events
from beholder.testing import write_study
from support.check_settings import EVERY, QUIZ
from support.clock_service import LAPTOP

SHOWN = {
    "key", "kind", "progress", "prefetch", "check", "attempt", "gate", "public", "media", "told", "words", "list",
}  # fmt: skip
DRAWN_PER_ATTEMPT = {"questions", "language", "card"}
"""Checks with a random public part: the items of a quiz, and the initial size of the card outline."""


@pytest.fixture
async def server(tmp_path: Path, tiny: Path) -> AsyncIterator[RunningServer]:
    path = write_study(tmp_path / "study", tiny, qualification=EVERY)
    async with run_server(load_study(path), port=0) as server:
        yield server


class CheckCrawler:
    """Takes every check, failing each once, and records every byte it receives, with the headers."""

    def __init__(self, server: RunningServer, client: httpx.AsyncClient) -> None:
        self.server, self.client = server, client
        self.received: list[tuple[str, bytes]] = []
        self.steps: list[dict[str, Any]] = []
        self.media: dict[str, httpx.Response] = {}

    async def fetch(self, method: str, path: str, body: Any = None) -> httpx.Response:
        response = await self.client.request(method, path, json=body)
        headers = "\n".join(f"{name}: {value}" for name, value in response.headers.multi_items())
        self.received.append((f"{method} {path}", headers.encode() + b"\n" + response.content))
        return response

    async def walk(self) -> None:
        params = {"robot": "p", "signature": robot_signature(self.server.store.secret, "p")}
        arrival = (
            await self.fetch("POST", "/api/arrive", {"study": "tiny", "params": params, "device": LAPTOP})
        ).json()
        self.client.headers["authorization"] = f"Bearer {arrival['token']}"
        step = arrival["step"]
        while step["kind"] != "end":
            self.steps.append(step)
            for medium in step.get("media", {}).values():
                self.media[medium["url"]] = await self.fetch("GET", medium["url"])
            for wrong in ({"zq": 1}, {}):  # error messages are received too
                await self.fetch("PUT", f"/api/answers/{step['key']}", {"answer": wrong})
            step = (await self.fetch("GET", "/api/step")).json()
            if step["kind"] == "end":
                break
            reply = await self.fetch("PUT", f"/api/answers/{step['key']}", await self.answer(step))
            assert reply.status_code == 200, (step["key"], reply.text)
            step = reply.json()["step"]
        self.steps.append(step)

    async def answer(self, step: dict[str, Any]) -> dict[str, Any]:
        match step["kind"]:
            case "check":
                return {"answer": await self.answer_check(step)}
            case "trial":
                scores = {slot["id"]: 50 for slot in step["trial"]["slots"]}
                return {"answer": {"scores": {"q1": scores}}, "events": watch_events(step["trial"])}
            case "consent":
                return {"answer": {"agree": True}}
            case _:
                return {"answer": {}}

    async def answer_check(self, step: dict[str, Any]) -> Any:
        host, session = self.server.service, self.client.headers["authorization"].split(".")[1]
        facts = await self.server.store.session_facts(session)
        assert facts is not None
        assert facts.list is not None
        planned = host.served.script(facts.list).find(step["key"])
        assert planned is not None
        is_first = (
            step["attempt"] == 1 and check_of(planned).options.attempts > 1 and check_of(planned).action != "flag"
        )
        robot = RobotAbilities(frozenset([step["check"]]) if is_first else frozenset())
        return check_of(planned).respond(
            host.context.page_checks.attempt(facts, planned), robot, np.random.default_rng(1)
        )


@pytest.fixture
async def crawled(server: RunningServer) -> AsyncIterator[CheckCrawler]:
    async with httpx.AsyncClient(base_url=server.address, timeout=60) as client:
        crawler = CheckCrawler(server, client)
        await crawler.walk()
        yield crawler


async def test_nothing_private_is_received(crawled: CheckCrawler) -> None:
    store = crawled.server.store
    assert crawled.steps[-1]["outcome"] == "completed", crawled.steps[-1]
    checks = {step["check"] for step in crawled.steps if step["kind"] == "check"}
    assert checks == {check.name for check in page_checks(crawled.server.service.served.study)}
    verdicts = [row async for row in store.rows("told")]
    assert [row["key"] for row in verdicts if row["reason"] == "our_fault"] == []
    posed = [row async for row in store.rows("posed")]
    hidden = {row["seed"].encode() for row in posed} | {store.secret.hex().encode()}
    hidden |= {text.encode() for row in posed for text in _texts(row["private"]) if text.startswith(("zq", "/"))}
    offered = {option.encode() for item in QUIZ for option in item["options"]}
    for what, data in crawled.received:
        leaks = [secret for secret in hidden - offered if secret in data and not secret.startswith(b"zqitem")]
        assert not leaks, what
        for word in (b'"private"', b'"correct"', b'"counts"', b'"seed"', b'"expected"'):
            assert word not in data, what
    for step in crawled.steps:
        if step["kind"] == "check":
            assert set(step) == SHOWN, step["key"]
            assert all(set(row) <= {"name", "title", "state", "text"} for row in step["list"])
    check_media(crawled.media)


def check_media(media: dict[str, httpx.Response]) -> None:
    """Check that pictures and sounds contain no metadata."""
    for url, response in media.items():
        assert response.status_code == 200, url
        assert response.headers["content-type"] in ("image/png", "audio/wav", "video/mp4")
        assert set(response.headers) <= {
            "content-type", "content-length", "etag", "cache-control", "accept-ranges", "date", "server",
            "content-security-policy", "x-content-type-options", "referrer-policy", "x-frame-options",
            "permissions-policy", "cross-origin-opener-policy", "cross-origin-resource-policy", "x-robots-tag",
        }  # fmt: skip
        assert not _chunks(response.content) & {"tEXt", "iTXt", "zTXt", "eXIf", "tIME", "LIST", "id3 ", "bext"}


def _posed(check: PageCheck, known: CheckContext, seeds: int) -> list[Any]:
    return [check.pose(np.random.default_rng(seed), known) for seed in range(seeds)]


async def test_what_is_public_does_not_depend_on_the_draw(server: RunningServer) -> None:
    known = _known(server)
    for check in page_checks(server.service.served.study):
        posed = _posed(check, known, 8)
        assert len({one.media for one in posed}) == 1, f"{check.name}: names of media differ"
        if check.name not in DRAWN_PER_ATTEMPT:
            assert all(one.public == posed[0].public for one in posed), f"{check.name}: public parts differ"


async def test_the_size_of_a_medium_does_not_depend_on_the_draw(server: RunningServer) -> None:
    known = _known(server)
    for check in page_checks(server.service.served.study):
        posed = _posed(check, known, 3)
        if check.name == "colour":  # the file size of a plate depends on its random dots, not on its number
            continue
        for name in posed[0].media:
            sizes = {len(check.draw(one.private, name).body) for one in posed}
            assert len(sizes) == 1, f"{check.name} {name}: {sizes}"


def _known(server: RunningServer) -> CheckContext:
    """Return the context of a participant who has answered every check."""
    facts = server.service.preview.facts
    known = server.service.context.page_checks.context(facts)
    return CheckContext({**LAPTOP}, known.answers, known.needs)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _texts(inner)
        case list():
            for inner in value:
                yield from _texts(inner)


def _chunks(data: bytes) -> set[str]:
    """Return the names of the chunks of a PNG or WAV file."""
    if data[4:8] == b"ftyp":  # the same test clip for everybody
        return set()
    names, at = set(), 8 if data.startswith(b"\x89PNG") else 12
    while at + 8 <= len(data):
        if data.startswith(b"\x89PNG"):
            (size,), name = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
            at += 12 + size
        else:
            name, (size,) = data[at : at + 4], struct.unpack("<I", data[at + 4 : at + 8])
            at += 8 + size + size % 2
        names.add(name.decode("latin-1"))
    return names
