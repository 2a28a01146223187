"""Operations of the server: routes that say what they take and return, and the OpenAPI document that is made of them.

A route without an `Operation` cannot be written, so that the document, served at /openapi.json, lists every route and
nothing else. It says what a client has to know; what is inside a step or an answer belongs to the method of the study.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from beholder.server.requests import EVENT_KINDS, LATEST_MS

Schema = Mapping[str, Any]
_CONVERTER = re.compile(r"\{(\w+)(?::(\w+))?\}")


@dataclass(frozen=True)
class Operation:
    """What one method of one path takes and returns."""

    id: str
    summary: str
    replies: Mapping[int, Schema | str | None]
    """By status: the schema of a JSON reply, the media type of any other, or None where there is no body."""
    refusals: Sequence[int] = ()
    """Statuses of refusals, which are alike everywhere."""
    method: Literal["GET", "POST", "PUT"] = "GET"
    body: Schema | None = None
    query: Mapping[str, Schema] = field(default_factory=dict)
    key: Literal["session", "laboratory", "stage"] | None = None
    """Whose key has to be sent as a bearer token."""


class ApiRoute(Route):
    """A route with its operation."""

    def __init__(self, path: str, endpoint: Callable[[Request], Awaitable[Response]], operation: Operation) -> None:
        super().__init__(path, endpoint, methods=[operation.method])
        self.operation = operation


def openapi_document(study: str, routes: Iterable[ApiRoute]) -> dict[str, Any]:
    """Return the document of some routes (OpenAPI 3.1)."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        path = _CONVERTER.sub(r"{\1}", route.path)
        paths.setdefault(path, {})[route.operation.method.lower()] = _described(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"Beholder: {study}",
            "version": version("beholder"),
            "description": "What the browser of a participant asks of the server. HEAD is answered wherever GET is.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Error": _ERROR, "Step": _STEP, "Event": _EVENT, "Submission": _SUBMISSION},
            "securitySchemes": {
                "session": {"type": "http", "scheme": "bearer", "description": "The token that /api/arrive returns."},
                "laboratory": {"type": "http", "scheme": "bearer", "description": "The key of a station or operator."},
                "stage": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token that /api/stage/couple returns.",
                },
            },
        },
    }


def _described(route: ApiRoute) -> dict[str, Any]:
    one = route.operation
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "integer" if kind == "int" else "string"}}
        for name, kind in _CONVERTER.findall(route.path)
    ]
    parameters += [{"name": name, "in": "query", "schema": schema} for name, schema in one.query.items()]
    replies = {str(status): _reply(status, content) for status, content in one.replies.items()}
    # People who open an address get a page in the look of the study, programs get JSON.
    error = {"application/json": {"schema": _ref("Error")}, "text/html": {"schema": {"type": "string"}}}
    replies |= {str(status): {"description": _REFUSALS[status], "content": error} for status in one.refusals}
    described: dict[str, Any] = {"operationId": one.id, "summary": one.summary, "responses": replies}
    if parameters:
        described["parameters"] = parameters
    if one.body is not None:
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": one.body}}}
    if one.key is not None:
        described["security"] = [{one.key: []}]
    return described


def _reply(status: int, content: Schema | str | None) -> dict[str, Any]:
    described: dict[str, Any] = {"description": _REPLIES[status]}
    if isinstance(content, str):
        described["content"] = {content: {"schema": {"type": "string"}}}
    elif content is not None:
        described["content"] = {"application/json": {"schema": content}}
    return described


# Statuses

_REPLIES = {
    200: "As asked.", 201: "A new session.", 204: "Noted.", 206: "The range that was asked for.",
    304: "Not changed.", 307: "The same file: in the bucket that has it, or of this server's version.",
    409: "Another step is due; it is in the reply.", 416: "No such range.",
    503: "The store is away for a moment, or the server is about to end.",
}  # fmt: skip
_REFUSALS = {
    401: "No key, or a wrong one.", 403: "Nobody comes in here, or not this person.", 404: "There is no such thing.",
    409: "Another step is due.", 410: "The session has ended.", 413: "More than is read.",
    422: "The body is not as described here.", 429: "Too many requests: wait as long as retry-after says.",
    503: "The store is away for a moment: try again.",
}  # fmt: skip
_BODY = (413, 422)
_SESSION = (401, 403, 410, 429, 503)


# Shapes


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: Sequence[str] = (), **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


_TEXT: Schema = {"type": "string"}
_OR_NONE: Schema = {"type": ["string", "null"]}
_MS: Schema = {"type": "number", "minimum": 0, "exclusiveMaximum": LATEST_MS}
_NUMBER: Schema = {"type": "integer", "minimum": 1, "maximum": 999_999_999}
_MANY: Schema = {"type": "integer", "minimum": 0, "maximum": 1_000_000}
_ERROR = _object(
    ["error"],
    error=_object(["code", "message", "where", "allowed"], code=_TEXT, message=_TEXT, where=_OR_NONE, allowed=_OR_NONE),
)
_STEP = _object(["key", "kind"], key=_TEXT, kind=_TEXT)
_EVENT: Schema = {
    "description": "Milliseconds on the step's clock, kind, slot and data.",
    "type": "array",
    "prefixItems": [_MS, {"enum": sorted(EVENT_KINDS)}, _OR_NONE, {}],
    "minItems": 4,
    "maxItems": 4,
}
_LOG: Mapping[str, Schema] = {
    "events": {"type": "array", "items": _ref("Event")},
    "from": _MANY,
    "tab": {"type": "string", "maxLength": 64},
    "shown_ms": _MS,
    "sent_ms": _MS,
    "input": {"enum": ["mouse", "touch", "keyboard", "robot", ""]},
}
_SUBMISSION = _object(["answer"], answer={}, **_LOG)
_STATION = _object(["station"], station={"type": "integer"}, seat=_OR_NONE, resume=_OR_NONE)
_ARRIVAL = _object(
    ["token", "link", "step", "study", "preview", "draft"],
    token=_TEXT,
    link=_TEXT,
    step=_ref("Step"),
    study=_object(["name", "title", "language"], name=_TEXT, title=_TEXT, language=_TEXT),
)


# Operations

_PAGE = {200: "text/html"}
FRONT = Operation("front", "The page of the study.", _PAGE)
SHOW = Operation("show", "The page of the study, under its name.", _PAGE, (404,))
ARRIVE = Operation(
    "arrive",
    "Begin a session, or go on with one.",
    {200: _ARRIVAL, 201: _ARRIVAL},
    (401, 403, 404, *_BODY, 429, 503),
    "POST",
    _object(
        ["study"],
        study=_TEXT,
        params={"type": "object", "maxProperties": 32, "additionalProperties": {"type": "string", "maxLength": 512}},
        device={"type": "object"},
        token={"type": "string", "maxLength": 512, "description": "Of an earlier session, which the browser has kept."},
    ),
)
STEP = Operation(
    "step",
    "The step that is due.",
    {200: _ref("Step")},
    (*_SESSION, 404, 409),
    query={"key": {"description": "Which step; only a preview can choose.", "type": "string"}},
    key="session",
)
ANSWER = Operation(
    "answer",
    "Store the answer to a step, and get the next one.",
    {
        200: _object(["step"], step=_ref("Step")),
        409: {**_object(["step"], step=_ref("Step")), "allOf": [_ref("Error")]},
    },
    (*_SESSION, 404, *_BODY),
    "PUT",
    _ref("Submission"),
    key="session",
)
EVENTS = Operation(
    "events",
    "Store a part of the log of a step.",
    {204: None},
    (*_SESSION, 409, *_BODY),
    "POST",
    _object(
        ["key"],
        key=_TEXT,
        **_LOG,
        draft={
            "anyOf": [
                {"type": "null"},
                _object(["revision", "values"], revision=_MANY, shown_ms=_MS, values={"type": "object"}),
            ]
        },
    ),
    key="session",
)
PRESENCE = Operation(
    "presence",
    "Tell that a page is open, or was left.",
    {204: None},
    (*_SESSION, *_BODY),
    "POST",
    _object(["open"], open={"type": "boolean"}, tab={"type": "string", "maxLength": 512}),
    key="session",
)
WITHDRAW = Operation(
    "withdraw",
    "Erase the answers of this session.",
    {200: _object(["step"], step=_ref("Step"))},
    _SESSION,
    "POST",
    key="session",
)
SHOW_FORGET = Operation("show_forget", "The page on which somebody is erased by a receipt.", _PAGE)
FORGET = Operation(
    "forget",
    "Erase everything of the participant with a receipt.",
    {200: _object(["at", "is_on_disk"], at={"type": "string", "format": "date-time"}, is_on_disk={"type": "boolean"})},
    (404, *_BODY, 429, 503),
    "POST",
    _object(["receipt"], receipt=_TEXT),
)
MEDIA = Operation(
    "media",
    "A stimulus, or a picture or sound of a check, under its address for one session.",
    {200: "*/*", 206: "*/*", 304: None, 307: None, 416: None},
    (401, 403, 404, 410, 429, 503),
)
WEB = Operation("web", "A file of the browser's half of Beholder.", {200: "*/*", 307: None}, (404,))
_BACKUP = _object(
    ["at", "bytes", "failing_since", "queued_erasures"],
    at=_OR_NONE,
    bytes={"type": "integer"},
    failing_since=_OR_NONE,
    queued_erasures={"type": "integer"},
)
_HEALTH = _object(
    ["study", "store", "state", "digest", "version", "leads", "clock_off_ms"],
    study=_TEXT,
    store={"enum": ["ready", "away"]},
    state={"enum": ["ready", "draining", "away"]},
    digest=_TEXT,
    version=_TEXT,
    leads={"type": "boolean"},
    clock_off_ms={"type": ["integer", "null"]},
    backup=_BACKUP,
)
HEALTH = Operation(
    "health", "Whether people may be sent to this server, and what it serves.", {200: _HEALTH, 503: _HEALTH}
)
DOCUMENT = Operation("document", "This document.", {200: {"type": "object"}})
SHOW_OPERATOR = Operation("show_operator", "The page of the operator of a laboratory.", _PAGE)
SHOW_STATION = Operation("show_station", "The page of a station of a laboratory.", _PAGE, (404,))
_LABORATORY = (401, 404, 429, 503)
OVERVIEW = Operation(
    "overview",
    "Who sits at which station.",
    {200: _object(["stations"], stations={"type": "array", "items": _STATION})},
    _LABORATORY,
    key="laboratory",
)
STATION = Operation("station", "Who sits at a station.", {200: _STATION}, _LABORATORY, key="laboratory")
SEAT = Operation(
    "seat",
    "Seat the next participant at a station, or one who sat there before.",
    {200: _STATION},
    (*_LABORATORY, *_BODY),
    "POST",
    {"anyOf": [_object(["back"], back=_NUMBER), _object(["after"], after={"anyOf": [_NUMBER, {"type": "null"}]})]},
    key="laboratory",
)


# A separate stage

SHOW_STAGE = Operation("show_stage", "The page of the second device on which stimuli are shown.", _PAGE, (404,))
_SEEN = _object(
    ["watched", "share", "begun", "whole", "failure"],
    watched={"type": "boolean"}, share={"type": "number"}, begun=_MANY, whole=_MANY, failure=_OR_NONE,
)  # fmt: skip
_COUPLED = _object(
    ["code", "stage", "order", "slots"],
    code={
        "anyOf": [
            {"type": "null"},
            _object(["text", "address", "qr", "seconds"], text=_TEXT, address=_TEXT, seconds={"type": "integer"}),
        ]
    },
    stage={"anyOf": [{"type": "null"}, _object(["number", "here"], number=_MANY, here={"type": "boolean"})]},
    order=_MANY,
    slots={"type": "object", "additionalProperties": _SEEN},
)
STAGE_STATE = Operation(
    "stage_state",
    "Whether a device is coupled as the stage of this session, and what was watched on it.",
    {200: _COUPLED},
    _SESSION,
    query={"key": {"description": "The step that is shown.", "type": "string"}},
    key="session",
)
STAGE_CODE = Operation(
    "stage_code",
    "Show a code by which a device becomes the stage of this session.",
    {200: _COUPLED},
    (*_SESSION, *_BODY),
    "POST",
    _object(["key"], key=_TEXT),
    key="session",
)
STAGE_ORDER = Operation(
    "stage_order",
    "Let the stage play something.",
    {200: _COUPLED},
    (*_SESSION, 409, *_BODY),
    "POST",
    _object(
        ["key", "number", "ms", "slots", "way"],
        key=_TEXT,
        number={"type": "integer", "minimum": 1, "maximum": 10_000},
        ms={"type": "number", "minimum": 0, "maximum": 1e12},
        slots={"type": "array", "items": _TEXT, "minItems": 1, "maxItems": 8},
        way={"enum": ["one", "sequence"]},
        gap={"type": "number", "minimum": 0, "maximum": 10},
        passes={"type": "integer", "minimum": 1, "maximum": 10},
    ),
    key="session",
)
STAGE_COUPLE = Operation(
    "stage_couple",
    "Become the stage of the session that shows a code.",
    {200: _object(["token", "title"], token=_TEXT, title=_TEXT)},
    (403, 404, 410, *_BODY, 429, 503),
    "POST",
    _object(["code"], code={"type": "string", "maxLength": 64}, device={"type": "object"}),
)
STAGE_REPORT = Operation(
    "stage_report",
    "Tell what was shown on the stage, and ask what is to be shown.",
    {200: _object(["ended", "key", "trial", "order"], ended={"type": "boolean"}, key=_OR_NONE)},
    (*_SESSION, *_BODY),
    "POST",
    _object(
        ["page"],
        key=_OR_NONE,
        page={"type": "string", "minLength": 1, "maxLength": 32, "pattern": "^[A-Za-z0-9]+$"},
        events={"type": "array"},
        **{"from": _MANY},
    ),
    key="stage",
)
