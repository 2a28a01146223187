"""Forgetting a person by a receipt: what they answered goes, and who they are; that it was done stays known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from beholder.store.contract import Entry, Store
from beholder.store.open import read_rows

_LONGEST = 64


class Theirs(NamedTuple):
    """The sessions of whoever has a receipt, oldest first, and which of them are erased already."""

    participant: str
    sessions: tuple[str, ...]
    erased: dict[str, datetime]

    @property
    def left(self) -> tuple[str, ...]:
        """The sessions that are still there."""
        return tuple(one for one in self.sessions if one not in self.erased)


def plain_receipt(text: str) -> str:
    """Return a receipt by its letters: case, spaces and dashes get lost where one is typed or read aloud."""
    return "".join(letter for letter in text.upper() if letter.isascii() and letter.isalnum())[:_LONGEST]


async def find_receipt(store: Store, receipt: str) -> Theirs | None:
    """Return everything of the person who has this receipt; None where nobody has."""
    wanted = plain_receipt(receipt)
    found = [row["session"] for row in await read_rows(store, "ends") if plain_receipt(row["receipt"]) == wanted]
    if not wanted or not found:
        return None
    sessions = await read_rows(store, "sessions")
    mine = next(row for row in sessions if row["session"] == found[0])
    # All runs and visits: a person asks to be forgotten, not a session.
    theirs = tuple(str(row["session"]) for row in sessions if row["participant"] == mine["participant"])
    erased = {str(row["session"]): row["at"] for row in await read_rows(store, "erasures")}
    return Theirs(str(mine["participant"]), theirs, {one: erased[one] for one in theirs if one in erased})


async def forget_sessions(store: Store, sessions: Sequence[str], reason: str, now: datetime) -> int:
    """Return how many facts were erased. The ledger keeps that it was done, and of which submission: it is still paid.

    What is planned first is found again should we die on the way, when nobody knows any more whose session it was.
    """
    who = {link.platform_id: link.participant for link in await store.links()}
    # Where a platform counts no visits, somebody's id stands for one; the ledger knows people by pseudonyms only.
    visits = {one.session: who.get(one.submission, one.submission) for one in await store.comings()}
    planned = {one.session: one.submission for one in await store.ledger.entries() if one.kind == "forget"}
    fresh = [
        Entry(
            "forget", "planned", now, submission=visits.get(one, ""), session=one, reason_code=one, reason_text=reason
        )
        for one in sessions
        if one not in planned
    ]
    if fresh:
        await store.ledger.append(fresh)
    rows = 0
    for one in sessions:
        await store.release(one)
        erased = await store.erase(one, now)
        submission = planned.get(one) or visits.get(one, "")
        await store.ledger.append(
            [
                Entry(
                    "forget", "done", now, submission=submission, session=one, reason_code=one, reason_text=reason,
                    evidence={"rows": erased},
                )
            ]
        )  # fmt: skip
        rows += erased
    return rows
