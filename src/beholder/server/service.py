"""The service of one study, without HTTP: participants arrive, get steps, send answers, withdraw, and are erased."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from beholder.backups.cycle import BackupCycle
from beholder.buckets.signed_addresses import HostedMedia
from beholder.checks.page_registry import check_texts
from beholder.clock import utc_now
from beholder.errors import Refused
from beholder.recent_entries import MOST_SESSIONS, RecentEntries
from beholder.server import tokens
from beholder.server.admission import (
    Leases,
    admit,
    check_identity,
    check_moderation,
    load_facts,
    load_session,
    present_params,
    record_device,
    refresh_moderation,
    resume,
)
from beholder.server.answers import last_draft, take_answer, take_events
from beholder.server.batch_dealer import Dealer
from beholder.server.bound_lists import BoundLists
from beholder.server.context import Context
from beholder.server.crowd_results import CrowdResults
from beholder.server.endings import verified_end
from beholder.server.entrances import entrance_of, identify
from beholder.server.erasure import VisitRemoval, Wiping, erase_sessions, find_erasable
from beholder.server.flow import Ending
from beholder.server.further_sessions import FurtherSessions
from beholder.server.limits import StoreRoom
from beholder.server.media import MediaContent, open_media
from beholder.server.moderation import Moderation
from beholder.server.page_checks import PageChecks
from beholder.server.participants import BlockList, Identity
from beholder.server.presence import Presence
from beholder.server.preview import SESSION, Preview, find_preview, preview_language, preview_of
from beholder.server.readiness import Readiness
from beholder.server.rendering import MediaAddresses, RenderedTexts, current_page, session_script
from beholder.server.requests import SubmittedAnswer
from beholder.server.script import CONSENT, ServedStudy
from beholder.server.session_language import best_language, check_offered, public_languages
from beholder.server.study_versions import StudyVersions
from beholder.server.trial_rules import TrialRules
from beholder.server.visits import (
    Platform,
    find_session,
    prove,
    record_further_session,
    record_signed_visit,
    record_visit,
    without_code,
)
from beholder.store.contract import Remains, Store
from beholder.study.recruitment import is_person
from beholder.types import Json
from beholder.words import read_words

_log = logging.getLogger("beholder.server")


def make_context(
    served: ServedStudy,
    store: Store,
    now: Callable[[], datetime],
    platform: Platform | None = None,
    room: StoreRoom | None = None,
    hosted: HostedMedia | None = None,
) -> Context:
    """Return the context of a served study."""
    words, words_by_check = read_words(served.study.language), check_texts(served.study.language)
    entrance, moderation = entrance_of(served.study, store.secret), Moderation(store.ledger)
    bound, dealer = BoundLists(served, store.secret), Dealer(served, store, now)
    further = FurtherSessions(served, store, moderation, bound)
    release = platform.release_abandoned if platform is not None else None
    return Context(
        served=served,
        store=store,
        now=now,
        words=words,
        check_words=words_by_check,
        entrance=entrance,
        blocked=BlockList(served.study),
        moderation=moderation,
        bound=bound,
        further=further,
        dealer=dealer,
        leases=Leases(store, further, dealer, entrance.lease, release),
        texts=RenderedTexts(served, words),
        media=MediaAddresses(served, store.secret, hosted),
        page_checks=PageChecks(served.needs, store.secret, words_by_check),
        trial_rules=TrialRules(served, words_by_check, words),
        presence=Presence(),
        results=CrowdResults(served, store),
        platform=platform,
        room=room or StoreRoom(),
    )


class StudyService:
    """Serves one study from one store: what a request can ask for, by the token of a session.

    The clock is an argument, so that tests can set the time. `platform` tells who left and which visits are real.
    """

    def __init__(
        self,
        served: ServedStudy,
        store: Store,
        now: Callable[[], datetime] = utc_now,
        platform: Platform | None = None,
        room: StoreRoom | None = None,
        hosted: HostedMedia | None = None,
    ) -> None:
        self.context = make_context(served, store, now, platform, room, hosted)
        self.served, self.store, self.now, self.words = served, store, now, self.context.words
        self._versions = StudyVersions(self.context)
        self._contexts: RecentEntries[str, Context] = RecentEntries(MOST_SESSIONS)
        self.wiping = Wiping(store)
        self.removal = VisitRemoval(self.context)
        self._sessions: RecentEntries[str, tuple[bytes, str]] = RecentEntries(MOST_SESSIONS)
        """The sessions of tokens that were valid, each with the secret by which it was."""
        self.readiness = Readiness(store, served.digest, now)
        self.backups: BackupCycle | None = None
        """What makes backups beside the server, if anything does."""

    @property
    def preview(self) -> Preview:
        """The preview of the first list."""
        return preview_of(self.context, 1)

    async def arrive(
        self,
        params: Mapping[str, str],
        device: Mapping[str, Json],
        token: str = "",
        pace: Callable[[], None] = lambda: None,
        accepted: str = "",
    ) -> tuple[bool, dict[str, Json]]:
        """Return whether the session is new, and everything that a browser needs to begin or continue.

        `token` is what the browser has kept of an earlier session: with it, a readable id leads back to that session.
        `pace` refuses people who begin, where too many do. `accepted`: the languages that the browser asks for.
        """
        language, found = best_language(self.served.study, params, accepted)
        ctx = self.in_language(language)
        identity = identify(await present_params(ctx, params), ctx.entrance, ctx.blocked)
        if identity.preview is not None:
            shown = preview_of(ctx, identity.preview)
            step = shown.arrive(device)
            steps: Json = {"steps": shown.steps}
            return False, self._arrival(shown.session, shown.link, step, steps, identity.preview, ctx=ctx, found=found)
        await self.refresh()
        signature = params.get(ctx.entrance.signature_parameter, "")
        session, is_new = await self._session_of(ctx, await prove(ctx, identity, token, signature), device, pace)
        ctx = await self.context_of(session, language)
        facts = await load_session(ctx, session)
        await check_moderation(ctx, facts)
        if not is_new:
            await record_device(ctx, session, session_script(ctx, facts), device, self.now())
            facts = await load_session(ctx, session)
        link = tokens.resume_address(self.store.secret, self.served.public_url, self.served.study.name, session)
        page = await current_page(ctx, facts, self.now())
        draft = None if is_new or page["kind"] == "end" else await last_draft(ctx, session, str(page["key"]))
        # A robot in a browser is no news.
        is_watched = is_person(facts.session.mode)
        arrival = self._arrival(session, link, page, None, facts.list, is_watched=is_watched, ctx=ctx, found=found)
        return is_new, arrival | {"draft": draft}

    async def _session_of(
        self, ctx: Context, identity: Identity, device: Mapping[str, Json], pace: Callable[[], None]
    ) -> tuple[str, bool]:
        """Return the session in which a participant goes on or begins, and whether it is new."""
        earlier = identity.session
        identity, session = await resume(ctx, identity)
        if session is not None:
            return session, False
        check_identity(ctx, identity)
        visit = await find_session(ctx, identity)
        if visit is not None:
            session, is_new = visit.session.session, False
            if not identity.is_proven and session != identity.kept:
                raise ctx.entrance.refusal("other_device")
        else:
            try:
                session, is_new = await admit(ctx, identity, device, self.now(), pace)
            except Refused as refused:
                raise await without_code(ctx, refused, identity) from None
            await record_visit(ctx, identity, session)
        await record_signed_visit(ctx, identity, session)
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
        ctx: Context,
        found: str,
    ) -> dict[str, Json]:
        study = ctx.served.study
        return {
            "token": tokens.session_token(self.store.secret, study.name, session),
            "link": link,
            "step": step,
            "study": {
                "name": study.name, "title": study.title, "language": study.language, "contact": study.contact,
                "instructions": ctx.texts.help(number),
                "languages": public_languages(study), "language_from": found,
                "presses": is_watched and any(kind.looks_at_presses for kind, _ in study.checks.rules()),
            },
            "preview": steps,
            "draft": None,
        }  # fmt: skip

    async def refresh(self) -> None:
        """Read new moderation entries: who is blocked, and whose list is released."""
        await refresh_moderation(self.context)

    async def step(self, token: str, key: str | None = None, language: str = "") -> dict[str, Json]:
        """Return the current step of this session. A preview may request any step by its key.

        `language`: that of the page, which counts until somebody has agreed in one.
        """
        session = self.session_of(token)
        if (shown := self._preview(session)) is not None:
            return shown.step(key or CONSENT.key)
        ctx = await self.context_of(session, language)
        facts = await load_session(ctx, session)
        await check_moderation(ctx, facts)
        return await current_page(ctx, facts, self.now())

    async def answer(self, token: str, key: str, submission: SubmittedAnswer) -> dict[str, Json]:
        """Store an answer durably, and return when it was stored and the next step."""
        session = self.session_of(token)
        if (shown := self._preview(session)) is not None:
            return shown.answer(key, submission)
        is_asked = key == CONSENT.key and len(self.served.study.all_languages) > 1
        language = check_offered(self.served.study, submission.answer) if is_asked else None
        return await take_answer(await self.context_of(session, language or ""), session, key, submission)

    async def events(self, token: str, batch: SubmittedAnswer, key: str) -> None:
        """Store a batch of the event log and renew the lease."""
        session = self.session_of(token)
        if self._preview(session) is None:
            await take_events(await self.context_of(session), session, batch, key)

    def hear(self, token: str, tab: str, *, is_open: bool) -> None:
        """Take note that a page of this session is open, or was left. Nothing is stored."""
        session = self.session_of(token)
        if self._preview(session) is None:
            self.context.presence.hear(session, tab, self.now(), is_open=is_open)

    def session_of(self, token: str) -> str:
        """Return the session of a token, or raise Refused for one that is not ours."""
        secret = self.store.secret
        known = self._sessions.get(token)
        if known is not None and known[0] is secret:  # another secret makes all tokens invalid
            return known[1]
        session = tokens.read_token(secret, self.served.study.name, token).session
        self._sessions[token] = secret, session
        return session

    async def context_of(self, session: str, language: str = "") -> Context:
        """Return the context of a session: with the texts with which it began, whichever server showed them.

        `language`: that of the request, until somebody has agreed in one.
        """
        ctx = self._contexts.get(session)
        if ctx is None and (known := await self._versions.context_of(session, language)) is not None:
            ctx, is_settled = known
            if is_settled or len(self.served.study.all_languages) == 1:
                self._contexts[session] = ctx
        return ctx or self.context

    def in_language(self, language: str) -> Context:
        """Return the context of the study as it is now, in one of its languages."""
        return self._versions.in_language(self.context, language)

    def _preview(self, session: str) -> Preview | None:
        if not session.startswith(SESSION):
            return None
        return find_preview(self.in_language(preview_language(session, self.served.study)), session)

    async def withdraw(self, token: str) -> dict[str, Json]:
        """Erase the answers of this session and return its last page."""
        session = self.session_of(token)
        if (shown := self._preview(session)) is not None:
            return shown.step("end:withdrawn")
        ctx = await self.context_of(session)
        facts = await load_facts(ctx, session)
        now = self.now()
        if facts.end is None:
            end = await verified_end(ctx, session, Ending("withdrawn", "participant"), now)
            await self.store.append([end])
            await self.store.release(session)
        if not facts.erased:
            await self._erase([session], "withdrawn", now)
            if facts.list in self.served.bound:
                _log.warning("somebody with stimuli of their own has withdrawn: the files of list %d stay", facts.list)
        remains = await self.wiping.wipe()
        page = await current_page(ctx, await load_session(ctx, session), now)
        if remains is not None:
            _log.warning("what was erased is not gone from the disk yet, and is tried again: %s", remains.words)
            page["text"] = f"{page['text']}<p>{ctx.words['still_on_disk']}</p>"
        return page

    async def forget(self, receipt: str) -> tuple[datetime, Remains | None]:
        """Erase all sessions of the participant with this receipt; return when that was done, now or earlier.

        Also what is left to be done, where bytes of it are still in a file of the store.
        """
        erasable = await find_erasable(self.store, receipt)
        if erasable is None:
            raise Refused(self.words["no_receipt"], where="receipt", code="unknown_receipt", status=404)
        now = self.now()
        if erasable.remaining:
            await self._erase(erasable.remaining, "receipt", now)
        else:
            now = max(erasable.erased.values())
        remains = await self.wiping.wipe()
        if remains is not None:
            _log.warning("what was erased is not gone from the disk yet, and is tried again: %s", remains.words)
        return now, remains

    async def _erase(self, sessions: Sequence[str], reason: str, now: datetime) -> None:
        """Erase sessions, and let the backups know at once that they must not come back."""
        await erase_sessions(self.store, sessions, reason, now)
        if self.backups is not None:
            self.backups.wake()

    async def media(self, token: str) -> MediaContent:
        """Return the medium behind an address: a stimulus, or a picture or sound of the current check."""
        session = token.partition("-")[0]
        if session.startswith(SESSION):
            return await open_media(self.in_language(preview_language(session, self.served.study)), token)
        is_shown = self.context.media.has(session, token)
        return await open_media(self.context if is_shown else await self.context_of(session), token)
