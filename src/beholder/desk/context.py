"""What the routes of a desk share: its studies, its gate, and how a route lets only those through who may."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response

from beholder.desk.acts import Acts
from beholder.desk.desk_study import DeskStudy, OpenStudies
from beholder.desk.gate import SAFE_METHODS, Gate, NotAllowed, not_here, not_logged_in
from beholder.desk.logins import DeskSession, Tries
from beholder.desk.now_stream import NowStream
from beholder.desk.operations import DeskOperation, DeskRoute
from beholder.desk.tokens import find_token
from beholder.desk.unblinding import StudyBlinding
from beholder.desk.viewer import Scope, Viewer
from beholder.errors import Problem
from beholder.server.requests import read_json

DeskHandler = Callable[[Request, DeskSession], Awaitable[Response]]
LARGEST_BODY = 64 * 1024


class Desk:
    """What the routes of a desk share."""

    def __init__(self, studies: OpenStudies, gate: Gate, clock: Callable[[], float] = time.monotonic) -> None:
        self.studies, self.gate = studies, gate
        self.tries, self.acts = Tries(clock), Acts()
        self.streams = {key: NowStream(place) for key, place in studies.places.items()}
        self._blindings: dict[str, tuple[DeskStudy, StudyBlinding]] = {}

    def route(self, path: str, handler: DeskHandler, operation: DeskOperation) -> DeskRoute:
        """Return a route that lets only those through who may, and changes only from the desk's own pages."""

        async def handle(request: Request) -> Response:
            session = self.require_session(request)
            needs = operation.needs
            if needs != "nothing" and needs != "log-in" and not session.viewer.may(needs):
                raise not_for(session, needs)
            return await handler(request, session)

        return DeskRoute(path, handle, operation)

    def require_session(self, request: Request) -> DeskSession:
        """Return who asks, or raise NotAllowed. A token needs no origin: no browser sends one by itself."""
        self.require_own_host(request)
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        if scheme:
            session = find_token(self.gate.file, secret) if scheme.lower() == "bearer" else None
        else:
            session = self.gate.session(request)
        if session is None:
            raise not_logged_in()
        if session.kind != "token" and request.method not in SAFE_METHODS:
            self.require_own_origin(request)
        return session

    def require_own_host(self, request: Request) -> None:
        """Raise NotAllowed where a request names another host."""
        if not self.gate.is_own_host(request.headers.get("host", "")):
            raise NotAllowed(421, Problem("address", "is not that of this desk", self.gate.public_url or "localhost"))

    def require_own_origin(self, request: Request) -> None:
        """Raise NotAllowed where a change does not come from a page of the desk."""
        if not self.gate.is_own_origin(request):
            raise NotAllowed(403, Problem("Origin", "is not this desk", "a change from a page of the desk"))

    async def study(self, request: Request, session: DeskSession) -> tuple[DeskStudy, Viewer]:
        """Return the study of an address and its viewer; of one that is not for them, that it is not here."""
        place = self.studies.places.get(request.path_params["key"])
        if place is None or not session.sees(place.identity):
            raise not_here("study")
        study = await self.studies.find(place.key)
        assert study is not None
        return study, await self.viewer(study, session)

    async def viewer(self, study: DeskStudy, session: DeskSession) -> Viewer:
        """Return the viewer of a study: conditions have code names until it is unblinded."""
        is_unblinded = not session.stays_blinded and await self.is_unblinded(study)
        return session.viewer.seeing(blinded=not is_unblinded)

    async def is_unblinded(self, study: DeskStudy) -> bool:
        """Return whether the names of the conditions of a study may be shown."""
        known = self._blindings.get(study.key)
        if known is None or known[0] is not study:
            known = self._blindings[study.key] = (study, StudyBlinding(study.context))
        return await known[1].unblinding() is not None

    async def visible(self, session: DeskSession) -> tuple[list[DeskStudy], Mapping[str, Exception]]:
        """Return the studies that somebody may see, and what is wrong with those that cannot be opened, by key."""
        found, wrong = [], dict[str, Exception]()
        for key, place in self.studies.places.items():
            if not session.sees(place.identity):
                continue
            try:
                study = await self.studies.find(key)
            except Exception as error:  # one that is broken hides none of the others
                wrong[key] = error
            else:
                assert study is not None
                found.append(study)
        return found, wrong

    def identities(self, keys: object) -> frozenset[str] | None:
        """Return the identities of studies by their keys; None for all; raise NotAllowed for another key."""
        if keys is None:
            return None
        if not isinstance(keys, list) or not all(isinstance(key, str) and key in self.studies.places for key in keys):
            allowed = ", ".join(self.studies.places)
            raise NotAllowed(422, Problem("studies", "are not all on this desk", allowed))
        return frozenset(self.studies.places[key].identity for key in keys)

    def place_of(self, identity: str) -> str | None:
        """Return the key of a study by its identity; None where it is on another desk."""
        return next((key for key, place in self.studies.places.items() if place.identity == identity), None)

    def end_streams(self) -> None:
        """Take no more snapshots for anybody."""
        for stream in self.streams.values():
            stream.end()


def not_for(session: DeskSession, scope: Scope) -> NotAllowed:
    """Return that something is not for a viewer."""
    return NotAllowed(403, Problem(scope, f"is not for {session.viewer.name}", "", "Ask the owner of this desk."))


async def read_object(request: Request) -> Mapping[str, object]:
    """Return the JSON object in the body of a request; raise NotAllowed where it is anything else."""
    body = await read_json(request, LARGEST_BODY)
    if not isinstance(body, Mapping):
        raise NotAllowed(422, Problem("body", "is no JSON object", "an object, such as {}"))
    return body
