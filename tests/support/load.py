"""Many participants at once over plain sockets, so that the client takes little of the processor that it measures."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from beholder.server.tokens import robot_signature
from beholder.simulation.robot import watch_events


@dataclass
class Waits:
    """How long each reply took, in seconds, by what was asked for; and what went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    completed: int = 0

    def p99_ms(self) -> float:
        """Return the 99th percentile of all replies."""
        every = sorted(second for waits in self.seconds.values() for second in waits)
        return 1000 * every[int(0.99 * (len(every) - 1))]

    @property
    def count(self) -> int:
        return sum(map(len, self.seconds.values()))


@dataclass
class Participant:
    """Somebody with one connection who loads all media, waits as people do, and answers every step."""

    port: int
    name: str
    secret: bytes
    pause_s: float
    waits: Waits
    rng: random.Random
    token: str = ""
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def take_part(self) -> None:
        try:
            await self._session()
            self.waits.completed += 1
        except (OSError, asyncio.IncompleteReadError, TimeoutError, ValueError) as error:
            self.waits.faults.append(f"{self.name}: {error!r}")
        finally:
            if self._streams is not None:
                self._streams[1].close()

    async def _session(self) -> None:
        await self._ask("page", "GET", "/s/tiny")
        params = {"robot": self.name, "signature": robot_signature(self.secret, self.name)}
        arrival = await self._ask("arrive", "POST", "/api/arrive", {"study": "tiny", "params": params, "device": {}})
        self.token, step = arrival["token"], arrival["step"]
        while step["kind"] != "end":
            trial, events, answer = step.get("trial"), [], dict[str, Any]()
            if step["kind"] == "consent":
                answer = {"agree": True}
            elif trial is not None:
                for slot in trial["slots"]:
                    await self._ask("media", "GET", slot["media"]["url"])
                events = watch_events(trial)
                answer = {"scores": {"q1": {slot["id"]: 50 for slot in trial["slots"]}}}
            await asyncio.sleep(self.rng.uniform(0.5, 1.5) * self.pause_s)
            body = {"answer": answer, "events": events, "tab": "t", "shown_ms": 1, "sent_ms": 2}
            step = (await self._ask("answer", "PUT", f"/api/answers/{step['key']}", body))["step"]

    async def _ask(self, what: str, method: str, path: str, body: Any = None) -> Any:
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nhost: study\r\ncontent-length: {len(content)}\r\n"
        if self.token:
            head += f"authorization: Bearer {self.token}\r\n"
        async with asyncio.timeout(30):
            began = time.perf_counter()
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self.port)
            reader, writer = self._streams
            writer.write(head.encode() + b"\r\n" + content)
            received = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(received.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            reply = await reader.readexactly(length)
            self.waits.seconds.setdefault(what, []).append(time.perf_counter() - began)
        if int(received.split()[1]) not in (200, 201):
            raise ValueError(f"{method} {path}: {received[:40]!r} {reply[:200]!r}")
        return json.loads(reply) if what in ("arrive", "answer") else None


async def send_participants(port: int, secret: bytes, count: int, pause_s: float, seed: int = 1) -> Waits:
    """Return how a crowd fared that comes within five pauses; each has a connection of its own."""
    waits, rng = Waits(), random.Random(seed)

    async def come(name: str) -> None:
        await asyncio.sleep(rng.uniform(0, 5 * pause_s))
        await Participant(port, name, secret, pause_s, waits, random.Random(rng.random())).take_part()

    names: Iterable[str] = (f"load{seed}-{number}" for number in range(count))
    await asyncio.gather(*map(come, names))
    return waits
