"""Visits that somebody makes up: they take no place and see no code; a platform that is down costs nobody anything."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from beholder.errors import Refused
from beholder.recruiting.verified_visits import SharedRequest
from beholder.server.requests import SubmittedAnswer
from beholder.testing.stores.facts import session_of
from support.posted_study import LOOK, posted, refusal

UNLISTED = (
    "The platform does not list this visit, so it would not be paid and we keep nothing of it. If you have just come "
    "from the platform, please wait a minute and open the study from there once more."
)


@pytest.mark.long
async def test_a_thousand_made_up_visits_take_no_place_and_see_no_code(tmp_path: Path, whole: bool) -> None:
    async with posted(tmp_path) as here:
        real = [here.take(), here.take()]
        people = [await here.make_up(f"nobody{number}") for number in range(1000 if whole else 60)]
        told = await asyncio.gather(*(refusal(one) for one in people))
        assert {(one.code, one.status, one.what) for one in told} == {("unlisted", 403, UNLISTED)}
        assert not here.shows_code([one.more for one in told], [one.step for one in people])
        assert (await here.host.store.counts(here.clock()))["live"] == 0
        for visit in real:
            person = await here.come(visit)
            await person.until("end")
            assert here.shows_code(person.step)
        assert len(await here.verified()) == 2
        late = await here.make_up("late") if await here.host.store.has_free_list(here.clock()) else None
        assert late is None, "real people have taken both lists"
        with pytest.raises(Refused) as full:
            await here.make_up("later")
        assert full.value.code == "unlisted"
        assert not here.shows_code(full.value.more)
        with pytest.raises(Refused) as sent_back:
            await here.come(here.take())
        assert sent_back.value.code == "full"
        assert here.shows_code(sent_back.value.more), "who was sent by the platform has a way back"


async def test_a_thousand_who_wait_share_a_request() -> None:
    sent: list[int] = []
    everybody_waits = asyncio.Event()

    async def send() -> int:
        sent.append(len(sent))
        await everybody_waits.wait()
        return sent[-1]

    async def no_pause(_seconds: float) -> None:
        await asyncio.sleep(0)

    shared = SharedRequest(send, timedelta(seconds=2), sleep=no_pause)
    early = asyncio.create_task(shared.reply())
    while not sent:
        await asyncio.sleep(0)
    late = [asyncio.create_task(shared.reply()) for _ in range(1000)]
    await asyncio.sleep(0)  # each of them has asked by now
    everybody_waits.set()
    assert await early == 0
    assert set(await asyncio.gather(*late)) == {1}, "sent after they asked, once for all of them"


async def test_who_makes_up_a_visit_sees_no_code_by_declining_or_withdrawing(tmp_path: Path) -> None:
    async with posted(tmp_path) as here:
        declines, withdraws = await here.make_up("one"), await here.make_up("two")
        await declines.answer(SubmittedAnswer({"agree": False}))
        assert declines.step["outcome"] == "no_consent"
        page = await here.host.withdraw(withdraws.token)
        again = await here.host.step(withdraws.token)
        assert not here.shows_code(declines.step, page, again)
        real = await here.come(here.take())
        await real.answer(SubmittedAnswer({"agree": False}))
        assert here.shows_code(real.step)


async def test_the_submission_of_somebody_else_is_no_visit(tmp_path: Path) -> None:
    async with posted(tmp_path) as here:
        theirs = here.take()
        thief = await here.make_up("thief", theirs.submission.id)
        assert (await refusal(thief)).code == "unlisted"


async def test_a_platform_that_is_down_costs_nobody_anything(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with posted(tmp_path) as here:
        ann = await here.come(here.take())
        here.is_down()
        with caplog.at_level(logging.WARNING, "beholder.recruiting"):
            await ann.until("end")
        assert "visits go on unverified, as the platform does not list them" in caplog.text
        assert here.shows_code(ann.step)
        assert await here.verified() == []
        here.is_back()
        assert here.shows_code(await here.host.step(ann.token))
        assert await here.verified() == [ann.session], "asked again, and recorded once"
        await here.host.step(ann.token)
        assert await here.verified() == [ann.session]


async def test_a_place_taken_while_the_platform_was_down_goes_to_whom_it_sends(tmp_path: Path) -> None:
    async with posted(tmp_path) as here:
        here.is_down()
        made_up = [await here.make_up(name) for name in ("one", "two")]
        for one in made_up:
            await one.answer()
        assert not await here.host.store.has_free_list(here.clock())
        here.is_back()
        for _ in range(2):
            person = await here.come(here.take())
            await person.until("end")
            assert here.shows_code(person.step)
        entries = await here.host.store.ledger.entries()
        words = {one.reason_text for one in entries if one.kind == "release"}
        assert words == {"Came from elsewhere: no submission belongs to it"}
        for one in made_up:
            await one.until("end")
            assert not here.shows_code(one.step)
            assert "we cannot show a code yet" in one.step["text"]


async def test_a_new_visit_that_the_platform_lists_goes_on_on_another_device(tmp_path: Path) -> None:
    async with posted(tmp_path) as here:
        first = here.take()
        ann = await here.come(first)
        await ann.until("trial:1")
        with pytest.raises(Refused) as caught:
            await here.make_up(first.submission.person.id, "made-up")
        assert caught.value.code == "other_device"
        first.return_place()
        again = await here.come(here.take(before=first))
        assert (again.session, again.key) == (ann.session, "trial:1")


async def test_visits_without_an_answer_go_only_where_the_platform_lists_none_such(tmp_path: Path) -> None:
    async with posted(tmp_path) as here:
        visits = [here.take(), here.take()]
        listed = [await here.come(visit) for visit in visits]
        for number in range(12):
            await here.make_up(f"nobody{number}")
        digest = here.host.served.digest
        await here.host.store.arrive(replace(session_of("refused", mode="prolific", digest=digest), at=here.clock()))
        here.clock.wait(hours=25)
        here.is_down()
        assert await here.host.removal.go_on() == 1, "what was refused is nobody's; of the others nothing is known"
        here.is_back()
        here.clock.wait(hours=2)
        before = here.fake.requests.count(LOOK)
        assert await here.host.removal.go_on() == 12
        assert here.fake.requests.count(LOOK) - before < 6, "all share a request"
        store = here.host.store
        assert {one.session for one in await store.platform_visits()} == {one.session for one in listed}
        assert len(await store.platform_identities()) == 2
        assert (await store.counts(here.clock()))["arrived"] == 15
        await listed[0].until("end")
        assert here.shows_code(listed[0].step), "whoever was listed goes on, also after a day"
