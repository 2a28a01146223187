"""The snapshot that `monitor` returns: the state of a study at one moment, and its JSON document."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

from beholder.recruiting.contract import State, Status
from beholder.result_view import ResultView, ShownResult
from beholder.study.recruitment import Mode, Sum
from beholder.types import Json, Outcome

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class StepCount:
    """A step of the session: how many reached it, and how many of them went no further."""

    key: str
    title: str
    reached: int
    here: int
    """Still at it, or away for less than the time limit."""
    left: int
    """Away for longer than the time limit, without an end."""
    ended: int
    """Sessions that ended here: screened out, no consent, withdrawn."""


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
    """A stimulus or a condition: votes of completed sessions, of live ones, and planned."""

    name: str
    finished: int
    coming: int
    planned: int


@dataclass(frozen=True)
class ListCounts:
    """The lists of the plan: all, finished, and in progress."""

    planned: int
    finished: int
    coming: int

    @property
    def open(self) -> int:
        return self.planned - self.finished - self.coming


@dataclass(frozen=True)
class HourlyPay:
    """What an hour pays, by the median duration of completed sessions."""

    reward: Sum
    hourly: Sum | None
    """By our clock, from arrival to the end."""
    platform_hourly: Sum | None
    floor: Sum | None
    top_up: Sum | None
    """What each participant would need on top to reach the floor; None where it is reached."""


@dataclass(frozen=True)
class Cost:
    """The money of the study so far, with fees where the platform reports them."""

    paid: Sum
    """What participants received, without fees: settled in the ledger, or paid by the platform itself."""
    committed: Sum | None
    """What the published places cost at most."""
    budget: Sum | None


@dataclass(frozen=True)
class PlatformCounts:
    """The numbers of the study on its platform."""

    state: State
    places: int
    taken: int
    statuses: Mapping[Status, int]
    oldest_days: int | None
    """For how many days the oldest finished submission has waited for a decision."""
    minutes: float | None
    """The median of finished submissions, by the platform's clock."""
    at: datetime
    link: str = ""
    gone: tuple[str, ...] = ()
    """Sessions of participants who returned the study there, or ran out of time."""


@dataclass(frozen=True, repr=False)
class MonitorSnapshot(ShownResult):
    """The state of a study at one moment. `to_json` is what `--json` prints."""

    study: str
    title: str
    run: int
    mode: Mode
    population: Literal["people", "robots"]
    at: datetime
    link: str
    """Where participants begin; empty where there is no public address, or everybody has a personal link."""
    people: int
    arrived: int
    """Sessions, as are all numbers below. Also those that were removed since, because nothing was answered in them."""
    here: int
    """Under way: still at it, or away for less than the time limit."""
    present: int
    """Of these, who sent something in the last two minutes."""
    completed: int
    left: int
    ended: Mapping[Outcome, int]
    """Other ends than completed."""
    steps: tuple[StepCount, ...]
    trials: tuple[StepCount, ...]
    """The trials one by one; `steps` has them as one."""
    checks: tuple[CheckCount, ...]
    verified: int | None
    """Of those who agreed, how many came by a visit that the platform lists; None without a platform to ask."""
    unverified: int | None
    """How many came while it was not asked, or gave no answer."""
    lists: ListCounts
    conditions: tuple[VoteProgress, ...]
    stimuli: tuple[VoteProgress, ...]
    minutes: float | None
    """The median of completed sessions, from arrival to the end."""
    durations: tuple[float, ...]
    """The minutes of each completed session, where there are at most three."""
    told_minutes: float | None
    """The minutes stated to participants."""
    per_hour: float | None
    """Completed sessions per hour, recently."""
    finished_at: datetime | None
    """When all lists will be finished at this rate; None where lists are open and nobody can begin."""
    earned: HourlyPay | None
    cost: Cost | None
    platform: PlatformCounts | None
    alarms: tuple[str, ...]
    """What a researcher should look at, in sentences."""

    def to_json(self) -> Mapping[str, Json]:
        """Return the snapshot as a document with stable keys."""

        return _document(self)

    def __rich__(self) -> RenderableType:
        from beholder.recruiting.dashboard import page

        return page(self)

    def __str__(self) -> str:
        from beholder.recruiting.dashboard import as_text

        return as_text(self)

    def _view(self) -> ResultView:
        return ResultView((), text=str(self))


# The JSON document of `beholder monitor --json`


_VERSION = 1


def _document(view: MonitorSnapshot) -> Mapping[str, Json]:
    """Return the snapshot with its version, and null for what is unknown."""
    return {"version": _VERSION, **{name: to_json(value) for name, value in vars(view).items()}}


def to_json(value: object) -> Json:
    """Return a value as JSON: times as ISO 8601, money as `2.00 GBP`, a table as its rows, null for no number."""
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
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "to_dict"):  # a data frame, whose numbers are of numpy
        return [to_json(row) for row in value.to_dict("records")]
    if hasattr(value, "tolist"):
        return to_json(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return {name: to_json(inner) for name, inner in vars(value).items()}
