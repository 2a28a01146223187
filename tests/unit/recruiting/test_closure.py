"""Closing a study: recruiting stops, unpaid work and bonuses hold it up, and a closed study is exported."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.buckets import upload_media
from beholder.buckets.connection import Bucket, BucketError
from beholder.cleaning import clean
from beholder.errors import RecruitError
from beholder.methods import load_study
from beholder.recruiting.closure import close_study
from beholder.recruiting.context import RecruitContext, open_context
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.submissions import NO_CODE, FakeVisit
from beholder.recruiting.payments import pay_study
from beholder.recruiting.postings import change_posting
from beholder.recruiting.signatures import RUN_SIGNATURE
from beholder.server.process import run_server
from beholder.store.contract import Answer, End, LedgerEntry, PlatformIdentity, PlatformVisit, Session
from beholder.testing import write_study
from support import decision_store as deciding
from support.decision_store import CHECKS, DECIDE, decision_setup
from support.payable_study import BONUS, connect
from support.prolific_rehearsal import JOB
from support.recruit_context import ON_PROLIFIC, launch_setup
from support.s3_server import S3Server

RECRUIT = {"mode": "prolific", "reward": "2.00 GBP", "minutes": 10}


@dataclass(frozen=True)
class Market:
    """A study on the fake whose people can be judged."""

    setup: deciding.DecisionSetup
    context: RecruitContext
    fake: FakeProlific
    posting: str

    async def come(self, name: str, visit: FakeVisit | None = None, number: int = 1) -> FakeVisit:
        """Add a completed session, by a visit on the platform."""
        there = visit or self.fake.people.take(self.posting).start()
        one = there.submission
        await self.setup.come(name, person=one.person.id, submission=one.id, visit=number)
        return there

    async def pay(self) -> None:
        await pay_study(self.context, send=True, sleep=self.fake.sleep)

    async def held(self) -> list[str]:
        """Return what holds up the end, after that recruiting is stopped."""
        with pytest.raises(RecruitError) as error:
            await close_study(self.context)
        return [str(problem) for problem in error.value.problems[1:]]


@asynccontextmanager
async def market(folder: Path, places: int = 2, **keys: Any) -> AsyncIterator[Market]:
    fake = FakeProlific()
    written: dict[str, Any] = {"recruit": RECRUIT, "checks": CHECKS} | keys
    async with decision_setup(folder, listed=False, **written) as setup:
        context = connect(setup.context.study, setup.store, fake)
        posting = (await context.recruiter.publish((await context.recruiter.draft(replace(JOB, places=places))).id)).id
        evidence: Any = {"run": 1, "places": places, "quote": {}}
        await setup.store.ledger.append(
            [LedgerEntry("draft", "done", fake.now, provider_ref=posting, evidence=evidence)]
        )
        yield Market(setup, context, fake, posting)
        await context.recruiter.close()


async def test_bonuses_hold_it_up_until_they_are_computed_signed_and_paid(folder: Path) -> None:
    async with market(folder, clean=BONUS) as m:
        first, second = [(await m.come(name)).finish().submission.id for name in ("a", "b")]
        m.fake.advance(days=22)  # the platform approves both by itself
        unsigned = "may have earned a bonus, and nobody has signed it"
        assert await m.held() == [f"{first} and {second}  each {unsigned}. {DECIDE}"]
        await decide_study(m.context, sign="run")
        await m.pay()
        assert await m.held() == [
            "clean/bonus.csv  is not there, and it says who gets a bonus. Run `beholder clean` first."
        ]
        clean(m.context.study, store=m.context.url)
        assert await m.held() == [
            f"{first} and {second}  are owed 1.00 GBP in all (quantity). Run `beholder pay --send`."
        ]
        await m.pay()
        assert (await close_study(m.context)).is_closed
        assert sum(one.amount for one in m.fake.payments) == 500


async def test_bonuses_that_were_computed_before_somebody_finished_hold_it_up(folder: Path) -> None:
    async with market(folder, clean=BONUS) as m:
        (await m.come("a")).finish()
        clean(m.context.study, store=m.context.url)
        (await m.come("b")).finish()
        await decide_study(m.context, sign="run")
        await m.pay()
        assert await m.held() == [
            "clean/bonus.csv  does not know what came since: 0.50 GBP of bonuses are missing in it. "
            "Run `beholder clean`, then `beholder pay --send`."
        ]
        clean(m.context.study, store=m.context.url)
        await m.pay()
        assert (await close_study(m.context)).is_closed
        assert sorted(one.amount for one in m.fake.payments) == [50, 50, 200, 200]


async def test_a_round_that_was_finished_after_the_signature_holds_it_up(folder: Path) -> None:
    keys = {"recruit": RECRUIT | {"further": "bonus"}, "design": {"sessions_per_participant": 3}}
    async with market(folder, 1, **keys) as m:
        visit = (await m.come("a")).finish()
        await decide_study(m.context, sign="run")
        await m.pay()
        await m.come("b", visit, 2)
        assert await m.held() == [f"{visit.submission.id}  may have earned a bonus, and nobody has signed it. {DECIDE}"]
        await decide_study(m.context, sign="run")
        await m.pay()
        assert (await close_study(m.context)).is_closed
        assert [one.amount for one in m.fake.payments] == [200, 200]


async def test_a_full_study_is_stopped_and_its_people_are_kept_out_of_the_family(folder: Path) -> None:
    async with market(folder, 1, family="walks") as m:
        await m.setup.store.identify(
            PlatformIdentity("p-late", "prolific", "late"), PlatformVisit("nobody", m.posting, "x")
        )
        visit = (await m.come("a")).finish("NOCODE")  # which puts nobody into any group
        assert (await m.context.recruiter.posting(m.posting)).state == "completed"
        assert await m.held() == [f"{visit.submission.id}  is to be paid, and nobody has signed it. {DECIDE}"]
        assert m.fake.studies.find(m.posting).is_stopped
        await decide_study(m.context, sign="run")
        await m.pay()
        assert (await close_study(m.context)).is_closed
        (group,) = m.fake.groups.all.values()
        assert set(group.members) == {visit.submission.person.id, "late"}


async def test_a_study_on_prolific_is_stopped_at_once_and_closed_when_nobody_waits(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC, retention="2028-01-31") as setup:
        posting = await setup.open()
        (visit,) = setup.fake.people.finish(posting)
        requested = setup.fake.people.take(posting).start().finish(NO_CODE).submission
        await decide_study(setup.context, sign=RUN_SIGNATURE)
        await pay_study(setup.context, send=True, sleep=setup.fake.sleep)
        dry = await close_study(setup.context, dry_run=True)
        assert (dry.is_closed, len(dry.open), setup.fake.studies.find(posting).status) == (False, 1, "ACTIVE")
        assert dry.words == (
            "Recruiting would be stopped.",
            "It could not be closed yet: what is named above holds it up.",
            "Nothing was written.",
        )
        with pytest.raises(RecruitError) as error:
            await close_study(setup.context)
        assert str(error.value) == (
            "close  has stopped recruiting, and is not over before what follows is. Prolific opens it again for more "
            "places only: `beholder launch --places N`. Or write run: 2.\n"
            f"{visit.submission.id}  waits for your decision: Handed in with a code that this person was not shown; "
            f"Handed in, and nothing whole is here. {DECIDE}"
        )
        assert (await setup.context.recruiter.posting(posting)).state == "completed"
        with pytest.raises(RecruitError) as error:
            await change_posting(setup.context, "resume")
        assert str(error.value) == (
            "--resume  finds the study full or stopped. Allowed: a study that is paused. Prolific opens it again for "
            "more places only: `beholder launch --places N`. Or write run: 2."
        )
        assert not (tmp_path / "close").exists()
        await setup.context.recruiter.approve([visit.submission.id])  # on its page, by a person
        setup.fake.advance(minutes=5)
        result = await close_study(setup.context)
        assert result.is_closed
        assert result.words == (
            "Closed. close/summary.md says how it was done, and what is kept until when.",
            "Nobody came, so nothing is exported.",
            f"{requested.id} was asked to return it, and has not yet: Prolific approves and pays it by itself on "
            f"{setup.fake.now + timedelta(days=21):%Y-%m-%d}, unless it is returned or rejected before.",
        )
        again = await close_study(setup.context)
        assert again == result
        kinds = await setup.kinds()
        assert kinds[6:] == ["stop planned", "stop done", "close done"]
        assert "From 2028-01-31 on `beholder purge` erases" in (tmp_path / "close" / "summary.md").read_text("utf-8")


async def test_it_is_not_over_while_the_platform_has_not_stopped_it_or_shows_another_one_open(
    tmp_path: Path, tiny: Path
) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        evidence: Any = {"run": 1, "key": "k", "places": 4}
        other = LedgerEntry("draft", "done", setup.fake.now, provider_ref="5" * 24, evidence=evidence)
        posting = await setup.open()

        async def close() -> str:
            with pytest.raises(RecruitError) as error:
                await close_study(setup.context)
            return str(error.value)

        setup.fake.studies.find(posting).status = "PUBLISHING"  # type: ignore[assignment]
        assert await close() == (
            "Prolific  has not stopped it yet: it is publishing. Run `beholder close` again in a minute."
        )
        assert "close done" not in await setup.kinds()
        setup.fake.studies.find(posting).status = "ACTIVE"
        again = replace(other, provider_ref=posting)
        await setup.context.store.ledger.append([other, replace(other, kind="publish"), again])
        assert await close() == (
            f"{other.provider_ref}  was published in this run too, and is not seen to be over. Stop it on its "
            "platform, and pay whoever has handed in there; its own token and recruit.mode show it."
        )
        stopped = replace(other, kind="stop")
        await setup.context.store.ledger.append([stopped])
        assert (await close_study(setup.context)).is_closed
        assert setup.fake.studies.find(posting).status == "COMPLETED"


async def test_a_study_by_link_is_exported_and_told(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit={"mode": "link"}) as setup:
        await setup.open()
        facts, now = setup.context.store, setup.fake.now
        record = await facts.current()
        assert record is not None
        for name, outcome in (("aa", "no_consent"), ("bb", None)):
            await facts.arrive(Session(name, f"p-{name}", record.digest, 1, "link", 1, {}, now))
            if outcome:
                await facts.append([End(name, "no_consent", "", "", f"BH-{name}", now)])
            else:
                await facts.append([Answer(name, "consent", {"agree": True}, {}, 0, 900, "mouse", "t", now)])
        await facts.claim("bb", now=now, until=now + timedelta(hours=1), per_list=1)
        with pytest.raises(RecruitError) as error:
            await close_study(setup.context)
        assert str(error.value) == (
            "close  has stopped recruiting, and is not over before what follows is. `beholder launch --resume` lets "
            "people begin again.\n"
            "participants  1 person is at work. Close again when they are done; who rests for 60 min is not waited for."
        )
        setup.fake.advance(days=1)
        result = await close_study(setup.context)
        assert result.exported == tmp_path / "export"
        assert (tmp_path / "export" / "sessions.csv").is_file()
        assert result.words[1] == "Every fact is in export/."
        text = (tmp_path / "close" / "summary.md").read_text("utf-8")
        assert "Of the people, 2 came, 1 agreed, 0 rated something, 0 finished" in text
        assert "| Did not agree to take part | 1 |" in text
        assert "Nobody was paid through Beholder." in text


async def test_what_was_only_served_is_closed_too_and_opens_when_somebody_says_so(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit={"mode": "link"}) as setup:

        async def come(name: str) -> int:
            body = {"study": setup.study.name, "params": {"participant": name}, "device": {}}
            async with httpx.AsyncClient(transport=setup.server, base_url="http://here") as client:
                return (await client.post("/api/arrive", json=body)).status_code

        assert await come("ann") == 201
        assert (await close_study(setup.context, dry_run=True)).words[0] == "Recruiting would be stopped."
        assert (await close_study(setup.context)).is_closed
        summary_ = (tmp_path / "close" / "summary.md").read_bytes()
        assert (await close_study(setup.context)).is_closed
        assert (tmp_path / "close" / "summary.md").read_bytes() == summary_
        assert await come("bea") == 403
        for dry_run in (True, False):
            result = await setup.launch(dry_run=dry_run)
            assert result.words[-2:] == (
                "It is closed: nobody can begin, and whoever has begun goes on.",
                "To let people begin again: beholder launch --resume",
            )
        assert await come("bea") == 403
        assert (await change_posting(setup.context, "resume")).posting.state == "active"
        assert await come("bea") == 201
        result = await setup.launch()
        assert result.words[-1] == "People begin here: https://lab.example.org/s/tiny"


async def test_a_closed_study_leaves_no_media_in_its_bucket_where_asked(
    tmp_path: Path, tiny: Path, s3: S3Server
) -> None:
    study = write_study(tmp_path / "study", tiny, media={"to": s3.new_folder(), "copies": 4})
    to = upload_media(study).address
    async with run_server(load_study(study), port=0, hosts_media=False):
        pass  # which makes a store
    async with open_context(study, None) as context:
        dry = await close_study(context, dry_run=True, remove_media=True)
        assert dry.words[-1] == f"The media at {to} would be removed."
        assert len(Bucket(to).held()) == 65
        done = await close_study(context, remove_media=True)
    assert f"Removed from {to}: 64 copies." in done.words
    assert Bucket(to).held() == {}


async def test_media_that_have_no_place_cannot_be_removed_and_nothing_is_closed(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    async with run_server(load_study(study), port=0):
        pass
    async with open_context(study, None) as context:
        with pytest.raises(BucketError, match="tiny names no place for its media"):
            await close_study(context, remove_media=True)
        assert await context.store.ledger.entries() == ()
