"""Connections: how many there may be, of which address, and how long one may make no progress.

The HTTP server ends connections that wait for headers, and accepts no more than it is told. What it does not know is
here: whose a connection is behind a proxy, that a body does not come or a reply is not read, and that one address holds
too many. Addresses are kept in memory only, and for no longer than a connection or a limit lasts.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import math
import os
import socket
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beholder.errors import Problem, UserError

_log = logging.getLogger("beholder.server")

Peer = tuple[str, int]
"""Address and port of the other end of a connection."""

# Whose a connection is

_REMEMBERED = 4096
_LONGEST_CHAIN = 512
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Proxies:
    """The proxies whose word on the address of a client counts: those named, and any on this machine.

    Those named may also hold as many connections as they like.
    """

    def __init__(self, named: Sequence[str] = ()) -> None:
        self._named: list[_Network] = []
        problems = []
        for text in named:
            try:
                self._named.append(ipaddress.ip_network(text.strip(), strict=False))
            except ValueError:
                problems.append(
                    Problem(
                        "--proxy",
                        f"is {text!r}, which is no address",
                        "an IP address or a network, such as 10.0.0.7 or 10.0.0.0/8",
                        "Give the address from which the proxy reaches this server.",
                    )
                )
        if problems:
            raise UserError(problems)
        self._has_warned = False
        self._client = lru_cache(_REMEMBERED)(self._find_client)

    def has(self, address: str) -> bool:
        """Return whether an address is that of a named proxy."""
        parsed = _parse(address)
        return parsed is not None and any(parsed in network for network in self._named)

    def client(self, scope: Scope) -> str:
        """Return the address of the client of a request: the last in X-Forwarded-For that is no proxy's own."""
        peer: str = (scope.get("client") or ("", 0))[0]
        told = next((value for name, value in scope["headers"] if name == b"x-forwarded-for"), b"")
        return self._client(peer, told[-_LONGEST_CHAIN:])

    def _believes(self, address: str) -> bool:
        parsed = _parse(address)
        return parsed is not None and (parsed.is_loopback or self.has(address))

    def _find_client(self, peer: str, told: bytes) -> str:
        if not told:
            return address_group(peer)
        if not self._believes(peer):
            if not self._has_warned:
                self._has_warned = True
                _log.warning(
                    "requests come through %s, which is not named by --proxy: its clients count as one address", peer
                )
            return address_group(peer)
        for address in reversed([part.strip() for part in told.decode("latin-1").split(",")]):
            if _parse(address) is None:
                break
            peer = address
            if not self._believes(address):
                break
        return address_group(peer)


def _parse(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed


def address_group(address: str) -> str:
    """Return an address; of IPv6 its network of 64 bits, which one household or attacker has for itself."""
    parsed = _parse(address)
    if parsed is None:
        return ""
    return str(ipaddress.ip_network((parsed, 64), strict=False)) if parsed.version == 6 else str(parsed)


# How many there may be

_MOST = 16_384
_FEWEST = 128
_OWN_DESCRIPTORS = 256
"""Descriptors for files, the database and what else the server opens."""
_BYTES_EACH = 64 * 1024
"""Memory of a connection: its buffers, and a request that is under way."""
_MOST_DESCRIPTORS = 65_536


@dataclass(frozen=True)
class ConnectionLimits:
    """How many connections there may be in all, and of one address that is no proxy."""

    total: int
    per_address: int


def connection_limits() -> ConnectionLimits:
    """Return the limits for this machine: a quarter of its memory, and all descriptors that a process may have."""
    total = min(_MOST, _descriptors() - _OWN_DESCRIPTORS, _memory() // 4 // _BYTES_EACH)
    total = max(total, _FEWEST)
    return ConnectionLimits(total, max(total // 4, _FEWEST // 2))


def _descriptors() -> int:
    """Return how many descriptors this process may open, after asking for as many as it is allowed."""
    if sys.platform == "win32":  # sockets are no descriptors there
        return _MOST_DESCRIPTORS
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # macOS has a lower limit that it does not tell
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MOST_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


def _memory() -> int:
    """Return the memory of this machine or container in bytes; 4 GB where the system does not tell."""
    found = 4 * 1024**3
    with contextlib.suppress(AttributeError, OSError, ValueError):
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError, ValueError):
        found = min(found, int(Path("/sys/fs/cgroup/memory.max").read_text("ascii")))
    return found


# What is under way

_BODY_S = 60.0
"""How long a body may take to come: 256 kB at 4 kB a second."""
_READ_S = 60.0
"""How long the other end may take to read one part of a reply."""
_BODIES = 64 * 1024 * 1024
"""Bytes of bodies that are under way from one address."""
_LONGEST_ADDRESS = 8192
"""Bytes of the path and the query of a request."""
_NEAR = 0.8
_EVERY_S = 1.0
_WARN_EVERY_S = 60.0


class _OpenRequest:
    """A request that is under way: until when something has to happen, whose it is, and how much of it has come."""

    __slots__ = ("address", "deadline", "size", "task")

    def __init__(self, address: str, deadline: float, task: asyncio.Task[Any] | None) -> None:
        self.address, self.deadline, self.task, self.size = address, deadline, task, 0


class Connections:
    """ASGI middleware that knows the requests under way, and `watch`, which ends connections that are too much."""

    def __init__(
        self,
        app: ASGIApp,
        proxies: Proxies,
        limits: ConnectionLimits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app, self._proxies, self._limits, self._clock = app, proxies, limits, clock
        self._requests: dict[Peer, _OpenRequest] = {}
        self._bodies: defaultdict[str, int] = defaultdict(int)
        self._warned_at = -math.inf

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if len(scope["raw_path"]) + len(scope["query_string"]) > _LONGEST_ADDRESS:
            await send({"type": "http.response.start", "status": 414, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
            return
        client, clock = scope.get("client") or ("", 0), self._clock
        peer: Peer = (client[0], int(client[1]))  # granian gives the port as a text
        address = scope["beholder.address"] = self._proxies.client(scope)
        has_body = scope["method"] in ("POST", "PUT")
        task = None if _HAS_SOCKETS else asyncio.current_task()
        request = self._requests[peer] = _OpenRequest(address, clock() + _BODY_S if has_body else math.inf, task)

        async def receive_in_time() -> Message:
            message = await receive()
            size = len(message.get("body", b""))
            if size:
                request.size += size
                self._bodies[address] += size
                if self._bodies[address] > _BODIES:
                    return {"type": "http.disconnect"}
            if not message.get("more_body"):
                request.deadline = math.inf
            return message

        async def send_in_time(message: Message) -> None:
            request.deadline = clock() + _READ_S
            await send(message)
            request.deadline = math.inf

        try:
            await self._app(scope, receive_in_time if has_body else receive, send_in_time)
        finally:
            if self._requests.get(peer) is request:
                del self._requests[peer]
            if request.size:
                self._bodies[address] -= request.size
                if not self._bodies[address]:
                    del self._bodies[address]

    async def watch(self, port: int) -> None:
        """Look again and again for connections that are late, or too many."""
        while True:
            await asyncio.sleep(_EVERY_S)
            try:
                self.check(port)
            except Exception as error:  # the watch goes on, whatever it stumbled over
                _log.error("connections cannot be looked at", exc_info=error)

    def check(self, port: int) -> None:
        """End connections whose body or reader is late, and those of an address that holds too many."""
        late = {peer for peer, request in self._requests.items() if request.deadline < self._clock()}
        if not _HAS_SOCKETS:
            for peer in late:
                if (task := self._requests[peer].task) is not None:
                    task.cancel()
            return
        is_busy = len(_descriptors_open()) > min(self._limits.per_address, _NEAR * self._limits.total)
        if not late and not is_busy:
            return
        sockets = list(_sockets(port))
        surplus = {peer for peer, _ in self._surplus(sockets)}
        for peer, descriptor in sockets:
            if peer in late or peer in surplus:
                _shut_down(descriptor, peer)
        self._warn(len(sockets), len(surplus))

    def end_all(self, port: int) -> None:
        """End every connection."""
        for request in self._requests.values():
            if request.task is not None:
                request.task.cancel()
        for peer, descriptor in list(_sockets(port)):
            _shut_down(descriptor, peer)

    def _surplus(self, sockets: Sequence[tuple[Peer, int]]) -> Iterable[tuple[Peer, int]]:
        """Yield the connections that an address has over its limit: first those without a request, then any."""
        count = Counter(peer[0] for peer, _ in sockets)
        for address, held in count.items():
            if held > self._limits.per_address and not self._proxies.has(address):
                own = [one for one in sockets if one[0][0] == address]
                own.sort(key=lambda one: one[0] in self._requests)
                yield from own[: held - self._limits.per_address]

    def _warn(self, held: int, ended: int) -> None:
        is_near = held > _NEAR * self._limits.total
        if not (is_near or ended) or self._clock() < self._warned_at + _WARN_EVERY_S:
            return
        self._warned_at = self._clock()
        if ended:
            _log.warning("%s connections of one address are more than the limit, and were closed", ended)
        if is_near:
            _log.warning(
                "%s of %s connections are in use: raise the limit of open files (ulimit -n), or add a server",
                held,
                self._limits.total,
            )


# Sockets of this process, which the HTTP server keeps to itself

_FOLDER = next((path for path in (Path("/proc/self/fd"), Path("/dev/fd")) if path.is_dir()), None)
_HAS_SOCKETS = _FOLDER is not None


def _descriptors_open() -> list[str]:
    return os.listdir(_FOLDER) if _FOLDER else []  # noqa: PTH208 - thousands of them, every second


def _sockets(port: int) -> Iterator[tuple[Peer, int]]:
    """Yield the other end and the descriptor of every connection to our port."""
    for name in _descriptors_open():
        with contextlib.suppress(OSError, ValueError), _borrowed(int(name)) as one:
            if one.family in (socket.AF_INET, socket.AF_INET6) and one.getsockname()[1] == port:
                peer = one.getpeername()
                yield (peer[0], peer[1]), int(name)


def _shut_down(descriptor: int, peer: Peer) -> None:
    """End a connection, if the descriptor is still its own; the HTTP server then closes it."""
    with contextlib.suppress(OSError, ValueError), _borrowed(descriptor) as one:
        if one.getpeername()[:2] == peer:
            one.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def _borrowed(descriptor: int) -> Iterator[socket.socket]:
    one = socket.socket(fileno=descriptor)  # raises OSError where it is no socket
    try:
        yield one
    finally:
        one.detach()
