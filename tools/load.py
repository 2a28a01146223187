"""Many participants at once: each loads media, thinks, answers, and tries again as a browser does.

    python tools/load.py http://127.0.0.1:8000 gestures --people 2000 --sessions 5000

Over plain sockets, so that the client takes little of the processor that it measures. It answers studies whose pages
are texts and trials with sliders, such as those of `beholder.testing.write_study`. From another machine give the
address of the store as well (`--store`): robots are signed, and strangers from one address may not arrive so fast.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import psutil

from beholder.server.tokens import robot_signature
from beholder.simulation.robot import watch_events

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.1, 5.0
_REPLY_S = 30.0


class AcknowledgedAnswer(NamedTuple):
    """An answer that a server said it has stored."""

    session: str
    key: str
    answer: Any


@dataclass
class Waits:
    """How long each reply took, in seconds, by what was asked for; what went wrong, and what was stored."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    """What ended somebody's session, or was refused for good."""
    retries: int = 0
    """Requests that were sent again, because nobody answered or not now."""
    longest_outage_s: float = 0.0
    """The longest time for which one participant got no answer."""
    completed: int = 0
    acknowledged: list[AcknowledgedAnswer] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    """The code of each last page."""

    def p99_ms(self, *kinds: str) -> float:
        """Return the 99th percentile of all replies, or of those to some kinds of requests."""
        every = sorted(second for kind in kinds or self.seconds for second in self.seconds.get(kind, ()))
        return 1000 * every[int(0.99 * (len(every) - 1))]

    @property
    def count(self) -> int:
        return sum(map(len, self.seconds.values()))


@dataclass(frozen=True)
class Crowd:
    """Who comes: to which study, signed or as people, how long they think, and for how long they try again."""

    host: str
    port: int
    study: str = "tiny"
    secret: bytes | None = None
    """With the secret of the store they are robots, who are not counted as people."""
    pause_s: tuple[float, float] = (10.0, 20.0)
    patience_s: float = 0.0
    """For how long a request that nobody answers is sent again; 0 never."""
    seed: int = 1

    def params(self, name: str) -> dict[str, str]:
        if self.secret is None:
            return {"participant": name}
        return {"robot": name, "signature": robot_signature(self.secret, name)}


class _Again(Exception):
    """Nobody answered, or not now."""


@dataclass
class Participant:
    """Somebody with one connection who loads all media, waits as people do, and answers every step."""

    crowd: Crowd
    name: str
    waits: Waits
    rng: random.Random
    token: str = ""
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def take_part(self) -> None:
        """Take the study from its first page to its last."""
        try:
            await self._session()
            self.waits.completed += 1
        except (_Again, OSError, ValueError) as error:
            self.waits.faults.append(f"{self.name}: {error!r}")
        finally:
            self._hang_up()

    async def _session(self) -> None:
        study = self.crowd.study
        await self._ask("page", "GET", f"/s/{study}")
        body = {"study": study, "params": self.crowd.params(self.name), "device": {}}
        arrival = await self._ask("arrive", "POST", "/api/arrive", body)
        self.token, step = arrival["token"], arrival["step"]
        session = self.token.split(".")[1]
        while step["kind"] != "end":
            trial, events, answer = step.get("trial"), [], dict[str, Any]()
            if step["kind"] == "consent":
                answer = {"agree": True}
            elif trial is not None:
                for slot in trial["slots"]:
                    await self._ask("media", "GET", slot["media"]["url"])
                events = watch_events(trial)
                scores = {slot["id"]: self.rng.randint(0, 100) for slot in trial["slots"]}
                answer = {"scores": {asked["id"]: scores for asked in trial["asked"]}}
            began = time.monotonic()
            watched_s = events[-1][0] / 1000 + 0.05 if events else 0.0  # nobody answers before they have seen it
            await asyncio.sleep(max(watched_s, self.rng.uniform(*self.crowd.pause_s)))
            spent = 1000 * (time.monotonic() - began)
            sent = {"answer": answer, "events": events, "from": 0, "tab": "t", "shown_ms": 0, "sent_ms": spent}
            reply = await self._ask("answer", "PUT", f"/api/answers/{step['key']}", sent)
            self.waits.acknowledged.append(AcknowledgedAnswer(session, step["key"], answer))
            step = reply["step"]
        self.waits.codes.append(str(step.get("code") or ""))

    async def _ask(self, what: str, method: str, path: str, body: Any = None) -> Any:
        """Return the reply to a request; one that nobody answers is sent again until patience ends."""
        began, wait = time.monotonic(), _FIRST_WAIT_S
        while True:
            try:
                reply = await self._send(what, method, path, body)
            except (_Again, OSError, asyncio.IncompleteReadError) as error:
                self._hang_up()
                if time.monotonic() - began >= self.crowd.patience_s:
                    raise _Again(f"{method} {path}: {error!r}") from error
                self.waits.retries += 1
                await asyncio.sleep(wait * self.rng.uniform(0.8, 1.2))
                wait = min(2 * wait, _LONGEST_WAIT_S)
                continue
            if wait > _FIRST_WAIT_S:
                self.waits.longest_outage_s = max(self.waits.longest_outage_s, time.monotonic() - began)
            return reply

    async def _send(self, what: str, method: str, path: str, body: Any) -> Any:
        content = b"" if body is None else json.dumps(body).encode()
        # A proxy would ask for what is packed, unpack it, and not say how long it is.
        plain = f"host: {self.crowd.host}\r\naccept-encoding: identity\r\n"
        head = f"{method} {path} HTTP/1.1\r\n{plain}content-length: {len(content)}\r\n"
        if self.token:
            head += f"authorization: Bearer {self.token}\r\n"
        async with asyncio.timeout(_REPLY_S):
            began = time.perf_counter()
            if self._streams is None:
                self._streams = await asyncio.open_connection(self.crowd.host, self.crowd.port)
            reader, writer = self._streams
            writer.write(head.encode() + b"\r\n" + content)
            received = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(received.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            reply = await reader.readexactly(length)
            self.waits.seconds.setdefault(what, []).append(time.perf_counter() - began)
        if b"connection: close" in received:
            self._hang_up()
        status = int(received.split()[1])
        if status == 429 or status >= 500:
            raise _Again(f"status {status}")
        if status not in (200, 201):
            raise ValueError(f"{method} {path}: {received[:40]!r} {reply[:200]!r}")
        return json.loads(reply) if what in ("arrive", "answer") else None

    def _hang_up(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def send_crowd(
    crowd: Crowd,
    people: int,
    sessions: int | None = None,
    waits: Waits | None = None,
    on_done: Callable[[Waits], Awaitable[None]] | None = None,
) -> Waits:
    """Return how a crowd fared: so many at once, one after the other in each place, until all sessions are taken.

    They come within the time of an answer. `on_done` is called whenever a session has ended.
    """
    waits, rng = waits or Waits(), random.Random(crowd.seed)
    names = iter([f"load{crowd.seed}-{number}" for number in range(sessions or people)])

    async def come(seed: float) -> None:
        own = random.Random(seed)
        await asyncio.sleep(own.uniform(0, crowd.pause_s[1]))
        for name in names:
            await Participant(crowd, name, waits, random.Random(own.random())).take_part()
            if on_done is not None:
                await on_done(waits)

    await asyncio.gather(*(come(rng.random()) for _ in range(people)))
    return waits


# How a server fares meanwhile


class ProcessUse(NamedTuple):
    """What processes have used, and hold, at a moment."""

    cpu_s: float
    megabytes: float
    descriptors: int


def use_of(processes: Sequence[psutil.Process]) -> ProcessUse:
    """Return what some processes, without their children, have used and hold together."""
    cpu = [one.cpu_times() for one in processes]
    return ProcessUse(
        sum(one.user + one.system for one in cpu),
        sum(one.memory_info().rss for one in processes) / 1024**2,
        sum(one.num_fds() for one in processes),
    )


def told(waits: Waits) -> list[str]:
    """Return in lines how a crowd fared."""
    lines = [f"{waits.completed} sessions, {waits.count} replies, {waits.retries} sent again"]
    for kind, seconds in waits.seconds.items():
        lines.append(
            f"{kind:<8} {len(seconds):>7}  p99 {waits.p99_ms(kind):7.1f} ms  longest {1000 * max(seconds):.0f} ms"
        )
    return [*lines, *waits.faults[:5]]


async def _secret_of(url: str) -> bytes:
    from beholder.store.open import open_store

    async with open_store(url, write=False) as store:
        return store.secret


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address", help="of the server or balancer, such as http://127.0.0.1:8000")
    parser.add_argument("study", help="its name")
    parser.add_argument("--people", type=int, default=2000, help="at once")
    parser.add_argument("--sessions", type=int, help="in all; as many as people when left out")
    parser.add_argument("--pause", type=float, nargs=2, default=(10.0, 20.0), metavar="S", help="between two answers")
    parser.add_argument("--patience", type=float, default=0.0, metavar="S", help="for how long a request is sent again")
    parser.add_argument("--store", help="send robots, signed with the secret of this store")
    asked = parser.parse_args()
    address = urlsplit(asked.address)
    if not address.hostname or address.scheme != "http":
        parser.error(f"address is {asked.address}: give http://HOST:PORT of a server, behind what ends https")
    secret = asyncio.run(_secret_of(asked.store)) if asked.store else None
    crowd = Crowd(
        address.hostname, address.port or 80, asked.study, secret, tuple(asked.pause), asked.patience
    )  # fmt: skip
    waits = asyncio.run(send_crowd(crowd, asked.people, asked.sessions))
    print("\n".join(told(waits)))
    return 1 if waits.faults else 0


if __name__ == "__main__":
    sys.exit(main())
