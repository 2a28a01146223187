"""Who may begin: by the ids that a platform passes, by invitation, by the clock, and by other studies."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.entrances import shared_codes
from beholder.server.requests import SubmittedAnswer
from beholder.store.contract import LedgerEntry, PlatformVisit
from support.clock_service import LAPTOP, NOON, PHONE, Person, hosted
from support.platform_visitors import PANEL, POSTING, PROLIFIC, come, count, door, launch, prolific, refused
from support.prolific_arrivals import BACK
from support.qualified_sessions import DESIGN, HostedStudy


async def test_what_is_no_visit_of_this_study_is_told_and_not_stored(tmp_path: Path) -> None:
    visits: list[tuple[dict[str, str], str]] = [
        ({}, "no_id"),
        ({"PROLIFIC_PID": "ann", "STUDY_ID": POSTING}, "no_id"),
        (prolific("{{%PROLIFIC_PID%}}"), "placeholder"),
        (prolific(visit="{{%SESSION_ID%}}"), "placeholder"),
        (prolific("ann bea"), "odd_id"),
        (prolific("a" * 65), "odd_id"),
        (prolific(posting="another"), "other_posting"),
        ({"participant": "ann"}, "no_id"),
    ]
    async with door(tmp_path, PROLIFIC) as (host, clock):
        await launch(host)
        for params, code in visits:
            assert (await refused(host, clock, **params)).code == code
        assert await count(host) == 0
        assert await host.store.platform_identities() == []


async def test_before_the_launch_nobody_comes_in_and_is_told_so(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        refusal = await refused(host, clock, **prolific())
        assert refusal.what == (
            "This study is not put up on the platform yet, so nothing of a visit would be kept. "
            "To look at it, use the preview link."
        )
        assert (refusal.code, refusal.more) == ("other_posting", {"return_url": "https://app.prolific.com/"})


async def test_a_robot_still_rehearses_whatever_the_mode(tmp_path: Path) -> None:
    async with door(tmp_path, {**PROLIFIC, "opens": "2030-01-01"}) as (host, clock):
        name = {"robot": "r1", "signature": tokens.robot_signature(host.store.secret, "r1")}
        robot = await come(host, clock, **name)
        await robot.until("end")
        assert robot.step["code"] == shared_codes(host.served.study, host.store.secret)["completed"]


async def test_further_sessions_are_visits_of_their_own_where_the_study_says_so(tmp_path: Path) -> None:
    more = {"design": {"participants": 6, "trials": 2, "sessions_per_participant": 2, "seed": 3}}
    async with door(tmp_path, {**PROLIFIC, "further": "submissions"}, **more) as (host, clock):
        await launch(host)
        ann = await come(host, clock, **prolific())
        await ann.until("end")
        offer = ann.step["again"]
        assert (offer["url"], offer["earns"], offer["number"], offer["of"]) == (None, "£2.00", 2, 2)
        same = await come(host, clock, again=ann.token)
        assert (same.session, same.step["kind"]) == (ann.session, "end")
        second = await come(host, clock, **prolific(visit="s2"))
        assert second.session != ann.session
        assert (await host.store.platform_visits())[-1] == PlatformVisit(second.session, POSTING, "s2")
        assert (await come(host, clock, **prolific())).step["kind"] == "end"


async def test_a_further_round_belongs_to_the_same_visit_and_is_offered_before_the_return(tmp_path: Path) -> None:
    more = {
        "design": {"participants": 6, "trials": 2, "sessions_per_participant": 2, "seed": 3},
        "clean": {"bonus": {"quantity": {"sessions": 2, "each": "0.10 GBP"}}},
    }
    async with door(tmp_path, PROLIFIC, **more) as (host, clock):
        await launch(host)
        ann = await come(host, clock, **prolific())
        await ann.until("end")
        offer = ann.step["again"]
        assert (offer["before_return"], offer["bonus"], offer["earns"]) == (True, [2, "£0.10"], "£2.00")
        second = await come(host, clock, again=ann.token)
        assert await host.store.platform_visits() == [
            PlatformVisit(one.session, POSTING, "s1") for one in (ann, second)
        ]
        assert (await come(host, clock, **prolific())).session == second.session
        await second.until("end")
        assert second.step["again"] is None
        assert (await refused(host, clock, **prolific(visit="s9"))).code == "finished"


# Panels, invitations and open links


# The clock


async def test_before_it_opens_and_after_it_closes_nobody_begins_and_whoever_has_begun_goes_on(tmp_path: Path) -> None:
    recruit = {"mode": "link", "opens": "2026-05-04 14:30+02:00", "closes": "2026-05-05"}
    async with door(tmp_path, recruit) as (host, clock):
        refusal = await refused(host, clock, participant="ann")
        assert (
            refusal.what == "This study opens on 4 May 2026 14:30 UTC+0200. Please come back then with the same link."
        )
        assert (refusal.code, refusal.more) == ("not_open", {"at": "2026-05-04T14:30:00+02:00"})
        assert await count(host) == 0
        clock.wait(hours=1)
        ann = await come(host, clock, participant="ann")
        await ann.until("trial:2")
        clock.wait(hours=12)
        refusal = await refused(host, clock, participant="bea")
        assert (refusal.code, refusal.what) == (
            "closed",
            "This study closed on 5 May 2026 00:00 UTC. Thank you for coming.",
        )
        await (await come(host, clock, ann, participant="ann")).until("end")


async def test_whom_a_platform_sends_after_closing_has_a_way_back_and_is_known(tmp_path: Path) -> None:
    async with door(tmp_path, {**PROLIFIC, "closes": "2026-05-05"}) as (host, clock):
        await launch(host)
        clock.wait(days=1)
        for _ in range(2):
            refusal = await refused(host, clock, **prolific())
            code = shared_codes(host.served.study, host.store.secret)["technical"]
            assert (refusal.code, refusal.more["return_url"]) == ("closed", BACK + code)
        assert {one.submission for one in await host.store.platform_visits()} == {"s1"}
    async with door(tmp_path / "panel", {**PANEL, "closes": "2026-05-05"}) as (host, clock):
        clock.wait(days=1)
        assert (await refused(host, clock, pid="ann")).code == "closed"
        assert {one.submission for one in await host.store.platform_visits()} == {"ann"}, "who has no visits is one"


async def test_after_closing_no_further_session_is_offered(tmp_path: Path) -> None:
    more = {"design": {"participants": 6, "trials": 2, "sessions_per_participant": 2, "seed": 3}}
    async with door(tmp_path, {"mode": "link", "closes": "2026-05-05"}, **more) as (host, clock):
        ann = await come(host, clock, participant="ann")
        await ann.until("end")
        assert ann.step["again"] is not None
        clock.wait(days=1)
        assert (await host.step(ann.token))["again"] is None
        assert (await refused(host, clock, participant="ann")).code == "closed"


# A mode that was changed since


TWICE = {"design": {"participants": 6, "trials": 2, "sessions_per_participant": 2, "seed": 3}}


async def test_who_came_through_a_panel_sees_the_last_page_again_when_the_study_has_another_mode(
    tmp_path: Path,
) -> None:
    async with door(tmp_path, PANEL, **TWICE) as (host, clock):
        for _ in range(2):
            ann = await come(host, clock, pid="ann")
            await ann.until("end")
    async with door(tmp_path, {"mode": "link"}, **TWICE) as (host, clock):
        again = await come(host, clock, again=ann.token)
        assert (again.session, again.step["outcome"]) == (ann.session, "completed")


async def test_who_came_by_a_link_is_refused_when_the_study_has_another_mode(tmp_path: Path) -> None:
    async with door(tmp_path, {"mode": "link"}, **TWICE) as (host, clock):
        for _ in range(2):
            ann = await come(host, clock, participant="ann")
            await ann.until("end")
    async with door(tmp_path, PANEL, **TWICE) as (host, clock):
        assert (await refused(host, clock, again=ann.token)).code == "finished"


@pytest.mark.parametrize(
    ("first", "then", "params", "sessions"),
    [
        ({"mode": "link"}, PANEL, {"participant": "ann"}, 1),
        (PANEL, {"mode": "link"}, {"pid": "ann"}, 2),
    ],
)
async def test_after_closing_a_visit_is_kept_by_the_mode_in_which_the_session_began(
    tmp_path: Path, first: dict[str, Any], then: dict[str, Any], params: dict[str, str], sessions: int
) -> None:
    async with door(tmp_path, first) as (host, clock):
        ann = await come(host, clock, **params)  # has looked at the first page, and has no list
    async with door(tmp_path, {**then, "closes": "2026-05-05"}, run=2) as (host, clock):
        clock.wait(days=1)
        assert (await refused(host, clock, resume=ann.token)).code == "closed"
        assert await count(host) == sessions, "the panel lists every visit"


# Other studies


async def test_whoever_began_another_study_does_not_begin_this_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with door(tmp_path / "first", PROLIFIC) as (host, clock):
        await launch(host)
        ann = await come(host, clock, **prolific("ann"))
        await ann.answer()
        await come(host, clock, **prolific("bea", "s2"))  # has looked at the first page, and no more
    (tmp_path / "empty").mkdir()
    recruit = {**PROLIFIC, "exclude": ["../first", "../empty"]}
    async with door(tmp_path / "second", recruit) as (host, clock):
        await launch(host)
        refusal = await refused(host, clock, **prolific("ann"))
        assert refusal.code == "excluded"
        assert refusal.more["return_url"] == "https://app.prolific.com/"
        with caplog.at_level(logging.WARNING, "beholder.server"):
            await come(host, clock, **prolific("bea"))
        assert "recruit.exclude: ../empty leaves nobody out, as its store cannot be read" in caplog.text
        assert "bea" not in caplog.text
        assert await count(host) == 1


async def test_a_halted_posting_lets_nobody_begin(tmp_path: Path) -> None:
    async with door(tmp_path, PANEL) as (host, clock):
        await host.store.ledger.append([LedgerEntry("stop", "done", NOON, provider_ref="tiny/1")])
        assert (await refused(host, clock, pid="ann")).code == "halted"


async def test_who_was_turned_away_does_not_get_another_visit(visited: HostedStudy) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    ann.fails = frozenset(["colour"])
    await ann.until("end")
    assert ann.step["outcome"] == "screened_out"
    with pytest.raises(Refused) as refused:
        await ann.come()
    assert refused.value.code == "finished"


async def test_who_came_with_the_wrong_device_may_come_with_another_one(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny, design=DESIGN, qualification={"device": True}) as (host, clock, _):
        ann = await Person(host, clock, device=PHONE).come()
        await ann.until("check:device")
        assert await ann.answer(SubmittedAnswer({"cannot": True})) == "end"
        assert (ann.step["outcome"], bool(ann.step["code"])) == ("wrong_device", True)
        with pytest.raises(Refused) as refused:
            await ann.come(device=PHONE)
        assert refused.value.code == "finished"
        assert await (await ann.come(device=LAPTOP)).until("end")
        assert ann.step["outcome"] == "completed"
        with pytest.raises(Refused) as refused:
            await ann.come(device=PHONE)
        assert refused.value.code == "finished"


async def test_a_person_has_as_many_visits_as_the_study_allows(visited: HostedStudy) -> None:
    host, clock, _ = visited
    ann = Person(host, clock)
    for _ in range(3):
        await (await ann.come()).until("end")
    with pytest.raises(Refused) as refused:
        await ann.come()
    assert (refused.value.code, refused.value.what) == ("finished", host.words["finished"])


async def test_a_posting_of_another_run_is_not_of_this_one(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        for posting, run in ((POSTING, 1), ("earlier", 7)):
            await host.store.ledger.append(
                [LedgerEntry("draft", "done", NOON, provider_ref=posting, evidence={"run": run})]
            )  # fmt: skip
        assert (await refused(host, clock, **prolific(posting="earlier"))).code == "other_posting"
        await come(host, clock, **prolific())
