"""The list that a session holds, and for how long nobody else gets it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from beholder.serve.again import Again
from beholder.serve.doors import Doors
from beholder.serve.room import Room
from beholder.store.contract import Session, Store
from beholder.study.part import span
from beholder.study.recruiting import Recruit, longest_minutes

_RESERVED = timedelta(minutes=10)
"""How long Prolific keeps a place for somebody before they begin."""


def lease(recruit: Recruit) -> timedelta:
    """Return how long a session may rest: on Prolific as long as the platform lets people take, and a little more."""
    written = span(recruit.time_limit or "60 min")
    if recruit.mode != "prolific":
        return written
    asked = timedelta(minutes=longest_minutes(recruit.minutes)) if recruit.minutes else timedelta()
    return max(written if recruit.time_limit or not asked else asked, asked) + _RESERVED


class Leases:
    """Claims lists and renews them, a write only now and then."""

    def __init__(self, store: Store, again: Again, lasts: timedelta, doors: Doors, room: Room) -> None:
        self._store, self._again, self._lasts, self._doors, self._room = store, again, lasts, doors, room
        self._until: dict[str, datetime] = {}

    async def claim(self, session: Session, had: Sequence[int], now: datetime) -> int:
        """Return the list of a session, or raise Refused where none is left. Robots share lists.

        Who had other lists gets none with anything in it that they have met.
        """
        until = now + self._lasts
        number = await self._claim(session, had, now, until)
        if number is None and session.mode != "robot" and await self._room.make():
            number = await self._claim(session, had, now, until)
        if number is None and had:
            raise self._doors.refusal("nothing_left")
        if number is None:
            raise self._doors.refusal("full")
        self._until[session.session] = until
        return number

    async def _claim(self, session: Session, had: Sequence[int], now: datetime, until: datetime) -> int | None:
        is_robot = session.mode == "robot"
        return await self._store.claim(
            session.session,
            now=now,
            until=until,
            per_list=None if is_robot else 1,
            barred=self._again.barred(had),
            preferred=() if is_robot and not had else self._again.preferred(had),
        )

    async def renew(self, session: str, now: datetime) -> None:
        """Renew a lease once a tenth of it is gone, so that most answers cost no second write."""
        if self._until.get(session, now) < now + 0.9 * self._lasts:
            self._until[session] = now + self._lasts
            await self._store.renew(session, now + self._lasts)

    async def release(self, session: str) -> None:
        """End a lease now; an answer that still comes takes it again."""
        self._until.pop(session, None)
        await self._store.release(session)
