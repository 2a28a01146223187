"""Where somebody is among the checks: what each verdict leads to, and what is carried over."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import Refused
from beholder.server.attempts import passes_carried_over
from beholder.server.flow import Ending
from beholder.server.requests import SubmittedAnswer
from beholder.store.contract import Session, SessionFacts, StoredVerdict
from support.check_scripts import DAY, NOON, check_verdict, checked, due_step
from support.clock_service import LAPTOP, PHONE, Person, hosted
from support.qualified_sessions import DESIGN, OFTEN, HostedStudy
from support.scripts import study
from support.training_sessions import Serve, rate, start_training
from support.training_studies import LESSONS


@given(st.lists(st.sampled_from(["fail", "again", "moved"]), max_size=12))
def test_no_order_of_attempts_gives_more_of_them_than_there_are(order: list[str]) -> None:
    """What told nothing uses up no try, and comes no oftener than there are tries; what is known decides."""
    whole = checked(colour={"attempts": 3})
    said: dict[str, StoredVerdict] = {}
    for number, one in enumerate(order, 1):
        verdict, reason = ("fail", "plates") if one == "fail" else ("unknown", one)
        said |= check_verdict(f"check:colour:{number}", verdict, reason, again=verdict == "unknown")
        failed, void = (order[:number].count(kind) for kind in ("fail", "again"))
        if failed < 3 and void < 3:
            assert due_step(whole, said) == f"check:colour:{number + 1}"
        else:
            assert due_step(whole, said) == (Ending("screened_out", "colour:plates") if failed else "trial:1")
            break


def earned(name: str, *, verdict: str = "pass", reason: str = "", device: Any = LAPTOP, **changes: Any) -> Any:
    """Return what somebody was told yesterday about a check with the rules of `checked`."""
    step = next(step for step in checked(colour=True, acuity=True, language=True).steps if step.key == f"check:{name}")
    assert step.check is not None
    rule = step.check.options.model_dump(mode="json")
    evidence = {"version": step.check.version, "answer": {"a": 1}, "rule": rule, **changes}
    key = f"check:{name}:1"
    return (
        Session("old", "p", "d", 1, "link", 1, device, NOON - DAY),
        StoredVerdict("old", key, name, verdict, reason, evidence, NOON - DAY),
    )


def brought(*earlier: Any, at: datetime = NOON, **rules: Any) -> list[str]:
    facts = SessionFacts(Session("new", "p", "d", 1, "link", 2, LAPTOP, NOON))
    passes = passes_carried_over(checked(**(rules or {"colour": True, "acuity": True})), facts, earlier, ["d"], at)
    assert all((one.session, one.reason) == ("new", "carried") for one in passes)
    return [one.key for one in passes]


def test_a_pass_is_brought_along_and_what_is_no_pass_is_not() -> None:
    assert brought(earned("colour"), earned("card"), earned("acuity")) == [
        "check:colour:0", "check:card:0", "check:acuity:0",
    ]  # fmt: skip
    assert brought(earned("colour", verdict="fail")) == []
    assert brought(earned("colour", verdict="unknown", reason="our_fault")) == []
    assert brought(earned("colour"), at=NOON + 30 * DAY) == []
    assert brought(earned("colour"), colour={"valid": "12 h"}) == []
    assert brought(earned("colour"), colour={"valid": "0"}) == []


def test_an_unknown_that_this_device_cannot_better_is_brought_along() -> None:
    assert brought(earned("acuity", verdict="unknown", reason="coarse")) == ["check:acuity:0"]
    assert brought(earned("acuity", verdict="unknown", reason="no_card")) == []
    assert brought(earned("acuity", verdict="unknown", reason="coarse", device=PHONE)) == []


def test_a_pass_of_an_easier_check_is_not_brought_along() -> None:
    assert brought(earned("acuity"), acuity={"mar": 1}) == []
    assert brought(earned("acuity"), acuity={"attempts": 5, "feedback": False}) == ["check:acuity:0"]
    assert brought(earned("colour", version=0)) == []
    assert brought(earned("colour", rule=None)) == []


def test_a_pass_of_the_language_check_is_brought_along_in_its_language() -> None:
    assert brought(earned("language", evidence={"language": "en"}), language=True) == ["check:language:0"]
    assert brought(earned("language", evidence={"language": "de"}), language=True) == []


def test_a_later_failure_takes_an_earlier_pass_away() -> None:
    session, passed = earned("colour")
    failed = StoredVerdict("old", "check:colour:2", "colour", "fail", "plates", passed.evidence, NOON - DAY / 2)
    assert brought((session, passed), (session, failed)) == []


def test_a_check_that_counts_for_one_session_is_not_brought_along() -> None:
    assert study(qualification={"device": True}).qualification.rule("device").lasts is None  # type: ignore[union-attr]
    session = Session("old", "p", "d", 1, "link", 1, LAPTOP, NOON)
    assert brought((session, check_verdict("check:device:1")["check:device:1"]), device=True) == []


def training(tiny: Path) -> dict[str, Any]:
    files = sorted((tiny / "stimuli" / "natural").iterdir())[:2]
    return {"items": [{"file": f"stimuli/natural/{file.name}"} for file in files], "valid": "60 min"}


async def test_the_room_is_asked_for_again_when_a_page_is_loaded_after_half_an_hour(room: HostedStudy) -> None:
    host, clock, _ = room
    ann = await Person(host, clock).come()
    assert await ann.until("trial:") == ["consent", "text:instructions", "check:brightness:1"]
    clock.wait(minutes=30, milliseconds=-1)
    assert (await ann.come()).key == "trial:1", "a pass counts for half an hour, to the last moment"
    clock.wait(seconds=1)
    assert (await ann.come()).key == "check:brightness:2"
    assert await ann.answer() == "trial:1"


async def test_a_page_that_was_open_while_a_pass_ran_out_still_counts(room: HostedStudy) -> None:
    host, clock, _ = room
    ann = await Person(host, clock).come()
    await ann.until("trial:")
    clock.wait(minutes=31)
    await host.events(ann.token, SubmittedAnswer(None, [(0, "shown", None, {})]), "trial:1")
    assert await ann.answer() == "trial:2"


async def test_nothing_runs_out_between_trials_and_all_of_it_at_a_break(room: HostedStudy) -> None:
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


async def test_a_returning_person_meets_only_what_has_run_out(visited: HostedStudy) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    first = await ann.until("end")
    assert first[:4] == ["consent", "check:colour:1", "text:instructions", "check:brightness:1"]
    earned, session = (await ann.facts()).answers["check:colour:1"].at, ann.session
    await ann.come()
    assert ann.session != session
    second = await ann.until("trial:")
    assert second == ["consent"], "everything was passed some minutes ago"
    verdict = await ann.verdict("check:colour:0")
    assert (verdict.verdict, verdict.reason) == ("pass", "carried")
    assert (verdict.evidence["passed_at"], verdict.evidence["session"]) == (earned.isoformat(), session)
    assert "answer" in verdict.evidence
    await ann.until("end")
    clock.wait(days=29)
    await ann.come()
    third = await ann.until("trial:")
    assert third == ["consent", "check:brightness:1"], "the room ran out, the eyes did not"
    again = await ann.verdict("check:colour:0")
    assert (again.evidence["passed_at"], again.evidence["session"]) == (earned.isoformat(), session), (
        "where it was earned"
    )


async def test_what_counts_for_no_time_is_shown_in_every_session(tmp_path: Path, tiny: Path) -> None:
    trained = {**training(tiny), "valid": "0"}
    twice = {"participants": 6, "trials": 2, "sessions_per_participant": 2, "seed": 3}
    async with hosted(tmp_path, tiny, design=twice, training=trained, qualification={"colour": {"valid": "0"}}) as (
        host, clock, _,
    ):  # fmt: skip
        ann = await Person(host, clock).come()
        shown = await ann.until("trial:")
        assert {"check:colour:1", "training:1:1", "training:2:1"} <= set(shown)
        clock.wait(hours=3)
        assert (await ann.come()).key == "trial:1", "within a session it counts to its end"
        await ann.until("end")
        await ann.come()
        assert {"check:colour:1", "training:1:1", "training:2:1"} <= set(await ann.until("trial:"))


async def test_after_a_month_everything_is_asked_again(visited: HostedStudy) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    await ann.until("end")
    clock.wait(days=31)
    await ann.come()
    assert await ann.until("trial:") == ["consent", "check:colour:1", "check:brightness:1"]


async def test_what_is_carried_over_runs_out_from_when_it_was_earned(visited: HostedStudy) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    await ann.until("end")
    clock.wait(minutes=20)
    await ann.come()
    assert await ann.until("trial:") == ["consent"]
    clock.wait(minutes=10)
    assert (await ann.come()).key == "check:brightness:1"


async def test_a_pass_of_the_device_is_not_carried_to_another_one(visited: HostedStudy) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    await ann.until("end")
    await ann.come(device=PHONE)
    assert await ann.until("trial:") == ["consent", "check:brightness:1"]
    await ann.until("end")
    await ann.come(device=LAPTOP)
    assert "check:brightness:1" in await ann.until("trial:"), "the last pass was earned on the phone"


async def test_nothing_is_carried_over_from_somebody_else(visited: HostedStudy) -> None:
    host, clock, _ = visited
    await (await Person(host, clock, "ann").come()).until("end")
    bob = await Person(host, clock, "bob").come()
    assert "check:colour:1" in await bob.until("trial:")


async def test_the_training_is_carried_over_within_its_hour(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny, **OFTEN, training=training(tiny)) as (host, clock, _):
        ann = await Person(host, clock).come()
        assert "training:2:1" in await ann.until("end")
        await ann.come()
        assert await ann.until("trial:") == ["consent"]
        assert (await ann.verdict("training:2:0")).reason == "carried"
        await ann.until("end")
        clock.wait(minutes=60)
        await ann.come()
        assert await ann.until("trial:") == ["consent", "training:1:1", "training:2:1"]


async def test_on_another_device_what_belongs_to_it_is_asked_again_before_the_first_trial(visited: HostedStudy) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    await ann.until("trial:")
    await ann.come(device=PHONE)
    assert ann.key == "check:brightness:2", "the room and the device, not the eyes"
    facts = await ann.facts()
    assert facts.verdicts["device:1"].evidence == {"device": PHONE}
    assert host.context.page_checks.context(facts).device == PHONE
    assert await ann.answer() == "trial:1"
    assert (await ann.come(device=PHONE)).key == "trial:1"
    turned = {**PHONE, "screen": [844, 390]}
    assert (await ann.come(device=turned)).key == "trial:1", "a phone that was turned is the same phone"


async def test_an_attempt_that_was_posed_for_another_device_is_void_and_costs_nothing(room: HostedStudy) -> None:
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


async def test_another_device_in_the_middle_of_rating_waits_for_the_break(visited: HostedStudy) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    await ann.until("trial:2")
    assert (await ann.come(device=PHONE)).key == "trial:2"
    assert await ann.until("check:", "trial:3") == ["trial:2", "break:1"]
    assert ann.key == "check:brightness:2"
    assert await ann.answer() == "trial:3"


async def test_training_runs_out_an_hour_after_its_end_and_comes_back_whole_at_a_break(serve: Serve) -> None:
    site = await serve(LESSONS[:2], design={"participants": 4, "trials": 4, "breaks": 2, "seed": 3})
    visitor, clock = await start_training(site), site.service.now
    await rate(visitor, 5)
    clock.move(minutes=50)
    await rate(visitor, 1)
    clock.move(minutes=59)
    await visitor.arrive()
    assert visitor.step["key"] == "trial:1"
    await rate(visitor, 3)
    clock.move(minutes=10)  # in the middle of rating nothing comes back
    assert visitor.step["key"] == "trial:2"
    await rate(visitor, 3)
    assert visitor.step["key"] == "break:1"
    (await visitor.answer({})).raise_for_status()
    assert (visitor.step["key"], visitor.step["told"]) == ("training:1:2", None)
    await rate(visitor, 1)
    assert (visitor.step["key"], visitor.step["told"]["left"]) == ("training:1:3", 3)  # a new round
    for value in (5, 1):
        await rate(visitor, value)
    assert visitor.step["key"] == "trial:3"


async def test_training_that_still_counts_does_not_come_back(serve: Serve) -> None:
    site = await serve(LESSONS[:1], design={"participants": 4, "trials": 2, "breaks": 1, "seed": 3})
    visitor, clock = await start_training(site), site.service.now
    await rate(visitor, 5)
    await rate(visitor, 3)
    clock.move(minutes=58)
    (await visitor.answer({})).raise_for_status()
    assert visitor.step["key"] == "trial:2"


async def test_before_the_first_trial_training_runs_out_too_but_an_open_page_is_theirs(serve: Serve) -> None:
    site = await serve(LESSONS[:1])
    visitor, clock = await start_training(site), site.service.now
    await rate(visitor, 5)
    clock.move(hours=2)
    await rate(visitor, 3)  # trial:1 was open
    assert visitor.step["key"] == "trial:2"
    late = await start_training(site, "bob")
    await rate(late, 5)
    clock.move(hours=2)
    await late.arrive()
    assert late.step["key"] == "training:1:2"
