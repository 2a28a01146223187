"""The study in SQLite: its text, stimuli and plan, counts, erasure, identities, and the ledger."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from beholder.errors import StoreError
from beholder.store.contract import (
    LedgerEntry,
    PlatformIdentity,
    PlatformVisit,
    Population,
    Session,
    StudyRecord,
    Table,
)
from beholder.store.rules import (
    IDENTIFYING,
    LAST_FACT,
    StoreContents,
    anonymised_values,
    check_begin,
    check_growth,
    ledger_in_use,
    removal_rows,
    repeated_entry,
    unknown_session,
)
from beholder.store.sqlite.database_files import (
    LEDGER,
    SENDER,
    SENDER_LOCK,
    Lock,
    connect_read,
    connect_write,
    note_erasure,
    unavailable,
)
from beholder.store.sqlite.sessions import add_occupancy
from beholder.store.tables import (
    ERASABLE,
    SHAPES,
    entry_row,
    list_rows,
    read_entry,
    read_record,
    read_session,
    stimulus_rows,
    study_row,
    to_iso,
    to_json,
)
from beholder.study.recruitment import NOT_PEOPLE
from beholder.types import Json

_PEOPLE_IN_OTHER_PLANS = """
SELECT count(DISTINCT participant) FROM claims JOIN sessions USING (session) JOIN studies USING (digest)
WHERE plan_digest <> ? AND run = ? AND mode NOT IN ('robot', 'preview')
"""

_LISTS = "SELECT list, trials FROM lists WHERE plan_digest = ? ORDER BY list DESC LIMIT 1"

_POPULATIONS = "SELECT 'people' UNION SELECT population FROM occupancy WHERE plan_digest = ?"

_COUNTS = """
SELECT
  count(*) + (SELECT coalesce(sum(sessions), 0) FROM removals WHERE run = :run),
  count(CASE WHEN outcome IS NULL AND leases.until > :now THEN 1 END),
  count(CASE WHEN outcome = 'completed' THEN 1 END),
  count(DISTINCT CASE WHEN leases.until = '9999' THEN leases.list END),
  count(CASE WHEN outcome <> 'completed' THEN 1 END),
  coalesce(sum((SELECT count(*) FROM answers WHERE answers.session = sessions.session)), 0),
  (SELECT count(*) FROM lists WHERE plan_digest =
    (SELECT plan_digest FROM studies WHERE digest = (SELECT value FROM meta WHERE name = 'digest')))
FROM sessions LEFT JOIN ends USING (session) LEFT JOIN leases USING (session)
WHERE run = :run AND mode NOT IN ('robot', 'preview')
"""


def select(table: Table, where: str = "") -> str:
    """Return the query for the rows of a table in the order of insertion."""
    return f"SELECT {SHAPES[table].quoted} FROM {table} {where} ORDER BY rowid"


def insert_row(table: Table) -> str:
    """Return the statement that adds a row to a table."""
    shape = SHAPES[table]
    return f"INSERT INTO {table} ({shape.quoted}) VALUES ({', '.join('?' * len(shape.columns))})"


def begin(connection: sqlite3.Connection, where: str, record: StudyRecord, run: int) -> None:
    """Write a study text once, its plan once, and make it the current one."""
    first = connection.execute("SELECT study FROM studies LIMIT 1").fetchone()
    same = connection.execute("SELECT plan_digest, software FROM studies WHERE digest = ?", (record.digest,)).fetchone()
    (people,) = connection.execute(_PEOPLE_IN_OTHER_PLANS, (record.plan_digest, run)).fetchone()
    check_begin(where, record, StoreContents(first and first[0], same and same[0], same and same[1], people))
    if same is None:
        row = study_row(record)
        connection.execute(insert_row("studies"), (*row[:-1], to_iso(row[-1])))
        connection.executemany(insert_row("stimuli"), stimulus_rows(record))
    stored = connection.execute(_LISTS, (record.plan_digest,)).fetchone()
    held, last = stored or (0, None)
    check_growth(where, record, held, last)
    if held < len(record.lists):
        connection.executemany(insert_row("lists"), list_rows(record)[held:])
        for (kind,) in connection.execute(_POPULATIONS, (record.plan_digest,)).fetchall():
            add_occupancy(connection, record.plan_digest, kind)
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('digest', ?)", (record.digest,))


def grow(connection: sqlite3.Connection, plan: str, held: int, lists: Sequence[Json], population: Population) -> bool:
    """Add lists to a plan of so many for one population; return whether it was of so many."""
    if connection.execute("SELECT count(*) FROM lists WHERE plan_digest = ?", (plan,)).fetchone()[0] != held:
        return False
    known = "SELECT 1 FROM occupancy WHERE plan_digest = ? AND population = ?"
    if not connection.execute(known, (plan, population)).fetchone():
        add_occupancy(connection, plan, population)
    numbered = list(enumerate(lists, held + 1))
    connection.executemany(insert_row("lists"), [(plan, number, to_json(one)) for number, one in numbered])
    # Not by `add_occupancy`: it would add the lists of other populations, too.
    connection.executemany(
        "INSERT INTO occupancy (plan_digest, population, list, sessions, expires) VALUES (?, ?, ?, 0, '9999')",
        [(plan, population, number) for number, _ in numbered],
    )
    return True


def current(connection: sqlite3.Connection) -> StudyRecord | None:
    """Return the study text that began last."""
    where = "WHERE digest = (SELECT value FROM meta WHERE name = 'digest')"
    study = connection.execute(select("studies", where)).fetchone()
    if study is None:
        return None
    stimuli = connection.execute(select("stimuli", where)).fetchall()
    lists = connection.execute(select("lists", "WHERE plan_digest = ?"), (study[1],)).fetchall()
    return read_record(study, stimuli, lists)


def senders(connection: sqlite3.Connection, since: datetime) -> frozenset[str]:
    """Return the sessions that have begun, answered or sent events since a moment."""
    parts = (f"SELECT session FROM {table} WHERE at >= :since" for table in ("sessions", "answers", "events"))
    rows = connection.execute(" UNION ".join(parts), {"since": to_iso(since)})
    return frozenset(session for (session,) in rows)


def counts(connection: sqlite3.Connection, now: datetime, run: int) -> Mapping[str, int]:
    """Return the counts of the participants of a run."""
    row = connection.execute(_COUNTS, {"now": to_iso(now), "run": run}).fetchone()
    return dict(zip(("arrived", "live", "completed", "finished", "ended", "answers", "lists"), row, strict=True))


def last_fact(connection: sqlite3.Connection) -> str | None:
    """Return when the last fact about a person was stored, as text."""
    row = connection.execute(f"SELECT max(at) FROM ({LAST_FACT})").fetchone()
    return str(row[0]) if row[0] is not None else None


def touch(connection: sqlite3.Connection) -> None:
    """Write a meaningless value, to test whether writing works."""
    # A new value each time, because SQLite does not write an unchanged page.
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('touched', hex(randomblob(8)))")


# Erasure


def only_participant(connection: sqlite3.Connection, session: str) -> str | None:
    """Return the participant of a session if all their other sessions are erased, else None."""
    row = connection.execute("SELECT participant FROM sessions WHERE session = ?", (session,)).fetchone()
    if row is None:
        raise unknown_session(session)
    others = connection.execute(
        "SELECT 1 FROM sessions WHERE participant = ? AND session <> ?"
        " AND session NOT IN (SELECT session FROM erasures)",
        (row[0], session),
    ).fetchone()
    return None if others else str(row[0])


def erase(connection: sqlite3.Connection, session: str, at: datetime) -> int:
    """Return how many facts of a session were deleted; a repeat deletes nothing and returns the same."""
    done = connection.execute("SELECT rows FROM erasures WHERE session = ?", (session,)).fetchone()
    if done:
        return int(done[0])
    count = 0
    for table in ERASABLE:
        count += connection.execute(f"SELECT count(*) FROM {table} WHERE session = ?", (session,)).fetchone()[0]
    connection.execute("INSERT INTO erasures (session, rows, at) VALUES (?, ?, ?)", (session, count, to_iso(at)))
    for table in ERASABLE:
        connection.execute(f"DELETE FROM {table} WHERE session = ?", (session,))
    connection.execute("UPDATE sessions SET device = '{}' WHERE session = ?", (session,))
    note_erasure(connection)
    return count


# Visits that never went further

_UNANSWERED = f"""
SELECT {SHAPES["sessions"].quoted} FROM sessions WHERE participant IN (
  SELECT participant FROM sessions
  WHERE participant > :after AND mode NOT IN {NOT_PEOPLE} {{among}}
  GROUP BY participant
  HAVING max(at) < :before
    AND count(*) = (SELECT count(*) FROM unanswered WHERE unanswered.participant = sessions.participant)
  ORDER BY participant LIMIT :most
)
ORDER BY participant, visit
"""
_AMONG = "AND participant IN (SELECT value FROM json_each(:participants))"


def unanswered(connection: sqlite3.Connection, before: datetime, after: str, most: int) -> list[Session]:
    """Return all sessions of people who only arrived, the last time before a moment."""
    values = {"before": to_iso(before), "after": after, "most": most}
    return [read_session(row) for row in connection.execute(_UNANSWERED.format(among=""), values)]


def remove_unanswered(
    connection: sqlite3.Connection, participants: Collection[str], before: datetime, at: datetime
) -> list[Session]:
    """Delete the sessions of those who still only arrived, note how many, and return them."""
    values = {"before": to_iso(before), "after": "", "most": -1, "participants": json.dumps(list(participants))}
    removed = [read_session(row) for row in connection.execute(_UNANSWERED.format(among=_AMONG), values)]
    if not removed:
        return []
    for table in (*ERASABLE, "sessions"):
        connection.executemany(f"DELETE FROM {table} WHERE session = ?", [(one.session,) for one in removed])
    for row in removal_rows(removed):
        connection.execute(insert_row("removals"), (*row, to_iso(at)))
    note_erasure(connection)
    # The identities are in another file: after a crash here the next process finds them by this.
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('removing', '1')")
    return removed


def end_removing(connection: sqlite3.Connection) -> None:
    """Note that the identities of removed sessions are gone, too."""
    connection.execute("DELETE FROM meta WHERE name = 'removing'")


def finish_removing(connection: sqlite3.Connection, people: sqlite3.Connection) -> None:
    """Delete the identities of sessions that were removed just before a crash."""
    if not connection.execute("SELECT 1 FROM meta WHERE name = 'removing'").fetchone():
        return
    known = connection.execute("SELECT session, participant FROM sessions").fetchall()
    visits, links = people.execute("SELECT session FROM comings"), people.execute("SELECT participant FROM links")
    sessions = {session for (session,) in visits} - {session for session, _ in known}
    delete_identities(people, sessions, {one for (one,) in links} - {participant for _, participant in known})
    end_removing(connection)


# Identities, in a file of their own


def identify(
    people: sqlite3.Connection, identity: PlatformIdentity, visit: PlatformVisit | None, seen: Collection[str] | None
) -> bool:
    """Store an identity and a visit; nothing, and return False, where the visit has led to an unknown session."""
    if visit is not None and seen is not None:
        known = people.execute("SELECT session FROM comings WHERE posting = ? AND submission = ?", visit[1:])
        if {session for (session,) in known} - {visit.session, *seen}:
            return False
    people.execute("INSERT INTO links VALUES (?, ?, ?) ON CONFLICT DO NOTHING", identity)
    if visit is not None:
        people.execute("INSERT INTO comings VALUES (?, ?, ?) ON CONFLICT DO NOTHING", visit)
    return True


def platform_identities(people: sqlite3.Connection) -> Sequence[PlatformIdentity]:
    """Return all identities."""
    return [
        PlatformIdentity(*row)
        for row in people.execute("SELECT participant, platform, platform_id FROM links ORDER BY rowid")
    ]


def platform_visits(people: sqlite3.Connection) -> Sequence[PlatformVisit]:
    """Return which visits led to which sessions, oldest first."""
    return [
        PlatformVisit(*row) for row in people.execute("SELECT session, posting, submission FROM comings ORDER BY rowid")
    ]


def delete_identities(people: sqlite3.Connection, sessions: Collection[str], participants: Collection[str]) -> None:
    """Delete the platform visits of sessions, and the identities of participants."""
    visits = people.executemany("DELETE FROM comings WHERE session = ?", [(one,) for one in sessions]).rowcount
    links = people.executemany("DELETE FROM links WHERE participant = ?", [(one,) for one in participants]).rowcount
    if visits > 0 or links > 0:
        note_erasure(people)


def purge_identity(people: sqlite3.Connection) -> int:
    """Delete all identities and visits, and return the number of participants."""
    note_erasure(people)
    people.execute("DELETE FROM comings")
    return people.execute("DELETE FROM links").rowcount


# Ledger, in a file of its own, which is opened for each call

T = TypeVar("T")
_COLUMNS = SHAPES["ledger"].quoted
_INSERT = f"INSERT INTO ledger ({_COLUMNS}) VALUES ({', '.join('?' * len(SHAPES['ledger'].columns))})"
_SELECT = f"SELECT {_COLUMNS} FROM ledger WHERE entry > ? ORDER BY entry"
_UPDATE = f"UPDATE ledger SET ({', '.join(IDENTIFYING)}) = ({', '.join('?' * len(IDENTIFYING))}) WHERE entry = ?"


class SqliteLedger:
    """The ledger of an SQLite store. The first entry creates its file."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / LEDGER

    async def append(self, entries: Sequence[LedgerEntry]) -> tuple[LedgerEntry, ...]:
        return await self._run(lambda: self._append(entries))

    async def entries(self, after: int = 0) -> tuple[LedgerEntry, ...]:
        return await self._run(lambda: self._entries(after))

    async def purge_identity(self) -> int:
        return await self._run(self._purge)

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        lock = await asyncio.to_thread(Lock, self._folder, SENDER_LOCK, SENDER, ledger_in_use)
        try:
            yield
        finally:
            lock.release()

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except sqlite3.Error as error:
            raise unavailable(error) or error from error

    def _connect(self) -> sqlite3.Connection:
        return connect_write(self._path, "sqlite-ledger", journal="DELETE", timeout=20)

    def _append(self, entries: Sequence[LedgerEntry]) -> tuple[LedgerEntry, ...]:
        with closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            numbered = [self.insert_row(connection, entry) for entry in entries]
            connection.execute("COMMIT")  # closing without it rolls back
        return tuple(numbered)

    def insert_row(self, connection: sqlite3.Connection, entry: LedgerEntry) -> LedgerEntry:
        _, *values, at = entry_row(entry)
        try:
            cursor = connection.execute(_INSERT, (None, *values, to_iso(at)))
        except sqlite3.IntegrityError as error:
            raise repeated_entry(str(self._folder), entry) from error
        return replace(entry, entry=cursor.lastrowid or 0)

    def _entries(self, after: int) -> tuple[LedgerEntry, ...]:
        if not self._path.is_file():
            return ()
        try:
            # Opened for writing, although it reads: only so a transaction of a crashed process is rolled back.
            connection = self._connect()
        except StoreError:
            connection = connect_read(self._path, "sqlite-ledger")
        with closing(connection):
            return tuple(read_entry(row) for row in connection.execute(_SELECT, (after,)))

    def _purge(self) -> int:
        if not self._path.is_file():
            return 0
        with closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            changed = anonymised_values([read_entry(row) for row in connection.execute(_SELECT, (0,))])
            connection.executemany(_UPDATE, changed)
            connection.execute("COMMIT")
            if changed:
                connection.execute("VACUUM")  # without the bytes of what was removed
        return len(changed)
