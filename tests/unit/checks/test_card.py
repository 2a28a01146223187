"""The size of a pixel by a bank card."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from beholder.checks.card import Card, device_px_per_mm, px_per_mm
from beholder.checks.contract import Verdict
from beholder.checks.page_contract import Attempt, CheckContext
from beholder.errors import Refused

CARD = Card(Card.Options())


def judged(answer: Any) -> Verdict:
    posed = CARD.pose(np.random.default_rng(1), CheckContext())
    return CARD.judge(Attempt(posed.private, CARD.read(posed.private, answer)))


def test_a_card_tells_the_density_of_the_screen() -> None:
    verdict = judged({"widths": [322, 326], "dpr": 2, "moved": True})
    assert verdict.verdict == "pass"
    assert verdict.evidence["css_px_per_mm"] == pytest.approx(324 / 85.60, abs=1e-5)
    assert verdict.measured == pytest.approx(25.4 * 2 * 324 / 85.60, abs=5e-3)


def test_of_three_settings_the_middle_one_counts() -> None:
    verdict = judged({"widths": [300, 340, 322], "dpr": 1, "moved": True})
    assert verdict.evidence["css_px_per_mm"] == pytest.approx(322 / 85.60, abs=1e-5)


@pytest.mark.parametrize(
    ("answer", "reason", "again"),
    [
        ({"none": True}, "no_card", False),
        ({"widths": [322, 322], "dpr": 1, "moved": False}, "unchanged", True),
        ({"widths": [100, 100], "dpr": 1, "moved": True}, "implausible", True),
        ({"widths": [1100, 1100], "dpr": 2, "moved": True}, "implausible", True),
    ],
)
def test_what_cannot_be_measured_is_unknown(answer: Any, reason: str, again: bool) -> None:
    verdict = judged(answer)
    assert (verdict.verdict, verdict.reason, verdict.again) == ("unknown", reason, again)


def test_the_outline_begins_once_too_small_and_once_too_large() -> None:
    starts: Any = [CARD.pose(np.random.default_rng(seed), CheckContext()).public["starts"] for seed in range(30)]
    assert all(len(one) == 3 and abs(one[0] - one[1]) > 140 for one in starts)
    assert {one[0] < one[1] for one in starts} == {True, False}


def test_the_size_of_a_pixel_is_known_to_what_comes_after_the_card() -> None:
    person = CheckContext({"dpr": 2}, {"card": {"widths": [324, 324], "dpr": 1.5, "moved": True}})
    assert device_px_per_mm(person) == pytest.approx(324 * 1.5 / 85.60)
    assert px_per_mm(person) == pytest.approx(324 * 1.5 / 85.60 / 2)
    assert px_per_mm(CheckContext({"dpr": 2}, {"card": {"none": True}})) is None
    assert px_per_mm(CheckContext()) is None


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ({}, "The widths of the outline are missing"),
        ({"widths": [300], "dpr": 1}, "The widths of the outline are missing"),
        ({"widths": [300, "300"], "dpr": 1}, "The widths of the outline are missing"),
        ({"widths": [300, 3e6], "dpr": 1}, "The widths of the outline are missing"),
        ({"widths": [300, 300]}, "The number of device pixels per CSS pixel is missing"),
    ],
)
def test_an_answer_without_a_size_is_refused(answer: Any, what: str) -> None:
    with pytest.raises(Refused) as caught:
        CARD.read({}, answer)
    assert caught.value.what == what
