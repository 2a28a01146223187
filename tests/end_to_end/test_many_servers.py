"""Several servers of one study behind a balancer: killed, drained, replaced, and their database killed, under load."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.clock import utc_now
from beholder.methods import load_study
from beholder.planning.serialization import lists_to_json
from beholder.recruiting import monitor
from beholder.server.assets import Assets
from beholder.server.process import load_served, run_server
from beholder.server.requests import SubmittedAnswer, SubmittedDraft
from beholder.server.service import StudyService
from beholder.server.tokens import panel_key
from beholder.store.open import open_store
from beholder.store.rules import record_of
from beholder.testing import write_study
from beholder.testing.stores.facts import rows
from load import Crowd, Waits, send_crowd
from support.balancer import balancer, caddy_of_the_example
from support.clock_service import Clock, Person
from support.killed_database import KilledDatabase, killed_database
from support.server_process import Service, free_port, health


@pytest.fixture
def database() -> Iterator[KilledDatabase]:
    with killed_database() as database:
        yield database


def folders_of(study: Path, count: int = 3) -> list[Path]:
    """Return copies of a study as machines of their own have them: plan and media are made by each."""
    for number in range(2, count + 1):
        shutil.copytree(study.parent, study.parent.with_name(f"machine{number}"))
    return [study, *(study.parent.with_name(f"machine{number}") / study.name for number in range(2, count + 1))]


async def leader_of(ports: list[int]) -> int:
    """Wait until exactly one server leads, and return its port."""
    while len(leading := [port for port in ports if (await health(port))["leads"]]) != 1:
        await asyncio.sleep(0.05)
    return leading[0]


@pytest.mark.long
async def test_three_servers_lose_nothing_while_one_is_killed_one_replaced_and_the_database_restarted(
    tmp_path: Path, tiny: Path, database: KilledDatabase, whole: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    people, at_once, rounds, pause_s = (400, 60, 5, (2.0, 5.0)) if whole else (30, 15, 1, (0.5, 1.2))
    study = write_study(tmp_path / "machine1", tiny, design={"participants": people, "trials": 4, "seed": 3})
    folders = dict(zip((free_port() for _ in range(3)), folders_of(study), strict=True))
    start: Callable[[int], Service] = lambda port: Service(folders[port], database.url, port, "--drain", "1")  # noqa: E731
    services = {port: start(port) for port in folders}
    waits, steps = Waits(), people * 6
    over = [asyncio.Event() for _ in range(rounds)]

    async def hold(now: Waits) -> None:
        """Let people be at work until what happens to the servers has happened, however slow the machine is."""
        for number, event in enumerate(over):
            if now.completed >= people * (number + 0.8) / rounds:
                await event.wait()

    async def until(share: float, sending: asyncio.Task[Waits]) -> None:
        while len(waits.acknowledged) < steps * share:
            await asyncio.sleep(0.02)
            assert not sending.done(), waits.faults[:3]

    try:
        await asyncio.gather(*(service.until_ready() for service in services.values()))
        async with balancer(*folders) as front:
            crowd = Crowd("127.0.0.1", front.port, pause_s=pause_s, patience_s=180)
            sending = asyncio.create_task(send_crowd(crowd, at_once, people, waits=waits, on_done=hold))
            for number in range(rounds):
                await until((number + 0.2) / rounds, sending)
                leading = await leader_of([*services])
                await services.pop(leading).kill()
                shutil.rmtree(folders[leading].parent)  # its machine is gone, with its disk
                assert await leader_of([*services]) != leading
                await until((number + 0.4) / rounds, sending)
                replaced, other = services
                services[replaced].process.terminate()
                assert await asyncio.to_thread(services[replaced].process.wait) == 0
                services[replaced] = start(replaced)
                await services[replaced].until_ready()
                await until((number + 0.6) / rounds, sending)
                await asyncio.to_thread(database.kill)
                assert not sending.done(), "people are at work"
                await asyncio.to_thread(database.start)
                shutil.copytree(folders[other].parent, folders[leading].parent)  # a new machine in its place
                services[leading] = start(leading)
                await front.until(*folders)
                over[number].set()
            await sending
            served = Counter(front.given)
        async with open_store(database.url, write=False) as store:
            answers, claims = await rows(store, "answers"), await rows(store, "claims")
            completed = [row["session"] for row in await rows(store, "ends") if row["outcome"] == "completed"]
    finally:
        for service in services.values():
            await service.kill_parent()
    if whole:
        told = f"{waits.retries} requests sent again, nobody waited longer than {waits.longest_outage_s:.1f} s"
        with capsys.disabled():
            sys.stdout.write(f"\nthree servers, {people} people: {told}\n")
    assert waits.faults == []
    assert waits.completed == people == len(completed)
    stored = {(row["session"], row["key"]): row["answer"] for row in answers}
    assert len(stored) == len(answers), "an answer is there twice"
    assert len(waits.acknowledged) == steps
    assert not [one for one in waits.acknowledged if stored.get((one.session, one.key)) != one.answer]
    lists = Counter(row["list"] for row in claims if row["session"] in completed)
    assert set(lists.values()) == {1}, "a list was given twice"
    assert len(lists) == people
    assert all(served[port] for port in folders), "every server had its share"


@pytest.mark.long
@pytest.mark.variant
async def test_behind_the_balancer_of_the_example_servers_are_replaced_one_by_one_and_nobody_is_left_with_an_error(
    tmp_path: Path, tiny: Path, postgresql_url: str
) -> None:
    people = 60
    study = write_study(tmp_path / "machine1", tiny, design={"participants": people, "trials": 4, "seed": 3})
    folders = dict(zip((free_port() for _ in range(3)), folders_of(study), strict=True))
    services = {port: Service(folders[port], postgresql_url, port, "--drain", "6") for port in folders}
    waits = Waits()
    try:
        await asyncio.gather(*(service.until_ready() for service in services.values()))
        async with caddy_of_the_example(tmp_path, *folders) as port:
            # Who arrives before the balancer has noticed is told to try again.
            crowd = Crowd("127.0.0.1", port, pause_s=(4.0, 8.0), patience_s=60)
            sending = asyncio.create_task(send_crowd(crowd, people // 2, people, waits=waits))
            for one in folders:
                services[one].process.terminate()
                assert await asyncio.to_thread(services[one].process.wait) == 0
                services[one] = Service(folders[one], postgresql_url, one, "--drain", "6")
                await services[one].until_ready()
            await sending
    finally:
        for service in services.values():
            await service.kill_parent()
    assert waits.faults == []
    assert waits.completed == people


async def test_a_server_that_drains_is_taken_out_before_it_ends_and_finishes_what_is_under_way(
    tmp_path: Path, tiny: Path, postgresql_url: str
) -> None:
    study = write_study(tmp_path / "machine1", tiny, design={"participants": 20, "trials": 2, "seed": 3})
    one, two = free_port(), free_port()
    services = [Service(study, postgresql_url, port, "--drain", "2") for port in (one, two)]
    try:
        await asyncio.gather(*(service.until_ready() for service in services))
        async with balancer(one, two) as front, httpx.AsyncClient(base_url=services[0].address, timeout=60) as client:
            arrival: dict[str, Any] = {"study": "tiny", "params": {"participant": "ada"}, "device": {}}
            token = (await client.post("/api/arrive", json=arrival)).json()["token"]
            headers = {"authorization": f"Bearer {token}"}
            slow = await _half_sent(one, token)
            # Whoever arrives before the balancer has noticed is told to try again, as pages do by themselves.
            crowd = Crowd("127.0.0.1", front.port, pause_s=(0.5, 1.0), patience_s=60)
            sending = asyncio.create_task(send_crowd(crowd, 8, 16))
            while len(front.given) < 2:
                await asyncio.sleep(0.02)
            services[0].process.terminate()
            await front.until(two)
            told = await client.get("/healthz")
            assert (told.status_code, told.json()["state"], told.json()["store"]) == (503, "draining", "ready")
            step = await client.get("/api/step", headers=headers)
            assert (step.status_code, step.headers["connection"]) == (200, "close")
            refused = await client.post("/api/arrive", json=arrival)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
            assert refused.json()["error"]["code"] == "draining"
            while await _is_listening(one):
                await asyncio.sleep(0.02)
            assert await _status_of_rest(*slow) == 200, "it waits for what is under way"
            assert await asyncio.to_thread(services[0].process.wait) == 0
            waits = await sending
            assert (waits.faults, waits.completed) == ([], 16), "nobody is left with an error"
    finally:
        for service in services:
            await service.kill_parent()


_CONSENT = b'{"answer": {"agree": true}, "events": [], "tab": "t", "shown_ms": 1, "sent_ms": 2}'


async def _half_sent(port: int, token: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return a connection over which half of an answer has been sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = (
        "PUT /api/answers/consent HTTP/1.1\r\nhost: study\r\ncontent-type: application/json\r\n"
        f"authorization: Bearer {token}\r\ncontent-length: {len(_CONSENT)}\r\n\r\n"
    )
    writer.write(head.encode() + _CONSENT[:20])
    await writer.drain()
    return reader, writer


async def _is_listening(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def _status_of_rest(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    writer.write(_CONSENT[20:])
    status = int((await reader.readline()).split()[1])
    writer.close()
    return status


@asynccontextmanager
async def servers_of(folders: list[Path], url: str, clock: Clock) -> AsyncIterator[list[StudyService]]:
    """Yield a server without HTTP for each folder; all have one database."""
    async with AsyncExitStack() as stack:
        hosts = []
        for folder in folders:
            served, plan = load_served(load_study(folder), "http://here")
            store = await stack.enter_async_context(open_store(url))
            lists = list(lists_to_json(plan))
            await store.begin(record_of(served.study, served.catalogue, plan.plan_digest, lists, clock()))
            hosts.append(StudyService(served, store, clock))
        yield hosts


async def test_no_file_of_one_server_is_needed_by_another(tmp_path: Path, tiny: Path, postgresql_url: str) -> None:
    """Media in ranges from three folders, pictures that were drawn for one person, drafts, and a way back by id."""
    recruit = {
        "mode": "panel",
        "id_parameter": "who",
        "codes": {"completed": "C7"},
        "return_to": {"completed": "https://p.example/?id={id}"},
    }
    keys = {"design": {"participants": 6, "trials": 1, "seed": 3}, "qualification": {"colour": True}}
    study = write_study(tmp_path / "machine1", tiny, **keys, recruit=recruit)
    folders, clock = folders_of(study), Clock()
    for folder in folders[1:]:
        shutil.rmtree(folder.parent / "media")  # each makes its own
    async with servers_of(folders, postgresql_url, clock) as hosts:
        ada = Person(hosts[0], clock)
        ada.params = {"key": panel_key(hosts[0].store.secret), "who": "ada"}
        await ada.come()
        met, kinds = 0, set[str]()
        while ada.step["kind"] != "end":
            kinds.add(str(ada.step["kind"]))
            for address in _addresses(ada.step):
                kinds.add("media")
                media = [await host.media(address.removeprefix("/media/")) for host in hosts]
                whole = [b"".join(one.read(0, one.size)) for one in media]
                assert whole[0] == whole[1] == whole[2] != b""
                half = media[0].size // 2
                assert b"".join([*media[1].read(0, half), *media[2].read(half, media[2].size)]) == whole[0]
            draft = SubmittedDraft(1, 0.0, {"half": met})
            await hosts[met % 3].events(ada.token, SubmittedAnswer(None, tab="t", draft=draft), ada.key)
            ada.host = hosts[(met + 1) % 3]
            _, arrival = await ada.host.arrive(ada.params, ada.device, ada.token)
            assert (arrival["step"], arrival["draft"]["values"]) == (ada.step, {"half": met})  # type: ignore[index,call-overload]
            ada.host, met = hosts[(met + 2) % 3], met + 1
            await ada.answer()
        assert {"consent", "check", "text", "trial", "media"} <= kinds
        for host in hosts:
            assert (await host.step(ada.token))["return_url"] == "https://p.example/?id=ada"


def _addresses(value: Any) -> list[str]:
    """Return all addresses of media in a step."""
    if isinstance(value, dict):
        return [one for each in value.values() for one in _addresses(each)]
    if isinstance(value, list):
        return [one for each in value for one in _addresses(each)]
    return [value] if isinstance(value, str) and value.startswith("/media/") else []


async def test_a_clock_that_is_off_is_told_by_health_log_and_monitor(
    tmp_path: Path, tiny: Path, postgresql_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    study = load_study(write_study(tmp_path / "study", tiny))
    async with run_server(study, store=postgresql_url, port=0, now=lambda: utc_now() + timedelta(minutes=3)) as server:
        async with httpx.AsyncClient(base_url=server.address) as client:
            told = (await client.get("/healthz")).json()
        assert round(told["clock_off_ms"], -4) == 180_000
        words = "is 3 minutes ahead of that of the database: times of answers are wrong by that"
        assert [one.message for one in caplog.records if f"The clock of this server {words}" in one.message]
        alarms = monitor(study, store=postgresql_url).alarms
        assert [one for one in alarms if one.startswith("The clock of server ") and words in one]
    assert not [one for one in monitor(study, store=postgresql_url).alarms if "clock" in one], "it is gone"


async def test_health_tells_what_a_server_serves(tmp_path: Path, tiny: Path, postgresql_url: str) -> None:
    study = load_study(write_study(tmp_path / "study", tiny))
    async with run_server(study, store=postgresql_url, port=0) as one, httpx.AsyncClient() as client:
        async with run_server(study, store=postgresql_url, port=0) as two:
            told = [(await client.get(f"{each.address}/healthz")).json() for each in (one, two)]
            assert [each["leads"] for each in told] == [True, False]
        for each in told:
            assert abs(each.pop("clock_off_ms")) < 1000
            assert each.pop("leads") in (True, False)
            assert each == {
                "study": "tiny", "store": "ready", "state": "ready", "digest": one.service.served.digest,
                "version": version("beholder"),
            }  # fmt: skip


async def test_a_page_of_another_version_begins_with_the_files_of_this_one(tmp_path: Path, tiny: Path) -> None:
    async with run_server(load_study(write_study(tmp_path / "study", tiny)), port=0) as server:
        own = Assets.of(server.service.served).hash
        async with httpx.AsyncClient(base_url=server.address) as client:
            for path in ("bundle/page.js", "bundle/first.css", "bundle/forget.js"):
                moved = await client.get(f"/web/0123456789abcdef/{path}")
                assert (moved.status_code, moved.headers["location"]) == (307, f"/web/{own}/{path}")
                assert moved.headers["cache-control"] == "no-store"
                assert (await client.get(moved.headers["location"])).status_code == 200
            for path in ("bundle/rating.js", "outbox.js", "nothing.css"):  # a part of another whole: it is asked again
                assert (await client.get(f"/web/0123456789abcdef/{path}")).status_code == 404
