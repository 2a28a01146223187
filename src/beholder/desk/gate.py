"""The gate of the desk: whose request it is, whether it comes from the desk's own pages, and what the reply may do.

Nothing is let through without a log-in but the page that asks for one. A change needs a request from a page of this
desk: a browser tells where a page is from, and another page cannot make it tell otherwise.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beholder.desk.access_file import AccessFile
from beholder.desk.logins import DeskSession, find_session
from beholder.errors import BeholderError, Problem
from beholder.server.requests import JsonReply

COOKIE, SECURE_COOKIE = "beholder_desk", "__Host-beholder_desk"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class NotAllowed(BeholderError):
    """A request to the desk that is refused: its status, and what is wrong."""

    def __init__(self, status: int, problem: Problem, headers: dict[str, str] | None = None) -> None:
        self.status, self.problems, self.headers = status, (problem,), headers or {}
        super().__init__(str(problem))


LOG_IN = "Open the link that `beholder desk` prints, or log in."


def not_logged_in() -> NotAllowed:
    """Return that nobody is logged in: what there is is not told."""
    return NotAllowed(401, Problem("log-in", "is needed", "", LOG_IN))


def not_here(what: str = "page") -> NotAllowed:
    """Return that nothing is at an address: also where it is only not for this viewer."""
    return NotAllowed(404, Problem(what, "is not on this desk"))


def problem_reply(status: int, problems: Collection[Problem], headers: dict[str, str] | None = None) -> Response:
    """Return problems as every command writes them with --json."""
    return JsonReply({"problems": [vars(problem) for problem in problems]}, status, headers or {})


@dataclass(frozen=True)
class Gate:
    """What the desk believes of a request: its own address, and who is logged in."""

    file: AccessFile
    public_url: str = ""
    """Where the desk is reached from elsewhere; empty where only from this machine."""

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the desk through TLS."""
        return self.public_url.startswith("https://")

    @property
    def cookie(self) -> str:
        """The name of the cookie: the one that only this very address may set, where there is TLS."""
        return SECURE_COOKIE if self.is_secure else COOKIE

    def is_own_host(self, host: str) -> bool:
        """Return whether a request names this desk: another name would be one that leads here by a trick of DNS."""
        name = urlsplit(f"//{host}").hostname or ""
        if self.public_url:
            return host == urlsplit(self.public_url).netloc or _is_loopback(name)
        return _is_loopback(name)

    def is_own_origin(self, request: Request) -> bool:
        """Return whether a change comes from a page of this desk."""
        origin = request.headers.get("origin", "")
        if not origin:  # every browser names one with a change
            return False
        if self.public_url and origin == self.public_url.rstrip("/"):
            return True
        host = request.headers.get("host", "")
        return origin == f"http://{host}" and _is_loopback(urlsplit(origin).hostname or "")

    def session(self, request: Request) -> DeskSession | None:
        """Return the session of the browser that asks; None without one that holds."""
        secret = request.cookies.get(self.cookie, "")
        return find_session(self.file, secret) if secret else None

    def set_cookie(self, reply: Response, secret: str) -> None:
        """Let the browser keep the secret of a session until the browser ends: for this address and no script."""
        reply.set_cookie(self.cookie, secret, path="/", secure=self.is_secure, httponly=True, samesite="strict")

    def delete_cookie(self, reply: Response) -> None:
        """Let the browser forget its session."""
        reply.delete_cookie(self.cookie, path="/", secure=self.is_secure, httponly=True, samesite="strict")


def _is_loopback(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def file_in(root: Path, path: str) -> Path | None:
    """Return a file below a folder; None where there is none, or the path leads out of it."""
    try:
        file = (root / path).resolve()
        return file if file.is_relative_to(root.resolve()) and file.is_file() else None
    except (OSError, ValueError):  # such as a name that no system takes
        return None


_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; "
    "font-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}


class DeskHeaders:
    """ASGI middleware that adds the headers to every reply that does not set them itself."""

    def __init__(self, app: ASGIApp, *, is_secure: bool) -> None:
        self.app = app
        headers = _HEADERS | ({"strict-transport-security": "max-age=31536000"} if is_secure else {})
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(one for one in self._headers if one[0] not in present)]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)
