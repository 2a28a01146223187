"""Unattended runs: take a study through its platform within its budget, and never decide against a participant.

Also serving a study whose participants a person recruits and pays, until enough of them have finished.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial

from beholder.backups.backup_settings import backup_settings
from beholder.cleaning import clean
from beholder.clock import utc_now
from beholder.errors import Problem, RecruitError
from beholder.recruiting.abandoned_lists import AbandonedLists, platform_of
from beholder.recruiting.closure import CLOSE_PLACE, close_study, stop_recruiting
from beholder.recruiting.collection import (
    DECIDE_AND_PAY,
    Collector,
    ReportProgress,
    RunProgress,
    TakeLook,
    Wait,
    lists_at_looks,
    no_report,
    retry_while_away,
    stop_reward_words,
    with_budget,
)
from beholder.recruiting.context import RecruitContext, recruiter_of
from beholder.recruiting.contract import Recruiter
from beholder.recruiting.debts import Payment
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.launch_record import Launch, cost_lines, launch_record
from beholder.recruiting.launches import launch_study
from beholder.recruiting.payments import pay_study
from beholder.recruiting.signatures import RUN_SIGNATURE
from beholder.recruiting.verified_visits import VerifiedVisits
from beholder.server import ServerStatus
from beholder.server.presence import close_server
from beholder.server.process import RunningServer, report_until_stopped, run_server
from beholder.server.visits import Platform
from beholder.store.contract import Store
from beholder.study.model import Study

# On a platform: every step reads first, so that a crash costs nothing


_SETTLING_TIME = timedelta(minutes=30)
_TURN_S = 1.0
"""How long a run waits for a payment to arrive, before it leaves it to a person."""


async def run_on_platform(
    study: Study,
    *,
    publish: bool,
    every: float,
    budget: float | str | None = None,
    news: ReportProgress | None = None,
    store: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str | None = None,
    take_look: TakeLook | None = None,
    open_recruiter: Callable[[Study, Store], Awaitable[Recruiter]] = recruiter_of,
    is_play: bool = False,
) -> tuple[str, ...]:
    """Serve a study and take it through its platform; return what is left to a person.

    With `publish` it spends up to the budget. Without, everything that costs money is left to a person. Where the
    study has looks, people are asked up to the next one, and `take_look` says whether it stops there.
    `open_recruiter` opens the platform, if it is not the one named by the study and the environment; with `is_play`
    nobody real answers, and no backups are made.
    """
    capped = with_budget(study, budget)
    if publish and capped.budget is None:
        fix = "Give a budget, or write it in study.yaml: nothing is spent beyond it."
        raise RecruitError(Problem("budget", "is left out, and publishing spends money", "such as 120 GBP", fix))
    report = news or no_report

    platform = _Platform(capped, open_recruiter)
    async with run_server(
        study, store=store, host=host, port=port, public_url=public_url, open_platform=platform.open,
        backup=None if is_play else backup_settings(study),
    ) as server:  # fmt: skip

        async def wait(seconds: float = every) -> None:
            await asyncio.sleep(min(seconds, every))
            await until_leading(server, report)  # it ends where the database was away

        context = RecruitContext(capped, server.store, store or str(study.folder / "store"), platform.recruiter)
        run = _Run(context, server, report, wait, platform.abandoned, may_spend=publish)
        stop = asyncio.Event()
        serving = asyncio.create_task(report_until_stopped(server, stop, None))
        try:
            await until_leading(server, report)
            return await run.run(take_look)
        finally:
            stop.set()
            await serving


class _Platform:
    """The recruiter of a run, open for as long as its server, and what releases the lists of those who left."""

    recruiter: Recruiter
    abandoned: AbandonedLists

    def __init__(self, study: Study, open_recruiter: Callable[[Study, Store], Awaitable[Recruiter]]) -> None:
        self._study, self._open_recruiter = study, open_recruiter

    @asynccontextmanager
    async def open(self, study: Study, store: Store) -> AsyncIterator[Platform]:
        """Yield what asks the platform who left and which visits are real."""
        self.recruiter = await self._open_recruiter(self._study, store)
        try:
            self.abandoned = AbandonedLists(store, self.recruiter, study.run)
            yield platform_of(self.abandoned, VerifiedVisits(store, self.recruiter, study.run))
        finally:
            await self.recruiter.close()


class _Run:
    def __init__(
        self,
        context: RecruitContext,
        server: RunningServer,
        report: ReportProgress,
        wait: Wait,
        abandoned: AbandonedLists,
        *,
        may_spend: bool,
    ) -> None:
        self._context, self._server, self._report, self._wait = context, server, report, wait
        self._abandoned, self._may_spend = abandoned, may_spend

    async def run(self, take_look: TakeLook | None = None) -> tuple[str, ...]:
        """Return what is left to a person, when everything possible is done."""
        launched, planned = await self._launch()
        planned = max([planned, *self._context.study.design.looks])
        assert launched.posting is not None
        collector = Collector(
            self._context, launched.job, launched.posting.id, planned, self._report, self._wait, self._abandoned,
            may_spend=self._may_spend, take_look=take_look,
        )  # fmt: skip
        shortage = await collector.collect()
        waiting = [shortage] if shortage else []
        if self._may_spend:
            waiting += await retry_while_away(self._finish, "close", self._report, self._wait)
        else:
            waiting.append(DECIDE_AND_PAY)
        await _close(self._server, self._report, waits_for_lists=False)
        return tuple(waiting)

    async def _launch(self) -> tuple[Launch, int]:
        """Return the launch, and the first number of places; published where money may be spent."""
        context, url = self._context, self._server.service.served.public_url
        before = launch_record(await context.store.ledger.entries(), context.study.run)
        result = await retry_while_away(
            lambda: launch_study(context, public_url=url), "launch", self._report, self._wait
        )
        words = cost_lines(result.quote, result.due) if self._may_spend else result.words
        for line in words if before is None else ():
            self._report(RunProgress("launch", line))
        if self._may_spend and result.due is not None:
            due = str(result.due)
            publish = partial(launch_study, context, public_url=url, publish=due)
            result = await retry_while_away(publish, "launch", self._report, self._wait)
            self._report(RunProgress("launch", f"Published for up to {due}."))
        launched = launch_record(await context.store.ledger.entries(), context.study.run)
        return result, launched.places if launched is not None else result.job.places

    async def _finish(self) -> list[str]:
        """Decide, pay and close; return what is left to a person."""
        context, report = self._context, self._report
        await stop_recruiting(context)
        decided = await decide_study(context, sign=RUN_SIGNATURE)
        # Cleaning determines bonuses; it follows the signature, which determines whose answers are used.
        await asyncio.to_thread(clean, context.study, store=context.url)
        for words in decided.words:
            report(RunProgress("decide", words))
        paid = await self._pay()
        waiting = [str(problem) for problem in paid.problems]
        unknown = {line.submission for line in paid.unknown}
        try:
            closed = await close_study(context)
        except RecruitError as error:
            if error.__cause__ is not None:  # the platform does not answer: repeat all of it
                raise
            others = [
                one for one in error.problems if one.where != CLOSE_PLACE and not any(id in one.where for id in unknown)
            ]
            return [*waiting, *(str(problem) for problem in others)]
        for words in closed.words:
            report(RunProgress("close", words))
        return waiting

    async def _pay(self) -> Payment:
        """Pay what is due, and wait until the platform shows it; what does not show is left to a person."""
        context, until = self._context, self._context.now() + _SETTLING_TIME
        while True:
            paid = await pay_study(context, send=True, sleep=self._wait)
            is_under_way = bool(paid.of("sent", "unknown") or (paid.of("owed") and not paid.problems))
            if not is_under_way or context.now() >= until:
                break
            await self._wait()
        for words in paid.notes:
            self._report(RunProgress("pay", words))
        total = paid.total("paid")
        self._report(RunProgress("pay", f"Paid: {total}." if total is not None else "Nothing had to be paid."))
        return paid


async def until_leading(server: RunningServer, report: ReportProgress) -> None:
    """Serve until this is the run that asks the platform, adds places, looks, decides and pays: one at a time does.

    Where that one ends before everything is done, however it ends, this one goes on from what the store holds.
    """
    if await server.store.lead("running"):
        return
    report(RunProgress("launch", "Another run takes this study to its end. This one serves, and goes on if it stops."))
    while not await server.store.lead("running"):
        await asyncio.sleep(_TURN_S)
    report(RunProgress("launch", "The other run has stopped: this one goes on."))


# Without a platform


async def run_by_hand(
    study: Study,
    wanted: int | None,
    *,
    news: ReportProgress,
    tell: Callable[[ServerStatus], None] | None = None,
    store: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str | None = None,
    take_look: TakeLook | None = None,
) -> tuple[str, ...]:
    """Serve until this many lists are finished, each counted once; return what is left to a person.

    All lists if `wanted` is None, including those added meanwhile. Where the study has looks, `take_look` is called at
    each, while people go on, and says whether it stops there. Then nobody can begin any more, who is at work finishes,
    and last pages stay. A panel, or a study with personal links, is launched first.
    """
    recruit, link = study.recruit, ""
    looks = lists_at_looks(study)[:-1] if wanted is None and take_look is not None else ()

    async def serve_until(is_enough: Callable[[Mapping[str, int]], bool]) -> None:
        enough = asyncio.Event()

        def report_and_count(live: ServerStatus) -> None:
            if tell:
                tell(replace(live, link=link or live.link))
            if is_enough(live.counts):
                enough.set()

        await report_until_stopped(server, enough, report_and_count)

    def is_due(lists: int | None, counts: Mapping[str, int]) -> bool:
        return counts["finished"] >= (study.design.lists_in_all(counts["lists"]) if lists is None else lists)

    async with run_server(
        study, store=store, host=host, port=port, public_url=public_url, backup=backup_settings(study)
    ) as server:
        await until_leading(server, news)  # whoever arrives meanwhile is served
        if recruit.source.is_by_invitation or recruit.people is not None or recruit.single_use:
            link = await _launch(study, server, store, news)
        finished = (await server.store.counts(utc_now(), study.run))["finished"]
        for number, lists in enumerate(looks):
            if lists < finished:  # before an interruption: now it would be a look that nobody planned
                continue
            await serve_until(partial(is_due, lists))
            await until_leading(server, news)
            if take_look is not None and await _stops(study, number, take_look, news):
                await _stop_by_hand(study, server, store)
                break
        else:
            await serve_until(partial(is_due, wanted))
        await _close(server, news)
    return (DECIDE_AND_PAY,) if recruit.reward is not None else ()


async def _close(server: RunningServer, report: ReportProgress, *, waits_for_lists: bool = True) -> None:
    """Wait for whoever is inside, and report it."""
    await close_server(server, lambda words: report(RunProgress("close", words)), waits_for_lists=waits_for_lists)


async def _stops(study: Study, number: int, take_look: TakeLook, news: ReportProgress) -> bool:
    """Return whether a study stops at one of its looks, and report why."""
    outcome = await asyncio.to_thread(take_look)
    news(RunProgress("look", outcome.words))
    words = None if outcome.stops else stop_reward_words(study, study.design.looks[number + 1])
    if words is not None:
        news(RunProgress("look", words))
    return outcome.stops or words is not None


async def _stop_by_hand(study: Study, server: RunningServer, store: str | None) -> None:
    """Let nobody begin any more."""
    recruiter = await recruiter_of(study, server.store)
    try:
        await stop_recruiting(RecruitContext(study, server.store, store or str(study.folder / "store"), recruiter))
    finally:
        await recruiter.close()


async def _launch(study: Study, server: RunningServer, store: str | None, news: ReportProgress) -> str:
    """Check and launch a study, report what a person does next, and return where participants begin."""
    recruiter = await recruiter_of(study, server.store)
    try:
        context = RecruitContext(study, server.store, store or str(study.folder / "store"), recruiter)
        launched = await launch_study(context, public_url=server.service.served.public_url)
    finally:
        await recruiter.close()
    for words in (*(f"Warning: {warning}" for warning in launched.warnings), *launched.words):
        news(RunProgress("launch", words))
    return launched.job.url
