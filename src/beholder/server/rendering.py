"""The way through a study: where somebody is, and the page that they get there."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.admission import Admission
from beholder.server.endings import Endings
from beholder.server.flow import Ending, answers_of, next_step
from beholder.server.further_sessions import FurtherSessions, is_later_session
from beholder.server.page_checks import PageChecks
from beholder.server.public_steps import DescribeMedia, public_media, public_step, step_texts
from beholder.server.script import PlannedStep, Script, ServedStudy
from beholder.server.validation import AnswerReader
from beholder.stimuli.blinding import BlindedFile, blind, drawn_size
from beholder.stimuli.catalogue import Stimulus
from beholder.store.contract import Fact, SessionFacts, Store, StoredVerdict
from beholder.types import Json


class StepSequence:
    """Finds the step at hand, and keeps what has to be kept before it is shown."""

    def __init__(
        self,
        served: ServedStudy,
        store: Store,
        words: Mapping[str, str],
        arrivals: Admission,
        examiner: PageChecks,
        pages: StepPages,
        ends: Endings,
        again: FurtherSessions,
    ) -> None:
        self._served, self._store, self._words, self._arrivals = served, store, words, arrivals
        self._examiner, self._pages, self._ends, self._again = examiner, pages, ends, again

    def script(self, facts: SessionFacts) -> Script | None:
        """Return the steps of a session; None while it has no list of this run."""
        if facts.list is None or facts.session.run != self._served.study.run:  # another run had other lists
            return None
        return self._served.script(facts.list, is_again=is_later_session(facts.verdicts))

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
    ) -> tuple[PlannedStep | Ending, list[Fact], SessionFacts]:
        """Return where somebody is, what has to be kept for it, and what is known then.

        That is what a check poses; and one that cannot be posed is over.
        """
        kept: list[Fact] = []
        while True:
            here = next_step(script, answers_of(facts), facts.verdicts, now)
            if isinstance(here, Ending) or here.check is None or here.key in facts.posed:
                return here, kept, facts
            fact = self._examiner.fact(facts, here, now)
            kept.append(fact)
            if not isinstance(fact, StoredVerdict):
                return here, kept, facts
            facts = replace(facts, verdicts={**facts.verdicts, fact.key: fact})

    def reached(self, facts: SessionFacts, script: Script | None, key: str, now: datetime) -> PlannedStep:
        """Return the step with this key, if somebody is there: by now, or when they were handed it."""
        for here in due_steps(facts, script, now):
            if here.key == key:
                return here
        raise Refused(self._words["not_reached"], where=key, code="not_reached", status=409)


def due_steps(facts: SessionFacts, script: Script | None, now: datetime) -> Iterator[PlannedStep]:
    """Yield the step that is due, then the one before it where a pass ran out while its page was open."""
    answers = answers_of(facts)
    for moment in (now, max((answer.at for answer in facts.answers.values()), default=now)):
        here = next_step(script, answers, facts.verdicts, moment)
        if isinstance(here, PlannedStep):
            yield here


# --- The page of a step: what a browser is told of it ---


class StepPages:
    """Turns a step of a session into what is shown."""

    def __init__(
        self,
        served: ServedStudy,
        texts: RenderedTexts,
        addresses: MediaAddresses,
        examiner: PageChecks,
        reader: AnswerReader,
    ) -> None:
        self._served, self._texts, self._addresses = served, texts, addresses
        self._examiner, self._reader = examiner, reader

    def unclaimed(self, session: str, step: PlannedStep, *, is_again: bool) -> dict[str, Json]:
        """Return a step as it is shown before a list is claimed, when there is nothing to fetch."""
        script = self._served.script(1, is_again=is_again)
        shown = self._shown(session, step, script, None)
        return {**shown, "prefetch": [], "needs": self._examiner.needed(script)}

    def of(self, facts: SessionFacts, step: PlannedStep, script: Script) -> dict[str, Json]:
        """Return a step as it is shown to whoever has claimed a list."""
        shown = self._shown(facts.session.session, step, script, facts.list)
        if self._served.has_own_instructions:
            shown["instructions"] = self._texts.help(facts.list)
        if step.is_training:
            return shown | self._reader.lessons.public(step, script, facts.verdicts)
        if step.attempt and step.is_rated:
            return shown | self._reader.proctor.public(step, script, facts.verdicts)
        return shown | self._examiner.public(facts, step, script) if step.check is not None else shown

    def _shown(self, session: str, step: PlannedStep, script: Script, number: int | None) -> dict[str, Json]:
        media = self._addresses.of(session, script)
        return public_step(step, script, self._texts.of(number), self._served.method, script.playback, media)


# --- The texts that participants read, by the list that they take ---


class RenderedTexts:
    """The texts of one study; where it has groups, each list may have its own."""

    def __init__(self, served: ServedStudy, words: Mapping[str, str]) -> None:
        self._served, self._words = served, words
        self._known: dict[str, Mapping[str, str]] = {}

    def of(self, number: int | None) -> Mapping[str, str]:
        """Return the texts of whoever takes a list; without a list those that everybody reads."""
        study = self._served.study if number is None else self._served.study_of(number)
        key = study.texts.model_dump_json()
        if key not in self._known:
            self._known[key] = step_texts(study, self._words, self._served.catalogue.examples)
        return self._known[key]

    def help(self, number: int | None) -> str:
        """Return the instructions to read again; nothing while it is open whose they are."""
        if number is None and self._served.has_own_instructions:
            return ""
        return self.of(number)["help"]


# --- Media by opaque address: one for each session, step and slot ---


_REMEMBERED = 20_000  # sessions, and slots, that are kept in memory


class MediaAddresses:
    """Knows what is behind every address. Nothing is stored: an address is a keyed hash of its place."""

    def __init__(self, served: ServedStudy, secret: bytes) -> None:
        self._catalogue, self._secret = served.catalogue, secret
        self._found: OrderedDict[str, dict[str, tuple[Stimulus, bytes]]] = OrderedDict()
        # Asked for twice: when a trial is prefetched, and when it is there.
        self.describe = lru_cache(_REMEMBERED)(self._describe)

    def _describe(self, session: str, key: str, slot: str, stimulus_id: str, is_heard: bool = True) -> dict[str, Json]:
        """Return what a browser learns of the medium in a slot; `is_heard`: whether sound is on."""
        token, filler = tokens.media_address(self._secret, session, key, slot)
        stimulus = self._catalogue.by_id[stimulus_id]
        size = self._catalogue.class_sizes[stimulus_id] + drawn_size(filler)
        return public_media(stimulus, f"/media/{token}", size, is_heard=is_heard)

    def of(self, session: str, script: Script) -> DescribeMedia:
        """Return what tells a browser of each medium of a session."""
        is_heard = script.playback.sound == "on"
        return lambda key, slot: self.describe(session, key, slot.id, slot.stimulus, is_heard)

    def knows(self, session: str) -> bool:
        """Return whether the addresses of a session are in memory."""
        return session in self._found

    def learn(self, session: str, script: Script) -> None:
        """Work out every address of a session."""
        found = {}
        for step in script.steps:
            for slot in step.trial.slots if step.trial else ():
                token, filler = tokens.media_address(self._secret, session, step.key, slot.id)
                found[token] = (self._catalogue.by_id[slot.stimulus], filler)
        self._found[session] = found
        if len(self._found) > _REMEMBERED:
            self._found.popitem(last=False)

    def has(self, session: str, token: str) -> bool:
        """Return whether an address is one of a slot of this session."""
        return token in self._found.get(session, {})

    def open(self, session: str, token: str, unknown: str, away: str) -> BlindedFile:
        """Return the medium behind an address, with the filler that belongs to this address alone."""
        found = self._found.get(session, {}).get(token)
        if found is None:
            raise Refused(unknown, code="unknown_media", status=404)
        try:
            stimulus, filler = found
            return blind(stimulus.served, filler, self._catalogue.class_sizes[stimulus.id])
        except OSError as error:
            raise Refused(away, code="media_away", status=503) from error
