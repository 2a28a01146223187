"""refresh: the rate by the median of many intervals, and what people read about it."""

from __future__ import annotations

import pytest

from beholder.checks.page_contract import CheckContext, Needs
from beholder.types import Json
from support.device_checks import (
    REFRESH,
    judged,
    rows,
    stored,
    words,
)


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
