"""Attacks on the checks: attempts to pass a gate, to stop the server, or to destroy the data of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.checks.network import Network
from beholder.checks.page_contract import CheckContext, read_number, read_pair
from beholder.checks.screen import Screen, window_of
from beholder.cleaning.facts import AnswerRecord, SessionRecord
from beholder.cleaning.qualification import NOT_KEPT, qualify
from beholder.errors import Refused, UserError
from beholder.methods import load_study
from beholder.server.requests import SubmittedAnswer
from beholder.testing import write_study
from support.clock_service import LAPTOP, NOON, PHONE, Person, hosted

HUGE = 10**400
"""A whole number that JSON can hold and no float can."""
GATES = {"device": True, "brightness": {"second": False}}


@pytest.mark.parametrize("given", [HUGE, -HUGE, float("inf"), float("nan")])
def test_a_number_that_no_computer_can_hold_is_refused_and_never_a_fault_of_ours(given: float) -> None:
    with pytest.raises(Refused, match="bytes is missing or out of bounds"):
        read_number({"bytes": given}, "bytes", 0, 1e13)
    with pytest.raises(Refused, match="screen is missing or out of bounds"):
        read_pair({"screen": [given, 1]}, "screen", 1, 100_000)
    with pytest.raises(Refused):
        Network(Network.Options()).read({}, {"bytes": given, "ms": 1000})


async def test_a_huge_number_does_not_lead_past_a_gate(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny, qualification={"screen": True}) as (host, clock, _):
        ann = await Person(host, clock).come()
        await ann.until("check:")
        answer: Any = {"screen": [HUGE, 1], "inner": [1, 1], "outer": [1, 1], "dpr": 1}
        with pytest.raises(Refused, match="screen is missing or out of bounds"):
            await ann.answer(SubmittedAnswer(answer))
        assert (await ann.come()).key == "check:screen:1"


@pytest.mark.parametrize("answer", [{"cannot": 1}, {"cannot": 1.0}, {"cannot": "true"}, {"cannot": False}])
async def test_only_true_says_that_somebody_cannot(tmp_path: Path, tiny: Path, answer: Any) -> None:
    async with hosted(tmp_path, tiny, qualification={"brightness": True}) as (host, clock, _):
        ann = await Person(host, clock).come()
        await ann.until("check:")
        with pytest.raises(Refused, match="The number of circles is missing"):
            await ann.answer(SubmittedAnswer(answer))


async def test_a_wrong_device_after_a_failed_gate_gives_no_new_attempts(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny, qualification=GATES) as (host, clock, _):
        ann = await Person(host, clock).come()
        await ann.until("check:brightness")
        ann.fails = frozenset(["brightness"])
        assert await ann.answer() == "check:brightness:2"
        assert (await ann.come(PHONE)).key == "check:device:2"
        await ann.answer(SubmittedAnswer({"cannot": True}))
        assert ann.step["outcome"] == "wrong_device"
        with pytest.raises(Refused, match="This session has ended"):
            await ann.come(LAPTOP)


async def test_a_wrong_device_before_any_failed_gate_lets_people_begin_again(tmp_path: Path, tiny: Path) -> None:
    async with hosted(tmp_path, tiny, qualification=GATES) as (host, clock, _):
        ann = await Person(host, clock).come()
        await ann.until("check:brightness")
        assert (await ann.come(PHONE)).key == "check:device:2"
        await ann.answer(SubmittedAnswer({"cannot": True}))
        assert (await ann.come(LAPTOP)).key == "consent"


def test_nobody_can_claim_a_screen_that_keeps_the_server_drawing() -> None:
    assert window_of(CheckContext({"screen": [20_000, 20_000], "dpr": 5})).lines == 8640
    assert window_of(CheckContext({"screen": [7680, 4320], "dpr": 1})).lines == 4320


@pytest.mark.parametrize("kept", [{}, {"screen": "wide", "dpr": None}, {"screen": [HUGE, 1], "inner": [1, 1]}])
def test_what_cannot_be_judged_again_costs_nobody_anything_and_does_not_stop_cleaning(kept: Any) -> None:
    given = AnswerRecord("check:screen:1", {"outer": [1, 1], "dpr": 0.5, **kept}, {}, 0, 1000, "mouse", NOON)
    posed = {given.key: {"size": None}}
    visit = SessionRecord("s1", "p1", "d", 1, "link", 1, NOON, None, None, False, (), {given.key: given}, posed=posed)
    settled = qualify([Screen(Screen.Options())], visit).settled[0]
    assert (settled.verdict.verdict, settled.verdict.reason, settled.costs) == ("unknown", NOT_KEPT, False)


_OPTIONS = "true or false, or a map with the keys action, feedback, attempts, valid, level and second"
_SIDES = "two numbers of pixels, 1 to 20,000"


@pytest.mark.parametrize(
    ("name", "written", "said"),
    [
        ("brightness", "yes", f"qualification.brightness is yes. Allowed: {_OPTIONS}. Write true."),
        ("brightness", "off", f"qualification.brightness is off. Allowed: {_OPTIONS}. Write false."),
        ("screen", {"min": [0, 720]}, f"qualification.screen.min is 0, 720. Allowed: {_SIDES}."),
        ("screen", {"min": [1280, 99999]}, f"qualification.screen.min is 1280, 99999. Allowed: {_SIDES}."),
        ("screen", {"min": [1280.5, 720]}, "qualification.screen.min.0 is 1280.5. Allowed: a whole number."),
        ("device", {"allow": []}, "qualification.device.allow is empty. Allowed: a list of desktop, tablet or phone."),
    ],
)
def test_what_a_check_cannot_be_told_is_said(tmp_path: Path, tiny: Path, name: str, written: Any, said: str) -> None:
    path = write_study(tmp_path / "study", tiny, qualification={name: written})
    with pytest.raises(UserError) as refused:
        load_study(path)
    assert [str(problem).partition("  ")[2] for problem in refused.value.problems] == [said]
