"""The service of one study, without HTTP: participants arrive, get steps, send answers, withdraw, and are erased."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from beholder.checks.page_registry import check_texts
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
from beholder.words import read_words


class StudyService:
    """Serves one study from one store. The clock is an argument, so that tests can set the time."""

    def __init__(
        self,
        served: ServedStudy,
        store: Store,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.served, self.store, self.now = served, store, now
        self.words = words = read_words(served.study.language)
        self._texts = texts = RenderedTexts(served, words)
        words_by_check = check_texts(served.study.language)
        self.page_checks = page_checks = PageChecks(served.needs, store.secret, words_by_check)
        self._blocked = BlockList(served.study)
        ending_texts = EndingTexts(served, words, words_by_check)
        moderation = Moderation(store.ledger)
        self.pauses = moderation.pauses
        further = FurtherSessions(served, store, moderation)
        addresses = MediaAddresses(served, store.secret)
        reader = AnswerReader(served, page_checks, TrialRules(served, words_by_check), words)
        pages = StepPages(served, texts, addresses, page_checks, reader)
        self.free_lists = FreeLists(store)
        self._entrance = Entrance(served.study, store, moderation, words)
        leases = Leases(store, further, lease_duration(served.study.recruit), self._entrance, self.free_lists)
        self._endings = Endings(served.study, store, texts.for_list(None), page_checks, ending_texts)
        self._admission = Admission(served, store, words, further, self._entrance, moderation, self.free_lists)
        self._gate = ModerationGate(store, moderation, leases, words)
        self._sequence = StepSequence(served, store, words, self._admission, page_checks, pages, self._endings, further)
        consent = Consent(served, store, further, leases)
        self._answers = AnswerIntake(
            store, words, self._admission, self._gate, self._sequence, pages, reader, consent, leases, self._endings
        )
        self._event_log = EventLog(store, words, self._admission, self._gate, self._sequence, leases)
        self._previews = Previews(
            served, store.secret, texts, words, addresses, page_checks, reader, ending_texts, further
        )
        self._media = MediaFiles(
            store, words, now, addresses, self._admission, self._previews, self._sequence, page_checks
        )
        self.preview = self._previews.for_list(1)

    async def arrive(self, params: Mapping[str, str], device: Mapping[str, Json]) -> tuple[bool, dict[str, Json]]:
        """Return whether the session is new, and everything that a browser needs to begin or continue."""
        identity = identify(params, self.store.secret, self.served.study, self.words, self._blocked)
        if identity.mode == "preview":
            shown = self._previews.for_list(identity.list)
            step = shown.arrive(device)
            return False, self._arrival(shown.session, shown.link, step, {"steps": shown.steps}, identity.list)
        await self.refresh()
        earlier = identity.session
        identity, session = await self._admission.resume(identity)
        is_new = False
        if session is None:
            self._entrance.check_identity(identity)
            visit = await self._entrance.find_session(identity)
            session = visit.session.session if visit else None
            if session is None:
                session, is_new = await self._admission.admit(identity, device, self.now())
                await self._entrance.record_visit(identity, session)
            if is_new and earlier is not None:
                await self._entrance.record_further_session(earlier, identity.participant, session)
            self._endings.remember_platform_id(identity.participant, identity.platform_id)
        facts = await self._admission.facts(session)
        await self._gate.check(facts)
        if not is_new:
            await self._admission.record_device(session, self._sequence.script(facts), device, self.now())
            facts = await self._admission.facts(session)
        token = tokens.session_token(self.store.secret, self.served.study.name, session)
        link = f"{self.served.public_url}/s/{self.served.study.name}?resume={token}"
        return is_new, self._arrival(session, link, await self._sequence.step(facts, self.now()), None, facts.list)

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

    async def refresh(self) -> None:
        """Read new moderation entries: who is blocked, and whose list is released."""
        await self._gate.refresh()

    async def step(self, token: str, key: str | None = None) -> dict[str, Json]:
        """Return the current step of this session. A preview may request any step by its key."""
        session = self._session(token)
        if (shown := self._previews.find(session)) is not None:
            return shown.step(key or CONSENT.key)
        facts = await self._admission.facts(session)
        await self._gate.check(facts)
        return await self._sequence.step(facts, self.now())

    def _session(self, token: str) -> str:
        return tokens.read_token(self.store.secret, self.served.study.name, token).session

    async def answer(self, token: str, key: str, submission: SubmittedAnswer) -> dict[str, Json]:
        """Store an answer durably, and return when it was stored and the next step."""
        session = self._session(token)
        if (shown := self._previews.find(session)) is not None:
            return shown.answer(key, submission)
        return await self._answers.accept(session, key, submission, self.now())

    async def events(self, token: str, batch: SubmittedAnswer, key: str) -> None:
        """Store a batch of the event log and renew the lease."""
        session = self._session(token)
        if self._previews.find(session) is None:
            await self._event_log.append(session, batch, key, self.now())

    async def withdraw(self, token: str) -> dict[str, Json]:
        """Erase the answers of this session and return its last page."""
        session = self._session(token)
        if (shown := self._previews.find(session)) is not None:
            return shown.step("end:withdrawn")
        facts = await self._admission.load_facts(session)
        now = self.now()
        if facts.end is None:
            await self.store.append([self._endings.end_fact(session, Ending("withdrawn", "participant"), now)])
            await self.store.release(session)
        if not facts.erased:
            await erase_sessions(self.store, [session], "withdrawn", now)
        return await self._sequence.step(await self._admission.facts(session), now)

    async def forget(self, receipt: str) -> datetime:
        """Erase all sessions of the participant with this receipt; return when that was done, now or earlier."""
        erasable = await find_erasable(self.store, receipt)
        if erasable is None:
            raise Refused(self.words["no_receipt"], where="receipt", code="unknown_receipt", status=404)
        now = self.now()
        if not erasable.remaining:
            return max(erasable.erased.values())
        await erase_sessions(self.store, erasable.remaining, "receipt", now)
        return now

    async def media(self, token: str) -> MediaContent:
        """Return the medium behind an address: a stimulus, or a picture or sound of the current check."""
        return await self._media.open(token)


# Erasure by receipt

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
