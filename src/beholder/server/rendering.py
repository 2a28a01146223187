"""The way through a study: where somebody is, and the page that they get there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from beholder.errors import Refused
from beholder.serve.again import Again, is_again
from beholder.serve.arrivals import Arrivals
from beholder.serve.ends import Ends
from beholder.serve.examiner import Examiner
from beholder.serve.flow import Ending, answers_of, next_step
from beholder.serve.pages import Pages
from beholder.serve.script import Planned, Script
from beholder.serve.served import Served
from beholder.store.contract import Fact, SessionFacts, Store, Told
from beholder.types import Json


class Way:
    """Finds the step at hand, and keeps what has to be kept before it is shown."""

    def __init__(
        self,
        served: Served,
        store: Store,
        words: Mapping[str, str],
        arrivals: Arrivals,
        examiner: Examiner,
        pages: Pages,
        ends: Ends,
        again: Again,
    ) -> None:
        self._served, self._store, self._words, self._arrivals = served, store, words, arrivals
        self._examiner, self._pages, self._ends, self._again = examiner, pages, ends, again

    def script(self, facts: SessionFacts) -> Script | None:
        """Return the steps of a session; None while it has no list of this run."""
        if facts.list is None or facts.session.run != self._served.study.run:  # another run had other lists
            return None
        return self._served.script(facts.list, is_again=is_again(facts.told))

    def steps(self, facts: SessionFacts) -> Script:
        """Return the steps of a session; those of the first list while it has none of this run."""
        return self.script(facts) or self._served.script(1)

    async def step(self, facts: SessionFacts, now: datetime) -> dict[str, Json]:
        """Return the page where somebody is."""
        script, session = self.script(facts), facts.session.session
        if facts.end is None and facts.erased:  # forgotten by a receipt of another session, while this one was open
            facts = replace(facts, end=self._ends.gone(session, now))
        if facts.end is not None:
            steps = self.steps(facts)
            return await self._ends.step(facts, facts.end, steps, await self._again.offer(facts, steps, now))
        here, kept, facts = self.onward(script, facts, now)
        if isinstance(here, Ending):  # a question was dropped since, and it was the last
            await self._store.append([self._ends.fact(session, here, now), *kept])
            return await self.step(await self._arrivals.facts(session), now)
        if kept:
            await self._store.append(kept)
        if script is None:
            return self._pages.unclaimed(session, here, is_again=bool(await self._again.had(facts.session)))
        return self._pages.of(facts, here, script)

    def onward(
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
            fact = self._examiner.fact(facts, here, now)
            kept.append(fact)
            if not isinstance(fact, Told):
                return here, kept, facts
            facts = replace(facts, told={**facts.told, fact.key: fact})

    def reached(self, facts: SessionFacts, script: Script | None, key: str, now: datetime) -> Planned:
        """Return the step with this key, if somebody is there: by now, or when they were handed it."""
        for here in at_hand(facts, script, now):
            if here.key == key:
                return here
        raise Refused(self._words["not_reached"], where=key, code="not_reached", status=409)


def at_hand(facts: SessionFacts, script: Script | None, now: datetime) -> Iterator[Planned]:
    """Yield the step that is due, then the one before it where a pass ran out while its page was open."""
    answers = answers_of(facts)
    for moment in (now, max((answer.at for answer in facts.answers.values()), default=now)):
        here = next_step(script, answers, facts.told, moment)
        if isinstance(here, Planned):
            yield here
