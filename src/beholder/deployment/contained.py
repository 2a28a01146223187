"""What the Beholder in a container is asked from outside: how it is, a copy of its answers, and to run a verb.

    python -m beholder.deployment.contained state study.yaml 8000

It runs in the container of the server, or in one beside the same volumes, and prints one line of JSON; `export` prints
the bytes of files after it. Where the answers are is told by BEHOLDER_STORE, as to every verb.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from beholder.deployment.machine.handed_files import forget_handed, put_handed, read_handed
from beholder.deployment.machine.machine_facts import free_memory
from beholder.deployment.machine.snapshot import describe_copies
from beholder.deployment.served import people, store_of
from beholder.errors import UserError
from beholder.store.full_copy import copy_store


def state(study: str, port: str) -> dict[str, Any]:
    """Return how the server in this container is doing, and what it has to work with."""
    health: dict[str, Any] = {}
    address = f"http://127.0.0.1:{int(port)}/healthz"
    with contextlib.suppress(OSError, ValueError), urllib.request.urlopen(address, timeout=5) as answer:
        health = json.loads(answer.read())
    store = Path(store_of(study))
    files = [path.stat().st_size for path in store.glob("*") if path.is_file()] if store.is_dir() else []
    return {
        **asyncio.run(people(study)), "health": health, "software": version("beholder"), "store_bytes": sum(files),
        "disk_free": shutil.disk_usage(store if files else "/").free, "memory_free": free_memory(), "time": time.time(),
    }  # fmt: skip


def command(study: str) -> dict[str, Any]:
    """Run a verb of Beholder as the request on standard input says, with the files that go along."""
    request, folder = json.loads(sys.stdin.buffer.read()), Path(study).parent
    put_handed(folder, request["files"])
    ran = subprocess.run(
        [sys.executable, "-m", "beholder", *request["arguments"]], cwd=folder, capture_output=True, text=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    files = read_handed(folder)
    forget_handed(folder, files)
    return {"code": ran.returncode, "out": ran.stdout, "err": ran.stderr, "files": files}


def export(study: str) -> None:
    """Print what a copy of the store holds, and then the bytes of its files."""
    with tempfile.TemporaryDirectory(prefix="beholder-export-") as name:
        folder = Path(name) / "copy"
        try:
            copy_store(store_of(study), folder)
            told: dict[str, Any] = {"files": describe_copies(folder)}
        except UserError as error:
            told = {"problems": [asdict(problem) for problem in error.problems]}
        out = sys.stdout.buffer
        out.write(f"{json.dumps(told)}\n".encode())
        for file in told.get("files", ()):
            with (folder / file["name"]).open("rb") as source:
                shutil.copyfileobj(source, out)
        out.flush()


QUESTIONS: dict[str, Callable[..., dict[str, Any]]] = {"command": command, "state": state}


def main(verb: str, study: str, *more: str) -> None:
    """Print the answer to one question."""
    if verb == "export":
        export(study)
        return
    sys.stdout.write(f"{json.dumps(QUESTIONS[verb](study, *more))}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
