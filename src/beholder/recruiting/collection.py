"""Collecting: until every list is finished and used, more people are asked for, as far as the budget goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from beholder.errors import UserError
from beholder.extend.folder import extend_open
from beholder.recruit.closing.close import stop_desk
from beholder.recruit.contract import GONE, UNDER_WAY, Job, PlatformAway, PlatformUnsure, Posting, Submission
from beholder.recruit.desk import Desk
from beholder.recruit.launching.checks import too_dear
from beholder.recruit.launching.cost import cost_of_runs
from beholder.recruit.launching.launch import launch_desk
from beholder.recruit.launching.opening import turn_desk
from beholder.recruit.room import Room
from beholder.recruit.unattended.approving import approve_due
from beholder.recruit.unattended.patience import patiently
from beholder.recruit.unattended.told import Progress, Tell, Wait
from beholder.study.recruiting import is_closed

_MOST = 3
"""Times as many people as were planned; who needs more should look at the study first."""
_PAUSED = "; paused on the platform: `beholder launch --resume` goes on"
_TAKE_NO_PLACE = GONE | {"rejected", "screened_out"}


class Collector:
    """Watches a posting and the store of its study, and asks for more people while there is work left for them."""

    def __init__(
        self,
        desk: Desk,
        job: Job,
        posting: str,
        planned: int,
        tell: Tell,
        wait: Wait,
        room: Room,
        *,
        may_spend: bool,
    ) -> None:
        self._desk, self._job, self._posting, self._planned = desk, job, posting, planned
        self._tell, self._wait, self._room, self._may_spend = tell, wait, room, may_spend
        self._said = ""
        self._tried: set[str] = set()

    async def collect(self) -> str:
        """Wait until enough ratings are usable; return what is short where nothing more can be done for it."""
        while (short := await patiently(self._round, "collect", self._tell, self._wait)) is None:
            await self._wait()
        return short

    async def _round(self) -> str | None:
        """Look at everything once, and do what is due; return why it is over, where it is."""
        desk = self._desk
        posting = await desk.recruiter.posting(self._posting)
        submissions = await desk.recruiter.submissions(self._posting)
        await self._room.free(submissions)
        if approved := await approve_due(desk, submissions, self._tried, self._wait):
            self._tell(Progress("pay", f"{_count(approved, 'submission', 'submissions')} approved in time"))
        return await self._look(posting, submissions)

    async def _look(self, posting: Posting, submissions: Sequence[Submission]) -> str | None:
        """Return why it is over, empty where all is reached; None while there is something to wait for."""
        counts = await self._desk.store.counts(self._desk.now(), self._desk.study.run)
        live = sum(one.status in UNDER_WAY for one in submissions)
        free = max(0, posting.places - sum(one.status not in _TAKE_NO_PLACE for one in submissions))
        left = counts["lists"] - counts["finished"]
        if is_closed(self._desk.study.recruit, self._desk.now()):
            await stop_desk(self._desk)
            if not live:
                open_ = _count(left, "list is", "lists are")
                return f"recruit.closes is past, and {open_} open" if left else ""
        if posting.state == "draft":
            self._say("Nobody can see the study yet. It goes on when it is published.")
            return None
        is_used_up = posting.state == "paused" and _is_used_up(posting, submissions)
        is_paused = posting.state == "paused" and not is_used_up
        self._say(
            f"{counts['finished']} of {counts['lists']} lists finished, {live} at work, "
            f"{free} of {posting.places} places free{_PAUSED * is_paused}"
        )
        if live:
            return None
        if left == 0:
            return await self._extension(posting, is_paused=is_paused)
        if posting.state == "completed" and free:
            return f"recruiting was stopped, and {_count(left, 'list is', 'lists are')} open"
        if is_used_up:
            return await self._resume()
        idle = left - counts["live"]  # who has left without a word keeps a list for a while
        if free == 0 and idle > 0 and not is_paused:
            why = f"{_count(idle, 'list is', 'lists are')} open and no place is left"
            return await self._cannot(posting, idle, why) or await self._ask(posting, idle, why)
        return None

    async def _resume(self) -> str | None:
        """Let people in again whom the platform keeps out, as those who did not fit have used up their slots."""
        why = "everything that was set aside for people who do not fit is used up"
        if not self._may_spend:
            self._say(f"It is paused: {why}. `beholder launch --resume` lets people in again.")
            return None
        try:
            due = (await turn_desk(self._desk, "resume", dry_run=True)).due
            await turn_desk(self._desk, "resume", publish=str(due) if due is not None else None)
        except UserError as error:
            if isinstance(error.__cause__, PlatformAway | PlatformUnsure):
                raise
            return f"{why}. {error}"
        self._tell(Progress("extend", f"{why}: more is set aside"))
        return None

    async def _extension(self, posting: Posting, *, is_paused: bool) -> str | None:
        """Add lists for what cleaning left short, and places for them; return why it is over, where it is."""
        desk = self._desk
        wanted = await extend_open(desk.study, desk.store, desk.url, dry_run=True)
        if wanted.added == 0:
            return ""
        if is_paused:
            return None  # whoever has paused it asks for more people by resuming it
        why = f"{_count(wanted.missing, 'vote was', 'votes were')} left out"
        if (short := await self._cannot(posting, wanted.added, why)) is not None:
            return short
        await extend_open(desk.study, desk.store, desk.url)
        return await self._ask(posting, wanted.added, why)

    async def _ask(self, posting: Posting, lists: int, why: str) -> str | None:
        """Ask for people who finish so many lists; return why not, where they cannot be launched for."""
        total, more = posting.places + self._people(lists), _more(self._people(lists))
        try:
            quoted = await launch_desk(self._desk, places=total, dry_run=True)
            await launch_desk(self._desk, places=total, publish=str(quoted.due))
        except UserError as error:
            if isinstance(error.__cause__, PlatformAway | PlatformUnsure):
                raise  # it is asked again
            return f"{why}, and {more} cannot be asked. {error}"
        self._tell(Progress("extend", f"{why}: {more}, {total} in all"))
        return None

    async def _cannot(self, posting: Posting, lists: int, why: str) -> str | None:
        """Return why people for so many lists cannot be asked at all; None where they may be."""
        people = self._people(lists)
        total = posting.places + people
        if not self._may_spend:
            return f"{why}: {_more(people)} would be needed, see `beholder launch --places`"
        if total > _MOST * self._planned:
            return f"{why}, and {_MOST} times as many people as planned have been asked: look at the study first"
        quote = await self._desk.recruiter.quote(replace(self._job, places=total))
        study, entries = self._desk.study, await self._desk.store.ledger.entries()
        others = cost_of_runs(study, entries, quote.total.currency, besides=study.run)
        dear = list(too_dear(study, quote, other_runs=others.minor))
        return f"{why}, and {_more(people)} cannot be asked. {dear[0]}" if dear else None

    def _people(self, lists: int) -> int:
        return -(-lists // self._desk.study.design.sessions_per_participant)

    def _say(self, words: str) -> None:
        if words != self._said:
            self._tell(Progress("collect", words))
            self._said = words


def _is_used_up(posting: Posting, submissions: Sequence[Submission]) -> bool:
    return posting.slots is not None and sum(one.status == "screened_out" for one in submissions) >= posting.slots


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _more(people: int) -> str:
    return _count(people, "more person", "more people")
