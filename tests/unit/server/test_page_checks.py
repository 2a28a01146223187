"""How long a pass counts, what is carried over, and what another device asks again: by a clock that tests move."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from beholder.checks.brightness import BrightnessCheck
from beholder.checks.colour import ColourCheck
from beholder.errors import Refused
from beholder.methods import load_study
from beholder.server.process import load_served
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from beholder.store.contract import Store
from beholder.testing import write_study
from support.clock_service import LAPTOP, PHONE, Clock, Person, hosted, record_of

Hosted = tuple[StudyService, Clock, Store]
DESIGN = {"participants": 6, "trials": 4, "seed": 3, "breaks": 2}
OFTEN = {
    "method": "acr",
    "questions": [{"id": "quality", "text": "How good is it?", "scale": "cont100"}],
    "design": {**DESIGN, "sessions_per_participant": 3},
}
ROOM = {"brightness": {"second": False}}


def asks(item: Any) -> dict[str, Any]:
    return {"questions": {"items": [item]}}


def training(tiny: Path) -> dict[str, Any]:
    files = sorted((tiny / "stimuli" / "natural").iterdir())[:2]
    return {"items": [{"file": f"stimuli/natural/{file.name}"} for file in files], "valid": "60 min"}


@pytest.fixture
async def room(tmp_path: Path, tiny: Path) -> AsyncIterator[Hosted]:
    async with hosted(tmp_path, tiny, design=DESIGN, qualification=ROOM) as found:
        yield found


@pytest.fixture
async def visited(tmp_path: Path, tiny: Path) -> AsyncIterator[Hosted]:
    """A study that may be taken three times, with a check of the eyes and one of the room."""
    rules = {"colour": True, "brightness": {"second": False}}
    async with hosted(tmp_path, tiny, **OFTEN, qualification=rules) as found:
        yield found


async def test_the_room_is_asked_for_again_when_a_page_is_loaded_after_half_an_hour(room: Hosted) -> None:
    host, clock, _ = room
    ann = await Person(host, clock).come()
    assert await ann.until("trial:") == ["consent", "text:instructions", "check:brightness:1"]
    clock.wait(minutes=30, milliseconds=-1)
    assert (await ann.come()).key == "trial:1", "a pass counts for half an hour, to the last moment"
    clock.wait(seconds=1)
    assert (await ann.come()).key == "check:brightness:2"
    assert await ann.answer() == "trial:1"


async def test_a_page_that_was_open_while_a_pass_ran_out_still_counts(room: Hosted) -> None:
    host, clock, _ = room
    ann = await Person(host, clock).come()
    await ann.until("trial:")
    clock.wait(minutes=31)
    await host.events(ann.token, SubmittedAnswer(None, [(0, "shown", None, {})]), "trial:1")
    assert await ann.answer() == "trial:2"


async def test_nothing_runs_out_between_trials_and_all_of_it_at_a_break(room: Hosted) -> None:
    host, clock, _ = room
    ann = await Person(host, clock).come()
    await ann.until("trial:2")
    clock.wait(minutes=90)
    assert (await ann.come()).key == "trial:2"
    assert await ann.answer() == "break:1"
    assert (await ann.come()).key == "break:1"
    assert await ann.answer() == "check:brightness:2", "the room comes back after the break, and only there"
    ann.fails = frozenset(["brightness"])
    assert await ann.answer() == "check:brightness:3"
    assert ann.step["told"]["left"] == 3, "the tries of a new round start anew"
    ann.fails = frozenset()
    assert await ann.answer() == "trial:3"
    clock.wait(minutes=90)
    assert await ann.until("end") == ["trial:3", "trial:4"]
    assert ann.step["outcome"] == "completed"


async def test_the_training_counts_for_an_hour_from_its_end_and_comes_back_whole(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny, design=DESIGN, training=training(tiny)) as (host, clock, _):
        ann = await Person(host, clock).come()
        await ann.until("training:1")
        assert await ann.until("training:2") == ["training:1:1"]
        clock.wait(minutes=59)
        assert await ann.answer() == "trial:1"
        clock.wait(minutes=60, milliseconds=-1)
        assert (await ann.come()).key == "trial:1"
        clock.wait(seconds=1)
        assert (await ann.come()).key == "training:1:2"
        assert await ann.until("trial:") == ["training:1:2", "training:2:2"]
        await ann.until("break:")
        clock.wait(hours=2)
        assert await ann.answer() == "training:1:3"
        assert await ann.until("trial:") == ["training:1:3", "training:2:3"]


async def test_tries_are_counted_over_reloads_and_other_windows(room: Hosted) -> None:
    host, clock, _ = room
    ann = await Person(host, clock).come()
    ann.fails = frozenset(["brightness"])
    await ann.until("check:")
    for number in (1, 2, 3):
        assert ann.key == f"check:brightness:{number}"
        await ann.answer()
        private = Person(host, clock)
        await private.come()
        assert (private.token, private.key) == (ann.token, ann.key)
        assert private.step["told"]["left"] == 4 - number
        await ann.come()
    assert await ann.answer() == "end"
    assert (ann.step["outcome"], bool(ann.step["code"])) == ("screened_out", True)
    with pytest.raises(Refused) as refused:
        await Person(host, clock).come()
    assert (refused.value.code, refused.value.status) == ("finished", 403)
    end = (await ann.facts()).end
    assert end is not None
    assert end.reason == "brightness:count"


async def test_of_two_tabs_that_answer_one_attempt_one_counts(room: Hosted) -> None:
    host, clock, store = room
    ann = await Person(host, clock).come()
    await ann.until("check:")
    right = await ann.answers()
    wrong = SubmittedAnswer({"circles": 0, "triangles": 0, "scale": 1})
    said = await asyncio.gather(
        *(host.answer(ann.token, "check:brightness:1", each) for each in (right, wrong)), return_exceptions=True
    )
    lost = [each for each in said if isinstance(each, Refused)]
    assert [each.code for each in lost] == ["already_answered"]
    rows = [row async for row in store.rows("told")]
    assert len(rows) == 1
    answer = (await ann.facts()).answers["check:brightness:1"].answer
    assert rows[0]["verdict"] == ("pass" if answer == right.answer else "fail")
    same = await host.answer(ann.token, "check:brightness:1", right if answer == right.answer else wrong)
    assert same["stored_at"] == clock().isoformat()


async def test_a_returning_person_meets_only_what_has_run_out(visited: Hosted) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    first = await ann.until("end")
    assert first[:4] == ["consent", "check:colour:1", "text:instructions", "check:brightness:1"]
    earned, session = (await ann.facts()).answers["check:colour:1"].at, ann.session
    await ann.come()
    assert ann.session != session
    second = await ann.until("trial:")
    assert second == ["consent"], "everything was passed some minutes ago"
    told = await ann.told("check:colour:0")
    assert (told.verdict, told.reason) == ("pass", "carried")
    assert (told.evidence["passed_at"], told.evidence["session"]) == (earned.isoformat(), session)
    assert "answer" in told.evidence
    await ann.until("end")
    clock.wait(days=29)
    await ann.come()
    third = await ann.until("trial:")
    assert third == ["consent", "check:brightness:1"], "the room ran out, the eyes did not"
    again = await ann.told("check:colour:0")
    assert (again.evidence["passed_at"], again.evidence["session"]) == (earned.isoformat(), session), (
        "where it was earned"
    )


async def test_after_a_month_everything_is_asked_again(visited: Hosted) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    await ann.until("end")
    clock.wait(days=31)
    await ann.come()
    assert await ann.until("trial:") == ["consent", "check:colour:1", "check:brightness:1"]


async def test_what_is_carried_over_runs_out_from_when_it_was_earned(visited: Hosted) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    await ann.until("end")
    clock.wait(minutes=20)
    await ann.come()
    assert await ann.until("trial:") == ["consent"]
    clock.wait(minutes=10)
    assert (await ann.come()).key == "check:brightness:1"


async def test_a_pass_of_the_device_is_not_carried_to_another_one(visited: Hosted) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    await ann.until("end")
    await ann.come(device=PHONE)
    assert await ann.until("trial:") == ["consent", "check:brightness:1"]
    await ann.until("end")
    await ann.come(device=LAPTOP)
    assert "check:brightness:1" in await ann.until("trial:"), "the last pass was earned on the phone"


async def test_nothing_is_carried_over_from_somebody_else(visited: Hosted) -> None:
    host, clock, _ = visited
    await (await Person(host, clock, "ann").come()).until("end")
    bob = await Person(host, clock, "bob").come()
    assert "check:colour:1" in await bob.until("trial:")


async def test_who_was_turned_away_does_not_get_another_visit(visited: Hosted) -> None:
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


async def test_a_person_has_as_many_visits_as_the_study_allows(visited: Hosted) -> None:
    host, clock, _ = visited
    ann = Person(host, clock)
    for _ in range(3):
        await (await ann.come()).until("end")
    with pytest.raises(Refused) as refused:
        await ann.come()
    assert (refused.value.code, refused.value.what) == ("finished", host.words["finished"])


async def test_the_training_is_carried_over_within_its_hour(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny, **OFTEN, training=training(tiny)) as (host, clock, _):
        ann = await Person(host, clock).come()
        assert "training:2:1" in await ann.until("end")
        await ann.come()
        assert await ann.until("trial:") == ["consent"]
        assert (await ann.told("training:2:0")).reason == "carried"
        await ann.until("end")
        clock.wait(minutes=60)
        await ann.come()
        assert await ann.until("trial:") == ["consent", "training:1:1", "training:2:1"]


async def test_on_another_device_what_belongs_to_it_is_asked_again_before_the_first_trial(visited: Hosted) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    await ann.until("trial:")
    await ann.come(device=PHONE)
    assert ann.key == "check:brightness:2", "the room and the device, not the eyes"
    facts = await ann.facts()
    assert facts.verdicts["device:1"].evidence == {"device": PHONE}
    assert host.page_checks.context(facts).device == PHONE
    assert await ann.answer() == "trial:1"
    assert (await ann.come(device=PHONE)).key == "trial:1"
    turned = {**PHONE, "screen": [844, 390]}
    assert (await ann.come(device=turned)).key == "trial:1", "a phone that was turned is the same phone"


async def test_an_attempt_that_was_posed_for_another_device_is_void_and_costs_nothing(room: Hosted) -> None:
    host, clock, store = room
    ann = await Person(host, clock).come()
    await ann.until("check:")
    late = await ann.answers()
    await ann.come(device=PHONE)
    assert ann.key == "check:brightness:2"
    assert not ann.step["told"]
    with pytest.raises(Refused) as refused:
        await host.answer(ann.token, "check:brightness:1", late)
    assert refused.value.code == "not_reached"
    posed: dict[str, Any] = {row["key"]: row["private"] async for row in store.rows("posed")}
    sides = {key: private["side"] for key, private in posed.items()}
    assert list(sides) == ["check:brightness:1", "check:brightness:2"]
    assert sides["check:brightness:1"] != sides["check:brightness:2"], "drawn for the pixels of each device"
    ann.fails = frozenset(["brightness"])
    for left in (3, 2, 1):
        await ann.answer()
        assert ann.step["told"]["left"] == left


async def test_another_device_in_the_middle_of_rating_waits_for_the_break(visited: Hosted) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    await ann.until("trial:2")
    assert (await ann.come(device=PHONE)).key == "trial:2"
    assert await ann.until("check:", "trial:3") == ["trial:2", "break:1"]
    assert ann.key == "check:brightness:2"
    assert await ann.answer() == "trial:3"


async def test_a_check_that_cannot_be_posed_is_over_and_logged(
    room: Hosted, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr(BrightnessCheck, "pose", broken)
    host, clock, _ = room
    ann = await Person(host, clock).come()
    with caplog.at_level(logging.ERROR, "beholder.server"):
        assert await ann.until("trial:") == ["consent", "text:instructions"]
    told = await ann.told("check:brightness:1")
    assert (told.verdict, told.reason) == ("unknown", "our_fault")
    assert told.evidence["evidence"] == {"error": "ZeroDivisionError: a bug of ours"}
    assert "check:brightness:1" in caplog.text


@pytest.mark.parametrize("part", ["read", "judge"])
async def test_a_check_that_cannot_be_judged_costs_nobody_anything(
    visited: Hosted, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("counts")

    monkeypatch.setattr(BrightnessCheck, part, broken)
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    await ann.until("check:brightness")
    sent = await ann.answers()
    assert await ann.answer(sent) == "trial:1"
    again = await host.answer(ann.token, "check:brightness:1", sent)
    step = again["step"]
    assert isinstance(step, dict)
    assert step["key"] == "trial:1"
    assert (await ann.told("check:brightness:1")).reason == "our_fault"


async def test_a_picture_that_cannot_be_drawn_lets_people_go_on(room: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise MemoryError("a bug of ours")

    monkeypatch.setattr(BrightnessCheck, "draw", broken)
    host, clock, _ = room
    ann = await Person(host, clock).come()
    await ann.until("check:")
    url = ann.step["media"]["matrix"]["url"]
    with pytest.raises(Refused) as refused:
        await host.media(url.removeprefix("/media/"))
    assert refused.value.status == 404
    assert (await ann.come()).key == "trial:1"


async def test_only_the_attempt_at_hand_is_drawn(room: Hosted) -> None:
    host, clock, _ = room
    ann = await Person(host, clock).come()
    await ann.until("check:")
    first = ann.step["media"]["matrix"]["url"].removeprefix("/media/")
    assert (await host.media(first)).content_type == "image/png"
    second = host.page_checks.token(ann.session, "check:brightness:2", "matrix")
    ann.fails = frozenset(["brightness"])
    for token in (second, first):
        with pytest.raises(Refused) as refused:
            await host.media(token)
        assert refused.value.code == "unknown_media"
        await ann.answer() if token == second else None
    assert ann.step["media"]["matrix"]["url"] == f"/media/{second}"
    assert b"".join((await host.media(second)).read()).startswith(b"\x89PNG")


async def test_withdrawing_in_the_middle_of_a_check_erases_what_was_posed_and_told(room: Hosted) -> None:
    host, clock, store = room
    ann = await Person(host, clock).come()
    await ann.until("check:")
    ann.fails = frozenset(["brightness"])
    await ann.answer()
    await host.events(ann.token, SubmittedAnswer(None, [(0, "shown", None, {})]), "check:brightness:2")
    url = ann.step["media"]["matrix"]["url"]
    end = await host.withdraw(ann.token)
    assert end["outcome"] == "withdrawn"
    for table in ("posed", "told", "answers", "events"):
        assert [row async for row in store.rows(table)] == [], table
    with pytest.raises(Refused):
        await host.media(url.removeprefix("/media/"))


async def test_somebody_who_cannot_take_a_gate_ends_kindly_and_at_once(visited: Hosted) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    await ann.until("check:colour")
    assert await ann.answer(SubmittedAnswer({"cannot": True})) == "end"
    assert ann.step["outcome"] == "screened_out"
    assert ann.step["text"] == host.page_checks.refusal_text(f"{ColourCheck.name}:cannot")


async def test_an_attempt_at_hand_stays_as_it_was_posed_when_the_study_changes(tmp_path: Path, tiny: Path) -> None:
    quiz = {"id": "sky", "text": "What is blue?", "options": ["the sky", "grass"], "correct": "the sky"}
    async with hosted(tmp_path, tiny, design=DESIGN, qualification=asks(quiz)) as (host, clock, store):
        changed = asks({**quiz, "correct": "grass"})
        path = write_study(tmp_path / "changed", tiny, design=DESIGN, qualification=changed)
        served, plan = load_served(load_study(path), "http://here")
        ann = await Person(host, clock).come()
        await ann.until("check:")
        asked = ann.step["public"]
        kept = (await ann.facts()).posed
        await store.begin(record_of(served, plan.plan_digest, clock()))
        ann.host = StudyService(served, store, now=clock)
        assert (await ann.come()).step["public"] == asked
        await ann.answer()
        assert (await ann.told("check:questions:1")).verdict == "pass"
        assert (await ann.facts()).posed == kept
