"""`beholder serve` as a process of its own, for tests that kill it."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import httpx
import pytest


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def health(port: int) -> dict[str, Any]:
    """Return what the server on a port of this machine tells a balancer."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        return dict((await client.get("/healthz")).json())


class Service:
    """A running `beholder serve`."""

    def __init__(self, study: Path, store: str, port: int, *more: str, stderr: IO[bytes] | None = None) -> None:
        command = [sys.executable, "-m", "beholder", "serve", str(study), "--store", store, "--port", str(port), *more]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)
        self.address = f"http://127.0.0.1:{port}"

    async def until_ready(self) -> None:
        """Wait until the server answers."""
        async with httpx.AsyncClient(base_url=self.address, timeout=60) as client:
            while self.process.poll() is None:
                try:
                    if (await client.get("/healthz")).status_code == 200:
                        return
                except httpx.TransportError:
                    await asyncio.sleep(0.02)
        raise AssertionError(f"the server ended with {self.process.returncode}")

    async def kill_parent(self) -> None:
        """Kill the started process immediately."""
        self.process.kill()
        await asyncio.to_thread(self.process.wait)

    async def is_silent(self) -> None:
        """Check that no process answers any more."""
        async with httpx.AsyncClient(base_url=self.address, timeout=60) as client:
            with pytest.raises(httpx.TransportError):
                await client.get("/healthz")

    async def kill(self) -> None:
        """Kill the answering process, and check that no process answers any more."""
        await self.kill_parent()
        await self.is_silent()
