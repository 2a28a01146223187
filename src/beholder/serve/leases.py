"""The list that a session holds, and for how long nobody else gets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from beholder.errors import Refused
from beholder.serve.again import Again
from beholder.store.contract import Session, Store


class Leases:
    """Claims lists and renews them, a write only now and then."""

    def __init__(self, store: Store, again: Again, lasts: timedelta, words: Mapping[str, str]) -> None:
        self._store, self._again, self._lasts, self._words = store, again, lasts, words
        self._until: dict[str, datetime] = {}

    async def claim(self, session: Session, had: Sequence[int], now: datetime) -> int:
        """Return the list of a session, or raise Refused where none is left. Robots share lists.

        Who had other lists gets none with anything in it that they have met.
        """
        is_robot = session.mode == "robot"
        until = now + self._lasts
        number = await self._store.claim(
            session.session,
            now=now,
            until=until,
            per_list=None if is_robot else 1,
            barred=self._again.barred(had),
            preferred=() if is_robot and not had else self._again.preferred(had),
        )
        if number is None and had:
            raise Refused(self._words["nothing_left"], code="finished", status=403)
        if number is None:
            raise Refused(self._words["full"], code="full", status=403)
        self._until[session.session] = until
        return number

    async def renew(self, session: str, now: datetime) -> None:
        """Renew a lease once a tenth of it is gone, so that most answers cost no second write."""
        if self._until.get(session, now) < now + 0.9 * self._lasts:
            self._until[session] = now + self._lasts
            await self._store.renew(session, now + self._lasts)
