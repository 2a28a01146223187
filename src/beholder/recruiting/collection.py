"""Collection: wait until every list is finished and usable, and ask for more participants within the budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, TypeVar

from beholder.aio import block_on
from beholder.errors import Problem, RecruitError, UserError
from beholder.extension.folder import extend_open
from beholder.formats import plain_count
from beholder.recruiting.abandoned_lists import AbandonedLists
from beholder.recruiting.closure import stop_recruiting
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.contract import GONE, UNDER_WAY, Job, PlatformAway, PlatformUnsure, Posting, Submission
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.launches import launch_study
from beholder.recruiting.payments import pay_study
from beholder.recruiting.postings import change_posting
from beholder.recruiting.preflight import cost_of_runs, cost_problems
from beholder.recruiting.signatures import RUN_SIGNATURE, signed_rows
from beholder.store.contract import LedgerEntry
from beholder.store.open import open_store
from beholder.study.model import Study
from beholder.study.parts import duration
from beholder.study.recruitment import Sum, is_closed, is_money, money

_MOST = 3
"""Times as many participants as planned, at most; beyond that a person should look at the study."""

_PAUSED = "; paused on the platform: `beholder launch --resume` goes on"

_TAKE_NO_PLACE = GONE | {"rejected", "screened_out"}


# Progress and waiting


DECIDE_AND_PAY = "Decide and pay: `beholder decide`, then `beholder pay`, then `beholder close`."
"""What is left to a person at the end of a run that may not spend money."""


@dataclass(frozen=True)
class RunProgress:
    """One message: the stage of the run, and what is new."""

    stage: str
    """rehearsal, folder, launch, collect, extend, look, decide, pay, close; in a demonstration also people"""
    words: str


ReportProgress = Callable[[RunProgress], None]


class Wait(Protocol):
    """Waits until the platform should be read again; or for some seconds, if that is sooner."""

    def __call__(self, seconds: float = ...) -> Awaitable[None]: ...


def no_report(_: RunProgress) -> None:
    """Report nothing."""


# Looks at the results before everybody has come (`design.looks`)


class LookOutcome(NamedTuple):
    """What came out of a look: whether the study stops, and a sentence on it."""

    stops: bool
    words: str


TakeLook = Callable[[], LookOutcome]
"""Cleans and analyses what is there, in a thread of its own; nobody is kept waiting by it."""


def lists_at_looks(study: Study) -> tuple[int, ...]:
    """Return how many lists are finished at each look of a study; none where it has no looks."""
    return tuple(people * study.design.sessions_per_participant for people in study.design.looks)


def stop_budget_words(study: Study, cost: Sum, people: int) -> str | None:
    """Return why a study stops where so many people would cost this; None where `design.stop.budget` allows it."""
    cap = study.design.stop.budget
    if cap is None or cost.minor <= money(cap).minor:
        return None
    return f"It stops, as {plain_count(people, 'person', 'people')} may cost {cost}, above design.stop.budget {cap}."


def stop_reward_words(study: Study, people: int) -> str | None:
    """Return the same where each of them is paid the reward and nobody takes a fee; None where nobody is paid."""
    if study.recruit.reward is None:
        return None
    reward = money(study.recruit.reward)
    return stop_budget_words(study, reward._replace(minor=people * reward.minor), people)


T = TypeVar("T")

_TEMPORARY = (PlatformAway, PlatformUnsure)


async def retry_while_away(work: Callable[[], Awaitable[T]], stage: str, report: ReportProgress, wait: Wait) -> T:
    """Return the result of a step; while the platform does not answer, report it once and try again."""
    reported = ""
    while True:
        try:
            return await work()
        except _TEMPORARY as error:
            words = f"The platform gives no clear answer: {error}"
        except UserError as error:
            if not isinstance(error.__cause__, _TEMPORARY):
                raise
            words = str(error)
        if words != reported:
            report(RunProgress(stage, words))
            reported = words
        await wait()


class Collector:
    """Watches a posting and the store of its study, and asks for more participants while lists are open."""

    def __init__(
        self,
        context: RecruitContext,
        job: Job,
        posting: str,
        planned: int,
        report: ReportProgress,
        wait: Wait,
        abandoned: AbandonedLists,
        *,
        may_spend: bool,
        take_look: TakeLook | None = None,
    ) -> None:
        self._context, self._job, self._posting, self._planned = context, job, posting, planned
        self._report, self._wait, self._abandoned, self._may_spend = report, wait, abandoned, may_spend
        self._take_look, self._lists_at_looks = take_look, lists_at_looks(context.study) if take_look else ()
        self._look: int | None = None
        """Which look comes next, from 0; None before the first round, and where there are none."""
        self._last_message = ""
        self._tried: set[str] = set()

    async def collect(self) -> str:
        """Wait until enough ratings are usable; return what is short where nothing more can be done."""
        while (shortage := await retry_while_away(self._round, "collect", self._report, self._wait)) is None:
            await self._wait()
        return shortage

    async def _round(self) -> str | None:
        """Read everything once, and do what is due; return why collecting ends, where it does."""
        context = self._context
        posting = await context.recruiter.posting(self._posting)
        submissions = await context.recruiter.submissions(self._posting)
        await self._abandoned.release(submissions)
        if approved := await _approve_due(context, submissions, self._tried, self._wait):
            self._report(RunProgress("pay", f"{plain_count(approved, 'submission')} approved in time"))
        return await self._assess(posting, submissions)

    async def _assess(self, posting: Posting, submissions: Sequence[Submission]) -> str | None:
        """Return why collecting ends, empty where all is reached; None while there is something to wait for."""
        counts = await self._context.store.counts(self._context.now(), self._context.study.run)
        live = sum(one.status in UNDER_WAY for one in submissions)
        free = max(0, posting.places - sum(one.status not in _TAKE_NO_PLACE for one in submissions))
        due = self._due_lists(posting, counts)
        left = max(0, due - counts["finished"])
        if is_closed(self._context.study.recruit, self._context.now()):
            await stop_recruiting(self._context)
            if not live:
                open_ = plain_count(left, "list is", "lists are")
                return f"recruit.closes is past, and {open_} open" if left else ""
        if posting.state == "draft":
            self._report_new("Nobody can see the study yet. It goes on when it is published.")
            return None
        is_used_up = posting.state == "paused" and _is_used_up(posting, submissions)
        is_paused = posting.state == "paused" and not is_used_up
        self._report_new(
            f"{counts['finished']} of {due} lists finished, {live} at work, "
            f"{free} of {posting.places} places free{_PAUSED * is_paused}"
        )
        if live:
            return None
        if left == 0:
            ended = await self._extension(posting, is_paused=is_paused)
            return await self._at_look(posting) if ended == "" else ended
        if posting.state == "completed" and free:
            return f"recruiting was stopped, and {plain_count(left, 'list is', 'lists are')} open"
        if is_used_up:
            return await self._resume()
        idle = left - counts["live"]  # a participant who left keeps the list for a while
        if free == 0 and idle > 0 and not is_paused:
            why = f"{plain_count(idle, 'list is', 'lists are')} open and no place is left"
            return await self._obstacle(posting, idle, why) or await self._add_places(posting, idle, why)
        return None

    def _due_lists(self, posting: Posting, counts: Mapping[str, int]) -> int:
        """Return how many lists have to be finished before anything else is decided: up to the next look, or all."""
        at_looks = self._lists_at_looks
        if not at_looks:
            return self._context.study.design.lists_in_all(counts["lists"])
        there = self._context.study.design.lists_in_all(counts["lists"])
        added = max(0, there - at_looks[-1])  # for votes that were left out
        if self._look is None:  # after an interruption the places say how far it was
            reached = [number for number, lists in enumerate(at_looks) if self._people(lists + added) <= posting.places]
            self._look = reached[-1] if reached else 0
        return at_looks[self._look] + added

    async def _at_look(self, posting: Posting) -> str | None:
        """Look at the results where a look is due, and ask for the people up to the next; return why it ends."""
        if self._take_look is None or self._look is None:
            return ""
        outcome = await asyncio.to_thread(self._take_look)
        self._report(RunProgress("look", outcome.words))
        if outcome.stops or self._look == len(self._lists_at_looks) - 1:
            return ""
        lists = self._lists_at_looks[self._look + 1] - self._lists_at_looks[self._look]
        total = posting.places + self._people(lists)
        quote = await self._context.recruiter.quote(replace(self._job, places=total))
        if words := stop_budget_words(self._context.study, quote.total, total):
            self._report(RunProgress("look", words))
            return ""
        why = f"the next look is at {self._people(self._lists_at_looks[self._look + 1])} people"
        if (shortage := await self._obstacle(posting, lists, why)) is not None:
            return shortage
        if (shortage := await self._add_places(posting, lists, why)) is None:
            self._look += 1
        return shortage

    async def _resume(self) -> str | None:
        """Resume a posting that the platform paused, as all slots for screen-outs are used up."""
        why = "everything that was set aside for people who do not fit is used up"
        if not self._may_spend:
            self._report_new(f"It is paused: {why}. `beholder launch --resume` lets people in again.")
            return None
        try:
            due = (await change_posting(self._context, "resume", dry_run=True)).due
            await change_posting(self._context, "resume", publish=str(due) if due is not None else None)
        except UserError as error:
            if isinstance(error.__cause__, PlatformAway | PlatformUnsure):
                raise
            return f"{why}. {error}"
        self._report(RunProgress("extend", f"{why}: more is set aside"))
        return None

    async def _extension(self, posting: Posting, *, is_paused: bool) -> str | None:
        """Add lists for what cleaning excluded, and places for them; return why collecting ends, where it does."""
        context = self._context
        if context.study.design.active is not None:
            return ""  # no pair was promised so many votes, and more people are a larger number of participants
        extension = await extend_open(context.study, context.store, context.url, dry_run=True)
        if extension.added == 0:
            return ""
        if is_paused:
            return None  # the researcher who paused it resumes it to get more participants
        why = f"{plain_count(extension.missing, 'vote was', 'votes were')} left out"
        if (shortage := await self._obstacle(posting, extension.added, why)) is not None:
            return shortage
        await extend_open(context.study, context.store, context.url)
        return await self._add_places(posting, extension.added, why)

    async def _add_places(self, posting: Posting, lists: int, why: str) -> str | None:
        """Add places for some lists; return why not, where that fails."""
        total, more = posting.places + self._people(lists), _more(self._people(lists))
        try:
            quoted = await launch_study(self._context, places=total, dry_run=True)
            await launch_study(self._context, places=total, publish=str(quoted.due))
        except UserError as error:
            if isinstance(error.__cause__, PlatformAway | PlatformUnsure):
                raise  # it is tried again
            return f"{why}, and {more} cannot be asked. {error}"
        self._report(RunProgress("extend", f"{why}: {more}, {total} in all"))
        return None

    async def _obstacle(self, posting: Posting, lists: int, why: str) -> str | None:
        """Return why no participants can be added for some lists; None where they can."""
        people = self._people(lists)
        total = posting.places + people
        if not self._may_spend:
            return f"{why}: {_more(people)} would be needed, see `beholder launch --places`"
        if total > _MOST * self._planned:
            return f"{why}, and {_MOST} times as many people as planned have been asked: look at the study first"
        quote = await self._context.recruiter.quote(replace(self._job, places=total))
        study, entries = self._context.study, await self._context.store.ledger.entries()
        others = cost_of_runs(study, entries, quote.total.currency, besides=study.run)
        problems = list(cost_problems(study, quote, other_runs=others.minor))
        return f"{why}, and {_more(people)} cannot be asked. {problems[0]}" if problems else None

    def _people(self, lists: int) -> int:
        return -(-lists // self._context.study.design.sessions_per_participant)

    def _report_new(self, words: str) -> None:
        if words != self._last_message:
            self._report(RunProgress("collect", words))
            self._last_message = words


def _is_used_up(posting: Posting, submissions: Sequence[Submission]) -> bool:
    return posting.slots is not None and sum(one.status == "screened_out" for one in submissions) >= posting.slots


def _more(people: int) -> str:
    return plain_count(people, "more person", "more people")


# Approval after `recruit.approve_after`


async def _approve_due(context: RecruitContext, submissions: Sequence[Submission], tried: set[str], wait: Wait) -> int:
    """Approve what was handed in longer ago than `recruit.approve_after`; return the number of approvals.

    Only accepted work: everything else waits, and is not tried again.
    """
    after = context.study.recruit.approve_after
    if after is None:
        return 0
    before = context.now() - duration(after)
    due = {
        one.id
        for one in submissions
        if one.status == "awaiting_review" and one.completed_at is not None and one.completed_at <= before
    }
    due -= signed_rows(await context.store.ledger.entries()).keys() | tried
    if not due:
        return 0
    tried |= due
    due -= {row.submission for row in (await decide_study(context, dry_run=True)).rows if row.pay == "return"}
    await decide_study(context, sign=RUN_SIGNATURE, only=due)
    paid = await pay_study(context, send=True, sleep=wait)
    return sum(line.kind == "approve" and line.submission in due for line in paid.of("sent", "paid"))


# The budget of a run


def with_budget(study: Study, budget: float | str | None) -> Study:
    """Return the study with the smaller of its own budget and that of the run."""
    if budget is None:
        return study
    cap = budget_amount(budget, study)
    if study.budget is not None:
        cap = min(cap, budget_amount(study.budget, study))
    return study.model_copy(update={"budget": str(cap)})


def budget_amount(budget: float | str, study: Study) -> Sum:
    """Return a budget as a sum; a bare number is in the currency of the reward, the only one allowed."""
    currency = money(study.recruit.reward).currency if study.recruit.reward else ""
    text = budget if isinstance(budget, str) else f"{budget:.2f} {currency}"
    if not is_money(text):
        raise RecruitError(Problem("budget", f"is {budget}", "an amount above 0 and a currency, such as 120 GBP"))
    cap = money(text)
    if currency and cap.currency != currency:
        what = f"is {cap}, and {study.name} pays {study.recruit.reward}"
        raise RecruitError(Problem("budget", what, f"an amount in {currency}"))
    return cap


def remaining_budget(study: Study, before: Sequence[Study], cap: Sum) -> Sum:
    """Return what is left of a budget after the studies before this one, or raise RecruitError."""
    spent = cap._replace(minor=sum(_spent_on(one, cap.currency).minor for one in before))
    if spent.minor >= cap.minor:
        what = f"is {cap}, and nothing is left for {study.name}: the studies before it may cost {spent}"
        raise RecruitError(Problem("budget", what, f"more than {spent}"))
    return cap._replace(minor=cap.minor - spent.minor)


def _spent_on(study: Study, currency: str) -> Sum:
    """Return what all runs of a study cost at most."""
    entries = block_on(_entries(study)) if (study.folder / "store").is_dir() else ()
    return cost_of_runs(study, entries, currency)


async def _entries(study: Study) -> tuple[LedgerEntry, ...]:
    async with open_store(study.folder / "store", write=False) as store:
        return await store.ledger.entries()
