"""A bare machine: a root tree of Debian made by mmdebstrap, booted by systemd in namespaces, on a network of its own.

It has what a fresh server has (sshd, cron, systemd, Python) and reaches no other network. Who may not make namespaces,
or lacks the programs, skips its tests.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from support.ssh_machine import make_key
from support.system_programs import need_programs

TREE = "BEHOLDER_BARE_TREE"
"""The variable that names a tar of a root tree made before, as making one takes minutes."""
_PROGRAMS = ("systemd-nspawn", "ip", "nsenter", "tar", "ssh", "chroot")
_PACKAGES = (
    "openssh-server", "python3", "cron", "systemd", "systemd-sysv", "dbus", "dbus-user-session", "libpam-systemd",
    "iproute2", "procps",
)  # fmt: skip
_USER = "ada"


@dataclass
class BareMachine:
    """A machine with a user of its own, booted and reached by ssh."""

    folder: Path
    tree: Path
    name: str
    network: str
    process: subprocess.Popen[bytes] | None = field(default=None)

    to = "machine"

    @property
    def address(self) -> str:
        """The number under which this machine reaches it."""
        return f"{self.network}.2"

    @property
    def gateway(self) -> str:
        """The number under which it reaches this machine, and nothing else."""
        return f"{self.network}.1"

    @property
    def config(self) -> Path:
        return self.folder / "ssh_config"

    @property
    def home(self) -> Path:
        return self.tree / "home" / _USER

    @property
    def root(self) -> Path:
        """Where deployments are."""
        return self.home / ".beholder"

    def boot(self) -> None:
        """Boot it, and return when its sshd answers."""
        command = [
            "systemd-nspawn", "--quiet", f"--directory={self.tree}", "--boot", "--register=no", "--keep-unit",
            "--network-veth", f"--machine={self.name}", "--console=pipe",
        ]  # fmt: skip
        with (self.folder / "console.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        link = f"ve-{self.name}"
        _until(lambda: _runs("ip", "link", "show", link), "its network")
        subprocess.run(["ip", "address", "add", f"{self.gateway}/30", "dev", link], check=True)
        subprocess.run(["ip", "link", "set", link, "up"], check=True)
        inside = ["nsenter", "--target", str(self._leader()), "--net", "ip"]
        for words in (
            ["address", "add", f"{self.address}/30", "dev", "host0"],
            ["link", "set", "host0", "up"],
            ["link", "set", "lo", "up"],
        ):
            subprocess.run([*inside, *words], check=True)
        _until(self._answers, "its sshd")

    def cut_power(self) -> None:
        """Kill everything there at once."""
        assert self.process is not None
        if self.process.poll() is None:
            os.kill(self._leader(), signal.SIGKILL)
        self.process.wait()
        _until(lambda: not _runs("ip", "link", "show", f"ve-{self.name}"), "its end")

    def as_administrator(self, line: str) -> None:
        """Run a line as root there."""
        command = ["nsenter", "--target", str(self._leader()), "--all", "sh", "-c", line]
        ran = subprocess.run(command, capture_output=True, text=True)
        assert ran.returncode == 0, f"{line}: {ran.stdout}{ran.stderr}"

    def processes(self, words: str) -> list[psutil.Process]:
        """Return the processes there with these words."""
        assert self.process is not None
        found = psutil.Process(self.process.pid).children(recursive=True)
        lines = []
        for one in found:
            with suppress(psutil.Error):
                lines.append((one, " ".join(one.cmdline())))
        return [one for one, line in lines if words in line]

    def _leader(self) -> int:
        assert self.process is not None
        found: list[psutil.Process] = []

        def is_there() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, (self.folder / "console.log").read_text("utf-8", "replace")
            found[:] = psutil.Process(self.process.pid).children()
            return bool(found)

        _until(is_there, "its first process")
        return found[0].pid

    def _answers(self) -> bool:
        try:
            with socket.create_connection((self.address, 22), timeout=2) as connection:
                if not connection.recv(4).startswith(b"SSH"):
                    return False
        except OSError:
            return False
        return _runs("ssh", "-F", str(self.config), "-o", "ConnectTimeout=5", self.to, "true")


def _runs(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0


def _until(is_so: object, what: str) -> None:
    ends = time.monotonic() + 180
    assert callable(is_so)
    while not is_so():
        assert time.monotonic() < ends, f"{what} did not come"
        time.sleep(0.05)


@contextmanager
def bare_machine(folder: Path) -> Iterator[BareMachine]:
    """Yield a machine that was just booted; skip where none can be made."""
    tar = os.environ.get(TREE, "")
    if os.name == "nt" or os.geteuid() != 0:
        pytest.skip("no bare machine: needs root on Linux")
    need_programs(*_PROGRAMS, *(() if tar else ("mmdebstrap",)), for_what="no bare machine")
    tree = folder / "tree"
    tree.mkdir(parents=True)
    if tar:
        subprocess.run(["tar", "-C", str(tree), "-xf", tar], check=True)
    else:
        include = f"--include={','.join(_PACKAGES)}"
        made = subprocess.run(
            ["mmdebstrap", "--variant=minbase", include, "bookworm", str(tree)], capture_output=True, text=True
        )
        if made.returncode:
            pytest.skip(f"no bare machine: {made.stderr.strip().splitlines()[-1:]}")
    # One of many at a time: a network for each process that tests.
    number = os.getpid() % 16000
    machine = BareMachine(folder, tree, f"bh{number}", f"10.{200 + number // 256 % 50}.{number % 256}")
    for key in ("user_key", "host_key"):
        make_key(folder / key)
    _set_up(machine)
    try:
        machine.boot()
        yield machine
    finally:
        if machine.process is not None:
            machine.cut_power()


def _set_up(machine: BareMachine) -> None:
    """Give it a user with a key, and know its own."""
    tree, folder = machine.tree, machine.folder
    subprocess.run(["chroot", str(tree), "useradd", "--create-home", "--shell", "/bin/bash", _USER], check=True)
    subprocess.run(["chroot", str(tree), "passwd", "--quiet", "--delete", _USER], check=True)
    for suffix in ("", ".pub"):
        shutil.copy(folder / f"host_key{suffix}", tree / "etc" / "ssh" / f"ssh_host_ed25519_key{suffix}")
    keys = machine.home / ".ssh"
    keys.mkdir(mode=0o700)
    shutil.copy(folder / "user_key.pub", keys / "authorized_keys")
    (keys / "authorized_keys").chmod(0o600)
    owner = machine.home.stat()
    for path in (keys, keys / "authorized_keys"):
        os.chown(path, owner.st_uid, owner.st_gid)
    (tree / "etc" / "hostname").write_text("machine\n", "utf-8")
    known = (folder / "host_key.pub").read_text("utf-8").split()[:2]
    (folder / "known_hosts").write_text(f"{machine.address} {' '.join(known)}\n", "utf-8")
    client = {
        "HostName": machine.address, "User": _USER, "IdentitiesOnly": "yes", "IdentityFile": folder / "user_key",
        "UserKnownHostsFile": folder / "known_hosts", "StrictHostKeyChecking": "yes", "IdentityAgent": "none",
        "HostKeyAlgorithms": "ssh-ed25519",
    }  # fmt: skip
    lines = ["Host machine", *(f"  {key} {value}" for key, value in client.items())]
    machine.config.write_text("\n".join([*lines, ""]), "utf-8")
