"""Who may begin: by the ids that a platform passes, by invitation, by the clock, and by other studies."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from beholder.server import tokens
from beholder.server.admission import lease_duration
from beholder.server.endings import shared_codes
from beholder.server.requests import SubmittedAnswer
from beholder.store.contract import LedgerEntry, PlatformIdentity, PlatformVisit
from beholder.study.recruitment import Recruit
from beholder.workflow.check import check
from support.clock_service import NOON
from support.message_studies import write_asking
from support.platform_visitors import PANEL, POSTING, PROLIFIC, come, count, door, launch, prolific, refused

BACK = "https://app.prolific.com/submissions/complete?cc="


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
        told = await refused(host, clock, **prolific())
        assert told.what == (
            "This study is not put up on the platform yet, so nothing of a visit would be kept. "
            "To look at it, use the preview link."
        )
        assert (told.code, told.more) == ("other_posting", {"return_url": "https://app.prolific.com/"})


async def test_a_robot_still_rehearses_whatever_the_mode(tmp_path: Path) -> None:
    async with door(tmp_path, {**PROLIFIC, "opens": "2030-01-01"}) as (host, clock):
        name = {"robot": "r1", "signature": tokens.robot_signature(host.store.secret, "r1")}
        robot = await come(host, clock, **name)
        await robot.until("end")
        assert robot.step["code"] == shared_codes(host.served.study, host.store.secret)["completed"]


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
        again = await come(host, clock, **prolific(visit="s2"))
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


async def test_further_sessions_are_visits_of_their_own_where_the_study_says_so(tmp_path: Path) -> None:
    more = {"design": {"participants": 6, "trials": 2, "sessions_per_participant": 2, "seed": 3}}
    async with door(tmp_path, {**PROLIFIC, "further": "submissions"}, **more) as (host, clock):
        await launch(host)
        ann = await come(host, clock, **prolific())
        await ann.until("end")
        offer = ann.step["again"]
        assert (offer["url"], offer["earns"], offer["number"], offer["of"]) == (None, "2.00 GBP", 2, 2)
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
        assert (offer["before_return"], offer["bonus"], offer["earns"]) == (True, [2, "0.10 GBP"], "2.00 GBP")
        second = await come(host, clock, again=ann.token)
        assert await host.store.platform_visits() == [
            PlatformVisit(one.session, POSTING, "s1") for one in (ann, second)
        ]
        assert (await come(host, clock, **prolific())).session == second.session
        await second.until("end")
        assert second.step["again"] is None
        assert (await refused(host, clock, **prolific(visit="s9"))).code == "finished"


async def test_nobody_without_a_place_is_left_without_a_way_back(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC, design={"participants": 1, "trials": 2, "seed": 3}) as (host, clock):
        await launch(host)
        await (await come(host, clock, **prolific())).until("end")
        told = await refused(host, clock, **prolific("bea", "s2"))
        code = shared_codes(host.served.study, host.store.secret)["technical"]
        assert (told.code, told.more) == ("full", {"return_url": BACK + code})
        assert [one.submission for one in await host.store.platform_visits()] == [
            "s1",
            "s2",
        ]  # the platform lists it too


async def test_whoever_does_not_agree_or_withdraws_gets_the_way_back_and_nothing_else(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        await launch(host)
        code = shared_codes(host.served.study, host.store.secret)["no_consent"]
        ann = await come(host, clock, **prolific())
        await ann.answer(SubmittedAnswer({"agree": False}))
        assert (ann.step["outcome"], ann.step["return_url"]) == ("no_consent", BACK + code)
        bea = await come(host, clock, **prolific("bea", "s2"))
        await bea.until("trial:2")
        step = await host.withdraw(bea.token)
        assert (step["outcome"], step["return_url"]) == ("withdrawn", BACK + code)
        assert (await host.store.platform_identities(), await host.store.platform_visits()) == ([], [])


async def test_no_byte_before_the_end_holds_a_code(tmp_path: Path) -> None:
    async with door(tmp_path, PROLIFIC) as (host, clock):
        await launch(host)
        codes = shared_codes(host.served.study, host.store.secret).values()
        ann = await come(host, clock, **prolific())
        while ann.step["kind"] != "end":
            assert not any(code in json.dumps(ann.step) for code in codes)
            await ann.answer()
        assert sum(code in json.dumps(ann.step) for code in codes) == 1


# Panels, invitations and open links


async def test_a_panel_passes_its_own_id_and_gets_its_own_codes_and_addresses_back(tmp_path: Path) -> None:
    recruit = {
        **PANEL, "visit_parameter": "visit", "codes": {"completed": "C7", "no_consent": "N1"},
        "return_to": {
            "completed": "https://panel.example/done?c={code}&who={id}", "no_consent": "https://panel.example/{id}",
        },
    }  # fmt: skip
    async with door(tmp_path, recruit) as (host, clock):
        ann = await come(host, clock, pid="a-1", visit="v1")
        await ann.until("end")
        assert (ann.step["code"], ann.step["return_url"]) == ("C7", "https://panel.example/done?c=C7&who=a-1")
        assert (await come(host, clock, pid="a-1", visit="v1")).step["code"] == "C7"
        assert (await refused(host, clock, pid="a-1", visit="v2")).code == "finished"
        bea = await come(host, clock, pid="b-2")
        step = await host.withdraw(bea.token)
        assert (step["outcome"], step["code"], step["return_url"]) == ("withdrawn", "N1", "https://panel.example/b-2")
        assert [one.platform_id for one in await host.store.platform_identities()] == ["a-1"]


async def test_without_codes_of_its_own_a_panel_gets_one_for_each_session_and_shows_it_again(tmp_path: Path) -> None:
    async with door(tmp_path, PANEL) as (host, clock):
        ann, bea = await come(host, clock, pid="ann"), await come(host, clock, pid="bea")
        await ann.until("end")
        await bea.until("end")
        assert ann.step["code"] != bea.step["code"]
        assert (await come(host, clock, pid="ann")).step["code"] == ann.step["code"]
        assert (await refused(host, clock)).code == "no_id"


async def test_an_invitation_is_for_the_person_it_was_written_for(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id\nann@example.org\nGröße 2\n", "utf-8")
    recruit = {"mode": "panel", "people": "people.csv", "single_use": True}
    async with door(tmp_path, recruit) as (host, clock):
        for name in ("ann@example.org", "Größe 2"):
            invited = tokens.invitation(host.store.secret, name)
            first = await come(host, clock, invited=invited)
            await first.until("trial:2")
            assert (await come(host, clock, invited=f" {invited} ")).session == first.session
            assert (await host.store.platform_identities())[-1].platform_id == name
        forged = tokens.invitation(b"another secret", "ann@example.org")
        for text in (forged, "ann@example.org", ".", "", "ann@example.org."):
            assert (await refused(host, clock, invited=text)).code == "no_id"


async def test_where_links_are_personal_the_open_address_opens_nothing(tmp_path: Path) -> None:
    async with door(tmp_path, {"mode": "link", "single_use": True}) as (host, clock):
        assert (await refused(host, clock)).code == "no_id"
        assert (await refused(host, clock, participant="ann")).code == "no_id"
        ann = await come(host, clock, invited=tokens.invitation(host.store.secret, "1"))
        await ann.until("end")
        assert (await come(host, clock, resume=ann.token)).step["kind"] == "end"


async def test_a_block_list_counts_for_every_way_of_coming(tmp_path: Path) -> None:
    (tmp_path / "blocked.txt").write_text("ann\n", "utf-8")
    async with door(tmp_path, {**PROLIFIC, "block": "blocked.txt"}) as (host, clock):
        await launch(host)
        assert (await refused(host, clock, **prolific())).code == "blocked"
        await come(host, clock, **prolific("bea"))


# The clock


async def test_before_it_opens_and_after_it_closes_nobody_begins_and_whoever_has_begun_goes_on(tmp_path: Path) -> None:
    recruit = {"mode": "link", "opens": "2026-05-04 14:30+02:00", "closes": "2026-05-05"}
    async with door(tmp_path, recruit) as (host, clock):
        told = await refused(host, clock, participant="ann")
        assert told.what == "This study opens on 2026-05-04 14:30 UTC+0200. Please come back then with the same link."
        assert (told.code, told.more) == ("not_open", {"at": "2026-05-04T14:30:00+02:00"})
        assert await count(host) == 0
        clock.wait(hours=1)
        ann = await come(host, clock, participant="ann")
        await ann.until("trial:2")
        clock.wait(hours=12)
        told = await refused(host, clock, participant="bea")
        assert (told.code, told.what) == ("closed", "This study closed on 2026-05-05 00:00 UTC. Thank you for coming.")
        await (await come(host, clock, participant="ann")).until("end")


async def test_whom_a_platform_sends_after_closing_has_a_way_back_and_is_known(tmp_path: Path) -> None:
    async with door(tmp_path, {**PROLIFIC, "closes": "2026-05-05"}) as (host, clock):
        await launch(host)
        clock.wait(days=1)
        for _ in range(2):
            told = await refused(host, clock, **prolific())
            code = shared_codes(host.served.study, host.store.secret)["technical"]
            assert (told.code, told.more["return_url"]) == ("closed", BACK + code)
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


def test_a_lease_on_prolific_outlives_the_platforms_own_time_limit() -> None:
    def minutes(**keys: object) -> float:
        return lease_duration(Recruit.model_validate(keys)).total_seconds() / 60

    assert minutes() == 60
    assert minutes(time_limit="100 min") == 100
    assert minutes(mode="prolific", minutes=10) == 29 + 10
    assert minutes(mode="prolific", minutes=10, time_limit="50 min") == 50 + 10
    assert minutes(mode="prolific") == 60 + 10


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
        told = await refused(host, clock, **prolific("ann"))
        assert told.code == "excluded"
        assert told.more["return_url"] == "https://app.prolific.com/"
        with caplog.at_level(logging.WARNING, "beholder.server"):
            await come(host, clock, **prolific("bea"))
        assert "recruit.exclude: ../empty leaves nobody out, as its store cannot be read" in caplog.text
        assert "bea" not in caplog.text
        assert await count(host) == 1


async def test_numbers_of_another_study_are_other_people(tmp_path: Path) -> None:
    single = {"mode": "link", "single_use": True}
    async with door(tmp_path / "first", single) as (host, clock):
        ann = await come(host, clock, invited=tokens.invitation(host.store.secret, "1"))
        await ann.answer()
    async with door(tmp_path / "second", {**single, "exclude": ["../first"]}) as (host, clock):
        await come(host, clock, invited=tokens.invitation(host.store.secret, "1"))
    (tmp_path / "third").mkdir()
    (tmp_path / "third" / "people.csv").write_text("id\n1\n", "utf-8")
    listed = {"mode": "link", "people": "people.csv", "exclude": ["../first"]}
    async with door(tmp_path / "third", listed) as (host, clock):
        await come(host, clock, invited=tokens.invitation(host.store.secret, "1"))


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        (
            "lab",
            "recruit.exclude leaves nobody out: in a laboratory people are numbers, and each study has its own. "
            "Ask whoever comes whether they took part before.",
        ),
        (
            "link",
            "recruit.exclude leaves out only those whose link holds their id, as ?participant=ID; a plain link does "
            "not. Name people in recruit.people, or give them such links, in both studies.",
        ),
    ],
)
def test_whom_nobody_can_know_again_is_told(tmp_path: Path, mode: str, told: str) -> None:
    (tmp_path / "first").mkdir()
    study = write_asking(tmp_path, checks={}, recruit={"mode": mode, "exclude": ["first"]})
    assert [str(one).partition("  ")[2] for one in check(study).warnings] == [told]


async def test_a_halted_posting_lets_nobody_begin(tmp_path: Path) -> None:
    async with door(tmp_path, PANEL) as (host, clock):
        await host.store.ledger.append([LedgerEntry("stop", "done", NOON, provider_ref="tiny/1")])
        assert (await refused(host, clock, pid="ann")).code == "halted"
