"""Answers: each is kept once, after a durable commit, and leads on."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

from beholder.errors import Refused
from beholder.server.admission import Admission, Leases
from beholder.server.attempts import carry_over
from beholder.server.endings import Endings
from beholder.server.flow import Ending
from beholder.server.further_sessions import FurtherSessions, add_new_lists
from beholder.server.moderation import Moderation
from beholder.server.rendering import StepPages, StepSequence
from beholder.server.requests import SubmittedAnswer
from beholder.server.script import CONSENT, PlannedStep, Script, ServedStudy
from beholder.server.validation import AnswerReader
from beholder.store.contract import Answer, Events, Fact, SessionFacts, Store, StoredVerdict
from beholder.store.open import read_rows
from beholder.types import Json


class AnswerIntake:
    """Takes in what people answer."""

    def __init__(
        self,
        store: Store,
        words: Mapping[str, str],
        arrivals: Admission,
        standing: ModerationGate,
        way: StepSequence,
        pages: StepPages,
        reader: AnswerReader,
        consent: Consent,
        leases: Leases,
        ends: Endings,
    ) -> None:
        self._store, self._words, self._arrivals, self._standing = store, words, arrivals, standing
        self._way, self._pages, self._reader = way, pages, reader
        self._consent, self._leases, self._ends = consent, leases, ends

    async def take(self, session: str, key: str, submission: SubmittedAnswer, now: datetime) -> dict[str, Json]:
        """Return when the answer was stored, what is read after it, and the next step."""
        facts = await self._arrivals.facts(session)
        if key in facts.answers:
            return await self._repeated(facts, key, submission, now)
        if facts.end is not None:
            raise Refused(self._words["ended"], code="ended", status=410)
        await self._standing.check(facts)
        script = self._way.script(facts)
        here = self._way.reached(facts, script, key, now)
        read = self._reader.read(facts, here, script, submission, now)
        told = [read.told] if read.told else []
        if is_consent_given(here, read.answer):
            facts, script, told = await self._consent.given(facts, now)
        answer = Answer(
            session, key, read.answer, read.playback, submission.shown_ms, submission.sent_ms, submission.input,
            submission.tab, now,
        )  # fmt: skip
        after = replace(
            facts, answers={**facts.answers, key: answer}, verdicts={**facts.verdicts, **{one.key: one for one in told}}
        )
        following, kept, after = self._way.onward(script, after, now)
        if not await self._keep(answer, [*told, *kept], submission, following):  # another tab was first
            return await self._repeated(await self._arrivals.facts(session), key, submission, now)
        if isinstance(following, Ending):
            step = await self._way.step(await self._arrivals.facts(session), now)
        else:
            assert script is not None, "whoever has agreed has a list"
            step = self._pages.of(after, following, script)
        return {"stored_at": now.isoformat(), "feedback": read.feedback, "step": step}

    async def _keep(
        self, answer: Answer, more: list[Fact], submission: SubmittedAnswer, following: PlannedStep | Ending
    ) -> bool:
        """Return whether this answer, its events and the end it leads to were stored; the loser of a race is not."""
        session, now = answer.session, answer.at
        batch: list[Fact] = [answer, *more]
        fresh = submission.events[submission.first :]
        if fresh:
            batch.append(Events(session, answer.key, submission.tab, submission.first, fresh, now))
        if isinstance(following, Ending):
            batch.append(self._ends.fact(session, following, now))
        stored = await self._store.append(batch)
        if not stored.is_new:
            return False
        if not isinstance(following, Ending):
            await self._leases.renew(session, now)
        elif following.outcome == "no_consent":
            await self._store.erase(session, now)
        elif following.outcome != "completed":
            await self._store.release(session)
        return True

    async def _repeated(
        self, facts: SessionFacts, key: str, submission: SubmittedAnswer, now: datetime
    ) -> dict[str, Json]:
        """Return what the first commit returned if the same answer comes again; another one is refused."""
        stored = facts.answers.get(key)
        if stored is None:
            raise Refused(self._words["ended"], code="ended", status=410)
        script = self._way.steps(facts)
        step = script.find(key)
        try:
            same = step is not None and self._reader.again(facts, step, script, submission) == stored.answer
        except Refused:
            same = False
        if step is None or not same:
            raise Refused(self._words["already_answered"], where=key, code="already_answered", status=409)
        feedback = self._reader.feedback(facts, step, script)
        return {"stored_at": stored.at.isoformat(), "feedback": feedback, "step": await self._way.step(facts, now)}


# --- The event log of sessions, as it comes in between two answers ---


_LARGEST = 8 * 1024 * 1024  # characters of one session's events that are kept


class EventLog:
    """Keeps batches of events; they also show that somebody is still there."""

    def __init__(
        self,
        store: Store,
        words: Mapping[str, str],
        arrivals: Admission,
        standing: ModerationGate,
        way: StepSequence,
        leases: Leases,
    ) -> None:
        self._store, self._words, self._arrivals = store, words, arrivals
        self._standing, self._way, self._leases = standing, way, leases
        self._sizes: dict[str, int] = {}

    async def keep(self, session: str, batch: SubmittedAnswer, key: str, now: datetime) -> None:
        """Keep a batch and renew the lease."""
        facts = await self._arrivals.facts(session)
        if facts.end is not None or facts.erased:
            raise Refused(self._words["ended"], code="ended", status=410)
        await self._standing.check(facts)
        if key not in facts.answers:
            self._way.reached(facts, self._way.script(facts), key, now)
        self._sizes[session] = self._sizes.get(session, 0) + len(str(batch.events))
        if self._sizes[session] > _LARGEST:
            raise Refused("The event log is too long", where="events", code="too_large", status=413)
        await self._store.append([Events(session, key, batch.tab, batch.first, batch.events, now)])
        if facts.list is not None and not self._standing.is_released(session):
            await self._leases.renew(session, now)


# --- What follows from agreeing: a list, and what somebody brings along from earlier ---


class Consent:
    """Gives whoever agrees a list."""

    def __init__(self, served: ServedStudy, store: Store, again: FurtherSessions, leases: Leases) -> None:
        self._served, self._store, self._again, self._leases = served, store, again, leases

    async def given(self, facts: SessionFacts, now: datetime) -> tuple[SessionFacts, Script, list[StoredVerdict]]:
        """Return what is known of a session with its list, its steps, and what is kept of it; or raise Refused."""
        served, store = self._served, self._store
        had = await self._again.had(facts.session, facts.list)
        if had:  # whose lists are barred has to be known of all of them
            await add_new_lists(served, store, (await store.counts(now, served.study.run))["lists"])
        number = await self._leases.claim(facts.session, had, now)
        await add_new_lists(served, store, number)
        facts, script = replace(facts, list=number), served.script(number, is_again=bool(had))
        told = self._again.told(facts.session, had, now)
        return facts, script, [*told, *await carry_over(store, served.digest, facts, script, now)]


def is_consent_given(step: PlannedStep, answer: Json) -> bool:
    """Return whether somebody has agreed by this answer."""
    return step is CONSENT and isinstance(answer, Mapping) and bool(answer["agree"])


# --- Whether somebody may go on with a session, by what was done about them since ---


class ModerationGate:
    """Takes in what was done about people; the list of whoever may not go on is open again."""

    def __init__(self, store: Store, acts: Moderation, leases: Leases, words: Mapping[str, str]) -> None:
        self._store, self._acts, self._leases, self._words = store, acts, leases, words
        self._has_looked = False

    async def look(self) -> None:
        """Take in what was done about people since: who is shut out, and whose list is open again."""
        fresh = await self._acts.read()
        is_first, self._has_looked = not self._has_looked, True
        # What was given back before we began was given back then; they may have come back since.
        given = [one.session for one in fresh if one.kind == "release" and one.session and not is_first]
        stopped = {one.participant for one in fresh if one.kind in ("shut_out", "reset")}
        for session in (*given, *(await self._freed(stopped) if stopped else ())):
            with contextlib.suppress(LookupError):
                await self._leases.release(session)

    async def check(self, facts: SessionFacts) -> None:
        """Raise Refused where somebody was shut out, or their session has given way; its list is open again."""
        try:
            self._acts.check(facts, self._words["blocked"], self._words["moved"])
        except Refused:
            await self._leases.release(facts.session.session)
            raise

    def is_released(self, session: str) -> bool:
        """Return whether the list of a session was given back."""
        return session in self._acts.released

    async def _freed(self, participants: Collection[str]) -> list[str]:
        """Return the sessions of these people that may not go on."""
        theirs = [
            row["session"] for row in await read_rows(self._store, "sessions") if row["participant"] in participants
        ]
        known = [await self._store.session_facts(session) for session in theirs]
        return [facts.session.session for facts in known if facts is not None and self._acts.frees(facts)]
