"""Erasure: the sessions of a receipt, visits in which nothing was answered, and removing the bytes from the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from time import monotonic
from typing import NamedTuple

from beholder.server.context import Context
from beholder.server.entrances import ENTRANCES
from beholder.store.contract import LedgerEntry, PlatformIdentity, PlatformVisit, Remains, Session, Store
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


# Visits in which nothing was answered

_KEPT = timedelta(days=1)
"""How long they stay at least: whoever reads the first page in the evening may agree the next morning."""
_ROUND = timedelta(hours=1)
_SOME = 200
"""How many participants are looked at in one go, so that nobody inside has to wait."""


class VisitRemoval:
    """Removes the visits of people who came, answered nothing and did not come back; some at a time, every hour.

    Several servers may do so at once: whoever is gone is gone. Visits that money may depend on stay: those that the
    ledger names, and those of a platform until it says that it lists no such visit.
    """

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._last = ""
        self._next: datetime | None = None

    async def go_on(self) -> int:
        """Remove some of the visits that are due, and return how many; none until the next round begins."""
        ctx, now = self._ctx, self._ctx.now()
        if self._next is not None and now < self._next:
            return 0
        before = now - max(_KEPT, ctx.entrance.lease)
        sessions = await ctx.store.unanswered(before, after=self._last, most=_SOME)
        people = {name: tuple(some) for name, some in groupby(sessions, key=lambda one: one.participant)}
        if len(people) < _SOME:
            self._last, self._next = "", now + _ROUND
        else:
            self._last, self._next = max(people), now
        removable = await self._removable(people, now)
        return await ctx.store.remove_unanswered(removable, before, now) if removable else 0

    async def _removable(self, people: Mapping[str, Sequence[Session]], now: datetime) -> list[str]:
        """Return those on whose visits nothing depends, and who have no page open at this server."""
        entries = await self._ctx.store.ledger.entries() if people else ()
        named = {one.participant for one in entries} | {one.session for one in entries}
        free = [
            name
            for name, sessions in people.items()
            if named.isdisjoint((name, *(one.session for one in sessions)))
            and not any(self._ctx.presence.is_open(one.session, now) for one in sessions)
        ]
        sent = [name for name in free if any(ENTRANCES[one.mode].has_platform for one in people[name])]
        if not sent:
            return free
        visits, identities = await self._ctx.store.platform_visits(), await self._ctx.store.platform_identities()
        # All at once, so that they share one request to the platform.
        unlisted = await asyncio.gather(*(self._is_unlisted(people[name], visits, identities) for name in sent))
        kept = {name for name, is_unlisted in zip(sent, unlisted, strict=True) if not is_unlisted}
        return [name for name in free if name not in kept]

    async def _is_unlisted(
        self, sessions: Sequence[Session], visits: Sequence[PlatformVisit], identities: Sequence[PlatformIdentity]
    ) -> bool:
        """Return whether the platform says of all visits of a participant that it does not list them."""
        platform, own = self._ctx.platform, {one.session for one in sessions}
        ids = [one.platform_id for one in identities if one.participant == sessions[0].participant]
        theirs = [one.submission for one in visits if one.session in own]
        if not theirs:  # of somebody who was refused, because the visit was of another
            return True
        if platform is None or not ids:
            return False
        return {await platform.state_of(ids[0], one) for one in theirs} == {"unlisted"}


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
