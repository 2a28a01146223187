"""The contract of checks with a page: all device checks keep it, other answers are refused, and the window is known."""

from __future__ import annotations

import pytest

from beholder.checks.page_contract import PageCheck
from beholder.checks.remote import Remote
from beholder.errors import Refused
from beholder.testing.checks import check_step
from beholder.types import Json
from support.device_checks import (
    DEVICE,
    KNOWN,
    MEDIA,
    MOUSE,
    NETWORK,
    PLAYS,
    REFRESH,
    REMOTE,
    SCREEN,
    STEPS,
    posed,
    window,
)


@pytest.mark.parametrize("check", STEPS, ids=lambda check: check.name)
def test_each_keeps_the_contract_of_a_check_and_leaves_nothing_to_guess(check: PageCheck) -> None:
    fails = {"network": ["network:slow"], "remote": ["remote:hints"], "media": ["media:fullscreen"]}
    check_step(check, KNOWN, fails=fails.get(check.name, ()))
    assert check.guess_rate() == 0


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
def test_an_answer_that_no_page_sends_is_refused(check: PageCheck, answer: dict[str, Json], message: str) -> None:
    with pytest.raises(Refused, match=message):
        check.read(posed(check).private, answer)


def test_a_refusal_has_the_words_of_the_check_or_its_parents_or_ours_or_is_the_text() -> None:
    class Pad(Remote):
        """A check of another author, with other words."""

        words = "other words"

    def said(check: PageCheck, what: str) -> str:
        return check.refuse("remote", what, "true or false").text("en")

    for check in (Remote(Remote.Options()), Pad(Pad.Options())):
        assert said(check, "not_answered") == "The question is not answered"
        assert said(check, "no_answer") == "There is no answer"
        assert said(check, "Please say so") == "Please say so"
