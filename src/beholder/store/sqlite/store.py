"""The store in a folder of SQLite files."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from beholder.store.contract import (
    AppendResult,
    Claim,
    Events,
    Fact,
    Ledger,
    PlatformIdentity,
    PlatformVisit,
    Population,
    Remains,
    Session,
    SessionFacts,
    StoredVerdict,
    StoreUnavailable,
    StudyRecord,
    Table,
    Task,
)
from beholder.store.rules import QUICK_TO_WIPE, join_remains, read_only
from beholder.store.sqlite import sessions, study
from beholder.store.sqlite.database_files import (
    FACTS,
    IDENTITY,
    Lock,
    OpenFile,
    connect_read,
    connect_write,
    make_folder,
    make_secret,
    read_secret,
    replace_secret,
    unavailable,
    wipe,
    wipe_due,
)
from beholder.store.sqlite.study import SqliteLedger
from beholder.store.sqlite.writer import AppendedRows, CommitWriter
from beholder.store.tables import Row, entry_columns, fact_row, read_row, to_iso, to_text
from beholder.study.recruitment import Mode
from beholder.types import Json

T = TypeVar("T")
_CHUNK = 500


class SqliteStore:
    """Facts in a folder: one process writes, any number read. `beholder.store.open` makes it."""

    def __init__(
        self, folder: Path, secret: bytes, writer: CommitWriter | None, people: CommitWriter | None, lock: Lock | None
    ):
        self.secret = secret
        self.ledger: Ledger = SqliteLedger(folder)
        self._folder, self._where, self._lock = folder, str(folder), lock
        self._facts_writer, self._people_writer = writer, people
        self._cache = sessions.SessionCache()
        self._identifying = asyncio.Lock()
        """Held while an identity is stored, and from the removal of sessions to that of their identities."""

    @classmethod
    async def open(cls, folder: Path, *, write: bool) -> SqliteStore:
        """Return the store in a folder, created if missing; only one process at a time may write."""
        if not write:
            with closing(await asyncio.to_thread(connect_read, folder / FACTS, "sqlite")) as reading:
                return cls(folder, read_secret(reading), None, None, None)
        make_folder(folder)
        lock = Lock(folder)
        try:
            facts = await asyncio.to_thread(connect_write, folder / FACTS, "sqlite")
            try:
                people = await asyncio.to_thread(connect_write, folder / IDENTITY, "sqlite-identity")
                secret = make_secret(facts)
                await asyncio.to_thread(study.finish_removing, facts, people)
                for connection, file in ((facts, FACTS), (people, IDENTITY)):
                    await asyncio.to_thread(wipe, connection, folder / file, QUICK_TO_WIPE)
            except BaseException:
                facts.close()
                raise
        except BaseException:
            lock.release()
            raise
        writers = CommitWriter(facts, OpenFile(folder / FACTS)), CommitWriter(people, OpenFile(folder / IDENTITY))
        return cls(folder, secret, *writers, lock)

    @property
    def _writer(self) -> CommitWriter:
        if self._facts_writer is None:
            raise read_only(self._where)
        return self._facts_writer

    @property
    def _people(self) -> CommitWriter:
        if self._people_writer is None:
            raise read_only(self._where)
        return self._people_writer

    async def begin(self, record: StudyRecord, run: int = 1) -> None:
        await self._writer.do(lambda connection: study.begin(connection, self._where, record, run))

    async def grow(self, plan: str, held: int, lists: Sequence[Json], population: Population) -> bool:
        return await self._writer.do(lambda connection: study.grow(connection, plan, held, lists, population))

    async def current(self) -> StudyRecord | None:
        return await self._read(study.current)

    async def arrive(self, session: Session) -> tuple[Session, bool]:
        def update_cache(arrived: tuple[Session, bool]) -> None:
            if arrived[1]:
                self._cache.put(SessionFacts(arrived[0]))

        return await self._writer.do(lambda connection: sessions.arrive(connection, session), update_cache)

    async def runs_taken(self, participant: str, mode: Mode) -> frozenset[int]:
        return await self._read(lambda connection: sessions.runs_taken(connection, to_text(participant), mode))

    async def lists_taken(self, participant: str, mode: Mode, run: int = 1) -> tuple[int, ...]:
        return await self._read(lambda connection: sessions.lists_taken(connection, to_text(participant), mode, run))

    async def has_free_list(self, now: datetime, barred: Collection[int] = ()) -> bool:
        return await self._read(lambda connection: sessions.has_free_list(connection, now, barred))

    async def claim(
        self,
        session: str,
        *,
        now: datetime,
        until: datetime,
        per_list: int | None,
        barred: Collection[int] = (),
        preferred: Collection[int] = (),
    ) -> int | None:
        session = to_text(session)
        request = Claim(session, now, until, per_list, barred, preferred)

        def update_cache(claimed: tuple[int, datetime] | None) -> None:
            if claimed is not None:
                self._cache.change(session, lambda facts: replace(facts, list=claimed[0], claimed_at=claimed[1]))

        claimed = await self._writer.do(lambda connection: sessions.claim(connection, request), update_cache)
        return claimed[0] if claimed else None

    async def renew(self, session: str, until: datetime) -> None:
        await self._writer.do(lambda connection: sessions.renew(connection, to_text(session), until))

    async def release(self, session: str) -> None:
        await self._writer.do(lambda connection: sessions.release(connection, to_text(session)))

    async def append(self, facts: Sequence[Fact]) -> AppendResult:
        if not facts:
            raise ValueError("append needs at least one fact")
        rows: list[tuple[Table, Row]] = []
        for fact in facts:
            table, row = fact_row(fact)
            rows.append((table, (*row[:-1], to_iso(row[-1]))))

        def update_cache(appended: AppendedRows) -> None:
            for table, row in appended.rows:
                self._cache.add(table, row)

        appended = await self._writer.append(rows, update_cache)
        return AppendResult(datetime.fromisoformat(appended.at), is_new=bool(appended.rows))

    async def session_facts(self, session: str) -> SessionFacts | None:
        session = to_text(session)
        known = self._cache.get(session)
        if known is not None:
            return known
        if self._facts_writer is None:
            return await self._read(lambda connection: sessions.load_facts(connection, session))
        # Through the writer, so that no commit falls between reading a session and caching it.
        return await self._writer.do(lambda connection: sessions.load_facts(connection, session), self._cache.put)

    async def step_events(self, session: str, key: str) -> Sequence[Events]:
        place = to_text(session), to_text(key)
        return await self._read(lambda connection: sessions.load_step_events(connection, *place))

    async def earlier_verdicts(self, session: str) -> Sequence[tuple[Session, StoredVerdict]]:
        return await self._read(lambda connection: sessions.load_earlier_verdicts(connection, to_text(session)))

    async def rows(self, table: Table) -> AsyncGenerator[dict[str, Any], None]:
        if table == "ledger":
            for entry in await self.ledger.entries():
                yield entry_columns(entry)
            return
        with closing(await asyncio.to_thread(self._connect)) as connection:
            cursor = await asyncio.to_thread(connection.execute, study.select(table))
            while chunk := await asyncio.to_thread(cursor.fetchmany, _CHUNK):
                for row in chunk:
                    yield read_row(table, row)

    async def erase(self, session: str, at: datetime) -> int:
        session = to_text(session)
        participant = await self._writer.do(lambda connection: study.only_participant(connection, session))
        # The identity goes first: after a crash here, a repeat erases the rest.
        participants = [participant] if participant is not None else []
        await self._people.do(lambda people: study.delete_identities(people, [session], participants))
        return await self._writer.do(
            lambda connection: study.erase(connection, session, at),
            lambda _: self._cache.change(session, sessions.without_erasable),
        )

    async def unanswered(self, before: datetime, *, after: str = "", most: int = 200) -> Sequence[Session]:
        return await self._read(lambda connection: study.unanswered(connection, before, to_text(after), most))

    async def remove_unanswered(self, participants: Collection[str], before: datetime, at: datetime) -> int:
        def update_cache(removed: Sequence[Session]) -> None:
            for one in removed:
                self._cache.drop(one.session)

        async with self._identifying:
            # The identities go last: whoever answers before the sessions go keeps theirs.
            removed = await self._writer.do(
                lambda connection: study.remove_unanswered(connection, participants, before, at), update_cache
            )
            if removed:
                gone = {one.session for one in removed}, {one.participant for one in removed}
                await self._people.do(lambda people: study.delete_identities(people, *gone))
                await self._writer.do(study.end_removing)
        return len(removed)

    async def wipe(self, largest: int | None = None) -> Remains | None:
        remains = [
            await writer.do_alone(partial(wipe, path=path, largest=largest))
            for writer, path in ((self._writer, self._folder / FACTS), (self._people, self._folder / IDENTITY))
        ]
        return join_remains(remains)

    async def is_wipe_due(self) -> bool:
        due = await self._read(wipe_due)
        return bool(due) or ((self._folder / IDENTITY).is_file() and bool(await self._read_people(wipe_due)))

    async def last_fact(self) -> datetime | None:
        last = await self._read(study.last_fact)
        return datetime.fromisoformat(last) if last else None

    async def identify(
        self, identity: PlatformIdentity, visit: PlatformVisit | None = None, *, seen: Collection[str] | None = None
    ) -> bool:
        identity = PlatformIdentity(*map(to_text, identity))
        visit = PlatformVisit(*map(to_text, visit)) if visit else None
        async with self._identifying:
            return await self._people.do(lambda people: study.identify(people, identity, visit, seen))

    async def platform_identities(self) -> Sequence[PlatformIdentity]:
        return await self._read_people(study.platform_identities)

    async def platform_visits(self) -> Sequence[PlatformVisit]:
        return await self._read_people(study.platform_visits)

    async def purge_identity(self) -> int:
        secret = secrets.token_bytes(32)
        await self._writer.do(lambda connection: replace_secret(connection, secret))
        self.secret = secret
        return await self._people.do(study.purge_identity)

    async def senders(self, since: datetime) -> frozenset[str]:
        return await self._read(lambda connection: study.senders(connection, since))

    async def counts(self, now: datetime, run: int = 1) -> Mapping[str, int]:
        return await self._read(lambda connection: study.counts(connection, now, run))

    async def ready(self) -> bool:
        if self._facts_writer is None:
            return False
        try:
            await self._writer.do(study.touch)
        except StoreUnavailable:
            return False
        return True

    async def lead(self, task: Task) -> bool:
        if self._facts_writer is None:
            raise read_only(self._where)
        return True  # nobody else writes

    async def resign(self) -> None:
        pass

    async def clock(self) -> datetime | None:
        return None

    async def announce(self, server: str, about: Mapping[str, Json] | None) -> None:
        pass

    async def servers(self, within: timedelta) -> Mapping[str, Mapping[str, Json]]:
        return {}

    async def close(self) -> None:
        for writer in (self._facts_writer, self._people_writer):
            if writer is not None:
                await writer.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    async def _read(self, work: Callable[[sqlite3.Connection], T], file: str = FACTS, schema: str = "sqlite") -> T:
        def reading() -> T:
            with closing(self._connect(file, schema)) as connection:
                connection.execute("BEGIN")  # one snapshot for everything that is read
                return work(connection)

        try:
            return await asyncio.to_thread(reading)
        except sqlite3.Error as error:
            raise unavailable(error) or error from error

    async def _read_people(self, work: Callable[[sqlite3.Connection], Sequence[T]]) -> Sequence[T]:
        if self._people_writer is None and not (self._folder / IDENTITY).is_file():
            return ()  # the identities may be deleted while the facts are kept
        return await self._read(work, IDENTITY, "sqlite-identity")

    def _connect(self, file: str = FACTS, schema: str = "sqlite") -> sqlite3.Connection:
        """Return a reading connection to the file that the writer has open, or to the one on disk without a writer."""
        writer = self._facts_writer if file == FACTS else self._people_writer
        lost = writer.file.lost() if writer is not None else None
        if lost is not None:
            raise lost
        return connect_read(self._folder / file, schema)
