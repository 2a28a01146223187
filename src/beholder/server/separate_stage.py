"""A separate stage: the second device on which the clips of a session are shown, coupled with it by a code.

All of it is kept among the events of the session, of which each place is stored once: a code is used once, whichever
servers two devices have reached; a server that is killed takes nothing with it; and an erasure takes all of it.

| key of the events | tab | place | holds |
|---|---|---|---|
| `stage` | `code` | number of the code | that it was shown; the code itself follows from its number |
| `stage` | `device` | number of the code | that a device was coupled by it, and its screen |
| `stage:trial:3` | `hand-set` | number of the order | what is to be played |
| `stage:trial:3` | `2.a1b2c3` | place in the log | what the page of the stage with code 2 has logged |
| `stage:trial:3` | `heard:2` | three seconds of the clock | that the stage was there |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

from beholder.server.context import Context
from beholder.server.playback import PAGE
from beholder.server.requests import OF_STAGE, Event, SubmittedAnswer
from beholder.server.script import PlannedStep
from beholder.store.contract import Events, SessionFacts
from beholder.study.model import Study
from beholder.study.recruitment import is_person
from beholder.types import Json

KEY, CODE, DEVICE, HAND_SET = "stage", "code", "device", "hand-set"
CODE_COUNTS = timedelta(minutes=10)
"""How long a code can be used after it was shown."""
HEARD_EVERY = timedelta(seconds=3)
LOST_AFTER = timedelta(seconds=9)
"""A stage that was not heard for so long is lost: it asks every second."""
STATE = "state"
"""The kind of an event by which a stage tells how it is; every batch that it sends ends with one."""


def is_staged(study: Study, step: PlannedStep) -> bool:
    """Return whether a step is shown on a separate stage."""
    return study.stage == "separate" and step.kind == "trial"


# Coupling


class Coupling(NamedTuple):
    """The codes that a session has shown, by number, and the devices that were coupled by them."""

    shown: Mapping[int, datetime]
    devices: Mapping[int, Mapping[str, Json]]

    @property
    def number(self) -> int | None:
        """The number of the stage that counts, the one with the newest code; None without one."""
        return max(self.devices, default=None)

    def open_code(self, now: datetime) -> int | None:
        """Return the number of the code that can be used; None without one."""
        last = max(self.shown, default=None)
        return last if last is not None and last not in self.devices and now < self.shown[last] + CODE_COUNTS else None


async def read_coupling(ctx: Context, session: str) -> Coupling:
    """Return how a session is coupled."""
    shown: dict[int, datetime] = {}
    devices: dict[int, Mapping[str, Json]] = {}
    for batch in await ctx.store.step_events(session, KEY):
        if batch.tab == CODE:
            shown[batch.first] = batch.at
        elif batch.tab == DEVICE:
            devices[batch.first] = event_data(batch.events[0])
    return Coupling(shown, devices)


# What is said between the two devices about one trial


@dataclass
class _StageLog:
    """What one page of a stage has logged, and when its clock began by ours, as early as can be."""

    number: int
    events: list[Event] = field(default_factory=list)
    began: datetime | None = None

    @property
    def state(self) -> Mapping[str, Json]:
        """What the stage told of itself last."""
        return next((event_data(event) for event in reversed(self.events) if event[1] == STATE), {})


@dataclass
class Channel:
    """What hand-set and stage have said about one trial."""

    orders: dict[int, Mapping[str, Json]] = field(default_factory=dict)
    began: datetime | None = None
    """When the clock of the hand-set's page began, by ours."""
    logs: dict[str, _StageLog] = field(default_factory=dict)
    """By page of a stage, the newest last."""
    heard_at: dict[int, datetime] = field(default_factory=dict)
    """When each stage was last heard, by its number."""
    beats: int = 0
    """How often a stage was heard that had nothing to tell."""

    def last_log(self, number: int | None) -> _StageLog | None:
        """Return the newest log of a stage."""
        return next((log for log in reversed(self.logs.values()) if log.number == number), None)

    def events(self, *, is_timed: bool) -> list[Event]:
        """Return the events of all pages of stages in order, on the clock of the hand-set if `is_timed`.

        Else on that of the first of these pages: each begins to count at 0.
        """
        first = next(iter(self.logs.values()), None)
        begins = self.began if is_timed and self.began is not None else first.began if first is not None else None
        merged: list[Event] = []
        for log in self.logs.values():
            apart = 0.0 if log.began is None or begins is None else (log.began - begins).total_seconds() * 1000
            merged += [(max(0.0, ms + apart), kind, slot, data) for ms, kind, slot, data in log.events if kind != STATE]
        return sorted(merged, key=lambda event: event[0])

    @property
    def unfinished(self) -> int:
        """How many orders did not come to their end on the stage."""
        ended = {
            event_data(event).get("order")
            for log in self.logs.values()
            for event in log.events
            if event[1] == STATE and event_data(event).get("is") in ("over", "failed")
        }
        return sum(number not in ended for number in self.orders)


async def read_channel(ctx: Context, session: str, key: str) -> Channel:
    """Return what hand-set and stage have said about a trial."""
    return channel_of(await ctx.store.step_events(session, f"{KEY}:{key}"))


def channel_of(batches: Iterable[Events]) -> Channel:
    """Return what batches of events hold of a trial."""
    channel = Channel()
    for batch in sorted(batches, key=lambda one: (one.at, one.first)):
        number = _stage_number(batch.tab)
        if batch.tab == HAND_SET:
            order = event_data(batch.events[0])
            channel.orders[batch.first] = order
            channel.began = _earlier(channel.began, batch.at - timedelta(milliseconds=cast("float", order["ms"])))
        elif number is not None:
            channel.heard_at[number] = max(batch.at, channel.heard_at.get(number, batch.at))
            if batch.tab.startswith("heard:"):
                channel.beats += 1
            else:
                _add_log(channel, number, batch)
    return channel


def _add_log(channel: Channel, number: int, batch: Events) -> None:
    log = channel.logs.setdefault(batch.tab, _StageLog(number))
    if batch.first > len(log.events):
        return  # after a gap, nobody knows how much was watched
    new = cast("list[Event]", batch.events[len(log.events) - batch.first :])
    log.events += [(ms, kind, slot, data) for ms, kind, slot, data in new]
    if log.events:
        log.began = _earlier(log.began, batch.at - timedelta(milliseconds=log.events[-1][0]))


def _earlier(known: datetime | None, at: datetime) -> datetime:
    """Return the earlier of two: what took longest on the way says least about a clock."""
    return at if known is None else min(known, at)


def _stage_number(tab: str) -> int | None:
    """Return the number of the stage that a tab belongs to."""
    number = tab.removeprefix("heard:").partition(".")[0]
    return int(number) if number.isdecimal() and number.isascii() else None


def event_data(event: Any) -> Mapping[str, Json]:
    data = event[3]
    return data if isinstance(data, Mapping) else {}


# The evidence


async def with_stage_evidence(
    ctx: Context, facts: SessionFacts, step: PlannedStep | None, submission: SubmittedAnswer
) -> SubmittedAnswer:
    """Return an answer with the log by which it is judged: how something was shown is what the stage says, only that.

    An answer to anything but a trial on a separate stage is returned as it is.
    """
    if step is None or not is_staged(ctx.served.study, step):
        return submission
    channel = await read_channel(ctx, facts.session.session, step.key)
    events = [event for event in submission.events if event[1] not in OF_STAGE]
    # Robots and previews run on another clock: both parts of theirs are on the same one.
    events += channel.events(is_timed=is_person(facts.session.mode))
    return replace(submission, events=sorted(events, key=lambda event: event[0]), unfinished=channel.unfinished)


def with_interruptions(playback: Mapping[str, Json], submission: SubmittedAnswer) -> Mapping[str, Json]:
    """Return playback evidence with how often what was played on a separate stage did not come to its end."""
    page = playback.get(PAGE)
    if submission.unfinished is None or not isinstance(page, Mapping):
        return playback
    return {**playback, PAGE: {**page, "interrupted": submission.unfinished}}
