"""A study that is published on the fake Prolific, and the people who come: sent by it, or making themselves up."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from beholder.errors import Refused
from beholder.recruiting.abandoned_lists import AbandonedLists, platform_of
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.submissions import FakeVisit
from beholder.recruiting.prolific.client import ProlificClient
from beholder.recruiting.prolific.recruiter import ProlificRecruiter
from beholder.recruiting.verified_visits import VerifiedVisits
from beholder.server.entrances import shared_codes
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from beholder.store.contract import LedgerEntry
from beholder.types import Json
from support.clock_service import Clock, Person
from support.platform_visitors import PROLIFIC, come, door, prolific
from support.prolific_rehearsal import JOB

TWO_LISTS = {"design": {"participants": 2, "trials": 1, "seed": 3}}
LOOK, KEYS = "GET /api/v1/submissions/", "GET /.well-known/study/jwks.json"
ADDRESS = "https://lab.example.org"


class PostedStudy:
    """A study of two lists that is published for real people, and the platform that sends them."""

    def __init__(
        self, host: StudyService, clock: Clock, fake: FakeProlific, posting: str, recruiter: ProlificRecruiter
    ) -> None:
        self.host, self.clock, self.fake, self.posting, self.recruiter = host, clock, fake, posting, recruiter
        self.codes = set(shared_codes(host.served.study, host.store.secret).values())

    def take(self, *, before: FakeVisit | None = None) -> FakeVisit:
        """Return the visit of somebody new, or of somebody who was there before."""
        person = before.submission.person if before else None
        return self.fake.people.take(self.posting, person, again=before is not None).start()

    async def come(self, visit: FakeVisit) -> Person:
        return await come(self.host, self.clock, **dict(parse_qsl(urlsplit(visit.url).query)))

    async def make_up(self, name: str, visit: str = "", token: str = "") -> Person:
        ids = prolific(name, visit or f"visit-of-{name}", self.posting)
        return await come(self.host, self.clock, **ids, **({"prolific_token": token} if token else {}))

    def sign(self, name: str, visit: str = "", **changed: Any) -> str:
        """Return Prolific's signature on a visit that it does not list; `changed` are other claims."""
        ids = prolific(name, visit or f"visit-of-{name}", self.posting)
        return self.fake.account.sign(f"{ADDRESS}/s/walk?{urlencode(ids)}", ids["SESSION_ID"], **changed)

    def is_down(self) -> None:
        self.fake.faults.every("*", "refused", share=1, seed=1)

    def is_back(self) -> None:
        self.fake.faults.clear()

    def shows_code(self, *shown: Any) -> bool:
        return any(code in json.dumps(shown, default=str) for code in self.codes)

    async def verified(self) -> list[str]:
        return [one.session for one in await self.host.store.ledger.entries() if one.kind == "verified"]


@asynccontextmanager
async def posted(folder: Path, **recruit: Any) -> AsyncIterator[PostedStudy]:
    """Yield a study that is published for six people; `recruit` are more settings of it."""
    fake = FakeProlific()
    async with door(folder, PROLIFIC | recruit, **TWO_LISTS) as (host, clock):
        client = ProlificClient("https://prolific.invalid", fake.token, fake.transport(), fake.sleep)
        recruiter = ProlificRecruiter(host.served.study, host.store, client, lambda: fake.now)
        posting = (await recruiter.publish((await recruiter.draft(replace(JOB, places=6))).id)).id
        evidence: Json = {"public_url": ADDRESS, "run": 1}
        entry = LedgerEntry("draft", "done", fake.now, provider_ref=posting, evidence=evidence)
        await host.store.ledger.append([entry])
        when: dict[str, Any] = {"now": lambda: fake.now, "sleep": fake.sleep}
        platform = platform_of(
            AbandonedLists(host.store, recruiter, 1, **when), VerifiedVisits(host.store, recruiter, 1, **when)
        )
        yield PostedStudy(StudyService(host.served, host.store, clock, platform), clock, fake, posting, recruiter)
        await recruiter.close()


async def refusal(person: Person, submission: SubmittedAnswer | None = None) -> Refused:
    with pytest.raises(Refused) as caught:
        await person.answer(submission)
    return caught.value
