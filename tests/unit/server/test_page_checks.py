"""How long a pass counts, what is carried over, and what another device asks again: by a clock that tests move."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from beholder.checks.brightness import Brightness
from beholder.checks.colour import Colour
from beholder.errors import Refused
from beholder.methods import load_study
from beholder.server.process import load_served
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from beholder.testing import write_study
from support.clock_service import Person, hosted, record_of
from support.instruction_pages import served, until
from support.qualified_sessions import DESIGN, HostedStudy
from support.visitor import Visitor


def asks(item: Any) -> dict[str, Any]:
    return {"questions": {"items": [item]}}


async def test_tries_are_counted_over_reloads_and_other_windows(room: HostedStudy) -> None:
    host, clock, _ = room
    ann = await Person(host, clock).come()
    ann.fails = frozenset(["brightness"])
    await ann.until("check:")
    for number in (1, 2, 3):
        assert ann.key == f"check:brightness:{number}"
        await ann.answer()
        private = Person(host, clock)
        private.params = {"resume": ann.token}
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


async def test_a_check_that_cannot_be_posed_is_over_and_logged(
    room: HostedStudy, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr(Brightness, "pose", broken)
    host, clock, _ = room
    ann = await Person(host, clock).come()
    with caplog.at_level(logging.ERROR, "beholder.server"):
        assert await ann.until("trial:") == ["consent", "text:instructions"]
    verdict = await ann.verdict("check:brightness:1")
    assert (verdict.verdict, verdict.reason) == ("unknown", "our_fault")
    assert verdict.evidence["evidence"] == {"error": "ZeroDivisionError: a bug of ours"}
    assert "check:brightness:1" in caplog.text


@pytest.mark.parametrize("part", ["read", "judge"])
async def test_a_check_that_cannot_be_judged_costs_nobody_anything(
    visited: HostedStudy, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("counts")

    monkeypatch.setattr(Brightness, part, broken)
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    await ann.until("check:brightness")
    sent = await ann.answers()
    assert await ann.answer(sent) == "trial:1"
    again = await host.answer(ann.token, "check:brightness:1", sent)
    step = again["step"]
    assert isinstance(step, dict)
    assert step["key"] == "trial:1"
    assert (await ann.verdict("check:brightness:1")).reason == "our_fault"


async def test_somebody_who_cannot_take_a_gate_ends_kindly_and_at_once(visited: HostedStudy) -> None:
    host, clock, _ = visited
    ann = await Person(host, clock).come()
    await ann.until("check:colour")
    assert await ann.answer(SubmittedAnswer({"cannot": True})) == "end"
    assert ann.step["outcome"] == "screened_out"
    assert ann.step["text"] == host.context.page_checks.refusal_text(f"{Colour.name}:cannot")


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
        assert (await ann.verdict("check:questions:1")).verdict == "pass"
        assert (await ann.facts()).posed == kept


async def test_people_read_what_is_needed_before_they_agree(tmp_path: Path, tiny: Path) -> None:
    checks = {"brightness": True, "colour": {"action": "flag"}}
    async with served(write_study(tmp_path / "a", tiny, qualification=checks)) as site:
        visitor = Visitor(site, participant="ada")
        await visitor.arrive()
        assert visitor.step["needs"]
        assert visitor.step["checks"]["senses"] == "eyes"
        assert visitor.step["checks"]["minutes"] >= 1
    async with served(write_study(tmp_path / "b", tiny, qualification={"tones": True, "brightness": True})) as site:
        visitor = Visitor(site, participant="ada")
        await visitor.arrive()
        assert visitor.step["checks"]["senses"] == "both"
    async with served(write_study(tmp_path / "c", tiny)) as site:
        visitor = Visitor(site, participant="ada")
        await visitor.arrive()
        assert (visitor.step["needs"], visitor.step["checks"]) == ([], None)


async def test_whoever_is_turned_away_reads_which_requirement_it_was_and_gets_a_code(
    tmp_path: Path, tiny: Path
) -> None:
    async with served(write_study(tmp_path, tiny, qualification={"brightness": {"attempts": 1}})) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "check:brightness:1")
        await visitor.answer({"cannot": True})
        assert (visitor.step["kind"], visitor.step["outcome"]) == ("end", "screened_out")
        assert visitor.step["text"].startswith("<p>On this screen and in this light")
        assert "You did nothing wrong." in visitor.step["text"]
        assert visitor.step["code"]
