"""The list that a session holds, and for how long nobody else gets it."""

from __future__ import annotations

from datetime import datetime, timedelta

from beholder.errors import Refused
from beholder.store.contract import Session, Store


class Leases:
    """Claims lists and renews them, a write only now and then."""

    def __init__(self, store: Store, lasts: timedelta, full: str) -> None:
        self._store, self._lasts, self._full = store, lasts, full
        self._until: dict[str, datetime] = {}

    async def claim(self, session: Session, now: datetime) -> int:
        """Return the list of a session, or raise Refused where none is left. Robots share lists."""
        per_list = None if session.mode == "robot" else 1
        until = now + self._lasts
        number = await self._store.claim(session.session, now=now, until=until, per_list=per_list)
        if number is None:
            raise Refused(self._full, code="full", status=403)
        self._until[session.session] = until
        return number

    async def renew(self, session: str, now: datetime) -> None:
        """Renew a lease once a tenth of it is gone, so that most answers cost no second write."""
        if self._until.get(session, now) < now + 0.9 * self._lasts:
            self._until[session] = now + self._lasts
            await self._store.renew(session, now + self._lasts)
