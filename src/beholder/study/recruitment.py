"""Recruitment: where participants come from, what they earn, and how long their data are kept; amounts of money.

Amounts are exact, in one currency, never a float.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, StringConstraints

from beholder.study.parts import Span, StudyPart, Text
from beholder.study.value_kinds import Allowed

_WRITTEN = r"^([1-9][0-9]{0,6}(\.[0-9]{1,2})?|0\.(0[1-9]|[1-9][0-9]?)) [A-Z]{3}$"
Money = Annotated[
    str,
    StringConstraints(pattern=_WRITTEN),
    Allowed("an amount above 0 and a currency of three capital letters, such as 0.10 GBP"),
]


class Sum(NamedTuple):
    """An amount in hundredths of a currency."""

    minor: int
    currency: str

    @property
    def amount(self) -> str:
        """The amount as platforms take it: `0.10`."""
        return f"{Decimal(self.minor) / 100:.2f}"

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}"


def money(text: str) -> Sum:
    """Return the sum of an amount such as `0.10 GBP`."""
    match = re.fullmatch(r"([0-9.]+) ([A-Z]{3})", text)
    assert match is not None, text
    return Sum(int(Decimal(match[1]) * 100), match[2])


def hourly(reward: Sum, minutes: int) -> Sum:
    """Return the pay for an hour at a reward for a number of minutes, rounded down."""
    return Sum(reward.minor * 60 // minutes, reward.currency)


def is_money(text: str) -> bool:
    """Return whether a text is an amount above 0 and a currency, as in a study."""
    return re.fullmatch(_WRITTEN, text) is not None


# The keys of recruitment

Moment = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2}))?$"),
    Allowed("a day such as 2027-01-31, which begins at midnight UTC, or a time such as 2027-01-31 09:00+01:00"),
]
Day = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), Allowed("a day such as 2027-01-31")]
Code = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$"), Allowed("up to 64 letters, digits, - and _")]


class PerOutcome(StudyPart):
    """A text for each way in which a session can end."""

    completed: Text | None = Field(default=None, description="Everything was answered.")
    screened_out: Text | None = Field(default=None, description="Did not fit at a qualification.")
    wrong_device: Text | None = Field(default=None, description="The device did not fit.")
    no_consent: Text | None = Field(default=None, description="Did not agree, or withdrew.")
    failed_checks: Text | None = Field(default=None, description="Ended by failed attention checks.")
    technical: Text | None = Field(default=None, description="Ended by a fault of ours.")


class Filters(StudyPart):
    """Whom Prolific shows the study to. Further filters go by their ids in `more`."""

    countries: tuple[Text, ...] = Field(default=(), description="Where people live now, by name or two letters.")
    languages: tuple[Text, ...] = Field(default=(), description="Fluent languages, by name.")
    age: tuple[int, int] | None = Field(default=None, description="Youngest and oldest.")
    approval_rate: tuple[int, int] | int | None = Field(
        default=None, description="Least share of approved submissions in per cent, or a range."
    )
    approved_submissions: tuple[int, int] | int | None = Field(
        default=None, description="Least number of approved submissions, or a range."
    )
    more: dict[
        str, Annotated[tuple[Text, ...] | tuple[float, float], Allowed("a list of values, or a range such as [1, 5]")]
    ] = Field(default_factory=dict, description="Any other filter by its id: a list of values, or a range.")


class Recruit(StudyPart):
    """Where participants come from, and what they earn."""

    mode: Literal["link", "panel", "lab", "prolific"] = Field(
        default="link",
        description="`link`: whoever has the address. `panel`: invited people, or any platform that passes an id and "
        "takes a code. `lab`: kiosks without internet. `prolific`: recruited by Prolific.",
    )
    places: int | None = Field(
        default=None, ge=1, description="How many people are asked for; as many as the plan is for when left out."
    )
    minutes: float | None = Field(
        default=None, gt=0, le=600, description="How long people are told that it takes; estimated when left out."
    )
    time_limit: Span | None = Field(
        default=None,
        description="The longest that a session may rest: then its list is open to others. `60 min` when left out; on "
        "Prolific also how long a submission may take, and by Prolific's formula when left out.",
    )
    opens: Moment | None = Field(default=None, description="Before this moment nobody can begin.")
    closes: Moment | None = Field(default=None, description="From this moment on nobody can begin.")
    reward: Money | None = Field(default=None, description="What one session earns, such as `2.00 GBP`.")
    screen_out: Money | None = Field(
        default=None, description="What somebody earns who did not fit at a qualification."
    )
    hourly_minimum: Money | None = Field(
        default=None, description="Least pay for an hour; the platform's own minimum when left out."
    )
    approve_after: Span | None = Field(
        default=None,
        description="`beholder run` approves accepted work after this time, also where nobody has signed it.",
    )
    further: Literal["bonus", "submissions"] = Field(
        default="bonus",
        description="How further sessions of one person are paid on Prolific: as bonus-paid rounds of one visit, or "
        "as submissions of their own.",
    )
    block: Text | None = Field(
        default=None,
        description="A file with one id a line: they are turned away kindly. Read at each arrival, kept nowhere.",
    )
    exclude: tuple[Text, ...] = Field(
        default=(), description="Folders of other studies: whoever began one of them does not begin this one."
    )
    single_use: bool = Field(default=False, description="Each link works for one person (`link`, `panel`).")
    people: Text | None = Field(
        default=None, description="CSV of those invited, a column `id` and any others (`link`, `panel`)."
    )
    id_parameter: Code | None = Field(
        default=None, description="The name under which the platform passes somebody's id in the address (`panel`)."
    )
    visit_parameter: Code | None = Field(
        default=None, description="The name under which it passes the id of the visit, where it does (`panel`)."
    )
    codes: PerOutcome = Field(
        default=PerOutcome(),
        description="Codes that people take back, by outcome; one for each session when left out (`panel`).",
    )
    return_to: PerOutcome = Field(
        default=PerOutcome(),
        description="Addresses that people go back to, by outcome; `{code}` and `{id}` are filled in (`panel`).",
    )
    stations: int = Field(default=1, ge=1, le=100, description="How many seats there are (`lab`).")
    filters: Filters = Field(default=Filters(), description="Who may see the study (`prolific`).")
    groups: tuple[Text, ...] = Field(default=(), description="Only members of these participant groups (`prolific`).")
    block_groups: tuple[Text, ...] = Field(default=(), description="No members of these groups (`prolific`).")
    block_studies: tuple[Text, ...] = Field(
        default=(), description="Nobody who took part in these studies, by their ids on Prolific (`prolific`)."
    )
    project: Text | None = Field(
        default=None, description="The project's id on Prolific; the only one there is when left out (`prolific`)."
    )


class Retention(StudyPart):
    """How long what is known of people is kept; `beholder purge` erases what is due."""

    identity: Day | None = Field(
        default=None,
        description="From this day on nobody can tell who is who: the links to ids on platforms are erased.",
    )
    answers: Day | None = Field(
        default=None, description="From this day on every answer in the store is erased too; results stay."
    )


def moment(text: str) -> datetime:
    """Return the time of a moment such as `2027-01-31 09:00+01:00`; a day begins at midnight UTC."""
    time = datetime.fromisoformat(text.replace(" ", "T", 1))
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def is_closed(recruit: Recruit, now: datetime) -> bool:
    """Return whether recruitment has closed."""
    return recruit.closes is not None and now >= moment(recruit.closes)


def longest_minutes(minutes: float) -> int:
    """Return the least time limit of Prolific, in minutes, for an estimated duration."""
    return math.ceil(2 + 2 * minutes + 2 * math.sqrt(minutes))


def announced_minutes(recruit: Recruit, estimate: float) -> int:
    """Return the announced duration in whole minutes: that of the study, or the estimate. Pay is measured by it."""
    return math.ceil(recruit.minutes or estimate)


def has_visit_per_session(recruit: Recruit) -> bool:
    """Return whether every session of a participant is a submission of its own on the platform."""
    return recruit.mode == "prolific" and recruit.further == "submissions"


def is_personal(recruit: Recruit) -> bool:
    """Return whether participants need a personal link."""
    is_listed = recruit.people is not None and recruit.mode == "panel"
    return recruit.id_parameter is None and (recruit.single_use or is_listed)


def own_posting(name: str, run: int) -> str:
    """Return the posting id of a run that no platform posts."""
    return f"{name}/{run}"


def own_run(id: str) -> int:
    """Return the run of such a posting id."""
    return int(id.rpartition("/")[2])


def is_own_posting(id: str) -> bool:
    """Return whether a posting id is such a one, not that of a platform."""
    return "/" in id
