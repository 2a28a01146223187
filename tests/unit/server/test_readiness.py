"""What a server tells of itself, and what a researcher reads of several."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from beholder.clock import utc_now
from beholder.server.readiness import Readiness, clock_words, server_warnings
from beholder.store.open import open_store


def about(**keys: Any) -> dict[str, Any]:
    return {"state": "ready", "digest": "d1", "version": "1.0", "leads": False, "clock_off_ms": 12, **keys}


async def test_one_server_leads_itself_has_one_clock_and_drains_when_told(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        readiness = Readiness(store, "abc", utc_now)
        assert readiness.facts("ready")["leads"] is False
        await readiness.go_on()
        assert readiness.leads()
        told = readiness.facts("ready")
        assert (told["state"], told["digest"], told["leads"], told["clock_off_ms"]) == ("ready", "abc", True, None)
        readiness.begin_draining()
        assert readiness.facts("ready")["state"] == "draining"
        assert readiness.facts("away")["state"] == "away"
        await readiness.go_on()
        assert readiness.leads(), "until it ends"
        await readiness.leave()


def test_how_far_a_clock_is_off_is_told_in_words() -> None:
    rest = (
        " that of the database: times of answers are wrong by that, and lists come free too early or too late. "
        "Let both take their time from the network (NTP)."
    )
    ahead, behind = timedelta(seconds=1.24), timedelta(minutes=-7)
    assert clock_words("this server", ahead) == f"The clock of this server is 1.2 s ahead of{rest}"
    assert clock_words("server b:7", behind) == f"The clock of server b:7 is 7 minutes behind{rest}"


def test_servers_that_agree_are_no_news_and_others_are_named() -> None:
    assert server_warnings({}) == []
    assert server_warnings({"a:1": about(), "b:2": about(clock_off_ms=-999), "c:3": about(clock_off_ms=None)}) == []
    assert [line[:40] for line in server_warnings({"a:1": about(clock_off_ms=-1000)})] == [
        "The clock of server a:1 is 1.0 s behind "
    ]
    assert server_warnings({"a:1": about(), "b:2": about(version="1.1", digest="d2" * 20)}) == [
        "2 servers serve different versions of Beholder (1.0, 1.1). While they are replaced one after the other that "
        "is right, and everybody keeps what they began with.",
        "2 servers serve different texts of the study (d1, d2d2d2d2d2d2). While they are replaced one after the other "
        "that is right, and everybody keeps what they began with.",
    ]
    assert server_warnings({"a:1": about(state="draining"), "b:2": about(version="1.1")}) == []
