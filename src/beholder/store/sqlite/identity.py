"""Who is who, in a file of its own: links from pseudonyms to ids on platforms, and which visit was which session."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence

from beholder.store.contract import Coming, Link

OLDEST = 1
"""The oldest schema whose file can be read as it is."""


def remember(identity: sqlite3.Connection, link: Link, coming: Coming | None, seen: Collection[str] | None) -> bool:
    """Keep who somebody is, and which visit led to which session; nothing where that has led to one unseen."""
    if coming is not None and seen is not None:
        known = identity.execute("SELECT session FROM comings WHERE posting = ? AND submission = ?", coming[1:])
        if {session for (session,) in known} - {coming.session, *seen}:
            return False
    identity.execute("INSERT INTO links VALUES (?, ?, ?) ON CONFLICT DO NOTHING", link)
    if coming is not None:
        identity.execute("INSERT INTO comings VALUES (?, ?, ?) ON CONFLICT DO NOTHING", coming)
    return True


def links(identity: sqlite3.Connection) -> Sequence[Link]:
    """Return who everybody is."""
    return [
        Link(*row) for row in identity.execute("SELECT participant, platform, platform_id FROM links ORDER BY rowid")
    ]


def comings(identity: sqlite3.Connection) -> Sequence[Coming]:
    """Return which visits led to which sessions, oldest first; a file of the oldest schema has none."""
    if not identity.execute("SELECT 1 FROM sqlite_master WHERE name = 'comings'").fetchone():
        return []
    return [Coming(*row) for row in identity.execute("SELECT session, posting, submission FROM comings ORDER BY rowid")]


def forget(identity: sqlite3.Connection, session: str, participant: str | None) -> None:
    """Take away the visits of a session and, where a pseudonym is given, who that is."""
    identity.execute("DELETE FROM comings WHERE session = ?", (session,))
    if participant is not None:
        identity.execute("DELETE FROM links WHERE participant = ?", (participant,))


def purge(identity: sqlite3.Connection) -> int:
    """Take away everything, and return of how many people."""
    identity.execute("DELETE FROM comings")
    return identity.execute("DELETE FROM links").rowcount
