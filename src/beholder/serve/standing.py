"""Whether somebody may go on with a session, by what was done about them since."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping

from beholder.errors import Refused
from beholder.serve.acts import Acts
from beholder.serve.leases import Leases
from beholder.store.contract import SessionFacts, Store
from beholder.store.open import read_rows


class Standing:
    """Takes in what was done about people; the list of whoever may not go on is open again."""

    def __init__(self, store: Store, acts: Acts, leases: Leases, words: Mapping[str, str]) -> None:
        self._store, self._acts, self._leases, self._words = store, acts, leases, words
        self._has_looked = False

    async def look(self) -> None:
        """Take in what was done about people since: who is shut out, and whose list is open again."""
        fresh = await self._acts.read()
        is_first, self._has_looked = not self._has_looked, True
        # What was given back before we began was given back then; they may have come back since.
        given = [one.session for one in fresh if one.kind == "release" and one.session and not is_first]
        stopped = {one.participant for one in fresh if one.kind in ("shut_out", "reset")}
        for session in (*given, *(await self._freed(stopped) if stopped else ())):
            with contextlib.suppress(LookupError):
                await self._leases.release(session)

    async def check(self, facts: SessionFacts) -> None:
        """Raise Refused where somebody was shut out, or their session has given way; its list is open again."""
        try:
            self._acts.check(facts, self._words["blocked"], self._words["moved"])
        except Refused:
            await self._leases.release(facts.session.session)
            raise

    def is_released(self, session: str) -> bool:
        """Return whether the list of a session was given back."""
        return session in self._acts.released

    async def _freed(self, participants: Collection[str]) -> list[str]:
        """Return the sessions of these people that may not go on."""
        theirs = [
            row["session"] for row in await read_rows(self._store, "sessions") if row["participant"] in participants
        ]
        known = [await self._store.session_facts(session) for session in theirs]
        return [facts.session.session for facts in known if facts is not None and self._acts.frees(facts)]
