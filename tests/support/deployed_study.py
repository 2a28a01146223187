"""A study on a machine behind a real sshd, for tests that deploy."""

from __future__ import annotations

import contextlib
import signal
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.deployment import Deployment
from beholder.deployment.journal import Event, Journal
from beholder.deployment.rollout import Deployed, roll_out
from beholder.methods import load_study
from beholder.server.process import load_served
from beholder.simulation.crowd import SimulatedVisitors, send_robots
from beholder.simulation.robot import Robot
from beholder.store.open import open_store
from support.bare_machine import BareMachine
from support.server_process import free_port
from support.ssh_machine import SshMachine


@dataclass
class DeployedStudy:
    """A study here, the machine to which it goes, and the address at which it is served by Caddy's own authority."""

    study: Path
    machine: SshMachine | BareMachine
    port: int = field(default_factory=free_port)
    database: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    """Settings in place of those that tests usually have."""

    @property
    def address(self) -> str:
        return str(self.given.get("address", f"https://127.0.0.1:{self.port}"))

    @property
    def roots(self) -> str:
        """The file of the authority that people have to trust."""
        return str(self.given.get("acme_root", self.journal.folder / "root.crt"))

    @property
    def name(self) -> str:
        return load_study(self.study).name

    @property
    def settings(self) -> dict[str, Any]:
        """What `up` is told: a disk in memory is taken, as tests are there."""
        return {
            "to": self.machine.to, "address": self.address, "tls": "internal", "service": "cron",
            "ssh_config": str(self.machine.config), "is_volatile": True, "store": self.database or None,
            **self.given,
        }  # fmt: skip

    @property
    def journal(self) -> Journal:
        return Journal(self.study.parent)

    @property
    def there(self) -> Path:
        """The folder of the deployment on the machine."""
        return self.machine.root / self.name

    @property
    def store(self) -> str:
        """Where the answers are: on the machine, or in a database."""
        return self.database or str(self.there / "store")

    @property
    def deployment(self) -> Deployment:
        return Deployment(self.study)

    def up(self, **options: Any) -> Deployed:
        settings = {**self.settings, **options.pop("settings", {})}
        return roll_out(load_study(self.study), self.study.name, settings, **options)

    async def come(self, token: str = "") -> dict[str, Any]:
        """Let a person open the page and agree, or come back with a token; return the arrival."""
        trusted = ssl.create_default_context(cafile=self.roots)
        async with httpx.AsyncClient(base_url=self.address, verify=trusted, timeout=60) as client:
            params = {"resume": token} if token else {}
            body = {"study": self.name, "params": params, "device": {"width": 1280}, "token": token}
            arrived = await client.post("/api/arrive", json=body)
            arrival: dict[str, Any] = arrived.raise_for_status().json()
            if not token:
                sent = {"answer": {"agree": True}, "events": [], "tab": "t1", "shown_ms": 1, "sent_ms": 2}
                head = {"authorization": f"Bearer {arrival['token']}"}
                answered = await client.put(f"/api/answers/{arrival['step']['key']}", json=sent, headers=head)
                arrival["step"] = answered.raise_for_status().json()["step"]
        return arrival

    async def visit(self, *queries: str) -> list[str]:
        """Let people take the study, each by the link with a query; return how it ended for each."""
        served, _ = load_served(load_study(self.study), self.address)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SSL_CERT_FILE", self.roots)
            async with open_store(self.store, write=False) as reader:
                visitors = SimulatedVisitors(served, reader, waits=False)
                return [(await visitors.visit(f"{self.address}/s/{self.name}?{query}")).outcome for query in queries]

    async def send(self, count: int, seed: int = 1, sent: list[Robot] | None = None) -> list[Robot]:
        """Send robots through the public address, who trust the authority that `up` has brought home."""
        robots: list[Robot] = [] if sent is None else sent
        served, _ = load_served(load_study(self.study), self.address)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SSL_CERT_FILE", self.roots)
            async with open_store(self.store, write=False) as reader:
                await send_robots(served, reader, self.address, count, seed=seed, patience_s=120, robots=robots)
        return robots


async def stored_answers(store: Path | str) -> dict[tuple[str, str], Any]:
    """Return the answers in a store by session and step."""
    async with open_store(store, write=False) as reader:
        return {(row["session"], row["key"]): row["answer"] async for row in reader.rows("answers")}


class KilledError(BaseException):
    """What stands for a kill: nothing in the package catches it."""


class MortalJournal(Journal):
    """A journal whose process dies at the first entry at which none has died before."""

    def __init__(self, folder: Path, survived: set[tuple[str, Event]], *, writes_last: bool) -> None:
        super().__init__(folder)
        self._survived, self._writes_last = survived, writes_last

    def write(self, deployment: str, step: str, event: Event, facts: Any = None) -> None:
        is_last = (step, event) not in self._survived
        self._survived.add((step, event))
        if not is_last or self._writes_last:
            super().write(deployment, step, event, facts)
        if is_last:
            raise KilledError


FEW: frozenset[tuple[str, Event]] = frozenset({("serve", "planned"), ("remove", "planned")})
"""Where a process dies in `make test`; in `make prove` at every entry, before it is written and after."""


def die_at_entries(
    act: Callable[[Journal], object], folder: Path, *, writes_last: bool, is_whole: bool
) -> set[tuple[str, Event]]:
    """Repeat an act, which dies at another entry each time, until it comes to its end; return where it died."""
    steps = ("begin", "claim", "environment", "study", "serve", "site", "reached", "arrivals", "stop", "pull", "remove")
    events: tuple[Event, ...] = ("planned", "done")
    every = {(step, event) for step in (*steps, "end") for event in events}
    survived = set() if is_whole else every - FEW
    before = set(survived)
    while True:
        try:
            act(MortalJournal(folder, survived, writes_last=writes_last))
            return survived - before
        except KilledError:
            continue


# A process that deploys, and is killed


def command_of(online: DeployedStudy, verb: str) -> list[str]:
    """Return the command line of a verb, as a person types it."""
    line = [sys.executable, "-m", "beholder", "deploy", verb, str(online.study)]
    if verb == "up":
        settings = online.settings
        line += ["--to", settings["to"], "--address", settings["address"], "--tls", settings["tls"], "--volatile"]
        line += ["--service", settings["service"], "--ssh-config", settings["ssh_config"]]
    return line


def kill_at_step(online: DeployedStudy, verb: str, step: str, delay_s: float, by: int = signal.SIGKILL) -> bool:
    """Start a verb, and kill its process (kill -9) that long after it has begun a step; return whether it was there.

    `by` is another signal, such as that of Ctrl-C: then what it prints on its way out may be no traceback.
    """
    seen = sum((one.step, one.event) == (step, "planned") for one in online.journal.entries())
    with (
        tempfile.TemporaryFile() as printed,
        subprocess.Popen(
            command_of(online, verb), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=printed
        ) as process,
    ):
        while process.poll() is None:
            if sum((one.step, one.event) == (step, "planned") for one in online.journal.entries()) > seen:
                # Some way into the step, which may be over by then.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(delay_s)
                process.send_signal(by)
                process.wait()
                printed.seek(0)
                assert b"Traceback" not in printed.read()
                return True
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.01)
    return False
