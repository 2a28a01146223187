"""Programs of the system that some tests need: where one is missing, its tests are skipped with a reason."""

from __future__ import annotations

import os
import shutil

import pytest

_PLACES = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
"""Servers are where an administrator finds them, on a machine of everybody's too."""


def find_program(name: str, *, is_server: bool = False) -> str | None:
    """Return the path of a program, or None; a server may be where only an administrator looks."""
    return shutil.which(name, path=_PLACES) if is_server else shutil.which(name)


def need_programs(*names: str, for_what: str = "") -> None:
    """Skip the test that runs, where one of these is not on PATH."""
    if missing := [name for name in names if find_program(name) is None]:
        are = "is" if len(missing) == 1 else "are"
        pytest.skip(f"{for_what or 'no program'}: {', '.join(missing)} {are} not on PATH")


def need_ssh() -> None:
    """Skip the test that runs, where OpenSSH's programs are not all here."""
    if os.name == "nt":
        pytest.skip("no ssh: tests of it need a POSIX system")
    need_programs("ssh", "ssh-keygen", "sftp", for_what="no ssh (install openssh-client)")
