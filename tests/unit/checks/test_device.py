"""The look at the device: what is measured, how it is judged, and what people read about it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from beholder.checks.device import DeviceCheck, kind_of
from beholder.checks.page_contract import CheckContext, Needs
from beholder.checks.page_registry import AnyPageCheck
from beholder.checks.screen import ScreenCheck
from beholder.errors import Refused
from beholder.server.flow import Ending, next_step
from beholder.server.page_checks import PageChecks, device_rows
from beholder.server.script import CONSENT, PlannedStep, Script
from beholder.store.contract import StoredVerdict
from beholder.study import qualification as rules
from beholder.types import Json
from beholder.words import check_words
from support.device_checks import (
    DEVICE,
    MOUSE,
    NEEDS,
    NETWORK,
    NOW,
    REFRESH,
    REMOTE,
    SCREEN,
    STEPS,
    judged,
    line,
    posed,
    stored,
    window,
    words,
)

FINGER: dict[str, Json] = {
    "pointer": "coarse", "hover": False, "fine": False, "touches": 5, "mobile": True, "system": "Android",
    "screen": [390, 844],
}  # fmt: skip
HERE: dict[str, Json] = {"remote": False, "software": False, "depth": False, "bursts": None, "reduced_motion": False}


def rows(*verdicts: StoredVerdict, here: str, steps: tuple[AnyPageCheck, ...] = STEPS) -> dict[str, tuple[Json, Json]]:
    """Return the list as a person sees it: state and words of each row."""
    script = Script((CONSENT, *(PlannedStep(f"check:{check.name}", "check", check=check) for check in steps)))
    examiner = PageChecks(NEEDS, b"secret", check_words("en"))
    at = script.find(here)
    assert at is not None
    device_list = device_rows(
        script,
        {one.key: one for one in verdicts},
        at,
        lambda check, one: {"text": "" if one is None else examiner.short_text(check, one)},
    )
    return {str(row["name"]): (row["state"], row["text"]) for row in device_list if isinstance(row, Mapping)}


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
    assert judged(DeviceCheck(rules.Device(allow=("phone", "desktop"))), FINGER).verdict == "pass"


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


# Screen


# Refresh


def frames(ms: float, many: int = 120, **more: Json) -> dict[str, Json]:
    return {"intervals": [ms] * many, "hidden": False, **more}


def test_the_rate_is_that_of_the_median_interval() -> None:
    intervals: Json = [16.67] * 100 + [50.0] * 20
    verdict = judged(REFRESH, {"intervals": intervals, "hidden": False})
    assert (verdict.verdict, verdict.measured) == ("pass", 59.99)


@pytest.mark.parametrize(("hz", "is_pass"), [(30, True), (28.6, True), (28.4, False), (24, False)])
def test_a_screen_within_5_per_cent_of_what_is_needed_passes(hz: float, is_pass: bool) -> None:
    known = CheckContext(needs=Needs(fps=24))
    assert (judged(REFRESH, frames(1000 / hz), known).verdict == "pass") is is_pass


def test_a_slow_screen_reads_what_it_shows_and_what_helps() -> None:
    text = words(REFRESH, judged(REFRESH, frames(50)))
    assert text == (
        "Your screen shows 20 pictures a second, this study needs 30. "
        "Plug in the charger, turn off power saving and close other programs."
    )


def test_a_hidden_page_and_a_busy_device_are_measured_again() -> None:
    hidden = judged(REFRESH, frames(16, hidden=True))
    busy = judged(REFRESH, {"intervals": [16.0] * 100 + [101.0] * 13, "hidden": False})
    few = judged(REFRESH, frames(16, 20))
    assert [(one.verdict, one.reason, one.again) for one in (hidden, busy, few)] == [
        ("unknown", "hidden", True), ("unknown", "irregular", True), ("unknown", "hidden", True),
    ]  # fmt: skip


def test_clips_faster_than_the_screen_are_told_and_pass() -> None:
    verdict = judged(REFRESH, frames(1000 / 60), CheckContext(needs=Needs(fps=120)))
    assert (verdict.verdict, verdict.reason) == ("pass", "below_clips")
    state, text = rows(stored(REFRESH, verdict), here="check:media:1")["refresh"]
    assert (state, text) == ("pass", "60 pictures a second. Some videos have 120; they play all the same.")


# Media


# Network


# Remote


def test_a_remote_desktop_is_told_and_may_be_left() -> None:
    verdict = judged(REMOTE, {**HERE, "remote": True})
    assert (verdict.verdict, verdict.reason, verdict.action) == ("fail", "remote", None)
    assert "Open the same link on the computer in front of you" in words(REMOTE, verdict)


def test_two_hints_flag_and_one_does_not() -> None:
    one = judged(REMOTE, {**HERE, "software": True})
    two = judged(REMOTE, {**HERE, "software": True, "depth": True})
    assert one.verdict == "pass"
    assert (two.verdict, two.reason, two.action) == ("fail", "hints", "flag")


def test_a_slow_or_uneven_screen_is_a_hint_and_less_motion_is_none() -> None:
    for intervals in ([30.0] * 120, [16.0] * 80 + [40.0] * 40):
        known = CheckContext(answers={"refresh": {"intervals": intervals, "hidden": False}})
        assert judged(REMOTE, {**HERE, "software": True}, known).reason == "hints"
    calm = judged(REMOTE, {**HERE, "software": True, "reduced_motion": True})
    assert calm.verdict == "pass"


def test_hints_are_kept_as_yes_or_no() -> None:
    kept = REMOTE.read({}, {**HERE, "software": True, "renderer": "Some card 3000"})
    assert kept == {**HERE, "software": True}
    with pytest.raises(Refused, match="software is neither yes nor no"):
        REMOTE.read({}, {**HERE, "software": "Some card 3000"})


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
    small = ScreenCheck(rules.Screen(action="flag"))
    quiet = stored(small, judged(small, window(1024, 600)))
    assert rows(quiet, here="check:screen:1", steps=(small,))["screen"] == ("now", "")
    mute = ScreenCheck(rules.Screen(feedback=False))
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


# What no page sends
