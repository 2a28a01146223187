"""The contract of a recruiter: the one interface between the verbs of recruiting and a source of participants.

Also the error types of a platform, and the row in which a decision about a submission is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from beholder.errors import BeholderError, Problem, RecruitError
from beholder.study.model import Study
from beholder.study.recruitment import Mode, Sum
from beholder.types import Outcome

if TYPE_CHECKING:
    from beholder.server.visits import VisitIds

Verb = Literal["draft", "publish", "pause", "places", "stop", "submissions", "approve", "reject", "return", "bonus"]
"""What a recruiter may be able to do by itself; for the rest a person gets instructions."""
State = Literal["draft", "scheduled", "publishing", "active", "paused", "completed", "unknown"]
Status = Literal[
    "reserved", "active", "timed_out", "awaiting_review", "approved", "partially_approved", "returned", "rejected",
    "screened_out", "unknown",
]  # fmt: skip
"""The status of a submission on its platform, in our spelling. An unfamiliar status is `unknown`: read it again."""
UNDER_WAY: frozenset[Status] = frozenset({"reserved", "active"})
GONE: frozenset[Status] = frozenset({"returned", "timed_out"})
"""Given up: the platform gives the place to another participant."""
PAID: frozenset[Status] = frozenset({"approved", "partially_approved"})
"""The platform has paid for it."""
Category = Literal[
    "TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK", "LOW_EFFORT",
    "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER",
]  # fmt: skip
SHORTEST_MESSAGE = 100
"""Characters that the message of a rejection needs at least; it is never padded."""
MOST_ROWS = 200
"""Submissions that a platform accepts in one bonus payment."""


class PlatformRefused(BeholderError):
    """The platform refused: nothing happened, and a repeat would be refused again."""


class PlatformGone(PlatformRefused):
    """The platform does not have the object: it was deleted, or belongs to another account."""


class PlatformAway(BeholderError):
    """The platform could not be reached, or asked to wait for too long: nothing happened."""


class PlatformUnsure(BeholderError):
    """A request was sent and no clear answer came: it may or may not have been carried out. Only reading tells."""


@dataclass(frozen=True)
class Job:
    """What is posted on a platform: texts, numbers, codes. Its key identifies it after a crash."""

    key: str
    """Of this launch: the same study, run and launch always have the same key."""
    title: str
    description: str
    """HTML with plain markup only."""
    url: str
    """Where participants begin, with the platform's placeholders."""
    places: int
    minutes: int
    reward: Sum
    screen_out: Sum | None = None
    time_limit_minutes: int | None = None


class Posting(NamedTuple):
    """The state of a job on the platform."""

    id: str
    state: State
    places: int
    taken: int
    """Places that are taken or finished."""
    link: str
    """The researcher's page on the platform; empty where there is none."""
    reward: Sum | None = None
    slots: int | None = None
    """How many screen-outs the platform pays by itself in all; None where it pays none."""


class ResumeCost(NamedTuple):
    """What resuming costs, where all the money for screen-outs is used up."""

    slots: int
    """How many screen-outs the platform may pay by itself in all."""
    due: Sum
    """The additional amount, with fees."""


@dataclass(frozen=True)
class Submission:
    """One visit of one participant as the platform counts it."""

    id: str
    participant: str
    """The participant's id on the platform."""
    status: Status
    code: str = ""
    """As pasted, or as passed with the redirect; empty where there is none."""
    started_at: datetime | None = None
    completed_at: datetime | None = None
    seconds: float | None = None
    bonuses: tuple[int, ...] | None = None
    """Bonuses paid so far, in hundredths; None where only the detail view has them (`submission`)."""
    is_return_requested: bool = False


@dataclass(frozen=True)
class Quote:
    """What a number of places costs, all in one currency."""

    places: int
    minutes: float
    reward: Sum
    rewards: Sum
    fees: Sum
    """With tax."""
    screen_outs: Sum
    """At most."""
    bonuses: Sum
    """At most, by the study's rules."""
    total: Sum
    balance: Sum | None
    """The money available; None where it is unknown."""
    hourly: Sum
    floor: Sum | None
    """The minimum pay per hour."""
    advice: Sum | None
    """The pay per hour that the platform recommends."""


class BonusRow(NamedTuple):
    """One row of a bonus payment."""

    submission: str
    amount: Sum


class Batch(NamedTuple):
    """A bonus payment that is set up and not yet paid."""

    ref: str
    amount: Sum
    """The sum of its rows."""
    total: Sum
    """With fees and tax."""


class Recruiter(Protocol):
    """A source of participants. `beholder.testing.check_recruiter` tests an implementation.

    What is not in `can` raises PlatformRefused. Every method may raise PlatformAway (nothing happened), PlatformUnsure
    (unknown) and PlatformRefused (refused). `draft`, `publish`, `set_places`, `pause`, `resume`, `stop` and `approve`
    may be repeated: they read first, or the platform ignores the repeat. `pay_bonus` pays again on each call, and is
    therefore sent exactly once.
    """

    mode: Mode
    can: frozenset[Verb]
    manual: Mapping[Verb, str]
    """Instructions for a person, for each verb that it cannot do."""
    notes: tuple[str, ...]
    """Notes about the last draft, such as a feature that the account lacks."""
    is_rehearsal: bool
    """Whether its platform is a fake one on this machine."""

    def start_address(self, public_url: str) -> str:
        """Return where participants begin, with the placeholders that its platform fills in."""
        ...

    async def quote(self, job: Job) -> Quote: ...

    async def check(self, job: Job) -> None:
        """Raise RecruitError with every reason for which a draft of the job would be refused; read only."""
        ...

    async def draft(self, job: Job) -> Posting:
        """Create a draft that participants do not see yet, or return the one with the same key."""
        ...

    async def posting(self, id: str) -> Posting: ...

    async def publish(self, id: str) -> Posting: ...

    async def pause(self, id: str) -> Posting: ...

    async def resuming(self, id: str) -> ResumeCost | None:
        """Return what resuming costs; None where it costs nothing more. Read only."""
        ...

    async def resume(self, id: str, slots: int | None = None) -> Posting:
        """Let participants begin again, with `slots` paid screen-outs in all where that number has to grow."""
        ...

    async def set_places(self, id: str, total: int) -> Posting:
        """Set the total number of places; a smaller number than before raises PlatformRefused."""
        ...

    async def stop(self, id: str) -> Posting: ...

    async def submissions(self, id: str) -> Sequence[Submission]:
        """Return every submission once."""
        ...

    async def submission(self, id: str) -> Submission:
        """Return one submission with its code and its bonuses."""
        ...

    async def signed_address(self, visit: VisitIds, token: str) -> str | None:
        """Return the address for which the platform itself has signed this visit, by the token in the address.

        None where it did not sign it, or where the study does not ask for signatures.
        """
        ...

    async def approve(self, ids: Sequence[str]) -> None: ...

    async def reject(self, id: str, category: Category, message: str) -> None: ...

    async def request_return(self, id: str, reason: str) -> None: ...

    async def setup_bonus(self, posting: str, rows: Sequence[BonusRow]) -> Batch:
        """Announce a bonus payment of up to MOST_ROWS rows; no money moves."""
        ...

    async def pay_bonus(self, ref: str) -> None:
        """Pay what was set up, once. It is never repeated, by no client, proxy or redirect."""
        ...

    async def exclude(self, participants: Sequence[str]) -> None:
        """Exclude these participants, by their platform ids, from other studies of the family, if there is one."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


# Errors of a platform as problems for a person


@contextmanager
def platform_errors(study: Study) -> Iterator[None]:
    """Turn an error of the platform into a RecruitError that tells a person what to do."""
    name = study.recruit.source.title
    try:
        yield
    except PlatformRefused as error:
        raise RecruitError(Problem(name, f"said no: {error}")) from error
    except PlatformAway as error:
        fix = "Nothing has happened. Try again later."
        raise RecruitError(Problem(name, f"cannot be reached: {error}", "", fix)) from error
    except PlatformUnsure as error:
        fix = "Run the same command again: it looks first."
        raise RecruitError(Problem(name, f"did not say whether it was done: {error}", "", fix)) from error


# Decisions: one row for each submission, which a person may edit and signs


Pay = Literal["approve", "screen_out", "bonus", "reject", "return", "wait", "look", "nothing"]
"""approve: pay the reward. screen_out: pay the amount for those who did not fit. bonus: pay the reward as a bonus, as
the platform no longer approves. reject: do not pay, with a message. return: ask the person to return it. wait: it is
not over. look: a person has to decide. nothing: there is nothing to do, or it is done already."""
CodeFinding = Literal["right", "wrong", "missing", "shared", "foreign", "no_place", "none"]
"""Which code a participant pasted: the right one, a wrong one, none at all, one that several pasted, one of another
participant's session, or the code for a full study; `none` where no code is asked for."""


@dataclass(frozen=True)
class DecisionRow:
    """The decision about one submission, or about one visit where the platform counts no submissions."""

    submission: str
    """The platform's id of the visit; the session where a session of ours has no submission."""
    participant: str
    """The pseudonym; empty where the person never reached our server."""
    sessions: tuple[str, ...]
    """Ours, oldest first: several where further sessions are rounds of one visit."""
    outcome: Outcome | None
    status: Status
    code: CodeFinding
    proposed: Pay
    pay: Pay
    """The current decision: as proposed, or as edited by a person."""
    use: bool
    is_use_changed: bool
    """Whether a person has changed `use`."""
    reasons: tuple[str, ...]
    """Of verdicts as `check:reason`, and of the platform as `platform:reason`."""
    words: str
    category: Category | None = None
    message: str = ""
    """What the participant reads; for a rejection at least 100 characters."""
    further: tuple[str, ...] = ()
    """Accepted sessions beyond the one paid by the reward: further rounds of one visit."""
    grounds: tuple[Category, ...] = ()
    """The categories under which it may be rejected now; none where nobody may."""
