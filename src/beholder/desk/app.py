"""The HTTP application of the desk: its pages, its API, and what is replied where something is wrong."""

from __future__ import annotations

import base64
import gzip
import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from beholder.desk import operations
from beholder.desk.access_routes import access_routes
from beholder.desk.context import Desk
from beholder.desk.gate import DeskHeaders, NotAllowed, file_in, not_here, problem_reply
from beholder.desk.logins import DeskSession
from beholder.desk.operations import openapi_document
from beholder.desk.study_routes import study_routes
from beholder.errors import Problem, Refused, UserError
from beholder.server.requests import JsonReply
from beholder.store.contract import NotJson, StoreUnavailable

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
_PARTS = {"style": "css", "script": "js"}


def make_desk(desk: Desk) -> ASGIApp:
    """Return the application of a desk."""
    gate = desk.gate

    def page(handler: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
        """Let only those through who are logged in; others get the page that asks for it."""

        async def handle(request: Request) -> Response:
            desk.require_own_host(request)
            if gate.session(request) is None and "text/html" in request.headers.get("accept", ""):
                return _login_page(401)
            desk.require_session(request)
            return handler(request)

        return handle

    async def log_in(request: Request) -> Response:
        desk.require_own_host(request)
        return RedirectResponse("/", 303) if gate.session(request) else _login_page(200)

    def front(request: Request) -> Response:
        return _file(request, _WEB / "index.html")

    def static(request: Request) -> Response:
        file = file_in(_WEB, request.path_params["path"])
        if file is None or file.suffix not in _TYPES:
            raise not_here("file")
        return _file(request, file)

    def shared(request: Request) -> Response:
        if request.path_params["path"] not in SHARED:
            raise not_here("file")
        return _file(request, _PARTICIPANTS_WEB / request.path_params["path"])

    async def nothing(request: Request) -> Response:
        desk.require_session(request)
        raise not_here()

    async def document(request: Request, session: DeskSession) -> Response:
        return JsonReply(openapi_document(api))

    api = [
        *access_routes(desk),
        desk.route("/api/openapi.json", document, operations.DOCUMENT),
        *study_routes(desk),
    ]
    routes = [
        Route("/login", log_in),
        *api,
        Route("/api/{path:path}", nothing, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
        Route("/static/{path:path}", page(static)),
        Route("/web/{path:path}", page(shared)),
        Route("/{page:path}", page(front)),
    ]
    return DeskHeaders(Starlette(routes=routes, exception_handlers=_ERROR_HANDLERS), is_secure=gate.is_secure)


@cache
def _login_parts() -> tuple[bytes, str]:
    """Return the page that asks for a log-in, whole in itself, and the policy under which its parts run."""
    parts = {name: (_WEB / f"login.{suffix}").read_text("utf-8") for name, suffix in _PARTS.items()}
    page = (_WEB / "login.html").read_text("utf-8")
    for name, text in parts.items():
        page = page.replace(f"{{{{{name}}}}}", text)
    hashes = {name: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for name, text in parts.items()}
    policy = (
        f"default-src 'none'; script-src 'sha256-{hashes['script']}'; style-src 'sha256-{hashes['style']}'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    return page.encode(), policy


def _login_page(status: int) -> Response:
    page, policy = _login_parts()
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


async def _refuse_number(request: Request, error: Exception) -> Response:
    return problem_reply(422, [Problem("body", "holds a number that no computer can hold")])


async def _wait_for_store(request: Request, error: Exception) -> Response:
    _log.warning("the store is away: %s", error)
    problem = Problem("store", "cannot be reached right now", "", "The desk tries again by itself.")
    return problem_reply(503, [problem], {"retry-after": "5"})


async def _end_quietly(request: Request, error: Exception) -> Response:
    return Response(status_code=400)  # nobody reads it


async def _tell_status(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    what = "does not take this method" if status == 405 else "is not on this desk"
    return problem_reply(status, [Problem("page", what)])


async def _report_fault(request: Request, error: Exception) -> Response:
    _log.error("%s %s failed", request.method, request.scope["path"], exc_info=error)
    return problem_reply(500, [Problem("desk", "failed; the fault is ours", "", "Its log says more.")])


_ERROR_HANDLERS: Mapping[Any, Callable[[Request, Exception], Awaitable[Response]]] = MappingProxyType(
    {
        NotAllowed: _refuse,
        UserError: _tell_problems,
        Refused: _tell_refusal,
        NotJson: _refuse_number,
        StoreUnavailable: _wait_for_store,
        ClientDisconnect: _end_quietly,
        HTTPException: _tell_status,
        Exception: _report_fault,
    }
)
