"""Recruiting by link or panel: nothing is sent, and the state is read from the ledger."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from beholder.errors import Refused
from beholder.recruiting.context import recruiter_of
from beholder.recruiting.contract import PlatformRefused
from beholder.recruiting.manual import highest_bonuses
from beholder.server.admission import check_open
from beholder.server.participants import Identity
from beholder.server.visits import record_visit
from beholder.store.contract import LedgerEntry, Session
from beholder.study.recruitment import Sum
from support.manual_recruiters import MODES, job, manual_answers, opened
from support.platform_visitors import door
from support.recruit_studies import recruit_study

AT = datetime(2027, 3, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize("mode", MODES)
async def test_it_is_drafted_published_paused_and_stopped(tmp_path: Path, mode: str) -> None:
    async with opened(tmp_path, MODES[mode]) as (study, store):
        people = await recruiter_of(study, store)
        assert people.mode == mode
        drafted = await people.draft(job(study))
        assert (drafted.id, drafted.state, drafted.places, drafted.taken) == ("tiny/1", "draft", 10, 0)
        assert await people.draft(job(study)) == drafted
        assert (await people.draft(job(study, 12))).places == 12
        for act, state in (
            (people.publish, "active"), (people.publish, "active"), (people.pause, "paused"),
            (people.resume, "active"), (people.stop, "completed"), (people.stop, "completed"),
        ):  # fmt: skip
            assert (await act("tiny/1")).state == state
            assert (await people.posting("tiny/1")).state == state


async def test_places_only_grow(tmp_path: Path) -> None:
    async with opened(tmp_path, MODES["link"]) as (study, store):
        people = await recruiter_of(study, store)
        await people.draft(job(study))
        assert (await people.set_places("tiny/1", 12)).places == 12
        assert (await people.set_places("tiny/1", 12)).places == 12
        with pytest.raises(PlatformRefused) as caught:
            await people.set_places("tiny/1", 11)
        assert str(caught.value) == "11 places are fewer than the 12 that there are: places only grow."


async def test_how_it_stands_is_read_from_the_ledger(tmp_path: Path) -> None:
    async with opened(tmp_path, MODES["panel"]) as (study, store):
        here = await recruiter_of(study, store)
        with pytest.raises(PlatformRefused) as caught:
            await here.publish("tiny/1")
        assert str(caught.value) == "There is no posting tiny/1: `beholder launch` makes tiny/1."
        await here.draft(job(study))
        await here.publish("tiny/1")
        done = LedgerEntry("draft", "done", AT, provider_ref="tiny/1", evidence={"places": 10})
        await store.ledger.append([done, replace(done, kind="publish", event="planned"), replace(done, kind="publish")])
        there = await recruiter_of(study, store)
        assert (await there.posting("tiny/1")).state == "active"
        # Entries of another process count too, also after acts of this object.
        await store.ledger.append([
            replace(done, kind="stop"), replace(done, kind="pause", provider_ref="tiny/2"),
            replace(done, kind="places", evidence={"places": 15}),
        ])  # fmt: skip
        for people in (here, there):
            result = await people.posting("tiny/1")
            assert (result.state, result.places) == ("active", 15)  # one that was stopped opens with more places


async def test_nobody_begins_while_it_is_paused_or_stopped(tmp_path: Path) -> None:
    async with door(tmp_path, MODES["link"]) as (host, _):
        ctx, store, acts = host.context, host.store, host.context.moderation
        guest, robot = Identity("link", "somebody"), Identity("robot", "somebody")
        done = LedgerEntry("draft", "done", AT, provider_ref="tiny/1", evidence={"places": 10})
        for kind, is_open in {
            "draft": True, "publish": True, "pause": False, "places": False, "resume": True, "stop": False,
        }.items():  # fmt: skip
            await store.ledger.append([replace(done, kind=kind)])
            await acts.refresh()
            check_open(ctx, robot, AT)
            if is_open:
                check_open(ctx, guest, AT)
                continue
            with pytest.raises(Refused) as caught:
                check_open(ctx, guest, AT)
            text = (
                "Nobody can begin this study at the moment. If you have already begun, you can continue with the same "
                "link."
            )
            assert (str(caught.value), caught.value.code, caught.value.status) == (text, "halted", 403)
        await store.ledger.append([replace(done, kind="places", evidence={"places": 12})])
        await acts.refresh()
        check_open(ctx, guest, AT)


async def test_who_was_erased_and_looks_in_again_stays_unknown(tmp_path: Path) -> None:
    async with door(tmp_path, MODES["panel"]) as (host, _):
        store = host.store
        await store.arrive(Session("s1", "somebody", host.served.digest, 1, "panel", 1, {}, AT))
        guest = Identity("panel", "somebody", platform="panel", platform_id="anna")
        await record_visit(host.context, guest, "s1")
        assert [link.platform_id for link in await store.platform_identities()] == ["anna"]
        await store.erase("s1", AT)
        await record_visit(host.context, guest, "s1")
        assert (list(await store.platform_identities()), list(await store.platform_visits())) == ([], [])


async def test_what_a_link_cannot_do_is_said_in_words(tmp_path: Path) -> None:
    async with opened(tmp_path, MODES["link"]) as (study, store):
        people = await recruiter_of(study, store)
        by_hand = "pay by hand whoever is in pay/payments.csv, which `beholder pay` writes."
        paid = f"Nobody can be paid through a link: {by_hand}"
        message = "A link knows no submissions: everybody who came is in the store."
        assert await manual_answers(people) == {
            "submissions": message,
            "submission": message,
            "approve": paid,
            "reject": "Nothing can be rejected through a link: whoever is not to be paid is left out of "
            "pay/payments.csv.",
            "return": "Nothing can be returned through a link: there is nothing to do.",
            "setup": paid,
            "bonus": paid,
        }
        await people.exclude(["anna"])
        await people.close()


async def test_a_quote_counts_everything_that_may_be_owed(tmp_path: Path) -> None:
    bonus = {"quantity": {"sessions": 2, "each": "0.10 GBP"}, "quality": {"best": 20, "each": "0.15 GBP"}}
    recruit = {"mode": "link", "reward": "2.00 GBP", "hourly_minimum": "9.00 GBP"}
    async with opened(tmp_path, recruit, clean={"bonus": bonus}) as (study, store):
        quote = await (await recruiter_of(study, store)).quote(job(study, 10, 30))
        assert (quote.rewards, quote.fees, quote.screen_outs) == (Sum(2000, "GBP"), Sum(0, "GBP"), Sum(300, "GBP"))
        assert quote.bonuses == Sum(30, "GBP")  # one session each: two in ten of them are the best
        assert quote.total == Sum(2330, "GBP")
        assert (quote.hourly, quote.floor, quote.balance) == (Sum(1000, "GBP"), Sum(900, "GBP"), None)


def test_further_sessions_cost_what_the_plan_leaves_them(tmp_path: Path) -> None:
    bonus = {"quantity": {"sessions": 2, "each": "0.10 GBP"}}
    study = recruit_study(
        tmp_path, {"mode": "link"}, design={"votes": 4, "sessions_per_participant": 3}, clean={"bonus": bonus}
    )
    asked_for = job(study, 10)
    assert highest_bonuses(study, asked_for, 100) == Sum(20 * 200 + 30 * 10, "GBP")
    assert highest_bonuses(study, asked_for, 12) == Sum(2 * 200 + 12 * 10, "GBP")
    assert highest_bonuses(study, asked_for, 4) == Sum(10 * 10, "GBP")
