"""The look at the device: what is measured, how it is judged, and what people read about it."""

from __future__ import annotations

import pytest

from beholder.checks.device import Device, kind_of
from beholder.checks.page_contract import CheckContext
from beholder.checks.screen import Screen
from beholder.server.flow import Ending, next_step
from beholder.server.script import CONSENT, PlannedStep, Script
from beholder.types import Json
from support.device_checks import (
    DEVICE,
    HERE,
    MOUSE,
    NEEDS,
    NETWORK,
    NOW,
    REMOTE,
    SCREEN,
    judged,
    line,
    posed,
    rows,
    stored,
    window,
    words,
)

FINGER: dict[str, Json] = {
    "pointer": "coarse", "hover": False, "fine": False, "touches": 5, "mobile": True, "system": "Android",
    "screen": [390, 844],
}  # fmt: skip


# Device


@pytest.mark.parametrize(
    ("signals", "kind"),
    [
        (MOUSE, "desktop"),
        ({**MOUSE, "touches": 10}, "desktop"),  # a laptop with a touch screen
        (FINGER, "phone"),
        ({**FINGER, "screen": [844, 390]}, "phone"),
        ({**FINGER, "screen": [600, 960], "mobile": False}, "tablet"),
        # iPadOS says that it is a Mac.
        ({**FINGER, "system": "MacIntel", "mobile": False, "screen": [820, 1180]}, "tablet"),
        ({**MOUSE, "system": "MacIntel", "touches": 5}, None),
        ({**MOUSE, "system": "MacIntel"}, "desktop"),
        ({**MOUSE, "mobile": True, "system": "Android"}, None),
        ({**FINGER, "mobile": False, "system": "Win32", "screen": [1280, 800]}, None),
        ({**MOUSE, "pointer": "none"}, None),
    ],
)
def test_a_device_is_known_by_its_pointer_and_its_size(signals: dict[str, Json], kind: str | None) -> None:
    assert kind_of(signals) == kind


def test_a_phone_is_told_what_the_study_needs_and_keeps_its_place() -> None:
    verdict = judged(DEVICE, FINGER)
    assert (verdict.verdict, verdict.reason, verdict.measured) == ("fail", "phone", "phone")
    assert words(DEVICE, verdict) == (
        "This study needs a computer with a mouse or trackpad; you seem to be on a phone. "
        "Open the same link there; your place is kept."
    )


def test_a_phone_passes_where_the_study_allows_it() -> None:
    assert judged(Device(Device.Options(allow=("phone", "desktop"))), FINGER).verdict == "pass"


def test_signals_that_disagree_lead_to_a_question_and_then_to_an_unknown() -> None:
    first = judged(DEVICE, {**MOUSE, "pointer": "none"})
    assert (first.verdict, first.reason, first.again) == ("unknown", "signals", True)
    asked = CheckContext(answers={"device": DEVICE.read({}, {**MOUSE, "pointer": "none"})}, needs=NEEDS)
    assert posed(DEVICE).public["ask"] is False
    assert posed(DEVICE, asked).public["ask"] is True
    computer = judged(DEVICE, {**MOUSE, "pointer": "none", "said": "desktop"}, asked, 2)
    assert (computer.verdict, computer.reason, computer.again) == ("unknown", "said", False)
    assert judged(DEVICE, {**MOUSE, "pointer": "none", "said": "tablet"}, asked, 2).verdict == "fail"


def test_what_a_person_says_does_not_overrule_clear_signals() -> None:
    assert judged(DEVICE, {**FINGER, "said": "desktop"}).verdict == "fail"


def test_the_same_link_on_a_computer_passes_after_a_phone_did_not() -> None:
    script = Script((CONSENT, PlannedStep("check:device", "check", check=DEVICE)))
    answers: dict[str, Json] = {"consent": {"agree": True}}
    phone = stored(DEVICE, judged(DEVICE, FINGER), 1)
    here = next_step(script, answers, {phone.key: phone}, NOW)
    assert isinstance(here, PlannedStep)
    assert here.key == "check:device:2"
    computer = stored(DEVICE, judged(DEVICE, MOUSE), 2)
    assert next_step(script, answers, {phone.key: phone, computer.key: computer}, NOW) == Ending("completed")


def test_who_has_no_other_device_ends_as_wrong_device() -> None:
    script = Script((CONSENT, PlannedStep("check:device", "check", check=DEVICE)))
    verdict = stored(DEVICE, DEVICE.verdict("fail", "cannot"), 1)
    end = next_step(script, {"consent": {"agree": True}}, {verdict.key: verdict}, NOW)
    assert end == Ending("wrong_device", "device:cannot")


# The list


def test_the_list_says_what_was_found_and_what_is_next() -> None:
    verdicts = (stored(DEVICE, judged(DEVICE, MOUSE)), stored(SCREEN, judged(SCREEN, window(1920, 1080))))
    assert rows(*verdicts, here="check:refresh:1") == {
        "device": ("pass", "A computer with a mouse or trackpad"),
        "screen": ("pass", "1920 x 1080 pixels"),
        "refresh": ("now", ""),
        "media": ("todo", ""),
        "network": ("todo", ""),
        "remote": ("todo", ""),
    }


def test_a_row_shows_whether_it_stops_or_warns_and_nothing_of_what_is_silent() -> None:
    slow = stored(NETWORK, judged(NETWORK, line(20)))
    assert rows(slow, here="check:network:2")["network"][0] == "attention"
    hopeless = stored(NETWORK, judged(NETWORK, line(0.1, 10)))
    assert rows(hopeless, here="check:network:2")["network"][0] == "fail"
    flagged = stored(REMOTE, judged(REMOTE, {**HERE, "software": True, "depth": True}))
    assert rows(flagged, here="check:device:1")["remote"] == ("pass", "You sit in front of it")
    small = Screen(Screen.Options(action="flag"))
    quiet = stored(small, judged(small, window(1024, 600)))
    assert rows(quiet, here="check:screen:1", steps=(small,))["screen"] == ("now", "")
    mute = Screen(Screen.Options(feedback=False))
    assert rows(stored(mute, judged(mute, window(1024, 600))), here="check:screen:2", steps=(mute,))["screen"] == (
        "now",
        "",
    )


def test_who_goes_on_with_a_warning_still_reads_it_in_the_list() -> None:
    slow = stored(NETWORK, judged(NETWORK, line(20)))
    went_on = stored(NETWORK, NETWORK.verdict("unknown", "cannot"), 2, {"cannot": True})
    state, text = rows(slow, went_on, here="check:remote:1")["network"]
    assert (state, text) == (
        "attention",
        "20 Mbit/s. The first page takes about 2 s to load; after that nothing stutters.",
    )
