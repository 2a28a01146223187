"""Where a deployment keeps what on the machine, its record, and how faults are told to the one who deploys."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CADDY = "caddy"
"""The folder of the one Caddy that all deployments of a user share; no study may be called so."""
_PATIENCE_S = 120


class MachineFault(Exception):
    """Something that the one who deploys has to know: what is wrong, what is allowed, and how to fix it."""

    def __init__(self, where: str, what: str, allowed: str = "", fix: str = "") -> None:
        self.parts = {"where": where, "what": what, "allowed": allowed, "fix": fix}
        super().__init__(what)


@dataclass(frozen=True)
class Places:
    """The folder of one deployment, for its owner only, and what is in it."""

    root: Path
    """Of all deployments of this user."""
    name: str
    """Of the study."""

    @property
    def folder(self) -> Path:
        """Everything of this deployment."""
        return self.root / self.name

    @property
    def record(self) -> Path:
        """Which deployment this is, and of which study."""
        return self.folder / "deployment.json"

    @property
    def program(self) -> Path:
        """These modules, as an archive that Python runs."""
        return self.folder / "program.pyz"

    @property
    def secrets(self) -> Path:
        """Variables of the environment that only the server may read."""
        return self.folder / "secrets.env"

    @property
    def trusted(self) -> Path:
        """The authorities that verbs trust, where the address has one that not everybody knows."""
        return self.folder / "trusted.pem"

    @property
    def study(self) -> Path:
        """A link to the study that is served."""
        return self.folder / "study"

    @property
    def environment(self) -> Path:
        """A link to the environment in which it is served."""
        return self.folder / "environment"

    @property
    def python(self) -> Path:
        """The Python of that environment."""
        return self.environment / "bin" / "python"

    @property
    def store(self) -> Path:
        """The answers."""
        return self.folder / "store"

    @property
    def unit(self) -> str:
        """What the service is called."""
        return f"beholder-{self.name}"

    @property
    def log(self) -> Path:
        """What the server prints."""
        return self.folder / "logs" / "server.log"

    def read(self) -> dict[str, Any]:
        """Return the record; empty where nothing is deployed."""
        return _read_json(self.record)

    def write(self, **changes: Any) -> dict[str, Any]:
        """Change the record, and return it."""
        value = {**self.read(), **changes}
        write_private(self.record, json.dumps(value, indent=1).encode())
        return value

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Let one command at a time work on this machine: one whose connection broke may still be at it."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.root / "lock").open("w") as file:
            ends = time.monotonic() + _PATIENCE_S
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > ends:
                        fix = "See that nobody else deploys there, and run it again."
                        raise MachineFault(str(self.root), "another command is at work there", "", fix) from None
                    time.sleep(0.1)
            yield


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read, whole or not at all, and on disk when this returns."""
    new = path.with_name(f".{path.name}.new")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.chmod(0o600)
    new.replace(path)


def point(link: Path, folder: Path) -> None:
    """Let a link lead to another folder, at once."""
    new = link.with_name(f".{link.name}.new")
    new.unlink(missing_ok=True)
    new.symlink_to(folder.relative_to(link.parent))
    new.replace(link)


def keep_only(folder: Path, *kept: Path | None) -> None:
    """Remove all versions in a folder but these."""
    names = {one.resolve().name for one in kept if one is not None and one.exists()}
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name not in names:
            shutil.rmtree(path, ignore_errors=True)
