"""The look at the device: what is measured, how it is judged, and what people read about it."""

from __future__ import annotations

import io
import wave
from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np
import pytest

from beholder.checks.contract import Verdict
from beholder.checks.device import DeviceCheck, RefreshCheck, RemoteCheck, kind_of
from beholder.checks.media import MediaCheck, codec_names
from beholder.checks.network import NetworkCheck
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, Needs, Sample, window_of
from beholder.checks.page_registry import AnyPageCheck
from beholder.checks.screen import ScreenCheck
from beholder.errors import Refused
from beholder.server.flow import Ending, next_step
from beholder.server.page_checks import PageChecks, device_rows, verdict_evidence
from beholder.server.script import CONSENT, PlannedStep, Script
from beholder.store.contract import StoredVerdict
from beholder.study import qualification as rules
from beholder.testing.checks import check_step
from beholder.types import Json
from beholder.words import check_words

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CODEC = 'video/mp4; codecs="avc1.4D4015"'
NEEDS = Needs((CODEC,), "video", 25.0, fullscreen=True, first_bytes=4_000_000)
KNOWN = CheckContext({"screen": [1920, 1080], "dpr": 1}, needs=NEEDS)
MOUSE: dict[str, Json] = {
    "pointer": "fine", "hover": True, "fine": True, "touches": 0, "mobile": False, "system": "Windows",
    "screen": [1920, 1080],
}  # fmt: skip
FINGER: dict[str, Json] = {
    "pointer": "coarse", "hover": False, "fine": False, "touches": 5, "mobile": True, "system": "Android",
    "screen": [390, 844],
}  # fmt: skip
DEVICE, SCREEN, REFRESH = DeviceCheck(rules.Device()), ScreenCheck(rules.Screen()), RefreshCheck(rules.Refresh())
MEDIA, NETWORK, REMOTE = MediaCheck(rules.Media()), NetworkCheck(rules.Network()), RemoteCheck(rules.Remote())
STEPS: tuple[AnyPageCheck, ...] = (DEVICE, SCREEN, REFRESH, MEDIA, NETWORK, REMOTE)
HERE: dict[str, Json] = {"remote": False, "software": False, "depth": False, "bursts": None, "reduced_motion": False}
PLAYS: dict[str, Json] = {
    "playable": {CODEC: True}, "fullscreen": True, "sound": True, "decoded": True, "plays": [[25, 0]],
}  # fmt: skip


def posed(check: AnyPageCheck, known: CheckContext = KNOWN) -> CheckTask:
    return check.pose(np.random.default_rng(1), known)


def judged(check: AnyPageCheck, answer: Mapping[str, Json], known: CheckContext = KNOWN, number: int = 1) -> Verdict:
    private = posed(check, known).private
    return check.judge(Attempt(private, check.read(private, answer), known, number))


def tell(
    check: AnyPageCheck, verdict: Verdict, number: int = 1, answer: Mapping[str, Json] | None = None
) -> StoredVerdict:
    step = PlannedStep(f"check:{check.name}", "check", check=check).tried(number)
    kept = verdict_evidence(verdict, answer or {}, check, step)
    return StoredVerdict("s", step.key, check.name, verdict.verdict, verdict.reason, kept, NOW)


def words(check: AnyPageCheck, verdict: Verdict) -> str:
    """Return what a person reads about a verdict, as the server says it."""
    return PageChecks(NEEDS, b"secret", check_words("en")).text(check, tell(check, verdict))


def rows(*told: StoredVerdict, here: str, steps: tuple[AnyPageCheck, ...] = STEPS) -> dict[str, tuple[Json, Json]]:
    """Return the list as a person sees it: state and words of each row."""
    script = Script((CONSENT, *(PlannedStep(f"check:{check.name}", "check", check=check) for check in steps)))
    examiner = PageChecks(NEEDS, b"secret", check_words("en"))
    at = script.find(here)
    assert at is not None
    found = device_rows(
        script,
        {one.key: one for one in told},
        at,
        lambda check, one: {"text": "" if one is None else examiner.found(check, one)},
    )
    return {str(row["name"]): (row["state"], row["text"]) for row in found if isinstance(row, Mapping)}


@pytest.mark.parametrize("check", STEPS, ids=lambda check: check.name)
def test_each_keeps_the_contract_of_a_check_and_leaves_nothing_to_guess(check: AnyPageCheck) -> None:
    fails = {"network": ["network:slow"], "remote": ["remote:hints"], "media": ["media:fullscreen"]}
    check_step(check, KNOWN, fails=fails.get(check.name, ()))
    assert check.guess_rate() == 0


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
    phone = tell(DEVICE, judged(DEVICE, FINGER), 1)
    here = next_step(script, answers, {phone.key: phone}, NOW)
    assert isinstance(here, PlannedStep)
    assert here.key == "check:device:2"
    computer = tell(DEVICE, judged(DEVICE, MOUSE), 2)
    assert next_step(script, answers, {phone.key: phone, computer.key: computer}, NOW) == Ending("completed")


def test_who_has_no_other_device_ends_as_wrong_device() -> None:
    script = Script((CONSENT, PlannedStep("check:device", "check", check=DEVICE)))
    told = tell(DEVICE, DEVICE.verdict("fail", "cannot"), 1)
    end = next_step(script, {"consent": {"agree": True}}, {told.key: told}, NOW)
    assert end == Ending("wrong_device", "device:cannot")


# Screen


def window(width: float, height: float, dpr: float = 1, zoom: float = 1) -> dict[str, Json]:
    inner: Json = [1000, 700]
    return {"screen": [width, height], "dpr": dpr, "inner": inner, "outer": [1000 * zoom, 800]}


def test_a_full_hd_laptop_at_175_per_cent_passes_although_it_says_1097_by_617() -> None:
    verdict = judged(SCREEN, window(1097, 617, 1.75))
    assert (verdict.verdict, verdict.measured) == ("pass", [1920, 1080])


def test_a_small_screen_reads_what_it_has_and_what_is_needed() -> None:
    verdict = judged(SCREEN, window(1024, 600))
    assert verdict.verdict == "fail"
    assert words(SCREEN, verdict).startswith("Your screen offers 1024 x 600 pixels, this study needs 1280 x 720. ")


def test_a_screen_that_stands_upright_is_measured_by_its_long_and_short_side() -> None:
    assert judged(SCREEN, window(720, 1280)).verdict == "pass"


@pytest.mark.parametrize(("zoom", "is_asked"), [(1.0, False), (1.05, False), (1.06, True), (1.25, True), (2.0, True)])
def test_a_zoomed_page_is_asked_for_100_per_cent(zoom: float, is_asked: bool) -> None:
    verdict = judged(SCREEN, window(1920, 1080, zoom=zoom))
    assert (verdict.verdict, verdict.again) == (("unknown", True) if is_asked else ("pass", False))


def test_a_zoom_that_stays_is_unknown_and_goes_on() -> None:
    answer = window(1920, 1080, zoom=1.13)  # as a side bar of the browser looks
    before = CheckContext(answers={"screen": SCREEN.read({}, answer)}, needs=NEEDS)
    again = judged(SCREEN, answer, before, 2)
    assert (again.verdict, again.reason, again.again) == ("unknown", "zoom", False)
    assert judged(SCREEN, window(1920, 1080, zoom=1.3), before, 2).again
    assert words(SCREEN, again).startswith("Your browser seems to be zoomed to 113 %. We need 100 %")


@pytest.mark.parametrize("outer", [[0, 0], [900, 700]])
def test_a_window_that_tells_nothing_of_the_zoom_is_measured_all_the_same(outer: Json) -> None:
    assert judged(SCREEN, {**window(1920, 1080), "outer": outer}).verdict == "pass"


def test_native_clips_have_to_fit_the_screen() -> None:
    large = CheckContext(needs=Needs(size=(2560, 1440)))
    verdict = judged(SCREEN, window(1920, 1080), large)
    assert (verdict.verdict, verdict.needed) == ("fail", [2560, 1440])
    assert judged(SCREEN, window(1280, 720, 2), large).verdict == "pass"


def test_pictures_of_later_checks_follow_the_zoom_that_was_set_for_this_one() -> None:
    arrived: dict[str, Json] = {"screen": [1920, 1080], "viewport": [1024, 640], "dpr": 1.25}
    assert window_of(CheckContext(arrived)).ratio == 1.25
    after = SCREEN.read({}, {"screen": [1920, 1080], "inner": [1280, 800], "outer": [1280, 900], "dpr": 1})
    met = window_of(CheckContext(arrived, {"screen": after}))
    assert (met.ratio, met.width, met.lines) == (1, 1280, 1080)


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
    state, text = rows(tell(REFRESH, verdict), here="check:media:1")["refresh"]
    assert (state, text) == ("pass", "60 pictures a second. Some videos have 120; they play all the same.")


# Media


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"playable": {CODEC: False}}, "codec"),
        ({"fullscreen": False}, "fullscreen"),
        ({"decoded": False}, "decode"),
    ],
)
def test_what_the_browser_lacks_is_named(change: dict[str, Json], reason: str) -> None:
    verdict = judged(MEDIA, {**PLAYS, **change})
    assert (verdict.verdict, verdict.reason) == ("fail", reason)
    assert words(MEDIA, verdict)


def test_a_missing_codec_is_called_by_its_name() -> None:
    verdict = judged(MEDIA, {**PLAYS, "playable": {CODEC: False}})
    assert words(MEDIA, verdict).startswith("Your browser cannot play H.264. Please use a current Chrome,")
    types = [
        'video/webm; codecs="vp9, opus"',
        'video/mp4; codecs="av01.0.05M.08"',
        "image/webp",
        'audio/wav; codecs="1"',
    ]
    assert codec_names(types) == "VP9, Opus, AV1, WebP, WAV"


def test_sound_is_asked_for_only_where_there_is_some() -> None:
    silent = {**PLAYS, "sound": False}
    assert judged(MEDIA, silent).verdict == "pass"
    loud = CheckContext(needs=Needs((CODEC,), sound=True))
    assert judged(MEDIA, silent, loud).reason == "sound"


def test_dropped_frames_are_tried_again_and_then_only_flagged() -> None:
    known = CheckContext(needs=Needs((CODEC,), sample=Sample("h264", "mp4", 96, 54, 25)))
    slow: dict[str, Json] = {**PLAYS, "plays": [[25, 9], [25, 4], [25, 2]]}
    first, last = judged(MEDIA, slow, known, 1), judged(MEDIA, slow, known, 3)
    assert (first.verdict, first.again, first.measured) == ("unknown", True, 0.08)
    assert (last.verdict, last.action) == ("fail", "flag")
    assert judged(MEDIA, {**PLAYS, "plays": [[25, 9], [25, 1]]}, known).verdict == "pass"
    assert judged(MEDIA, {**PLAYS, "plays": []}, known).verdict == "unknown"


def test_a_sample_is_a_second_in_the_codec_of_the_study() -> None:
    known = CheckContext(needs=Needs((CODEC,), sample=Sample("h264", "mp4", 96, 54, 25.0)))
    clip = MEDIA.draw(posed(MEDIA, known).private, "sample")
    assert clip.content_type == "video/mp4"
    assert clip.body[4:8] == b"ftyp"
    assert MEDIA.draw(posed(MEDIA, known).private, "sample") == clip
    unknown = CheckContext(needs=Needs((CODEC,), sample=Sample("theora", "ogg", 96, 54, 25.0)))
    assert MEDIA.draw(posed(MEDIA, unknown).private, "sample").body == b""


def test_sounds_and_images_have_samples_of_their_own() -> None:
    sound = MEDIA.draw(posed(MEDIA, CheckContext(needs=Needs(medium="audio"))).private, "sample")
    with wave.open(io.BytesIO(sound.body)) as file:
        assert file.getnframes() == file.getframerate()
    image = MEDIA.draw(posed(MEDIA, CheckContext(needs=Needs(medium="image"))).private, "sample")
    assert image.body[8:12] == b"WEBP"
    assert posed(MEDIA, CheckContext(needs=Needs(medium="text"))).media == ()


# Network


def line(mbps: float, seconds: float = 2) -> dict[str, Json]:
    return {"bytes": round(mbps * 1e6 / 8 * seconds), "ms": 1000 * seconds, "whole": False}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (line(100), ("pass", "", 100)),
        (line(20), ("fail", "slow", 20)),
        (line(0.1, 10), ("fail", "hopeless", 0.1)),
        (line(100, 0.5), ("unknown", "little", None)),
        ({"bytes": 1_000_000, "ms": 4000, "whole": True}, ("unknown", "little", None)),
        ({"bytes": 0, "ms": 10_000, "whole": False}, ("unknown", "nothing", None)),
    ],
)
def test_the_speed_is_that_of_what_was_read(answer: dict[str, Json], expected: tuple[str, str, float | None]) -> None:
    verdict = judged(NETWORK, answer)
    assert (verdict.verdict, verdict.reason, verdict.measured) == expected


def test_only_a_hopeless_wait_is_a_gate() -> None:
    assert judged(NETWORK, line(20)).action is None
    assert judged(NETWORK, line(0.1, 10)).action == "gate"
    script = Script((CONSENT, PlannedStep("check:network", "check", check=NETWORK)))
    for answer, end in ((line(20), "completed"), (line(0.1, 10), "screened_out")):
        told = [tell(NETWORK, judged(NETWORK, answer), number) for number in (1, 2)]
        met = next_step(script, {"consent": {"agree": True}}, {one.key: one for one in told}, NOW)
        assert isinstance(met, Ending)
        assert met.outcome == end


def test_a_slow_line_reads_its_speed_and_the_wait() -> None:
    assert words(NETWORK, judged(NETWORK, line(4, 5))) == (
        "Your connection brings 4 Mbit/s. The first page takes about 8 s to load; after that nothing stutters. "
        "Pausing other downloads makes the wait shorter."
    )


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
    told = (tell(DEVICE, judged(DEVICE, MOUSE)), tell(SCREEN, judged(SCREEN, window(1920, 1080))))
    assert rows(*told, here="check:refresh:1") == {
        "device": ("pass", "A computer with a mouse or trackpad"),
        "screen": ("pass", "1920 x 1080 pixels"),
        "refresh": ("now", ""),
        "media": ("todo", ""),
        "network": ("todo", ""),
        "remote": ("todo", ""),
    }


def test_a_row_shows_whether_it_stops_or_warns_and_nothing_of_what_is_silent() -> None:
    slow = tell(NETWORK, judged(NETWORK, line(20)))
    assert rows(slow, here="check:network:2")["network"][0] == "attention"
    hopeless = tell(NETWORK, judged(NETWORK, line(0.1, 10)))
    assert rows(hopeless, here="check:network:2")["network"][0] == "fail"
    flagged = tell(REMOTE, judged(REMOTE, {**HERE, "software": True, "depth": True}))
    assert rows(flagged, here="check:device:1")["remote"] == ("pass", "You sit in front of it")
    small = ScreenCheck(rules.Screen(action="flag"))
    quiet = tell(small, judged(small, window(1024, 600)))
    assert rows(quiet, here="check:screen:1", steps=(small,))["screen"] == ("now", "")
    mute = ScreenCheck(rules.Screen(feedback=False))
    assert rows(tell(mute, judged(mute, window(1024, 600))), here="check:screen:2", steps=(mute,))["screen"] == (
        "now",
        "",
    )


def test_who_goes_on_with_a_warning_still_reads_it_in_the_list() -> None:
    slow = tell(NETWORK, judged(NETWORK, line(20)))
    went_on = tell(NETWORK, NETWORK.verdict("unknown", "cannot"), 2, {"cannot": True})
    state, text = rows(slow, went_on, here="check:remote:1")["network"]
    assert (state, text) == (
        "attention",
        "20 Mbit/s. The first page takes about 2 s to load; after that nothing stutters.",
    )


# What no page sends


@pytest.mark.parametrize(
    ("check", "answer", "message"),
    [
        (DEVICE, {**MOUSE, "pointer": "laser"}, "The kind of pointer is missing"),
        (DEVICE, {**MOUSE, "said": "watch"}, "The device is none of those that were offered"),
        (SCREEN, {**window(1, 1), "dpr": float("inf")}, "dpr is missing or out of bounds"),
        (SCREEN, {**window(1, 1), "screen": [1]}, "screen is missing or out of bounds"),
        (SCREEN, {**window(1, 1, 0.1)}, "The screen has no pixels"),
        (REFRESH, {"intervals": [1.0] * 121, "hidden": False}, "intervals is missing or out of bounds"),
        (MEDIA, {**PLAYS, "playable": {}}, "It is not told whether every codec plays"),
        (MEDIA, {**PLAYS, "plays": [[1, 2]]}, "The frames of a play are missing"),
        (NETWORK, {"bytes": -1, "ms": 1}, "bytes is missing or out of bounds"),
        (REMOTE, {"remote": "no"}, "The question is not answered"),
    ],
)
def test_an_answer_that_no_page_sends_is_refused(check: AnyPageCheck, answer: dict[str, Json], message: str) -> None:
    with pytest.raises(Refused, match=message):
        check.read(posed(check).private, answer)
