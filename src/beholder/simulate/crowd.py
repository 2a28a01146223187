"""A crowd of robots sent through a running server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import httpx

from beholder.checks.contract import Robot as Able
from beholder.serve.served import Served
from beholder.serve.tokens import robot_signature
from beholder.simulate.cheats import CHEATS
from beholder.simulate.oracle import Oracle, OracleMind
from beholder.simulate.people import robot_name
from beholder.simulate.population import Population
from beholder.simulate.raters import ability, assign_kinds, read_mixture
from beholder.simulate.robot import Robot
from beholder.simulate.truth import Truth, truth_of
from beholder.store.contract import Store

_AT_ONCE = 8

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Crowd:
    """What came of a simulation: the robots, their kinds, and the truth they were given."""

    truth: Truth
    robots: list[Robot]
    kinds: list[str]


async def send_robots(
    served: Served,
    store: Store,
    address: str,
    count: int,
    *,
    raters: str = "honest",
    seed: int = 1,
    patience_s: float = 60.0,
    progress: Progress | None = None,
    robots: list[Robot] | None = None,
    able: Able | None = None,
    people: Population | None = None,
    means: Mapping[str, float] | None = None,
) -> Crowd:
    """Return a crowd that has taken the study. Robots arrive in order, so that each gets the same list every time.
    Each run has robots of its own: with one seed, other people with other chance, and the same truth.

    The store is only read, for the secret and the claims: it may be another process that serves and writes. A list
    of `robots` is filled, for whoever wants to watch them. `able` says what all of them are able to do, in place of
    their kinds. `people` says what they are like, `means` which qualities of conditions are known.
    """
    truth = truth_of(served.study, served.catalogue, served.method, seed, people, means)
    oracle = Oracle(served, store.secret, truth, seed, people)
    run = served.study.run
    kinds = assign_kinds(read_mixture(raters), count, seed, run)
    robots = [] if robots is None else robots
    minds: list[OracleMind] = []
    limits = httpx.Limits(max_connections=_AT_ONCE)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=60) as client:
        for number, kind in enumerate(kinds, 1):
            name = robot_name(seed, number, run)
            params = {"robot": name, "signature": robot_signature(store.secret, name)}
            minds.append(oracle.mind(kind, name, able or ability(kind)))
            body = CHEATS.get(kind, Robot)
            robots.append(body(name, served.study.name, params, client, minds[-1], patience_s=patience_s))
        for robot in robots:
            await robot.arrive()
            await robot.consent()
        oracle.claims |= {row["session"]: row["list"] async for row in store.rows("claims")}
        for robot, mind in zip(robots, minds, strict=True):
            robot.stays = mind.answers(robot.session) if robot.session in oracle.claims else None
        await _take_all(robots, progress)
    return Crowd(truth, robots, kinds)


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
