"""What a recruiter is: the one way in which the verbs of recruiting speak to where people come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from beholder.errors import BeholderError, Problem, RecruitError
from beholder.study.model import Study
from beholder.study.recruitment import Sum
from beholder.types import Mode, Outcome

Verb = Literal["draft", "publish", "pause", "places", "stop", "submissions", "approve", "reject", "return", "bonus"]
"""What a recruiter may be able to do by itself; what it cannot, a person does, and is told how."""
State = Literal["draft", "scheduled", "publishing", "active", "paused", "completed", "unknown"]
Status = Literal[
    "reserved", "active", "timed_out", "awaiting_review", "approved", "partially_approved", "returned", "rejected",
    "screened_out", "unknown",
]  # fmt: skip
"""How a submission stands on its platform, spelled in one way. A status that is not known is `unknown`: look again."""
UNDER_WAY: frozenset[Status] = frozenset({"reserved", "active"})
GONE: frozenset[Status] = frozenset({"returned", "timed_out"})
"""Given up: the platform gives the place to somebody else."""
PAID: frozenset[Status] = frozenset({"approved", "partially_approved"})
"""The platform has paid for it."""
Category = Literal[
    "TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK", "LOW_EFFORT",
    "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER",
]  # fmt: skip
SHORTEST_MESSAGE = 100
"""Characters that the message of a rejection needs; it is never padded."""
MOST_ROWS = 200
"""Submissions that a platform takes in one bonus payment."""


class PlatformRefused(BeholderError):
    """The platform has said no: nothing happened, and a repeat would be refused again."""


class PlatformGone(PlatformRefused):
    """The platform knows no such thing: it was deleted, or belongs to another account."""


class PlatformAway(BeholderError):
    """The platform could not be reached, or asked to wait for too long: nothing happened."""


class PlatformUnsure(BeholderError):
    """A request was sent and no clear answer came: it may have happened or not. Only reading tells."""


@dataclass(frozen=True)
class Job:
    """What is put up on a platform: texts, numbers, codes. Its key finds it again after a crash."""

    key: str
    """Of this launch: the same study, run and launch have the same key for ever."""
    title: str
    description: str
    """As HTML with plain marks only."""
    url: str
    """Where participants begin, with the platform's own placeholders."""
    places: int
    minutes: int
    reward: Sum
    screen_out: Sum | None = None
    time_limit_minutes: int | None = None


class Posting(NamedTuple):
    """A job as it stands on the platform."""

    id: str
    state: State
    places: int
    taken: int
    """Places that are taken or finished."""
    link: str
    """Where the researcher looks at it; empty where there is no such page."""
    reward: Sum | None = None
    slots: int | None = None
    """How many who do not fit the platform pays by itself in all; None where it pays none of them."""


class ResumeCost(NamedTuple):
    """What it takes to let people in again, where all that was set aside for those who do not fit is used up."""

    slots: int
    """How many of them the platform may pay by itself in all."""
    due: Sum
    """What that sets aside on top, with fees."""


@dataclass(frozen=True)
class Submission:
    """One visit of one person as the platform counts it."""

    id: str
    participant: str
    """The person's id on the platform."""
    status: Status
    code: str = ""
    """As it was pasted or came with the redirect; empty where there is none."""
    started_at: datetime | None = None
    completed_at: datetime | None = None
    seconds: float | None = None
    bonuses: tuple[int, ...] | None = None
    """What was paid on top so far, in hundredths; None where only the detail tells (`submission`)."""
    is_return_requested: bool = False


@dataclass(frozen=True)
class Quote:
    """What so many places cost, all in one currency."""

    places: int
    minutes: float
    reward: Sum
    rewards: Sum
    fees: Sum
    """With tax."""
    screen_outs: Sum
    """At worst."""
    bonuses: Sum
    """At worst, from the study's rules."""
    total: Sum
    balance: Sum | None
    """What there is to spend; None where nobody knows."""
    hourly: Sum
    floor: Sum | None
    """The least that an hour may pay."""
    advice: Sum | None
    """What the platform recommends for an hour."""


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
    """Where people come from. `beholder.testing.check_recruiter` proves it.

    What is not in `can` raises PlatformRefused. Everything may raise PlatformAway (nothing happened), PlatformUnsure
    (nobody knows) and PlatformRefused (it said no). `draft`, `publish`, `set_places`, `pause`, `resume`, `stop` and
    `approve` may be repeated: they look first, or the platform takes the same twice. `pay_bonus` pays again each time
    it is called, and is therefore sent exactly once.
    """

    mode: Mode
    can: frozenset[Verb]

    async def quote(self, job: Job) -> Quote: ...

    async def check(self, job: Job) -> None:
        """Raise RecruitError with everything for which a draft of the job would be refused; it only reads."""
        ...

    async def draft(self, job: Job) -> Posting:
        """Put up a job that nobody sees yet, or return the one that has its key."""
        ...

    async def posting(self, id: str) -> Posting: ...

    async def publish(self, id: str) -> Posting: ...

    async def pause(self, id: str) -> Posting: ...

    async def resuming(self, id: str) -> ResumeCost | None:
        """Return what it takes to let people in again; None where it costs nothing more. It only reads."""
        ...

    async def resume(self, id: str, slots: int | None = None) -> Posting:
        """Let people in again, with so many who do not fit and may be paid in all, where that has to be more."""
        ...

    async def set_places(self, id: str, total: int) -> Posting:
        """Let so many people take part in all; a smaller number than before raises PlatformRefused."""
        ...

    async def stop(self, id: str) -> Posting: ...

    async def submissions(self, id: str) -> Sequence[Submission]:
        """Return every visit, each once."""
        ...

    async def submission(self, id: str) -> Submission:
        """Return one visit with its code and what was paid on top."""
        ...

    async def approve(self, ids: Sequence[str]) -> None: ...

    async def reject(self, id: str, category: Category, message: str) -> None: ...

    async def request_return(self, id: str, reason: str) -> None: ...

    async def setup_bonus(self, posting: str, rows: Sequence[BonusRow]) -> Batch:
        """Announce a bonus payment of up to MOST_ROWS rows; no money moves."""
        ...

    async def pay_bonus(self, ref: str) -> None:
        """Pay what was set up, once. Never repeated by anything: not by a client, a proxy or a redirect."""
        ...

    async def exclude(self, participants: Sequence[str]) -> None:
        """Keep these people, by their ids on the platform, out of other studies of the family, where there is one."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


# --- What a platform refuses or leaves open, as something that a person reads and can act on ---


@contextmanager
def platform_errors(study: Study) -> Iterator[None]:
    """Turn what a platform answers instead of doing what it was asked into a RecruitError."""
    name = study.recruit.mode.capitalize()
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


# --- What is decided about each submission: one row each, which a person may change and signs ---


Pay = Literal["approve", "screen_out", "bonus", "reject", "return", "wait", "look", "nothing"]
"""approve: pay the reward. screen_out: pay the amount for those who did not fit. bonus: pay the reward as a bonus, as
the platform no longer approves. reject: do not pay, with a message. return: ask the person to return it. wait: it is
not over. look: a person has to decide. nothing: there is nothing to do, or it is done already."""
CodeFinding = Literal["right", "wrong", "missing", "shared", "foreign", "no_place", "none"]
"""What somebody pasted: the right code, another, nothing, one that several pasted, one of somebody else's session, that
of those who found every place taken; none where no code is asked for."""


@dataclass(frozen=True)
class DecisionRow:
    """One submission, or one person's visit where the platform knows no submissions."""

    submission: str
    """The platform's id of the visit; of a session of ours that no submission belongs to, the session."""
    participant: str
    """The pseudonym; empty where we have never seen the person."""
    sessions: tuple[str, ...]
    """Of ours, oldest first: several where further sessions are rounds of one visit."""
    outcome: Outcome | None
    status: Status
    code: CodeFinding
    proposed: Pay
    pay: Pay
    """As it stands: what was proposed, or what a person has put in its place."""
    use: bool
    is_use_changed: bool
    """Whether a person has changed `use`."""
    reasons: tuple[str, ...]
    """Of the verdicts as `check:reason`, and of the platform as `platform:reason`."""
    words: str
    category: Category | None = None
    message: str = ""
    """What the person reads; for a rejection 100 characters at least."""
    further: tuple[str, ...] = ()
    """Accepted sessions beyond the one that the reward pays: further rounds of one visit."""
