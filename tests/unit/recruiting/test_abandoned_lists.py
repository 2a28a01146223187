"""Places that are returned on the platform: the next person finds a list at once, and nobody is asked too often."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import Refused
from beholder.recruiting.abandoned_lists import AbandonedLists, ask_platform
from beholder.recruiting.fake import FakeProlific, serve_fake
from beholder.recruiting.fake.submissions import NO_CODE, FakeVisit
from beholder.recruiting.prolific.client import ProlificClient
from beholder.recruiting.prolific.recruiter import ProlificRecruiter
from beholder.server.service import StudyService
from beholder.server.visits import Platform, VisitIds, VisitState
from beholder.store.contract import LedgerEntry
from support.clock_service import Clock, Person
from support.platform_visitors import PROLIFIC, come, door, prolific, refused
from support.prolific_rehearsal import JOB

LOOK = "GET /api/v1/submissions/"
ONE_LIST = {"design": {"participants": 1, "trials": 2, "seed": 3}}


class Square:
    """A study with one list behind a door, and the platform that sends people there."""

    def __init__(
        self, host: StudyService, clock: Clock, fake: FakeProlific, recruiter: ProlificRecruiter, posting: str
    ) -> None:
        self.host, self.clock, self.fake, self.recruiter, self.posting = host, clock, fake, recruiter, posting

    def take(self, *, before: FakeVisit | None = None) -> FakeVisit:
        """Return the visit of somebody new, or of somebody who was there before."""
        person = before.submission.person if before else None
        return self.fake.people.take(self.posting, person, again=before is not None).start()

    async def come(self, visit: FakeVisit, browser: Person | None = None) -> Person:
        return await come(self.host, self.clock, browser, **self.ids(visit))

    async def refused(self, visit: FakeVisit) -> str:
        return (await refused(self.host, self.clock, **self.ids(visit))).code

    def ids(self, visit: FakeVisit) -> dict[str, str]:
        return prolific(visit.submission.person.id, visit.submission.id, self.posting)

    @property
    def looks(self) -> int:
        return self.fake.requests.count(LOOK)

    async def releases(self) -> list[tuple[str, str]]:
        entries = await self.host.store.ledger.entries()
        return [(one.session, one.reason_text) for one in entries if one.kind == "release"]


async def unasked(platform_id: str, submission: str) -> VisitState:
    """Say nothing about a visit: these tests are about who left."""
    return "unknown"


async def unsigned(visit: VisitIds, token: str) -> bool:
    return False


@asynccontextmanager
async def square(
    folder: Path, sleep: Callable[[float], Awaitable[None]] | None = None, **keys: Any
) -> AsyncIterator[Square]:
    """Give a study that is published for three people, with one list."""
    fake = FakeProlific()
    async with door(folder, PROLIFIC, **ONE_LIST | keys) as (host, clock):
        client = ProlificClient("https://prolific.invalid", fake.token, fake.transport(), sleep or fake.sleep)
        recruiter = ProlificRecruiter(host.served.study, host.store, client, lambda: fake.now)
        posting = (await recruiter.publish((await recruiter.draft(replace(JOB, places=3))).id)).id
        await host.store.ledger.append([LedgerEntry("draft", "done", fake.now, provider_ref=posting)])
        timeout = timedelta(seconds=0.05 if sleep else 30)
        room = AbandonedLists(host.store, recruiter, 1, now=lambda: fake.now, sleep=fake.sleep, timeout=timeout)
        platform = Platform(room.release_on_demand, unasked, unsigned)
        asking = StudyService(host.served, host.store, now=clock, platform=platform)
        yield Square(asking, clock, fake, recruiter, posting)
        await recruiter.close()


@pytest.mark.parametrize(
    ("leave", "words"),
    [
        (FakeVisit.return_place, "Returned on the platform"),
        (lambda visit: visit.finish(NO_CODE), "Handed in, and nothing whole is here"),
    ],
)
async def test_whoever_comes_after_somebody_has_left_finds_the_list_that_is_free(
    tmp_path: Path, leave: Callable[[FakeVisit], FakeVisit], words: str
) -> None:
    async with square(tmp_path) as here:
        first = here.take()
        ann = await here.come(first)
        await ann.until("trial:2")
        late = here.take()
        for _ in range(2):  # also who loads the page again
            assert await here.refused(late) == "full"
        leave(first)
        bea = await here.come(late)
        await bea.until("end")
        assert bea.step["outcome"] == "completed"
        assert await here.releases() == [(ann.session, words)]


async def test_whoever_was_let_in_and_agrees_after_somebody_else_finds_it_too(tmp_path: Path) -> None:
    async with square(tmp_path) as here:
        first = here.take()
        ann, bea = await here.come(first), await here.come(here.take())
        await ann.answer()
        with pytest.raises(Refused) as told:
            await bea.answer()
        assert told.value.code == "full"
        here.fake.advance(hours=2)  # the first is out of time; so would be the second
        assert first.submission.status == "TIMED-OUT"
        await bea.answer()
        assert (await bea.facts()).list == 1
        assert await here.releases() == [(ann.session, "Out of time on the platform")]


async def test_whoever_has_left_and_still_answers_loses_the_list_again_to_whoever_needs_it(tmp_path: Path) -> None:
    async with square(tmp_path) as here:
        first = here.take()
        ann = await here.come(first)
        await ann.until("trial:1")
        first.return_place()
        await here.come(here.take())  # who does not agree yet
        await here.host.refresh()
        assert await ann.answer() == "trial:2"
        await (await here.come(here.take())).until("end")
        assert len(await here.releases()) == 1


async def test_whoever_has_taken_a_new_place_keeps_the_list(tmp_path: Path) -> None:
    async with square(tmp_path) as here:
        first = here.take()
        ann = await here.come(first)
        await ann.until("trial:2")
        first.return_place()
        again = await here.come(here.take(before=first), browser=ann)
        assert again.session == ann.session
        assert await here.refused(here.take()) == "full"
        assert await here.releases() == []


async def test_whoever_has_handed_in_and_goes_on_in_the_same_visit_keeps_the_second_list(tmp_path: Path) -> None:
    twice = {"participants": 2, "trials": 1, "seed": 3, "sessions_per_participant": 2}
    async with square(tmp_path, design=twice) as here:
        first = here.take()
        ann = await here.come(first)
        await ann.until("end")
        first.finish(ann.step["code"])
        more = await come(here.host, here.clock, again=ann.token)
        await more.answer()
        await here.host.context.leases.release_abandoned()
        assert await here.releases() == []


async def test_a_crowd_at_a_full_door_shares_a_look_and_looks_keep_their_distance(tmp_path: Path) -> None:
    async with square(tmp_path) as here:
        await (await here.come(here.take())).until("trial:1")
        late, before = here.take(), here.fake.now
        assert await here.refused(late) == "full"
        each = here.looks
        await asyncio.gather(*(here.host.context.leases.release_abandoned() for _ in range(9)))
        assert here.looks == 3 * each  # one for the first of them, and one for all who came while that went on
        assert here.fake.now - before == timedelta(seconds=10)


@pytest.mark.parametrize("fault", ["refused", "500", "html"])
async def test_a_platform_that_is_away_makes_no_room_and_costs_nobody_a_fault(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, fault: Any
) -> None:
    async with square(tmp_path) as here:
        await (await here.come(here.take())).until("trial:1")
        late = here.take()
        here.fake.faults.every("*", fault, share=1, seed=1)
        with caplog.at_level(logging.WARNING, "beholder.recruiting"):
            assert await here.refused(late) == "full"
        assert "no list could be opened, as the platform does not tell who has left" in caplog.text


async def test_nobody_waits_long_for_a_platform_that_asks_to_wait(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def for_ever(seconds: float) -> None:
        await asyncio.Event().wait()

    async with square(tmp_path, for_ever) as here:
        await (await here.come(here.take())).until("trial:1")
        late = here.take()
        here.fake.faults.every("*", "429_wait", share=1, seed=1)
        with caplog.at_level(logging.WARNING, "beholder.recruiting"):
            assert await here.refused(late) == "full"
        assert "who has left: it does not answer" in caplog.text


async def test_a_server_alone_asks_its_platform_where_it_has_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with square(tmp_path / "prolific") as here, serve_fake(here.fake) as url:
        study, store = here.host.served.study, here.host.store
        monkeypatch.setenv("BEHOLDER_PROLIFIC_URL", url)
        monkeypatch.setenv("PROLIFIC_TOKEN", " ")
        first = here.take()
        await (await here.come(first)).until("trial:1")
        first.return_place()
        late = here.take()
        async with ask_platform(study, store) as release:
            here.host = StudyService(here.host.served, store, now=here.clock, platform=release)
            assert release is None
            assert await here.refused(late) == "full"
        monkeypatch.setenv("PROLIFIC_TOKEN", here.fake.token)
        async with ask_platform(study, store) as release:
            here.host = StudyService(here.host.served, store, now=here.clock, platform=release)
            await (await here.come(late)).until("end")
    async with (
        door(tmp_path / "link", {"mode": "link"}) as (host, _),
        ask_platform(host.served.study, host.store) as release,
    ):
        assert release is None
