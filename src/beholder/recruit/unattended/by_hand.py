"""A study whose people a person brings and pays, served until enough of them have finished."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from beholder.recruit.desk import Desk
from beholder.recruit.launching.launch import launch_desk
from beholder.recruit.modes import recruiter_of
from beholder.recruit.unattended.told import DECIDE_AND_PAY, Progress, Tell
from beholder.serve import Live
from beholder.serve.server import Running, running
from beholder.serve.watching import watch
from beholder.study.model import Study


async def run_by_hand(
    study: Study,
    wanted: int | None,
    *,
    news: Tell,
    tell: Callable[[Live], None] | None = None,
    store: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str | None = None,
) -> tuple[str, ...]:
    """Serve until people have finished this many lists, one that is finished twice being one; return what waits then.

    All lists when none are named, those that are added meanwhile among them. Where people need more than the open
    address, it is launched first: a panel, and links that are for one person each.
    """
    recruit, enough, link = study.recruit, asyncio.Event(), ""

    def tell_and_count(live: Live) -> None:
        if tell:
            tell(replace(live, link=link or live.link))
        if live.counts["finished"] >= (live.counts["lists"] if wanted is None else wanted):
            enough.set()

    async with running(study, store=store, host=host, port=port, public_url=public_url) as server:
        if recruit.mode == "panel" or recruit.people is not None or recruit.single_use:
            link = await _launch(study, server, store, news)
        await watch(server, enough, tell_and_count)
    return (DECIDE_AND_PAY,) if recruit.reward is not None else ()


async def _launch(study: Study, server: Running, store: str | None, news: Tell) -> str:
    """Check and launch a study, tell what a person does now, and return where people begin."""
    recruiter = await recruiter_of(study, server.store)
    try:
        desk = Desk(study, server.store, store or str(study.folder / "store"), recruiter)
        found = await launch_desk(desk, public_url=server.host.served.public_url)
    finally:
        await recruiter.close()
    for words in (*(f"Warning: {warning}" for warning in found.warnings), *found.words):
        news(Progress("launch", words))
    return found.job.url
