"""What hand-set and stage have said: put onto one clock, without gaps, and counted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from beholder.server.playback import playback_evidence
from beholder.server.separate_stage import Channel, Coupling, channel_of
from beholder.store.contract import Events

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def batch(tab: str, first: int, events: list[Any], at: float) -> Events:
    return Events("s", "stage:trial:1", tab, first, events, after(at))


def order(number: int, ms: float, at: float) -> Events:
    what = {"ms": ms, "slots": ["s1"], "way": "one", "gap": 1, "passes": 1}
    return batch("hand-set", number, [[0, "order", None, what]], at)


def state(ms: float, word: str, number: int = 1) -> list[Any]:
    return [ms, "state", None, {"is": word, "order": number}]


def test_the_log_of_a_stage_is_put_onto_the_clock_of_the_hand_set_by_the_fastest_request() -> None:
    channel = channel_of([
        order(1, 4000, 10.0),
        batch("1.a", 0, [[100, "play", "s1", {"at": 0}], state(200, "playing")], 11.9),  # slow: 1.7 s on the way
        batch("1.a", 2, [[5200, "ended", "s1", {"at": 5000}], state(5300, "over")], 15.4),
    ])  # fmt: skip
    # The page of the hand-set began at 6.0 s, that of the stage at 10.1 s.
    assert [(round(event[0]), event[1]) for event in channel.events(is_timed=True)] == [(4200, "play"), (9300, "ended")]
    assert [event[0] for event in channel.events(is_timed=False)] == [100, 5200]
    assert channel.unfinished == 0


def test_a_page_that_was_loaded_anew_counts_on_from_where_the_one_before_it_was() -> None:
    channel = channel_of([
        order(1, 0, 0.0), batch("1.a", 0, [[60_000, "play", "s1", {"at": 0}], state(60_100, "playing")], 60.1),
        batch("1.b", 0, [[10, "shown", None, None], state(500, "ready")], 70.5), order(2, 71_000, 71.0),
        batch("1.b", 2, [[2000, "play", "s1", {"at": 0}], state(2000, "playing", 2)], 72.0),
        batch("1.b", 4, [[10_000, "ended", "s1", {"at": 8000}], state(10_000, "over", 2)], 80.0),
    ])  # fmt: skip
    for is_timed in (True, False):
        times = [(round(event[0]), event[1]) for event in channel.events(is_timed=is_timed)]
        assert times == [(60_000, "play"), (70_010, "shown"), (72_000, "play"), (80_000, "ended")]
    (seen,) = playback_evidence(channel.events(is_timed=True), {"s1": 8000}).slots.values()
    assert (seen.coverage, seen.plays, channel.unfinished) == (1.0, 2, 1)


def test_after_a_gap_nothing_of_a_page_is_believed_and_what_is_sent_twice_counts_once() -> None:
    first = batch("1.a", 0, [[1, "shown", None, None], state(2, "ready", 0)], 1)
    again = batch("1.a", 1, [state(2, "ready", 0), [3, "play", "s1", {"at": 0}], state(4, "playing")], 2)
    beyond = batch("1.a", 9, [[99, "ended", "s1", {"at": 400}], state(99, "over")], 3)
    channel = channel_of([order(1, 0, 0), first, again, beyond])
    assert [event[1] for event in channel.events(is_timed=False)] == ["shown", "play"]
    assert channel.unfinished == 1


def test_the_newest_page_of_the_newest_stage_tells_how_it_is() -> None:
    channel = channel_of([
        batch("1.a", 0, [state(1, "playing")], 1), batch("1.b", 0, [state(1, "press")], 2),
        batch("3.a", 0, [state(1, "ready")], 3), batch("heard:3", 77, [], 9),
    ])  # fmt: skip
    words = {number: log.state["is"] for number in (1, 3) if (log := channel.last_log(number)) is not None}
    assert words == {1: "press", 3: "ready"}
    assert channel.last_log(2) is None
    assert channel.heard_at == {1: after(2), 3: after(9)}


def test_nothing_was_said_in_a_channel_that_is_new() -> None:
    channel = Channel()
    assert (channel.events(is_timed=True), channel.unfinished, channel.last_log(None)) == ([], 0, None)


def test_the_code_that_can_be_used_is_the_last_one_while_it_is_new_and_nobody_has_used_it() -> None:
    coupling = Coupling({1: after(0), 2: after(60)}, {1: {}})
    assert (coupling.number, coupling.open_code(after(61))) == (1, 2)
    assert coupling.open_code(after(60 + 600)) is None
    assert Coupling({1: after(0), 2: after(60)}, {1: {}, 2: {}}).open_code(after(61)) is None
    assert Coupling({}, {}).number is None
