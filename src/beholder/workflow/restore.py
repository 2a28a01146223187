"""`restore`: a backup fetched, decrypted, verified, and put where answers are kept, without those who were erased."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.result_view import ResultView, ShownResult

if TYPE_CHECKING:
    from beholder.backups.archive import Manifest
    from beholder.backups.destinations import Destination
    from beholder.backups.erasure_list import ErasureList, StoreErasures
    from beholder.backups.history import BackupNote
    from beholder.types import Json


@dataclass(frozen=True, repr=False)
class Restored(ShownResult):
    """A backup that was restored, or those that could be."""

    study: str
    backup: BackupNote | None
    """None where backups were only listed."""
    backups: Sequence[BackupNote]
    erased: int
    """Sessions in it that were erased since it was made, and now from it."""
    aside: Path | None
    """Where the store is that was there before."""
    words: tuple[str, ...]

    def _view(self) -> ResultView:
        return ResultView(self.words)


def restore(
    source: str,
    folder: str | Path = ".",
    *,
    identity: str | Path | None = None,
    at: str | datetime | None = None,
    store: str | None = None,
    anyway: str | None = None,
    only_list: bool = False,
) -> Restored:
    """Restore the newest backup at a place into the folder of a study, and return it.

        beholder.restore("s3://lab/backups", "faces", identity="~/backup.key")

    It is verified before anything is changed, and who was erased since it was made is erased from it. The store that
    was there is kept beside it.

    What most studies need:
        source          where the backups are: a folder, s3://, gs://, az:// or sftp://
        folder          the folder of the study, in which store/ is written
        identity        the file of your key; the one of this machine when left out

    Rarely:
        at              the newest backup that is not later, such as 2026-11-18T14:30
        store           a PostgreSQL database, which is empty, in place of store/
        anyway          why it is done although the store there holds more, in three words or more
        only_list       True only lists what is there
    """
    from beholder.backups.archive import unpack
    from beholder.backups.destinations import open_destination
    from beholder.backups.encryption import default_identity
    from beholder.backups.history import fetch_backup
    from beholder.clock import utc_now

    target = Path(folder).expanduser()
    destination = open_destination(source)
    name = _study_name(target)
    history = _history(destination, name)
    words = tuple(f"{note.words}  {note.file}" for note in history)
    if only_list:
        return Restored(history[0].study, None, history, 0, None, words)
    problems = [*_words_problems(anyway), *_place_problems(store)]
    note, late = _choose(history, at)
    if problems + late:
        raise _error(problems + late)
    assert note is not None
    key = Path(identity).expanduser() if identity is not None else default_identity()
    with _private_folder(target) as scratch:
        file = scratch / note.file
        fetch_backup(destination, note, file)
        own_key = key if identity is not None or key.is_file() else None
        unsealed = _seal_problems(note, own_key)
        if unsealed and anyway is None:
            raise _error(unsealed)
        manifest = unpack(file, scratch / "store", own_key)
        file.unlink()
        _check_study(manifest, note, name)
        listed, doubts = _erasure_list(destination, note.study, history, scratch)
        known, more = _existing(target / "store" if store is None else None, scratch / "store")
        if (doubts or more) and anyway is None:
            raise _error([*doubts, *more])
        erased = _erase_again(scratch / "store", manifest, listed, known)
        _note_restore(scratch / "store", note, anyway, erased)
        written = _write_study(target, scratch / "store", name)
        aside = _put_in_place(scratch / "store", target, store, utc_now())
    return Restored(note.study, note, history, erased, aside, _told(note, manifest, erased, aside, store, written))


def _error(problems: Sequence[object]) -> Exception:
    from beholder.errors import BackupError, Problem

    return BackupError([one for one in problems if isinstance(one, Problem)])


# Which one


def _study_name(folder: Path) -> str | None:
    """Return the name of the study in a folder; None where there is none yet."""
    from beholder.methods import load_study

    return load_study(folder / "study.yaml").name if (folder / "study.yaml").is_file() else None


def _history(destination: Destination, study: str | None) -> list[BackupNote]:
    from beholder.backups.history import read_history
    from beholder.errors import BackupError, Problem

    history = read_history(destination, study)
    if not history:
        others = sorted({note.study for note in read_history(destination)}) if study is not None else []
        what = f"holds no backup of {study}, but of {', '.join(others)}" if others else "holds no backup of Beholder"
        fix = "Name the place as it is written under `backup` in the study."
        raise BackupError(Problem(destination.address, what, "", fix))
    return history


def _choose(history: Sequence[BackupNote], at: str | datetime | None) -> tuple[BackupNote | None, list[object]]:
    """Return the newest backup that is not later than a time, or what is wrong with that time."""
    from beholder.errors import Problem

    if at is None:
        return history[-1], []
    try:
        limit = at if isinstance(at, datetime) else datetime.fromisoformat(at.strip().replace(" UTC", ""))
    except ValueError:
        return None, [Problem("--at", f"is {at}", "a time in UTC such as 2026-11-18T14:30")]
    limit = limit if limit.tzinfo is not None else limit.replace(tzinfo=UTC)
    # Where a second is written, as the list shows it, all of it is meant.
    most = limit if limit.microsecond else limit + timedelta(microseconds=999_999)
    fitting = [note for note in history if note.at <= most]
    if not fitting:
        what = f"is {limit:%Y-%m-%d %H:%M:%S} UTC, and the first backup is of {history[0].at:%Y-%m-%d %H:%M:%S} UTC"
        return None, [Problem("--at", what, "", "`beholder restore … --list` shows all.")]
    return fitting[-1], []


def _seal_problems(note: BackupNote, identity: Path | None) -> list[object]:
    """Return that nothing says that a backup is the researcher's; for another key than this one, decryption says so."""
    from beholder.backups.seal import seal_keys_of
    from beholder.errors import Problem

    if identity is None:
        return []
    keys = seal_keys_of(identity)
    if note.is_sealed(keys) or (note.keys and not keys.keys() & set(note.keys)):
        return []
    what = "is not sealed with your key" if not keys.keys() & note.seals.keys() else "has a seal that does not fit"
    fix = (
        "Take another one (--list); or, if you know where it is from, say why it will do: --anyway WORDS. A server "
        "seals what it makes where your key is, and where `beholder deploy up` has put it from there."
    )
    return [Problem(note.file, f"{what}: whoever may write to the place could have put it there", "", fix)]


def _words_problems(anyway: str | None) -> list[object]:
    from beholder.errors import Problem
    from beholder.study.backup import FEWEST_WORDS

    if anyway is None or len(anyway.split()) >= FEWEST_WORDS:
        return []
    return [Problem("--anyway", f"is {anyway!r}", "why, in three words or more; they are kept")]


def _place_problems(store: str | None) -> list[object]:
    from beholder.errors import Problem
    from beholder.store.open import is_postgresql

    if store is None or is_postgresql(store):
        return []
    fix = "A folder is given as FOLDER, which gets a store/."
    return [Problem("--store", f"is {store}", "the address of an empty PostgreSQL database", fix)]


def _check_study(manifest: Manifest, note: BackupNote, name: str | None) -> None:
    """Raise BackupError where a backup is of another study, or another one than its note says."""
    from beholder.errors import BackupError, Problem

    if (manifest.study, manifest.digest) != (note.study, note.digest) or name not in (None, manifest.study):
        what = f"holds the study {manifest.study}, not {name or note.study}"
        raise BackupError(Problem(note.file, what, "", "Nothing here was changed."))


# What is there already, and who must not come back


def _erasure_list(
    destination: Destination, study: str, history: Sequence[BackupNote], scratch: Path
) -> tuple[ErasureList, list[object]]:
    """Return the list of erasures, and why it may not be all of it."""
    from beholder.backups.destinations import DestinationAway
    from beholder.backups.erasure_list import ErasureList, read_list
    from beholder.errors import BackupError, Problem

    most = max(note.erasures for note in history)
    try:
        listed = read_list(destination, study, scratch)
    except DestinationAway:
        raise
    except BackupError as error:
        return ErasureList({}), list(error.problems)
    if listed.size >= most:
        return listed, []
    what = f"names {listed.size} of {most} erasures: people who were erased would come back"
    fix = "Put the file back that is missing there; or say --anyway WORDS, and erase them again by their receipts."
    return listed, [Problem(f"the list of erasures at {destination.address}", what, "", fix)]


def _existing(store: Path | None, new: Path) -> tuple[StoreErasures, list[object]]:
    """Return what was erased from the store that is there, and why it should not be replaced."""
    from beholder.backups.erasure_list import StoreErasures, store_erasures
    from beholder.errors import Problem, StoreError
    from beholder.formats import listed, plain_count
    from beholder.store.full_copy import rows_beyond
    from beholder.store.sqlite.database_files import FACTS

    nothing = StoreErasures(frozenset(), None)
    if store is None or not (store / FACTS).is_file():
        return nothing, []
    try:
        known, more = store_erasures(store), rows_beyond(store, new)
    except StoreError:
        return nothing, []  # damaged, which is why somebody restores; it is kept aside
    nouns = {"sessions": "session", "answers": "answer", "ledger": "entry of the ledger"}
    counts = [plain_count(number, nouns[table], "entries of the ledger" if table == "ledger" else None)
              for table, number in more.items() if number]  # fmt: skip
    if not counts:
        return known, []
    what = f"holds {listed(counts, 'and')} that the backup does not have"
    fix = "Take a later backup (--list); or say why it is replaced all the same: --anyway WORDS. It is kept aside."
    return known, [Problem(str(store), what, "", fix)]


def _erase_again(store: Path, manifest: Manifest, listed: ErasureList, known: StoreErasures) -> int:
    """Erase from a restored store everybody who was erased since it was copied; return how many sessions."""
    from beholder.aio import block_on
    from beholder.backups.erasure_list import erased_among
    from beholder.clock import utc_now
    from beholder.errors import BackupError, Problem
    from beholder.server.erasure import erase_sessions, wipe_patiently
    from beholder.store.contract import LedgerEntry
    from beholder.store.open import open_store, read_rows

    purges = [at for at in (listed.purged_at, known.purged_at) if at is not None and at >= manifest.at]

    async def work() -> int:
        async with open_store(store) as opened:
            gone = {row["session"] for row in await read_rows(opened, "erasures")}
            here = [str(row["session"]) for row in await read_rows(opened, "sessions") if row["session"] not in gone]
            due = erased_among(here, listed, [known])
            await erase_sessions(opened, due, "erased before the restore", utc_now())
            if purges:
                people = len(await opened.platform_identities())
                await opened.purge_identity()
                await opened.ledger.purge_identity()
                entry = LedgerEntry("purge", "done", utc_now(), reason_code="identity", evidence={"people": people})
                await opened.ledger.append([entry])
            if (remains := await wipe_patiently(opened)) is not None:
                raise BackupError(Problem(str(store), f"still holds bytes of who was erased: {remains.words}"))
            return len(due)

    return block_on(work())


# Putting it in place


def _note_restore(store: Path, note: BackupNote, anyway: str | None, erased: int) -> None:
    """Write down in the ledger what was restored, and the words of who said that it should be all the same."""
    from beholder.aio import block_on
    from beholder.clock import utc_now
    from beholder.store.contract import LedgerEntry
    from beholder.store.open import open_store

    async def work() -> None:
        evidence: dict[str, Json] = {"backup": note.file, "of": note.at.isoformat(), "erased": erased}
        entry = LedgerEntry("restore", "done", utc_now(), reason_text=anyway or "", evidence=evidence)
        async with open_store(store, write=False) as opened:
            await opened.ledger.append([entry])

    block_on(work())


def _write_study(folder: Path, store: Path, name: str | None) -> bool:
    """Write the study as it was served where there is none; return whether it was."""
    from beholder.aio import block_on
    from beholder.files import write_atomically
    from beholder.store.open import open_store

    async def read() -> str:
        async with open_store(store, write=False) as opened:
            record = await opened.current()
            return record.yaml if record is not None else ""

    text = block_on(read()) if name is None else ""
    if text:
        write_atomically(folder / "study.yaml", text.encode())
    return bool(text)


def _put_in_place(new: Path, folder: Path, url: str | None, now: datetime) -> Path | None:
    """Let a restored store take its place; return where the one before it is kept."""
    from beholder.aio import block_on
    from beholder.store.full_copy import load_copy
    from beholder.store.sqlite.database_files import Lock

    if url is not None:
        block_on(load_copy(new, url))
        return None
    store = folder / "store"
    if not store.exists():
        new.replace(store)
        return None
    Lock(store).release()  # refused while a server writes to it
    aside = folder / f"store-before-{now:%Y%m%dT%H%M%SZ}"
    store.replace(aside)
    try:
        new.replace(store)
    except OSError:
        aside.replace(store)
        raise
    return aside


@contextlib.contextmanager
def _private_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder for unfinished files beside the store, which is for its owner alone."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".restore-", dir=folder, ignore_cleanup_errors=True) as name:
            yield Path(name)
    finally:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()


def _told(
    note: BackupNote, manifest: Manifest, erased: int, aside: Path | None, store: str | None, written: bool
) -> tuple[str, ...]:
    from beholder.formats import plain_count
    from beholder.store.open import display_address

    where = display_address(store) if store is not None else "store/"
    lines = [f"Restored to {where}, whole and verified: {note.words}."]
    if erased:
        sessions = plain_count(erased, "session")
        lines.append(f"Erased again, as they were since it was made: {sessions} of people who do not come back.")
    if aside is not None:
        lines.append(f"The store that was there is kept in {aside.name}; it is yours to delete.")
    if written:
        lines.append("study.yaml is as it was served; stimuli are in no backup.")
    lines.append(
        f"What was answered, decided or paid after {manifest.at:%Y-%m-%d %H:%M:%S} UTC is not in it: before you pay, "
        "`beholder monitor` and `beholder pay` compare it with the platform."
    )
    return tuple(lines)
