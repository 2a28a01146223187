"""A real sshd on loopback, and behind it a home of its own: the machine to which tests deploy.

Where the system has no sshd, a server from a wheel takes its place; `BEHOLDER_SSH_SERVER=wheel` asks for that one. At
the end of the tests it is said how many of those that deploy were run, by which of them, and how many were skipped.
"""

from __future__ import annotations

import getpass
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.server_process import free_port
from support.system_programs import find_program, need_programs, need_ssh

SSHD = find_program("sshd", is_server=True)
HAS_WHEEL = importlib.util.find_spec("asyncssh") is not None
SERVER = "sshd" if SSHD is not None and os.environ.get("BEHOLDER_SSH_SERVER") != "wheel" else "wheel"
CRONTAB = """#!/bin/sh
# crontab as of the system, with a file of its own: tests do not touch the crontab of whoever runs them
case "$1" in
  -l) if [ -f "{file}" ]; then cat "{file}"; else echo "no crontab for tests" >&2; exit 1; fi ;;
  -r) rm -f "{file}" ;;
  -) cat > "{file}" ;;
esac
"""


@dataclass
class SshMachine:
    """An sshd with keys of its own, and the folder that is the home of whoever logs in."""

    folder: Path
    port: int

    @property
    def to(self) -> str:
        """The name of the machine for ssh."""
        return "machine"

    @property
    def config(self) -> Path:
        """What `--ssh-config` gets: port, key and known hosts."""
        return self.folder / "ssh_config"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def root(self) -> Path:
        """Where deployments are."""
        return self.home / ".beholder"

    @property
    def crontab(self) -> Path:
        return self.folder / "crontab"

    def run_cron(self, when: str) -> None:
        """Run the lines of the crontab for a time, as cron does."""
        environment = {**os.environ, **self.environment}
        for line in self.crontab.read_text("utf-8").splitlines() if self.crontab.is_file() else ():
            if line.startswith(f"{when} "):
                command = line.removeprefix(f"{when} ").replace("\\%", "%")
                subprocess.run(["/bin/sh", "-c", command], env=environment, cwd=self.home, check=True)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of whoever logs in. Packages come from uv's cache: the machine reaches no index."""
        tools = [str(self.folder / "bin"), str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]
        cache = subprocess.run(["uv", "cache", "dir"], capture_output=True, text=True, env=_with_tools(), check=True)
        return {
            "HOME": str(self.home), "PATH": ":".join(tools), "UV_OFFLINE": "1", "UV_LINK_MODE": "symlink",
            "UV_CACHE_DIR": cache.stdout.strip(), "OPENBLAS_NUM_THREADS": "1",
        }  # fmt: skip

    def processes(self) -> list[int]:
        """Return all processes that were started from the home of the machine."""
        import psutil

        return [
            process.pid
            for process in psutil.process_iter(["cmdline"])
            if str(self.root) in " ".join(process.info["cmdline"] or ())
        ]

    def kill_all(self) -> None:
        """Kill everything there at once, as a loss of power does."""
        import psutil

        while found := self.processes():
            for one in found:
                try:
                    psutil.Process(one).kill()
                except psutil.NoSuchProcess:
                    continue


def _with_tools() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@contextmanager
def ssh_machine(
    folder: Path,
    tools: dict[str, str] | None = None,
    server: str = SERVER,
    port: int | None = None,
    **variables: str,
) -> Iterator[SshMachine]:
    """Yield a machine with these programs before the system's, and these variables; skip where there is no server.

    Keys that are in the folder already are its keys.
    """
    need_ssh()
    if not (SSHD if server == "sshd" else HAS_WHEEL):
        pytest.skip("no ssh server: install openssh-server or asyncssh")
    machine = SshMachine(folder, port or free_port())
    machine.home.mkdir(parents=True)
    (folder / "bin").mkdir()
    for name, text in {"crontab": CRONTAB.format(file=machine.crontab), **(tools or {})}.items():
        (folder / "bin" / name).write_text(text, "utf-8")
        (folder / "bin" / name).chmod(0o755)
    for name in ("host_key", "user_key", "other_key"):
        if not (folder / f"{name}.pub").exists():
            make_key(folder / name)
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    known = (folder / "host_key.pub").read_text("utf-8").split()[:2]
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{machine.port} {' '.join(known)}\n", "utf-8")
    settings = {
        "Port": str(machine.port), "ListenAddress": "127.0.0.1", "HostKey": str(folder / "host_key"),
        "PidFile": str(folder / "sshd.pid"), "AuthorizedKeysFile": str(folder / "authorized_keys"),
        "StrictModes": "no", "UsePAM": "no", "PasswordAuthentication": "no", "PrintMotd": "no",
        "KbdInteractiveAuthentication": "no", "PermitRootLogin": "yes", "MaxStartups": "100",
        "Subsystem": "sftp internal-sftp",
        "SetEnv": " ".join(f"{name}={value}" for name, value in {**machine.environment, **variables}.items()),
    }  # fmt: skip
    (folder / "sshd_config").write_text("".join(f"{key} {value}\n" for key, value in settings.items()), "utf-8")
    client = {
        "HostName": "127.0.0.1", "Port": str(machine.port), "User": getpass.getuser(), "IdentitiesOnly": "yes",
        "IdentityFile": str(folder / "user_key"), "UserKnownHostsFile": str(folder / "known_hosts"),
        "StrictHostKeyChecking": "yes", "IdentityAgent": "none",
    }  # fmt: skip
    lines = ["Host machine", *(f"  {key} {value}" for key, value in client.items())]
    machine.config.write_text("\n".join([*lines, ""]), "utf-8")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # what it separates privileges in
    told = {
        "port": machine.port, "host_key": str(folder / "host_key"), "authorized_keys": str(folder / "authorized_keys"),
        "environment": {**machine.environment, **variables},
    }  # fmt: skip
    (folder / "server.json").write_text(json.dumps(told), "utf-8")
    command = [sys.executable, "-m", "support.ssh_server", str(folder / "server.json")]
    if server == "sshd":
        assert SSHD is not None
        command = [SSHD, "-D", "-e", "-f", str(folder / "sshd_config")]
    with (folder / "sshd.log").open("wb") as log:
        daemon = subprocess.Popen(command, stderr=log, cwd=Path(__file__).parents[1])
        try:
            _until_open(machine.port, daemon)
            yield machine
        finally:
            machine.kill_all()
            daemon.terminate()
            daemon.wait()


def make_key(path: Path) -> None:
    """Make a key pair without a passphrase; skip where there is no program for it."""
    need_programs("ssh-keygen", for_what="no ssh (install openssh-client)")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)


def _until_open(port: int, daemon: subprocess.Popen[bytes]) -> None:
    while daemon.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.01)
    raise AssertionError(f"sshd ended with {daemon.returncode}")


_DEPLOY_TESTS = ("tests/end_to_end/test_deploy", "tests/unit/deployment", "tests/contracts/test_targets")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many tests that deploy were run, and how many were skipped."""
    counts = {
        outcome: sum(one.nodeid.startswith(_DEPLOY_TESTS) for one in terminalreporter.stats.get(outcome, ()))
        for outcome in ("passed", "failed", "skipped")
    }
    if any(counts.values()):
        ran = counts["passed"] + counts["failed"]
        by = "the system's sshd" if SERVER == "sshd" else "an ssh server from a wheel"
        terminalreporter.write_line(f"Deployment: {ran} tests were run, over {by}; {counts['skipped']} were skipped.")
