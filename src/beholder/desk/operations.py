"""Operations of the desk: what each route takes, returns and needs, and the OpenAPI document that is made of them.

A route without an `Operation` cannot be written, so the document, served at /api/openapi.json, lists every route of the
API and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from beholder.desk.acts import KINDS
from beholder.desk.viewer import ROLES, SCOPES, Scope

Schema = Mapping[str, Any]
_CONVERTER = re.compile(r"\{(\w+)(?::(\w+))?\}")
TEXT: Schema = {"type": "string"}
_DOCUMENT: Schema = {"type": "object"}
_WORDS: Schema = {
    "type": "object",
    "required": ["words"],
    "properties": {"words": {"oneOf": [TEXT, {"type": "array", "items": TEXT}]}},
}


@dataclass(frozen=True)
class DeskOperation:
    """What one method of one path takes, returns and needs."""

    id: str
    summary: str
    needs: Scope | Literal["nothing", "log-in"]
    """The scope that somebody needs; `log-in` where any log-in will do, `nothing` for logging in."""
    reply: Schema | str = field(default_factory=lambda: _DOCUMENT)
    """The schema of a JSON reply, or the media type of any other."""
    method: Literal["GET", "POST", "DELETE"] = "GET"
    body: Schema | None = None
    query: Mapping[str, Schema] = field(default_factory=dict)


class DeskRoute(Route):
    """A route of the API with its operation."""

    def __init__(self, path: str, endpoint: Callable[[Request], Awaitable[Response]], operation: DeskOperation) -> None:
        super().__init__(path, endpoint, methods=[operation.method])
        self.operation = operation


def openapi_document(routes: Iterable[DeskRoute]) -> dict[str, Any]:
    """Return the document of some routes (OpenAPI 3.1)."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        path = _CONVERTER.sub(r"{\1}", route.path)
        paths.setdefault(path, {})[route.operation.method.lower()] = _described(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Beholder desk",
            "version": version("beholder"),
            "description": "What the pages of the desk ask of it, and what programs may ask with a token.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Problems": _PROBLEMS},
            "securitySchemes": {
                "session": {"type": "apiKey", "in": "cookie", "name": "beholder_desk"},
                "token": {"type": "http", "scheme": "bearer", "description": "Made by `beholder access token`."},
            },
        },
    }


def _described(route: DeskRoute) -> dict[str, Any]:
    one = route.operation
    content = {one.reply: {"schema": TEXT}} if isinstance(one.reply, str) else {
        "application/json": {"schema": one.reply}
    }  # fmt: skip
    replies: dict[str, Any] = {"200": {"description": "As asked.", "content": content}}
    if one.reply == _MEDIA:
        replies["206"] = {"description": "The range that was asked for.", "content": content}
    problems = {"application/json": {"schema": {"$ref": "#/components/schemas/Problems"}}}
    statuses = {**_REFUSALS, **({"416": "No such range."} if one.reply == _MEDIA else {})}
    replies |= {status: {"description": words, "content": problems} for status, words in statuses.items()}
    described: dict[str, Any] = {"operationId": one.id, "summary": one.summary, "responses": replies}
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": TEXT} for name, _ in _CONVERTER.findall(route.path)
    ]
    parameters += [{"name": name, "in": "query", "schema": schema} for name, schema in one.query.items()]
    if parameters:
        described["parameters"] = parameters
    if one.body is not None:
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": one.body}}}
    if one.needs != "nothing":
        described["security"] = [{"session": []}, {"token": []}]
        described["x-needs"] = one.needs
    return described


_MEDIA = "application/octet-stream"
_REFUSALS = {
    "400": "The request broke off.", "401": "Nobody is logged in.", "403": "Not for this viewer, or not from the desk.",
    "404": "There is no such thing on this desk.", "405": "Not with this method.", "413": "More than is read.",
    "421": "Not the address of this desk.", "422": "What is asked for cannot be done; the problems say why.",
    "429": "Too many wrong tries: wait as long as retry-after says.", "503": "The store is away for a moment.",
}  # fmt: skip
_PROBLEMS = {
    "type": "object",
    "required": ["problems"],
    "properties": {
        "problems": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["where", "what", "allowed", "fix"],
                "properties": dict.fromkeys(("where", "what", "allowed", "fix"), TEXT),
            },
        }
    },
}


def _object(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


_SCOPES: Schema = {"type": "array", "items": {"enum": list(SCOPES)}}
_PAGES: Mapping[str, Schema] = {"search": TEXT, "state": TEXT, "offset": TEXT, "limit": TEXT}

# Logging in

LOG_IN = DeskOperation(
    "logIn", "Log in with the code of a one-time link, a share, or a name and a password.", "nothing", method="POST",
    body={"oneOf": [_object({"code": TEXT}), _object({"share": TEXT}), _object({"name": TEXT, "password": TEXT})]},
)  # fmt: skip
LOG_OUT = DeskOperation("logOut", "End the session of this browser.", "log-in", _WORDS, method="POST", body=_DOCUMENT)
ME = DeskOperation("me", "Who is logged in, and what they may.", "log-in")
DOCUMENT = DeskOperation("openapi", "This document.", "log-in")

# Credentials

SESSIONS = DeskOperation("sessions", "The sessions that are open.", "access")
END_SESSION = DeskOperation("endSession", "End a session.", "access", _WORDS, method="DELETE")
ACCOUNTS = DeskOperation("accounts", "The accounts of this desk.", "access")
ADD_ACCOUNT = DeskOperation(
    "addAccount", "Add an account, or give it another role and password.", "access", method="POST",
    body=_object({"name": TEXT, "role": {"enum": list(ROLES)}, "password": TEXT}, {"studies": {"type": "array"}}),
)  # fmt: skip
REMOVE_ACCOUNT = DeskOperation("removeAccount", "Remove an account and its sessions.", "access", _WORDS, "DELETE")
TOKENS = DeskOperation("tokens", "The tokens that hold.", "access")
ADD_TOKEN = DeskOperation(
    "addToken", "Make a token, which is seen once.", "access", method="POST",
    body=_object({"name": TEXT, "scopes": _SCOPES, "until": TEXT}, {"studies": {"type": "array"}}),
)  # fmt: skip
REVOKE_TOKEN = DeskOperation("revokeToken", "Revoke a token.", "access", _WORDS, "DELETE")
SHARES = DeskOperation("shares", "The shares of a study that hold, and what a share may show.", "access")
ADD_SHARE = DeskOperation(
    "addShare", "Make a read-only link, which is seen once.", "access", method="POST",
    body=_object({"name": TEXT, "scopes": _SCOPES, "until": TEXT}, {"stays_blinded": {"type": "boolean"}}),
)  # fmt: skip
REVOKE_SHARE = DeskOperation("revokeShare", "Revoke a share and its sessions.", "access", _WORDS, "DELETE")

# Studies

STUDIES = DeskOperation("studies", "All studies of this desk that the viewer may see.", "log-in")
NOW = DeskOperation("now", "How a study goes: the document of `beholder monitor --json`.", "now")
STREAM = DeskOperation("stream", "The same whenever it changes, as server-sent events.", "now", "text/event-stream")
PEOPLE = DeskOperation("people", "A page of everybody who came.", "people", query=_PAGES)
PERSON = DeskOperation("person", "One person.", "people")
REPLAY = DeskOperation("replay", "One session as timelines.", "replay", query={"page": TEXT})
DECISIONS = DeskOperation("decisions", "A page of the decisions with their evidence.", "decisions", query=_PAGES)
RESULTS = DeskOperation("results", "Scores and intervals, under code names until unblinded.", "results")
STUDY = DeskOperation("study", "The study file, its problems, its plan and its storyboard.", "study")
MEDIA = DeskOperation("media", "A stimulus, for replay.", "replay", _MEDIA)
REPORT = DeskOperation("report", "A file of the report, or of what stands beside it.", "log-in", _MEDIA)
ACT = DeskOperation(
    "act", "Do something, as the command of that name does it.", "log-in", _WORDS, "POST",
    _object({"kind": {"enum": list(KINDS)}, "reason": TEXT},
            {"who": TEXT, "submission": TEXT, "pay": TEXT, "use": {"type": "boolean"}, "category": TEXT,
             "message": TEXT, "seen": TEXT, "amount": TEXT, "id": TEXT}),
)  # fmt: skip
