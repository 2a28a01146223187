"""What the researcher does about people reaches them: shut out, let in, anew, and a list given back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from beholder.errors import Refused
from beholder.server.moderation import Moderation
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from beholder.store.contract import Ledger, LedgerEntry
from support.platform_visitors import PANEL, act, come, count, door, refused

ONE_LIST = {"design": {"participants": 1, "trials": 3, "seed": 3}}
ASKED = {"before": [{"id": "field", "text": "Do you?", "type": "single", "options": ["yes", "no"], "correct": ["no"]}]}
WRONG = SubmittedAnswer({"answers": {"field": "yes"}})


async def test_who_is_shut_out_is_stopped_kindly_and_their_list_is_open_again(tmp_path: Path) -> None:
    async with door(tmp_path, PANEL, **ONE_LIST) as (host, clock):
        ann = await come(host, clock, pid="ann")
        await ann.until("trial:2")
        assert not await host.store.has_free_list(clock())
        await act(host, "shut_out", ann, clock)
        await host.refresh()
        assert await host.store.has_free_list(clock())
        for request in (ann.answer(), host.step(ann.token), ann.come()):
            with pytest.raises(Refused) as caught:
                await request
            assert (caught.value.code, caught.value.status) == ("blocked", 403)
        assert (await host.withdraw(ann.token))["outcome"] == "withdrawn"


async def test_who_is_let_in_again_goes_on_where_they_were(tmp_path: Path) -> None:
    async with door(tmp_path, PANEL) as (host, clock):
        ann = await come(host, clock, pid="ann")
        await ann.until("trial:2")
        await act(host, "shut_out", ann, clock)
        assert (await refused(host, clock, pid="ann")).code == "blocked"
        await act(host, "let_in", ann, clock)
        again = await come(host, clock, ann, pid="ann")
        assert (again.session, again.key) == (ann.session, "trial:2")


async def test_who_was_turned_away_and_is_let_in_begins_a_new_visit(tmp_path: Path) -> None:
    async with door(tmp_path, PANEL, **ASKED) as (host, clock):
        ann = await come(host, clock, pid="ann")
        await ann.answer()
        await ann.answer(WRONG)
        assert ann.step["outcome"] == "screened_out"
        assert (await come(host, clock, ann, pid="ann")).session == ann.session
        await act(host, "let_in", ann, clock)
        again = await come(host, clock, pid="ann")
        assert (again.session != ann.session, again.key) == (True, "consent")
        await again.answer()
        await again.answer(WRONG)
        assert (await come(host, clock, again, pid="ann")).session == again.session


async def test_a_reset_lets_an_open_session_give_way_with_all_attempts_and_its_list(tmp_path: Path) -> None:
    async with door(tmp_path, PANEL, **ONE_LIST) as (host, clock):
        ann = await come(host, clock, pid="ann")
        await ann.until("trial:2")
        await act(host, "reset", ann, clock)
        again = await come(host, clock, pid="ann")
        assert (again.session != ann.session, again.key) == (True, "consent")
        with pytest.raises(Refused) as caught:
            await host.step(ann.token)
        assert (caught.value.code, caught.value.status) == ("moved", 403)
        assert (await come(host, clock, resume=ann.token)).session == again.session
        await again.until("end")
        assert again.step["outcome"] == "completed"
        assert await count(host) == 2


async def test_a_session_that_gave_way_does_not_count_among_those_of_a_person(tmp_path: Path) -> None:
    several = {
        "design": {"participants": 6, "trials": 2, "sessions_per_participant": 2, "seed": 3},
        "before": [{"id": "age", "text": "Your age", "type": "number"}],
    }
    async with door(tmp_path, {"mode": "link"}, **several) as (host, clock):
        ann = await come(host, clock)
        await ann.until("trial:1")
        await act(host, "reset", ann, clock)
        anew = await come(host, clock, resume=ann.token)
        assert await anew.until("trial:1") == ["consent", "questions:before", "text:instructions"]
        await anew.until("end")
        assert (anew.step["again"]["number"], anew.step["again"]["of"]) == (2, 2)
        second = await come(host, clock, again=anew.token)
        assert await second.until("trial:1") == ["consent"]


async def test_a_completed_session_never_gives_way(tmp_path: Path) -> None:
    async with door(tmp_path, PANEL) as (host, clock):
        ann = await come(host, clock, pid="ann")
        await ann.until("end")
        for kind in ("reset", "let_in"):
            await act(host, kind, ann, clock)
        again = await come(host, clock, ann, pid="ann")
        assert (again.session, again.step["outcome"]) == (ann.session, "completed")


async def test_a_released_list_is_open_at_once_until_the_person_answers_again(tmp_path: Path) -> None:
    async with door(tmp_path, PANEL, **ONE_LIST) as (host, clock):
        ann = await come(host, clock, pid="ann")
        await ann.until("trial:2")
        await act(host, "release", ann, clock)
        await host.refresh()
        assert await host.store.has_free_list(clock())
        await host.events(ann.token, SubmittedAnswer(None, events=[(1, "focus", None, None)]), "trial:2")
        assert await host.store.has_free_list(clock())
        await ann.answer()
        assert not await host.store.has_free_list(clock())


async def test_what_was_only_planned_or_is_of_a_session_that_is_gone_changes_nothing(tmp_path: Path) -> None:
    async with door(tmp_path, PANEL) as (host, clock):
        ann = await come(host, clock, pid="ann")
        participant = (await ann.facts()).session.participant
        planned = LedgerEntry("shut_out", "planned", clock(), participant=participant)
        await host.store.ledger.append([planned, LedgerEntry("release", "done", clock(), session="gone")])
        await host.refresh()
        assert await ann.answer() == "text:instructions"


async def test_a_list_is_given_back_also_where_somebody_comes_just_then(tmp_path: Path) -> None:
    async with door(tmp_path, PANEL, **ONE_LIST) as (host, clock):
        ann = await come(host, clock, pid="ann")
        await ann.until("trial:2")
        await act(host, "release", ann, clock)
        bea = await come(host, clock, pid="bea")  # reads the act before the server looks by itself
        await bea.until("trial:1")


async def test_a_server_that_starts_again_gives_nothing_back_twice(tmp_path: Path) -> None:
    async with door(tmp_path, PANEL, **ONE_LIST) as (host, clock):
        ann = await come(host, clock, pid="ann")
        await ann.until("trial:2")
        await act(host, "release", ann, clock)
        await host.refresh()
        clock.wait(minutes=10)
        await ann.answer()
        again = StudyService(host.served, host.store, now=clock)
        await again.refresh()
        assert not await host.store.has_free_list(clock())


async def test_acts_that_are_read_at_once_count_in_their_order(tmp_path: Path) -> None:
    async with door(tmp_path, PANEL) as (host, clock):
        slow = _Slow(host.store.ledger)
        acts = Moderation(slow)
        await host.store.ledger.append([LedgerEntry("shut_out", "done", clock(), participant="ann")])
        first = asyncio.create_task(acts.refresh())
        await slow.has_read.wait()
        await host.store.ledger.append([LedgerEntry("let_in", "done", clock(), participant="ann")])
        second = asyncio.create_task(acts.refresh())
        await asyncio.sleep(0)
        slow.goes_on.set()
        await asyncio.gather(first, second)
        assert not acts.is_blocked("ann")
        assert acts.readmissions("ann") == 1


class _Slow:
    """A ledger whose first reader waits with what it has read."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.has_read, self.goes_on = asyncio.Event(), asyncio.Event()
        self.append, self.hold, self.purge_identity = ledger.append, ledger.hold, ledger.purge_identity

    async def entries(self, after: int = 0) -> tuple[LedgerEntry, ...]:
        entries = await self._ledger.entries(after)
        if not self.has_read.is_set():
            self.has_read.set()
            await self.goes_on.wait()
        return entries
