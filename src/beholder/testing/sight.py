"""What somebody at a real browser sees and hears, told by the server that drew it: no page could."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import parse_qs, urlsplit

from beholder.checks.contract import Robot
from beholder.serve.posing import check_of, rng_of, seed_of
from beholder.serve.server import Running
from beholder.simulate.oracle import expected_percepts
from beholder.types import Json

if TYPE_CHECKING:
    from playwright.async_api import Page

Oracle: TypeAlias = Callable[[str], Awaitable[Json]]
"""Returns the answer to a step, of a check or of training, by its key."""
_MIDDLE = 0.5


def oracle_for(server: Running, page: Page, fails: Collection[str] = ()) -> Oracle:
    """Return the answers of whoever sits at this page: able to do everything but what is in `fails`.

    That holds names of checks as robots have them (`colour`, `distance:far`, `training`), or keys of single attempts
    (`check:colour:1`). It is looked at each time. The device is the real one: what it measures, nobody can fail.
    """

    async def answer(key: str) -> Json:
        session = parse_qs(urlsplit(page.url).query)["resume"][0].split(".")[1]
        facts = await server.store.session_facts(session)
        assert facts is not None, session
        assert facts.list is not None, "whoever has not agreed is asked nothing"
        step = server.host.served.script(facts.list).find(key)
        assert step is not None, key
        rng = rng_of(seed_of(b"person", session, key))
        name = key.split(":")[1] if step.check is not None else "training"
        robot = Robot(frozenset(name if one == key else one for one in fails))
        if step.trial is None:
            return check_of(step).respond(server.host.examiner.posed(facts, step), robot, rng)
        percept = {f"{asked.id}.{slot.id}": _MIDDLE for asked in step.trial.asked for slot in step.trial.slots}
        percept |= expected_percepts(step.trial, is_able=robot.can(name))
        return server.host.served.method.respond(step.trial, percept, rng)

    return answer
