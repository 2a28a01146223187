"""Who sits where: numbers that count up over stations and runs, kept in the ledger, so that no power cut loses one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime

from beholder.errors import LedgerError
from beholder.store.contract import Entry, Store
from beholder.types import Json

KIND = "seat"
_TRIES = 20


@dataclass
class Seats:
    """The numbers that every station had in a run, the one who sits there last."""

    store: Store
    run: int = 1
    _seen: int = 0
    _highest: int = 0
    _had: dict[int, list[int]] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def at(self, station: int) -> list[int]:
        """Return the numbers that sat at a station, oldest first; the last of them sits there."""
        await self._read()
        return self._had.get(station, [])

    async def next(self, station: int, after: int | None, now: datetime) -> None:
        """Seat the next number at a station, where `after` is who sits there: the same request twice seats one."""
        async with self._lock:
            for _ in range(_TRIES):
                had = await self.at(station)
                if (had[-1] if had else None) != after:
                    return
                try:
                    await self.store.ledger.append([self._entry("planned", station, self._highest + 1, now)])
                    return
                except LedgerError:  # another server gave this number to a station of its own
                    continue

    async def back(self, station: int, number: int, now: datetime) -> bool:
        """Return whether somebody who sat at a station before sits there again."""
        async with self._lock:
            had = await self.at(station)
            if number in had and had[-1] != number:
                await self.store.ledger.append([self._entry("done", station, number, now)])
            return number in had

    async def _read(self) -> None:
        for entry in await self.store.ledger.entries(self._seen):
            self._seen = max(self._seen, entry.entry)
            if entry.kind == KIND and isinstance(entry.evidence, dict):
                number = int(entry.evidence["number"])
                self._highest = max(self._highest, number)
                # Each number is a person, and nobody takes part in two runs: another one begins with free stations.
                if entry.evidence.get("run", 1) == self.run:
                    self._had.setdefault(int(entry.evidence["station"]), []).append(number)

    def _entry(self, event: str, station: int, number: int, now: datetime) -> Entry:
        # No pseudonym: the ledger outlives the links from people to pseudonyms.
        evidence: dict[str, Json] = {"station": station, "number": number, "run": self.run}
        return Entry(KIND, event, now, submission=f"lab-{number}", evidence=evidence)
