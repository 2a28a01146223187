"""A fresh machine of Debian, booted by systemd and on a network of its own, takes a study without root and index."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import DeployError
from beholder.testing import write_study
from support.acme_authority import AcmeAuthority, acme_authority
from support.bare_machine import BareMachine, bare_machine
from support.deployed_study import DeployedStudy

NAME = "study.beholder.test"


@pytest.fixture
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BareMachine]:
    import tempfile

    # On a disk: where temporary files are in memory, so would the machine be.
    with (
        tempfile.TemporaryDirectory(prefix="bh-bare-", dir="/var/tmp", ignore_cleanup_errors=True) as folder,
        bare_machine(Path(folder) / "machine") as machine,
    ):
        yield machine


@pytest.fixture
def authority(bare: BareMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AcmeAuthority]:
    look_up = socket.getaddrinfo

    def find(host: Any, *rest: Any, **options: Any) -> Any:
        return look_up(bare.address if host in (NAME, NAME.encode()) else host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", find)  # there is no name server for this
    with acme_authority(tmp_path / "authority", bare.gateway, bare.address) as made:
        yield made


def until_well(online: DeployedStudy) -> None:
    """Wait until people can take part again, as after a boot."""
    ends = time.monotonic() + 240
    while not (status := online.deployment.status()).is_well:
        assert time.monotonic() < ends, status
        time.sleep(0.5)


@pytest.mark.variant
async def test_a_fresh_machine_serves_people_over_a_loss_of_power_by_cron(
    tmp_path: Path, tiny: Path, bare: BareMachine, authority: AcmeAuthority
) -> None:
    given: dict[str, Any] = {
        "address": f"https://{NAME}", "tls": "public", "service": None, "is_volatile": None,
        "acme": authority.directory, "acme_root": str(authority.roots),
    }  # fmt: skip
    design = {"participants": 40, "trials": 2, "seed": 3}
    online = DeployedStudy(write_study(tmp_path / "study", tiny, design=design), bare, given=given)

    # What an administrator has to do is told before anything is done.
    with pytest.raises(DeployError, match=r"machine  does not let this user listen on port 443\. Three ways: ") as told:
        await asyncio.to_thread(online.up)
    line = str(told.value).partition("an administrator runs this line once: ")[2].rstrip(".")
    assert not bare.root.exists()
    bare.as_administrator(line.replace("sudo ", ""))
    with pytest.raises(DeployError, match="packages  cannot be fetched there, as no package index answers"):
        await asyncio.to_thread(online.up)
    assert not bare.root.exists(), "something was left"

    # By cron, with a certificate for a name; packages come from here, and nothing of a compiler is needed.
    deployed = await asyncio.to_thread(online.up, settings={"is_offline": True})
    assert deployed.is_reached, deployed.words
    status = online.deployment.status()
    assert status.service == "cron"
    assert status.certificate_ends is not None
    await online.send(3)
    bare.cut_power()
    bare.boot()
    await asyncio.to_thread(until_well, online)
    await online.send(2, seed=2)
