"""The host of a study: receives people, hands out steps, keeps answers. Knows nothing of HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from beholder.clock import utc_now
from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.admission import Admission, Entrance, FreeLists, Leases, lease_duration
from beholder.server.answers import AnswerIntake, Consent, EventLog, ModerationGate
from beholder.server.endings import Endings, EndingTexts
from beholder.server.flow import Ending
from beholder.server.further_sessions import FurtherSessions
from beholder.server.media import MediaContent, MediaFiles
from beholder.server.moderation import Moderation
from beholder.server.page_checks import PageChecks
from beholder.server.participants import BlockList, identify
from beholder.server.preview import Previews
from beholder.server.rendering import MediaAddresses, RenderedTexts, StepPages, StepSequence
from beholder.server.requests import SubmittedAnswer
from beholder.server.script import CONSENT, ServedStudy
from beholder.server.trial_rules import TrialRules
from beholder.server.validation import AnswerReader
from beholder.store.contract import LedgerEntry, Store
from beholder.store.open import read_rows
from beholder.types import Json
from beholder.words import check_words, read_words


class StudyService:
    """Serves one study from one store. The clock is an argument, so that tests can move it."""

    def __init__(
        self,
        served: ServedStudy,
        store: Store,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.served, self.store, self.now = served, store, now
        self.words = words = read_words(served.study.language)
        self._texts = texts = RenderedTexts(served, words)
        own = check_words(served.study.language)
        self.page_checks = examiner = PageChecks(served.needs, store.secret, own)
        self._blocked = BlockList(served.study)
        farewell = EndingTexts(served, words, own)
        acts = Moderation(store.ledger)
        self.halts = acts.halts
        again = FurtherSessions(served, store, acts)
        addresses = MediaAddresses(served, store.secret)
        reader = AnswerReader(served, examiner, TrialRules(served, own), words)
        pages = StepPages(served, texts, addresses, examiner, reader)
        self.free_lists = FreeLists(store)
        self._doors = Entrance(served.study, store, acts, words)
        leases = Leases(store, again, lease_duration(served.study.recruit), self._doors, self.free_lists)
        self._ends = Endings(served.study, store, texts.of(None), examiner, farewell)
        self._arrivals = Admission(served, store, words, again, self._doors, acts, self.free_lists)
        self._standing = ModerationGate(store, acts, leases, words)
        self._way = StepSequence(served, store, words, self._arrivals, examiner, pages, self._ends, again)
        consent = Consent(served, store, again, leases)
        self._answers = AnswerIntake(
            store, words, self._arrivals, self._standing, self._way, pages, reader, consent, leases, self._ends
        )
        self._log = EventLog(store, words, self._arrivals, self._standing, self._way, leases)
        self._previews = Previews(served, store.secret, texts, words, addresses, examiner, reader, farewell, again)
        self._exhibits = MediaFiles(store, words, now, addresses, self._arrivals, self._previews, self._way, examiner)
        self.preview = self._previews.of(1)

    async def arrive(self, params: Mapping[str, str], device: Mapping[str, Json]) -> tuple[bool, dict[str, Json]]:
        """Return whether the session is new, and all that a browser needs to begin or go on."""
        guest = identify(params, self.store.secret, self.served.study, self.words, self._blocked)
        if guest.mode == "preview":
            shown = self._previews.of(guest.list)
            step = shown.arrive(device)
            return False, self._arrival(shown.session, shown.link, step, {"steps": shown.steps}, guest.list)
        await self.look()
        earlier = guest.session
        guest, session = await self._arrivals.again(guest)
        is_new = False
        if session is None:
            self._doors.welcome(guest)
            visit = await self._doors.visit(guest)
            session = visit.session.session if visit else None
            if session is None:
                session, is_new = await self._arrivals.come(guest, device, self.now())
                await self._doors.keep(guest, session)
            if is_new and earlier is not None:
                await self._doors.keep_round(earlier, guest.participant, session)
            self._ends.know(guest.participant, guest.platform_id)
        facts = await self._arrivals.facts(session)
        await self._standing.check(facts)
        if not is_new:
            await self._arrivals.settle(session, self._way.script(facts), device, self.now())
            facts = await self._arrivals.facts(session)
        token = tokens.session_token(self.store.secret, self.served.study.name, session)
        link = f"{self.served.public_url}/s/{self.served.study.name}?resume={token}"
        return is_new, self._arrival(session, link, await self._way.step(facts, self.now()), None, facts.list)

    def _arrival(
        self, session: str, link: str, step: dict[str, Json], steps: Json, number: int | None
    ) -> dict[str, Json]:
        study = self.served.study
        return {
            "token": tokens.session_token(self.store.secret, study.name, session),
            "link": link,
            "step": step,
            "study": {
                "name": study.name, "title": study.title, "language": study.language, "contact": study.contact,
                "instructions": self._texts.help(number),
            },
            "preview": steps,
        }  # fmt: skip

    async def look(self) -> None:
        """Take in what was done about people since: who is shut out, and whose list is open again."""
        await self._standing.look()

    async def step(self, token: str, key: str | None = None) -> dict[str, Json]:
        """Return where this session is. A preview may ask for any step by its key."""
        session = self._session(token)
        if (shown := self._previews.find(session)) is not None:
            return shown.step(key or CONSENT.key)
        facts = await self._arrivals.facts(session)
        await self._standing.check(facts)
        return await self._way.step(facts, self.now())

    def _session(self, token: str) -> str:
        return tokens.read_token(self.store.secret, self.served.study.name, token).session

    async def answer(self, token: str, key: str, submission: SubmittedAnswer) -> dict[str, Json]:
        """Return when the answer was stored, after a durable commit, and the next step."""
        session = self._session(token)
        if (shown := self._previews.find(session)) is not None:
            return shown.answer(key, submission)
        return await self._answers.take(session, key, submission, self.now())

    async def events(self, token: str, batch: SubmittedAnswer, key: str) -> None:
        """Keep a batch of the event log and renew the lease."""
        session = self._session(token)
        if self._previews.find(session) is None:
            await self._log.keep(session, batch, key, self.now())

    async def withdraw(self, token: str) -> dict[str, Json]:
        """Erase the answers of this session and return its end."""
        session = self._session(token)
        if (shown := self._previews.find(session)) is not None:
            return shown.step("end:withdrawn")
        facts = await self._arrivals.known(session)
        now = self.now()
        if facts.end is None:
            await self.store.append([self._ends.fact(session, Ending("withdrawn", "participant"), now)])
            await self.store.release(session)
        if not facts.erased:
            await erase_sessions(self.store, [session], "withdrawn", now)
        return await self._way.step(await self._arrivals.facts(session), now)

    async def forget(self, receipt: str) -> datetime:
        """Erase everything of whoever has a receipt; return when it was done, also where that was long ago."""
        theirs = await find_erasable(self.store, receipt)
        if theirs is None:
            raise Refused(self.words["no_receipt"], where="receipt", code="unknown_receipt", status=404)
        now = self.now()
        if not theirs.left:
            return max(theirs.erased.values())
        await erase_sessions(self.store, theirs.left, "receipt", now)
        return now

    async def media(self, token: str) -> MediaContent:
        """Return the medium behind an address: a stimulus, or what was drawn for the check at hand."""
        return await self._exhibits.open(token)


# --- Forgetting a person by a receipt: what they answered goes, and who they are; that it was done stays known ---


_LONGEST = 64


class ErasableSessions(NamedTuple):
    """The sessions of whoever has a receipt, oldest first, and which of them are erased already."""

    participant: str
    sessions: tuple[str, ...]
    erased: dict[str, datetime]

    @property
    def left(self) -> tuple[str, ...]:
        """The sessions that are still there."""
        return tuple(one for one in self.sessions if one not in self.erased)


def normalise_receipt(text: str) -> str:
    """Return a receipt by its letters: case, spaces and dashes get lost where one is typed or read aloud."""
    return "".join(letter for letter in text.upper() if letter.isascii() and letter.isalnum())[:_LONGEST]


async def find_erasable(store: Store, receipt: str) -> ErasableSessions | None:
    """Return everything of the person who has this receipt; None where nobody has."""
    wanted = normalise_receipt(receipt)
    found = [row["session"] for row in await read_rows(store, "ends") if normalise_receipt(row["receipt"]) == wanted]
    if not wanted or not found:
        return None
    sessions = await read_rows(store, "sessions")
    mine = next(row for row in sessions if row["session"] == found[0])
    # All runs and visits: a person asks to be forgotten, not a session.
    theirs = tuple(str(row["session"]) for row in sessions if row["participant"] == mine["participant"])
    erased = {str(row["session"]): row["at"] for row in await read_rows(store, "erasures")}
    return ErasableSessions(str(mine["participant"]), theirs, {one: erased[one] for one in theirs if one in erased})


async def erase_sessions(store: Store, sessions: Sequence[str], reason: str, now: datetime) -> int:
    """Return how many facts were erased. The ledger keeps that it was done, and of which submission: it is still paid.

    What is planned first is found again should we die on the way, when nobody knows any more whose session it was.
    """
    who = {link.platform_id: link.participant for link in await store.platform_identities()}
    # Where a platform counts no visits, somebody's id stands for one; the ledger knows people by pseudonyms only.
    visits = {one.session: who.get(one.submission, one.submission) for one in await store.platform_visits()}
    planned = {one.session: one.submission for one in await store.ledger.entries() if one.kind == "forget"}
    fresh = [
        LedgerEntry(
            "forget", "planned", now, submission=visits.get(one, ""), session=one, reason_code=one, reason_text=reason
        )
        for one in sessions
        if one not in planned
    ]
    if fresh:
        await store.ledger.append(fresh)
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
