"""This machine with a home, a crontab and programs of its own, for tests that deploy `here`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from beholder.testing.tunnels import install_tunnel
from support.ssh_machine import CRONTAB, SshMachine


@contextmanager
def this_machine(folder: Path, patch: pytest.MonkeyPatch, *tunnels: str) -> Iterator[SshMachine]:
    """Yield this machine as a fresh user has it, with fake tunnel programs on PATH whose certificate is trusted."""
    if sys.platform != "linux":
        pytest.skip("deployments to this machine need Linux")
    machine = SshMachine(folder, 0)
    machine.home.mkdir(parents=True)
    tools = folder / "bin"
    tools.mkdir()
    (tools / "crontab").write_text(CRONTAB.format(file=machine.crontab), "utf-8")
    (tools / "crontab").chmod(0o755)
    variables = machine.environment
    # The environment of the tests is not on PATH, as for somebody who has installed Beholder as a tool.
    (tools / "uv").symlink_to(Path(sys.executable).with_name("uv"))
    (tools / "python3").symlink_to(getattr(sys, "_base_executable", sys.executable))
    if caddy := shutil.which("caddy", path=variables["PATH"]):
        (tools / "caddy").symlink_to(caddy)
    variables["PATH"] = ":".join([str(tools), "/usr/bin", "/bin"])
    for kind in tunnels:
        patch.setenv("SSL_CERT_FILE", str(install_tunnel(tools, kind)))
    for name, value in variables.items():
        patch.setenv(name, value)
    try:
        yield machine
    finally:
        machine.kill_all()
