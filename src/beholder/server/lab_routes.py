"""The pages of a laboratory, and what they ask of the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeGuard

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from beholder.errors import Refused
from beholder.server.assets import Asset, Assets
from beholder.server.lab import Laboratory
from beholder.server.participants import OPERATOR, is_key
from beholder.server.service import StudyService
from beholder.types import Json


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
        if not any(is_key(secret, place, key) for place in places):
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
