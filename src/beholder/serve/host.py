"""The host of a study: receives people, hands out steps, keeps answers. Knows nothing of HTTP."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from beholder.errors import Refused
from beholder.methods.contract import Slot
from beholder.serve import preview, tokens
from beholder.serve.addresses import Addresses
from beholder.serve.evidence import read_trial_answer
from beholder.serve.flow import Ending, next_step, read_step_answer
from beholder.serve.guest import identify
from beholder.serve.preview import Preview
from beholder.serve.public import public_end, public_step
from beholder.serve.script import CONSENT, Planned, Script
from beholder.serve.served import Served
from beholder.serve.submission import Submission
from beholder.serve.words import read_words, step_texts
from beholder.stimuli.blinding import Blinded
from beholder.store.contract import Answer, End, Events, Session, SessionFacts, Store
from beholder.types import Json

_PAID = ("completed", "screened_out")
"""Outcomes that come with a code: a whole ledger, and a person who was turned away by a question."""
_LARGEST_LOG = 8 * 1024 * 1024  # characters of one session's events that are kept


class Host:
    """Serves one study from one store. The clock is an argument, so that tests can move it."""

    def __init__(self, served: Served, store: Store, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.served, self.store, self.now = served, store, now
        self.words = read_words(served.study.language)
        self.texts = step_texts(served.study, self.words)
        self._addresses = Addresses(served, store.secret)
        self.preview = Preview(served, store.secret, self.texts, self.words, self._media(preview.SESSION))
        self._lease = timedelta(minutes=served.study.recruit.minutes or 60)
        self._leases: dict[str, datetime] = {}
        self._logged: dict[str, int] = {}

    # Arriving

    async def arrive(self, params: Mapping[str, str], device: Mapping[str, Json]) -> tuple[bool, dict[str, Json]]:
        """Return whether the session is new, and all that a browser needs to begin or go on."""
        guest = identify(params, self.store.secret, self.served.study, self.words)
        if guest.mode == "preview":
            steps: list[Json] = [{"key": key, "label": key.replace(":", " ")} for key in self.preview.keys]
            step = self.preview.step(CONSENT.key)
            return False, self._arrival(preview.SESSION, self.preview.link, step, {"steps": steps})
        if guest.session is not None:
            return False, await self._welcome(guest.session)
        session, is_new = await self.store.arrive(
            Session(secrets.token_hex(10), guest.participant, self.served.digest, 1, guest.mode, 1, device, self.now())
        )
        facts = await self._facts(session.session)
        if facts.end is not None:
            word = "finished" if facts.end.outcome == "completed" else "ended"
            raise Refused(self.words[word], code="finished", status=403)
        if facts.list is None and guest.mode != "robot" and await self._is_full():
            raise Refused(self.words["full"], code="full", status=403)
        if guest.platform:
            await self.store.identify(guest.participant, guest.platform, guest.platform_id)
        return is_new, await self._welcome(session.session)

    async def _welcome(self, session: str) -> dict[str, Json]:
        token = tokens.session_token(self.store.secret, self.served.study.name, session)
        link = f"{self.served.public_url}/s/{self.served.study.name}?resume={token}"
        return self._arrival(session, link, await self._step(await self._facts(session)), None)

    def _arrival(self, session: str, link: str, step: dict[str, Json], steps: Json) -> dict[str, Json]:
        study = self.served.study
        return {
            "token": tokens.session_token(self.store.secret, study.name, session),
            "link": link,
            "step": step,
            "study": {
                "name": study.name, "title": study.title, "language": study.language, "contact": study.contact,
                "instructions": self.texts["instructions"],
            },
            "preview": steps,
        }  # fmt: skip

    async def _is_full(self) -> bool:
        """Return whether every list is finished or being taken; whoever comes now would only read the consent."""
        counts = await self.store.counts(self.now())
        return counts["live"] + counts["completed"] >= len(self.served.lists)

    # Steps

    async def step(self, token: str, key: str | None = None) -> dict[str, Json]:
        """Return where this session is. A preview may ask for any step by its key."""
        session = self._session(token)
        if session == preview.SESSION:
            return self.preview.step(key or CONSENT.key)
        return await self._step(await self._facts(session))

    async def _facts(self, session: str) -> SessionFacts:
        facts = await self.store.session_facts(session)
        if facts is None:
            raise Refused(self.words["unknown_token"], where="token", code="unknown_token", status=401)
        return facts

    def _session(self, token: str) -> str:
        return tokens.read_token(self.store.secret, self.served.study.name, token).session

    def _script(self, facts: SessionFacts) -> Script | None:
        return None if facts.list is None else self.served.script(facts.list)

    async def _step(self, facts: SessionFacts) -> dict[str, Json]:
        script, session = self._script(facts), facts.session.session
        if facts.end is not None:
            return self._end_step(facts, facts.end)
        here = next_step(script, _answers(facts))
        if isinstance(here, Ending):  # a question was dropped since, and it was the last
            await self.store.append([self._end(session, here, self.now())])
            return await self._step(await self._facts(session))
        return self._public(session, here, script)

    def _public(self, session: str, step: Planned, script: Script | None) -> dict[str, Json]:
        served = self.served
        shown = public_step(
            step, script or served.script(1), self.texts, served.method, served.study.playback, self._media(session)
        )
        return shown if script else {**shown, "prefetch": []}  # before a list is claimed there is nothing to fetch

    def _end_step(self, facts: SessionFacts, end: End) -> dict[str, Json]:
        # Whoever withdraws after the end has an end of another kind among the facts, and reads of the withdrawal.
        outcome = "withdrawn" if facts.erased and end.outcome != "no_consent" else end.outcome
        return public_end(
            self._script(facts) or self.served.script(1),
            outcome,
            self.texts["thanks" if outcome == "completed" else outcome],
            code=end.code or None,
            receipt=end.receipt or None,
            answers=sum(key.startswith("trial:") for key in facts.answers),
            seconds=(end.at - facts.session.at).total_seconds(),
            ended_at=end.at,
        )

    # Answers

    async def answer(self, token: str, key: str, submission: Submission) -> dict[str, Json]:
        """Return when the answer was stored, after a durable commit, and the next step."""
        session = self._session(token)
        if session == preview.SESSION:
            return self._preview_answer(key, submission)
        facts = await self._facts(session)
        if key in facts.answers:
            return await self._repeated(facts, key, submission)
        if facts.end is not None:
            raise Refused(self.words["ended"], code="ended", status=410)
        script, answers = self._script(facts), _answers(facts)
        here = next_step(script, answers)
        if isinstance(here, Ending) or here.key != key:
            raise Refused(self.words["not_reached"], where=key, code="not_reached", status=409)
        now = self.now()
        read, playback = self._read(here, submission, self._elapsed_ms(facts, now))
        if here is CONSENT and isinstance(read, Mapping) and read["agree"]:
            script = self.served.script(await self._claim(facts, now))
        answer = Answer(
            session, key, read, playback, submission.shown_ms, submission.sent_ms, submission.input, submission.tab, now
        )
        following = next_step(script, {**answers, key: read})
        if not await self._store(answer, submission, following):  # another tab was first
            return await self._repeated(await self._facts(session), key, submission)
        if isinstance(following, Ending):
            step = await self._step(await self._facts(session))
        else:
            step = self._public(session, following, script)
        return {"stored_at": now.isoformat(), "feedback": None, "step": step}

    async def _store(self, answer: Answer, submission: Submission, following: Planned | Ending) -> bool:
        """Return whether this answer, its events and the end it leads to were stored; the loser of a race is not."""
        session, now = answer.session, answer.at
        batch: list[Answer | Events | End] = [answer]
        fresh = submission.events[submission.first :]
        if fresh:
            batch.append(Events(session, answer.key, submission.tab, submission.first, fresh, now))
        if isinstance(following, Ending):
            batch.append(self._end(session, following, now))
        stored = await self.store.append(batch)
        if not stored.is_new:
            return False
        if not isinstance(following, Ending):
            await self._renew(session, now)
        elif following.outcome == "no_consent":
            await self.store.erase(session, now)
        elif following.outcome != "completed":
            await self.store.release(session)
        return True

    def _end(self, session: str, ending: Ending, now: datetime) -> End:
        secret = self.store.secret
        code = tokens.completion_code(secret, session, ending.outcome) if ending.outcome in _PAID else ""
        return End(session, ending.outcome, ending.reason, code, tokens.receipt_code(secret, session, now), now)

    async def _claim(self, facts: SessionFacts, now: datetime) -> int:
        per_list = None if facts.session.mode == "robot" else 1
        until = now + self._lease
        number = await self.store.claim(facts.session.session, now=now, until=until, per_list=per_list)
        if number is None:
            raise Refused(self.words["full"], code="full", status=403)
        self._leases[facts.session.session] = until
        return number

    async def _renew(self, session: str, now: datetime) -> None:
        """Renew a lease once a tenth of it is gone, so that most answers cost no second write."""
        if self._leases.get(session, now) < now + 0.9 * self._lease:
            self._leases[session] = now + self._lease
            await self.store.renew(session, now + self._lease)

    def _read(self, step: Planned, submission: Submission, elapsed_ms: float | None) -> tuple[Json, dict[str, Json]]:
        if step.trial is None:
            return read_step_answer(step, submission.answer), {}
        served = self.served
        return read_trial_answer(
            served.method, step.trial, served.catalogue, served.study.playback, submission, elapsed_ms, self.words
        )

    def _elapsed_ms(self, facts: SessionFacts, now: datetime) -> float | None:
        """Return how long this step can have been looked at by the server's clock; None where that is unknown.

        Robots live in their own time, and a clock that was set back proves nothing.
        """
        last = max((answer.at for answer in facts.answers.values()), default=facts.session.at)
        if facts.session.mode == "robot" or now < last:
            return None
        return (now - last).total_seconds() * 1000

    async def _repeated(self, facts: SessionFacts, key: str, submission: Submission) -> dict[str, Json]:
        """Return what the first commit returned if the same answer comes again; another one is refused."""
        stored = facts.answers.get(key)
        if stored is None:
            raise Refused(self.words["ended"], code="ended", status=410)
        script = self._script(facts) or self.served.script(1)
        try:
            same = self._read(script.steps[script.place(key)], submission, None)[0] == stored.answer
        except Refused:
            same = False
        if not same:
            raise Refused(self.words["already_answered"], where=key, code="already_answered", status=409)
        return {"stored_at": stored.at.isoformat(), "feedback": None, "step": await self._step(facts)}

    async def events(self, token: str, batch: Submission, key: str) -> None:
        """Keep a batch of the event log and renew the lease."""
        session = self._session(token)
        if session == preview.SESSION:
            return
        facts = await self._facts(session)
        if facts.end is not None or facts.erased:
            raise Refused(self.words["ended"], code="ended", status=410)
        here = next_step(self._script(facts), _answers(facts))
        if key not in facts.answers and not (isinstance(here, Planned) and here.key == key):
            raise Refused(self.words["not_reached"], where="key", code="not_reached", status=409)
        self._logged[session] = self._logged.get(session, 0) + len(str(batch.events))
        if self._logged[session] > _LARGEST_LOG:
            raise Refused("The event log is too long", where="events", code="too_large", status=413)
        now = self.now()
        await self.store.append([Events(session, key, batch.tab, batch.first, batch.events, now)])
        if facts.list is not None:
            await self._renew(session, now)

    async def withdraw(self, token: str) -> dict[str, Json]:
        """Erase the answers of this session and return its end."""
        session = self._session(token)
        if session == preview.SESSION:
            return self.preview.step("end:withdrawn")
        facts = await self._facts(session)
        now = self.now()
        if facts.end is None:
            await self.store.append([self._end(session, Ending("withdrawn", "participant"), now)])
            await self.store.release(session)
        if not facts.erased:
            await self.store.erase(session, now)
        return await self._step(await self._facts(session))

    def _preview_answer(self, key: str, submission: Submission) -> dict[str, Json]:
        place = self.preview.script.place(key)
        if place < 0:
            raise Refused(self.words["not_reached"], where=key, code="not_reached", status=409)
        read, _ = self._read(self.preview.script.steps[place], submission, None)
        return {"stored_at": None, "feedback": None, "step": self.preview.after(key, read)}

    # Media

    def _media(self, session: str) -> Callable[[str, Slot], dict[str, Json]]:
        return lambda key, slot: self._addresses.describe(session, key, slot.id, slot.stimulus)

    async def media(self, token: str) -> Blinded:
        """Return the medium behind an address."""
        session = token.partition("-")[0]
        if not self._addresses.knows(session):
            script = self.preview.script if session == preview.SESSION else self._script(await self._facts(session))
            if script is not None:
                self._addresses.learn(session, script)
        return self._addresses.open(session, token, self.words["no_media"], self.words["media_away"])


def _answers(facts: SessionFacts) -> dict[str, Json]:
    return {key: answer.answer for key, answer in facts.answers.items()}
