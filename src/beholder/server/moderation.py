"""Moderation, read from the ledger: who is blocked, readmitted or reset, whose list is released, and pauses."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping

from beholder.errors import Refused
from beholder.store.contract import Ledger, LedgerEntry, SessionFacts
from beholder.study.model import Study
from beholder.study.recruitment import own_posting

VERIFIED = "verified"
"""The kind of an entry that the platform lists the visit of a session."""
_READMITTING = ("let_in", "reset")


class Moderation:
    """The moderation entries of the ledger up to the last one read; a refresh reads only new entries."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._last = ledger, 0
        self._at_start: int | None = None
        self._blocked: set[str] = set()
        self._readmissions: defaultdict[str, list[LedgerEntry]] = defaultdict(list)
        self._reading = asyncio.Lock()
        self.postings: dict[str, int | None] = {}
        """The postings of the study by their platform id, with the run of each where that is known."""
        self.released: set[str] = set()
        """Sessions whose list was released."""
        self.verified: set[str] = set()
        """Sessions whose visit the platform has verified."""
        self.pauses = Pauses()

    async def refresh(self) -> tuple[LedgerEntry, ...]:
        """Apply the new entries of the ledger, and return them."""
        async with self._reading:  # two concurrent reads would apply the older entry last
            new_entries = await self._ledger.entries(self._last)
            for entry in new_entries:
                self._apply(entry)
                self._last = entry.entry
            if self._at_start is None:
                self._at_start = self._last
            return new_entries

    def is_earlier(self, entry: LedgerEntry) -> bool:
        """Return whether an entry is from before the first refresh."""
        return self._at_start is not None and entry.entry <= self._at_start

    def is_blocked(self, participant: str) -> bool:
        """Return whether a participant is blocked, and was not readmitted since."""
        return participant in self._blocked

    def is_posted(self, posting: str, run: int) -> bool:
        """Return whether this is a posting of this run of the study."""
        return posting in self.postings and self.postings[posting] in (None, run)

    def readmissions(self, participant: str) -> int:
        """Return how often a participant was readmitted or reset."""
        return len(self._readmissions.get(participant, ()))

    def is_superseded(self, facts: SessionFacts) -> bool:
        """Return whether a new session replaces this one.

        A readmission replaces a session that ended early; a reset also replaces one that is open.
        """
        session, end = facts.session, facts.end
        if end is not None and end.outcome == "completed":
            return False
        since = [entry for entry in self._readmissions.get(session.participant, ()) if entry.at >= session.at]
        return any(entry.kind == "reset" or (end is not None and entry.at >= end.at) for entry in since)

    def must_release(self, facts: SessionFacts) -> bool:
        """Return whether a session may not continue, so that its list is released."""
        return facts.end is None and (self.is_blocked(facts.session.participant) or self.is_superseded(facts))

    def check(self, facts: SessionFacts, blocked: str, moved: str) -> None:
        """Raise Refused where a session may not continue: the participant is blocked, or it was replaced."""
        if facts.end is not None:
            return
        if self.is_blocked(facts.session.participant):
            raise Refused(blocked, code="blocked", status=403)
        if self.is_superseded(facts):
            raise Refused(moved, code="moved", status=403)

    def _apply(self, entry: LedgerEntry) -> None:
        self.pauses.apply(entry)
        if entry.event != "done":
            return
        if entry.kind == "draft" and entry.provider_ref:
            run = entry.evidence.get("run") if isinstance(entry.evidence, Mapping) else None
            self.postings[entry.provider_ref] = run if isinstance(run, int) else None
        elif entry.kind == "shut_out":
            self._blocked.add(entry.participant)
        elif entry.kind == "let_in":
            self._blocked.discard(entry.participant)
        elif entry.kind == "release" and entry.session:
            self.released.add(entry.session)
        elif entry.kind == VERIFIED:
            self.verified.add(entry.session)
        if entry.kind in _READMITTING:
            self._readmissions[entry.participant].append(entry)


# Pauses

_NOTICES = {"pause": "Paused", "stop": "Closed"}


class Pauses:
    """Postings that a researcher paused or stopped and has not resumed, by platform id."""

    def __init__(self, entries: Iterable[LedgerEntry] = ()) -> None:
        self._paused: dict[str, LedgerEntry] = {}
        for entry in entries:
            self.apply(entry)

    def apply(self, entry: LedgerEntry) -> None:
        """Apply an entry about a pause; any other entry changes nothing."""
        if entry.event != "done":
            return
        if entry.kind in _NOTICES:
            self._paused[entry.provider_ref] = entry
        elif entry.kind in ("publish", "resume") or (entry.kind == "places" and self._is_stopped(entry.provider_ref)):
            self._paused.pop(entry.provider_ref, None)

    def active(self, study: Study) -> LedgerEntry | None:
        """Return the entry that paused a study; None while it is open."""
        if study.recruit.source.is_platform:  # it pauses its postings itself, and those it has sent already may begin
            return None
        return self._paused.get(own_posting(study.name, study.run))

    def notice(self, study: Study) -> str:
        """Return that nobody can begin, and how to resume; empty while the study is open."""
        entry = self.active(study)
        if entry is None:
            return ""
        return f"{_NOTICES[entry.kind]} on {entry.at:%Y-%m-%d}: nobody can begin. `beholder launch --resume` opens it."

    def _is_stopped(self, posting: str) -> bool:
        return posting in self._paused and self._paused[posting].kind == "stop"
