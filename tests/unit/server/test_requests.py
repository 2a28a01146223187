"""The bodies of requests, checked strictly, and how many one person may send."""

from __future__ import annotations

import pytest

from beholder.errors import Refused
from beholder.recent_entries import MOST_SESSIONS
from beholder.server.requests import (
    RateLimit,
    SubmittedAnswer,
    SubmittedDraft,
    read_device,
    read_events,
    read_submission,
)
from beholder.types import Json


def test_a_body_becomes_a_submission() -> None:
    events: list[Json] = [[0, "shown", None, {}], [12.5, "play", "s1", {"at": 0}]]
    body: Json = {"answer": {"agree": True}, "events": events, "from": 1, "tab": "t", "shown_ms": 3, "input": "touch"}
    expected = SubmittedAnswer({"agree": True}, read_events(events), 1, "t", 3.0, 0.0, "touch")
    assert read_submission(body, with_answer=True) == expected


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ([], "body"),
        ({}, "answer"),
        ({"answer": 1, "events": {}}, "events"),
        ({"answer": 1, "events": [[0, "sneeze", None, {}]]}, "events.0"),
        ({"answer": 1, "from": True}, "from"),
        ({"answer": 1, "tab": "x" * 65}, "tab"),
        ({"answer": 1, "sent_ms": -1}, "sent_ms"),
        ({"answer": 1, "input": "voice"}, "input"),
    ],
)
def test_a_malformed_body_is_refused_at_its_place(body: Json, where: str) -> None:
    with pytest.raises(Refused) as refused:
        read_submission(body, with_answer=True)
    assert refused.value.where == where


@pytest.mark.parametrize("event", [[], [0, "play"], [-1, "play", None, {}], [1e15, "play", None, {}], "play", None])
def test_a_malformed_event_is_refused(event: Json) -> None:
    with pytest.raises(Refused, match="An event has the wrong shape"):
        read_events([event])


@pytest.mark.parametrize(
    "draft", [[], {}, {"revision": True, "values": {}}, {"revision": -1, "values": {}}, {"revision": 1}]
)
def test_a_malformed_draft_is_refused(draft: Json) -> None:
    with pytest.raises(Refused, match="The draft has the wrong shape"):
        read_submission({"events": [], "draft": draft}, with_answer=False)


def test_a_draft_comes_with_a_batch_of_events_only() -> None:
    body: Json = {"answer": {}, "draft": {"revision": 2, "shown_ms": 7, "values": {"scores": {}}}}
    assert read_submission(body, with_answer=False).draft == SubmittedDraft(2, 7.0, {"scores": {}})
    assert read_submission(body, with_answer=True).draft is None


def test_a_device_is_kept_in_a_small_fixed_shape() -> None:
    device: dict[str, Json] = {
        "screen": [1920, 1080], "viewport": [1900, 900.5], "dpr": 1.25, "touch": False, "pointer": "fine",
        "language": "en-GB", "timezone_offset": -60, "platform": "Linux", "browser": "Firefox 140",
    }  # fmt: skip
    assert read_device(device) == device
    assert read_device(device | {"fonts": ["a"] * 10_000, "language": "x" * 10_000}) == device | {"language": "x" * 35}


@pytest.mark.parametrize(
    "device",
    [
        {"screen": [1, 2, 3]}, {"screen": "wide"}, {"screen": [True, 2]}, {"viewport": [1, 1e300]}, {"dpr": "2"},
        {"dpr": float("inf")}, {"touch": 1}, {"pointer": "x" * 1000}, {"platform": {"a": 1}}, {"timezone_offset": 1e9},
    ],
)  # fmt: skip
def test_what_is_odd_about_a_device_is_dropped(device: dict[str, Json]) -> None:
    assert read_device(device) == {}


def test_each_name_has_an_allowance_that_comes_back_with_time() -> None:
    now = [0.0]
    limit = RateLimit(burst=2, per_second=1, clock=lambda: now[0])
    for _ in range(2):
        limit.take("ann")
    with pytest.raises(Refused, match="Too many requests at once"):
        limit.take("ann")
    limit.take("ben")
    now[0] = 1
    limit.take("ann")


def test_very_many_names_are_not_all_kept() -> None:
    limit = RateLimit(burst=1, per_second=0)
    for number in range(MOST_SESSIONS + 1):
        limit.take(str(number))
    limit.take("0")  # forgotten, and therefore new
    with pytest.raises(Refused):
        limit.take(str(MOST_SESSIONS))
