"""A machine behind ssh: what ssh says becomes what to do about it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from beholder.deployment.contract import MachineUnreachable
from beholder.deployment.program import find_python
from beholder.deployment.ssh import SshTarget, connection_problem
from beholder.errors import DeployError
from support.ssh_machine import SshMachine, ssh_machine
from support.system_programs import need_ssh


def refusal(machine: SshMachine) -> str:
    with pytest.raises(DeployError) as refused, SshTarget(machine.to, str(machine.config)).connect() as connected:
        find_python(connected)
    return str(refused.value)


def test_keys_and_hosts_are_checked(tmp_path: Path) -> None:
    with ssh_machine(tmp_path / "machine") as machine:
        folder = machine.folder
        shutil.copy(folder / "other_key.pub", folder / "authorized_keys")
        assert refusal(machine).startswith("machine  does not take your key (")
        assert refusal(machine).endswith(
            "See that `ssh machine` works without a question: `ssh-copy-id machine` puts your key there, and `ssh-add` "
            "gives a key with a passphrase to your agent."
        )
        other = (folder / "other_key.pub").read_text("utf-8").split()[:2]
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{machine.port} {' '.join(other)}\n", "utf-8")
        assert refusal(machine) == (
            "machine  shows another host key than the one that you know. It is another machine than before, or was set "
            "up anew. Ask who runs it, compare the fingerprint, and only then `ssh-keygen -R machine` and `ssh "
            "machine`. Nothing was sent."
        )
        (folder / "known_hosts").write_text("", "utf-8")
        assert refusal(machine) == (
            "machine  is not among the hosts that you know. Connect once by `ssh machine`, and compare the fingerprint "
            "with what its administrator says."
        )


def test_a_connection_that_the_person_has_opened_is_used_and_stays(tmp_path: Path) -> None:
    with ssh_machine(tmp_path / "m") as machine, tempfile.TemporaryDirectory(prefix="bh-") as short:
        config = machine.config.read_text("utf-8")
        machine.config.write_text(f"{config}  ControlPath {short}/own\n", "utf-8")
        command = ["ssh", "-F", str(machine.config), "-o", "ControlMaster=yes", "-fN", machine.to]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        check = ["ssh", "-F", str(machine.config), "-O", "check", machine.to]
        (machine.folder / "authorized_keys").write_text("", "utf-8")  # as where a second factor would be asked for
        try:
            with SshTarget(machine.to, str(machine.config)).connect() as connected:
                assert connected.run(["echo", "reached"]).out == b"reached\n"
            assert subprocess.run(check, capture_output=True).returncode == 0
        finally:
            subprocess.run([*command[:3], "-O", "exit", machine.to], capture_output=True)


def test_a_python_that_is_too_old_is_told_with_how_to_get_one(tmp_path: Path) -> None:
    old = '#!/bin/sh\necho "3.9.2 $0"\n'
    names = ("python3.15", "python3.14", "python3.13", "python3.12", "python3.11", "python3")
    with ssh_machine(tmp_path / "machine", dict.fromkeys(names, old)) as machine:
        assert refusal(machine) == (
            "machine  has Python 3.9.2. Allowed: Python 3.11 or later. An administrator installs it, such as by "
            "`apt install python3`; or you do, without one: `curl -LsSf https://astral.sh/uv/install.sh | sh`, then "
            "`~/.local/bin/uv python install 3.12`."
        )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("ssh: Could not resolve hostname lab: Name or service not known", "has a name that nobody knows"),
        ("ssh: connect to host lab port 22: Connection refused", "does not answer (ssh: connect to host lab port 22"),
        ("ssh: connect to host lab port 22: Connection timed out", "does not answer (ssh: connect to host lab port 22"),
        ("client_loop: send disconnect: Broken pipe", "was left by ssh: client_loop: send disconnect: Broken pipe"),
    ],
)
def test_what_ssh_says_is_told_in_words(said: str, words: str) -> None:
    assert words in str(connection_problem("ada@lab", said))


def test_a_place_that_ssh_would_read_as_an_option_is_refused() -> None:
    need_ssh()  # else that is told as well
    with pytest.raises(DeployError) as refused, SshTarget("-oProxyCommand=evil").connect():
        pass
    assert str(refused.value) == (
        "--to  is -oProxyCommand=evil. Allowed: user@host, or a name from your ssh configuration."
    )


def test_without_the_program_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(DeployError) as refused, SshTarget("ada@lab").connect():
        pass
    assert str(refused.value) == (
        "ssh  is not on this machine. Install OpenSSH's client: `apt install openssh-client`, or on Windows under "
        "Optional features."
    )


def test_a_machine_that_is_not_there_is_unreachable(tmp_path: Path) -> None:
    need_ssh()
    config = tmp_path / "config"
    config.write_text("Host machine\n  HostName 127.0.0.1\n  Port 1\n", "utf-8")
    with pytest.raises(MachineUnreachable, match="does not answer"), SshTarget("machine", str(config)).connect() as one:
        one.run(["true"])
