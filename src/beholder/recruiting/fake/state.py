"""State of the fake platform: people, studies, submissions, groups, bonuses, the clock, the wallet.

Also the rules of a study that Prolific documents only in prose.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

Status = Literal[
    "RESERVED", "ACTIVE", "TIMED-OUT", "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED", "RETURNED", "REJECTED",
    "SCREENED OUT",
]  # fmt: skip
PaymentKind = Literal["reward", "screen_out", "partial", "bonus"]
LIVE_STATUSES: tuple[Status, ...] = ("RESERVED", "ACTIVE")
PLACE_STATUSES: tuple[Status, ...] = (*LIVE_STATUSES, "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED")
"""Statuses that take a place. Returned, timed out and rejected submissions free it; paid screen-outs take none."""
StudyStatus = Literal["UNPUBLISHED", "SCHEDULED", "ACTIVE", "AWAITING REVIEW", "PAUSED", "COMPLETED"]


SIGNED = "is_external_study_url_secure"
"""The field of a study whose addresses are signed."""


@dataclass(frozen=True)
class FakePerson:
    """A person on the platform: an id, and profile answers by filter."""

    id: str
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class FakeSubmission:
    """A person's submission to a study. Its id is the SESSION_ID in our address."""

    id: str
    study: str
    person: FakePerson
    reserved_at: datetime
    status: Status = "RESERVED"
    started_at: datetime | None = None
    completed_at: datetime | None = None
    code: str | None = None
    bonuses: list[int] = field(default_factory=list)
    return_requested: datetime | None = None
    rejection: str = ""

    def short(self, *, has_siblings: bool) -> dict[str, Any]:
        """Return it as an entry of a list."""
        return {
            "id": self.id, "participant_id": self.person.id, "status": _status_in_list(self.status),
            "started_at": stamp(self.started_at or self.reserved_at), "completed_at": stamp(self.completed_at),
            "has_siblings": has_siblings, "study_code": self.code, "return_requested": stamp(self.return_requested),
        }  # fmt: skip

    def detail(self) -> dict[str, Any]:
        return {
            **self.brief(), "status": self.status, "parent_study_id": None, "bonus_payments": list(self.bonuses),
            "return_requested": stamp(self.return_requested),
        }  # fmt: skip

    def brief(self) -> dict[str, Any]:
        """Return it as the reply to a transition."""
        return {
            "id": self.id, "completed_at": stamp(self.completed_at), "entered_code": self.code,
            "participant": self.person.id, "started_at": stamp(self.started_at or self.reserved_at),
            "status": _status_in_list(self.status), "study_id": self.study,
        }  # fmt: skip


def _status_in_list(status: Status) -> str:
    """Return a status as lists show it: only counts and details distinguish partial approval."""
    return "APPROVED" if status == "PARTIALLY APPROVED" else status


@dataclass
class FakeStudy:
    """A study: the body that was sent, and its status."""

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
        """The longest allowed time for a submission."""
        return timedelta(minutes=float(self.body["maximum_allowed_time"]))

    @property
    def is_published(self) -> bool:
        return self.status not in ("UNPUBLISHED", "SCHEDULED")

    def code(self, entered: str | None) -> dict[str, Any] | None:
        """Return a completion code of this study, or None."""
        return next((one for one in self.body.get("completion_codes", []) if one["code"] == entered), None)

    @property
    def screen_out(self) -> dict[str, Any] | None:
        """The action that pays a screen-out, or None."""
        return next((act for act in self.actions() if act["action"] == "FIXED_SCREEN_OUT_PAYMENT"), None)

    def actions(self) -> list[dict[str, Any]]:
        return [act for code in self.body.get("completion_codes", []) for act in code["actions"]]


@dataclass
class FakeGroup:
    """A participant group, which filters admit or exclude."""

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


class WalletPayment(NamedTuple):
    """A payment from the wallet to one person."""

    at: datetime
    kind: PaymentKind
    submission: str
    participant: str
    amount: int
    """In hundredths, without fees."""
    ref: str = ""
    """The id of the bonus payment."""


# Clock


_START = datetime(2026, 10, 5, 9, 0, tzinfo=UTC)


class FakeClock:
    """A clock that stands still until it is advanced, or with `runs` keeps real time."""

    def __init__(self, start: datetime | None = None, *, runs: bool = False) -> None:
        self._start = start or (datetime.now(UTC) if runs else _START)
        self._started = time.monotonic() if runs else None
        self._offset = timedelta()

    @property
    def now(self) -> datetime:
        run = timedelta(seconds=time.monotonic() - self._started) if self._started is not None else timedelta()
        return self._start + self._offset + run

    def advance(self, by: timedelta) -> None:
        """Let time pass; it never goes back."""
        assert by >= timedelta(), by
        self._offset += by


def stamp(moment: datetime | None) -> str | None:
    """Return a time as the API writes it."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


# Wallet


_FEE, _VAT = Fraction(33, 100), Fraction(20, 100)
"""Prolific's fee as a share of the reward, and the tax on the fee. For the real ones, ask the API."""


class Price(NamedTuple):
    """The cost of a payment, in hundredths."""

    pay: int
    fees: int
    vat: int

    @property
    def total(self) -> int:
        return self.pay + self.fees + self.vat


def price(pay: int) -> Price:
    """Return the cost of paying this amount, rounded."""
    fees = _round(pay * _FEE)
    return Price(pay, fees, _round(fees * _VAT))


def _round(amount: Fraction) -> int:
    return int(amount + Fraction(1, 2))


class Wallet:
    """Play money of one workspace in one currency. Tests of payments compare with its `payments`."""

    def __init__(self, balance: int, currency: str) -> None:
        self.balance, self.currency = balance, currency
        self.payments: list[WalletPayment] = []

    def pay(self, payment: WalletPayment) -> None:
        """Make a payment, with fee and tax."""
        self.balance -= price(payment.amount).total
        self.payments.append(payment)


# Rules of a study that Prolific documents only in prose


PLACEHOLDERS = ("{{%PROLIFIC_PID%}}", "{{%STUDY_ID%}}", "{{%SESSION_ID%}}")
REQUIRED_FIELDS = (
    "name", "description", "external_study_url", "prolific_id_option", "total_available_places",
    "estimated_completion_time", "reward",
)  # fmt: skip
_DAY_MINUTES = 24 * 60
_TAGS = {"b", "i", "em", "strong", "s", "u", "h1", "h2", "ol", "ul", "li", "p"}
_HERE = {"127.0.0.1", "localhost", "::1"}


def least_time(minutes: float) -> int:
    """Return the least `maximum_allowed_time` for an estimated time, in minutes."""
    return math.ceil(2 + 2 * minutes + 2 * math.sqrt(minutes))


def study_problems(body: Mapping[str, Any], features: Set[str]) -> dict[str, list[str]]:
    """Return the problems of a study, by field."""
    by_field = {
        "reward": _reward(body), "total_available_places": _places(body), "external_study_url": _url(body),
        "maximum_allowed_time": _time(body), "description": _description(body), "filters": _filters(body),
        "completion_codes": _codes(body, features), SIGNED: _signed(body, features),
    }  # fmt: skip
    return {field: problems for field, problems in by_field.items() if problems}


def _signed(body: Mapping[str, Any], features: Set[str]) -> list[str]:
    return ["This is not available in your workspace."] if body.get(SIGNED) and "signed" not in features else []


def _reward(body: Mapping[str, Any]) -> list[str]:
    return [] if is_whole(body["reward"]) and body["reward"] > 0 else ["Reward must be a positive integer, in cents."]


def _places(body: Mapping[str, Any]) -> list[str]:
    places = body["total_available_places"]
    return [] if is_whole(places) and places >= 1 else ["There must be 1 place at least."]


def _url(body: Mapping[str, Any]) -> list[str]:
    url = body["external_study_url"]
    parts = urlsplit(url)
    # A rehearsal on this machine needs no certificate.
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _HERE)
    problems = [] if is_safe and parts.hostname else ["The URL must begin with https://."]
    if body["prolific_id_option"] == "url_parameters":
        problems += [f"The URL has no {one}." for one in PLACEHOLDERS if one not in url]
    return problems


def _time(body: Mapping[str, Any]) -> list[str]:
    estimate = body["estimated_completion_time"]
    if not (is_whole(estimate) and estimate >= 1):
        return ["The estimated completion time must be 1 minute at least."]
    least, allowed = least_time(estimate), body.get("maximum_allowed_time", _DAY_MINUTES - 1)
    return [] if least <= allowed < _DAY_MINUTES else [f"The maximum allowed time must be {least} minutes at least."]


def _description(body: Mapping[str, Any]) -> list[str]:
    tags = {tag.lower() for tag in re.findall(r"</?([a-zA-Z][a-zA-Z0-9]*)", body["description"])}
    return [f"The tags {sorted(tags - _TAGS)} are not allowed."] if tags - _TAGS else []


def _filters(body: Mapping[str, Any]) -> list[str]:
    both = body.get("filters") and body.get("filter_set_id")
    return ["Give filters or filter_set_id, not both."] if both else []


def _codes(body: Mapping[str, Any], features: Set[str]) -> list[str]:
    codes = body.get("completion_codes", [])
    problems = [
        f"The code {code} is there {times} times."
        for code, times in Counter(one["code"] for one in codes).items()
        if times > 1
    ]
    for one in codes:
        actions = {act["action"] for act in one["actions"]}
        if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= actions:
            problems.append("A code cannot both approve and leave it to a review.")
    paying = [act for one in codes for act in one["actions"] if act["action"] == "FIXED_SCREEN_OUT_PAYMENT"]
    if paying and "screen_out" not in features:
        problems.append("This workspace does not have access to FIXED_SCREEN_OUT_PAYMENT.")
    if any(act["action"] == "DYNAMIC_PAYMENT" for one in codes for act in one["actions"]) and "dynamic" not in features:
        problems.append("This workspace does not have access to DYNAMIC_PAYMENT.")
    if len(paying) > 1:
        problems.append("Only one code may pay a screen-out.")
    for act in paying:
        if not 0 < act["fixed_screen_out_reward"] < body["reward"]:
            problems.append("The screen-out reward must be below the reward.")
        if act["slots"] < 1:
            problems.append("There must be 1 screen-out slot at least.")
    return problems


def is_whole(number: Any) -> bool:
    return (isinstance(number, int) and not isinstance(number, bool)) or (
        isinstance(number, float) and number.is_integer()
    )
