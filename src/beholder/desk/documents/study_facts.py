"""The facts of a study as the pages of the desk read them: judged once for each state of the store."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from beholder.cleaning.facts import TABLES, Rows
from beholder.cleaning.screening import JudgedPopulation, judge_tables
from beholder.cleaning.sessions import JudgedSession
from beholder.planning.model import LETTERS, no_collection
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.debts import Payment
from beholder.recruiting.decisions import Decisions, decide_study
from beholder.recruiting.decisions_file import DECISIONS_FILE
from beholder.recruiting.participant_records import ParticipantRecord, make_records
from beholder.recruiting.payments import pay_study
from beholder.server.moderation import Moderation
from beholder.store.contract import LedgerEntry, Table
from beholder.store.open import read_rows
from beholder.study.model import Study
from beholder.study.recruitment import is_person, is_robot
from beholder.types import Json

Population = Literal["people", "robots"]

_READ: tuple[Table, ...] = (*TABLES, "told")
_PLATFORM_S = 60.0
"""How long what a platform has said of its submissions is believed."""
_SHARE = 0.2
"""The largest share of the time that judging may take while people are at it."""


# Code names of conditions


HIDDEN = "(condition)"
"""What stands for any condition where a code name would tell which it is, such as in `design.always`."""


class CodeNames:
    """What conditions are called on the desk: their own names, or letters that tell nothing while they are blinded."""

    def __init__(self, conditions: Mapping[str, str], secret: bytes, *, is_blinded: bool) -> None:
        """`conditions` are their names with their labels, in the order of the study."""
        self.is_blinded = is_blinded
        self._labels = dict(conditions)
        drawn = sorted(conditions, key=lambda name: _digest(secret, name))
        self._codes = {name: f"Condition {_letters(place)}" for place, name in enumerate(drawn)}
        self.order = tuple(drawn if is_blinded else conditions)
        """The order in which they are listed: that of the study would tell which is which."""

    @classmethod
    def of(cls, study: Study, stimuli: Iterable[Mapping[str, Any]], secret: bytes, *, is_blinded: bool) -> CodeNames:
        """Return the code names of a study with these rows of stimuli."""
        labels = {one.name: one.label or "" for one in study.conditions}
        stored = dict.fromkeys(str(row["condition"]) for row in stimuli)
        return cls({**labels, **{name: "" for name in stored if name not in labels}}, secret, is_blinded=is_blinded)

    def condition(self, name: str) -> str:
        """Return what a condition is called."""
        return self._codes.get(name, "Condition") if self.is_blinded else self._labels.get(name) or name

    def text(self, words: str) -> str:
        """Return words of ours, such as an alarm, in which conditions have their code names."""
        if not self.is_blinded or self._pattern is None:
            return words
        return self._pattern.sub(lambda found: self._of_word[found[0]], words)

    def without(self, words: str) -> str:
        """Return a text of the study in which no condition is named, and none can be told from another."""
        if not self.is_blinded or self._pattern is None:
            return words
        return self._pattern.sub(HIDDEN, words)

    def value(self, value: Json) -> Json:
        """Return a value of JSON, such as the evidence of a verdict, in which conditions have their code names."""
        if not self.is_blinded:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in value]
        return value

    @cached_property
    def _of_word(self) -> Mapping[str, str]:
        words = {label: self._codes[name] for name, label in self._labels.items() if label}
        return {**words, **self._codes}

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        words = sorted(self._of_word, key=len, reverse=True)
        every = "|".join(map(re.escape, words))
        return re.compile(rf"(?<![\w-])(?:{every})(?![\w-])") if words else None


def _digest(secret: bytes, name: str) -> bytes:
    return hmac.new(secret, f"desk code name {name}".encode(), hashlib.sha256).digest()


def _letters(place: int) -> str:
    """Return A to Z, then AA, AB and so on."""
    rest, last = divmod(place, len(LETTERS))
    return (_letters(rest - 1) if rest else "") + LETTERS[last]


# The facts


@dataclass(frozen=True)
class StudyMoment:
    """A study at one moment: its tables, everybody who came, and every session judged."""

    study: Study
    at: datetime
    secret: bytes
    tables: Mapping[str, Rows]
    entries: Sequence[LedgerEntry]
    population: Population
    """People where any have come; else robots, which rehearse."""
    records: Sequence[ParticipantRecord]
    judging: JudgedPopulation | None
    """None where nobody has come in this run."""
    made: dict[object, Any] = field(default_factory=dict)
    """What pages have made of it, by their own keys: a list is sent in many pages."""

    @cached_property
    def judged(self) -> Mapping[str, JudgedSession]:
        """Every judged session by its id."""
        return {one.visit.session: one for one in self.judging.judged} if self.judging is not None else {}

    @cached_property
    def sessions(self) -> Mapping[str, Mapping[str, Any]]:
        """The stored row of every session, by its id."""
        return {str(row["session"]): row for row in self.tables["sessions"]}

    @cached_property
    def by_participant(self) -> Mapping[str, ParticipantRecord]:
        """Everybody who came, by pseudonym."""
        return {one.participant: one for one in self.records}

    @cached_property
    def stimuli(self) -> Mapping[str, Mapping[str, Any]]:
        """The stored row of every stimulus, the last one of each id."""
        return {str(row["stimulus"]): row for row in self.tables["stimuli"]}

    def code_names(self, *, is_blinded: bool) -> CodeNames:
        """Return what conditions are called."""
        return CodeNames.of(self.study, self.tables["stimuli"], self.secret, is_blinded=is_blinded)

    def is_of_desk(self, session: str) -> bool:
        """Return whether a session is of the population that is shown."""
        row = self.sessions.get(session)
        is_one = is_robot if self.population == "robots" else is_person
        return row is not None and is_one(row["mode"])


class StudyFacts:
    """Reads and judges a study when its store has changed, and not more often than judging can keep up with."""

    def __init__(self, context: RecruitContext) -> None:
        self.context = context
        self._moderation = Moderation(context.store.ledger)
        self._known: tuple[object, int, StudyMoment] | None = None
        self._rest_until = 0.0
        self._reading, self._deciding = asyncio.Lock(), asyncio.Lock()
        self._decided: tuple[object, float, StudyMoment, tuple[Decisions, Payment]] | None = None

    async def moment(self) -> StudyMoment:
        """Return the study as it is now; what somebody has just done about it is always in it."""
        store, now = self.context.store, self.context.now()
        async with self._reading:
            counts = dict(await store.counts(now, self.context.study.run))
            counts.pop("live", None)  # that changes by itself, as time passes
            state = (sorted(counts.items()), await store.last_fact())
            entries = await store.ledger.entries()
            if self._known is not None:
                known, number, moment = self._known
                is_resting = time.monotonic() < self._rest_until
                # What robots do is in no count.
                is_same = known == state and moment.population == "people"
                if number == len(entries) and (is_same or is_resting):
                    return moment
            began = time.monotonic()
            moment = await self._read(now, entries)
            self._known = state, len(entries), moment
            done = time.monotonic()
            self._rest_until = done + (done - began) * (1 / _SHARE - 1)
            return moment

    async def decided(self) -> tuple[Decisions, Payment]:
        """Return every decision and what is owed; for a minute the same while nothing has changed here.

        Raises what deciding and paying raise, such as that the platform cannot be asked.
        """
        moment = await self.moment()
        async with self._deciding:
            state = (id(moment), _changed_ns(self.context.study.folder / DECISIONS_FILE))
            if self._decided is None or self._decided[0] != state or time.monotonic() > self._decided[1]:
                both = await decide_study(self.context, dry_run=True), await pay_study(self.context)
                self._decided = state, time.monotonic() + _PLATFORM_S, moment, both
            return self._decided[3]

    async def _read(self, now: datetime, entries: Sequence[LedgerEntry]) -> StudyMoment:
        context = self.context
        tables: dict[str, Rows] = {table: await read_rows(context.store, table) for table in _READ}
        await self._moderation.refresh()
        return await asyncio.to_thread(
            _judged_moment, context.study, tables, entries, self._moderation, now, context.store.secret
        )


def _judged_moment(
    study: Study, tables: Mapping[str, Rows], entries: Sequence[LedgerEntry], moderation: Moderation, now: datetime,
    secret: bytes,
) -> StudyMoment:  # fmt: skip
    with no_collection():
        population = _population(tables["sessions"])
        is_one = is_robot if population == "robots" else is_person
        has_come = any(row["run"] == study.run and is_one(row["mode"]) for row in tables["sessions"])
        judging = judge_tables(study, tables, robots=population == "robots") if has_come else None
        records = make_records(tables, entries, moderation, judging, robots=population == "robots")
        return StudyMoment(study, now, secret, tables, entries, population, records, judging)


def _changed_ns(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def _population(sessions: Iterable[Mapping[str, Any]]) -> Population:
    """Return robots where they are all who have come."""
    modes = {row["mode"] for row in sessions}
    return "robots" if not any(map(is_person, modes)) and any(map(is_robot, modes)) else "people"
