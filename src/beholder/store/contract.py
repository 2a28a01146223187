"""The store: append-only facts, exactly once, behind one contract that `beholder.testing.check_store` proves."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from beholder.errors import BeholderError
from beholder.types import Json, Mode, Outcome


class NotJson(ValueError):
    """A fact holds a number that JSON cannot: it is infinite, or not a number at all."""


class StoreAway(BeholderError):
    """The store cannot be reached or written right now; nothing was acknowledged, and a repeat is harmless."""


Table = Literal[
    "studies", "stimuli", "lists", "sessions", "claims", "posed", "answers", "events", "told", "ends", "erasures",
]  # fmt: skip
"""The tables of facts. `ledger` joins them with recruiting."""


@dataclass(frozen=True)
class Session:
    """One visit of one participant. `digest` is the study text that the session began with."""

    session: str
    participant: str
    digest: str
    run: int
    mode: Mode
    visit: int
    device: Mapping[str, Json]
    at: datetime


@dataclass(frozen=True)
class Answer:
    """What one step was answered with. `playback` is per slot, computed from the events on arrival."""

    session: str
    key: str
    answer: Json
    playback: Mapping[str, Json]
    shown_ms: float
    sent_ms: float
    input: str
    tab: str
    at: datetime


@dataclass(frozen=True)
class Events:
    """A batch of what the browser saw; `first` (column `from`) is the place of its first event in the step's log."""

    session: str
    key: str
    tab: str
    first: int
    events: Sequence[Json]
    at: datetime


@dataclass(frozen=True)
class Told:
    """What a check made the server tell a person."""

    session: str
    key: str
    check: str
    verdict: str
    reason: str
    evidence: Json
    at: datetime


@dataclass(frozen=True)
class Posed:
    """What a check attempt, a training attempt or an adaptive trial was."""

    session: str
    key: str
    seed: str
    public: Json
    private: Json
    at: datetime


@dataclass(frozen=True)
class End:
    """How a session ended."""

    session: str
    outcome: Outcome
    reason: str
    code: str
    receipt: str
    at: datetime


Fact = Answer | Events | Told | Posed | End


class Stored(NamedTuple):
    """What became of a request: when its first fact was first stored, and whether this request stored it."""

    at: datetime
    is_new: bool


class Claim(NamedTuple):
    """Who wants a list, and on which terms."""

    session: str
    now: datetime
    until: datetime
    per_list: int | None
    barred: Collection[int] = ()
    preferred: Collection[int] = ()


@dataclass(frozen=True)
class SessionFacts:
    """What the flow needs to know of one session: the claim, what was answered, told and posed by key, the end."""

    session: Session
    list: int | None = None
    claimed_at: datetime | None = None
    answers: Mapping[str, Answer] = field(default_factory=dict)
    told: Mapping[str, Told] = field(default_factory=dict)
    posed: Mapping[str, Posed] = field(default_factory=dict)
    end: End | None = None
    erased: bool = False


@dataclass(frozen=True)
class StudyRecord:
    """A study as it is served: what `open` writes once per digest. `lists` are the planned lists as JSON, from 1."""

    digest: str
    plan_digest: str
    study: str
    yaml: str
    software: str
    stimuli: Sequence[Mapping[str, Json]]
    """stimulus, content, condition, role, medium, sha256, probe, factors"""
    lists: Sequence[Json]
    at: datetime


class Store(Protocol):
    """Facts of one study. Every method returns after a durable commit.

    Times are passed in, so that a fake clock can drive leases. Every method may raise StoreAway; a session that
    never arrived raises LookupError; facts of a session that was erased raise Refused (410).
    """

    secret: bytes
    """Made with the store; keys every hash, token and draw."""

    async def begin(self, record: StudyRecord, run: int = 1) -> None:
        """Write a study text, its stimuli and its plan, once; of a plan that is there, only lists beyond those stored.

        Raises StoreError when the store holds another study, another plan that a person has claimed in this run, or
        other lists of this plan than those that lists are added to.
        """
        ...

    async def current(self) -> StudyRecord | None:
        """Return the study text that began last, with its stimuli and its plan; None in an empty store."""
        ...

    async def arrive(self, session: Session) -> tuple[Session, bool]:
        """Return the session of (participant, run, mode, visit) under this plan, and whether it is new."""
        ...

    async def runs_taken(self, participant: str, mode: Mode) -> frozenset[int]:
        """Return the runs in which this person, or this robot, has claimed a list."""
        ...

    async def lists_taken(self, participant: str, mode: Mode, run: int = 1) -> tuple[int, ...]:
        """Return the lists of the current plan that this person, or this robot, has claimed in a run, oldest first.

        Without those that a device that did not fit kept them from.
        """
        ...

    async def claim(
        self,
        session: str,
        *,
        now: datetime,
        until: datetime,
        per_list: int | None,
        barred: Collection[int] = (),
        preferred: Collection[int] = (),
    ) -> int | None:
        """Return the list of this session, claiming the least-filled one atomically; None when all are full.

        Counts finished and live sessions of the same population (robots, or people). A session that has a claim
        keeps it. With `per_list`, a list with that many finished and live sessions is full. Lists that are `barred`
        are not given; of those that are equally filled, one that is `preferred` goes first, then the lowest number.
        A session of a plan that was replaced before it claimed anything raises Refused (410).
        """
        ...

    async def has_room(self, now: datetime, barred: Collection[int] = ()) -> bool:
        """Return whether a list of the current plan, but for those barred, is neither finished nor taken by anybody."""
        ...

    async def renew(self, session: str, until: datetime) -> None:
        """Let the lease of a claimed session last until then."""
        ...

    async def release(self, session: str) -> None:
        """End the lease, so that the list is open again unless the session has finished."""
        ...

    async def append(self, facts: Sequence[Fact]) -> Stored:
        """Commit all facts of one request at once; return when the first of them was first stored, and by whom.

        The first fact leads: where its key is there already, nothing else of the request is stored, so that the
        loser of a race cannot end what the winner goes on with. A later fact whose key is there changes nothing.
        """
        ...

    async def session_facts(self, session: str) -> SessionFacts | None: ...

    async def told_to(self, session: str) -> Sequence[tuple[Session, Told]]:
        """Return what the same person was told in other sessions of the same population, oldest first."""
        ...

    def rows(self, table: Table) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the rows of a table in the order of insertion, JSON decoded, times as aware datetimes."""
        ...

    async def erase(self, session: str, at: datetime) -> int:
        """Delete the answers, events, told and posed of a session and its identity; leave a tombstone."""
        ...

    async def identify(self, participant: str, platform: str, platform_id: str) -> None:
        """Keep the link from pseudonym to platform id, apart from the facts."""
        ...

    async def counts(self, now: datetime, run: int = 1) -> Mapping[str, int]:
        """Return live numbers for the people of a run: arrived, live, completed, ended (otherwise), answers.

        Also `lists`: how many lists the current plan has by now; `finished`: how many of them somebody has finished.
        """
        ...

    async def ready(self) -> bool:
        """Return whether the store can be written now."""
        ...

    async def close(self) -> None: ...
