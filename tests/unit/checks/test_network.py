"""The speed at which media arrive, and the wait that it means."""

from __future__ import annotations

import pytest

from beholder.server.flow import Ending, next_step
from beholder.server.script import CONSENT, PlannedStep, Script
from beholder.types import Json
from support.device_checks import (
    NETWORK,
    NOW,
    judged,
    line,
    stored,
    words,
)


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
        verdicts = [stored(NETWORK, judged(NETWORK, answer), number) for number in (1, 2)]
        met = next_step(script, {"consent": {"agree": True}}, {one.key: one for one in verdicts}, NOW)
        assert isinstance(met, Ending)
        assert met.outcome == end


def test_a_slow_line_reads_its_speed_and_the_wait() -> None:
    assert words(NETWORK, judged(NETWORK, line(4, 5))) == (
        "Your connection brings 4 Mbit/s. The first page takes about 8 s to load; after that nothing stutters. "
        "Pausing other downloads makes the wait shorter."
    )
