"""An ssh server from a wheel, for machines whose system has none: `python -m support.ssh_server config.json`.

It runs every command by the shell, as whoever started it, with the variables that it was told; it speaks sftp, and
forwards its ports as a real one does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import asyncssh


class ForwardingServer(asyncssh.SSHServer):
    """Lets whoever logs in listen on ports here (`ssh -R`), and reach those that others listen on (`ssh -L`)."""

    def server_requested(self, listen_host: str, listen_port: int) -> bool:
        return True

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        return dest_host == "127.0.0.1"


async def serve(config: dict[str, Any]) -> None:
    """Serve until the process is stopped."""
    environment = {**os.environ, **config["environment"]}

    async def handle(process: asyncssh.SSHServerProcess[bytes]) -> None:
        child = await asyncio.create_subprocess_exec(
            "/bin/sh", "-c", process.command or "exit 1", cwd=environment["HOME"], env=environment,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert child.stdin is not None
        sending = asyncio.create_task(_hand_on(process.stdin, child.stdin, ends=True))
        await asyncio.gather(_hand_on(child.stdout, process.stdout), _hand_on(child.stderr, process.stderr))
        process.exit(await child.wait())
        sending.cancel()

    server = await asyncssh.create_server(
        ForwardingServer, "127.0.0.1", config["port"], server_host_keys=[config["host_key"]],
        authorized_client_keys=config["authorized_keys"], process_factory=handle, encoding=None,
        sftp_factory=True,
    )  # fmt: skip
    await server.wait_closed()


async def _hand_on(source: Any, target: Any, *, ends: bool = False) -> None:
    """Write all that is read. A channel that has ended both ways would close before it tells how the command ended."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
        if ends:
            target.write_eof()


if __name__ == "__main__":
    asyncio.run(serve(json.loads(Path(sys.argv[1]).read_text("utf-8"))))
