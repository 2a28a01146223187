"""Backups on a machine that is reached by ssh: by the system's `sftp`, with one's keys, agents and known hosts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from beholder.backups.destinations import PARTIAL, DestinationAway, partial_prefix
from beholder.errors import BackupError, Problem

CONFIG_VARIABLE = "BEHOLDER_SSH_CONFIG"
"""Names a file for ssh, in place of one's own."""
_OPTIONS = ("BatchMode=yes", "ConnectTimeout=20", "ServerAliveInterval=15", "ServerAliveCountMax=3")
"""Nobody is there to type a password; a machine that has gone is noticed."""
_LONGEST_S = 3600.0


class SftpDestination:
    """A folder on another machine. A file is sent under another name, and gets its own when it is whole."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        parts = urlsplit(self.address)
        self._to = f"{parts.username}@{parts.hostname}" if parts.username else str(parts.hostname)
        self._port = parts.port
        path = unquote(parts.path)
        self._folder = PurePosixPath(path[3:] if path.startswith("/~/") else path)
        if shutil.which("sftp") is None:
            fix = "Install OpenSSH (on Debian openssh-client)."
            raise BackupError(Problem(self.address, "needs the program sftp, which is not on PATH", "", fix))

    def names(self) -> list[str]:
        code, out, err = self._run([f"cd {_quoted(self._folder)}", "ls -1a"])
        if code and _is_missing(err):
            return []
        self._check(code, err, "read")
        # In a batch each command is repeated before what it prints.
        lines = [line.strip() for line in out.splitlines() if line.strip() and not line.startswith("sftp> ")]
        return sorted(name for name in lines if name not in (".", "..") and not name.startswith(PARTIAL))

    def put(self, name: str, file: Path) -> None:
        parents = [
            folder for folder in reversed((self._folder, *self._folder.parents)) if str(folder) not in (".", "/")
        ]
        partial, whole = self._folder / f"{partial_prefix(name)}{name}", self._folder / name
        left = f"{_quoted(self._folder / partial_prefix(name))}*"
        code, _, err = self._run(
            [
                *(f"-mkdir {_quoted(folder)}" for folder in parents),  # which are there already but for the first time
                f"-rm {left}",
                f"put {_quoted(file.absolute())} {_quoted(partial)}",
                f"chmod 600 {_quoted(partial)}",
                f"rename {_quoted(partial)} {_quoted(whole)}",
            ]
        )
        self._check(code, err, "written")

    def fetch(self, name: str, file: Path) -> None:
        code, _, err = self._run([f"get {_quoted(self._folder / name)} {_quoted(file.absolute())}"])
        if code and _is_missing(err):
            raise FileNotFoundError(name)
        self._check(code, err, "read")

    def delete(self, name: str) -> None:
        code, _, err = self._run([f"rm {_quoted(self._folder / name)}"])
        if not (code and _is_missing(err)):
            self._check(code, err, "written")

    def _run(self, commands: Sequence[str]) -> tuple[int, str, str]:
        config = os.environ.get(CONFIG_VARIABLE, "")
        program = [
            "sftp", "-b", "-", *(["-F", config] if config else []), *(f"-o{option}" for option in _OPTIONS),
            *(["-P", str(self._port)] if self._port else []), "--", self._to,
        ]  # fmt: skip
        batch = "".join(f"{command}\n" for command in commands)
        environment = {**os.environ, "LC_ALL": "C"}  # what it says is read
        try:
            ran = subprocess.run(
                program, input=batch, capture_output=True, text=True, timeout=_LONGEST_S, env=environment
            )
        except subprocess.TimeoutExpired as error:
            what = f"did not finish within {_LONGEST_S / 60:.0f} min"
            raise DestinationAway(Problem(self.address, what)) from error
        return ran.returncode, ran.stdout, ran.stderr

    def _check(self, code: int, said: str, verb: str) -> None:
        if code:
            lines = [
                line for line in said.strip().splitlines() if not re.search("remote mkdir|Connection closed", line)
            ]
            last = (lines or ["it says nothing"])[-1].strip()
            fix = f"`sftp {self._to}` has to work here without a password: by a key, and with the host known."
            raise DestinationAway(Problem(self.address, f"cannot be {verb} ({last})", "", fix))


def _is_missing(said: str) -> bool:
    return "No such file" in said or "not found" in said


def _quoted(path: PurePosixPath | Path) -> str:
    """Return a path for a batch of sftp; a folder with quotes or patterns in its name was refused before."""
    return f'"{path}"'
