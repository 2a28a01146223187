"""Several sessions of one person: never the same stimulus, each later one shorter, kind words when there are none."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.errors import Refused
from beholder.methods import load_study
from beholder.methods.contract import Trial
from beholder.planning.serialization import lists_to_json
from beholder.server.process import load_served
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from beholder.store.contract import Store
from beholder.store.open import open_store
from beholder.store.rules import record_of
from beholder.testing import write_study
from support.clock_service import LAPTOP, PHONE, Clock, Person, hosted

Hosted = tuple[StudyService, Clock, Store]
RATED: dict[str, Any] = {
    "method": "acr",
    "questions": [{"id": "quality", "text": "How good is it?", "scale": "cont100"}],
    "before": [{"id": "age", "text": "Your age", "type": "number", "min": 18, "max": 120}],
    "after": [{"id": "liked", "text": "Did you like it?", "type": "single", "options": ["yes", "no"]}],
}
OFTEN = {"participants": 2, "trials": 4, "sessions_per_participant": 4, "seed": 3}


@pytest.fixture
async def often(tmp_path: Path, tiny: Path) -> AsyncIterator[Hosted]:
    """A study of eight lists, two chains of four; four sessions show all 16 stimuli."""
    async with hosted(tmp_path, tiny, **RATED, design=OFTEN) as hosted_study:
        yield hosted_study


def seen_in(host: StudyService, number: int) -> set[str]:
    trials = [entry for entry in host.served.lists[number - 1] if isinstance(entry, Trial)]
    return {slot.stimulus for trial in trials for slot in trial.slots}


async def take(person: Person) -> int:
    """Let somebody take a whole session; return its list."""
    await (await person.come()).until("end")
    assert person.step["outcome"] == "completed"
    number = (await person.facts()).list
    assert number is not None
    return number


async def test_one_person_takes_a_chain_and_meets_every_stimulus_once(often: Hosted) -> None:
    host, clock, _ = often
    ann, bob = Person(host, clock, "ann"), Person(host, clock, "bob")
    assert [await take(ann), await take(bob)] == [1, 5], "newcomers begin chains"
    assert [await take(ann), await take(ann), await take(bob), await take(ann)] == [2, 3, 6, 4]
    met = [seen_in(host, number) for number in (1, 2, 3, 4)]
    assert sum(len(stimuli) for stimuli in met) == len(set().union(*met)) == 16
    assert ann.step["again"] is None, "four sessions are what one person may take"
    with pytest.raises(Refused) as refused:
        await ann.come()
    assert (refused.value.code, refused.value.what) == ("finished", host.words["finished"])


async def test_a_later_session_is_shorter_and_its_instructions_stay_at_hand(often: Hosted) -> None:
    host, clock, _ = often
    ann = Person(host, clock)
    trials = [f"trial:{n}" for n in (1, 2, 3, 4)]
    first = await (await ann.come()).until("end")
    assert first == ["consent", "questions:before", "text:instructions", *trials, "questions:after"]
    _, arrival = await host.arrive(ann.params, ann.device)
    assert arrival["step"]["progress"] == [1, 5], "from its first page on"  # type: ignore[index,call-overload]
    assert await (await ann.come()).until("end") == ["consent", *trials]
    assert arrival["study"]["instructions"] != ""  # type: ignore[index,call-overload]
    assert arrival["study"]["presses"] is False, "no rule looks at them"  # type: ignore[index,call-overload]
    assert ann.step["progress"] == [5, 5]


async def test_somebody_without_a_name_goes_on_from_the_last_page(often: Hosted) -> None:
    host, clock, _ = often
    ann = Person(host, clock)
    ann.params = {}
    await (await ann.come()).until("end")
    again: Any = ann.step["again"]
    assert again == {
        "url": f"/s/tiny?again={ann.token}", "minutes": 1, "number": 2, "of": 4, "earns": None, "bonus": None,
        "before_return": False,
    }  # fmt: skip
    first, participant = ann.session, (await ann.facts()).session.participant
    ann.params = {"resume": ann.token}
    assert (await ann.come()).step["again"] == again, "whoever loads the page again still finds it"
    ann.params = {"again": ann.token}
    assert (await ann.come()).key == "consent"
    facts = await ann.facts()
    assert (facts.session.participant, facts.session.visit) == (participant, 2)
    assert ann.session != first
    second = ann.session
    assert (await ann.come()).session == second, "the same way again leads to the same session"
    await ann.until("end")
    assert len({(await ann.facts()).list, 1}) == 2


async def test_where_nothing_new_is_left_somebody_is_thanked(often: Hosted) -> None:
    host, clock, store = often
    ann = Person(host, clock, "ann")
    await take(ann)
    others = [await take(Person(host, clock, f"other{n}")) for n in range(4)]
    assert others == [5, 2, 3, 4], "heads of chains first, then whatever is left"
    with pytest.raises(Refused) as refused:
        await ann.come()
    assert (refused.value.code, refused.value.what) == ("finished", host.words["nothing_left"])
    assert all(seen_in(host, 1) & seen_in(host, number) for number in (6, 7, 8)), "what is left is new to others only"
    for n in range(3):
        await take(Person(host, clock, f"late{n}"))
    with pytest.raises(Refused) as refused:
        await Person(host, clock, "new").come()
    assert (refused.value.code, refused.value.what) == ("full", host.words["full"])
    mine = (await ann.facts()).session.participant
    rows = [row async for row in store.rows("sessions")]
    assert sum(row["participant"] == mine for row in rows) == 1, "no empty session"


async def test_a_session_that_waits_is_gone_on_with(often: Hosted) -> None:
    host, clock, _ = often
    ann = Person(host, clock)
    await take(ann)
    await (await ann.come()).until("trial:3")
    session = ann.session
    clock.wait(hours=5)
    for n in range(7):
        await take(Person(host, clock, f"other{n}"))
    await ann.come()
    assert (ann.session, ann.key) == (session, "trial:3"), "although every list is taken by now"
    assert await ann.until("end") == ["trial:3", "trial:4"]


async def test_a_device_that_did_not_fit_costs_no_list(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny, **RATED, design=OFTEN, qualification={"device": True}) as (host, clock, _):
        ann = await Person(host, clock, device=PHONE).come()
        await ann.until("check:device")
        assert await ann.answer(SubmittedAnswer({"cannot": True})) == "end"
        assert ann.step["again"] is None
        await ann.come(device=LAPTOP)
        assert "questions:before" in await ann.until("end"), "nothing was asked yet"
        assert (await ann.facts()).list == 1


async def test_whoever_comes_again_stays_in_their_group(tmp_path: Path, tiny: Path) -> None:
    levels = {"calm": {"instructions": "Take your time."}, "quick": {"instructions": "Be quick."}}
    design = {**OFTEN, "participants": 4, "trials": 3, "sessions_per_participant": 2, "between": {"pace": levels}}
    async with hosted(tmp_path, tiny, **RATED, design=design) as (host, clock, _):
        ann, bob = Person(host, clock, "ann"), Person(host, clock, "bob")
        lists = [[await take(person) for person in (ann, bob)] for _ in range(2)]
        groups = [[host.served.groups[number - 1]["pace"] for number in each] for each in lists]
        assert groups == [["calm", "quick"]] * 2


async def test_one_session_each_is_what_everybody_has_by_default(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny) as (host, clock, _):
        ann = await Person(host, clock).come()
        await ann.until("end")
        assert ann.step["again"] is None
        ann.params = {"again": ann.token}
        with pytest.raises(Refused) as refused:
            await ann.come()
        assert refused.value.code == "finished"


async def test_a_list_that_was_finished_twice_does_not_close_the_study(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny, design={"participants": 2, "trials": 2}) as (host, clock, store):
        slow = await Person(host, clock, "slow").come()
        await slow.until("trial:2")
        clock.wait(hours=2)
        assert [await take(Person(host, clock, "quick"))] == [1]
        await slow.until("end")
        counts = await store.counts(clock())
        assert (counts["completed"], counts["finished"]) == (2, 1)
        assert await take(Person(host, clock, "third")) == 2
        with pytest.raises(Refused) as refused:
            await Person(host, clock, "fourth").come()
        assert refused.value.code == "full"


async def test_all_sessions_of_a_person_are_cleaned_together(tmp_path: Path, tiny: Path) -> None:
    study, clock = load_study(write_study(tmp_path, tiny, **RATED, design=OFTEN, checks={"variance": False})), Clock()
    served, plan = load_served(study, "http://here")
    async with open_store(tmp_path / "store") as store:
        await store.begin(record_of(study, served.catalogue, plan.plan_digest, list(lists_to_json(plan)), clock()))
        host = StudyService(served, store, now=clock)
        ann, bob = Person(host, clock, "ann"), Person(host, clock, "bob")
        assert [await take(ann), await take(bob), await take(ann), await take(ann)] == [1, 5, 2, 3]
    await asyncio.to_thread(beholder.clean, tmp_path / "study.yaml")
    clean = tmp_path / "clean"
    people, sessions, ratings = (
        list(csv.DictReader((clean / name).read_text("utf-8").splitlines()))
        for name in ("participants.csv", "sessions.csv", "ratings.csv")
    )
    assert [(row["sessions"], row["ratings"], row["used_ratings"]) for row in people] == [
        ("3", "12", "12"),
        ("1", "4", "4"),
    ]
    assert all(row["answer_age"] and row["answer_liked"] for row in people), "what was asked once is known of all"
    assert len({row["session"] for row in ratings}) == len(sessions) == 4
    assert {(row["use"], row["reasons"]) for row in sessions} == {("true", "")}
    mine = [row["stimulus"] for row in ratings if row["participant"] == people[0]["participant"]]
    assert len(set(mine)) == 12
