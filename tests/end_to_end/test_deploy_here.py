"""A study on this machine itself: through a tunnel program, and through a machine of one's own over ssh."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from beholder.deployment import Deployment
from beholder.deployment.journal import DeploymentRecord, Journal
from beholder.deployment.rollout import Deployed, roll_out
from beholder.errors import DeployError
from beholder.methods import load_study
from beholder.server.process import load_served
from beholder.simulation.crowd import send_robots
from beholder.simulation.robot import Robot
from beholder.store.open import open_store
from beholder.testing import write_study
from beholder.testing.tunnels import pass_on
from support.deployed_study import stored_answers
from support.server_process import free_port
from support.ssh_machine import SshMachine, ssh_machine
from support.this_machine import this_machine


def up(study: Path, **options: Any) -> Deployed:
    given = {"to": "here", "service": "cron", "is_volatile": True, **options.pop("settings", {})}
    return roll_out(load_study(study), study.name, given, **options)


def record_of(study: Path) -> DeploymentRecord:
    record = Journal(study.parent).current()
    assert record is not None
    return record


async def take_part(study: Path, machine: SshMachine, address: str, count: int = 1) -> int:
    """Send robots through the public address, and return how many answers were acknowledged."""
    served, _ = load_served(load_study(study), address)
    async with open_store(machine.root / served.study.name / "store", write=False) as reader:
        robots: list[Robot] = []
        await send_robots(served, reader, address, count, seed=1, patience_s=60, robots=robots)
    return sum(len(robot.acknowledged) for robot in robots)


def process_of(machine: SshMachine, words: str) -> psutil.Process:
    """Return the process with these words that is no supervisor; one that was killed may be about to be back."""
    ends = time.monotonic() + 60
    while True:
        for one in psutil.process_iter(["cmdline"]):
            line = " ".join(one.info["cmdline"] or ())
            if words in line and str(machine.folder) in line and "supervise" not in line:
                return one
        assert time.monotonic() < ends, f"no process with {words}"


@pytest.mark.variant
async def test_a_laptop_serves_a_study_through_a_tunnel(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = write_study(tmp_path / "study", tiny)
    with this_machine(tmp_path / "laptop", monkeypatch, "cloudflared") as machine:
        announced = await asyncio.to_thread(up, study, dry_run=True)
        assert "2. Let cloudflared lead people from an address that it gives." in announced.words
        assert announced.words[-2:] == (
            "Public: an address that is told then, through cloudflared; Cloudflare ends TLS, so that its machines see "
            "what passes. Nothing else listens to other machines.",
            "Cost: nothing extra.",
        )
        assert [str(warning) for warning in announced.warnings][-1] == (
            "here  serves people only while it is on and online. Let it not sleep, and stay where the network is, "
            "until `beholder deploy down`."
        )
        assert not machine.root.exists()

        deployed = await asyncio.to_thread(up, study)
        assert deployed.is_reached
        address = deployed.link.removesuffix("/s/tiny")
        assert record_of(study).settings["address"] == address
        acknowledged = await take_part(study, machine, address)
        online = Deployment(study)

        # A tunnel that is started again has another address: status says so, `up` follows.
        process_of(machine, "cloudflared tunnel").kill()
        log = machine.root / "tiny" / "tunnel" / "tunnel.log"
        while len(set(re.findall(r"https://127\.0\.0\.1:\d+", log.read_text("utf-8")))) < 2:
            await asyncio.sleep(0.05)
        status = online.status()
        assert "is over: the tunnel began anew, at https://127.0.0.1:" in status.outside
        assert not status.is_well
        moved = await asyncio.to_thread(up, study)
        assert moved.is_reached
        assert moved.link != deployed.link
        assert online.status().is_well

        # Verbs there know the address, and that it ends with this machine.
        record = (machine.root / "tiny" / "deployment.json").read_text("utf-8")
        assert moved.link.removesuffix("/s/tiny") in record
        gone = await asyncio.to_thread(online.down)
        assert gone.words[0] == "Nothing of tiny is left on this machine."
        assert len(await stored_answers(study.parent / "store")) == acknowledged
        assert machine.processes() == []
        assert not machine.root.exists()
        assert not machine.crontab.exists()


@pytest.mark.variant
async def test_a_laptop_is_reached_through_a_machine_of_ones_own(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = write_study(tmp_path / "study", tiny)
    with (
        ssh_machine(tmp_path / "own-host") as host,
        this_machine(tmp_path / "laptop", monkeypatch, "ngrok") as machine,
    ):
        port = free_port()
        address = f"https://127.0.0.1:{port}"
        settings = {"via": host.to, "address": address, "ssh_config": str(host.config)}
        announced = await asyncio.to_thread(up, study, settings=settings, dry_run=True)
        assert announced.words[-2] == (
            f"Public: {address}, through the proxy on machine; the server itself is reached from its own machine only. "
            "Nothing else listens to other machines."
        )
        first = await asyncio.to_thread(up, study, settings=settings)
        assert not first.is_reached
        there = record_of(study).done["tunnel"]["port"]
        lines = "\n".join(first.words)
        assert "Let the proxy on machine pass people on. Paste one of these:" in lines
        assert f"proxy_pass http://127.0.0.1:{there};" in lines

        # Somebody pastes them. From then on people come, also after the connection was lost.
        proxy = await pass_on(tmp_path / "laptop" / "bin", there, port)
        online = Deployment(study)
        assert (await asyncio.to_thread(online.status)).is_well
        process_of(host, "ExitOnForwardFailure=yes").kill()
        while not (await asyncio.to_thread(online.status)).is_well:
            await asyncio.sleep(0.05)
        acknowledged = await take_part(study, machine, address)
        await asyncio.to_thread(online.down)
        assert len(await stored_answers(study.parent / "store")) == acknowledged
        assert machine.processes() == []
        proxy.close()


def test_no_tunnel_program_is_told_before_anything_is_done(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = write_study(tmp_path / "study", tiny)
    with this_machine(tmp_path / "laptop", monkeypatch) as machine:
        with pytest.raises(DeployError) as refused:
            up(study)
        assert str(refused.value) == (
            "here  has no tunnel program. Allowed: cloudflared, tailscale, ngrok. Install cloudflared (no account "
            "needed), tailscale or ngrok; or take a machine of yours, --via user@host with --address; or a name that "
            "leads to it, --address https://study.example.org."
        )
        with pytest.raises(DeployError, match="here  has no ngrok"):
            up(study, settings={"tunnel": "ngrok"})
        assert list(machine.home.iterdir()) == []
