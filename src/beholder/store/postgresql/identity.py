"""Who is who, in a schema of its own: links from pseudonyms to ids on platforms, and which visit was which session."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from beholder.store.contract import Coming, Link
from beholder.store.postgresql.connection import LOCK_ARRIVAL, connected, transaction


async def remember(pool: Any, link: Link, coming: Coming | None, seen: Collection[str] | None) -> bool:
    """Keep who somebody is, and which visit led to which session; nothing where that has led to one unseen."""
    async with transaction(pool, lock=LOCK_ARRIVAL) as connection:
        if coming is not None and seen is not None:
            query = "SELECT session FROM identity.comings WHERE posting = $1 AND submission = $2"
            known = await connection.fetch(query, coming.posting, coming.submission)
            if {row["session"] for row in known} - {coming.session, *seen}:
                return False
        await connection.execute("INSERT INTO identity.links VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", *link)
        if coming is not None:
            await connection.execute(
                "INSERT INTO identity.comings (session, posting, submission) VALUES ($1, $2, $3)"
                " ON CONFLICT DO NOTHING",
                *coming,
            )
        return True


async def links(pool: Any) -> Sequence[Link]:
    """Return who everybody is."""
    async with connected(pool) as connection:
        return [Link(*row) for row in await connection.fetch("SELECT * FROM identity.links")]


async def comings(pool: Any) -> Sequence[Coming]:
    """Return which visits led to which sessions, oldest first."""
    query = "SELECT session, posting, submission FROM identity.comings ORDER BY n"
    async with connected(pool) as connection:
        return [Coming(*row) for row in await connection.fetch(query)]


async def purge(pool: Any, secret: bytes) -> int:
    """Take away everything, put a new secret in the place of the old one, and return of how many people."""
    async with transaction(pool) as connection:
        await connection.execute("UPDATE meta SET value = $1 WHERE name = 'secret'", secret.hex())
        await connection.execute("DELETE FROM identity.comings")
        return int((await connection.execute("DELETE FROM identity.links")).split()[-1])
