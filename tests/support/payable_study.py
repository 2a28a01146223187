"""A study on the fake platform with completed sessions and signed decisions, ready to be paid."""

from __future__ import annotations

import random
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx

from beholder.recruiting.context import RecruitContext, recruiter_of
from beholder.recruiting.debts import Payment
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.submissions import FakeVisit
from beholder.recruiting.ledger import LedgerState, replay
from beholder.recruiting.payments import pay_study
from beholder.recruiting.prolific.client import PROLIFIC, ProlificClient
from beholder.recruiting.prolific.recruiter import ProlificRecruiter
from beholder.store.contract import End, LedgerEntry, PlatformIdentity, PlatformVisit, Session, Store
from beholder.store.open import open_store
from beholder.study.model import Study
from beholder.study.recruitment import money
from beholder.testing.stores.facts import study_record
from beholder.types import Outcome
from support.prolific_rehearsal import JOB, study_in

MESSAGE = (
    "You chose the same score for every clip, also where a clip said which score to choose, in nine of nine clips."
)
BONUS = {"bonus": {"quantity": {"sessions": 1, "each": "0.50 GBP"}}}
BODY: Mapping[str, Any] = {
    "name": "Which walk?", "description": "<p>Watch.</p>", "prolific_id_option": "url_parameters",
    "external_study_url": JOB.url, "total_available_places": 2, "estimated_completion_time": 10, "reward": 200,
    "completion_codes": [{"code": "DONE", "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]}],
}  # fmt: skip
PAY = "POST /api/v1/bulk-bonus-payments/{id}/pay/"


@dataclass(frozen=True)
class PaymentSetup:
    """A study to pay, its store and its platform."""

    context: RecruitContext
    fake: FakeProlific
    visits: Sequence[FakeVisit] = ()

    @property
    def study(self) -> Study:
        return self.context.study

    @property
    def ids(self) -> list[str]:
        """The ids of the submissions, in order."""
        return [visit.submission.id for visit in self.visits]

    async def pay(self, **options: Any) -> Payment:
        return await pay_study(self.context, sleep=self.fake.sleep, **options)

    async def sign(self, by: str = "Ann", /, **rows: Any) -> None:
        """Sign decisions by submission id, or by position as `s0`."""
        await sign(self.context.store, self.visits, by, **rows)

    async def books(self) -> LedgerState:
        return replay(await self.context.store.ledger.entries())

    def got(self, submission: str) -> list[tuple[str, int]]:
        """Return the payments of the platform for a submission."""
        return [(moved.kind, moved.amount) for moved in self.fake.payments if moved.submission == submission]


async def sign(store: Store, visits: Sequence[FakeVisit], by: str = "Ann", /, **rows: Any) -> None:
    """Sign decisions: what to pay, or the whole row."""
    people = {str(row["session"]): str(row["participant"]) async for row in store.rows("sessions")}
    platform_visits = await store.platform_visits()
    result = {}
    for name, row in rows.items():
        key = visits[int(name[1:])].submission.id if visits else name
        of_it = [one.session for one in platform_visits if one.submission == key] or [key]
        more = {"pay": row} if isinstance(row, str) else dict(row)
        result[key] = {"use": True, "participant": people.get(of_it[0], ""), "sessions": of_it, "further": [], **more}
    evidence: Any = {"by": by, "digest": "0", "rows": result}
    await store.ledger.append([LedgerEntry("decisions", "done", JUST, evidence=evidence)])


JUST = FakeProlific().now


async def come(
    store: Store, name: str, visit: FakeVisit | None, *, mode: Any, outcome: Outcome = "completed", number: int = 1
) -> str:
    """Add a session of a participant, by a visit on the platform."""
    session = f"s-{name}-{number}"
    await store.arrive(Session(session, f"p-{name}", "d1", 1, mode, number, {}, JUST))
    await store.append([End(session, outcome, "", "C0DE", f"R-{session}", JUST + timedelta(minutes=20))])
    if visit is not None:
        one = visit.submission
        await store.identify(
            PlatformIdentity(f"p-{name}", mode, one.person.id), PlatformVisit(session, one.study, one.id)
        )
    return session


def in_memory(otherwise: Path) -> Iterator[Path]:
    """Yield a folder in memory where the system has one, because every entry of a ledger is synced."""
    if not Path("/dev/shm").is_dir():
        yield otherwise
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def write_bonuses(study: Study, *rows: tuple[str, str, str]) -> None:
    """Write clean/bonus.csv: participant, rule and amount; the session is the first one of the person."""
    (study.folder / "clean").mkdir(exist_ok=True)
    lines = [f"{who},{rule},1,{amount},GBP,,s-{who.removeprefix('p-')}-1,because" for who, rule, amount in rows]
    head = "participant,rule,sessions,amount,currency,agreement,session,reason"
    (study.folder / "clean" / "bonus.csv").write_text("\n".join([head, *lines, ""]), "utf-8")


def connect(
    study: Study, store: Store, fake: FakeProlific, transport: httpx.AsyncBaseTransport | None = None
) -> RecruitContext:
    """Return the context of a study on the fake platform."""
    client = ProlificClient(PROLIFIC, fake.token, transport or fake.transport(), fake.sleep, random.Random(1))
    recruiter = ProlificRecruiter(study, store, client, lambda: fake.now)
    return RecruitContext(study, store, str(study.folder / "store"), recruiter, lambda: fake.now)


@asynccontextmanager
async def payment_setup(
    folder: Path,
    people: int = 3,
    *,
    fake: FakeProlific | None = None,
    finished: bool = True,
    url: str = "",
    **keys: Any,
) -> AsyncIterator[PaymentSetup]:
    """Yield a study that is published on the fake platform, with submissions and without signatures.

    `url` is the address of its store, if that is not in its folder.
    """
    fake = fake or FakeProlific()
    recruit = {"mode": "prolific", "reward": "2.00 GBP", "minutes": 10, "places": people} | keys.pop("recruit", {})
    study = study_in(folder, recruit=recruit, **keys)
    async with open_store(url or study.folder / "store") as store:
        await store.begin(study_record())
        context = connect(study, store, fake)
        pays = study.recruit.screen_out
        job = replace(JOB, places=people, screen_out=money(pays) if pays else None)
        posting = (await context.recruiter.publish((await context.recruiter.draft(job)).id)).id
        evidence: Any = {"run": 1, "places": people, "reward": "2.00 GBP", "quote": {"floor": "6.00 GBP"}}
        evidence["screen_out"] = pays or ""
        await store.ledger.append([LedgerEntry("draft", "done", fake.now, provider_ref=posting, evidence=evidence)])
        visits = [fake.people.take(posting).start() for _ in range(people)]
        for number, visit in enumerate(visits):
            if finished:
                visit.finish()
            await come(store, str(number), visit, mode="prolific")
        yield PaymentSetup(context, fake, visits)
        await context.recruiter.close()


@asynccontextmanager
async def manual_payment_setup(folder: Path, mode: str = "panel", **keys: Any) -> AsyncIterator[PaymentSetup]:
    """Yield a study with manual payments."""
    recruit = {"mode": mode, "reward": "2.00 GBP", "screen_out": "0.30 GBP"}
    recruit |= {"id_parameter": "pid"} if mode == "panel" else {}
    fake = FakeProlific()
    study = study_in(folder, recruit=recruit | keys.pop("recruit", {}), **keys)
    async with open_store(study.folder / "store") as store:
        await store.begin(study_record())
        recruiter = await recruiter_of(study, store)
        yield PaymentSetup(RecruitContext(study, store, str(study.folder / "store"), recruiter, lambda: fake.now), fake)
        await recruiter.close()
