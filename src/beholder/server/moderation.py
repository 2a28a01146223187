"""What was done about people, read from the ledger: who is shut out, let back in, begins anew, loses a list."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping

from beholder.errors import Refused
from beholder.store.contract import Ledger, LedgerEntry, SessionFacts
from beholder.study.model import Study
from beholder.study.recruitment import own_posting

_PARDONS = ("let_in", "reset")


class Moderation:
    """Knows every act up to the last one read; reading again costs only what is new."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._last = ledger, 0
        self._shut: set[str] = set()
        self._pardons: defaultdict[str, list[LedgerEntry]] = defaultdict(list)
        self._reading = asyncio.Lock()
        self.postings: dict[str, int | None] = {}
        """The ids on the platform under which the study was put up, and in which run, where that is known."""
        self.released: set[str] = set()
        """Sessions whose list was given back."""
        self.halts = Pauses()

    async def read(self) -> tuple[LedgerEntry, ...]:
        """Return what is new in the ledger, after taking it in."""
        async with self._reading:  # two who read at once would take in the older act last
            fresh = await self._ledger.entries(self._last)
            for entry in fresh:
                self._take_in(entry)
                self._last = entry.entry
            return fresh

    def is_shut(self, participant: str) -> bool:
        """Return whether somebody was shut out, and not let in since."""
        return participant in self._shut

    def is_posted(self, posting: str, run: int) -> bool:
        """Return whether the study was put up under this id, in this run."""
        return posting in self.postings and self.postings[posting] in (None, run)

    def pardons(self, participant: str) -> int:
        """Return how often somebody was let in, or began anew."""
        return len(self._pardons.get(participant, ()))

    def gives_way(self, facts: SessionFacts) -> bool:
        """Return whether a session gives way to a new visit.

        Who is let back in begins after a session that ended early; who begins anew, also after one that is open.
        """
        session, end = facts.session, facts.end
        if end is not None and end.outcome == "completed":
            return False
        since = [entry for entry in self._pardons.get(session.participant, ()) if entry.at >= session.at]
        return any(entry.kind == "reset" or (end is not None and entry.at >= end.at) for entry in since)

    def frees(self, facts: SessionFacts) -> bool:
        """Return whether a session may not go on, so that its list is for others."""
        return facts.end is None and (self.is_shut(facts.session.participant) or self.gives_way(facts))

    def check(self, facts: SessionFacts, blocked: str, moved: str) -> None:
        """Raise Refused where somebody may not go on with a session: shut out, or it has given way."""
        if facts.end is not None:
            return
        if self.is_shut(facts.session.participant):
            raise Refused(blocked, code="blocked", status=403)
        if self.gives_way(facts):
            raise Refused(moved, code="moved", status=403)

    def _take_in(self, entry: LedgerEntry) -> None:
        self.halts.take_in(entry)
        if entry.event != "done":
            return
        if entry.kind == "draft" and entry.provider_ref:
            run = entry.evidence.get("run") if isinstance(entry.evidence, Mapping) else None
            self.postings[entry.provider_ref] = run if isinstance(run, int) else None
        elif entry.kind == "shut_out":
            self._shut.add(entry.participant)
        elif entry.kind == "let_in":
            self._shut.discard(entry.participant)
        elif entry.kind == "release" and entry.session:
            self.released.add(entry.session)
        if entry.kind in _PARDONS:
            self._pardons[entry.participant].append(entry)


# --- Doors that a person has shut: paused or closed, read from the ledger ---


_WORDS = {"pause": "Paused", "stop": "Closed"}


class Pauses:
    """Knows what was shut last, and not opened since, by what it was put up as."""

    def __init__(self, entries: Iterable[LedgerEntry] = ()) -> None:
        self._shut: dict[str, LedgerEntry] = {}
        for entry in entries:
            self.take_in(entry)

    def take_in(self, entry: LedgerEntry) -> None:
        """Take in what was done; of acts about anything else nothing."""
        if entry.event != "done":
            return
        if entry.kind in _WORDS:
            self._shut[entry.provider_ref] = entry
        elif entry.kind in ("publish", "resume") or (entry.kind == "places" and self._is_stopped(entry.provider_ref)):
            self._shut.pop(entry.provider_ref, None)

    def of(self, study: Study) -> LedgerEntry | None:
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
