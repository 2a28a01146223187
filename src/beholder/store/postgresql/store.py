"""The store in a PostgreSQL database."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

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
from beholder.store.open import display_address
from beholder.store.postgresql import servers, sessions, study, writer
from beholder.store.postgresql.connection import (
    check_schema,
    connected,
    lock_exclusively,
    migrate,
    open_pool,
    read_secret,
    transaction,
)
from beholder.store.postgresql.study import PostgresqlLedger
from beholder.store.postgresql.writer import Batcher
from beholder.store.rules import QUICK_TO_WIPE, read_only
from beholder.store.tables import fact_row, read_row, to_text, to_time
from beholder.study.recruitment import Mode
from beholder.types import Json

_CHUNK = 500


class PostgresqlStore:
    """Facts in a database of their own, which any number of servers share. `beholder.store.open` makes it."""

    def __init__(self, pool: Any, where: str, secret: bytes, write: bool) -> None:
        self.secret = secret
        self.ledger: Ledger = PostgresqlLedger(pool, where)
        self._pool, self._where, self._write = pool, where, write
        self._leadership = servers.Leadership(pool)
        self._appends: Batcher[writer.Rows, AppendResult] = Batcher(partial(writer.append, pool), at_once=2)
        self._arrivals: Batcher[Session, tuple[Session, bool]] = Batcher(partial(sessions.arrive, pool))
        self._claims: Batcher[Claim, int | None] = Batcher(partial(sessions.claim, pool))
        self._reader = sessions.SessionReader(pool)
        self._facts: Batcher[str, SessionFacts | None] = Batcher(self._reader.read, at_once=2)

    @classmethod
    async def open(cls, url: str, *, write: bool, alone: bool = False) -> PostgresqlStore:
        """Return the store at an address, its tables created if missing."""
        pool, where = await open_pool(url, write=write and not alone), display_address(url)
        try:
            if alone:
                await lock_exclusively(pool, where)
            if write:
                await migrate(pool, where)
            else:
                await check_schema(pool, where)
            secret = await read_secret(pool, where)
            if write:
                await study.wipe(pool, QUICK_TO_WIPE)
        except BaseException:
            await pool.close()
            raise
        return cls(pool, where, secret, write)

    def _check_write(self) -> None:
        if not self._write:
            raise read_only(self._where)

    async def begin(self, record: StudyRecord, run: int = 1) -> None:
        self._check_write()
        await study.begin(self._pool, self._where, record, run)

    async def grow(self, plan: str, held: int, lists: Sequence[Json], population: Population) -> bool:
        self._check_write()
        return await study.grow(self._pool, plan, held, lists, population)

    async def current(self) -> StudyRecord | None:
        return await study.current(self._pool)

    async def arrive(self, session: Session) -> tuple[Session, bool]:
        self._check_write()
        return await self._arrivals.submit(session)

    async def runs_taken(self, participant: str, mode: Mode) -> frozenset[int]:
        return await sessions.runs_taken(self._pool, to_text(participant), mode)

    async def lists_taken(self, participant: str, mode: Mode, run: int = 1) -> tuple[int, ...]:
        return await sessions.lists_taken(self._pool, to_text(participant), mode, run)

    async def has_free_list(self, now: datetime, barred: Collection[int] = ()) -> bool:
        return await sessions.has_free_list(self._pool, now, barred)

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
        self._check_write()
        return await self._claims.submit(Claim(to_text(session), now, until, per_list, barred, preferred))

    async def renew(self, session: str, until: datetime) -> None:
        self._check_write()
        await sessions.renew(self._pool, to_text(session), until)

    async def release(self, session: str) -> None:
        self._check_write()
        await sessions.release(self._pool, to_text(session))

    async def append(self, facts: Sequence[Fact]) -> AppendResult:
        self._check_write()
        if not facts:
            raise ValueError("append needs at least one fact")
        rows = [fact_row(fact) for fact in facts]
        appended = await self._appends.submit(rows)
        if appended.is_new:  # which holds for the first row
            self._reader.add(*rows[0])
        return appended

    async def session_facts(self, session: str) -> SessionFacts | None:
        return await self._facts.submit(to_text(session))

    async def step_events(self, session: str, key: str) -> Sequence[Events]:
        return await sessions.load_step_events(self._pool, to_text(session), to_text(key))

    async def earlier_verdicts(self, session: str) -> Sequence[tuple[Session, StoredVerdict]]:
        return await sessions.load_earlier_verdicts(self._pool, to_text(session))

    async def rows(self, table: Table) -> AsyncGenerator[dict[str, Any], None]:
        async with transaction(self._pool) as connection:
            async for row in connection.cursor(study.select(table), prefetch=_CHUNK):
                yield read_row(table, row)

    async def erase(self, session: str, at: datetime) -> int:
        self._check_write()
        return await study.erase(self._pool, to_text(session), to_time(at))

    async def unanswered(self, before: datetime, *, after: str = "", most: int = 200) -> Sequence[Session]:
        return await study.unanswered(self._pool, before, to_text(after), most)

    async def remove_unanswered(self, participants: Collection[str], before: datetime, at: datetime) -> int:
        self._check_write()
        return await study.remove_unanswered(self._pool, participants, before, at)

    async def wipe(self, largest: int | None = None) -> Remains | None:
        self._check_write()
        return await study.wipe(self._pool, largest)

    async def is_wipe_due(self) -> bool:
        return await study.is_wipe_due(self._pool)

    async def last_fact(self) -> datetime | None:
        return await study.last_fact(self._pool)

    async def identify(
        self, identity: PlatformIdentity, visit: PlatformVisit | None = None, *, seen: Collection[str] | None = None
    ) -> bool:
        self._check_write()
        visit = PlatformVisit(*map(to_text, visit)) if visit else None
        return await study.identify(self._pool, PlatformIdentity(*map(to_text, identity)), visit, seen)

    async def platform_identities(self) -> Sequence[PlatformIdentity]:
        return await study.platform_identities(self._pool)

    async def platform_visits(self) -> Sequence[PlatformVisit]:
        return await study.platform_visits(self._pool)

    async def purge_identity(self) -> int:
        self._check_write()
        secret = secrets.token_bytes(32)
        people = await study.purge_identity(self._pool, secret)
        self.secret = secret
        return people

    async def senders(self, since: datetime) -> frozenset[str]:
        return await study.senders(self._pool, since)

    async def counts(self, now: datetime, run: int = 1) -> Mapping[str, int]:
        return await study.counts(self._pool, now, run)

    async def ready(self) -> bool:
        if not self._write:
            return False
        try:
            async with connected(self._pool) as connection:
                await connection.execute("UPDATE meta SET value = value WHERE name = 'secret'")
        except StoreUnavailable:
            return False
        return True

    async def lead(self, task: Task) -> bool:
        self._check_write()
        return await self._leadership.lead(task)

    async def resign(self) -> None:
        await self._leadership.resign()

    async def clock(self) -> datetime | None:
        return await servers.clock(self._pool)

    async def announce(self, server: str, about: Mapping[str, Json] | None) -> None:
        self._check_write()
        await servers.announce(self._pool, to_text(server), about)

    async def servers(self, within: timedelta) -> Mapping[str, Mapping[str, Json]]:
        return await servers.servers(self._pool, within)

    async def close(self) -> None:
        await self._leadership.resign()
        for batcher in (self._appends, self._arrivals, self._claims, self._facts):
            await batcher.close()
        try:
            await asyncio.wait_for(self._pool.close(), timeout=10)
        except TimeoutError:
            self._pool.terminate()
