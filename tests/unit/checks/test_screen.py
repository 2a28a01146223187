"""The resolution of the screen, in device pixels and at any zoom."""

from __future__ import annotations

import pytest

from beholder.checks.page_contract import CheckContext, Needs
from beholder.checks.screen import window_of
from beholder.types import Json
from support.device_checks import (
    NEEDS,
    SCREEN,
    judged,
    window,
    words,
)


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
