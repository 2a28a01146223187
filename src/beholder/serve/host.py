"""The host of a study: receives people, hands out steps, keeps answers. Knows nothing of HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from beholder.errors import Refused
from beholder.methods.contract import Slot
from beholder.serve import preview, tokens
from beholder.serve.addresses import Addresses
from beholder.serve.again import Again, is_again
from beholder.serve.arrivals import Arrivals
from beholder.serve.carrying import bring_along
from beholder.serve.delivery import Deliverable, Made
from beholder.serve.ends import Ends
from beholder.serve.examiner import Examiner
from beholder.serve.farewell import Farewell
from beholder.serve.flow import Ending, answers_of, next_step
from beholder.serve.growing import take_in
from beholder.serve.guest import identify
from beholder.serve.leases import Leases
from beholder.serve.preview import Preview
from beholder.serve.proctor import Proctor
from beholder.serve.public import public_step
from beholder.serve.reading import Reader
from beholder.serve.script import CONSENT, Planned, Script
from beholder.serve.served import Served
from beholder.serve.submission import Submission
from beholder.serve.words import step_texts
from beholder.store.contract import Answer, Events, Fact, SessionFacts, Store, Told
from beholder.study.words import check_words, read_words
from beholder.types import Json

_LARGEST_LOG = 8 * 1024 * 1024  # characters of one session's events that are kept


class Host:
    """Serves one study from one store. The clock is an argument, so that tests can move it."""

    def __init__(
        self,
        served: Served,
        store: Store,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.served, self.store, self.now = served, store, now
        self.words = read_words(served.study.language)
        self._texts: dict[str, Mapping[str, str]] = {}
        self.texts = self._texts_of(None)
        own = check_words(served.study.language)
        self.examiner = Examiner(served.needs, store.secret, own)
        farewell = Farewell(served, self.words, own)
        self._ends = Ends(served.study.name, store.secret, self.texts, self.examiner, farewell)
        self._addresses = Addresses(served, store.secret)
        self._again = Again(served, store)
        self._arrivals = Arrivals(served, store, self.words, self._again)
        self._reader = Reader(served, self.examiner, Proctor(served, own), self.words)
        lasts = timedelta(minutes=served.study.recruit.minutes or 60)
        self._leases = Leases(store, self._again, lasts, self.words)
        self._logged: dict[str, int] = {}
        self._farewell = farewell
        self._previews: dict[str, Preview] = {}
        self.preview = self._preview(1)

    # Arriving

    async def arrive(self, params: Mapping[str, str], device: Mapping[str, Json]) -> tuple[bool, dict[str, Json]]:
        """Return whether the session is new, and all that a browser needs to begin or go on."""
        guest = identify(params, self.store.secret, self.served.study, self.words)
        if guest.mode == "preview":
            shown = self._preview(guest.list)
            step = shown.arrive(device)
            return False, self._arrival(shown.session, shown.link, step, {"steps": shown.steps}, guest.list)
        guest, session = await self._arrivals.again(guest)
        is_new = False
        if session is None:
            session, is_new = await self._arrivals.come(guest, device, self.now())
        facts = await self._arrivals.facts(session)
        if not is_new:
            await self._arrivals.settle(session, self._script(facts), device, self.now())
            facts = await self._arrivals.facts(session)
        token = tokens.session_token(self.store.secret, self.served.study.name, session)
        link = f"{self.served.public_url}/s/{self.served.study.name}?resume={token}"
        return is_new, self._arrival(session, link, await self._step(facts), None, facts.list)

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
                "instructions": self._help(number),
            },
            "preview": steps,
        }  # fmt: skip

    def _preview(self, number: int) -> Preview:
        """Return the preview of a list, or raise Refused where there is no such list."""
        if not 1 <= number <= len(self.served.lists):
            raise Refused(self.words["not_reached"], where="list", code="unknown_list", status=404)
        session = preview.session_of(number)
        if session not in self._previews:
            media = self._media(session, self.served.script(number))
            self._previews[session] = Preview(
                self.served, number, self.store.secret, self._texts_of(number), self.words, media, self.examiner,
                self._reader, self._farewell,
            )  # fmt: skip
        return self._previews[session]

    # Texts

    def _texts_of(self, number: int | None) -> Mapping[str, str]:
        """Return the texts of whoever takes a list; without a list those that everybody reads."""
        study = self.served.study if number is None else self.served.study_of(number)
        key = study.texts.model_dump_json()
        if key not in self._texts:
            self._texts[key] = step_texts(study, self.words, self.served.catalogue.examples)
        return self._texts[key]

    def _help(self, number: int | None) -> str:
        """Return the instructions to read again; nothing while it is open whose they are."""
        if number is None and self.served.has_own_instructions:
            return ""
        return self._texts_of(number)["help"]

    # Steps

    async def step(self, token: str, key: str | None = None) -> dict[str, Json]:
        """Return where this session is. A preview may ask for any step by its key."""
        session = self._session(token)
        if (shown := self._previewed(session)) is not None:
            return shown.step(key or CONSENT.key)
        return await self._step(await self._arrivals.facts(session))

    def _session(self, token: str) -> str:
        return tokens.read_token(self.store.secret, self.served.study.name, token).session

    def _previewed(self, session: str) -> Preview | None:
        number = preview.list_of(session)
        return None if number is None else self._preview(number)

    def _script(self, facts: SessionFacts) -> Script | None:
        if facts.list is None or facts.session.run != self.served.study.run:  # another run had other lists
            return None
        return self.served.script(facts.list, is_again=is_again(facts.told))

    async def _step(self, facts: SessionFacts) -> dict[str, Json]:
        script, session = self._script(facts), facts.session.session
        if facts.end is not None:
            script = script or self.served.script(1)
            return self._ends.step(facts, facts.end, script, await self._again.offer(facts, script, self.now()))
        here, kept, facts = self._onward(script, facts, self.now())
        if isinstance(here, Ending):  # a question was dropped since, and it was the last
            await self.store.append([self._ends.fact(session, here, self.now()), *kept])
            return await self._step(await self._arrivals.facts(session))
        if kept:
            await self.store.append(kept)
        if script is None:
            return self._unclaimed(session, here, is_again=bool(await self._again.had(facts.session)))
        return self._public(facts, here, script)

    def _onward(
        self, script: Script | None, facts: SessionFacts, now: datetime
    ) -> tuple[Planned | Ending, list[Fact], SessionFacts]:
        """Return where somebody is, what has to be kept for it, and what is known then.

        That is what a check poses; and one that cannot be posed is over.
        """
        kept: list[Fact] = []
        while True:
            here = next_step(script, answers_of(facts), facts.told, now)
            if isinstance(here, Ending) or here.check is None or here.key in facts.posed:
                return here, kept, facts
            fact = self.examiner.fact(facts, here, now)
            kept.append(fact)
            if not isinstance(fact, Told):
                return here, kept, facts
            facts = replace(facts, told={**facts.told, fact.key: fact})

    def _unclaimed(self, session: str, step: Planned, *, is_again: bool) -> dict[str, Json]:
        """Return a step as it is shown before a list is claimed, when there is nothing to fetch."""
        script = self.served.script(1, is_again=is_again)
        texts, media = self._texts_of(None), self._media(session, script)
        shown = public_step(step, script, texts, self.served.method, script.playback, media)
        return {**shown, "prefetch": [], "needs": self.examiner.needed(script)}

    def _public(self, facts: SessionFacts, step: Planned, script: Script) -> dict[str, Json]:
        served, session = self.served, facts.session.session
        shown = public_step(
            step, script, self._texts_of(facts.list), served.method, script.playback, self._media(session, script)
        )
        if served.has_own_instructions:
            shown["instructions"] = self._help(facts.list)
        if step.is_training:
            return shown | self._reader.lessons.public(step, script, facts.told)
        if step.attempt and step.is_rated:
            return shown | self._reader.proctor.public(step, script, facts.told)
        return shown | self.examiner.public(facts, step, script) if step.check is not None else shown

    # Answers

    async def answer(self, token: str, key: str, submission: Submission) -> dict[str, Json]:
        """Return when the answer was stored, after a durable commit, and the next step."""
        session = self._session(token)
        if (shown := self._previewed(session)) is not None:
            return shown.answer(key, submission)
        facts = await self._arrivals.facts(session)
        if key in facts.answers:
            return await self._repeated(facts, key, submission)
        if facts.end is not None:
            raise Refused(self.words["ended"], code="ended", status=410)
        script, now = self._script(facts), self.now()
        here = self._reached(facts, script, key, now)
        read = self._reader.read(facts, here, script, submission, now)
        told = [read.told] if read.told else []
        if here is CONSENT and isinstance(read.answer, Mapping) and read.answer["agree"]:
            had = await self._again.had(facts.session, facts.list)
            if had:  # whose lists are barred has to be known of all of them
                await take_in(self.served, self.store, (await self.store.counts(now, self.served.study.run))["lists"])
            number = await self._leases.claim(facts.session, had, now)
            await take_in(self.served, self.store, number)
            facts, script = replace(facts, list=number), self.served.script(number, is_again=bool(had))
            told = self._again.told(facts.session, had, now)
            told += await bring_along(self.store, self.served.digest, facts, script, now)
        answer = Answer(
            session, key, read.answer, read.playback, submission.shown_ms, submission.sent_ms, submission.input,
            submission.tab, now,
        )  # fmt: skip
        after = replace(
            facts, answers={**facts.answers, key: answer}, told={**facts.told, **{one.key: one for one in told}}
        )
        following, kept, after = self._onward(script, after, now)
        if not await self._store([answer, *told, *kept], submission, following):  # another tab was first
            return await self._repeated(await self._arrivals.facts(session), key, submission)
        if isinstance(following, Ending):
            step = await self._step(await self._arrivals.facts(session))
        else:
            assert script is not None, "whoever has agreed has a list"
            step = self._public(after, following, script)
        return {"stored_at": now.isoformat(), "feedback": read.feedback, "step": step}

    def _reached(self, facts: SessionFacts, script: Script | None, key: str, now: datetime) -> Planned:
        """Return the step with this key, if somebody is there: by now, or when they were handed it."""
        for here in self._at_hand(facts, script, now):
            if here.key == key:
                return here
        raise Refused(self.words["not_reached"], where=key, code="not_reached", status=409)

    def _at_hand(self, facts: SessionFacts, script: Script | None, now: datetime) -> Iterator[Planned]:
        """Yield the step that is due, then the one before it where a pass ran out while its page was open."""
        answers = answers_of(facts)
        for moment in (now, max((answer.at for answer in facts.answers.values()), default=now)):
            here = next_step(script, answers, facts.told, moment)
            if isinstance(here, Planned):
                yield here

    async def _store(self, batch: list[Fact], submission: Submission, following: Planned | Ending) -> bool:
        """Return whether this answer, its events and the end it leads to were stored; the loser of a race is not."""
        answer = batch[0]
        assert isinstance(answer, Answer)
        session, now = answer.session, answer.at
        fresh = submission.events[submission.first :]
        if fresh:
            batch.append(Events(session, answer.key, submission.tab, submission.first, fresh, now))
        if isinstance(following, Ending):
            batch.append(self._ends.fact(session, following, now))
        stored = await self.store.append(batch)
        if not stored.is_new:
            return False
        if not isinstance(following, Ending):
            await self._leases.renew(session, now)
        elif following.outcome == "no_consent":
            await self.store.erase(session, now)
        elif following.outcome != "completed":
            await self.store.release(session)
        return True

    async def _repeated(self, facts: SessionFacts, key: str, submission: Submission) -> dict[str, Json]:
        """Return what the first commit returned if the same answer comes again; another one is refused."""
        stored = facts.answers.get(key)
        if stored is None:
            raise Refused(self.words["ended"], code="ended", status=410)
        script = self._script(facts) or self.served.script(1)
        step = script.find(key)
        try:
            same = step is not None and self._reader.again(facts, step, script, submission) == stored.answer
        except Refused:
            same = False
        if step is None or not same:
            raise Refused(self.words["already_answered"], where=key, code="already_answered", status=409)
        feedback = self._reader.feedback(facts, step, script)
        return {"stored_at": stored.at.isoformat(), "feedback": feedback, "step": await self._step(facts)}

    async def events(self, token: str, batch: Submission, key: str) -> None:
        """Keep a batch of the event log and renew the lease."""
        session = self._session(token)
        if self._previewed(session) is not None:
            return
        facts = await self._arrivals.facts(session)
        if facts.end is not None or facts.erased:
            raise Refused(self.words["ended"], code="ended", status=410)
        if key not in facts.answers:
            self._reached(facts, self._script(facts), key, self.now())
        self._logged[session] = self._logged.get(session, 0) + len(str(batch.events))
        if self._logged[session] > _LARGEST_LOG:
            raise Refused("The event log is too long", where="events", code="too_large", status=413)
        now = self.now()
        await self.store.append([Events(session, key, batch.tab, batch.first, batch.events, now)])
        if facts.list is not None:
            await self._leases.renew(session, now)

    async def withdraw(self, token: str) -> dict[str, Json]:
        """Erase the answers of this session and return its end."""
        session = self._session(token)
        if (shown := self._previewed(session)) is not None:
            return shown.step("end:withdrawn")
        facts = await self._arrivals.known(session)
        now = self.now()
        if facts.end is None:
            await self.store.append([self._ends.fact(session, Ending("withdrawn", "participant"), now)])
            await self.store.release(session)
        if not facts.erased:
            await self.store.erase(session, now)
        return await self._step(await self._arrivals.facts(session))

    # Media

    def _media(self, session: str, script: Script) -> Callable[[str, Slot], dict[str, Json]]:
        is_heard = script.playback.sound == "on"
        return lambda key, slot: self._addresses.describe(session, key, slot.id, slot.stimulus, is_heard)

    async def media(self, token: str) -> Deliverable:
        """Return the medium behind an address: a stimulus, or what was drawn for the check at hand."""
        session = token.partition("-")[0]
        if not self._addresses.has(session, token):
            # Anybody can ask for any address: none of them makes a preview.
            shown = self._previews.get(session)
            facts = shown.facts if shown else await self._arrivals.facts(session)
            script = shown.script if shown else self._script(facts)
            if script is not None and not self._addresses.knows(session):
                self._addresses.learn(session, script)
            drawn = None if self._addresses.has(session, token) else await self._drawn(facts, script, token)
            if drawn is not None:
                return drawn
        return self._addresses.open(session, token, self.words["no_media"], self.words["media_away"])

    async def _drawn(self, facts: SessionFacts, script: Script | None, token: str) -> Made | None:
        """Return the picture or sound behind an address, if it belongs to the attempt at hand."""
        if facts.end is not None:
            return None
        shown = self._previews.get(facts.session.session)
        for here in shown.attempts if shown else self._at_hand(facts, script, self.now()):
            if here.check is None:
                continue
            try:
                before = shown.before(here) if shown else facts
                drawn = await asyncio.to_thread(self.examiner.draw, before, here, token)
            except Exception as error:  # the attempt is over, and a new page goes on after it
                fault = self.examiner.fault(facts, here, error, self.now())
                if not shown:
                    await self.store.append([fault])
                raise Refused(self.words["no_media"], code="our_fault", status=404) from error
            if drawn is not None:
                return Made(*drawn)
        return None
