"""A desk in a process of its own: it logs in, ends with who started it, and is found while it runs."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx
import pytest

from beholder.desk.companion import connection_or_desk, desk_beside, desk_there, remote_command
from beholder.desk.desk_server import link_to_running
from beholder.errors import UserError
from beholder.testing import write_study
from support.ssh_machine import ssh_machine


def test_a_desk_beside_logs_in_is_found_and_ends_with_who_started_it(tmp_path: Path, tiny: Path) -> None:
    study, accounts = write_study(tmp_path / "study", tiny), tmp_path / "desk.sqlite"
    with desk_beside(study, accounts=accounts) as link:
        address, _, code = link.partition("/login#code=")
        other = link_to_running(study, accounts=accounts)
        assert other is not None
        assert other.startswith(f"{address}/login#code=")
        assert other != link
        with httpx.Client(base_url=address, headers={"origin": address}) as browser:
            assert browser.post("/api/login", json={"code": code}).json()["role"] == "owner"
    with pytest.raises(httpx.ConnectError):
        httpx.get(address)
    assert link_to_running(study, accounts=accounts) is None


def test_why_there_is_no_desk_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error, desk_beside(tmp_path / "nothing", accounts=tmp_path / "desk.sqlite"):
        pass
    assert "holds no study.yaml" in str(error.value)
    assert remote_command("ada@lab", Path("studies/walks")) == ["beholder", "desk", "studies/walks"]
    assert str(connection_or_desk("ada@lab", "bash: beholder: command not found\n")) == (
        "ada@lab  has no Beholder where it was looked for. Deploy the study from here with `beholder deploy up`, or "
        "install Beholder there."
    )
    assert "does not take your key" in str(connection_or_desk("ada@lab", "Permission denied (publickey).\n"))


def test_a_desk_on_another_machine_is_reached_through_ssh(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    program = f'#!/bin/sh\nexec {sys.executable} -m beholder "$@"\n'
    with ssh_machine(tmp_path / "machine", {"beholder": program}) as machine:
        with desk_there("machine", study.parent, config=str(machine.config)) as link:
            address, _, code = link.partition("/login#code=")
            with httpx.Client(base_url=address, headers={"origin": address}) as browser:
                assert browser.post("/api/login", json={"code": code}).json()["role"] == "owner"
        with pytest.raises(httpx.ConnectError):
            httpx.get(address)
