"""Somebody who comes from a platform: a simulated person whom the server takes for one, as nothing says otherwise."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx

from beholder.serve.growing import take_in
from beholder.serve.served import Served
from beholder.simulate.oracle import Oracle, OracleMind
from beholder.simulate.raters import ability
from beholder.simulate.robot import Robot
from beholder.simulate.truth import truth_of
from beholder.store.contract import Store
from beholder.types import Json

Manner = Literal["stays", "declines", "withdraws", "misfits"]
"""Whether somebody agrees and stays, does not agree, takes it back before the next trial, or says of themselves what
others do not."""


@dataclass
class Somebody(Robot):
    """A simulated person at a browser: their device and their clicks are those of people."""

    manner: Manner = "stays"
    waits: bool = True
    input = "mouse"

    @property
    def device(self) -> dict[str, Json]:
        return {"screen": [1920, 1080], "dpr": 1, "touch": False}

    def given(self, step: Mapping[str, Any]) -> tuple[Json, list[Any]]:
        if step["kind"] == "consent" and self.manner == "declines":
            return {"agree": False}, []
        answer, events = super().given(step)
        if step["key"] == "questions:before" and self.manner == "misfits":
            answer = {"answers": {item["id"]: self._other(item) for item in step["items"] if item["required"]}}
        # Nobody who does not wait says that they have played something.
        return answer, events if self.waits or "trial" not in step else []

    def _other(self, item: Mapping[str, Any]) -> Json:
        """Return another answer than others give, where there are several to choose from."""
        usual = self.mind.fill(item)
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
class Brought:
    """What somebody brings back from a study."""

    session: str
    outcome: str
    """As the last page says; empty where there was none, because they left or were not let in."""
    code: str
    """Of the address that they are sent back to, or of the last page, or of a door that is shut; or empty."""
    refused: str
    """Why they were not let in; empty where they were."""


class Visitors:
    """The minds of all who come to a study that this machine can read, and their way through it over HTTP.

    `store` is only read: whoever answers checks has to know what was asked. They take the time that people take, as
    the server believes nobody who has watched a clip faster than it plays; where a study lets clips be left unplayed,
    they need not (`waits`).
    """

    def __init__(self, served: Served, store: Store, *, seed: int = 1, waits: bool = True) -> None:
        self._served, self._store, self._waits = served, store, waits
        self._oracle = Oracle(served, store.secret, truth_of(served.study, served.catalogue, served.method, seed), seed)

    async def walk(
        self, url: str, *, kind: str = "honest", manner: Manner = "stays", trials: int | None = None
    ) -> Brought:
        """Return what somebody brings back who opens this address and takes the study: all, or so many trials.

        The same address again goes on where they were. `kind` is a kind of rater, as `careless` or `unable-colour`.
        """
        parts = urlsplit(url)
        params = dict(parse_qsl(parts.query))
        # It is sent along, so it must not be an id of the platform.
        name = hashlib.sha256(next(iter(params.values()), "").encode()).hexdigest()[:12]
        mind: OracleMind = self._oracle.mind(kind, name, ability(kind))
        async with httpx.AsyncClient(base_url=f"{parts.scheme}://{parts.netloc}", timeout=60) as client:
            one = Somebody(name, self._served.study.name, params, client, mind, manner=manner, waits=self._waits)
            await one.arrive()
            await one.consent()
            if one.session and not one.is_done:
                facts = await self._store.session_facts(one.session)
                assert facts is not None, one.session
                if facts.list is not None:
                    await take_in(self._served, self._store, facts.list)  # one that an extension added
                    self._oracle.claims[one.session] = facts.list
                one.stays = trials if trials is not None else mind.answers(one.session)
                await one.take()
        return _brought(one)


def _brought(one: Somebody) -> Brought:
    step = one.turned_away if one.refused else one.step if one.step.get("kind") == "end" else {}
    back = parse_qs(urlsplit(str(step.get("return_url") or "")).query)
    shown = "" if one.refused else str(step.get("code") or "")
    return Brought(one.session, str(step.get("outcome", "")), back.get("cc", [shown])[0], one.refused)
