"""Answers: each is kept once, after a durable commit, and leads on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from beholder.errors import Refused
from beholder.serve.arrivals import Arrivals
from beholder.serve.consent import Consent, is_given
from beholder.serve.ends import Ends
from beholder.serve.flow import Ending
from beholder.serve.leases import Leases
from beholder.serve.pages import Pages
from beholder.serve.reading import Reader
from beholder.serve.script import Planned
from beholder.serve.standing import Standing
from beholder.serve.submission import Submission
from beholder.serve.way import Way
from beholder.store.contract import Answer, Events, Fact, SessionFacts, Store
from beholder.types import Json


class Answers:
    """Takes in what people answer."""

    def __init__(
        self,
        store: Store,
        words: Mapping[str, str],
        arrivals: Arrivals,
        standing: Standing,
        way: Way,
        pages: Pages,
        reader: Reader,
        consent: Consent,
        leases: Leases,
        ends: Ends,
    ) -> None:
        self._store, self._words, self._arrivals, self._standing = store, words, arrivals, standing
        self._way, self._pages, self._reader = way, pages, reader
        self._consent, self._leases, self._ends = consent, leases, ends

    async def take(self, session: str, key: str, submission: Submission, now: datetime) -> dict[str, Json]:
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
        if is_given(here, read.answer):
            facts, script, told = await self._consent.given(facts, now)
        answer = Answer(
            session, key, read.answer, read.playback, submission.shown_ms, submission.sent_ms, submission.input,
            submission.tab, now,
        )  # fmt: skip
        after = replace(
            facts, answers={**facts.answers, key: answer}, told={**facts.told, **{one.key: one for one in told}}
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
        self, answer: Answer, more: list[Fact], submission: Submission, following: Planned | Ending
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

    async def _repeated(self, facts: SessionFacts, key: str, submission: Submission, now: datetime) -> dict[str, Json]:
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
