"""Accepting answers and events: each answer is stored once, durably, and leads to the next step."""

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
    """Accepts the answers of participants."""

    def __init__(
        self,
        store: Store,
        words: Mapping[str, str],
        admission: Admission,
        gate: ModerationGate,
        sequence: StepSequence,
        pages: StepPages,
        reader: AnswerReader,
        consent: Consent,
        leases: Leases,
        endings: Endings,
    ) -> None:
        self._store, self._words, self._admission, self._gate = store, words, admission, gate
        self._sequence, self._pages, self._reader = sequence, pages, reader
        self._consent, self._leases, self._endings = consent, leases, endings

    async def accept(self, session: str, key: str, submission: SubmittedAnswer, now: datetime) -> dict[str, Json]:
        """Store an answer, and return when it was stored, the feedback on it and the next step."""
        facts = await self._admission.facts(session)
        if key in facts.answers:
            return await self._repeat(facts, key, submission, now)
        if facts.end is not None:
            raise Refused(self._words["ended"], code="ended", status=410)
        await self._gate.check(facts)
        script = self._sequence.script(facts)
        here = self._sequence.reached_step(facts, script, key, now)
        read = self._reader.read(facts, here, script, submission, now)
        verdicts = [read.verdict] if read.verdict else []
        if is_consent_given(here, read.answer):
            facts, script, verdicts = await self._consent.accept(facts, now)
        answer = Answer(
            session, key, read.answer, read.playback, submission.shown_ms, submission.sent_ms, submission.input,
            submission.tab, now,
        )  # fmt: skip
        after = replace(
            facts,
            answers={**facts.answers, key: answer},
            verdicts={**facts.verdicts, **{one.key: one for one in verdicts}},
        )
        following, kept, after = self._sequence.advance(script, after, now)
        if not await self._store_answer(answer, [*verdicts, *kept], submission, following):  # another tab was first
            return await self._repeat(await self._admission.facts(session), key, submission, now)
        if isinstance(following, Ending):
            step = await self._sequence.step(await self._admission.facts(session), now)
        else:
            assert script is not None, "a session with consent has a list"
            step = self._pages.render(after, following, script)
        return {"stored_at": now.isoformat(), "feedback": read.feedback, "step": step}

    async def _store_answer(
        self, answer: Answer, more: list[Fact], submission: SubmittedAnswer, following: PlannedStep | Ending
    ) -> bool:
        """Store an answer with its events and the end it leads to; return False if another tab was first."""
        session, now = answer.session, answer.at
        batch: list[Fact] = [answer, *more]
        new_events = submission.events[submission.first :]
        if new_events:
            batch.append(Events(session, answer.key, submission.tab, submission.first, new_events, now))
        if isinstance(following, Ending):
            batch.append(self._endings.end_fact(session, following, now))
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

    async def _repeat(
        self, facts: SessionFacts, key: str, submission: SubmittedAnswer, now: datetime
    ) -> dict[str, Json]:
        """Return the reply of the first commit to the same answer sent again; a different answer is refused."""
        stored = facts.answers.get(key)
        if stored is None:
            raise Refused(self._words["ended"], code="ended", status=410)
        script = self._sequence.steps(facts)
        step = script.find(key)
        try:
            same = step is not None and self._reader.read_repeated(facts, step, script, submission) == stored.answer
        except Refused:
            same = False
        if step is None or not same:
            raise Refused(self._words["already_answered"], where=key, code="already_answered", status=409)
        feedback = self._reader.feedback(facts, step, script)
        return {"stored_at": stored.at.isoformat(), "feedback": feedback, "step": await self._sequence.step(facts, now)}


# Event log

_LARGEST = 8 * 1024 * 1024  # characters of one session's events that are kept


class EventLog:
    """Stores batches of events between two answers; they also renew the lease."""

    def __init__(
        self,
        store: Store,
        words: Mapping[str, str],
        admission: Admission,
        gate: ModerationGate,
        sequence: StepSequence,
        leases: Leases,
    ) -> None:
        self._store, self._words, self._admission = store, words, admission
        self._gate, self._sequence, self._leases = gate, sequence, leases
        self._sizes: dict[str, int] = {}

    async def append(self, session: str, batch: SubmittedAnswer, key: str, now: datetime) -> None:
        """Store a batch and renew the lease."""
        facts = await self._admission.facts(session)
        if facts.end is not None or facts.erased:
            raise Refused(self._words["ended"], code="ended", status=410)
        await self._gate.check(facts)
        if key not in facts.answers:
            self._sequence.reached_step(facts, self._sequence.script(facts), key, now)
        self._sizes[session] = self._sizes.get(session, 0) + len(str(batch.events))
        if self._sizes[session] > _LARGEST:
            raise Refused("The event log is too long", where="events", code="too_large", status=413)
        await self._store.append([Events(session, key, batch.tab, batch.first, batch.events, now)])
        if facts.list is not None and not self._gate.is_released(session):
            await self._leases.renew(session, now)


# Consent


class Consent:
    """Claims a list for a participant who consents, and carries over earlier passes."""

    def __init__(self, served: ServedStudy, store: Store, further: FurtherSessions, leases: Leases) -> None:
        self._served, self._store, self._further, self._leases = served, store, further, leases

    async def accept(self, facts: SessionFacts, now: datetime) -> tuple[SessionFacts, Script, list[StoredVerdict]]:
        """Return the facts of a session with its list, its script, and the verdicts to store; or raise Refused."""
        served, store = self._served, self._store
        taken = await self._further.lists_taken(facts.session, facts.list)
        if taken:  # barring lists needs all lists of the plan
            await add_new_lists(served, store, (await store.counts(now, served.study.run))["lists"])
        number = await self._leases.claim(facts.session, taken, now)
        await add_new_lists(served, store, number)
        facts, script = replace(facts, list=number), served.script(number, is_later=bool(taken))
        verdicts = self._further.later_session_facts(facts.session, taken, now)
        return facts, script, [*verdicts, *await carry_over(store, served.digest, facts, script, now)]


def is_consent_given(step: PlannedStep, answer: Json) -> bool:
    """Return whether this answer gives consent."""
    return step is CONSENT and isinstance(answer, Mapping) and bool(answer["agree"])


# Moderation of open sessions


class ModerationGate:
    """Checks sessions against the moderation of the ledger, and releases the lists of those that may not continue."""

    def __init__(self, store: Store, moderation: Moderation, leases: Leases, words: Mapping[str, str]) -> None:
        self._store, self._moderation, self._leases, self._words = store, moderation, leases, words
        self._is_refreshed = False

    async def refresh(self) -> None:
        """Read new moderation entries: who is blocked, and whose list is released."""
        new_entries = await self._moderation.refresh()
        is_first, self._is_refreshed = not self._is_refreshed, True
        # Releases from before this server started took effect then; the participant may have returned since.
        released = [one.session for one in new_entries if one.kind == "release" and one.session and not is_first]
        stopped = {one.participant for one in new_entries if one.kind in ("shut_out", "reset")}
        for session in (*released, *(await self._stopped_sessions(stopped) if stopped else ())):
            with contextlib.suppress(LookupError):
                await self._leases.release(session)

    async def check(self, facts: SessionFacts) -> None:
        """Raise Refused, and release the list, where the participant is blocked or the session was replaced."""
        try:
            self._moderation.check(facts, self._words["blocked"], self._words["moved"])
        except Refused:
            await self._leases.release(facts.session.session)
            raise

    def is_released(self, session: str) -> bool:
        """Return whether the list of a session was released."""
        return session in self._moderation.released

    async def _stopped_sessions(self, participants: Collection[str]) -> list[str]:
        """Return the sessions of these participants that may not continue."""
        sessions = [
            row["session"] for row in await read_rows(self._store, "sessions") if row["participant"] in participants
        ]
        known = [await self._store.session_facts(session) for session in sessions]
        return [facts.session.session for facts in known if facts is not None and self._moderation.must_release(facts)]
