"""The current step of a session and its page: steps, texts, and the addresses of media."""

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
    """Finds the current step of a session, and stores what must be stored before it is shown."""

    def __init__(
        self,
        served: ServedStudy,
        store: Store,
        words: Mapping[str, str],
        admission: Admission,
        page_checks: PageChecks,
        pages: StepPages,
        endings: Endings,
        further: FurtherSessions,
    ) -> None:
        self._served, self._store, self._words, self._admission = served, store, words, admission
        self._page_checks, self._pages, self._endings, self._further = page_checks, pages, endings, further

    def script(self, facts: SessionFacts) -> Script | None:
        """Return the script of a session; None while it has no list of this run."""
        if facts.list is None or facts.session.run != self._served.study.run:  # another run had other lists
            return None
        return self._served.script(facts.list, is_later=is_later_session(facts.verdicts))

    def steps(self, facts: SessionFacts) -> Script:
        """Return the script of a session; that of the first list while it has none of this run."""
        return self.script(facts) or self._served.script(1)

    async def step(self, facts: SessionFacts, now: datetime) -> dict[str, Json]:
        """Return the page of the current step."""
        script, session = self.script(facts), facts.session.session
        if facts.end is None and facts.erased:  # erased by the receipt of another session while this one was open
            facts = replace(facts, end=self._endings.erased_end(session, now))
        if facts.end is not None:
            steps = self.steps(facts)
            return await self._endings.last_page(facts, facts.end, steps, await self._further.offer(facts, steps, now))
        here, kept, facts = self.advance(script, facts, now)
        if isinstance(here, Ending):  # the last question was removed from the study since
            await self._store.append([self._endings.end_fact(session, here, now), *kept])
            return await self.step(await self._admission.facts(session), now)
        if kept:
            await self._store.append(kept)
        if script is None:
            return self._pages.render_unclaimed(
                session, here, is_later=bool(await self._further.lists_taken(facts.session))
            )
        return self._pages.render(facts, here, script)

    def advance(
        self, script: Script | None, facts: SessionFacts, now: datetime
    ) -> tuple[PlannedStep | Ending, list[Fact], SessionFacts]:
        """Return the current step, the facts to store for it, and the session's facts with them.

        Those are posed attempts, and verdicts that end a check that cannot be posed.
        """
        kept: list[Fact] = []
        while True:
            here = next_step(script, answers_of(facts), facts.verdicts, now)
            if isinstance(here, Ending) or here.check is None or here.key in facts.posed:
                return here, kept, facts
            fact = self._page_checks.posed_fact(facts, here, now)
            kept.append(fact)
            if not isinstance(fact, StoredVerdict):
                return here, kept, facts
            facts = replace(facts, verdicts={**facts.verdicts, fact.key: fact})

    def reached_step(self, facts: SessionFacts, script: Script | None, key: str, now: datetime) -> PlannedStep:
        """Return the step with this key if it is due now, or was due when its page was sent; else raise Refused."""
        for here in due_steps(facts, script, now):
            if here.key == key:
                return here
        raise Refused(self._words["not_reached"], where=key, code="not_reached", status=409)


def due_steps(facts: SessionFacts, script: Script | None, now: datetime) -> Iterator[PlannedStep]:
    """Yield the step that is due now, then the one due at the last answer: a pass may have expired since."""
    answers = answers_of(facts)
    for moment in (now, max((answer.at for answer in facts.answers.values()), default=now)):
        here = next_step(script, answers, facts.verdicts, moment)
        if isinstance(here, PlannedStep):
            yield here


# Pages


class StepPages:
    """Renders a step of a session as the fields of its page."""

    def __init__(
        self,
        served: ServedStudy,
        texts: RenderedTexts,
        addresses: MediaAddresses,
        page_checks: PageChecks,
        reader: AnswerReader,
    ) -> None:
        self._served, self._texts, self._addresses = served, texts, addresses
        self._page_checks, self._reader = page_checks, reader

    def render_unclaimed(self, session: str, step: PlannedStep, *, is_later: bool) -> dict[str, Json]:
        """Return the page of a step before a list is claimed, when there is nothing to prefetch."""
        script = self._served.script(1, is_later=is_later)
        shown = self._shown(session, step, script, None)
        return {**shown, "prefetch": [], "needs": self._page_checks.requirements(script)}

    def render(self, facts: SessionFacts, step: PlannedStep, script: Script) -> dict[str, Json]:
        """Return the page of a step of a session with a list."""
        shown = self._shown(facts.session.session, step, script, facts.list)
        if self._served.has_group_instructions:
            shown["instructions"] = self._texts.help(facts.list)
        if step.is_training:
            return shown | self._reader.training.public(step, script, facts.verdicts)
        if step.attempt and step.is_rated:
            return shown | self._reader.trial_rules.public(step, script, facts.verdicts)
        return shown | self._page_checks.public(facts, step, script) if step.check is not None else shown

    def _shown(self, session: str, step: PlannedStep, script: Script, number: int | None) -> dict[str, Json]:
        media = self._addresses.describe_for(session, script)
        return public_step(step, script, self._texts.for_list(number), self._served.method, script.playback, media)


# Texts


class RenderedTexts:
    """The texts of one study as HTML; groups may have their own."""

    def __init__(self, served: ServedStudy, words: Mapping[str, str]) -> None:
        self._served, self._words = served, words
        self._by_text: dict[str, Mapping[str, str]] = {}

    def for_list(self, number: int | None) -> Mapping[str, str]:
        """Return the texts of a list; without a list those of the study."""
        study = self._served.study if number is None else self._served.study_for_list(number)
        key = study.texts.model_dump_json()
        if key not in self._by_text:
            self._by_text[key] = step_texts(study, self._words, self._served.catalogue.examples)
        return self._by_text[key]

    def help(self, number: int | None) -> str:
        """Return the instructions for the help page; empty while the group is unknown."""
        if number is None and self._served.has_group_instructions:
            return ""
        return self.for_list(number)["help"]


# Addresses of media

_REMEMBERED = 20_000  # sessions, and slots, that are cached


class MediaAddresses:
    """Opaque addresses of media, one for each session, step and slot. An address is a keyed hash, so none is stored."""

    def __init__(self, served: ServedStudy, secret: bytes) -> None:
        self._catalogue, self._secret = served.catalogue, secret
        self._by_session: OrderedDict[str, dict[str, tuple[Stimulus, bytes]]] = OrderedDict()
        # Requested twice: when a trial is prefetched, and when it is shown.
        self.describe = lru_cache(_REMEMBERED)(self._describe)

    def _describe(self, session: str, key: str, slot: str, stimulus_id: str, is_heard: bool = True) -> dict[str, Json]:
        """Return the public description of the medium in a slot; `is_heard`: whether sound is on."""
        token, filler = tokens.media_address(self._secret, session, key, slot)
        stimulus = self._catalogue.by_id[stimulus_id]
        size = self._catalogue.class_sizes[stimulus_id] + drawn_size(filler)
        return public_media(stimulus, f"/media/{token}", size, is_heard=is_heard)

    def describe_for(self, session: str, script: Script) -> DescribeMedia:
        """Return the function that describes each medium of a session."""
        is_heard = script.playback.sound == "on"
        return lambda key, slot: self.describe(session, key, slot.id, slot.stimulus, is_heard)

    def is_indexed(self, session: str) -> bool:
        """Return whether the addresses of a session are cached."""
        return session in self._by_session

    def index(self, session: str, script: Script) -> None:
        """Compute and cache every address of a session."""
        slots = {}
        for step in script.steps:
            for slot in step.trial.slots if step.trial else ():
                token, filler = tokens.media_address(self._secret, session, step.key, slot.id)
                slots[token] = (self._catalogue.by_id[slot.stimulus], filler)
        self._by_session[session] = slots
        if len(self._by_session) > _REMEMBERED:
            self._by_session.popitem(last=False)

    def has(self, session: str, token: str) -> bool:
        """Return whether an address is of a slot of this session."""
        return token in self._by_session.get(session, {})

    def open(self, session: str, token: str, unknown: str, away: str) -> BlindedFile:
        """Return the medium behind an address, with the filler that belongs to this address alone."""
        slot = self._by_session.get(session, {}).get(token)
        if slot is None:
            raise Refused(unknown, code="unknown_media", status=404)
        try:
            stimulus, filler = slot
            return blind(stimulus.served, filler, self._catalogue.class_sizes[stimulus.id])
        except OSError as error:
            raise Refused(away, code="media_away", status=503) from error
