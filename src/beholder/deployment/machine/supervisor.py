"""The supervisor: starts a process, keeps what it prints, and starts it again when it ends.

For machines without systemd. cron starts the supervisor at boot and looks each minute whether it is there; it holds a
lock while it is, so that there is never a second one, and takes its process along when it is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_LOCK, _UNIT, _ENDED = "supervisor.lock", "unit.json", "ended.json"
ENDS = (0, 2)
"""The codes with which a unit that ends has done what it can."""
_LARGEST_LOG = 10_000_000
_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 0.5, 60.0
_LONG_ENOUGH_S = 30.0
"""A process that ran for so long is started again at once."""
_GRACE_S = 40.0
_DIES_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""


@dataclass(frozen=True)
class ServiceUnit:
    """A process that is kept running."""

    name: str
    title: str
    command: list[str]
    folder: str
    """Where it runs, and where lock, log and this record are."""
    log: str
    secrets: str = ""
    """A file of variables for its environment, or empty."""
    ends: bool = False
    """Whether it comes to an end by itself, and is not started again then."""

    def write(self) -> None:
        """Keep the record for the supervisor that cron starts."""
        from beholder.deployment.machine.places import write_private

        (Path(self.folder) / _ENDED).unlink(missing_ok=True)
        write_private(Path(self.folder) / _UNIT, json.dumps(asdict(self)).encode())


def read_unit(folder: Path) -> ServiceUnit | None:
    """Return the unit that is wanted in a folder; None where none is."""
    try:
        return ServiceUnit(**json.loads((folder / _UNIT).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def ended_with(folder: Path) -> int | None:
    """Return the code with which the unit of a folder came to its end; None while it runs, or never ran."""
    try:
        return int(json.loads((folder / _ENDED).read_text("utf-8"))["code"])
    except (OSError, ValueError, KeyError):
        return None


def _note_end(folder: Path, code: int) -> None:
    """Write down that a unit came to its end, and want it no more."""
    from beholder.deployment.machine.places import write_private

    write_private(folder / _ENDED, json.dumps({"code": code}).encode())
    (folder / _UNIT).unlink(missing_ok=True)


def read_secrets(file: str) -> dict[str, str]:
    """Return the variables in a file of secrets: NAME=value, one in a line, as systemd reads it."""
    if not file or not Path(file).is_file():
        return {}
    pairs = (line.partition("=") for line in Path(file).read_text("utf-8").splitlines() if "=" in line)
    return {name: json.loads(value) if value.startswith('"') else value for name, _, value in pairs}


class RotatingLog:
    """A log that keeps its last ten to twenty megabytes."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = path
        self._file = self._open()

    def write(self, line: bytes) -> None:
        """Append a line; where the file is large, begin another one."""
        self._file.write(line)
        if self._file.tell() > _LARGEST_LOG:
            self._file.close()
            self._path.replace(self._path.with_suffix(".1.log"))
            self._file = self._open()

    def note(self, words: str) -> None:
        """Append a line of the supervisor's own."""
        self.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} supervisor: {words}\n".encode())

    def _open(self) -> Any:
        self._path.touch(mode=0o600)
        return self._path.open(mode="a+b", buffering=0)


def supervise(folder: Path) -> None:
    """Keep the unit of a folder running until SIGTERM, or until it is wanted no more."""
    with (folder / _LOCK).open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # there is one
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        _keep_running(folder)


def _keep_running(folder: Path) -> None:
    child: subprocess.Popen[bytes] | None = None
    is_stopping = False

    def stop(*_: object) -> None:
        nonlocal is_stopping
        is_stopping = True
        if child is not None and child.poll() is None:
            child.terminate()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    libc = ctypes.CDLL(None)
    wait = 0.0
    while not is_stopping and (unit := read_unit(folder)) is not None:
        log = RotatingLog(Path(unit.log))
        began = time.monotonic()
        try:
            child = subprocess.Popen(
                unit.command, cwd=unit.folder, env={**os.environ, **read_secrets(unit.secrets)},
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                preexec_fn=lambda: libc.prctl(_DIES_WITH_PARENT, signal.SIGTERM),
            )  # fmt: skip
        except OSError as error:
            log.note(f"{unit.command[0]} cannot be started: {error}")
        else:
            log.note(f"started {unit.name} as process {child.pid}")
            if is_stopping:  # the signal came in between
                child.terminate()
            assert child.stdout is not None
            for line in child.stdout:
                log.write(line)
            code = child.wait()
            log.note(f"{unit.name} has ended with {code}")
            if unit.ends and code in ENDS and not is_stopping:
                _note_end(folder, code)
                return
        ran_long = time.monotonic() - began > _LONG_ENOUGH_S
        wait = 0.0 if ran_long else min(max(_SHORTEST_WAIT_S, 2 * wait), _LONGEST_WAIT_S)
        _rest(wait, lambda: is_stopping)


def _rest(seconds: float, is_over: Any) -> None:
    ends = time.monotonic() + seconds
    while not is_over() and time.monotonic() < ends:
        time.sleep(0.05)


def ensure(folder: Path, program: Path) -> None:
    """Start a supervisor that outlives this process, unless there is one or nothing is wanted."""
    if read_unit(folder) is None or supervisor_of(folder):
        return
    subprocess.Popen(
        [sys.executable, str(program), "supervise", str(folder)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        cwd=folder,
    )  # fmt: skip


def supervisor_of(folder: Path) -> int:
    """Return the process of the supervisor of a folder; 0 where none runs."""
    try:
        with (folder / _LOCK).open("r+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(lock.read() or 0)
            return 0
    except (OSError, ValueError):
        return 0


def halt(folder: Path) -> None:
    """Stop the supervisor of a folder with its process; nothing starts it again."""
    (folder / _UNIT).unlink(missing_ok=True)
    ends = time.monotonic() + _GRACE_S
    while process := supervisor_of(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL if time.monotonic() > ends else signal.SIGTERM)
        time.sleep(0.05)
