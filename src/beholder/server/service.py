"""The service of one study, without HTTP: participants arrive, get steps, send answers, withdraw, and are erased."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from beholder.checks.page_registry import check_texts
from beholder.clock import utc_now
from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.admission import (
    Leases,
    ReleaseLists,
    admit,
    check_identity,
    check_moderation,
    find_session,
    load_facts,
    load_session,
    record_device,
    record_further_session,
    record_visit,
    refresh_moderation,
    resume,
)
from beholder.server.answers import last_draft, take_answer, take_events
from beholder.server.context import Context
from beholder.server.endings import end_fact
from beholder.server.entrances import entrance_of, identify
from beholder.server.flow import Ending
from beholder.server.further_sessions import FurtherSessions
from beholder.server.media import MediaContent, open_media
from beholder.server.moderation import Moderation
from beholder.server.page_checks import PageChecks
from beholder.server.participants import BlockList, Identity
from beholder.server.presence import Presence
from beholder.server.preview import SESSION, Preview, find_preview, preview_of
from beholder.server.rendering import MediaAddresses, RenderedTexts, current_page, session_script
from beholder.server.requests import SubmittedAnswer
from beholder.server.script import CONSENT, ServedStudy
from beholder.server.trial_rules import TrialRules
from beholder.store.contract import LedgerEntry, Store
from beholder.store.open import read_rows
from beholder.study.recruitment import is_person
from beholder.types import Json
from beholder.words import read_words


def make_context(
    served: ServedStudy, store: Store, now: Callable[[], datetime], release_abandoned: ReleaseLists | None = None
) -> Context:
    """Return the context of a served study."""
    words, words_by_check = read_words(served.study.language), check_texts(served.study.language)
    entrance, moderation = entrance_of(served.study, store.secret), Moderation(store.ledger)
    further = FurtherSessions(served, store, moderation)
    return Context(
        served=served,
        store=store,
        now=now,
        words=words,
        check_words=words_by_check,
        entrance=entrance,
        blocked=BlockList(served.study),
        moderation=moderation,
        further=further,
        leases=Leases(store, further, entrance.lease, release_abandoned),
        texts=RenderedTexts(served, words),
        media=MediaAddresses(served, store.secret),
        page_checks=PageChecks(served.needs, store.secret, words_by_check),
        trial_rules=TrialRules(served, words_by_check, words),
        presence=Presence(),
    )


class StudyService:
    """Serves one study from one store: what a request can ask for, by the token of a session.

    The clock is an argument, so that tests can set the time. `release_abandoned` releases lists where none is free.
    """

    def __init__(
        self,
        served: ServedStudy,
        store: Store,
        now: Callable[[], datetime] = utc_now,
        release_abandoned: ReleaseLists | None = None,
    ) -> None:
        self.context = make_context(served, store, now, release_abandoned)
        self.served, self.store, self.now, self.words = served, store, now, self.context.words
        self.preview = preview_of(self.context, 1)

    async def arrive(self, params: Mapping[str, str], device: Mapping[str, Json]) -> tuple[bool, dict[str, Json]]:
        """Return whether the session is new, and everything that a browser needs to begin or continue."""
        ctx = self.context
        identity = identify(params, ctx.entrance, ctx.blocked)
        if identity.preview is not None:
            shown = preview_of(ctx, identity.preview)
            step = shown.arrive(device)
            return False, self._arrival(shown.session, shown.link, step, {"steps": shown.steps}, identity.preview)
        await self.refresh()
        session, is_new = await self._session_of(identity, device)
        facts = await load_session(ctx, session)
        await check_moderation(ctx, facts)
        if not is_new:
            await record_device(ctx, session, session_script(ctx, facts), device, self.now())
            facts = await load_session(ctx, session)
        token = tokens.session_token(self.store.secret, self.served.study.name, session)
        link = f"{self.served.public_url}/s/{self.served.study.name}?resume={token}"
        page = await current_page(ctx, facts, self.now())
        draft = None if is_new or page["kind"] == "end" else await last_draft(ctx, session, str(page["key"]))
        # A robot in a browser is no news.
        arrival = self._arrival(session, link, page, None, facts.list, is_watched=is_person(facts.session.mode))
        return is_new, arrival | {"draft": draft}

    async def _session_of(self, identity: Identity, device: Mapping[str, Json]) -> tuple[str, bool]:
        """Return the session in which a participant goes on or begins, and whether it is new."""
        ctx, earlier = self.context, identity.session
        identity, session = await resume(ctx, identity)
        if session is not None:
            return session, False
        check_identity(ctx, identity)
        visit = await find_session(ctx, identity)
        if visit is not None:
            session, is_new = visit.session.session, False
        else:
            session, is_new = await admit(ctx, identity, device, self.now())
            await record_visit(ctx, identity, session)
        if is_new and earlier is not None:
            await record_further_session(ctx, earlier, identity.participant, session)
        if identity.platform_id and ctx.entrance.needs_id:
            ctx.entrance.remember({identity.participant: identity.platform_id})
        return session, is_new

    def _arrival(
        self,
        session: str,
        link: str,
        step: dict[str, Json],
        steps: Json,
        number: int | None,
        *,
        is_watched: bool = False,
    ) -> dict[str, Json]:
        study = self.served.study
        return {
            "token": tokens.session_token(self.store.secret, study.name, session),
            "link": link,
            "step": step,
            "study": {
                "name": study.name, "title": study.title, "language": study.language, "contact": study.contact,
                "instructions": self.context.texts.help(number),
                "presses": is_watched and any(kind.looks_at_presses for kind, _ in study.checks.rules()),
            },
            "preview": steps,
            "draft": None,
        }  # fmt: skip

    async def refresh(self) -> None:
        """Read new moderation entries: who is blocked, and whose list is released."""
        await refresh_moderation(self.context)

    async def step(self, token: str, key: str | None = None) -> dict[str, Json]:
        """Return the current step of this session. A preview may request any step by its key."""
        session = self.session_of(token)
        if (shown := self._preview(session)) is not None:
            return shown.step(key or CONSENT.key)
        facts = await load_session(self.context, session)
        await check_moderation(self.context, facts)
        return await current_page(self.context, facts, self.now())

    async def answer(self, token: str, key: str, submission: SubmittedAnswer) -> dict[str, Json]:
        """Store an answer durably, and return when it was stored and the next step."""
        session = self.session_of(token)
        if (shown := self._preview(session)) is not None:
            return shown.answer(key, submission)
        return await take_answer(self.context, session, key, submission)

    async def events(self, token: str, batch: SubmittedAnswer, key: str) -> None:
        """Store a batch of the event log and renew the lease."""
        session = self.session_of(token)
        if self._preview(session) is None:
            await take_events(self.context, session, batch, key)

    def hear(self, token: str, tab: str, *, is_open: bool) -> None:
        """Take note that a page of this session is open, or was left. Nothing is stored."""
        session = self.session_of(token)
        if self._preview(session) is None:
            self.context.presence.hear(session, tab, self.now(), is_open=is_open)

    def session_of(self, token: str) -> str:
        """Return the session of a token, or raise Refused for one that is not ours."""
        return tokens.read_token(self.store.secret, self.served.study.name, token).session

    def _preview(self, session: str) -> Preview | None:
        return find_preview(self.context, session) if session.startswith(SESSION) else None

    async def withdraw(self, token: str) -> dict[str, Json]:
        """Erase the answers of this session and return its last page."""
        session = self.session_of(token)
        if (shown := self._preview(session)) is not None:
            return shown.step("end:withdrawn")
        facts = await load_facts(self.context, session)
        now = self.now()
        if facts.end is None:
            end = end_fact(self.context, session, Ending("withdrawn", "participant"), now)
            await self.store.append([end])
            await self.store.release(session)
        if not facts.erased:
            await erase_sessions(self.store, [session], "withdrawn", now)
        return await current_page(self.context, await load_session(self.context, session), now)

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
        return await open_media(self.context, token)


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
