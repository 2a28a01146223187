"""A whole study from nothing: stimuli, robots, result, report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.analyse.results import Results
    from beholder.serve import Live
    from beholder.simulate.truth import Truth

ROBOTS = 40


def demo(
    method: str = "parallel",
    folder: str | Path = "beholder-demo",
    *,
    robots: int = ROBOTS,
    stay: bool = False,
    port: int = 8000,
    on_link: Callable[[str], None] | None = None,
    on_result: Callable[[Truth, Results], None] | None = None,
    tell: Callable[[Live], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Return the results of robots in a study made of sample stimuli, written to `folder`; again, it goes on there.

    With `stay` it keeps serving until interrupted, so that you can take the study yourself.
    """
    from beholder.blocking import block_on
    from beholder.new import new

    study = Path(folder) / "study.yaml"
    if not study.exists():
        new(method, folder)

    return block_on(_demonstrate(study, robots, stay, port, on_link, on_result, tell, progress))


async def _demonstrate(
    study: Path,
    robots: int,
    stay: bool,
    port: int,
    on_link: Callable[[str], None] | None,
    on_result: Callable[[Truth, Results], None] | None,
    tell: Callable[[Live], None] | None,
    progress: Callable[[int, int], None] | None,
) -> Results:
    import asyncio

    from beholder.analyse import analyse
    from beholder.analyse.results import read_results
    from beholder.clean import clean
    from beholder.methods import load_study
    from beholder.report import report
    from beholder.serve.server import running
    from beholder.serve.watching import watch
    from beholder.simulate.crowd import send_robots

    def results() -> Results:
        clean(study, robots=True)
        analyse(study)
        report(study)
        return read_results(study.parent)

    async with running(load_study(study), port=port) as server:
        if on_link:
            on_link(server.link)
        crowd = await send_robots(server.host.served, server.store, server.address, robots, progress=progress)
        found = await asyncio.to_thread(results)
        if on_result:
            on_result(crowd.truth, found)
        if stay:
            await watch(server, asyncio.Event(), tell)
        return found
