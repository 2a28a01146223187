"""How many robots a rehearsal wants that was not told how many."""

from __future__ import annotations

from beholder.serve.served import Served
from beholder.simulate.people import robot_name
from beholder.store.contract import Store


async def robots_wanted(served: Served, store: Store, seed: int) -> int:
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
    left = lists - len({claimed[session] for session in robots if session in claimed})
    names = set(robots.values())
    return (
        lists if left == 0 else left + sum(robot_name(seed, n, run) in names for n in range(1, lists + len(names) + 1))
    )
