"""Collecting: until every list is finished and used, more people are asked for, as far as the budget goes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from beholder.aio import block_on
from beholder.errors import Problem, RecruitError, UserError
from beholder.extension.folder import extend_open
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
"""Times as many people as were planned; who needs more should look at the study first."""
_PAUSED = "; paused on the platform: `beholder launch --resume` goes on"
_TAKE_NO_PLACE = GONE | {"rejected", "screened_out"}


class Collector:
    """Watches a posting and the store of its study, and asks for more people while there is work left for them."""

    def __init__(
        self,
        context: RecruitContext,
        job: Job,
        posting: str,
        planned: int,
        tell: ReportProgress,
        wait: Wait,
        abandoned: AbandonedLists,
        *,
        may_spend: bool,
    ) -> None:
        self._context, self._job, self._posting, self._planned = context, job, posting, planned
        self._tell, self._wait, self._abandoned, self._may_spend = tell, wait, abandoned, may_spend
        self._said = ""
        self._tried: set[str] = set()

    async def collect(self) -> str:
        """Wait until enough ratings are usable; return what is short where nothing more can be done for it."""
        while (short := await retry_while_away(self._round, "collect", self._tell, self._wait)) is None:
            await self._wait()
        return short

    async def _round(self) -> str | None:
        """Look at everything once, and do what is due; return why it is over, where it is."""
        context = self._context
        posting = await context.recruiter.posting(self._posting)
        submissions = await context.recruiter.submissions(self._posting)
        await self._abandoned.release(submissions)
        if approved := await approve_due(context, submissions, self._tried, self._wait):
            self._tell(RunProgress("pay", f"{_count(approved, 'submission', 'submissions')} approved in time"))
        return await self._look(posting, submissions)

    async def _look(self, posting: Posting, submissions: Sequence[Submission]) -> str | None:
        """Return why it is over, empty where all is reached; None while there is something to wait for."""
        counts = await self._context.store.counts(self._context.now(), self._context.study.run)
        live = sum(one.status in UNDER_WAY for one in submissions)
        free = max(0, posting.places - sum(one.status not in _TAKE_NO_PLACE for one in submissions))
        left = counts["lists"] - counts["finished"]
        if is_closed(self._context.study.recruit, self._context.now()):
            await stop_recruiting(self._context)
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
            due = (await change_posting(self._context, "resume", dry_run=True)).due
            await change_posting(self._context, "resume", publish=str(due) if due is not None else None)
        except UserError as error:
            if isinstance(error.__cause__, PlatformAway | PlatformUnsure):
                raise
            return f"{why}. {error}"
        self._tell(RunProgress("extend", f"{why}: more is set aside"))
        return None

    async def _extension(self, posting: Posting, *, is_paused: bool) -> str | None:
        """Add lists for what cleaning left short, and places for them; return why it is over, where it is."""
        context = self._context
        wanted = await extend_open(context.study, context.store, context.url, dry_run=True)
        if wanted.added == 0:
            return ""
        if is_paused:
            return None  # whoever has paused it asks for more people by resuming it
        why = f"{_count(wanted.missing, 'vote was', 'votes were')} left out"
        if (short := await self._cannot(posting, wanted.added, why)) is not None:
            return short
        await extend_open(context.study, context.store, context.url)
        return await self._ask(posting, wanted.added, why)

    async def _ask(self, posting: Posting, lists: int, why: str) -> str | None:
        """Ask for people who finish so many lists; return why not, where they cannot be launched for."""
        total, more = posting.places + self._people(lists), _more(self._people(lists))
        try:
            quoted = await launch_study(self._context, places=total, dry_run=True)
            await launch_study(self._context, places=total, publish=str(quoted.due))
        except UserError as error:
            if isinstance(error.__cause__, PlatformAway | PlatformUnsure):
                raise  # it is asked again
            return f"{why}, and {more} cannot be asked. {error}"
        self._tell(RunProgress("extend", f"{why}: {more}, {total} in all"))
        return None

    async def _cannot(self, posting: Posting, lists: int, why: str) -> str | None:
        """Return why people for so many lists cannot be asked at all; None where they may be."""
        people = self._people(lists)
        total = posting.places + people
        if not self._may_spend:
            return f"{why}: {_more(people)} would be needed, see `beholder launch --places`"
        if total > _MOST * self._planned:
            return f"{why}, and {_MOST} times as many people as planned have been asked: look at the study first"
        quote = await self._context.recruiter.quote(replace(self._job, places=total))
        study, entries = self._context.study, await self._context.store.ledger.entries()
        others = cost_of_runs(study, entries, quote.total.currency, besides=study.run)
        dear = list(cost_problems(study, quote, other_runs=others.minor))
        return f"{why}, and {_more(people)} cannot be asked. {dear[0]}" if dear else None

    def _people(self, lists: int) -> int:
        return -(-lists // self._context.study.design.sessions_per_participant)

    def _say(self, words: str) -> None:
        if words != self._said:
            self._tell(RunProgress("collect", words))
            self._said = words


def _is_used_up(posting: Posting, submissions: Sequence[Submission]) -> bool:
    return posting.slots is not None and sum(one.status == "screened_out" for one in submissions) >= posting.slots


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _more(people: int) -> str:
    return _count(people, "more person", "more people")


# --- Accepted work that has waited long enough: `recruit.approve_after` lets a run sign it ---


async def approve_due(context: RecruitContext, submissions: Sequence[Submission], tried: set[str], wait: Wait) -> int:
    """Approve what was handed in longer ago than the study lets people wait; return how many that were.

    Only what is accepted: whatever else is to be done about anybody still waits, and is not tried again.
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


# --- The budget of a run: a hard cap over everything that a study costs ---


def with_budget(study: Study, budget: float | str | None) -> Study:
    """Return the study under the smaller of its own budget and the one that a run was given."""
    if budget is None:
        return study
    cap = budget_amount(budget, study)
    if study.budget is not None:
        cap = min(cap, budget_amount(study.budget, study))
    return study.model_copy(update={"budget": str(cap)})


def budget_amount(budget: float | str, study: Study) -> Sum:
    """Return a budget as a sum; a bare number is in the currency of the reward, and no other can be compared."""
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
    """Return what is left of a budget after all that the studies before this one have cost, or raise RecruitError."""
    spent = cap._replace(minor=sum(_spent_on(one, cap.currency).minor for one in before))
    if spent.minor >= cap.minor:
        what = f"is {cap}, and nothing is left for {study.name}: the studies before it may cost {spent}"
        raise RecruitError(Problem("budget", what, f"more than {spent}"))
    return cap._replace(minor=cap.minor - spent.minor)


def _spent_on(study: Study, currency: str) -> Sum:
    """Return what all runs of a study have cost at most."""
    entries = block_on(_entries(study)) if (study.folder / "store").is_dir() else ()
    return cost_of_runs(study, entries, currency)


async def _entries(study: Study) -> tuple[LedgerEntry, ...]:
    async with open_store(study.folder / "store", write=False) as store:
        return await store.ledger.entries()


# --- What an unattended run tells while it works, and how it waits ---


DECIDE_AND_PAY = "Decide and pay: `beholder decide`, then `beholder pay`, then `beholder close`."
"""What waits for a person at the end of a run that may not spend anything by itself."""


@dataclass(frozen=True)
class RunProgress:
    """One line of news: at which stage the run is, and what is new there."""

    stage: str
    """launch, collect, extend, decide, pay, close; where people are played, also people"""
    words: str


ReportProgress = Callable[[RunProgress], None]


class Wait(Protocol):
    """Waits until it is time to look at the platform again; or for so many seconds, where that is sooner."""

    def __call__(self, seconds: float = ...) -> Awaitable[None]: ...


def no_report(_: RunProgress) -> None:
    """Tell nobody."""


# --- Patience: a platform that is away, or did not say what it did, is asked again later. Every step looks first ---


T = TypeVar("T")
_PASSES = (PlatformAway, PlatformUnsure)


async def retry_while_away(work: Callable[[], Awaitable[T]], stage: str, tell: ReportProgress, wait: Wait) -> T:
    """Return what a step gives; while the platform is away, say so once and wait for it."""
    said = ""
    while True:
        try:
            return await work()
        except _PASSES as error:
            words = f"The platform gives no clear answer: {error}"
        except UserError as error:
            if not isinstance(error.__cause__, _PASSES):
                raise
            words = str(error)
        if words != said:
            tell(RunProgress(stage, words))
            said = words
        await wait()
