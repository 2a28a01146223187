"""remote: the question, and hints that only flag."""

from __future__ import annotations

import pytest

from beholder.checks.page_contract import CheckContext
from beholder.errors import Refused
from support.device_checks import (
    HERE,
    REMOTE,
    judged,
    words,
)


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
