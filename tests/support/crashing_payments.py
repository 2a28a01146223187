"""Paying processes that crash: a platform, a ledger on disk, and the invariants of payments."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from beholder.recruiting.debts import Payment
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.http import FakeRequest
from beholder.recruiting.fake.submissions import FakeVisit
from beholder.recruiting.ledger import replay
from beholder.recruiting.payments import pay_study
from beholder.store.contract import Ledger, LedgerEntry, Store
from beholder.store.open import open_store
from beholder.study.model import Study
from beholder.testing.stores.facts import study_record
from support.payable_study import BODY, BONUS, come, connect, sign, write_bonuses
from support.prolific_rehearsal import study_in


class Crash(BaseException):
    """The crash of a simulated process."""


class CrashCounter:
    """Counts operations with effects, and raises `Crash` at one of them."""

    def __init__(self, at: int | None) -> None:
        self.at, self.ticks = at, 0

    def tick(self) -> None:
        self.ticks += 1
        if self.ticks == self.at:
            raise Crash


class CrashingLedger:
    """A real ledger in a process that may crash before or after each entry."""

    def __init__(self, ledger: Ledger, counter: CrashCounter) -> None:
        self._ledger, self._counter = ledger, counter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    async def append(self, entries: Sequence[LedgerEntry]) -> tuple[LedgerEntry, ...]:
        self._counter.tick()
        payment = await self._ledger.append(entries)
        self._counter.tick()
        return payment


class CrashingStore:
    """A store with a crashing ledger."""

    def __init__(self, store: Store, counter: CrashCounter) -> None:
        self._store, self.ledger = store, CrashingLedger(store.ledger, counter)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class CrashingTransport(httpx.AsyncBaseTransport):
    """The connection to the platform; it crashes around requests with effects, and reading has none."""

    def __init__(self, fake: FakeProlific, counter: CrashCounter) -> None:
        self._transport, self._counter = fake.transport(), counter

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.method != "GET":
            self._counter.tick()
        answer = await self._transport.handle_async_request(request)
        if request.method != "GET":
            self._counter.tick()
        return answer


class Template(NamedTuple):
    """A study with signed decisions and no payments, the start of each history."""

    study: Study
    folder: Path
    ids: tuple[str, ...]


def platform(people: int, fake: FakeProlific) -> tuple[str, list[FakeVisit]]:
    """Let people submit on a new platform; the ids are the same each time."""
    headers = {"authorization": f"Token {fake.token}"}

    def post(path: str, body: dict[str, Any]) -> Any:
        return fake.handle(
            FakeRequest("POST", f"/api/v1/{path}", {}, headers, httpx.Request("POST", "", json=body).content)
        ).body

    posting = str(post("studies/", {**BODY, "total_available_places": people})["id"])
    post(f"studies/{posting}/transition/", {"action": "PUBLISH"})
    return posting, fake.people.finish(posting, people)


async def prepare(folder: Path, people: int) -> Template:
    study = study_in(folder, recruit={"mode": "prolific", "reward": "2.00 GBP", "minutes": 10}, clean=BONUS)
    fake = FakeProlific()
    posting, visits = platform(people, fake)
    async with open_store(folder / "store") as store:
        await store.begin(study_record())
        evidence: Any = {"run": 1, "places": people, "quote": {}}
        await store.ledger.append([LedgerEntry("draft", "done", fake.now, provider_ref=posting, evidence=evidence)])
        for number, visit in enumerate(visits):
            await come(store, str(number), visit, mode="prolific")
        await sign(store, visits, "run", **{f"s{number}": "approve" for number in range(people)})
    write_bonuses(study, *((f"p-{number}", "quantity", "0.50") for number in range(people)))
    return Template(study, folder / "store", tuple(visit.submission.id for visit in visits))


@dataclass
class PaymentHistory:
    """One history of payments: a platform, a ledger on disk, and processes that pay and crash."""

    template: Template
    folder: Path
    fake: FakeProlific = field(default_factory=FakeProlific)
    resent: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        platform(len(self.template.ids), self.fake)
        shutil.copytree(self.template.folder, self.folder)

    @asynccontextmanager
    async def process(self, counter: CrashCounter) -> AsyncIterator[Any]:
        async with open_store(self.folder, write=False) as store:
            crashing: Any = CrashingStore(store, counter)
            context = connect(self.template.study, crashing, self.fake, CrashingTransport(self.fake, counter))
            try:
                yield context
            finally:
                await context.recruiter.close()

    async def pay(self, crash: int | None = None, **options: Any) -> tuple[Payment | None, int]:
        """Return the result of a process, None after a crash, and its number of operations."""
        counter = CrashCounter(crash)
        try:
            async with self.process(counter) as context:
                payment = await pay_study(context, sleep=self.fake.sleep, **options)
        except Crash:
            payment = None
        return payment, counter.ticks

    async def check(self, payment: Payment | None = None) -> None:
        """Raise AssertionError if a participant got too much, or too little without a report."""
        async with open_store(self.folder, write=False) as store:
            accounts = replay(await store.ledger.entries())
        planned = sum(debt.amount.minor for debt in accounts.debts.values() if debt.kind == "bonus")
        moved = [one for one in self.fake.payments if one.kind == "bonus"]
        assert sum(one.amount for one in moved) <= planned, "money out is at most money planned"
        refs = {batch.ref: batch.id for batch in accounts.batches.values() if batch.ref}
        for ref, calls in Counter(self.fake.bonuses.calls).items():
            assert calls <= 1 + self.resent[refs[ref]], "a payment is sent once, and once more for each time it is let"
        got = Counter((one.submission, one.kind) for one in self.fake.payments)
        assert all(times == 1 for times in got.values()), f"somebody was paid twice: {got}"
        for debt in accounts.debts.values():
            if debt.state == "settled" and debt.kind == "bonus" and debt.amount.minor:
                assert got[debt.submission, "bonus"] == 1, "settled means that the money has moved"
        if payment is not None:
            unknown = {line.submission for line in payment.unknown}
            messages = " ".join(str(problem) for problem in payment.problems)
            for submission in self.template.ids:
                assert got[submission, "reward"] == 1
                assert got[submission, "bonus"] == 1 or (submission in unknown and submission in messages), (
                    "and nobody said so"
                )

    async def finish(self) -> None:
        """Pay until nothing changes; then resend the unknown payments, as a researcher would."""
        self.fake.faults.clear()
        payment: Payment | None = None
        for minutes in (0, 10, 10):  # also at once, while payments may be pending
            self.fake.advance(minutes=minutes)
            payment, _ = await self.pay(send=True)
            assert payment is not None
            if payment.is_settled or (payment.unknown and minutes):
                break
        assert payment is not None
        await self.check(payment)
        if payment.is_settled:
            return
        self.fake.advance(hours=25)
        payment, _ = await self.pay(send=True)
        assert payment is not None
        await self.check(payment)
        if payment.unknown:
            batches = sorted({line.payment for line in payment.unknown})
            self.resent.update(batches)
            payment, _ = await self.pay(resend=batches)
            assert payment is not None
            await self.check(payment)
        assert payment.is_settled, payment
        assert not payment.problems
