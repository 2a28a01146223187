"""Erasure by participants: finding the sessions of a receipt, erasing them, and removing the bytes from the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from time import monotonic
from typing import NamedTuple

from beholder.store.contract import LedgerEntry, Remains, Store
from beholder.store.open import read_rows
from beholder.store.rules import QUICK_TO_WIPE

# Sessions of a receipt

_LONGEST = 64


class ErasableSessions(NamedTuple):
    """The sessions of the participant with a receipt, oldest first, and when some of them were erased."""

    participant: str
    sessions: tuple[str, ...]
    erased: dict[str, datetime]

    @property
    def remaining(self) -> tuple[str, ...]:
        """The sessions that are not erased yet."""
        return tuple(session for session in self.sessions if session not in self.erased)


def normalise_receipt(text: str) -> str:
    """Return the letters and digits of a receipt: case, spaces and dashes get lost when it is typed or read aloud."""
    return "".join(letter for letter in text.upper() if letter.isascii() and letter.isalnum())[:_LONGEST]


async def find_erasable(store: Store, receipt: str) -> ErasableSessions | None:
    """Return all sessions of the participant with this receipt; None for an unknown receipt."""
    code = normalise_receipt(receipt)
    ended = [row["session"] for row in await read_rows(store, "ends") if normalise_receipt(row["receipt"]) == code]
    if not code or not ended:
        return None
    rows = await read_rows(store, "sessions")
    participant = next(row["participant"] for row in rows if row["session"] == ended[0])
    # Sessions of all runs: a person asks to be erased, not a session.
    sessions = tuple(str(row["session"]) for row in rows if row["participant"] == participant)
    erased = {str(row["session"]): row["at"] for row in await read_rows(store, "erasures")}
    return ErasableSessions(str(participant), sessions, {one: erased[one] for one in sessions if one in erased})


async def erase_sessions(store: Store, sessions: Sequence[str], reason: str, now: datetime) -> int:
    """Erase sessions and return how many facts were erased. The ledger notes the submission, which is still paid.

    The erasure is planned in the ledger first: after a crash the identity may be gone, and the plan still names it.
    """
    pseudonyms = {identity.platform_id: identity.participant for identity in await store.platform_identities()}
    # Where a platform has no submission ids, the platform id stands for one; the ledger holds pseudonyms only.
    visits = {one.session: pseudonyms.get(one.submission, one.submission) for one in await store.platform_visits()}
    planned = {one.session: one.submission for one in await store.ledger.entries() if one.kind == "forget"}
    new_entries = [
        LedgerEntry(
            "forget", "planned", now, submission=visits.get(one, ""), session=one, reason_code=one, reason_text=reason
        )
        for one in sessions
        if one not in planned
    ]
    if new_entries:
        await store.ledger.append(new_entries)
    rows = 0
    for one in sessions:
        await store.release(one)
        erased = await store.erase(one, now)
        submission = planned.get(one) or visits.get(one, "")
        await store.ledger.append(
            [
                LedgerEntry(
                    "forget", "done", now, submission=submission, session=one, reason_code=one, reason_text=reason,
                    evidence={"rows": erased},
                )
            ]
        )  # fmt: skip
        rows += erased
    return rows


# Removing the bytes from the disk

_PATIENCE_S = 5.0
"""How long somebody who withdraws waits for other programs that read the store."""
_PAUSE_S = 0.2
_SHARE = 20
"""Rewriting the store may take up one in so many seconds: anybody may come and withdraw, again and again."""
_EVERY_S = 5.0


async def wipe_patiently(store: Store, largest: int | None = None, patience: float = _PATIENCE_S) -> Remains | None:
    """Remove the bytes of what was erased, trying again while others read; return what is left to be done."""
    deadline = monotonic() + patience
    while True:
        remains = await store.wipe(largest)
        if remains is None or not remains.is_read or monotonic() >= deadline:
            return remains
        await asyncio.sleep(_PAUSE_S)


class Wiping:
    """Removes the bytes of what was erased while a server runs: at once where that is quick, else when it is quiet."""

    def __init__(self, store: Store, patience: float = _PATIENCE_S) -> None:
        self._store, self._patience = store, patience
        self._running = asyncio.Lock()
        self._rests_until = 0.0
        self._next = 0.0

    async def wipe(self) -> Remains | None:
        """Wait until the bytes are gone, for a few seconds at most; return what is left to be done."""
        deadline = monotonic() + self._patience
        if self._rests_until > deadline:
            return await self._store.wipe(largest=0)  # empties the log, and tells whether anything is to be done
        await asyncio.sleep(max(0.0, self._rests_until - monotonic()))
        return await self._wipe(QUICK_TO_WIPE, deadline - monotonic())

    async def go_on(self, *, is_quiet: bool) -> Remains | None:
        """Try what is left to be done, every few seconds; of any size while nobody is in the study."""
        now = monotonic()
        if now < max(self._next, self._rests_until):
            return None
        self._next = now + _EVERY_S
        return await self._wipe(None if is_quiet else QUICK_TO_WIPE, 0.0)

    async def _wipe(self, largest: int | None, patience: float) -> Remains | None:
        try:
            await asyncio.wait_for(self._running.acquire(), max(patience, _PAUSE_S))
        except TimeoutError:
            return Remains("the store is being rewritten", is_read=True)
        try:
            before = monotonic()
            remains = await wipe_patiently(self._store, largest, patience)
            if remains is None:
                self._rests_until = monotonic() + _SHARE * (monotonic() - before)
            return remains
        finally:
            self._running.release()
