"""Routes about studies: documents, the live page Now, stimuli for replay, the report, and acts."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from beholder.desk import operations
from beholder.desk.acts import scope_of
from beholder.desk.context import Desk, not_for
from beholder.desk.desk_study import DeskStudy
from beholder.desk.gate import NotAllowed, file_in, not_here
from beholder.desk.logins import DeskSession
from beholder.desk.operations import DeskOperation, DeskRoute
from beholder.desk.viewer import Viewer
from beholder.errors import Problem
from beholder.server.media import media_response
from beholder.server.requests import JsonReply, read_json
from beholder.store.tables import encode_finite

_QUIET_S = 15.0
"""How long a stream may say nothing before it says that it is there."""
_LARGEST_ACT = 64 * 1024
_REPORT_POLICY = (
    "sandbox allow-scripts allow-popups allow-downloads; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' "
    "blob:; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; worker-src blob:; frame-ancestors 'self'"
)
"""A report may run its own scripts, in a place of its own from which it reaches nothing of the desk."""
_PICTURE_TYPES = ("image/png", "image/jpeg", "image/svg+xml", "image/webp")


def study_routes(desk: Desk) -> list[DeskRoute]:
    """Return the routes about studies."""

    def document(name: str) -> Callable[[Request, DeskSession], Awaitable[Response]]:
        """Return the route of a document about one study."""

        async def handle(request: Request, session: DeskSession) -> Response:
            study, viewer = await desk.study(request, session)
            path = {name: value for name, value in request.path_params.items() if name != "key"}
            return JsonReply(await _document(name, study, viewer, {**_query(request, name), **path}))

        return handle

    async def studies(request: Request, session: DeskSession) -> Response:
        visible, wrong = await desk.visible(session)
        shown = []
        for study in visible:  # each as blinded as it is
            viewer = await desk.viewer(study, session)
            shown += (await _function("studies")((study,), viewer))["studies"]
        broken = [{"key": key, "words": str(error)} for key, error in wrong.items()]
        return JsonReply({"studies": shown, "broken": broken})

    async def stream(request: Request, session: DeskSession) -> Response:
        study, _ = await desk.study(request, session)
        return StreamingResponse(_events(desk, request, session, study), media_type="text/event-stream")

    async def media(request: Request, session: DeskSession) -> Response:
        study, _ = await desk.study(request, session)
        token = request.path_params["token"]
        stimulus = study.stimulus_of(token, await desk.studies.stimuli(study))
        if stimulus is None or not stimulus.served.is_file():
            raise not_here("stimulus")
        return await media_response(request, token, ServedFile(stimulus.served))

    async def report(request: Request, session: DeskSession) -> Response:
        study, viewer = await desk.study(request, session)
        return await asyncio.to_thread(_report_file, study, viewer, session, request.path_params["path"])

    async def act(request: Request, session: DeskSession) -> Response:
        study, viewer = await desk.study(request, session)
        body = await read_json(request, _LARGEST_ACT)
        scope = scope_of(body)
        if not viewer.may(scope):
            raise not_for(session, scope)
        return JsonReply((await desk.acts.perform(study, viewer, body)).to_json())

    def one(path: str, name: str, operation: DeskOperation) -> DeskRoute:
        return desk.route(f"/api/studies/{{key}}/{path}", document(name), operation)

    study = "/api/studies/{key}"
    return [
        desk.route("/api/studies", studies, operations.STUDIES),
        one("now", "now", operations.NOW),
        desk.route(f"{study}/stream", stream, operations.STREAM),
        one("people", "people", operations.PEOPLE),
        one("people/{person}", "people", operations.PERSON),
        one("people/{person}/sessions/{session}/replay", "replay", operations.REPLAY),
        one("decisions", "decisions", operations.DECISIONS),
        one("results", "results", operations.RESULTS),
        one("study", "study", operations.STUDY),
        desk.route(f"{study}/media/{{token}}", media, operations.MEDIA),
        desk.route(f"{study}/report/{{path:path}}", report, operations.REPORT),
        desk.route(f"{study}/acts", act, operations.ACT),
    ]


# Documents

_QUERIES: Mapping[str, DeskOperation] = {
    "people": operations.PEOPLE, "replay": operations.REPLAY, "decisions": operations.DECISIONS,
}  # fmt: skip


def _query(request: Request, name: str) -> dict[str, str]:
    """Return what a document takes of the query; anything else is no business of it."""
    known = _QUERIES[name].query if name in _QUERIES else {}
    return {key: value for key, value in request.query_params.items() if key in known}


def _function(name: str) -> Callable[..., Awaitable[Any]]:
    function: Callable[..., Awaitable[Any]] = import_module(f"beholder.desk.documents.{name}").document
    return function


async def _document(name: str, study: DeskStudy, viewer: Viewer, query: Mapping[str, str]) -> Any:
    return await _function(name)(study, viewer, **query)


# The live page


async def _events(desk: Desk, request: Request, session: DeskSession, study: DeskStudy) -> AsyncIterator[str]:
    """Yield the page Now whenever it changes, for as long as the log-in holds."""
    yield "retry: 5000\n\n"
    shown = import_module("beholder.desk.documents.now").snapshot_document
    async with aclosing(desk.streams[study.key].snapshots(_QUIET_S)) as snapshots:
        async for snapshot in snapshots:
            try:
                again = desk.require_session(request)  # it may have ended or been revoked meanwhile
            except NotAllowed:
                return
            if snapshot is None:
                yield ": nothing new\n\n"
                continue
            current = await desk.studies.find(study.key)
            assert current is not None
            document = await shown(current, await desk.viewer(current, again), snapshot)
            yield f"data: {encode_finite(document)}\n\n"


# Files


@dataclass(frozen=True)
class ServedFile:
    """A file of which any range can be read."""

    path: Path

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.path.stat().st_size

    @property
    def content_type(self) -> str:
        """Its type by its name."""
        return mimetypes.guess_type(self.path.name)[0] or "application/octet-stream"

    def read(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield a range of it in pieces."""
        left = (self.size if stop is None else stop) - start
        with self.path.open("rb") as file:
            file.seek(start)
            while left > 0 and (piece := file.read(min(131_072, left))):
                left -= len(piece)
                yield piece


def _report_file(study: DeskStudy, viewer: Viewer, session: DeskSession, path: str) -> Response:
    """Return a file of the report, of the plan or of the storyboard.

    Report and plan name the conditions: they open when the study is unblinded. The storyboard has what participants
    see, which tells nothing.
    """
    first, _, rest = path.partition("/")
    folder, scope = (first, "study") if first in ("plan", "storyboard") and rest else ("report", "results")
    if scope == "results" and not viewer.may("results"):
        raise not_for(session, "results")
    if scope == "study" and not viewer.may("study"):
        raise not_for(session, "study")
    if viewer.blinded and folder != "storyboard":
        fix = "It opens here when the study is unblinded."
        raise NotAllowed(403, Problem(folder, "names the conditions, which have code names here", "", fix))
    file = file_in(study.study.outputs / folder, rest if folder != "report" else path)
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    if file is None or (folder == "storyboard" and kind not in _PICTURE_TYPES):
        raise not_here(folder)
    headers = {"cache-control": "private, no-cache", "x-frame-options": "SAMEORIGIN"}
    headers["content-security-policy"] = _REPORT_POLICY
    return Response(file.read_bytes(), media_type=kind, headers=headers)
