"""What `monitor` finds: how a study stands at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from beholder.recruiting.contract import State, Status
from beholder.study.recruitment import Sum
from beholder.types import Json, Mode, Outcome

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class StepCount:
    """A step of the session: how many came to it, and how many of them came no further."""

    key: str
    title: str
    reached: int
    here: int
    """Still at it, or not gone for long."""
    left: int
    """Gone for longer than a session may rest, without an end."""
    ended: int
    """Whose session ended here: not fitting, not agreeing, withdrawn."""


@dataclass(frozen=True)
class CheckCount:
    """A check: how many sessions met it, failed it once or more, and ended by it."""

    check: str
    title: str
    met: int
    failed: int
    ended: int


@dataclass(frozen=True)
class VoteProgress:
    """A stimulus or a condition: votes of those who finished, of those under way, and planned."""

    name: str
    finished: int
    coming: int
    planned: int


@dataclass(frozen=True)
class ListCounts:
    """The lists of the plan: how many there are, how many somebody has finished, how many are under way."""

    planned: int
    finished: int
    coming: int

    @property
    def open(self) -> int:
        return self.planned - self.finished - self.coming


@dataclass(frozen=True)
class HourlyPay:
    """What an hour of people's time earns, by the median of those who finished."""

    reward: Sum
    hourly: Sum | None
    """By our clock, from arrival to the end."""
    platform_hourly: Sum | None
    floor: Sum | None
    top_up: Sum | None
    """What each would need on top for the floor to be kept; None where it is."""


@dataclass(frozen=True)
class Cost:
    """Money of the study so far, with fees where the platform has told them."""

    paid: Sum
    """What people have got, without fees: what the ledger has settled, and what the platform has paid by itself."""
    committed: Sum | None
    """What the places that were published cost at most."""
    budget: Sum | None


@dataclass(frozen=True)
class PlatformCounts:
    """How the study stands on its platform."""

    state: State
    places: int
    taken: int
    statuses: Mapping[Status, int]
    oldest_days: int | None
    """For how many days the oldest finished submission has waited for a decision."""
    minutes: float | None
    """The median of those who finished, by the platform's clock."""
    at: datetime
    link: str = ""
    gone: tuple[str, ...] = ()
    """Sessions of whoever has returned the study there, or ran out of time: they are not here any more."""


@dataclass(frozen=True)
class MonitorSnapshot:
    """How a study stands at one moment. `to_json` is what `--json` prints."""

    study: str
    title: str
    run: int
    mode: Mode
    population: Literal["people", "robots"]
    at: datetime
    link: str
    """Where people begin; empty where nobody has said under which address, or everybody has one of their own."""
    people: int
    arrived: int
    """Sessions, as all numbers below."""
    here: int
    completed: int
    left: int
    ended: Mapping[Outcome, int]
    """Other ends than completed."""
    steps: tuple[StepCount, ...]
    trials: tuple[StepCount, ...]
    """The trials one by one; in `steps` they are one."""
    checks: tuple[CheckCount, ...]
    lists: ListCounts
    conditions: tuple[VoteProgress, ...]
    stimuli: tuple[VoteProgress, ...]
    minutes: float | None
    """The median of those who finished, from arrival to the end."""
    told_minutes: float | None
    """What people were told."""
    per_hour: float | None
    """How many have finished in an hour, lately."""
    finished_at: datetime | None
    """When every list will be finished, if it goes on like this; None where lists are open and nobody can begin."""
    earned: HourlyPay | None
    cost: Cost | None
    platform: PlatformCounts | None
    alarms: tuple[str, ...]
    """What somebody should look at, in sentences."""

    def to_json(self) -> Mapping[str, Json]:
        """Return the view as a document whose keys stay."""

        return document(self)

    def __rich__(self) -> RenderableType:
        from beholder.recruiting.dashboard import page

        return page(self)

    def __str__(self) -> str:
        from beholder.recruiting.dashboard import as_text

        return as_text(self)


# --- A view as JSON: the document of `beholder monitor --json` ---


VERSION = 1


def document(view: MonitorSnapshot) -> Mapping[str, Json]:
    """Return the view with its version, and null where nothing is known."""
    return {"version": VERSION, **{name: to_json(value) for name, value in vars(view).items()}}


# --- What was found as JSON: every value by its name ---


def to_json(value: object) -> Json:
    """Return times as ISO 8601, money as `2.00 GBP`, and anything with fields as an object."""
    if isinstance(value, Sum):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(key): to_json(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return {name: to_json(inner) for name, inner in vars(value).items()}
