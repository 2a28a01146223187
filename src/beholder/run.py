"""Run a whole study: check, plan, serve until enough have finished, clean, analyse, report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.errors import Problem, UserError

if TYPE_CHECKING:
    from beholder.analyse.results import Results
    from beholder.serve import Live
    from beholder.study.model import Study


def run(
    study: str | Path = "study.yaml",
    *,
    participants: int | None = None,
    simulate: bool = False,
    raters: str = "honest",
    seed: int = 1,
    store: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str | None = None,
    tell: Callable[[Live], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
    making: Callable[[int, int], None] | None = None,
) -> Results:
    """Return the results of a study after enough people, or robots with `simulate`, have finished it.

    Interrupted and called again, it goes on where it was. `progress` is told of robots, `making` of stimuli.
    """
    from beholder.analyse import analyse
    from beholder.analyse.results import read_results
    from beholder.blocking import block_on
    from beholder.clean import clean
    from beholder.methods import load_study
    from beholder.plan import plan
    from beholder.report import report
    from beholder.simulate import simulate as send

    loaded = load_study(study)
    if participants is not None and participants < 1:
        raise UserError(Problem("participants", f"is {participants}", "1 or more"))
    lists = len(plan(study, progress=making).lists)
    if simulate:
        send(study, participants=participants, raters=raters, seed=seed, store=store, progress=progress)
    else:
        wanted = None if participants is None else _lists_of(loaded, participants, lists)
        block_on(_serve_until(loaded, wanted, store, host, port, public_url, tell))
    clean(study, store=store, robots=simulate)
    analyse(study)
    report(study)
    return read_results(loaded.folder)


def _lists_of(study: Study, participants: int, lists: int) -> int:
    """Return how many lists so many people finish, or raise UserError where there are not as many."""
    design = study.design
    people = -(-lists // design.sessions_per_participant)
    if participants > people:
        raise UserError(
            Problem(
                "participants",
                f"is {participants}, and the plan is for {people}",
                f"1 to {people}",
                f"Raise design.{'participants' if design.votes is None else 'votes'} in study.yaml.",
            )
        )
    return min(lists, participants * design.sessions_per_participant)


async def _serve_until(
    study: Study,
    wanted: int | None,
    store: str | None,
    host: str,
    port: int,
    public_url: str | None,
    tell: Callable[[Live], None] | None,
) -> None:
    """Serve until people have finished this many lists: one that is finished twice is still one.

    All lists when none are named, those that are added meanwhile among them.
    """
    import asyncio

    from beholder.serve.server import running
    from beholder.serve.watching import watch

    enough = asyncio.Event()

    def tell_and_count(live: Live) -> None:
        if tell:
            tell(live)
        if live.counts["finished"] >= (live.counts["lists"] if wanted is None else wanted):
            enough.set()

    async with running(study, store=store, host=host, port=port, public_url=public_url) as server:
        await watch(server, enough, tell_and_count)
