"""A real deployment on this machine, for the picture of `deploy status`: Caddy, a supervisor, people and a backup."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

import beholder
from beholder.backups.encryption import default_identity, make_key
from beholder.deployment.access import DeploymentStatus
from beholder.methods import load_study
from beholder.server.process import load_served
from beholder.simulation.crowd import SimulatedVisitors
from beholder.store.open import open_store

_CRONTAB = """#!/bin/sh
# crontab with a file of its own: that of whoever makes the docs stays as it is
case "$1" in
  -l) if [ -f "{file}" ]; then cat "{file}"; else echo "no crontab for docs" >&2; exit 1; fi ;;
  -r) rm -f "{file}" ;;
  -) cat > "{file}" ;;
esac
"""


def status_of_a_deployment(study: Path, scratch: Path) -> DeploymentStatus:
    """Deploy a study on this machine, let people take it, bring a copy home, and return how it is before it goes."""
    with _fresh_user(scratch):
        make_key(default_identity())
        text = yaml.safe_load(study.read_text("utf-8"))
        # Simulated people answer at once.
        text |= {"backup": str(scratch / "backups"), "playback": {"watch": "none"}}
        study.write_text(yaml.safe_dump(text, sort_keys=False), "utf-8")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = f"https://127.0.0.1:{probe.getsockname()[1]}"
        online = beholder.deploy(
            study, to="here", address=address, tls="internal", service="cron", volatile=True,
            tell=lambda line: print(line, file=sys.stderr),
        )  # fmt: skip
        try:
            os.environ["SSL_CERT_FILE"] = str(study.parent / "deploy" / "root.crt")
            asyncio.run(_visit(study, address, 3))
            beholder.backup(study, store=str(scratch / "home" / ".beholder" / load_study(study).name / "store"))
            online.pull()
            return online.status()
        finally:
            online.down(wait="1 s", anyway="the picture was taken")


async def _visit(study: Path, address: str, count: int) -> None:
    loaded = load_study(study)
    served, _ = await asyncio.to_thread(load_served, loaded, address)
    store = Path.home() / ".beholder" / loaded.name / "store"
    async with open_store(store, write=False) as reader:
        visitors = SimulatedVisitors(served, reader, waits=False)
        for number in range(count):
            await visitors.visit(f"{address}/s/{loaded.name}?participant=person-{number}")


@contextmanager
def _fresh_user(scratch: Path) -> Iterator[None]:
    """Be somebody with an empty home and a crontab of their own, for as long as a block runs."""
    before, tools = dict(os.environ), scratch / "bin"
    cache = subprocess.run(
        [str(Path(sys.executable).with_name("uv")), "cache", "dir"], capture_output=True, text=True, check=True
    )
    for folder in (tools, scratch / "home"):
        folder.mkdir(parents=True)
    (tools / "crontab").write_text(_CRONTAB.format(file=scratch / "crontab"), "utf-8")
    (tools / "crontab").chmod(0o755)
    found = [str(Path(sys.executable).parent), *(str(Path(one).parent) for one in [shutil.which("caddy")] if one)]
    os.environ |= {
        "HOME": str(scratch / "home"), "XDG_CONFIG_HOME": str(scratch / "home" / ".config"),
        "PATH": os.pathsep.join([str(tools), *found, before["PATH"]]), "UV_CACHE_DIR": cache.stdout.strip(),
        "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
