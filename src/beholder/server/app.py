"""The HTTP application: routes, error responses and security headers around the study's service."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beholder.buckets.connection import BucketAway
from beholder.errors import Refused
from beholder.server import operations
from beholder.server.assets import Assets
from beholder.server.lab import lab_routes
from beholder.server.limits import ArrivalPace
from beholder.server.media import media_response
from beholder.server.operations import ApiRoute, openapi_document
from beholder.server.requests import (
    JsonReply,
    RateLimit,
    asset_response,
    read_bearer,
    read_device,
    read_json,
    read_submission,
)
from beholder.server.service import StudyService
from beholder.server.session_language import best_language
from beholder.server.stage_routes import stage_routes
from beholder.store.contract import NotJson, StoreUnavailable, UnknownSession
from beholder.study.model import Study
from beholder.types import Json
from beholder.words import read_words

_LONGEST_PARAM = 512
_MOST_PARAMS = 32
_LARGEST_ARRIVAL = 32 * 1024
"""What anybody may send who has no session yet."""
_LOG_EVERY = timedelta(seconds=5)
_log = logging.getLogger("beholder.server")


def make_app(service: StudyService, assets: Assets) -> ASGIApp:
    """Return the application that serves one study."""
    study = service.served.study
    spoken = [study.in_language(code) for code in study.all_languages]
    pages = {one.language: assets.page(one) for one in spoken}
    erasure_pages = {one.language: assets.standalone(one, "forget", "steps") for one in spoken}
    limit, slow_limit, pace = RateLimit(), RateLimit(burst=10, per_second=1), ArrivalPace()

    def token_of(request: Request) -> str:
        token = read_bearer(request, service.words)
        limit.take(service.session_of(token))  # a made-up token is refused before, and not kept
        return token

    def is_token(text: Json) -> bool:
        try:
            return isinstance(text, str) and bool(service.session_of(text))
        except Refused:
            return False

    def pace_strangers(request: Request, params: Mapping[str, str], token: str) -> Callable[[], None]:
        """Take from the pace of arrivals, or return how to, for somebody with a session who may begin another."""
        # Robots and previews are signed; that is looked at first, and nothing is stored for a forged one.
        if not params.keys().isdisjoint(("robot", "preview")):
            return lambda: None
        take = partial(pace.take, request.scope.get("beholder.address", ""))
        if any(map(is_token, (params.get("resume"), params.get("again"), token))):
            return take  # with one token somebody could begin again and again under other ids
        take()
        return lambda: None

    async def show(request: Request) -> Response:
        if request.path_params["study"] != study.name:
            raise Refused(service.words["no_study"], where="study", code="unknown_study", status=404)
        return asset_response(request, pages[language_of(request, study)])

    async def arrive(request: Request) -> Response:
        if service.readiness.is_draining:  # the page tries again, and comes to another server
            raise Refused.because("store_away", code="draining", status=503)
        body = await read_json(request, _LARGEST_ARRIVAL)
        if not isinstance(body, Mapping):
            raise Refused.because("body_not_an_object", where="body", allowed="a JSON object")
        if body.get("study") != study.name:
            raise Refused(service.words["no_study"], where="study", code="unknown_study", status=404)
        params, device = body.get("params", {}), body.get("device", {})
        if not isinstance(params, Mapping):
            raise Refused.because("params_not_an_object", where="params", allowed='{"participant": "..."}')
        if not isinstance(device, Mapping):
            raise Refused.because("device_not_an_object", where="device", allowed="a JSON object")
        if len(params) > _MOST_PARAMS:
            raise Refused.because("long_parameter", where="params", allowed=f"up to {_MOST_PARAMS} parameters")
        signature = service.context.entrance.signature_parameter  # longer than an id; who reads it has a limit
        named = {
            name: _parameter(value, _LARGEST_ARRIVAL if name == signature else _LONGEST_PARAM)
            for name, value in params.items()
        }
        token = _parameter(body.get("token", ""))
        pace_if_new = pace_strangers(request, named, token)
        accepted = request.headers.get("accept-language", "")
        is_new, arrival = await service.arrive(named, read_device(device), token, pace_if_new, accepted)
        return JsonReply(arrival, 201 if is_new else 200)

    async def step(request: Request) -> Response:
        token, key = token_of(request), request.query_params.get("key")
        return JsonReply(await service.step(token, key, language_of(request, study)))

    async def answer(request: Request) -> Response:
        token = token_of(request)
        submission = read_submission(await read_json(request), with_answer=True)
        try:
            return JsonReply(await service.answer(token, request.path_params["key"], submission))
        except Refused as refused:
            if refused.status != 409:
                raise
            language = language_of(request, study)
            return JsonReply({**_error(refused, language), "step": await service.step(token, None, language)}, 409)

    async def events(request: Request) -> Response:
        token = token_of(request)
        body = await read_json(request)
        batch = read_submission(body, with_answer=False)
        key = body.get("key") if isinstance(body, Mapping) else None
        if not isinstance(key, str):
            raise Refused.because("not_a_step", where="key", allowed="a text such as trial:1")
        await service.events(token, batch, key)
        return Response(status_code=204)

    async def presence(request: Request) -> Response:
        token = token_of(request)
        body = await read_json(request)
        if not isinstance(body, Mapping) or not isinstance(body.get("open"), bool):
            raise Refused.because("unclear_presence", where="open", allowed="true or false")
        service.hear(token, _parameter(body.get("tab", "")), is_open=bool(body["open"]))
        return Response(status_code=204)

    async def withdraw(request: Request) -> Response:
        return JsonReply({"step": await service.withdraw(token_of(request))})

    async def show_forget(request: Request) -> Response:
        return asset_response(request, erasure_pages[language_of(request, study)])

    async def forget(request: Request) -> Response:
        slow_limit.take(request.scope.get("beholder.address", ""))
        body = await read_json(request)
        receipt = body.get("receipt") if isinstance(body, Mapping) else None
        if not isinstance(receipt, str):
            raise Refused.because("receipt_not_a_text", where="receipt", allowed='{"receipt": "BH-…"}')
        at, remains = await service.forget(receipt)
        return JsonReply({"at": at.isoformat(), "is_on_disk": remains is not None})

    async def media(request: Request) -> Response:
        token = request.path_params["token"]
        return await media_response(request, token, await service.media(token), service.context.media.hosted)

    async def web(request: Request) -> Response:
        path = request.path_params["path"]
        asset = assets.files.get(path)
        if request.path_params["hash"] != assets.hash and assets.is_entry(path):
            # The page is of another version, which another server has: a whole page of this one will do as well.
            return Response(None, 307, {"location": f"/web/{assets.hash}/{path}"})
        if asset is None or request.path_params["hash"] != assets.hash:
            raise Refused.because("no_file", code="unknown_file", status=404)
        return asset_response(request, asset, "public, max-age=31536000, immutable")

    async def health(request: Request) -> Response:
        is_ready, room = await service.store.ready(), service.context.room
        if not is_ready:
            room.failed_at = service.now()
        readiness = service.readiness
        told: dict[str, Json] = {"study": study.name, "store": "ready" if is_ready else "away"}
        told |= readiness.facts("ready" if is_ready else "away")
        if room.is_low:
            told["room_mb"] = room.left_mb
        if service.backups is not None:
            told["backup"] = service.backups.state.facts
        if room.failed_at is not None:
            told["last_failed_commit"] = room.failed_at.isoformat(timespec="seconds")
        return JsonReply(told, *(() if told["state"] == "ready" else (503, {"retry-after": "5"})))

    async def front(request: Request) -> Response:
        return asset_response(request, pages[language_of(request, study)])

    async def document(request: Request) -> Response:
        return JsonReply(openapi_document(study.name, routes))

    routes = [
        ApiRoute("/", front, operations.FRONT),
        ApiRoute("/s/{study}", show, operations.SHOW),
        ApiRoute("/api/arrive", arrive, operations.ARRIVE),
        ApiRoute("/api/step", step, operations.STEP),
        ApiRoute("/api/answers/{key}", answer, operations.ANSWER),
        ApiRoute("/api/events", events, operations.EVENTS),
        ApiRoute("/api/presence", presence, operations.PRESENCE),
        ApiRoute("/api/withdraw", withdraw, operations.WITHDRAW),
        ApiRoute("/forget", show_forget, operations.SHOW_FORGET),
        ApiRoute("/api/forget", forget, operations.FORGET),
        ApiRoute("/media/{token}", media, operations.MEDIA),
        ApiRoute("/web/{hash}/{path:path}", web, operations.WEB),
        ApiRoute("/healthz", health, operations.HEALTH),
        ApiRoute("/openapi.json", document, operations.DOCUMENT),
        *lab_routes(service, assets, limit),
        *stage_routes(service, assets, token_of, limit),
    ]
    router = Router(routes, redirect_slashes=False)  # a redirect would be made from the Host that a request names
    handlers = _error_handlers(service, assets)
    app = DirectRoutes(Starlette(routes=[Mount("/", router)], exception_handlers=handlers), routes, handlers)
    hosted = service.context.media.hosted
    source = hosted.source if hosted is not None else ""
    headed = SecurityHeaders(WithoutTrailingSlash(app), source, lambda: service.readiness.is_draining)
    return headed  # outermost, so that error responses get them too


def _parameter(value: Json, longest: int = _LONGEST_PARAM) -> str:
    """Return a parameter that can be hashed and stored, or raise Refused."""
    if not isinstance(value, str) or len(value) > longest:
        raise Refused.because("long_parameter", where="params", allowed=f"up to {longest} characters")
    return value.encode("utf-8", "replace").decode()


def language_of(request: Request, study: Study) -> str:
    """Return the language of a request: of its address, else the one that the browser or our page asks for."""
    if len(study.all_languages) == 1:
        return study.language
    return best_language(study, request.query_params, request.headers.get("accept-language", "")).language


def _error(refused: Refused, language: str) -> dict[str, Any]:
    return {
        "error": {
            "code": refused.code, "message": refused.text(language), "where": refused.where or None,
            "allowed": refused.allowed or None, **refused.more,
        }
    }  # fmt: skip


ErrorHandlers = Mapping[Any, Callable[[Request, Exception], Awaitable[Response]]]


def _error_handlers(service: StudyService, assets: Assets) -> ErrorHandlers:
    """Return the replies to errors, by their type or status, in the language of the study.

    People who open an address get a page in the look of the study; our own pages, and machines, get JSON.
    """
    study, words = service.served.study, service.words

    def reply(request: Request, refused: Refused, status: int) -> Response:
        headers = {"retry-after": "2"} if status in (429, 503) else {}
        language = language_of(request, study)
        if "text/html" not in request.headers.get("accept", ""):
            return JsonReply(_error(refused, language), status, headers)
        is_lost, own = status in (404, 405), read_words(language)
        heading = own["page_lost" if is_lost else "page_refused" if status < 500 else "page_away"]
        page = assets.notice(study.in_language(language), heading, refused.text(language), leads_to_study=is_lost)
        return HTMLResponse(page.body, status, headers)

    async def refuse(request: Request, refused: Exception) -> Response:
        assert isinstance(refused, Refused)
        return reply(request, refused, refused.status)

    async def refuse_number(request: Request, error: Exception) -> Response:
        refused = Refused.because("number_too_large", where="body", allowed="numbers that a computer can hold")
        return reply(request, refused, refused.status)

    async def wait_for_store(request: Request, away: Exception) -> Response:
        now, room = service.now(), service.context.room
        if room.failed_at is None or now > room.failed_at + _LOG_EVERY:  # not once for every request
            _log.warning("the store is away: %s", away)
        room.failed_at = now
        return reply(request, Refused.because("store_away", code="store_away"), 503)

    async def wait_for_bucket(request: Request, away: Exception) -> Response:
        _log.warning("the media are away: %s", away)
        return reply(request, Refused(words["media_away"], code="media_away"), 503)

    async def begin_anew(request: Request, gone: Exception) -> Response:
        # A visit in which nothing was answered was removed while this request was under way.
        refused = Refused(words["unknown_token"], where="token", code="unknown_token", status=401)
        return reply(request, refused, refused.status)

    async def find_nothing(request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 404)
        return reply(request, Refused.because("nothing_here", code="not_found"), status)

    async def end_quietly(request: Request, gone: Exception) -> Response:
        return Response(status_code=400)  # nobody reads it: the other end left in the middle of its request

    async def report_fault(request: Request, error: Exception) -> Response:
        _log.error("%s %s failed", request.method, request.scope["path"], exc_info=error)
        return reply(request, Refused.because("our_fault", code="our_fault"), 500)

    return {
        Refused: refuse,
        NotJson: refuse_number,
        ClientDisconnect: end_quietly,
        StoreUnavailable: wait_for_store,
        BucketAway: wait_for_bucket,
        UnknownSession: begin_anew,
        404: find_nothing,
        405: find_nothing,
        Exception: report_fault,
    }


# Addresses

_ONE_VALUE = re.compile(r"^(/[a-z/]*/)\{([a-z]+)\}$")


class DirectRoutes:
    """ASGI middleware that calls the function of a route at once, where its path is fixed but for its last part.

    On the way through Starlette a request costs as much as reading an answer. Everything else goes that way: other
    paths, and methods that a route does not have.
    """

    def __init__(self, app: ASGIApp, routes: Sequence[Route], handlers: ErrorHandlers) -> None:
        self.app, self._handlers = app, handlers
        self._fixed: dict[tuple[str, str], Route] = {}
        self._with_value: dict[tuple[str, str], tuple[Route, str]] = {}
        for route in routes:
            found = _ONE_VALUE.match(route.path)
            for method in route.methods or ():
                if found is not None:
                    self._with_value[method, found[1]] = route, found[2]
                elif "{" not in route.path:
                    self._fixed[method, route.path] = route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path, params = scope["path"], {}
        route = self._fixed.get((scope["method"], path))
        if route is None:
            start, slash, value = path.rpartition("/")
            route, name = self._with_value.get((scope["method"], start + slash), (None, ""))
            params = {name: value}
            if route is None or not value:
                await self.app(scope, receive, send)
                return
        request = Request({**scope, "path_params": params}, receive)
        try:
            response = await route.endpoint(request)
        except Exception as error:
            response = await self._handler(error)(request, error)
        await response(scope, receive, send)

    def _handler(self, error: Exception) -> Callable[[Request, Exception], Awaitable[Response]]:
        return next(self._handlers[kind] for kind in type(error).__mro__ if kind in self._handlers)


class WithoutTrailingSlash:
    """ASGI middleware that reads `/s/study/` as `/s/study`.

    The server redirects nowhere: an address made from the request would repeat a forged Host, leave https behind a
    proxy, and write the ids of the query into further logs.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].endswith("/"):
            scope = {**scope, "path": scope["path"].rstrip("/") or "/"}
        await self.app(scope, receive, send)


# Security headers


def _policy(source: str) -> str:
    """Return the content security policy of a page; `source`: the bucket from which it fetches media, if there is one.

    It plays what it has fetched as a whole, so that nothing but fetching has to be allowed.
    """
    return "; ".join(
        [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob: data:",
            "media-src 'self' blob:", f"connect-src 'self' {source}".strip(), "base-uri 'none'", "form-action 'none'",
            "frame-ancestors 'none'",
        ]
    )  # fmt: skip


_HEADERS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "x-robots-tag": "noindex",
    "cache-control": "no-store",
}
"""Of what is not a page: the policies of the page are the ones that hold for it, so these are short."""

_PAGE_HEADERS = {
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), fullscreen=(self)",
}

_RAW = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]


class SecurityHeaders:
    """ASGI middleware that adds the headers to every response, and forbids caching unless a route sets it.

    While the server drains, every reply ends its connection, so that whoever sends opens the next one elsewhere.
    """

    def __init__(self, app: ASGIApp, source: str = "", is_draining: Callable[[], bool] = lambda: False) -> None:
        self.app, self._is_draining = app, is_draining
        page = _HEADERS | {"content-security-policy": _policy(source)} | _PAGE_HEADERS
        self._page = [(name.encode(), value.encode()) for name, value in page.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = dict(message["headers"])
                is_page = present.get(b"content-type", b"").startswith(b"text/html")
                added = (pair for pair in (self._page if is_page else _RAW) if pair[0] not in present)
                message["headers"] = [*message["headers"], *added]
                if self._is_draining():
                    message["headers"].append((b"connection", b"close"))
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)
