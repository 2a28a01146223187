"""A laboratory: stations that wait for the next participant, and the operator who sees them all."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypeGuard

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from beholder.errors import LedgerError, Refused
from beholder.server import tokens
from beholder.server.assets import Asset, Assets
from beholder.server.flow import Ending, answers_of, next_step
from beholder.server.further_sessions import is_later_session
from beholder.server.participants import LAB, OPERATOR, is_lab_key, lab_addresses, seat_token
from beholder.server.script import ServedStudy
from beholder.server.service import StudyService
from beholder.store.contract import LedgerEntry, SessionFacts, Store
from beholder.types import Json

# --- A laboratory as its screens show it: who sits at which station, and how far they are ---


class _StationState(NamedTuple):
    """How far somebody is."""

    state: str
    """ready, under_way or ended"""
    session: str = ""
    outcome: str | None = None
    kind: str | None = None
    """Of the step at hand."""
    place: tuple[int, int] | None = None
    """Which trial, and of how many."""
    minutes: int | None = None


class _SeatedParticipant(NamedTuple):
    """Who sat at a station, oldest first, and how far the last of them is, who sits there."""

    had: list[int]
    standing: _StationState


class Laboratory:
    """The stations of one study."""

    def __init__(self, served: ServedStudy, store: Store, now: Callable[[], datetime]) -> None:
        self._served, self._store, self._now = served, store, now
        self._seats = Seats(store, served.study.run)
        self._sessions: dict[str, str] = {}
        self.stations = range(1, served.study.recruit.stations + 1)

    async def overview(self) -> dict[str, Json]:
        """Return what the operator sees."""
        study = self._served.study
        counts = await self._store.counts(self._now(), study.run)
        addresses = lab_addresses(study, self._store.secret, "")
        return {
            "title": study.title,
            "completed": counts["completed"],
            "lists": counts["lists"],
            "finished": counts["finished"],
            "stations": [await self._shown(station, await self._seated(station)) for station in self.stations],
            "addresses": [addresses[f"Station {station}"] for station in self.stations],
        }

    async def station(self, station: int) -> dict[str, Json]:
        """Return what a station sees, with what its participant may come by."""
        seated = await self._seated(station)
        shown = await self._shown(station, seated)
        if seated is None:
            return {**shown, "seat": None, "resume": None}
        name, secret, session = self._served.study.name, self._store.secret, seated.standing.session
        resume = tokens.session_token(secret, name, session) if session else None
        return {**shown, "seat": seat_token(secret, seated.had[-1]), "resume": resume}

    async def next(self, station: int, after: int | None) -> None:
        """Seat the next participant, after the one who sits there; a number that nobody began under stays."""
        if after is None or (await self._standing(after)).state != "ready":
            await self._seats.next(station, after, self._now())

    async def back(self, station: int, number: int) -> None:
        """Let somebody sit down again who sat there before."""
        if not await self._seats.back(station, number, self._now()):
            allowed = "a participant who sat at this station"
            raise Refused(f"Participant {number} did not sit here", where="number", allowed=allowed)

    async def _seated(self, station: int) -> _SeatedParticipant | None:
        had = await self._seats.at(station)
        return _SeatedParticipant(had, await self._standing(had[-1])) if had else None

    async def _shown(self, station: int, seated: _SeatedParticipant | None) -> dict[str, Json]:
        if seated is None:
            return {"station": station, "number": None, "state": "free", "previous": None}
        had, standing = seated
        return {
            "station": station, "number": had[-1], "state": standing.state, "outcome": standing.outcome,
            "kind": standing.kind, "place": standing.place, "minutes": standing.minutes,
            "previous": await self._left(had) if standing.state == "ready" else None,
        }  # fmt: skip

    async def _left(self, had: list[int]) -> int | None:
        """Return who sat there before and was not done, so that a slip of the operator can be taken back."""
        before = next((number for number in reversed(had) if number != had[-1]), None)
        is_left = before is not None and (await self._standing(before)).state == "under_way"
        return before if is_left else None

    async def _standing(self, number: int) -> _StationState:
        facts = await self._facts(number)
        if facts is None:
            return _StationState("ready")
        session, end = facts.session, facts.end
        until = end.at if end is not None else self._now()
        minutes = max(0, int((until - session.at).total_seconds() // 60))
        if end is not None:
            return _StationState("ended", session.session, end.outcome, minutes=minutes)
        script = None
        if facts.list is not None and facts.list <= len(self._served.lists):
            script = self._served.script(facts.list, is_again=is_later_session(facts.verdicts))
        here = next_step(script, answers_of(facts), facts.verdicts, self._now())
        if isinstance(here, Ending):
            return _StationState("ended", session.session, here.outcome, minutes=minutes)
        kind = "training" if here.is_training else here.kind
        place = None
        if here.is_rated and script is not None:
            trials = [step.key for step in script.steps if step.is_rated]
            place = trials.index(here.place_key) + 1, len(trials)
        return _StationState("under_way", session.session, None, kind, place, minutes)

    async def _facts(self, number: int) -> SessionFacts | None:
        """Return what is known of somebody's latest session in this run; None before they have begun."""
        participant = tokens.pseudonym(self._store.secret, LAB, str(number))
        known = self._sessions.get(participant)
        facts = await self._store.session_facts(known) if known is not None else None
        if facts is None or facts.end is not None:  # not here yet, or perhaps here for another session
            await self._learn()
            latest = self._sessions.get(participant)
            facts = await self._store.session_facts(latest) if latest is not None and latest != known else facts
        return facts

    async def _learn(self) -> None:
        async for row in self._store.rows("sessions"):
            if row["mode"] == "lab" and row["run"] == self._served.study.run:
                self._sessions[row["participant"]] = row["session"]


# --- Where other machines of a room reach this one, without asking anybody outside of it ---


_NOWHERE = ("192.0.2.1", 9)
"""An address that is nobody's (RFC 5737): choosing a way to it sends nothing."""


def own_address() -> str:
    """Return the address of this machine in its network; 127.0.0.1 where it has none."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_NOWHERE)
        return str(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        return socket.gethostbyname(socket.gethostname())
    return "127.0.0.1"


# --- Who sits where: numbers that count up over stations and runs, kept in the ledger, so that no power cut loses one.


KIND = "seat"
_TRIES = 20


@dataclass
class Seats:
    """The numbers that every station had in a run, the one who sits there last."""

    store: Store
    run: int = 1
    _seen: int = 0
    _highest: int = 0
    _had: dict[int, list[int]] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def at(self, station: int) -> list[int]:
        """Return the numbers that sat at a station, oldest first; the last of them sits there."""
        await self._read()
        return self._had.get(station, [])

    async def next(self, station: int, after: int | None, now: datetime) -> None:
        """Seat the next number at a station, where `after` is who sits there: the same request twice seats one."""
        async with self._lock:
            for _ in range(_TRIES):
                had = await self.at(station)
                if (had[-1] if had else None) != after:
                    return
                try:
                    await self.store.ledger.append([self._entry("planned", station, self._highest + 1, now)])
                    return
                except LedgerError:  # another server gave this number to a station of its own
                    continue

    async def back(self, station: int, number: int, now: datetime) -> bool:
        """Return whether somebody who sat at a station before sits there again."""
        async with self._lock:
            had = await self.at(station)
            if number in had and had[-1] != number:
                await self.store.ledger.append([self._entry("done", station, number, now)])
            return number in had

    async def _read(self) -> None:
        for entry in await self.store.ledger.entries(self._seen):
            self._seen = max(self._seen, entry.entry)
            if entry.kind == KIND and isinstance(entry.evidence, dict):
                number = int(entry.evidence["number"])
                self._highest = max(self._highest, number)
                # Each number is a person, and nobody takes part in two runs: another one begins with free stations.
                if entry.evidence.get("run", 1) == self.run:
                    self._had.setdefault(int(entry.evidence["station"]), []).append(number)

    def _entry(self, event: str, station: int, number: int, now: datetime) -> LedgerEntry:
        # No pseudonym: the ledger outlives the links from people to pseudonyms.
        evidence: dict[str, Json] = {"station": station, "number": number, "run": self.run}
        return LedgerEntry(KIND, event, now, submission=f"lab-{number}", evidence=evidence)


# --- The pages of a laboratory, and what they ask of the server ---


def lab_routes(
    host: StudyService,
    assets: Assets,
    *,
    send: Callable[[Request, Asset], Response],
    reply: Callable[[Json], Response],
    read: Callable[[Request], Awaitable[Json]],
    token_of: Callable[[Request], str],
) -> list[Route]:
    """Return the routes of a laboratory; none where the study is not in one."""
    study, secret = host.served.study, host.store.secret
    if study.recruit.mode != "lab":
        return []
    lab = Laboratory(host.served, host.store, host.now)
    pages = {number: assets.page(study, station=number) for number in lab.stations}
    operator = assets.aside(study, "kiosk/operator.js", "kiosk")

    def opened(request: Request, *places: str) -> None:
        key = token_of(request)
        if not any(is_lab_key(secret, place, key) for place in places):
            raise Refused(host.words["unknown_token"], where="key", code="unknown_token", status=401)

    def station_of(request: Request) -> int:
        number = int(request.path_params["station"])
        if number not in lab.stations:
            allowed = f"1 to {len(lab.stations)}"
            raise Refused("There is no such station", where="station", allowed=allowed, code="not_found", status=404)
        return number

    async def show_operator(request: Request) -> Response:
        return send(request, operator)

    async def show_station(request: Request) -> Response:
        return send(request, pages[station_of(request)])

    async def overview(request: Request) -> Response:
        opened(request, OPERATOR)
        return reply(await lab.overview())

    async def station(request: Request) -> Response:
        number = station_of(request)
        opened(request, str(number), OPERATOR)
        return reply(await lab.station(number))

    async def seat(request: Request) -> Response:
        number = station_of(request)
        body = await read(request)
        asked = body if isinstance(body, Mapping) else {}
        back, after = asked.get("back"), asked.get("after")
        opened(request, OPERATOR, *([] if "back" in asked else [str(number)]))
        if "back" in asked and _is_number(back):
            await lab.back(number, back)
        elif "after" in asked and (after is None or _is_number(after)):
            await lab.next(number, after)
        else:
            allowed = '{"after": 12}, the number that sits there or null, or {"back": 12}'
            raise Refused("The body does not say who comes next", where="body", allowed=allowed)
        return reply(await lab.station(number))

    return [
        Route("/lab", show_operator),
        Route("/lab/{station:int}", show_station),
        Route("/api/lab", overview),
        Route("/api/lab/stations/{station:int}", station),
        Route("/api/lab/stations/{station:int}", seat, methods=["POST"]),
    ]


def _is_number(value: Json) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9
