"""A crowd of robots sent through a running server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import httpx

from beholder.serve.host import Host
from beholder.serve.tokens import robot_signature
from beholder.simulate.oracle import Oracle
from beholder.simulate.raters import assign_kinds, read_mixture
from beholder.simulate.robot import Robot
from beholder.simulate.truth import Truth, plant_truth

_AT_ONCE = 32

Progress = Callable[[int, int], None]


@dataclass
class Crowd:
    """What came of a simulation: the robots, their kinds, and the truth they were given."""

    truth: Truth
    robots: list[Robot] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)


async def send_robots(
    host: Host,
    address: str,
    count: int,
    *,
    raters: str = "honest",
    seed: int = 1,
    patience_s: float = 60.0,
    progress: Progress | None = None,
) -> Crowd:
    """Return a crowd that has taken the study. Robots arrive in order, so that each gets the same list every time."""
    served = host.served
    questions = tuple(question.id for question in served.method.questions(served.study))
    truth = plant_truth(served.catalogue, questions, seed)
    oracle = Oracle(served.study, served.method, served.lists, truth, seed)
    kinds = assign_kinds(read_mixture(raters), count, seed)
    limits = httpx.Limits(max_connections=_AT_ONCE)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=60) as client:
        robots = []
        for number, kind in enumerate(kinds, 1):
            name = f"{seed}-{number}"
            params = {"robot": name, "signature": robot_signature(host.store.secret, name)}
            robots.append(
                Robot(name, served.study.name, params, client, oracle.mind(kind, name), patience_s=patience_s)
            )
        for robot in robots:
            await robot.arrive()
            await robot.consent()
        oracle.claims |= await read_claims(host)
        await _take_all(robots, progress)
    return Crowd(truth, robots, kinds)


async def read_claims(host: Host) -> dict[str, int]:
    """Return which session has which list."""
    return {row["session"]: row["list"] async for row in host.store.rows("claims")}


async def _take_all(robots: Sequence[Robot], progress: Progress | None) -> None:
    done = 0
    gate = asyncio.Semaphore(_AT_ONCE)

    async def take(robot: Robot) -> None:
        nonlocal done
        async with gate:
            await robot.take()
        done += 1
        if progress:
            progress(done, len(robots))

    await asyncio.gather(*(take(robot) for robot in robots))
