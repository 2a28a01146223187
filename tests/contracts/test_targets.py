"""Every target keeps the contract of targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.deployment.here import HereTarget
from beholder.deployment.ssh import SshTarget
from beholder.testing import check_target
from support.ssh_machine import ssh_machine
from support.this_machine import this_machine


@pytest.mark.parametrize("server", ["sshd", "wheel"])
def test_a_machine_behind_ssh_keeps_the_contract(server: str, tmp_path: Path) -> None:
    with ssh_machine(tmp_path / "machine", server=server) as machine:
        check_target(lambda: SshTarget(machine.to, str(machine.config)))


def test_this_machine_keeps_the_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with this_machine(tmp_path / "machine", monkeypatch):
        check_target(HereTarget)
