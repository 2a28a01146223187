"""The journal of a deployment: what is going to be done, written down before it is done.

It is an append-only file of JSON lines, deploy/journal.jsonl in the folder of the study. As in the ledger of payments,
an entry `planned` is on disk before the act and `done` after it; whatever stands at `planned` is done again by the same
command, which every step allows. No secret is ever written to it.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from beholder.clock import utc_now
from beholder.deployment.contract import DeployError
from beholder.errors import Problem

FOLDER, FILE = "deploy", "journal.jsonl"
Event = Literal["planned", "done", "failed"]
BEGIN, END = "begin", "end"
"""The first and the last step of a deployment."""


@dataclass(frozen=True)
class JournalEntry:
    """One line: a step of a deployment, and whether it is going to be done, was done, or has failed."""

    at: str
    deployment: str
    step: str
    event: Event
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the step is about, such as the version that is sent."""


@dataclass(frozen=True)
class DeploymentRecord:
    """A deployment as its entries tell it."""

    id: str
    settings: Mapping[str, Any]
    """Where it is, as `begin` was told last."""
    done: Mapping[str, Mapping[str, Any]]
    """By step, the facts of the last time that it was done."""
    at: Mapping[str, datetime]
    """By step, when that was."""
    open: tuple[str, ...]
    """Steps that were begun, and not seen to be done."""
    began: datetime

    @property
    def is_claimed(self) -> bool:
        """Whether anything may be there: a machine that was made, or what is on it."""
        return any(step in self.done or step in self.open for step in ("machine", "claim"))

    @property
    def is_served(self) -> bool:
        """Whether people may have come: from the first start of the server on."""
        return "serve" in self.done or "serve" in self.open


class Journal:
    """The entries of all deployments of a study, and the one way to write them."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = utc_now) -> None:
        self.folder = folder / FOLDER
        self.path = self.folder / FILE
        self._now = now

    def entries(self) -> list[JournalEntry]:
        """Return all entries. A torn last line is of an act that was not begun."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        found = []
        for number, line in enumerate(lines[:-1], 1):
            try:
                found.append(JournalEntry(**json.loads(line)))
            except (ValueError, TypeError):
                if number == len(lines) - 1:
                    break
                what, fix = "is not a journal", "Put back the file as it was; it says what is deployed where."
                raise DeployError(Problem(f"{self.path}:{number}", what, "", fix)) from None
        return found

    def current(self) -> DeploymentRecord | None:
        """Return the deployment that is not over; None where there is none."""
        return replay(self.entries())

    def last_end(self) -> JournalEntry | None:
        """Return the entry with which the last deployment ended; None while one goes on, or where there was none."""
        entries = self.entries()
        if replay(entries) is not None:
            return None
        return next((one for one in reversed(entries) if one.step == END and one.event == "done"), None)

    def begin(self, settings: Mapping[str, Any]) -> DeploymentRecord:
        """Return the deployment that goes on, or a new one, with these settings."""
        record = self.current()
        id_ = record.id if record is not None else secrets.token_hex(8)
        if record is None or dict(record.settings) != dict(settings):
            self.write(id_, BEGIN, "done", settings)
        current = self.current()
        assert current is not None
        return current

    def write(self, deployment: str, step: str, event: Event, facts: Mapping[str, Any] | None = None) -> None:
        """Append an entry, which is on disk when this returns."""
        entry = JournalEntry(self._now().isoformat(timespec="milliseconds"), deployment, step, event, dict(facts or {}))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            is_new = not self.path.exists()
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "r+b", buffering=0) as file:
                self._mend(file)
                file.write(f"{json.dumps(asdict(entry), ensure_ascii=False)}\n".encode())
                os.fsync(file.fileno())
            if is_new:
                _sync_folder(self.folder)
        except OSError as error:
            what = f"cannot be written: {error.strerror}"
            raise DeployError(Problem(str(self.path), what, "", "Nothing was done without it.")) from error

    @staticmethod
    def _mend(file: Any) -> None:
        """Cut off a torn last line."""
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 65536))
        tail = file.read()
        if tail and not tail.endswith(b"\n"):
            file.truncate(size - len(tail) + tail.rfind(b"\n") + 1)

    @contextlib.contextmanager
    def step(self, deployment: str, name: str, facts: Mapping[str, Any] | None = None) -> Iterator[dict[str, Any]]:
        """Write that a step is going to be done, let it be done, and write that it was; yield facts to add to."""
        known: dict[str, Any] = dict(facts or {})
        self.write(deployment, name, "planned", known)
        try:
            yield known
        except DeployError as error:
            self.write(deployment, name, "failed", {"problems": [str(one) for one in error.problems]})
            raise
        self.write(deployment, name, "done", known)


@contextlib.contextmanager
def one_at_a_time(journal: Journal) -> Iterator[None]:
    """Let one command at a time work on a deployment, from here."""
    from beholder.store.sqlite.database_files import Lock

    journal.folder.mkdir(parents=True, exist_ok=True)
    lock = Lock(journal.folder, "lock.sqlite", "deploying.json", _in_use)
    try:
        yield
    finally:
        lock.release()


class DeploymentBusy(DeployError):
    """Another command works on the deployment, from here."""


def _in_use(folder: str, who: str) -> DeployError:
    fix = "Wait for it, or stop it; then run this again."
    return DeploymentBusy(Problem(folder, f"another command works on this deployment{who}", "", fix))


def _sync_folder(folder: Path) -> None:
    """Make the name of a new file durable, where the system can."""
    with contextlib.suppress(OSError, AttributeError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def replay(entries: Sequence[JournalEntry]) -> DeploymentRecord | None:
    """Return the deployment that is not over by its entries; None where there is none."""
    own: list[JournalEntry] = []
    for entry in entries:
        if own and entry.deployment != own[0].deployment:
            own = []
        own = [] if entry.step == END and entry.event == "done" else [*own, entry]
    begun = [entry for entry in own if entry.step == BEGIN]
    if not begun:
        return None
    done: dict[str, Mapping[str, Any]] = {}
    at: dict[str, datetime] = {}
    pending: dict[str, None] = {}
    for entry in own:
        if entry.event == "planned":
            pending[entry.step] = None
            if entry.step == "serve":  # it is put online again, so what took it down counts no more
                for step in ("stop", "remove"):
                    done.pop(step, None)
                    pending.pop(step, None)
        elif entry.event == "done":
            pending.pop(entry.step, None)
            done[entry.step], at[entry.step] = entry.facts, datetime.fromisoformat(entry.at)
    began = datetime.fromisoformat(begun[0].at)
    return DeploymentRecord(own[0].deployment, begun[-1].facts, done, at, tuple(pending), began)
