"""A crowd of robots sent through a running server."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx

from beholder.checks.page_contract import RobotAbilities as Able
from beholder.server.further_sessions import add_new_lists
from beholder.server.script import ServedStudy
from beholder.server.tokens import robot_signature
from beholder.simulation.cheats import CHEATS
from beholder.simulation.oracle import Oracle, OracleResponder
from beholder.simulation.participants import robot_name
from beholder.simulation.raters import abilities_of, assign_kinds, read_mixture
from beholder.simulation.robot import Robot
from beholder.simulation.truth import Population, Truth, truth_of
from beholder.store.contract import Store
from beholder.types import Json

_AT_ONCE = 8

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Crowd:
    """What came of a simulation: the robots, their kinds, and the truth they were given."""

    truth: Truth
    robots: list[Robot]
    kinds: list[str]


async def send_robots(
    served: ServedStudy,
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
    responders: list[OracleResponder] = []
    limits = httpx.Limits(max_connections=_AT_ONCE)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=60) as client:
        for number, kind in enumerate(kinds, 1):
            name = robot_name(seed, number, run)
            params = {"robot": name, "signature": robot_signature(store.secret, name)}
            responders.append(oracle.responder(kind, name, able or abilities_of(kind)))
            robot_class = CHEATS.get(kind, Robot)
            robots.append(robot_class(name, served.study.name, params, client, responders[-1], patience_s=patience_s))
        for robot in robots:
            await robot.arrive()
            await robot.consent()
        oracle.claims |= {row["session"]: row["list"] async for row in store.rows("claims")}
        for robot, responder in zip(robots, responders, strict=True):
            robot.trial_limit = responder.answers(robot.session) if robot.session in oracle.claims else None
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


# --- Somebody who comes from a platform: a simulated person whom the server takes for one, as nothing says otherwise.


VisitManner = Literal["stays", "declines", "withdraws", "misfits"]
"""Whether somebody agrees and stays, does not agree, takes it back before the next trial, or says of themselves what
others do not."""


@dataclass
class SimulatedVisitor(Robot):
    """A simulated person at a browser: their device and their clicks are those of people."""

    manner: VisitManner = "stays"
    waits: bool = True
    input = "mouse"

    @property
    def device(self) -> dict[str, Json]:
        return {"screen": [1920, 1080], "dpr": 1, "touch": False}

    def answer_for(self, step: Mapping[str, Any]) -> tuple[Json, list[Any]]:
        if step["kind"] == "consent" and self.manner == "declines":
            return {"agree": False}, []
        answer, events = super().answer_for(step)
        if step["key"] == "questions:before" and self.manner == "misfits":
            answer = {"answers": {item["id"]: self._other(item) for item in step["items"] if item["required"]}}
        # Nobody who does not wait says that they have played something.
        return answer, events if self.waits or "trial" not in step else []

    def _other(self, item: Mapping[str, Any]) -> Json:
        """Return another answer than others give, where there are several to choose from."""
        usual = self.responder.fill(item)
        return next((one for one in item["options"] if one != usual), usual) if item["type"] == "single" else usual

    async def put(self, key: str, answer: Json, events: list[Any], tab: str = "") -> httpx.Response:
        """Return the reply to an answer, sent when its page has been looked at for as long as its log says."""
        if self.waits and events:
            await asyncio.sleep(events[-1][0] / 1000)
        return await super().put(key, answer, events, tab)

    async def take(self) -> None:
        """Answer every step until the end, or until they leave; whoever withdraws does so where others leave."""
        await super().take()
        if self.manner == "withdraws" and not self.refused and self.step.get("kind") != "end":
            response = await self._send("POST", "/api/withdraw", {})
            response.raise_for_status()
            self.step = response.json()["step"]


@dataclass(frozen=True)
class VisitOutcome:
    """What somebody brings back from a study."""

    session: str
    outcome: str
    """As the last page says; empty where there was none, because they left or were not let in."""
    code: str
    """Of the address that they are sent back to, or of the last page, or of a door that is shut; or empty."""
    refused: str
    """Why they were not let in; empty where they were."""


class SimulatedVisitors:
    """The minds of all who come to a study that this machine can read, and their way through it over HTTP.

    `store` is only read: whoever answers checks has to know what was asked. They take the time that people take, as
    the server believes nobody who has watched a clip faster than it plays; where a study lets clips be left unplayed,
    they need not (`waits`).
    """

    def __init__(self, served: ServedStudy, store: Store, *, seed: int = 1, waits: bool = True) -> None:
        self._served, self._store, self._waits = served, store, waits
        self._oracle = Oracle(served, store.secret, truth_of(served.study, served.catalogue, served.method, seed), seed)

    async def visit(
        self, url: str, *, kind: str = "honest", manner: VisitManner = "stays", trials: int | None = None
    ) -> VisitOutcome:
        """Return what somebody brings back who opens this address and takes the study: all, or so many trials.

        The same address again goes on where they were. `kind` is a kind of rater, as `careless` or `unable-colour`.
        """
        parts = urlsplit(url)
        params = dict(parse_qsl(parts.query))
        # It is sent along, so it must not be an id of the platform.
        name = hashlib.sha256(next(iter(params.values()), "").encode()).hexdigest()[:12]
        responder: OracleResponder = self._oracle.responder(kind, name, abilities_of(kind))
        async with httpx.AsyncClient(base_url=f"{parts.scheme}://{parts.netloc}", timeout=60) as client:
            visitor = SimulatedVisitor(
                name, self._served.study.name, params, client, responder, manner=manner, waits=self._waits
            )
            await visitor.arrive()
            await visitor.consent()
            if visitor.session and not visitor.is_done:
                facts = await self._store.session_facts(visitor.session)
                assert facts is not None, visitor.session
                if facts.list is not None:
                    await add_new_lists(self._served, self._store, facts.list)  # one that an extension added
                    self._oracle.claims[visitor.session] = facts.list
                visitor.trial_limit = trials if trials is not None else responder.answers(visitor.session)
                await visitor.take()
        return _outcome(visitor)


def _outcome(visitor: SimulatedVisitor) -> VisitOutcome:
    step = visitor.refusal if visitor.refused else visitor.step if visitor.step.get("kind") == "end" else {}
    back = parse_qs(urlsplit(str(step.get("return_url") or "")).query)
    shown = "" if visitor.refused else str(step.get("code") or "")
    return VisitOutcome(visitor.session, str(step.get("outcome", "")), back.get("cc", [shown])[0], visitor.refused)


# --- How many robots a rehearsal wants that was not told how many ---


async def robots_needed(served: ServedStudy, store: Store, seed: int) -> int:
    """Return how many robots of a seed it takes until robots have finished every list: all lists where they have.

    Robots of this seed that have finished before are counted, as they come again and are sent away.
    """
    run, lists = served.study.run, len(served.lists)
    done = {row["session"] async for row in store.rows("ends") if row["outcome"] == "completed"}
    claimed = {row["session"]: row["list"] async for row in store.rows("claims")}
    robots = {
        row["session"]: row["device"].get("robot")
        async for row in store.rows("sessions")
        if row["mode"] == "robot" and row["run"] == run and row["session"] in done
    }
    unfinished = lists - len({claimed[session] for session in robots if session in claimed})
    names = set(robots.values())
    return (
        lists
        if unfinished == 0
        else unfinished + sum(robot_name(seed, n, run) in names for n in range(1, lists + len(names) + 1))
    )
