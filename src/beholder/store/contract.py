"""The contract of a store: append-only facts, each stored exactly once. `beholder.testing.check_store` proves it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, Protocol

from beholder.errors import BeholderError
from beholder.study.recruitment import Mode
from beholder.types import Json, Outcome


class NotJson(ValueError):
    """A fact holds a number that JSON cannot represent: infinite, or NaN."""


class UnknownSession(LookupError):
    """A fact names a session that the store does not hold: it was removed, or the caller made it up."""


class StoreUnavailable(BeholderError):
    """The store cannot be reached or written right now; nothing was acknowledged, and a retry is harmless."""


Table = Literal[
    "studies", "stimuli", "lists", "sessions", "claims", "posed", "answers", "events", "told", "ends", "erasures",
    "removals", "ledger",
]  # fmt: skip
"""The tables of facts."""
Task = Literal["serving", "running"]
"""What only one of several processes may do: what a server does beside its requests, and taking a study to its end."""
TASKS: tuple[Task, ...] = ("serving", "running")
Population = Literal["people", "robot"]
"""Who has lists of their own where these are made of answers so far."""


@dataclass(frozen=True)
class Session:
    """One visit of one participant. `digest` is that of the study text when the session began."""

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
    """The answer to one step. `playback` is the evidence per slot, computed from the events on arrival."""

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
    """A batch of browser events; `first` (column `from`) is the place of its first event in the step's log."""

    session: str
    key: str
    tab: str
    first: int
    events: Sequence[Json]
    at: datetime


DRAFT = "draft"
"""The kind of an event that holds what was half done on a page. The server makes it; browsers send it apart."""


@dataclass(frozen=True)
class StoredVerdict:
    """The verdict of a check, training or rule on a step, as stored in the table `told`."""

    session: str
    key: str
    check: str
    verdict: str
    reason: str
    evidence: Json
    at: datetime


@dataclass(frozen=True)
class PosedAttempt:
    """What a check attempt asked, as stored in the table `posed`."""

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
    """A participant's id on the recruiting platform; stored apart from the facts, in the table `links`."""

    participant: str
    platform: str
    platform_id: str


class PlatformVisit(NamedTuple):
    """A platform visit and the session that it led to; stored apart from the facts, in the table `comings`."""

    session: str
    posting: str
    """The id of the study on the platform; empty without one."""
    submission: str


@dataclass(frozen=True)
class LedgerEntry:
    """One entry of the ledger: an action on people or money that was planned, sent, confirmed or done."""

    kind: str
    """approve, bonus, reject, return, message; draft, publish, places, pause, resume, stop; decisions; moderation of a
    participant: release, reset, let_in, shut_out, leave_out, take_in, resume_link (one was made), forget, purge;
    verified (the platform lists the visit of a session); seat (the participant number
    at a station of a laboratory); look (an analysis of people's ratings), target (so many lists were asked for), chain
    (the share of its error rate), preregistration (a version of the plan), preregistered (where it was registered);
    unblind (names of conditions were shown), desk (who did on the desk what has no name of its own elsewhere)."""
    event: str
    """planned, confirmed, setup_sent, setup_done, pay_sent, accepted, settled, refused, unknown, cancelled,
    resend_authorised; done where nothing is awaited."""
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
    """Its number from 1, assigned by the ledger."""


@dataclass(frozen=True)
class Remains:
    """Why bytes of what was erased may still be in a file of the store."""

    words: str
    is_read: bool
    """Whether only a reader stands in the way, so that trying again soon helps."""


class Ledger(Protocol):
    """Actions on people and money, append-only. Any process may append to it, also while a server runs."""

    async def append(self, entries: Sequence[LedgerEntry]) -> tuple[LedgerEntry, ...]:
        """Return the entries with their numbers, after a durable commit of all of them or none.

        A second `planned` of the same (kind, submission, reason_code) raises LedgerError: the same debt is owed once.
        So does a second `pay_sent` of the same (kind, batch, reason_code): a batch is sent once. Entries without a
        submission, such as `places`, may be planned repeatedly.
        """
        ...

    async def entries(self, after: int = 0) -> tuple[LedgerEntry, ...]:
        """Return every entry with a higher number, in order."""
        ...

    async def purge_identity(self) -> int:
        """Remove the identity from every entry about a platform visit; return how many entries had one."""
        ...

    def hold(self) -> AbstractAsyncContextManager[None]:
        """Hold the exclusive right to send money and messages; raise LedgerError while another process has it."""
        ...


class AppendResult(NamedTuple):
    """The result of an append: when its first fact was stored, and whether this request stored it."""

    at: datetime
    is_new: bool


class Claim(NamedTuple):
    """A claim of a list: the session, the lease, and which lists may be given."""

    session: str
    now: datetime
    until: datetime
    per_list: int | None
    barred: Collection[int] = ()
    preferred: Collection[int] = ()


@dataclass(frozen=True)
class SessionFacts:
    """All facts of one session: its list, its answers, verdicts and posed attempts by key, and its end."""

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
    """A study as it is served, written once per digest. `lists` are the planned lists as JSON, from 1."""

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

    Times are passed in, so that a fake clock can drive leases. Every method may raise StoreUnavailable; a session that
    never arrived raises LookupError; facts of a session that was erased raise Refused (410).
    """

    secret: bytes
    """Generated with the store; the key of every hash, token and random draw."""
    ledger: Ledger
    """The ledger. It may be appended to even if this store is open for reading only."""

    async def begin(self, record: StudyRecord, run: int = 1) -> None:
        """Write a study text, its stimuli and its plan once; of a stored plan, only its additional lists.

        Raises StoreError when the store holds another study, another plan of which a participant has claimed a list in
        this run, or other lists of this plan than those that are extended.
        """
        ...

    async def grow(self, plan: str, held: int, lists: Sequence[Json], population: Population) -> bool:
        """Add lists after the `held` lists of a plan, all of them or none; return whether they were added.

        Only this population can claim them. Nothing is added where the plan holds more lists or fewer: of several
        servers that add the next ones at once, one does, and the others find its lists.
        """
        ...

    async def current(self) -> StudyRecord | None:
        """Return the current study text, with its stimuli and its plan; None in an empty store."""
        ...

    async def arrive(self, session: Session) -> tuple[Session, bool]:
        """Return the session of (participant, run, mode, visit) under this plan, and whether it is new."""
        ...

    async def runs_taken(self, participant: str, mode: Mode) -> frozenset[int]:
        """Return the runs in which this participant or robot has claimed a list."""
        ...

    async def lists_taken(self, participant: str, mode: Mode, run: int = 1) -> tuple[int, ...]:
        """Return the lists of the current plan that this participant or robot has claimed in a run, oldest first.

        Lists of sessions that ended with the wrong device do not count.
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

        Counts finished and live sessions of the same population (robots or people). A session keeps its claim. With
        `per_list`, a list with that many finished and live sessions is full. Lists that are `barred` are not given;
        of equally filled lists a `preferred` one goes first, then the lowest number. A session without a claim whose
        plan was replaced raises Refused (410).
        """
        ...

    async def has_free_list(self, now: datetime, barred: Collection[int] = ()) -> bool:
        """Return whether a list of the current plan, other than those barred, is neither finished nor claimed."""
        ...

    async def renew(self, session: str, until: datetime) -> None:
        """Extend the lease of a claimed session."""
        ...

    async def release(self, session: str) -> None:
        """End the lease, so that the list is free again unless the session has finished."""
        ...

    async def append(self, facts: Sequence[Fact]) -> AppendResult:
        """Commit all facts of one request at once; return when the first was stored, and whether by this request.

        Where the key of the first fact exists already, nothing of the request is stored, so that the loser of a race
        cannot end the session of the winner. Any other fact whose key exists changes nothing.
        """
        ...

    async def session_facts(self, session: str) -> SessionFacts | None: ...

    async def step_events(self, session: str, key: str) -> Sequence[Events]:
        """Return the batches of events of one step, in the order of insertion; empty after an erasure."""
        ...

    async def earlier_verdicts(self, session: str) -> Sequence[tuple[Session, StoredVerdict]]:
        """Return the verdicts on the same participant in other sessions of the same population, oldest first."""
        ...

    def rows(self, table: Table) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the rows of a table in the order of insertion, JSON decoded, times as aware datetimes."""
        ...

    async def erase(self, session: str, at: datetime) -> int:
        """Delete the answers, events, verdicts and posed attempts of a session, its device and its identity.

        A tombstone stays. From the files of the store the bytes are gone after `wipe`.
        """
        ...

    async def wipe(self, largest: int | None = None) -> Remains | None:
        """Remove the bytes of everything that was erased from the files of the store; return what still holds it up.

        None, when nothing is left of it, which costs little where nothing was to be done. What is left is remembered in
        the store, and done by the next call or the next process that opens the store for writing. Writing has to wait
        meanwhile: files that are larger than `largest` bytes are left for later.
        """
        ...

    async def unanswered(self, before: datetime, *, after: str = "", most: int = 200) -> Sequence[Session]:
        """Return all sessions of people who only arrived, the last time before a moment, by participant and visit.

        They never answered, claimed a list or came to an end, in any run. At most so many participants, in the order of
        their pseudonyms, from the first one `after` a pseudonym.
        """
        ...

    async def remove_unanswered(self, participants: Collection[str], before: datetime, at: datetime) -> int:
        """Remove the sessions of these participants, their identities and visits; return how many sessions.

        Only of those who would still be returned by `unanswered(before)`: whoever has answered meanwhile stays. One row
        of `removals` for each run tells how many there were, in the same commit; `counts` still counts them as
        arrived. From the files of the store the bytes are gone after `wipe`.
        """
        ...

    async def is_wipe_due(self) -> bool:
        """Return whether bytes of what was erased may still be in files of the store."""
        ...

    async def last_fact(self) -> datetime | None:
        """Return when the last fact about a person was stored; None before the first."""
        ...

    async def identify(
        self, identity: PlatformIdentity, visit: PlatformVisit | None = None, *, seen: Collection[str] | None = None
    ) -> bool:
        """Store the platform identity of a pseudonym, and which visit led to which session, apart from the facts.

        Stores nothing and returns False where the visit has led to a session that is neither this one nor in `seen`.
        """
        ...

    async def platform_identities(self) -> Sequence[PlatformIdentity]:
        """Return all identities. Only for recruiting, and to mask ids in free text."""
        ...

    async def platform_visits(self) -> Sequence[PlatformVisit]:
        """Return which platform visits led to which sessions, oldest first. Only for recruiting, too."""
        ...

    async def purge_identity(self) -> int:
        """Delete all identities and platform visits; return how many participants became anonymous.

        The secret is replaced, because with the old one an id would lead to its pseudonym. Tokens and links made
        before become invalid.
        """
        ...

    async def senders(self, since: datetime) -> frozenset[str]:
        """Return the sessions that have begun, answered or sent events since a moment: those that are present."""
        ...

    async def counts(self, now: datetime, run: int = 1) -> Mapping[str, int]:
        """Return live counts of the participants of a run: arrived, live, completed, ended (otherwise), answers.

        `arrived` includes visits that were removed since. Also `lists`, the number of lists of the current plan, and
        `finished`, how many of them are finished.
        """
        ...

    async def ready(self) -> bool:
        """Return whether the store can be written now."""
        ...

    async def lead(self, task: Task) -> bool:
        """Return whether this process is the one that may do a task; it becomes that where nobody is.

        It stays so until it resigns, closes the store, ends, or loses the database; who leads asks again and again.
        """
        ...

    async def resign(self) -> None:
        """Lead no task any more, so that another process can at once."""
        ...

    async def clock(self) -> datetime | None:
        """Return what time it is at the database; None where that is the clock of this machine."""
        ...

    async def announce(self, server: str, about: Mapping[str, Json] | None) -> None:
        """Let everybody know what a server tells of itself; None takes it away. Nothing where it is the only one."""
        ...

    async def servers(self, within: timedelta) -> Mapping[str, Mapping[str, Json]]:
        """Return what servers have told of themselves within a time, by name, each with `at`."""
        ...

    async def close(self) -> None: ...
