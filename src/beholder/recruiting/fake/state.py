"""What the fake remembers: people, studies, submissions, groups, bonus payments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from beholder.recruit.fake.clock import stamp

Status = Literal[
    "RESERVED", "ACTIVE", "TIMED-OUT", "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED", "RETURNED", "REJECTED",
    "SCREENED OUT",
]  # fmt: skip
Payment = Literal["reward", "screen_out", "partial", "bonus"]
LIVE: tuple[Status, ...] = ("RESERVED", "ACTIVE")
PLACED: tuple[Status, ...] = (*LIVE, "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED")
"""These take a place: who returns, times out or is rejected frees it, and a paid screen-out comes on top."""
StudyStatus = Literal["UNPUBLISHED", "SCHEDULED", "ACTIVE", "AWAITING REVIEW", "PAUSED", "COMPLETED"]


@dataclass(frozen=True)
class Person:
    """Somebody on the platform: an id, and what they said of themselves, by filter."""

    id: str
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Submission:
    """One visit of one person to one study. Its id is the SESSION_ID that we get."""

    id: str
    study: str
    person: Person
    reserved_at: datetime
    status: Status = "RESERVED"
    started_at: datetime | None = None
    completed_at: datetime | None = None
    code: str | None = None
    bonuses: list[int] = field(default_factory=list)
    return_requested: datetime | None = None
    rejection: str = ""

    def short(self, *, has_siblings: bool) -> dict[str, Any]:
        """Return it as lists show it."""
        return {
            "id": self.id, "participant_id": self.person.id, "status": _listed(self.status),
            "started_at": stamp(self.started_at or self.reserved_at), "completed_at": stamp(self.completed_at),
            "has_siblings": has_siblings, "study_code": self.code, "return_requested": stamp(self.return_requested),
        }  # fmt: skip

    def detail(self) -> dict[str, Any]:
        return {
            **self.brief(), "status": self.status, "parent_study_id": None, "bonus_payments": list(self.bonuses),
            "return_requested": stamp(self.return_requested),
        }  # fmt: skip

    def brief(self) -> dict[str, Any]:
        """Return it as transitions answer."""
        return {
            "id": self.id, "completed_at": stamp(self.completed_at), "entered_code": self.code,
            "participant": self.person.id, "started_at": stamp(self.started_at or self.reserved_at),
            "status": _listed(self.status), "study_id": self.study,
        }  # fmt: skip


def _listed(status: Status) -> str:
    """Return a status as far as lists know it: only counts and details know that somebody was approved in part."""
    return "APPROVED" if status == "PARTIALLY APPROVED" else status


@dataclass
class Study:
    """A study: what was sent, and how it stands."""

    id: str
    body: dict[str, Any]
    created_at: datetime
    status: StudyStatus = "UNPUBLISHED"
    published_at: datetime | None = None
    publish_at: datetime | None = None
    is_stopped: bool = False

    @property
    def reward(self) -> int:
        return int(self.body["reward"])

    @property
    def places(self) -> int:
        return int(self.body["total_available_places"])

    @property
    def limit(self) -> timedelta:
        """How long somebody may take."""
        return timedelta(minutes=float(self.body["maximum_allowed_time"]))

    @property
    def is_published(self) -> bool:
        return self.status not in ("UNPUBLISHED", "SCHEDULED")

    def code(self, entered: str | None) -> dict[str, Any] | None:
        """Return what a code stands for; None of one that is not of this study."""
        return next((one for one in self.body.get("completion_codes", []) if one["code"] == entered), None)

    @property
    def screen_out(self) -> dict[str, Any] | None:
        """The action that pays those who do not fit; None where there is none."""
        return next((act for act in self.actions() if act["action"] == "FIXED_SCREEN_OUT_PAYMENT"), None)

    def actions(self) -> list[dict[str, Any]]:
        return [act for code in self.body.get("completion_codes", []) for act in code["actions"]]


@dataclass
class Group:
    """A participant group: a list of people whom filters let in or keep out."""

    id: str
    name: str
    workspace: str
    description: str | None = None
    members: dict[str, datetime] = field(default_factory=dict)
    is_deleted: bool = False


@dataclass(frozen=True)
class BulkBonus:
    """A bonus payment that was set up."""

    id: str
    study: str
    rows: tuple[tuple[str, int], ...]
    """Submission and amount in hundredths."""


class Moved(NamedTuple):
    """Money that has left the wallet for one person."""

    at: datetime
    kind: Payment
    submission: str
    participant: str
    amount: int
    """In hundredths, without fees."""
    ref: str = ""
    """Of a bonus: which payment it was set up by."""
