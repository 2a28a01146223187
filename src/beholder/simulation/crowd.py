"""Crowds of robots at a running server, and simulated visitors who arrive from a platform."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx

from beholder.checks.page_contract import RobotAbilities
from beholder.formats import count
from beholder.result_view import ResultView, ShownResult
from beholder.server.further_sessions import add_new_lists
from beholder.server.script import ServedStudy
from beholder.server.tokens import robot_signature
from beholder.simulation.cheats import CHEATS
from beholder.simulation.oracle import Oracle, OracleResponder
from beholder.simulation.participants import Progress, robot_name
from beholder.simulation.raters import abilities_of, assign_kinds, read_mixture
from beholder.simulation.robot import Robot, filled
from beholder.simulation.truth import Population, Truth, truth_of
from beholder.store.contract import Store
from beholder.study.questionnaire import QUESTION_TYPES
from beholder.study.recruitment import is_robot
from beholder.types import Json

_AT_ONCE = 8


@dataclass(frozen=True, repr=False)
class Crowd(ShownResult):
    """The result of a simulation: the robots, their kinds, and the truth that they rated."""

    truth: Truth
    robots: list[Robot]
    kinds: list[str]

    def _view(self) -> ResultView:
        import pandas as pd

        kinds = Counter(self.kinds)
        words = f"{count(len(self.robots), 'robot')} took the study. What they were given to find is in `truth`."
        return ResultView([words], pd.DataFrame({"robots": list(kinds.values()), "kind": list(kinds)}))


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
    able: RobotAbilities | None = None,
    people: Population | None = None,
    means: Mapping[str, float] | None = None,
) -> Crowd:
    """Return a crowd that has taken the study. Robots arrive in order, so that each gets the same list every time.

    Where a participant may take several sessions, each robot that finished one comes back for the next, as a person
    who takes the offer does; a session is a robot of its own in the crowd. Each run has its own robots: the same seed
    gives the same truth and other random draws. The store is only read, for the secret and the claims: the server may
    be another process. A list passed as `robots` is filled, so that the caller can watch them. `able` replaces the
    abilities of their kinds, `people` is the population, and `means` are known qualities of conditions.
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
        arena = served.study.design.arena
        sessions = served.study.design.sessions_per_participant if arena is None else arena.per_day
        visitors, all_kinds = list(zip(robots, responders, kinds, strict=True)), list(kinds)
        begin = _Beginning(served, store, oracle)
        # Where lists are made of answers, who arrives before anybody has answered would get what tells nothing.
        comes_in_turn = served.study.design.active is not None
        for visit in range(1, sessions + 1):
            if not comes_in_turn:
                for robot, _, _ in visitors:
                    await robot.arrive()
                    await robot.consent()
                oracle.claims |= {row["session"]: row["list"] async for row in store.rows("claims")}
                for robot, responder, _ in visitors:
                    robot.trial_limit = responder.answers(robot.session) if robot.session in oracle.claims else None
            await _take_all(
                [(robot, responder) for robot, responder, _ in visitors],
                begin if comes_in_turn else None,
                progress,
                len(kinds) * (visit - 1),
                len(kinds) * sessions,
            )
            visitors = [(_again(one), responder, kind) for one, responder, kind in visitors if one.has_completed]
            if visit == sessions or not visitors:
                break
            robots += [robot for robot, _, _ in visitors]
            all_kinds += [kind for _, _, kind in visitors]
    return Crowd(truth, robots, all_kinds)


def _again(robot: Robot) -> Robot:
    """Return the same simulated person before their next session; what they answered to checks is remembered."""
    return replace(
        robot, token="", session="", step={}, acknowledged=[], checked=dict(robot.checked), trial_limit=None,
        stage_token="",
    )  # fmt: skip


@dataclass(frozen=True)
class _Beginning:
    """How robots begin one by one, each with the list that it gets then."""

    served: ServedStudy
    store: Store
    oracle: Oracle

    async def __call__(self, robot: Robot, responder: OracleResponder) -> None:
        await robot.arrive()
        await robot.consent()
        facts = await self.store.session_facts(robot.session) if robot.session else None
        if facts is not None and facts.list is not None:
            await add_new_lists(self.served, self.store, facts.list)
            self.oracle.claims[robot.session] = facts.list
            robot.trial_limit = responder.answers(robot.session)


async def _take_all(
    robots: Sequence[tuple[Robot, OracleResponder]],
    begin: _Beginning | None,
    progress: Progress | None,
    before: int,
    total: int,
) -> None:
    done = before
    gate = asyncio.Semaphore(_AT_ONCE)

    async def take(robot: Robot, responder: OracleResponder) -> None:
        nonlocal done
        async with gate:
            if begin is not None:
                await begin(robot, responder)
            await robot.take()
        done += 1
        if progress:
            progress(done, total)

    await asyncio.gather(*(take(robot, responder) for robot, responder in robots))


# Visitors from a platform: simulated people whom the server cannot distinguish from participants


VisitManner = Literal["stays", "declines", "withdraws", "misfits"]
"""Gives consent and stays, declines, withdraws before the next trial, or gives other prescreening answers."""


@dataclass
class SimulatedVisitor(Robot):
    """A simulated person with the device and the input of a browser."""

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
            answer = {"answers": filled(step, self._other)}
        # Without waiting, a log of playback would not be believed.
        return answer, events if self.waits or "trial" not in step else []

    def _other(self, item: Mapping[str, Any]) -> Json:
        """Return another answer than usual, if there is a choice; None where none is required."""
        if not item["required"]:
            return None
        return QUESTION_TYPES[item["type"]].other_answer(item, self.responder.fill(item, str(self.step["key"])))

    async def put(self, key: str, answer: Json, events: list[Any], tab: str = "") -> httpx.Response:
        """Return the reply to an answer, sent after the time that its log covers."""
        if self.waits and events:
            await asyncio.sleep(events[-1][0] / 1000)
        return await super().put(key, answer, events, tab)

    async def take(self) -> None:
        """Answer every step until the end or the trial limit; with the manner `withdraws`, withdraw there."""
        await super().take()
        if self.manner == "withdraws" and not self.refused and self.step.get("kind") != "end":
            response = await self._send("POST", "/api/withdraw", {})
            response.raise_for_status()
            self.step = response.json()["step"]


@dataclass(frozen=True)
class VisitOutcome:
    """How a visit ended, as the visitor sees it."""

    session: str
    outcome: str
    """The outcome on the last page; empty if the visitor left or was refused."""
    code: str
    """The completion code, from the return address, the last page or the refusal; may be empty."""
    refused: str
    """The reason for a refusal; empty if admitted."""


class SimulatedVisitors:
    """Visitors of a study whose store this machine can read; they take it over HTTP.

    `store` is only read, to know what checks ask for. Visitors take as long as people do, because the server rejects
    clips that were watched faster than they play; where clips may be left unplayed, `waits` can be False.
    """

    def __init__(self, served: ServedStudy, store: Store, *, seed: int = 1, waits: bool = True) -> None:
        self._served, self._store, self._waits = served, store, waits
        self._tokens: dict[str, str] = {}
        self._oracle = Oracle(served, store.secret, truth_of(served.study, served.catalogue, served.method, seed), seed)

    async def visit(
        self, url: str, *, kind: str = "honest", manner: VisitManner = "stays", trials: int | None = None
    ) -> VisitOutcome:
        """Return the outcome of a visitor who opens this address and takes the study, or only so many `trials`.

        The same person continues an earlier visit, as in the same browser. `kind` is a kind of rater, such as
        `careless` or `unable-colour`.
        """
        parts = urlsplit(url)
        params = dict(parse_qsl(parts.query))
        # The name is sent to the server, so it must not be an id of the platform.
        name = hashlib.sha256(next(iter(params.values()), "").encode()).hexdigest()[:12]
        responder: OracleResponder = self._oracle.responder(kind, name, abilities_of(kind))
        async with httpx.AsyncClient(base_url=f"{parts.scheme}://{parts.netloc}", timeout=60) as client:
            visitor = SimulatedVisitor(
                name, self._served.study.name, params, client, responder, manner=manner, waits=self._waits
            )
            visitor.token = self._tokens.get(name, "")
            await visitor.arrive()
            self._tokens[name] = visitor.token
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


# Number of robots


async def robots_needed(served: ServedStudy, store: Store, seed: int) -> int:
    """Return how many robots it takes to finish every open list; as many as for a new plan if all are finished.

    Each takes as many lists as a participant may. Robots of this seed that finished earlier are counted too, because
    they arrive again and are refused.
    """
    design = served.study.design
    run, lists, each = served.study.run, design.dealt_lists or len(served.lists), design.sessions_per_participant
    done = {row["session"] async for row in store.rows("ends") if row["outcome"] == "completed"}
    claimed = {row["session"]: row["list"] async for row in store.rows("claims")}
    robots = {
        row["session"]: row["device"].get("robot")
        async for row in store.rows("sessions")
        if is_robot(row["mode"]) and row["run"] == run and row["session"] in done
    }
    unfinished = lists - len({claimed[session] for session in robots if session in claimed})
    names = set(robots.values())
    needed = -(-(unfinished or lists) // each)
    if unfinished == 0:
        return needed
    return needed + sum(robot_name(seed, n, run) in names for n in range(1, lists + len(names) + 1))
