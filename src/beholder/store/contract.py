"""The store: append-only facts, exactly once, behind one contract that `beholder.testing.check_store` proves."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from beholder.errors import BeholderError
from beholder.types import Json, Mode, Outcome


class NotJson(ValueError):
    """A fact holds a number that JSON cannot: it is infinite, or not a number at all."""


class StoreUnavailable(BeholderError):
    """The store cannot be reached or written right now; nothing was acknowledged, and a repeat is harmless."""


Table = Literal[
    "studies", "stimuli", "lists", "sessions", "claims", "posed", "answers", "events", "told", "ends", "erasures",
    "ledger",
]  # fmt: skip
"""The tables of facts."""


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
class StoredVerdict:
    """What a check made the server tell a person."""

    session: str
    key: str
    check: str
    verdict: str
    reason: str
    evidence: Json
    at: datetime


@dataclass(frozen=True)
class PosedAttempt:
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


Fact = Answer | Events | StoredVerdict | PosedAttempt | End


class PlatformIdentity(NamedTuple):
    """Who somebody is on the platform that they came from; kept apart from the facts."""

    participant: str
    platform: str
    platform_id: str


class PlatformVisit(NamedTuple):
    """A visit as the platform counts it, and the session that it led to; kept apart from the facts."""

    session: str
    posting: str
    """The study's own id on the platform; empty where it has none."""
    submission: str


@dataclass(frozen=True)
class LedgerEntry:
    """One event of the ledger: what was planned, sent, heard or done about people and money, and never changed."""

    kind: str
    """approve, bonus, reject, return, message; draft, publish, places, pause, resume, stop; decisions; or what somebody
    did about a person: release, reset, let_in, shut_out, leave_out, take_in, forget, purge; seat (which
    station of a laboratory has which number)."""
    event: str
    """planned, confirmed, setup_sent, setup_done, pay_sent, accepted, settled, refused, unknown, cancelled,
    resend_authorised; done where nothing has to be waited for."""
    at: datetime
    submission: str = ""
    participant: str = ""
    """The pseudonym."""
    session: str = ""
    amount_minor: int = 0
    currency: str = ""
    reason_code: str = ""
    reason_text: str = ""
    batch: str = ""
    provider_ref: str = ""
    evidence: Json = None
    entry: int = 0
    """Its number from 1, given by the ledger."""


class Ledger(Protocol):
    """What was done about people and money, append-only. Any process may add to it, also beside a server."""

    async def append(self, entries: Sequence[LedgerEntry]) -> tuple[LedgerEntry, ...]:
        """Return the entries with their numbers, after a durable commit of all of them or none.

        A second `planned` of the same (kind, submission, reason_code) raises LedgerError: the same debt is owed once.
        So does a second `pay_sent` of the same (kind, batch, reason_code): each leave to send is used once. What has
        no submission, such as `places`, may be planned as often as it is needed.
        """
        ...

    async def entries(self, after: int = 0) -> tuple[LedgerEntry, ...]:
        """Return every entry with a higher number, in order."""
        ...

    async def purge_identity(self) -> int:
        """Take out of every entry about a visit on a platform whose it was; return how many entries said it."""
        ...

    def hold(self) -> AbstractAsyncContextManager[None]:
        """Give the right to send money and messages to one process at a time; to another raise LedgerError."""
        ...


class AppendResult(NamedTuple):
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
    verdicts: Mapping[str, StoredVerdict] = field(default_factory=dict)
    posed: Mapping[str, PosedAttempt] = field(default_factory=dict)
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
    ledger: Ledger
    """What was done about people and money. It may be added to although this store only reads."""

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

    async def has_free_list(self, now: datetime, barred: Collection[int] = ()) -> bool:
        """Return whether a list of the current plan, but for those barred, is neither finished nor taken by anybody."""
        ...

    async def renew(self, session: str, until: datetime) -> None:
        """Let the lease of a claimed session last until then."""
        ...

    async def release(self, session: str) -> None:
        """End the lease, so that the list is open again unless the session has finished."""
        ...

    async def append(self, facts: Sequence[Fact]) -> AppendResult:
        """Commit all facts of one request at once; return when the first of them was first stored, and by whom.

        The first fact leads: where its key is there already, nothing else of the request is stored, so that the
        loser of a race cannot end what the winner goes on with. A later fact whose key is there changes nothing.
        """
        ...

    async def session_facts(self, session: str) -> SessionFacts | None: ...

    async def earlier_verdicts(self, session: str) -> Sequence[tuple[Session, StoredVerdict]]:
        """Return what the same person was told in other sessions of the same population, oldest first."""
        ...

    def rows(self, table: Table) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the rows of a table in the order of insertion, JSON decoded, times as aware datetimes."""
        ...

    async def erase(self, session: str, at: datetime) -> int:
        """Delete the answers, events, told and posed of a session and its identity; leave a tombstone."""
        ...

    async def identify(
        self, link: PlatformIdentity, coming: PlatformVisit | None = None, *, seen: Collection[str] | None = None
    ) -> bool:
        """Keep the link from pseudonym to platform id, and which visit led to which session, apart from the facts.

        Where a visit has led to a session that is neither this one nor among those seen, nothing is kept: False.
        """
        ...

    async def platform_identities(self) -> Sequence[PlatformIdentity]:
        """Return who everybody is. Only recruiting asks, and who takes ids out of what people wrote."""
        ...

    async def platform_visits(self) -> Sequence[PlatformVisit]:
        """Return which visits on the platform led to which sessions, oldest first. For those who ask for links."""
        ...

    async def purge_identity(self) -> int:
        """Delete every link and every visit; return how many people nobody can tell any more.

        The secret is replaced, as with the old one an id would lead to its pseudonym again. So tokens and links that
        were made before open nothing any more.
        """
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
