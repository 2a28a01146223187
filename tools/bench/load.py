"""A lean HTTP/1.1 client for load: many connections, one thread, requests made beforehand.

On a small machine the client takes its share of the processors from the server, so it does as little as it can.
"""

from __future__ import annotations

import gc
import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Chain = Sequence[bytes]
"""Requests that have to be answered one after the other, such as the answers of one session."""

_BUFFER = bytearray(1 << 20)
_KEPT = 1 << 16
_END_OF_HEAD, _LENGTH = b"\r\n\r\n", b"content-length: "


@dataclass(frozen=True)
class Load:
    """What came of sending every chain: how long it took, and how long each request waited."""

    seconds: float
    waits_ms: list[float]

    @property
    def per_second(self) -> float:
        return len(self.waits_ms) / self.seconds


@dataclass
class _Connection:
    """One connection, waiting for the reply to the request at hand."""

    socket: socket.socket
    left: Iterator[bytes]
    sent_at: float = 0.0
    reply: bytearray = field(default_factory=bytearray)
    came: int = 0
    length: int = 0
    """Of the whole reply; 0 until its head is there."""

    def send(self, request: bytes) -> None:
        self.reply.clear()
        self.length = self.came = 0
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def has_reply(self) -> bool:
        """Take in what has come; return whether the reply is whole. Of a long one the start is kept."""
        came = self.socket.recv_into(_BUFFER)
        if not came:
            raise ConnectionError("the server hung up")
        self.came += came
        if self.came <= _KEPT or not self.length:
            self.reply += memoryview(_BUFFER)[:came]
        if not self.length:
            end = self.reply.find(_END_OF_HEAD)
            if end < 0:
                return False
            place = self.reply.lower().index(_LENGTH, 0, end) + len(_LENGTH)
            self.length = end + len(_END_OF_HEAD) + int(self.reply[place : self.reply.index(b"\r", place)])
        return self.came >= self.length


def request(method: str, path: str, body: bytes, token: str = "", range_: tuple[int, int] | None = None) -> bytes:
    """Return the bytes of one request; `range_`: the first byte of a file that it asks for, and the one after it."""
    more = f"authorization: Bearer {token}\r\n" if token else ""
    more += f"range: bytes={range_[0]}-{range_[1] - 1}\r\n" if range_ else ""
    head = f"{method} {path} HTTP/1.1\r\nhost: bench\r\n{more}content-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


def send(port: int, chains: Sequence[Chain], connections: int) -> Load:
    """Return how it went to send every request of every chain; anything but a 200 or a part of a file ends it."""
    waiting = iter(chains)
    waits: list[float] = []
    with selectors.DefaultSelector() as selector:
        for chain in [chain for chain, _ in zip(waiting, range(connections), strict=False)]:
            opened = socket.create_connection(("127.0.0.1", port))
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(opened, selectors.EVENT_READ, _Connection(opened, iter(chain)))
        open_ = [key.data for key in selector.get_map().values()]
        gc.disable()
        began = time.perf_counter()
        try:
            for connection in open_:
                connection.send(next(connection.left))
            busy = len(open_)
            while busy:
                for key, _ in selector.select():
                    connection = key.data
                    if not connection.has_reply():
                        continue
                    waits.append((time.perf_counter() - connection.sent_at) * 1000)
                    if not connection.reply.startswith((b"HTTP/1.1 200", b"HTTP/1.1 206")):
                        raise RuntimeError(connection.reply.decode(errors="replace"))
                    following = next(connection.left, None)
                    if following is None:
                        connection.left = iter(next(waiting, ()))
                        following = next(connection.left, None)
                    if following is None:
                        busy -= 1
                    else:
                        connection.send(following)
            return Load(time.perf_counter() - began, waits)
        finally:
            gc.enable()
            for connection in open_:
                connection.socket.close()
