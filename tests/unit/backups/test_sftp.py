"""Backups by sftp, against a real sshd."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from beholder.backups.destinations import DestinationAway, open_destination
from beholder.errors import BackupError
from support.backed_up_store import check_destination
from support.ssh_machine import SshMachine, ssh_machine


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshMachine]:
    with ssh_machine(tmp_path_factory.mktemp("sftp")) as one:
        yield one


@pytest.fixture
def own_config(machine: SshMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEHOLDER_SSH_CONFIG", str(machine.config))


@pytest.mark.usefixtures("own_config")
def test_a_folder_there_keeps_the_contract_whatever_its_name(machine: SshMachine, tmp_path: Path) -> None:
    folder = machine.folder / "my backups" / "walk, 1"
    check_destination(open_destination(f"sftp://machine{folder}".replace(" ", "%20")), tmp_path)


@pytest.mark.usefixtures("own_config")
def test_a_file_there_is_for_its_owner_and_what_was_left_half_sent_goes(machine: SshMachine, tmp_path: Path) -> None:
    folder = machine.folder / "owned"
    folder.mkdir()
    (folder / ".partial-walk.walk.0.age").write_bytes(b"half")
    file = tmp_path / "file"
    file.write_bytes(b"x")
    place = open_destination(f"sftp://machine{folder}")
    assert place.names() == []
    place.put("walk.1.age", file)
    assert [path.name for path in folder.iterdir()] == ["walk.1.age"]
    assert (folder / "walk.1.age").stat().st_mode & 0o777 == 0o600


def test_a_machine_that_refuses_or_is_gone_is_away(
    machine: SshMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text(machine.config.read_text("utf-8").replace("user_key", "other_key"), "utf-8")
    monkeypatch.setenv("BEHOLDER_SSH_CONFIG", str(config))
    with pytest.raises(DestinationAway) as caught:
        open_destination("sftp://machine/x").names()
    assert "Permission denied" in str(caught.value)
    assert str(caught.value).endswith(
        "`sftp machine` has to work here without a password: by a key, and with the host known."
    )
    config.write_text(machine.config.read_text("utf-8").replace(f"Port {machine.port}", "Port 9"), "utf-8")
    with pytest.raises(DestinationAway, match="Connection refused"):
        open_destination("sftp://machine/x").put("a", config)


def test_without_the_program_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(BackupError) as caught:
        open_destination("sftp://ada@host/x")
    assert str(caught.value) == (
        "sftp://ada@host/x  needs the program sftp, which is not on PATH. Install OpenSSH (on Debian openssh-client)."
    )
