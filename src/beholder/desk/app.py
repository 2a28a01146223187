"""The HTTP application of the desk: its routes, and who may reach each of them."""

from __future__ import annotations

import base64
import gzip
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property, lru_cache
from importlib import import_module, resources
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from beholder.desk.desk_study import DeskStudy, OpenStudies
from beholder.desk.gate import (
    SAFE_METHODS,
    DeskHeaders,
    Gate,
    NotAllowed,
    not_here,
    not_logged_in,
    problem_reply,
)
from beholder.desk.logins import DeskSession, Tries, end_session, use_link
from beholder.desk.viewer import Scope, Viewer
from beholder.errors import Problem, Refused, UserError
from beholder.server.requests import JsonReply, read_json
from beholder.store.contract import StoreUnavailable

_log = logging.getLogger("beholder.desk")
_WEB = Path(str(resources.files("beholder.desk"))) / "web"
_PARTICIPANTS_WEB = Path(str(resources.files("beholder.web")))
SHARED = ("element.js", "icons.js", "words.js", "mark.svg", "style/tokens.css", "style/base.css")
"""What the pages of the desk take from those of participants."""
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}


class Desk:
    """What the routes of a desk share: its studies, its gate, and the wrong tries at its door."""

    def __init__(self, studies: OpenStudies, gate: Gate, clock: Callable[[], float] = time.monotonic) -> None:
        self.studies, self.gate, self.tries = studies, gate, Tries(clock)

    @cached_property
    def login_page(self) -> tuple[bytes, str]:
        """The page that asks for a log-in, whole in itself, and the policy under which its parts run."""
        parts = {name: (_WEB / f"login.{suffix}").read_text("utf-8") for name, suffix in _PARTS.items()}
        page = (_WEB / "login.html").read_text("utf-8")
        for name, text in parts.items():
            page = page.replace(f"{{{{{name}}}}}", text)
        hashes = {
            name: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for name, text in parts.items()
        }
        policy = (
            f"default-src 'none'; script-src 'sha256-{hashes['script']}'; style-src 'sha256-{hashes['style']}'; "
            "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
        return page.encode(), policy


_PARTS = {"style": "css", "script": "js"}
DeskHandler = Callable[[Request, DeskSession], Awaitable[Response]]


def make_desk(desk: Desk) -> ASGIApp:
    """Return the application of a desk."""
    gate = desk.gate

    def inside(handler: DeskHandler) -> Callable[[Request], Awaitable[Response]]:
        """Let only those through who are logged in, and changes only from the desk's own pages."""

        async def handle(request: Request) -> Response:
            _require_own_host(gate, request)
            session = gate.session(request)
            if session is None:
                if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
                    return _login_page(desk, 401)
                raise not_logged_in()
            if request.method not in SAFE_METHODS:
                _require_own_origin(gate, request)
            return await handler(request, session)

        return handle

    def of_study(scope: Scope, name: str) -> Callable[[Request], Awaitable[Response]]:
        """Return the route of a document about one study."""

        async def handle(request: Request, session: DeskSession) -> Response:
            study, viewer = await study_of(desk, request, session, scope)
            query = {**request.query_params, **{k: v for k, v in request.path_params.items() if k != "key"}}
            return JsonReply(await _document(name, study, viewer, query))

        return inside(handle)

    async def log_in_page(request: Request) -> Response:
        _require_own_host(gate, request)
        return RedirectResponse("/", 303) if gate.session(request) else _login_page(desk, 200)

    async def log_in(request: Request) -> Response:
        _require_own_host(gate, request)
        _require_own_origin(gate, request)
        body = await read_json(request, 8192)
        fields = body if isinstance(body, Mapping) else {}
        texts = {name: value for name, value in fields.items() if isinstance(value, str)}
        address, name = request.scope.get("beholder.address", ""), texts.get("name", "")
        if (seconds := desk.tries.wait_s(address, name)) > 0:
            wait = str(int(seconds) + 1)
            raise NotAllowed(429, Problem("log-in", f"waits {wait} s after wrong tries"), {"retry-after": wait})
        begun = use_link(gate.file, texts["code"], _browser(request)) if "code" in texts else None
        if begun is None:
            desk.tries.count(address, name)
            what = "has been used, or is too old" if "code" in texts else "is wrong"
            where = "link" if "code" in texts else "name or the password"
            raise NotAllowed(401, Problem(where, what, "", "`beholder open desk` makes a new link."))
        desk.tries.forget(address, name)
        if (before := gate.session(request)) is not None:  # this browser has one session
            end_session(gate.file, before.id)
        secret, session = begun
        reply = JsonReply(_me(session))
        gate.set_cookie(reply, secret)
        return reply

    async def log_out(request: Request, session: DeskSession) -> Response:
        end_session(gate.file, session.id)
        reply = JsonReply({"words": "Logged out."})
        gate.delete_cookie(reply)
        return reply

    async def me(request: Request, session: DeskSession) -> Response:
        return JsonReply(_me(session))

    async def front(request: Request, session: DeskSession) -> Response:
        return _file(request, _WEB / "index.html")

    async def static(request: Request, session: DeskSession) -> Response:
        file = (_WEB / request.path_params["path"]).resolve()
        if not file.is_relative_to(_WEB.resolve()) or file.suffix not in _TYPES or not file.is_file():
            raise not_here("file")
        return _file(request, file)

    async def shared(request: Request, session: DeskSession) -> Response:
        if request.path_params["path"] not in SHARED:
            raise not_here("file")
        return _file(request, _PARTICIPANTS_WEB / request.path_params["path"])

    async def all_studies(request: Request, session: DeskSession) -> Response:
        studies = []
        for key, place in desk.studies.places.items():
            if session.sees(place.identity):
                try:
                    if (study := await desk.studies.find(key)) is not None:
                        studies.append(study)
                except (UserError, StoreUnavailable) as error:
                    _log.warning("%s cannot be opened: %s", key, error)
        document = import_module("beholder.desk.documents.studies").document
        return JsonReply(await document(tuple(studies), session.viewer, **request.query_params))

    study = "/api/studies/{key}"
    routes = [
        Route("/login", log_in_page),
        Route("/api/login", log_in, methods=["POST"]),
        Route("/api/logout", inside(log_out), methods=["POST"]),
        Route("/api/me", inside(me)),
        Route("/api/studies", inside(all_studies)),
        Route(f"{study}/now", of_study("now", "now")),
        Route(f"{study}/people", of_study("people", "people")),
        Route(f"{study}/people/{{person}}", of_study("people", "people")),
        Route(f"{study}/people/{{person}}/sessions/{{session}}/replay", of_study("replay", "replay")),
        Route(f"{study}/decisions", of_study("decisions", "decisions")),
        Route(f"{study}/results", of_study("results", "results")),
        Route(f"{study}/study", of_study("study", "study")),
        Route("/static/{path:path}", inside(static)),
        Route("/web/{path:path}", inside(shared)),
        Route("/", inside(front)),
        Route("/{page:path}", inside(front)),
    ]
    app = Starlette(routes=routes, exception_handlers=_ERROR_HANDLERS)
    return DeskHeaders(app, is_secure=gate.is_secure)


async def study_of(desk: Desk, request: Request, session: DeskSession, scope: Scope) -> tuple[DeskStudy, Viewer]:
    """Return the study of an address and its viewer, or raise: what a viewer may not see is not there for them."""
    place = desk.studies.places.get(request.path_params["key"])
    if place is None or not session.sees(place.identity):
        raise not_here("study")
    if not session.viewer.may(scope):
        raise NotAllowed(403, Problem(scope, f"is not for {session.viewer.name}", "", "Ask the owner of this desk."))
    study = await desk.studies.find(place.key)
    assert study is not None
    return study, session.viewer


async def _document(name: str, study: DeskStudy, viewer: Viewer, query: Mapping[str, str]) -> Any:
    document = import_module(f"beholder.desk.documents.{name}").document
    known = signature(document).parameters
    return await document(study, viewer, **{name: value for name, value in query.items() if name in known})


def _require_own_host(gate: Gate, request: Request) -> None:
    if not gate.is_own_host(request.headers.get("host", "")):
        raise NotAllowed(421, Problem("address", "is not that of this desk", gate.public_url or "localhost"))


def _require_own_origin(gate: Gate, request: Request) -> None:
    if not gate.is_own_origin(request):
        raise NotAllowed(403, Problem("Origin", "is not this desk", "a change from a page of the desk"))


def _browser(request: Request) -> str:
    return request.headers.get("user-agent", "")


def _me(session: DeskSession) -> dict[str, Any]:
    viewer = session.viewer
    return {
        "name": viewer.name, "role": viewer.role, "scopes": sorted(viewer.scopes), "kind": session.kind,
        "ends_at": session.ends_at.isoformat(),
    }  # fmt: skip


def _login_page(desk: Desk, status: int) -> Response:
    page, policy = desk.login_page
    return Response(page, status, {"content-security-policy": policy}, _TYPES[".html"])


def _file(request: Request, file: Path) -> Response:
    headers = {"cache-control": "no-cache", "vary": "accept-encoding"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(file.read_bytes(), media_type=_TYPES[file.suffix], headers=headers)
    packed = _packed(file, file.stat().st_mtime_ns)
    return Response(packed, media_type=_TYPES[file.suffix], headers=headers | {"content-encoding": "gzip"})


@lru_cache(maxsize=128)
def _packed(file: Path, changed_ns: int) -> bytes:
    """Return a file, compressed once for each state of it."""
    return gzip.compress(file.read_bytes(), mtime=0)


# Replies to errors


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, NotAllowed)
    return problem_reply(error.status, error.problems, error.headers)


async def _tell_problems(request: Request, error: Exception) -> Response:
    assert isinstance(error, UserError)
    return problem_reply(422, error.problems)


async def _tell_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return problem_reply(error.status, [Problem(error.where or "request", error.what, error.allowed)])


async def _wait_for_store(request: Request, error: Exception) -> Response:
    problem = Problem("store", f"cannot be reached ({error})", "", "The desk tries again by itself.")
    return problem_reply(503, [problem], {"retry-after": "5"})


async def _end_quietly(request: Request, error: Exception) -> Response:
    return Response(status_code=400)


async def _find_nothing(request: Request, error: Exception) -> Response:
    return problem_reply(getattr(error, "status_code", 404), [Problem("page", "is not on this desk")])


async def _report_fault(request: Request, error: Exception) -> Response:
    _log.error("%s %s failed", request.method, request.scope["path"], exc_info=error)
    return problem_reply(500, [Problem("desk", "failed; the fault is ours", "", "Its log says more.")])


_ERROR_HANDLERS: Mapping[Any, Callable[[Request, Exception], Awaitable[Response]]] = MappingProxyType(
    {
        NotAllowed: _refuse,
        UserError: _tell_problems,
        Refused: _tell_refusal,
        StoreUnavailable: _wait_for_store,
        ClientDisconnect: _end_quietly,
        404: _find_nothing,
        405: _find_nothing,
        Exception: _report_fault,
    }
)
