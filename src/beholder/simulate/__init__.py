"""Simulate participants: rater models, robots, and the verb `simulate`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.simulate.crowd import Crowd


def simulate(
    study: str | Path = "study.yaml",
    *,
    participants: int,
    raters: str = "honest",
    seed: int = 1,
    store: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Crowd:
    """Send robots with a known truth through the study's own HTTP; return them with that truth."""
    from beholder.blocking import block_on
    from beholder.errors import Problem, UserError
    from beholder.methods import load_study
    from beholder.serve.server import running
    from beholder.simulate.crowd import send_robots

    if participants < 1:
        raise UserError(Problem("--participants", f"is {participants}", "1 or more"))

    async def send() -> Crowd:
        async with running(load_study(study), store=store, port=0) as server:
            return await send_robots(
                server.host.served,
                server.store,
                server.address,
                participants,
                raters=raters,
                seed=seed,
                progress=progress,
            )

    return block_on(send())
