"""A day of 100,000 participants, simulated from what one of them costs: what waits, and what is full first.

A discrete simulation of the busiest hour. People arrive by chance, answer page after page, and each answer passes three
queues, each served in the order of arrival: a processor of one of the servers, a processor of the database, and the
wait for the disk, which many share. Media, memory and disk are added up, as nobody waits for them until they are full.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from beholder.recent_entries import MOST_SESSIONS
from scaling.measured import StoreCost

HOUR_S = 3_600
_IDLE_MB = 150.0
"""Memory of a process before anybody comes."""
_CONNECTIONS = 9
"""To PostgreSQL, of each process at most."""
_MOST_TRIED = 200_000
"""People a day: more take minutes to simulate."""


@dataclass(frozen=True)
class Assumptions:
    """What is assumed of the study, the day and the machines. Everything else was measured."""

    people_a_day: int = 100_000
    busiest_hour: float = 0.08
    """The share of a day's people who come within one hour: twice the mean."""
    answers: int = 20
    """Of each person."""
    pause_s: tuple[float, float] = (10.0, 20.0)
    media_mb: float = 2.0
    """For each answer."""
    server_cores: int = 2
    """Of each server; a process uses one, so that `--workers 2` uses both."""
    database_cores: int = 2
    commit_ms: float = 3.0
    """A write that is safe on the disk; answers that come meanwhile share the next one."""
    network_mbit: float = 1000.0
    """Of each server."""
    memory_mb: float = 4096.0
    """Of each server."""
    disk_gb: float = 100.0
    """Of the database."""
    days: int = 10
    """For which the study goes on: so many people have a list of their own, and the database keeps everything."""
    connections: int = 100
    """That PostgreSQL takes, as it is installed."""


@dataclass(frozen=True)
class Layout:
    """What serves a study."""

    name: str
    servers: int
    has_bucket: bool
    """Whether media come from an object store."""
    cost: StoreCost

    @property
    def has_database(self) -> bool:
        """Whether the store is another machine."""
        return self.cost.kind == "PostgreSQL"

    def processes(self, given: Assumptions) -> int:
        """Return how many processes serve: of SQLite there is one, whatever the machine has."""
        return self.servers * given.server_cores if self.has_database else 1


@dataclass
class Waits:
    """How long answers took in the busiest hour, and how busy everything was."""

    seconds: list[float] = field(default_factory=list)
    server_share: float = 0.0
    database_share: float = 0.0
    at_once: int = 0
    """The most people who were inside."""

    def p99_ms(self) -> float:
        every = sorted(self.seconds)
        return 1000 * every[int(0.99 * (len(every) - 1))]


class _Station:
    """So many processors with one queue, served in the order of arrival."""

    def __init__(self, processors: int) -> None:
        self._free = [0.0] * processors
        self.busy_s = 0.0

    def serve(self, now: float, service_s: float) -> float:
        """Return when a request is done that comes now; requests have to come in the order of time."""
        done = max(now, heapq.heappop(self._free)) + service_s
        heapq.heappush(self._free, done)
        self.busy_s += service_s
        return done


def simulate(layout: Layout, given: Assumptions, seed: int = 1) -> Waits:
    """Return how answers fare in the busiest hour, after half an hour as busy, in which it fills up."""
    rng, waits = random.Random(seed), Waits()
    servers = [_Station(1) for _ in range(layout.processes(given))]
    database = _Station(given.database_cores)
    until, warm, inside = 1.5 * HOUR_S, 0.5 * HOUR_S, 0
    mean_s, database_s = layout.cost.answer_ms / 1000, layout.cost.database_ms / layout.cost.answers / 1000
    events: list[tuple[float, int, int, float, int]] = []
    """When, which (it decides between equal times), stage, when it was sent, and answers that follow."""
    for number, at in enumerate(_arrivals(given, until, rng)):
        heapq.heappush(events, (at, number, 0, at, given.answers))
    count = len(events)
    while events:
        now, number, stage, sent, left = heapq.heappop(events)
        if now > until:
            break
        count += 1
        if stage == 0:
            inside += left == given.answers
            waits.at_once = max(waits.at_once, inside)
            # A balancer that looks at connections finds the server with the shortest queue.
            done = min(servers, key=lambda one: one._free[0]).serve(now, rng.expovariate(1 / mean_s))
            heapq.heappush(events, (done, count, 1 if layout.has_database else 2, now, left))
        elif stage == 1:
            done = database.serve(now, rng.expovariate(1 / database_s))
            heapq.heappush(events, (done, count, 2, sent, left))
        else:
            done = now + given.commit_ms / 1000 * rng.uniform(1, 2)  # the one under way first, then one's own
            if sent >= warm:
                waits.seconds.append(done - sent)
            if left > 1:
                heapq.heappush(events, (done + rng.uniform(*given.pause_s), count, 0, 0.0, left - 1))
            else:
                inside -= 1
    waits.server_share = sum(one.busy_s for one in servers) / until / len(servers)
    waits.database_share = database.busy_s / until / given.database_cores
    return waits


def _arrivals(given: Assumptions, until: float, rng: random.Random) -> Iterator[float]:
    rate = given.people_a_day * given.busiest_hour / HOUR_S
    at = rng.expovariate(rate)
    while at < until:
        yield at
        at += rng.expovariate(rate)


# What is full first


@dataclass(frozen=True)
class Resource:
    """Something that can be full: how much of it the busiest hour takes."""

    name: str
    share: float
    fixed: float = 0.0
    """What is taken before anybody comes."""

    def people_a_day(self, given: Assumptions) -> float:
        """Return how many people a day fill it; infinitely many where it does not depend on them."""
        growing = self.share - self.fixed
        return given.people_a_day * (1 - self.fixed) / growing if growing > 0 else math.inf


def resources(layout: Layout, given: Assumptions) -> Sequence[Resource]:
    """Return everything that can be full, the fullest first."""
    cost, processes = layout.cost, layout.processes(given)
    people_s = given.people_a_day * given.busiest_hour / HOUR_S
    answers_s = people_s * given.answers
    inside = answers_s * sum(given.pause_s) / 2
    found = [Resource("processors of the servers", answers_s * cost.answer_ms / 1000 / processes)]
    if not layout.has_bucket:
        bits = answers_s * given.media_mb * 8
        found.append(Resource("network of the servers, by media", bits / (given.network_mbit * layout.servers)))
    sessions = given.people_a_day / layout.servers
    each = processes / layout.servers
    plan = given.people_a_day * given.days * each * cost.list_kilobytes / 1024
    found.append(Resource(f"memory of a server, by the lists of {given.days} days", plan / given.memory_mb))
    idle = _IDLE_MB * each
    held = (inside / layout.servers * cost.open_kilobytes + min(sessions, MOST_SESSIONS) * cost.kilobytes) / 1024
    found.append(Resource("memory of a server, by people", (idle + held) / given.memory_mb, idle / given.memory_mb))
    kept = given.people_a_day * given.days * given.answers * cost.bytes_an_answer
    found.append(Resource(f"disk of the store, {given.days} days", kept / (given.disk_gb * 1e9)))
    if layout.has_database:
        used = answers_s * cost.database_ms / cost.answers / 1000
        found.append(Resource("processors of the database", used / given.database_cores))
        taken = _CONNECTIONS * processes / given.connections
        found.append(Resource("connections of PostgreSQL", taken, taken))
    return sorted(found, key=lambda one: one.share, reverse=True)


def layouts(costs: Sequence[StoreCost]) -> list[Layout]:
    """Return the layouts that are compared."""
    by_kind = {cost.kind: cost for cost in costs}
    found = []
    if (sqlite := by_kind.get("SQLite")) is not None:
        found.append(Layout("one server, SQLite", 1, has_bucket=False, cost=sqlite))
    if (shared := by_kind.get("PostgreSQL")) is not None:
        found += [
            Layout("one server, PostgreSQL", 1, has_bucket=False, cost=shared),
            Layout("three servers", 3, has_bucket=False, cost=shared),
            Layout("three servers, object store", 3, has_bucket=True, cost=shared),
        ]
    return found


def most_people_a_day(layout: Layout, given: Assumptions, limit_ms: float = 250.0) -> int:
    """Return up to how many people a day, of those tried, 99 of 100 answers take less than a limit."""
    people = 25_000
    while people < _MOST_TRIED and simulate(layout, replace(given, people_a_day=2 * people)).p99_ms() < limit_ms:
        people *= 2
    return people
