"""Bringing the answers home: a consistent copy of the store, verified before it takes the place of the last one."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import sqlite3
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beholder.aio import block_on
from beholder.deployment.contract import MachineUnreachable, StudyProgram
from beholder.deployment.machine.places import MachineFault
from beholder.deployment.machine.snapshot import FILES, file_hash, held_sessions, table_counts
from beholder.errors import DeployError, Problem, StoreError
from beholder.formats import plain_count
from beholder.store.contract import LedgerEntry
from beholder.store.open import open_store
from beholder.store.sqlite.database_files import FACTS, LEDGER
from beholder.study.model import Study

_KEPT_HERE = frozenset({"look", "preregistered", "preregistration"})
"""Kinds of entries that are written where people plan and analyse, not where the study is served."""
_PULLED = ".pull-"


@dataclass(frozen=True)
class StoreCopy:
    """A copy that was verified: what it holds, by file and table."""

    folder: Path
    counts: Mapping[str, Mapping[str, int]]
    digest: str
    """Of the study that it holds; empty where nobody has come and nothing was served yet."""

    @property
    def sessions(self) -> int:
        """Sessions that it holds."""
        return self.counts.get(FACTS, {}).get("sessions", 0)

    @property
    def answers(self) -> int:
        """Answers that it holds."""
        return self.counts.get(FACTS, {}).get("answers", 0)

    @property
    def words(self) -> str:
        """It in a sentence."""
        held = f"{plain_count(self.sessions, 'session')} and {plain_count(self.answers, 'answer')}"
        return f"{held} are in {self.folder}, whole and as they are on the machine."


def pull_store(program: StudyProgram, study: Study) -> StoreCopy:
    """Bring a copy of the store home into store/, and return it.

    The copy is fetched beside the store, its bytes, pages, counts and study are held against what the machine says,
    and only then it takes the place of the last one; never of answers that the copy does not hold.
    """
    store = study.folder / "store"
    study.folder.mkdir(parents=True, exist_ok=True)
    _recover(study.folder, store)
    with tempfile.TemporaryDirectory(dir=study.folder, prefix=_PULLED, ignore_cleanup_errors=True) as name:
        new = Path(name) / "store"
        new.mkdir(mode=0o700)
        files = program.call("snapshot")["files"]
        try:
            for file in files:
                _fetch(program, file, new)
        finally:
            with contextlib.suppress(MachineUnreachable):  # the next copy begins by removing this one
                program.call("forget-snapshot")
        if not files:
            return StoreCopy(store, {}, "")
        digest = _study_digest(new, study)
        counts = {str(file["name"]): dict(file["counts"]) for file in files}
        _check_nothing_is_lost(store, new)
        block_on(_append(new, _own_entries(store, new)))
        _replace(store, new, Path(name) / "before")
    return StoreCopy(store, counts, digest)


def _fetch(program: StudyProgram, file: Mapping[str, Any], folder: Path) -> None:
    """Fetch one file, and hold it against what the machine says of it."""
    assert file["name"] in FILES
    path = folder / str(file["name"])
    with path.open("wb") as target:
        program.fetch(target, file=file["name"])
    path.chmod(0o600)
    fix = "Pull again; the copy before is as it was."
    if path.stat().st_size != file["size"] or file_hash(path) != file["sha256"]:
        raise DeployError(Problem(str(file["name"]), "did not arrive as it was sent", "", fix))
    try:
        counts = table_counts(path)
    except MachineFault as fault:
        raise DeployError(Problem(str(file["name"]), str(fault), "", fix)) from fault
    if counts != file["counts"]:
        raise DeployError(Problem(str(file["name"]), "does not hold what it held there", "", fix))


def _study_digest(store: Path, study: Study) -> str:
    """Return the digest of the study in a copy, or raise DeployError where it is another study."""

    async def read() -> str:
        async with open_store(store, write=False) as opened:
            record = await opened.current()
            if record is not None and record.study != study.name:
                what = f"holds the study {record.study}, not {study.name}"
                raise DeployError(Problem("the copy", what, "", "Nothing here was changed."))
            return record.digest if record is not None else ""

    return block_on(read())


def _recover(folder: Path, store: Path) -> None:
    """Put back the store whose replacement was broken off in between, and remove what pulls have left."""
    for left in sorted(folder.glob(f"{_PULLED}*")):
        if not store.exists() and (left / "before").is_dir():
            (left / "before").replace(store)
        shutil.rmtree(left, ignore_errors=True)


def _replace(store: Path, new: Path, before: Path) -> None:
    """Put the new copy in the place of the old one; where that fails, the old one is there again."""
    if store.exists():
        store.replace(before)
    try:
        new.replace(store)
    except OSError:
        if before.exists():
            before.replace(store)
        raise
    shutil.rmtree(before, ignore_errors=True)


# What is here already


def check_home_store(study: Study) -> None:
    """Raise DeployError where store/ here holds sessions, before a deployment begins."""
    store = study.folder / "store"
    try:
        sessions = held_sessions(store)
    except MachineFault as fault:
        raise DeployError(Problem(str(store), str(fault), "", "Move it aside.")) from fault
    if sessions:
        raise DeployError(_own_sessions(store, sessions))


def _own_sessions(store: Path, sessions: int) -> Problem:
    what = f"holds {plain_count(sessions, 'session')} of this machine, where copies of the deployment would go"
    fix = f"Keep it elsewhere first, such as by `mv {store.name} {store.name}-here`: a deployment begins empty."
    return Problem(str(store), what, "", fix)


def _check_nothing_is_lost(store: Path, new: Path) -> None:
    """Raise DeployError where store/ here holds answers of sessions that the copy does not know.

    An erasure leaves its session, and who never answered may be removed: whoever has answered and is unknown there has
    answered here.
    """
    if not (store / FACTS).is_file():
        return
    known = _column(new / FACTS, "SELECT session FROM sessions")
    if missing := _column(store / FACTS, "SELECT DISTINCT session FROM answers") - known:
        raise DeployError(_own_sessions(store, len(missing)))


def _column(path: Path, query: str) -> set[str]:
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30)) as connection:
            return {value for (value,) in connection.execute(query)}
    except sqlite3.Error as error:
        raise DeployError(Problem(str(path), f"cannot be read ({error})", "", "Move it aside.")) from error


def _own_entries(store: Path, new: Path) -> Sequence[LedgerEntry]:
    """Return the entries of the ledger here that the machine does not have, and that are kept."""
    if not (store / LEDGER).is_file() or not (store / FACTS).is_file():
        return ()

    async def read(folder: Path) -> Sequence[LedgerEntry]:
        if not (folder / LEDGER).is_file():
            return ()
        async with open_store(folder, write=False) as opened:
            return await opened.ledger.entries()

    try:
        there = {_identity(entry) for entry in block_on(read(new))}
        entries = [entry for entry in block_on(read(store)) if _identity(entry) not in there]
    except StoreError as error:
        raise DeployError(error.problems) from error
    if wrong := sorted({entry.kind for entry in entries} - _KEPT_HERE):
        what = f"has entries of its own ({', '.join(wrong)}), which the machine does not know"
        fix = (
            "While a study is deployed, decide and pay there: `beholder deploy exec decide`. "
            f"Keep this store elsewhere, such as by `mv {store.name} {store.name}-here`, and pull again."
        )
        raise DeployError(Problem(str(store / LEDGER), what, "", fix))
    return entries


def _identity(entry: LedgerEntry) -> tuple[object, ...]:
    """Return what an entry keeps, also when somebody is erased."""
    return entry.kind, entry.event, entry.at, entry.batch, entry.provider_ref, entry.amount_minor, entry.currency


async def _append(store: Path, entries: Sequence[LedgerEntry]) -> None:
    if entries:
        async with open_store(store, write=False) as opened:
            await opened.ledger.append(entries)


def facts_of(copy: StoreCopy) -> dict[str, Any]:
    """Return what the journal keeps of a copy."""
    tables = {name: dict(sorted(counts.items())) for name, counts in sorted(copy.counts.items())}
    check = hashlib.sha256(repr(tables).encode()).hexdigest()[:16]
    return {"sessions": copy.sessions, "answers": copy.answers, "digest": copy.digest, "counts": check}
