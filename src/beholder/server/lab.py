"""A laboratory: stations where participants sit down one after the other, the operator's overview, and the routes."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypeGuard

from starlette.requests import Request
from starlette.responses import Response

from beholder.errors import LedgerError, Refused
from beholder.server import operations, tokens
from beholder.server.assets import Assets
from beholder.server.entrances import LabEntrance
from beholder.server.flow import Ending, answers_of, next_step
from beholder.server.operations import ApiRoute
from beholder.server.participants import LAB, OPERATOR, is_lab_key, seat_token
from beholder.server.requests import JsonReply, RateLimit, asset_response, read_bearer, read_json
from beholder.server.script import ServedStudy, is_later_session
from beholder.server.service import StudyService
from beholder.server.session_language import best_language
from beholder.store.contract import LedgerEntry, SessionFacts, Store
from beholder.types import Json


class _StationState(NamedTuple):
    """The progress of the participant at a station."""

    state: str
    """ready, under_way or ended"""
    session: str = ""
    outcome: str | None = None
    kind: str | None = None
    """Of the current step."""
    place: tuple[int, int] | None = None
    """The current trial, and the number of trials."""
    minutes: int | None = None


class _SeatedParticipant(NamedTuple):
    """The participant numbers of a station, oldest first, and the progress of the last one, who sits there."""

    numbers: list[int]
    state: _StationState


class Laboratory:
    """The stations of one study."""

    def __init__(self, served: ServedStudy, store: Store, now: Callable[[], datetime]) -> None:
        self._served, self._store, self._now = served, store, now
        self._seats = Seats(store, served.study.run)
        self._sessions: dict[str, str] = {}
        self.stations = range(1, served.study.recruit.stations + 1)

    async def overview(self) -> dict[str, Json]:
        """Return the fields of the operator's page."""
        study = self._served.study
        counts = await self._store.counts(self._now(), study.run)
        addresses = LabEntrance(study, self._store.secret).addresses("")
        return {
            "title": study.title,
            "completed": counts["completed"],
            "lists": study.design.lists_in_all(counts["lists"]),
            "finished": counts["finished"],
            "stations": [await self._shown(station, await self._seated(station)) for station in self.stations],
            "addresses": [addresses[f"Station {station}"] for station in self.stations],
        }

    async def station(self, station: int) -> dict[str, Json]:
        """Return the fields of a station's page, with the token of its seat or session."""
        seated = await self._seated(station)
        shown = await self._shown(station, seated)
        if seated is None:
            return {**shown, "seat": None, "resume": None}
        name, secret, session = self._served.study.name, self._store.secret, seated.state.session
        resume = tokens.session_token(secret, name, session) if session else None
        return {**shown, "seat": seat_token(secret, seated.numbers[-1]), "resume": resume}

    async def next(self, station: int, after: int | None) -> None:
        """Seat the next participant after the one who sits there; a number that has not begun stays."""
        if after is None or (await self._gate(after)).state != "ready":
            await self._seats.next(station, after, self._now())

    async def return_to(self, station: int, number: int) -> None:
        """Seat a participant again who sat at this station before."""
        if not await self._seats.return_to(station, number, self._now()):
            allowed = "a participant who sat at this station"
            raise Refused.because("did_not_sit_here", where="number", allowed=allowed, number=number)

    async def _seated(self, station: int) -> _SeatedParticipant | None:
        numbers = await self._seats.numbers_at(station)
        return _SeatedParticipant(numbers, await self._gate(numbers[-1])) if numbers else None

    async def _shown(self, station: int, seated: _SeatedParticipant | None) -> dict[str, Json]:
        if seated is None:
            return {"station": station, "number": None, "state": "free", "previous": None}
        numbers, state = seated
        return {
            "station": station, "number": numbers[-1], "state": state.state, "outcome": state.outcome,
            "kind": state.kind, "place": state.place, "minutes": state.minutes,
            "previous": await self._unfinished_before(numbers) if state.state == "ready" else None,
        }  # fmt: skip

    async def _unfinished_before(self, numbers: list[int]) -> int | None:
        """Return the previous participant if unfinished, so that the operator can undo a mistake."""
        before = next((number for number in reversed(numbers) if number != numbers[-1]), None)
        is_left = before is not None and (await self._gate(before)).state == "under_way"
        return before if is_left else None

    async def _gate(self, number: int) -> _StationState:
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
            script = self._served.script(facts.list, is_later=is_later_session(facts.verdicts))
        here = next_step(script, answers_of(facts), facts.verdicts, self._now())
        if isinstance(here, Ending):
            return _StationState("ended", session.session, here.outcome, minutes=minutes)
        kind = "training" if here.is_training else here.kind
        place = None
        if here.is_rated and script is not None:
            trials = [step.key for step in script.steps if step.is_rated]
            place = trials.index(here.base_key) + 1, len(trials)
        return _StationState("under_way", session.session, None, kind, place, minutes)

    async def _facts(self, number: int) -> SessionFacts | None:
        """Return the facts of a participant's latest session in this run; None before it has begun."""
        participant = tokens.pseudonym(self._store.secret, LAB, str(number))
        indexed = self._sessions.get(participant)
        facts = await self._store.session_facts(indexed) if indexed is not None else None
        if facts is None or facts.end is not None:  # not indexed yet, or perhaps in another session
            await self._index_sessions()
            latest = self._sessions.get(participant)
            facts = await self._store.session_facts(latest) if latest is not None and latest != indexed else facts
        return facts

    async def _index_sessions(self) -> None:
        async for row in self._store.rows("sessions"):
            if row["mode"] == LabEntrance.mode and row["run"] == self._served.study.run:
                self._sessions[row["participant"]] = row["session"]


# Network address

_NOWHERE = ("192.0.2.1", 9)
"""An unused address (RFC 5737): choosing a route to it sends nothing."""


def own_address() -> str:
    """Return the address of this machine in its network; 127.0.0.1 where it has none."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_NOWHERE)
        return str(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        return socket.gethostbyname(socket.gethostname())
    return "127.0.0.1"


# Seats: participant numbers, counted over stations and runs, in the ledger

KIND = "seat"
_TRIES = 20


@dataclass
class Seats:
    """The participant numbers of every station in a run; the last one sits there."""

    store: Store
    run: int = 1
    _last_entry: int = 0
    _highest: int = 0
    _numbers: dict[int, list[int]] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def numbers_at(self, station: int) -> list[int]:
        """Return the numbers of a station, oldest first; the last one sits there."""
        await self._read()
        return self._numbers.get(station, [])

    async def next(self, station: int, after: int | None, now: datetime) -> None:
        """Seat the next number at a station if `after` sits there, so that a repeated request seats only one."""
        async with self._lock:
            for _ in range(_TRIES):
                numbers = await self.numbers_at(station)
                if (numbers[-1] if numbers else None) != after:
                    return
                try:
                    await self.store.ledger.append([self._entry("planned", station, self._highest + 1, now)])
                    return
                except LedgerError:  # another server used this number for one of its stations
                    continue

    async def return_to(self, station: int, number: int, now: datetime) -> bool:
        """Seat a previous number of a station again; return whether it sat there before."""
        async with self._lock:
            numbers = await self.numbers_at(station)
            if number in numbers and numbers[-1] != number:
                await self.store.ledger.append([self._entry("done", station, number, now)])
            return number in numbers

    async def _read(self) -> None:
        for entry in await self.store.ledger.entries(self._last_entry):
            self._last_entry = max(self._last_entry, entry.entry)
            if entry.kind == KIND and isinstance(entry.evidence, dict):
                number = int(entry.evidence["number"])
                self._highest = max(self._highest, number)
                # Each number is a participant, and nobody takes part in two runs: a new run begins with free stations.
                if entry.evidence.get("run", 1) == self.run:
                    self._numbers.setdefault(int(entry.evidence["station"]), []).append(number)

    def _entry(self, event: str, station: int, number: int, now: datetime) -> LedgerEntry:
        # No pseudonym: the ledger outlives the identities.
        evidence: dict[str, Json] = {"station": station, "number": number, "run": self.run}
        return LedgerEntry(KIND, event, now, submission=f"lab-{number}", evidence=evidence)


# Routes


def lab_routes(service: StudyService, assets: Assets, limit: RateLimit) -> list[ApiRoute]:
    """Return the routes of a laboratory; empty where the study has none."""
    study, secret = service.served.study, service.store.secret
    if not study.recruit.source.is_on_site:
        return []
    lab = Laboratory(service.served, service.store, service.now)
    pages = {
        (number, code): assets.page(study.in_language(code), station=number)
        for number in lab.stations
        for code in study.all_languages
    }
    operator = assets.standalone(study, "operator", "kiosk")

    def check_key(request: Request, *places: str) -> None:
        key = read_bearer(request, service.words)
        place = next((place for place in places if is_lab_key(secret, place, key)), None)
        if place is None:
            raise Refused(service.words["unknown_token"], where="key", code="unknown_token", status=401)
        limit.take(f"lab {place}")

    def station_of(request: Request) -> int:
        number = int(request.path_params["station"])
        if number not in lab.stations:
            allowed = f"1 to {len(lab.stations)}"
            raise Refused.because("no_station", where="station", allowed=allowed, code="not_found", status=404)
        return number

    async def show_operator(request: Request) -> Response:
        return asset_response(request, operator)

    async def show_station(request: Request) -> Response:
        accepted = request.headers.get("accept-language", "")
        language = best_language(study, request.query_params, accepted).language
        return asset_response(request, pages[station_of(request), language])

    async def overview(request: Request) -> Response:
        check_key(request, OPERATOR)
        return JsonReply(await lab.overview())

    async def station(request: Request) -> Response:
        number = station_of(request)
        check_key(request, str(number), OPERATOR)
        return JsonReply(await lab.station(number))

    async def seat(request: Request) -> Response:
        number = station_of(request)
        body = await read_json(request)
        fields = body if isinstance(body, Mapping) else {}
        back, after = fields.get("back"), fields.get("after")
        check_key(request, OPERATOR, *([] if "back" in fields else [str(number)]))
        if "back" in fields and _is_number(back):
            await lab.return_to(number, back)
        elif "after" in fields and (after is None or _is_number(after)):
            await lab.next(number, after)
        else:
            allowed = '{"after": 12}, the number that sits there or null, or {"back": 12}'
            raise Refused.because("no_next_participant", where="body", allowed=allowed)
        return JsonReply(await lab.station(number))

    return [
        ApiRoute("/lab", show_operator, operations.SHOW_OPERATOR),
        ApiRoute("/lab/{station:int}", show_station, operations.SHOW_STATION),
        ApiRoute("/api/lab", overview, operations.OVERVIEW),
        ApiRoute("/api/lab/stations/{station:int}", station, operations.STATION),
        ApiRoute("/api/lab/stations/{station:int}", seat, operations.SEAT),
    ]


def _is_number(value: Json) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9
