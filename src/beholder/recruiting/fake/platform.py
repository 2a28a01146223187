"""`FakeProlific`: all state of the fake platform, its clock, and the handling of requests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from beholder.recruiting.fake.http import (
    FAULTS_AFTER_EFFECT,
    FAULTS_WITHOUT_REPLY,
    DroppedConnection,
    FakeCall,
    FakeReply,
    FakeRequest,
    FaultKind,
    Faults,
    InProcessTransport,
    Refusal,
    Route,
    Router,
    refusal_reply,
    routes,
)
from beholder.recruiting.fake.state import FakeClock, Wallet, WalletPayment
from beholder.recruiting.fake.studies import FakeStudies
from beholder.recruiting.fake.submissions import FakePeople, FakeReviews, FakeSubmissions
from beholder.recruiting.fake.workspace import FakeBonuses, FakeGroups, FakeWorkspace

_TOKEN = "rehearsal"  # noqa: S105 (of play money)
_HTML = "<html><body><h1>Bad gateway</h1></body></html>"


class FakeProlific:
    """Prolific in memory, with its own time.

    `balance` is in hundredths. `features` are what only some workspaces have: `screen_out`, `signed`, `dynamic`.
    """

    def __init__(
        self,
        *,
        balance: int = 100_000,
        currency: str = "GBP",
        token: str = _TOKEN,
        openapi: Path | None = None,
        clock: FakeClock | None = None,
        features: frozenset[str] = frozenset({"screen_out", "signed"}),
        approving_takes: timedelta = timedelta(seconds=10),
        paying_takes: timedelta = timedelta(minutes=2),
        approves_timed_out: bool = False,
    ) -> None:
        self.token, self.features, self.approves_timed_out = token, features, approves_timed_out
        self.approving_takes, self.paying_takes = approving_takes, paying_takes
        self._clock, self._ids = clock or FakeClock(), 0
        self._scheduled_calls: list[tuple[datetime, int, Callable[[], Any]]] = []
        self.researcher, self.workspace, self.project = self.new_id(), self.new_id(), self.new_id()
        self.wallet, self.faults = Wallet(balance, currency), Faults()
        self.messages: list[tuple[str, str]] = []
        """Recipient and text, in order."""
        self.requests: list[str] = []
        """Every operation that was requested, in order."""
        self.groups, self.people = FakeGroups(self), FakePeople(self)
        self.studies, self.submissions, self.bonuses = FakeStudies(self), FakeSubmissions(self), FakeBonuses(self)
        self.account, self.reviews = FakeWorkspace(self), FakeReviews(self)
        self._router = Router(routes(self))
        self._document = _document(openapi)

    @property
    def now(self) -> datetime:
        return self._clock.now

    @property
    def balance(self) -> int:
        """What the wallet holds, in hundredths."""
        return self.wallet.balance

    @property
    def available(self) -> int:
        """What the wallet holds, without what open studies reserve."""
        return self.wallet.balance - sum(self.studies.held(one) for one in self.studies.all.values())

    @property
    def payments(self) -> list[WalletPayment]:
        """Every payment from the wallet, in order."""
        return self.wallet.payments

    def advance(self, **by: float) -> None:
        """Let time pass, as in `advance(minutes=20)`, and run every scheduled call at its time."""
        end = self.now + timedelta(**by)
        while due := min((one for one in self._scheduled_calls if one[0] <= end), default=None):
            self._clock.advance(max(timedelta(), due[0] - self.now))
            self._run_call(due)
        self._clock.advance(max(timedelta(), end - self.now))

    async def sleep(self, seconds: float) -> None:
        """Advance the clock, in place of `asyncio.sleep`."""
        self.advance(seconds=seconds)

    def schedule(self, when: datetime, what: Callable[[], Any]) -> None:
        """Schedule a call."""
        self._ids += 1
        self._scheduled_calls.append((when, self._ids, what))

    def new_id(self) -> str:
        """Return an id like Prolific's: 24 hexadecimal digits."""
        self._ids += 1
        return hashlib.sha256(f"fake {self._ids}".encode()).hexdigest()[:24]

    def check_funds(self, amount: int) -> None:
        """Raise Refusal if the available balance is too small."""
        if amount > self.available:
            raise Refusal(f"Not enough funds: {amount} needed, {self.available} available.")

    def memberships(self) -> dict[str, dict[str, set[str]]]:
        """Return the members of every list that filters may name."""
        return {
            "ParticipantGroupID": {one.id: set(one.members) for one in self.groups.all.values() if not one.is_deleted},
            "StudyID": {id_: {one.person.id for one in self.submissions.of(id_)} for id_ in self.studies.all},
        }

    def transport(self) -> httpx.AsyncBaseTransport:
        """Return a transport for httpx clients in the same process."""
        return InProcessTransport(self)

    def handle(self, request: FakeRequest) -> FakeReply:
        """Return the reply to a request, or raise DroppedConnection."""
        self.advance()
        try:
            route, ids = self._router.find(request.method, request.path)
        except Refusal as refusal:
            return refusal_reply(refusal, is_bare=False)
        self.requests.append(route.operation)
        fault = self.faults.take(route.operation)
        if fault is not None and fault not in FAULTS_AFTER_EFFECT and (early := _early_reply(fault)) is not None:
            return early
        try:
            answer = self._answer(route, ids, request)
        except Refusal as refusal:
            answer = refusal_reply(refusal, is_bare=route.is_bare)
        if self._document is not None:
            self._document.check_answer(route, answer)
        return answer if fault is None else self._apply_fault(answer, fault, ids)

    def _answer(self, route: Route, ids: tuple[str, ...], request: FakeRequest) -> FakeReply:
        if request.headers.get("authorization") != f"Token {self.token}":
            raise Refusal("Invalid token.", 401)
        body: Any = {}
        if request.body:
            try:
                body = json.loads(request.body)
            except ValueError:
                raise Refusal("The body is no JSON.") from None
        if self._document is not None:
            self._document.check_request(route, request.query, body if request.body else None)
        sent = request.query if route.method == "GET" else body
        if missing := [key for key in route.needs if key not in sent]:
            raise Refusal({key: ["This field is required."] for key in missing})
        return route.handle(FakeCall(ids, request.query, body))

    def _apply_fault(self, answer: FakeReply, fault: FaultKind, ids: tuple[str, ...]) -> FakeReply:
        """Return a reply changed by a fault that strikes after the effect."""
        if fault in FAULTS_WITHOUT_REPLY:
            raise DroppedConnection(fault)
        if fault in ("408_after", "504_after"):
            return FakeReply(int(fault[:3]), _HTML)
        if fault == "html_after":
            return FakeReply(200, _HTML)
        if fault == "processing" and ids and ids[0] in self.studies.all and "status" in answer.body:
            return FakeReply(200, {**answer.body, "status": "PROCESSING"})
        if fault in ("duplicate", "reordered") and isinstance(answer.body, dict) and "results" in answer.body:
            results = list(answer.body["results"])
            return FakeReply(200, {"results": results[::-1] if fault == "reordered" else [*results, *results[:1]]})
        return answer

    def _run_call(self, due: tuple[datetime, int, Callable[[], Any]]) -> None:
        self._scheduled_calls.remove(due)
        due[2]()


def _early_reply(fault: FaultKind) -> FakeReply | None:
    """Return the reply of a fault that strikes before the effect; None if it strikes the reply."""
    if fault in FAULTS_WITHOUT_REPLY:
        raise DroppedConnection(fault)
    if fault in ("429", "429_wait"):
        wait = {"retry-after": "7"} if fault == "429_wait" else {}
        return FakeReply(429, refusal_reply(Refusal("Slow down.", 429), is_bare=False).body, wait)
    if fault in ("500", "502", "504"):
        return FakeReply(
            int(fault), _HTML if fault == "502" else {"message": "Internal error", "detail": "Try again later"}
        )
    if fault == "html":
        return FakeReply(200, _HTML)
    return None


def _document(openapi: Path | None) -> Any:
    if openapi is None:
        return None
    from beholder.recruiting.fake.openapi import OpenApiDocument

    return OpenApiDocument.read(openapi)
