"""The current step of a session and its page: steps, texts, and the addresses of media."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property, lru_cache
from typing import NamedTuple

from beholder.buckets.disguises import Copy
from beholder.buckets.signed_addresses import HostedMedia, StoredCopy
from beholder.errors import Refused
from beholder.methods.contract import Slot
from beholder.server import tokens
from beholder.server.admission import load_session
from beholder.server.context import Context
from beholder.server.endings import end_fact, erased_end, last_page
from beholder.server.flow import Ending, answers_of, next_step
from beholder.server.public_steps import DescribeMedia, public_media, public_step, stage_needs, step_texts
from beholder.server.script import PlannedStep, Script, ServedStudy, is_later_session
from beholder.server.session_stages import told_minutes
from beholder.stimuli.blinding import BlindedFile, blind, drawn_size
from beholder.stimuli.catalogue import Stimulus
from beholder.store.contract import Fact, SessionFacts, StoredVerdict
from beholder.study.model import Study
from beholder.types import Json
from beholder.words import LanguageWords


def session_script(ctx: Context, facts: SessionFacts) -> Script | None:
    """Return the script of a session; None while it has no list of this run."""
    if facts.list is None or facts.session.run != ctx.served.study.run:  # another run had other lists
        return None
    return ctx.served.script(facts.list, is_later=is_later_session(facts.verdicts))


def script_or_first(ctx: Context, facts: SessionFacts) -> Script:
    """Return the script of a session; that of the first list while it has none of this run."""
    return session_script(ctx, facts) or ctx.served.script(1)


def reached_step(ctx: Context, facts: SessionFacts, script: Script | None, key: str, now: datetime) -> PlannedStep:
    """Return the step with this key if it is due now, or was due when its page was sent; else raise Refused."""
    for here in due_steps(facts, script, now):
        if here.key == key:
            return here
    raise Refused(ctx.words["not_reached"], where=key, code="not_reached", status=409)


def due_steps(facts: SessionFacts, script: Script | None, now: datetime) -> Iterator[PlannedStep]:
    """Yield the step that is due now, then the one due at the last answer: a pass may have expired since."""
    answers = answers_of(facts)
    here = next_step(script, answers, facts.verdicts, now)
    if isinstance(here, PlannedStep):
        yield here
    before = max((answer.at for answer in facts.answers.values()), default=now)
    here = next_step(script, answers, facts.verdicts, before)
    if isinstance(here, PlannedStep):
        yield here


class Advance(NamedTuple):
    """The current step or the ending, the facts to store for it, and the session's facts with them."""

    here: PlannedStep | Ending
    new_facts: list[Fact]
    """Posed attempts, and verdicts that end a check that cannot be posed."""
    facts: SessionFacts


def advance(ctx: Context, script: Script | None, facts: SessionFacts, now: datetime) -> Advance:
    """Return the current step of a session, without storing anything."""
    new_facts: list[Fact] = []
    while True:
        here = next_step(script, answers_of(facts), facts.verdicts, now)
        if isinstance(here, Ending) or here.check is None or here.key in facts.posed:
            return Advance(here, new_facts, facts)
        fact = ctx.page_checks.posed_fact(facts, here, now)
        new_facts.append(fact)
        if not isinstance(fact, StoredVerdict):
            return Advance(here, new_facts, facts)
        facts = replace(facts, verdicts={**facts.verdicts, fact.key: fact})


# Pages


async def current_page(ctx: Context, facts: SessionFacts, now: datetime) -> dict[str, Json]:
    """Return the page of the current step, after storing what must be stored before it is shown."""
    script, session = session_script(ctx, facts), facts.session.session
    if facts.end is None and facts.erased:  # erased by the receipt of another session while this one was open
        facts = replace(facts, end=erased_end(ctx, session, now))
    if facts.end is not None:
        steps = script_or_first(ctx, facts)
        offer = await ctx.further.offer(facts, steps, now) if ctx.further.max_sessions > 1 else None
        return await last_page(ctx, facts, facts.end, steps, offer)
    here, new_facts, facts = advance(ctx, script, facts, now)
    if isinstance(here, Ending):  # the last question was removed from the study since
        await ctx.store.append([end_fact(ctx, session, here, now), *new_facts])
        return await current_page(ctx, await load_session(ctx, session), now)
    if new_facts:
        await ctx.store.append(new_facts)
    if script is None:
        return await _unclaimed_page(ctx, facts, here)
    return step_page(ctx, facts, here, script)


async def _unclaimed_page(ctx: Context, facts: SessionFacts, step: PlannedStep) -> dict[str, Json]:
    """Return the page of a step before a list is claimed, when there is nothing to prefetch."""
    is_later = bool(await ctx.further.lists_taken(facts.session))
    script = ctx.served.script(ctx.bound.likely(facts.session), is_later=is_later)
    shown = _shown(ctx, facts.session.session, step, script, None)
    needs = [*stage_needs(ctx.served.study, ctx.words), *ctx.page_checks.requirements(script)]
    return {**shown, "prefetch": [], "needs": needs}


def step_page(ctx: Context, facts: SessionFacts, step: PlannedStep, script: Script) -> dict[str, Json]:
    """Return the page of a step of a session with a list."""
    shown = _shown(ctx, facts.session.session, step, script, facts.list)
    if ctx.served.has_group_instructions:
        shown["instructions"] = ctx.texts.help(facts.list)
    if step.is_training:
        return shown | ctx.trial_rules.training.public(step, script, facts.verdicts)
    if step.attempt and step.is_rated:
        return shown | ctx.trial_rules.public(step, script, facts.verdicts)
    return shown | ctx.page_checks.public(facts, step, script) if step.check is not None else shown


def _shown(ctx: Context, session: str, step: PlannedStep, script: Script, number: int | None) -> dict[str, Json]:
    media, is_separate = ctx.media.describe_for(session, script), ctx.served.study.stage == "separate"
    return public_step(
        step,
        script,
        ctx.texts.for_list(number),
        ctx.served.method,
        script.playback,
        media,
        language=ctx.served.study.language,
        is_separate=is_separate,
    )


# Texts


class RenderedTexts:
    """The texts of one study as HTML; groups may have their own."""

    def __init__(self, served: ServedStudy, words: LanguageWords) -> None:
        self._served, self._words = served, words
        self._by_text: dict[str, Mapping[str, str]] = {}
        self._by_study: dict[int, tuple[Study, Mapping[str, str]]] = {}

    @cached_property
    def _minutes(self) -> int:
        return told_minutes(self._served)

    def for_list(self, number: int | None) -> Mapping[str, str]:
        """Return the texts of a list; without a list those of the study."""
        study = self._served.study if number is None else self._served.study_for_list(number)
        known = self._by_study.get(id(study))  # which lives as long as the server, as there are few groups
        if known is None or known[0] is not study:
            known = self._by_study[id(study)] = (study, self._of_study(study))
        return known[1]

    def _of_study(self, study: Study) -> Mapping[str, str]:
        key = study.texts.model_dump_json()
        if key not in self._by_text:
            served = self._served
            self._by_text[key] = step_texts(study, self._words, served.catalogue, served.method, self._minutes)
        return self._by_text[key]

    def help(self, number: int | None) -> str:
        """Return the instructions for the help page; empty while the group is unknown."""
        if number is None and self._served.has_group_instructions:
            return ""
        return self.for_list(number)["help"]


# Addresses of media

_REMEMBERED = 20_000  # descriptions of slots that are cached
_INDEXED = 200_000  # slots of sessions whose addresses are cached: some 100 MB


class MediaAddresses:
    """Opaque addresses of media, one for each session, step and slot. An address is a keyed hash, so none is stored.

    `hosted`: disguised copies elsewhere, of which a slot has one, in place of a filler of its own.
    """

    def __init__(self, served: ServedStudy, secret: bytes, hosted: HostedMedia | None = None) -> None:
        self._catalogue, self._secret, self.hosted = served.catalogue, secret, hosted
        self._by_session: OrderedDict[str, dict[str, tuple[Stimulus, bytes] | Copy]] = OrderedDict()
        self._times: dict[int, tuple[Script, Mapping[tuple[str, str], int]]] = {}
        self._media: dict[tuple[str, bool], dict[str, Json]] = {}
        self._slots = 0
        # Requested twice: when a trial is prefetched, and when it is shown.
        self.describe = lru_cache(_REMEMBERED)(self._describe)

    def _describe(self, session: str, key: str, slot: str, stimulus_id: str, is_heard: bool = True) -> dict[str, Json]:
        """Return the public description of the medium in a slot; `is_heard`: whether sound is on."""
        token, filler = tokens.media_address(self._secret, session, key, slot)
        media = self._same_for_all(stimulus_id, is_heard).copy()
        media["url"] = f"/media/{token}"
        media["bytes"] = self._catalogue.class_sizes[stimulus_id] + drawn_size(filler)
        return media

    def _same_for_all(self, stimulus_id: str, is_heard: bool) -> dict[str, Json]:
        """Return the description of a medium without the address and the size, which each slot has for itself."""
        known = self._media.get((stimulus_id, is_heard))
        if known is None:
            known = public_media(self._catalogue.by_id[stimulus_id], "", 0, is_heard=is_heard)
            self._media[stimulus_id, is_heard] = known
        return known

    def describe_for(self, session: str, script: Script) -> DescribeMedia:
        """Return the function that describes each medium of a session."""
        is_heard = script.playback.sound == "on"
        hosted = self.hosted
        if hosted is None:
            return lambda key, slot: self.describe(session, key, slot.id, slot.stimulus, is_heard)

        def describe(key: str, slot: Slot) -> dict[str, Json]:
            copy = self._copy(hosted, session, script, key, slot)
            shown = self.describe(session, key, slot.id, slot.stimulus, is_heard) | {"bytes": copy.size}
            return shown if hosted.valid is None else shown | {"signed": hosted.address(copy)}

        return describe

    def _copy(self, hosted: HostedMedia, session: str, script: Script, key: str, slot: Slot) -> Copy:
        """Return the copy that a slot of a session has: another one each time that the same file occurs in it."""
        name, size = hosted.copies.of_stimulus[slot.stimulus]
        digest = tokens.keyed(self._secret, "copies", session, name, str(size))
        return hosted.copies.draw(slot.stimulus, digest, self._occurrences(hosted, script)[key, slot.id])

    def _occurrences(self, hosted: HostedMedia, script: Script) -> Mapping[tuple[str, str], int]:
        """Return how often the file of each slot has occurred before in a script, by step and slot."""
        # By identity: a script lives as long as the server, and a hash of it would take longer than counting.
        known = self._times.get(id(script))
        if known is None or known[0] is not script:
            counts: Counter[tuple[str, int]] = Counter()
            times = {}
            for step in script.steps:
                for slot in step.trial.slots if step.trial else ():
                    file = hosted.copies.of_stimulus[slot.stimulus]
                    times[step.key, slot.id] = counts[file]
                    counts[file] += 1
            known = self._times[id(script)] = (script, times)
        return known[1]

    def is_indexed(self, session: str) -> bool:
        """Return whether the addresses of a session are cached."""
        return session in self._by_session

    def index(self, session: str, script: Script) -> None:
        """Compute and cache every address of a session."""
        slots: dict[str, tuple[Stimulus, bytes] | Copy] = {}
        for step in script.steps:
            for slot in step.trial.slots if step.trial else ():
                token, filler = tokens.media_address(self._secret, session, step.key, slot.id)
                if self.hosted is not None:
                    slots[token] = self._copy(self.hosted, session, script, step.key, slot)
                else:
                    slots[token] = (self._catalogue.by_id[slot.stimulus], filler)
        self._slots += len(slots) - len(self._by_session.get(session, ()))
        self._by_session[session] = slots
        while self._slots > _INDEXED and len(self._by_session) > 1:
            self._slots -= len(self._by_session.popitem(last=False)[1])

    def has(self, session: str, token: str) -> bool:
        """Return whether an address is of a slot of this session."""
        return token in self._by_session.get(session, {})

    def open(self, session: str, token: str, unknown: str, away: str) -> BlindedFile | StoredCopy:
        """Return the medium behind an address: a copy, or with the filler that belongs to this address alone."""
        slot = self._by_session.get(session, {}).get(token)
        if slot is None:
            raise Refused(unknown, code="unknown_media", status=404)
        if isinstance(slot, Copy):
            assert self.hosted is not None
            return self.hosted.open(slot)
        try:
            stimulus, filler = slot
            return blind(stimulus.served, filler, self._catalogue.class_sizes[stimulus.id])
        except OSError as error:
            raise Refused(away, code="media_away", status=503) from error
