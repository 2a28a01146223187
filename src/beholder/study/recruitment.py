"""Recruitment: where participants come from, what they earn, and how long their data are kept; amounts of money.

Amounts are exact, in one currency, never a float. What a value of `recruit.mode` means outside its recruiter and its
entrance is a fact or a sentence of its `ParticipantSource`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, StringConstraints

from beholder.formats import join_names, listed
from beholder.study.parts import Fault, Span, StudyPart, Text
from beholder.study.reader import quoted
from beholder.study.value_kinds import Allowed

RecruitMode = Literal["link", "panel", "lab", "prolific"]
Mode = Literal[RecruitMode, "imported", "preview", "robot"]
"""The way a session came: by a recruiter, out of another tool, or without a participant."""
NOT_PEOPLE: tuple[Mode, ...] = ("robot", "preview")


def is_person(mode: str) -> bool:
    """Return whether a session that came this way is a person's, and neither a robot's nor a preview."""
    return mode not in NOT_PEOPLE


def is_robot(mode: str) -> bool:
    """Return whether a session that came this way is a robot's."""
    return mode == "robot"


# Amounts of money

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

    def words(self) -> str:
        """Return who may see the study; empty where anybody may, or only filters in `more` say who."""
        named = (("living in", self.countries), ("fluent in", self.languages))
        parts = [f"{words} {join_names(names)}" for words, names in named if names]
        for words, limits in (
            ("aged {}", self.age),
            ("with an approval rate of {} per cent", self.approval_rate),
            ("with {} approved submissions", self.approved_submissions),
        ):
            if limits is not None:
                least = f"{limits} or more" if isinstance(limits, int) else f"{limits[0]} to {limits[1]}"
                parts.append(words.format(least))
        return join_names(parts) if parts else ""


class Recruit(StudyPart):
    """Where participants come from, and what they earn."""

    mode: RecruitMode = Field(
        default="link",
        description="`link`: whoever has the address. `panel`: invited people, or any platform that passes an id and "
        "takes a code. `lab`: kiosks without internet. `prolific`: recruited by Prolific.",
    )
    places: int | None = Field(
        default=None,
        ge=1,
        description="How many people are asked for; as many as the plan is for, or up to the next of `design.looks`, "
        "when left out.",
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
    return_after: Span | None = Field(
        default=None,
        description="Who has finished goes back by themselves after so long, such as `20 s`, unless they stay (`panel` "
        "with `return_to`, `prolific`).",
    )
    stations: int = Field(default=1, ge=1, le=100, description="How many seats there are (`lab`).")
    filters: Filters = Field(default=Filters(), description="Who may see the study (`prolific`).")
    groups: tuple[Text, ...] = Field(default=(), description="Only members of these participant groups (`prolific`).")
    block_groups: tuple[Text, ...] = Field(default=(), description="No members of these groups (`prolific`).")
    block_studies: tuple[Text, ...] = Field(
        default=(), description="Nobody who took part in these studies, by their ids on Prolific (`prolific`)."
    )
    signed_visits: bool = Field(
        default=False,
        description="Prolific signs the ids in the address, so that whom it sends is known before it lists them "
        "(`prolific`, in workspaces that can).",
    )
    project: Text | None = Field(
        default=None, description="The project's id on Prolific; the only one there is when left out (`prolific`)."
    )

    @property
    def source(self) -> ParticipantSource:
        """What is known of the mode."""
        return source_of(self.mode)


class Retention(StudyPart):
    """How long what is known of people is kept; `beholder purge` erases what is due."""

    identity: Day | None = Field(
        default=None,
        description="From this day on nobody can tell who is who: the links to ids on platforms are erased.",
    )
    answers: Day | None = Field(
        default=None, description="From this day on every answer in the store is erased too; results stay."
    )


# What is known of each mode


class ParticipantSource:
    """A source of participants: what a mode means for those who cannot see its recruiter.

    The base is what holds of a source that is nothing special, as of robots.
    """

    mode: ClassVar[RecruitMode]
    recruiter: ClassVar[str]
    """What opens its recruiter for a study and a store, named as an entry point is."""
    options: ClassVar[frozenset[str]] = frozenset()
    """Keys of `recruit` that not every mode has, and this one does."""
    is_platform: ClassVar[bool] = False
    """Whether an API posts the study, lists submissions, and approves and pays them for a fee; it asks for https."""
    token_variable: ClassVar[str] = ""
    """The environment variable with the token for that API."""
    probe: ClassVar[str] = ""
    """The dotted name of the function that asks the platform whether it answers and knows a token."""
    id_pattern: ClassVar[str] = ""
    """What ids of participants look like, where they can be told from other text: exports mask them."""
    is_on_site: ClassVar[bool] = False
    """Whether participants sit down at a station of ours, and need no address."""
    is_handed_out: ClassVar[bool] = False
    """Whether a person sends or posts the address, or the personal links."""
    is_by_invitation: ClassVar[bool] = False
    """Whether only those come who were invited, or whom a platform passes on with an id."""
    has_submission_list: ClassVar[bool] = False
    """Whether a platform without an API offers a list of its submissions to download."""
    needs_contact: ClassVar[bool] = False
    """Whether participants must be told whom they can ask."""
    summary_words: ClassVar[str] = ""
    """How participants were recruited, as the end of a sentence."""

    @property
    def title(self) -> str:
        """The name in sentences and problems."""
        return self.mode.capitalize()

    def faults(self, recruit: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield the faults of `recruit` under this mode, judged by the values as read."""
        yield from ()

    def limit_faults(self, limit: str, allowed: float, minutes: float) -> Iterator[Fault]:
        """Yield the faults of a time limit, in minutes, where people are told that a session takes `minutes`."""
        if allowed < minutes:
            what = f"is {limit}, and people are told that it takes {minutes:g} min"
            yield Fault(what, f"{minutes:g} min or more", "Give slow people twice that time, or shorten minutes.")

    def fewest_failures(self, minutes: float | None) -> int:
        """Return how many failures it takes before work of this length may be rejected."""
        return 1

    def methods_words(self, recruit: Recruit) -> str:
        """Return how people were recruited, for a methods section; what is left to the author in brackets."""
        raise NotImplementedError

    def exclusion_gap(self, recruit: Recruit) -> Fault | None:
        """Return why `recruit.exclude` leaves out fewer people than it names; None if it does not."""
        return None


class LinkSource(ParticipantSource):
    """Whoever has the address of the study, or a personal link."""

    mode: ClassVar[RecruitMode] = "link"
    recruiter = "beholder.recruiting.manual:LinkRecruiter"
    options = frozenset({"single_use", "people"})
    is_handed_out = True
    summary_words = "by a link"

    def methods_words(self, recruit: Recruit) -> str:
        if recruit.people is not None:
            return _INVITED
        return "followed an open link [where and how they were recruited, and who could take part]"

    def exclusion_gap(self, recruit: Recruit) -> Fault | None:
        if recruit.people is not None:
            return None
        if recruit.single_use:
            what = "leaves nobody out: a numbered link does not tell whose it is"
            return Fault(what, fix="Name people in recruit.people.")
        what = "leaves out only those whose link holds their id, as ?participant=ID; a plain link does not"
        return Fault(what, fix="Name people in recruit.people, or give them such links, in both studies.")


class PanelSource(ParticipantSource):
    """Invited people, or any platform that passes an id and takes a code."""

    mode: ClassVar[RecruitMode] = "panel"
    recruiter = "beholder.recruiting.panel:PanelRecruiter"
    options = frozenset(
        {"single_use", "people", "id_parameter", "visit_parameter", "codes", "return_to", "return_after"}
    )
    is_handed_out = is_by_invitation = has_submission_list = needs_contact = True
    summary_words = "through a panel"

    def faults(self, recruit: Mapping[str, Any]) -> Iterator[Fault]:
        id_parameter, visit = recruit.get("id_parameter"), recruit.get("visit_parameter")
        if not id_parameter and not recruit.get("people"):
            fix = "Name the parameter in which the platform passes the id, or a CSV of those invited."
            what = "is panel, and nothing says who comes"
            yield Fault(what, "recruit.id_parameter, recruit.people, or both", fix, ("recruit", "mode"))
        for key, name in (("id_parameter", id_parameter), ("visit_parameter", visit)):
            if name in _OWN_PARAMETERS:
                what, allowed = f"is {name}, which means something else in our addresses", "any other name"
                yield Fault(what, allowed, "Let the platform pass it under another name.", ("recruit", key))
        after, back = recruit.get("return_after"), recruit.get("return_to")
        if after and not (isinstance(back, Mapping) and back.get("completed")):
            what, fix = f"is {quoted(after)}, and nothing says where to", "Write it, or take this out."
            yield Fault(what, "recruit.return_to.completed beside it", fix, ("recruit", "return_after"))
        if visit and not id_parameter:
            what, fix = f"is {quoted(visit)}, and recruit.id_parameter is not written", "Write both, or take it out."
            yield Fault(what, "an id of the visit beside one of the person", fix, ("recruit", "visit_parameter"))
        elif visit and visit == id_parameter:
            what = f"is {quoted(visit)}, as is recruit.id_parameter"
            fix = "Take it out where the platform has one id."
            yield Fault(what, "two names", fix, ("recruit", "visit_parameter"))
        if recruit.get("single_use") is True and not recruit.get("people"):
            what, fix = "is true, and there is nobody to write a link for", "Write recruit.people, or take it out."
            yield Fault(what, "recruit.people beside it", fix, ("recruit", "single_use"))

    def methods_words(self, recruit: Recruit) -> str:
        return _INVITED


class LabSource(ParticipantSource):
    """Kiosks without internet."""

    mode: ClassVar[RecruitMode] = "lab"
    recruiter = "beholder.recruiting.manual:LabRecruiter"
    options = frozenset({"stations"})
    is_on_site = True
    summary_words = "in the laboratory"

    def methods_words(self, recruit: Recruit) -> str:
        return "took part in a laboratory [where, on which screens, and how they were recruited]"

    def exclusion_gap(self, recruit: Recruit) -> Fault | None:
        what = "leaves nobody out: in a laboratory people are numbers, and each study has its own"
        return Fault(what, fix="Ask whoever comes whether they took part before.")


class ProlificSource(ParticipantSource):
    """People recruited by Prolific."""

    mode: ClassVar[RecruitMode] = "prolific"
    recruiter = "beholder.recruiting.prolific.recruiter:open_prolific"
    options = frozenset(
        {
            "approve_after",
            "further",
            "filters",
            "groups",
            "block_groups",
            "block_studies",
            "signed_visits",
            "project",
            "return_after",
        }
    )
    is_platform = needs_contact = True
    token_variable = "PROLIFIC_TOKEN"  # noqa: S105 (a name)
    probe = "beholder.recruiting.prolific.client:probe"
    id_pattern = r"(?<![0-9A-Za-z])[0-9A-Fa-f]{24}(?![0-9A-Za-z])"
    summary_words = "on Prolific"

    def faults(self, recruit: Mapping[str, Any]) -> Iterator[Fault]:
        if recruit.get("reward") is None:
            what, fix = "is prolific, and recruit.reward is not written", "Write what one session earns."
            yield Fault(what, "recruit.reward, such as 2.00 GBP", fix, ("recruit", "mode"))

    def limit_faults(self, limit: str, allowed: float, minutes: float) -> Iterator[Fault]:
        needed = longest_minutes(minutes)
        if allowed < needed:
            what = f"is {limit}, and Prolific asks for {needed} min where people are told {minutes:g}"
            yield Fault(what, f"{needed} min or more", "Leave it out to take Prolific's own.")
        if allowed >= 24 * 60:
            yield Fault(f"is {limit}, and Prolific allows less than a day", f"{needed} min to 1439 min")

    def fewest_failures(self, minutes: float | None) -> int:
        """Return what Prolific's rules ask for; an unknown length counts as long."""
        return 1 if minutes is not None and minutes <= _SHORT_MINUTES else _LONG_FAILURES

    def methods_words(self, recruit: Recruit) -> str:
        filters = recruit.filters.words()
        return f"were recruited on Prolific {f'among people {filters}' if filters else '[who could take part]'}"


_INVITED = "were invited [from which panel, and who could take part]"
PANEL_KEY = "key"
"""The parameter with the secret part of the address that a panel gets."""
_OWN_PARAMETERS = ("preview", "robot", "again", "resume", "invited", PANEL_KEY)
"""Names in an address that the server uses itself."""
_SHORT_MINUTES = 5
_LONG_FAILURES = 2
SOURCES: tuple[ParticipantSource, ...] = (LinkSource(), PanelSource(), LabSource(), ProlificSource())
"""One for each mode of `recruit`, in that order."""
_BY_MODE: Mapping[str, ParticipantSource] = {source.mode: source for source in SOURCES}
_NO_SOURCE = ParticipantSource()


def source_of(mode: Mode) -> ParticipantSource:
    """Return the source for the mode of a study or a session; a plain one for robots and previews."""
    return _BY_MODE.get(mode, _NO_SOURCE)


def modes_where(is_allowed: Callable[[ParticipantSource], bool]) -> str:
    """Return the modes for whose source something holds, as a list of what is allowed."""
    return listed([source.mode for source in SOURCES if is_allowed(source)])


# What follows from the keys


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
    return recruit.source.is_platform and recruit.further == "submissions"


def is_personal(recruit: Recruit) -> bool:
    """Return whether participants need a personal link."""
    is_listed = recruit.people is not None and recruit.source.is_by_invitation
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
