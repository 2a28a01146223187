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
    wanted = participants if participants is not None else loaded.design.participants
    if wanted < 1:
        raise UserError(Problem("participants", f"is {wanted}", "1 or more"))
    plan(study, progress=making)
    if simulate:
        send(study, participants=wanted, raters=raters, seed=seed, store=store, progress=progress)
    else:
        block_on(_serve_until(loaded, wanted, store, host, port, public_url, tell))
    clean(study, store=store, robots=simulate)
    analyse(study)
    report(study)
    return read_results(loaded.folder)


async def _serve_until(
    study: Study,
    wanted: int,
    store: str | None,
    host: str,
    port: int,
    public_url: str | None,
    tell: Callable[[Live], None] | None,
) -> None:
    """Serve until this many people have completed the study."""
    import asyncio

    from beholder.serve.server import running
    from beholder.serve.watching import watch

    if wanted > study.design.participants:
        raise UserError(
            Problem(
                "participants",
                f"is {wanted}, and the plan is for {study.design.participants}",
                f"1 to {study.design.participants}",
                "Raise design.participants in study.yaml.",
            )
        )
    enough = asyncio.Event()

    def tell_and_count(live: Live) -> None:
        if tell:
            tell(live)
        if live.counts["completed"] >= wanted:
            enough.set()

    async with running(study, store=store, host=host, port=port, public_url=public_url) as server:
        await watch(server, enough, tell_and_count)
