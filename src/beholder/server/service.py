"""The host of a study: receives people, hands out steps, keeps answers. Knows nothing of HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from beholder.errors import Refused
from beholder.serve import tokens
from beholder.serve.acts import Acts
from beholder.serve.addresses import Addresses
from beholder.serve.again import Again
from beholder.serve.answers import Answers
from beholder.serve.arrivals import Arrivals
from beholder.serve.block_list import BlockList
from beholder.serve.consent import Consent
from beholder.serve.delivery import Deliverable
from beholder.serve.doors import Doors
from beholder.serve.ends import Ends
from beholder.serve.examiner import Examiner
from beholder.serve.exhibits import Exhibits
from beholder.serve.farewell import Farewell
from beholder.serve.flow import Ending
from beholder.serve.forgetting import find_receipt, forget_sessions
from beholder.serve.guest import identify
from beholder.serve.leases import Leases, lease
from beholder.serve.log import Log
from beholder.serve.pages import Pages
from beholder.serve.previews import Previews
from beholder.serve.proctor import Proctor
from beholder.serve.reading import Reader
from beholder.serve.room import Room
from beholder.serve.script import CONSENT
from beholder.serve.served import Served
from beholder.serve.standing import Standing
from beholder.serve.submission import Submission
from beholder.serve.texts import Texts
from beholder.serve.way import Way
from beholder.store.contract import Store
from beholder.study.words import check_words, read_words
from beholder.types import Json


class Host:
    """Serves one study from one store. The clock is an argument, so that tests can move it."""

    def __init__(
        self,
        served: Served,
        store: Store,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.served, self.store, self.now = served, store, now
        self.words = words = read_words(served.study.language)
        self._texts = texts = Texts(served, words)
        own = check_words(served.study.language)
        self.examiner = examiner = Examiner(served.needs, store.secret, own)
        self._blocked = BlockList(served.study)
        farewell = Farewell(served, words, own)
        acts = Acts(store.ledger)
        self.halts = acts.halts
        again = Again(served, store, acts)
        addresses = Addresses(served, store.secret)
        reader = Reader(served, examiner, Proctor(served, own), words)
        pages = Pages(served, texts, addresses, examiner, reader)
        self.room = Room(store)
        self._doors = Doors(served.study, store, acts, words)
        leases = Leases(store, again, lease(served.study.recruit), self._doors, self.room)
        self._ends = Ends(served.study, store, texts.of(None), examiner, farewell)
        self._arrivals = Arrivals(served, store, words, again, self._doors, acts, self.room)
        self._standing = Standing(store, acts, leases, words)
        self._way = Way(served, store, words, self._arrivals, examiner, pages, self._ends, again)
        consent = Consent(served, store, again, leases)
        self._answers = Answers(
            store, words, self._arrivals, self._standing, self._way, pages, reader, consent, leases, self._ends
        )
        self._log = Log(store, words, self._arrivals, self._standing, self._way, leases)
        self._previews = Previews(served, store.secret, texts, words, addresses, examiner, reader, farewell, again)
        self._exhibits = Exhibits(store, words, now, addresses, self._arrivals, self._previews, self._way, examiner)
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

    async def answer(self, token: str, key: str, submission: Submission) -> dict[str, Json]:
        """Return when the answer was stored, after a durable commit, and the next step."""
        session = self._session(token)
        if (shown := self._previews.find(session)) is not None:
            return shown.answer(key, submission)
        return await self._answers.take(session, key, submission, self.now())

    async def events(self, token: str, batch: Submission, key: str) -> None:
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
            await forget_sessions(self.store, [session], "withdrawn", now)
        return await self._way.step(await self._arrivals.facts(session), now)

    async def forget(self, receipt: str) -> datetime:
        """Erase everything of whoever has a receipt; return when it was done, also where that was long ago."""
        theirs = await find_receipt(self.store, receipt)
        if theirs is None:
            raise Refused(self.words["no_receipt"], where="receipt", code="unknown_receipt", status=404)
        now = self.now()
        if not theirs.left:
            return max(theirs.erased.values())
        await forget_sessions(self.store, theirs.left, "receipt", now)
        return now

    async def media(self, token: str) -> Deliverable:
        """Return the medium behind an address: a stimulus, or what was drawn for the check at hand."""
        return await self._exhibits.open(token)
