"""Visits of a platform: kept apart from the facts, for one person each, and what they prove."""

from __future__ import annotations

import asyncio
from pathlib import Path

from beholder.errors import Refused
from beholder.server.entrances import shared_codes
from beholder.store.contract import PlatformIdentity, PlatformVisit
from support.clock_service import Person
from support.platform_visitors import POSTING, PROLIFIC, come, count, door, launch, prolific, refused
from support.prolific_arrivals import BACK


async def test_a_visit_from_prolific_is_kept_with_its_ids_apart_from_the_facts(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        await launch(host)
        ann = await come(host, clock, **prolific())
        facts = await ann.facts()
        assert facts.session.mode == "prolific"
        assert await host.store.platform_identities() == [
            PlatformIdentity(facts.session.participant, "prolific", "ann")
        ]
        assert await host.store.platform_visits() == [PlatformVisit(ann.session, POSTING, "s1")]


async def test_the_same_visit_comes_back_to_the_same_place_and_after_the_end_to_its_code(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        await launch(host)
        ann = await come(host, clock, **prolific())
        await ann.until("trial:2")
        again = await come(host, clock, **prolific())
        assert (again.session, again.key) == (ann.session, "trial:2")
        await ann.until("end")
        code = shared_codes(host.served.study, host.store.secret)["completed"]
        for page in (ann, await come(host, clock, **prolific())):
            assert (page.step["outcome"], page.step["code"]) == ("completed", code)
            assert page.step["return_url"] == BACK + code


async def test_whoever_returned_and_takes_it_again_goes_on_and_takes_no_second_list(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        await launch(host)
        ann = await come(host, clock, **prolific())
        await ann.until("trial:2")
        again = await come(host, clock, ann, **prolific(visit="s2"))
        assert (again.session, again.key) == (ann.session, "trial:2")
        assert await host.store.platform_visits() == [
            PlatformVisit(ann.session, POSTING, visit) for visit in ("s1", "s2")
        ]
        await again.until("end")
        assert (await refused(host, clock, **prolific(visit="s3"))).code == "finished"
        assert (await come(host, clock, **prolific(visit="s2"))).step["outcome"] == "completed"


async def test_two_people_never_share_a_visit(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        await launch(host)
        await come(host, clock, **prolific())
        assert (await refused(host, clock, **prolific("bea"))).code == "other_posting"


async def test_of_two_people_who_come_by_one_visit_at_the_same_moment_one_begins(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        await launch(host)
        both = await asyncio.gather(
            *(come(host, clock, **prolific(name)) for name in ("ann", "bea")), return_exceptions=True
        )
        (refusal,) = [one for one in both if isinstance(one, Refused)]
        assert refusal.code == "other_posting"
        assert len(await host.store.platform_visits()) == 1
        first = next(one for one in both if isinstance(one, Person))
        other = "bea" if first.params["PROLIFIC_PID"] == "ann" else "ann"
        await come(host, clock, **prolific(other, "s2"))  # by a visit of their own
        # The refused visit may have opened a session before it was refused, which stays nobody's.
        assert len(await host.store.platform_visits()) == 2
        assert await count(host) in (2, 3)


async def test_another_visit_of_somebody_alone_does_not_open_their_session(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        await launch(host)
        ann = await come(host, clock, **prolific())
        await ann.until("trial:2")
        assert (await refused(host, clock, **prolific(visit="made-up"))).code == "other_device"
        assert {one.submission for one in await host.store.platform_visits()} == {"s1"}
