"""Doors that a person has shut: paused or closed, read from the ledger."""

from __future__ import annotations

from collections.abc import Iterable

from beholder.store.contract import Entry
from beholder.study.model import Study
from beholder.study.recruiting import own_posting

_WORDS = {"pause": "Paused", "stop": "Closed"}


class Halts:
    """Knows what was shut last, and not opened since, by what it was put up as."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._shut: dict[str, Entry] = {}
        for entry in entries:
            self.take_in(entry)

    def take_in(self, entry: Entry) -> None:
        """Take in what was done; of acts about anything else nothing."""
        if entry.event != "done":
            return
        if entry.kind in _WORDS:
            self._shut[entry.provider_ref] = entry
        elif entry.kind in ("publish", "resume") or (entry.kind == "places" and self._is_stopped(entry.provider_ref)):
            self._shut.pop(entry.provider_ref, None)

    def of(self, study: Study) -> Entry | None:
        """Return what shut a study to everybody; None while it is open. A platform has doors of its own."""
        if study.recruit.mode == "prolific":
            return None
        return self._shut.get(own_posting(study.name, study.run))

    def words(self, study: Study) -> str:
        """Return that nobody can begin, and what opens it; empty while it is open."""
        act = self.of(study)
        if act is None:
            return ""
        return f"{_WORDS[act.kind]} on {act.at:%Y-%m-%d}: nobody can begin. `beholder launch --resume` opens it."

    def _is_stopped(self, posting: str) -> bool:
        return posting in self._shut and self._shut[posting].kind == "stop"
