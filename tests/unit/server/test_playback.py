"""What counts as watched, computed from the event log."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.errors import Refused
from beholder.server.playback import evidence_to_json, is_watched, operation_to_json, read_playback
from beholder.server.requests import read_events
from beholder.types import Json
from support.played_pages import PlayedPages, shown_trial

FRAMES = {"total": 50, "dropped": 1, "width": 640, "height": 360}


def seen(*events: list[Any], ms: int = 2000) -> Any:
    return read_playback(list(events), {"s1": ms}).slots["s1"]


def whole(**frames: Any) -> list[list[Any]]:
    return [
        [100, "play", "s1", {"at": 0}],
        [2100, "ended", "s1", {"at": 2000}],
        [2100, "frames", "s1", {**FRAMES, **frames}],
    ]


def test_a_play_to_the_end_with_frames_is_watched() -> None:
    result = seen(*whole())
    assert (result.plays, result.coverage, result.furthest_ms, result.frames, result.dropped) == (1, 1.0, 2000, 50, 1)
    assert is_watched(result, 2000, "whole")


def test_an_ended_event_without_frames_proves_nothing() -> None:
    assert not is_watched(seen(*whole(total=0)), 2000, "whole")
    assert not is_watched(seen(*whole(width=0)), 2000, "whole")


def test_a_browser_that_cannot_count_frames_is_not_punished() -> None:
    result = seen(*whole(total=None))
    assert result.frames is None
    assert is_watched(result, 2000, "whole")


def test_two_halves_make_a_whole() -> None:
    result = seen(
        [0, "play", "s1", {"at": 0}], [1000, "pause", "s1", {"at": 1000}], [1000, "frames", "s1", FRAMES],
        [5000, "play", "s1", {"at": 1000}], [6000, "ended", "s1", {"at": 2000}], [6000, "frames", "s1", FRAMES],
    )  # fmt: skip
    assert result.plays == 1  # gone on, not begun again
    assert is_watched(result, 2000, "whole")


def test_what_has_to_be_played_twice_is_begun_twice_and_played_so_long() -> None:
    again = [[5000, "play", "s1", {"at": 0}], [7000, "ended", "s1", {"at": 2000}]]
    begun = [[5000, "play", "s1", {"at": 0}], [5200, "pause", "s1", {"at": 200}]]
    assert not is_watched(seen(*whole()), 2000, "whole", 2)
    assert not is_watched(seen(*whole(), *begun), 2000, "whole", 2)
    assert is_watched(seen(*whole(), *begun), 2000, "start", 2)
    assert is_watched(seen(*whole(), *again), 2000, "whole", 2)


def test_the_same_half_twice_is_half() -> None:
    result = seen(
        [0, "play", "s1", {"at": 0}], [1000, "pause", "s1", {"at": 1000}],
        [2000, "play", "s1", {"at": 0}], [3000, "pause", "s1", {"at": 1000}], [3000, "frames", "s1", FRAMES],
    )  # fmt: skip
    assert result.coverage == pytest.approx(0.5)
    assert result.watched_ms == 2000
    assert not is_watched(result, 2000, "whole")
    assert is_watched(result, 2000, "start")


def test_a_log_that_never_speaks_of_frames_proves_nothing() -> None:
    assert not is_watched(seen(*whole()[:2]), 2000, "whole")


def test_many_short_plays_earn_the_slack_of_the_clock_once() -> None:
    plays = []
    for at in range(0, 2000, 290):
        plays += [[0, "play", "s1", {"at": at}], [0, "pause", "s1", {"at": at + 290}], [0, "frames", "s1", FRAMES]]
    assert seen(*plays).coverage < 0.2


def test_a_jump_to_the_end_is_not_watching() -> None:
    result = seen([0, "play", "s1", {"at": 0}], [100, "ended", "s1", {"at": 20000}], ms=20000)
    assert result.coverage < 0.05
    assert not is_watched(result, 20000, "whole")


def test_faster_than_the_clock_does_not_count() -> None:
    result = seen(
        [0, "rate", "s1", {"rate": 4}], [0, "play", "s1", {"at": 0}], [500, "ended", "s1", {"at": 2000}],
    )  # fmt: skip
    assert result.coverage == 0.0


def test_playing_another_slot_stops_the_first() -> None:
    result = read_playback(
        [[0, "play", "s1", {"at": 0}], [500, "play", "s2", {"at": 0}], [2500, "ended", "s2", {"at": 2000}]],
        {"s1": 2000, "s2": 2000},
    ).slots
    assert result["s1"].coverage < 0.5
    assert result["s2"].coverage == 1.0


def test_losing_the_window_while_playing_is_counted() -> None:
    result = seen(
        [0, "play", "s1", {"at": 0}], [300, "visibility", None, {"hidden": True}], [400, "pause", "s1", {"at": 400}]
    )
    assert result.blurs == 1


def test_nothing_is_needed_where_the_study_asks_for_nothing() -> None:
    assert is_watched(seen(), 2000, "none")
    assert not is_watched(seen(), 2000, "start")


@pytest.mark.parametrize(
    "events", ["x", [1], [[1, "dance", None, {}]], [[-1, "play", "s1", {}]], [["1", "play", "s1", {}]], {}]
)
def test_a_log_of_another_shape_is_refused(events: Any) -> None:
    with pytest.raises(Refused):
        read_playback(events, {"s1": 1000})


KINDS = st.sampled_from(["play", "pause", "ended", "seek", "stall", "rate", "frames", "error", "visibility"])
EVENT = st.tuples(
    st.floats(0, 1e5),
    KINDS,
    st.sampled_from(["s1", "s2", "s9", None]),
    st.dictionaries(
        st.sampled_from(["at", "rate", "total", "hidden"]), st.integers(-10, 10**6) | st.none() | st.booleans()
    ),
)


@given(st.lists(EVENT, max_size=40))
def test_no_log_earns_more_than_there_is(events: list[Any]) -> None:
    for result in read_playback([list(event) for event in events], {"s1": 1000, "s2": 5000}).slots.values():
        assert 0 <= result.coverage <= 1
        assert result.watched_ms >= 0
        assert result.furthest_ms <= 5000


def test_slots_that_are_shown_together_may_play_at_the_same_time_and_others_may_not() -> None:
    events: list[Any] = [
        [0, "play", "s1", {"at": 0}], [0, "play", "s2", {"at": 0}],
        [2000, "ended", "s1", {"at": 2000}], [2000, "ended", "s2", {"at": 2000}],
    ]  # fmt: skip
    lengths = {"s1": 2000, "s2": 2000}
    assert [one.coverage for one in read_playback(events, lengths, together=True).slots.values()] == [1.0, 1.0]
    assert read_playback(events, lengths).slots["s1"].coverage < 0.2


def test_rounds_of_a_loop_are_neither_plays_nor_more_coverage() -> None:
    result = seen(
        [0, "play", "s1", {"at": 0}], [2000, "ended", "s1", {"at": 2000}],
        [2000, "play", "s1", {"at": 0, "loop": True}], [4000, "ended", "s1", {"at": 2000}],
        [4000, "frames", "s1", FRAMES],
    )  # fmt: skip
    assert (result.plays, result.coverage, result.watched_ms) == (1, 1.0, 4000)


def test_a_whole_play_is_timed_by_the_clock_with_its_stalls_and_a_broken_one_is_not() -> None:
    stalled = seen(
        [100, "play", "s1", {"at": 0}], [1100, "stall", "s1", {"at": 1000}], [1600, "play", "s1", {"at": 1000}],
        [2600, "ended", "s1", {"at": 2000}], [2600, "measure", "s1", {"displayed": [640, 360.4], "duration": 2040}],
    )  # fmt: skip
    assert (stalled.played_ms, stalled.duration_ms, stalled.displayed) == (2500, 2040, [640, 360])
    paused = seen(
        [100, "play", "s1", {"at": 0}], [1100, "pause", "s1", {"at": 1000}], [9000, "play", "s1", {"at": 1000}],
        [10000, "ended", "s1", {"at": 2000}],
    )  # fmt: skip
    assert paused.played_ms is None


def play(begun: float, *between: Any) -> list[Any]:
    """Return a whole play that begins now, and what happens meanwhile."""
    last = max([begun + 2000, *(event[0] + 1000 for event in between)])
    return [[begun, "play", "s1", {"at": 0}], *between, [last, "ended", "s1", {"at": 2000}]]


def test_the_first_whole_play_is_timed_whatever_comes_after_it() -> None:
    stall = [[1100, "stall", "s1", {"at": 1000}], [2100, "play", "s1", {"at": 1000}]]
    result = seen(*play(100, *stall), *play(5000))
    assert (result.whole_ms, result.played_ms, result.ended_ms) == (3000, 2000, 3100)


def test_the_longest_stall_counts_until_it_is_played_again_without_one() -> None:
    stall = [[1100, "stall", "s1", {"at": 1000}], [2100, "play", "s1", {"at": 1000}]]
    short = [[6000, "stall", "s1", {"at": 1000}], [6200, "play", "s1", {"at": 1000}]]
    assert seen(*play(100, *stall)).stalled_ms == 1000
    assert seen(*play(100, *stall), *play(5000, *short)).stalled_ms == 200
    assert seen(*play(100), *play(5000, *short)).stalled_ms == 0
    assert (
        seen([0, "play", "s1", {"at": 0}], [900, "stall", "s1", {"at": 900}], [1500, "pause", "s1", {}]).stalled_ms
        == 600
    )


@pytest.mark.parametrize(
    "leaving",
    [
        [[900, "focus", None, {"has": False}], [1000, "focus", None, {"has": True}]],
        [[900, "visibility", None, {"hidden": True}], [1000, "visibility", None, {"hidden": False}]],
        [[200, "fullscreen", None, {"on": True}], [900, "fullscreen", None, {"on": False}]],
    ],
)
def test_leaving_the_window_while_it_plays_is_made_good_by_playing_it_whole_again(leaving: list[Any]) -> None:
    assert seen(*play(100, *leaving)).away == 1
    assert seen(*play(100, *leaving), *play(5000)).away == 0
    again = [[ms + 5000, kind, slot, data] for ms, kind, slot, data in leaving]
    assert seen(*play(100), *play(5050, *again)).away == 0
    assert seen(*play(100, *leaving), *play(5050, *again)).away == 2


def test_what_begins_while_nobody_is_there_is_not_seen() -> None:
    assert seen([50, "focus", None, {"has": False}], *play(100)).away == 1


def test_a_page_that_was_loaded_again_is_there_again() -> None:
    gone = [[1500, "visibility", None, {"hidden": True}], [3000, "shown", None, {"again": True}]]
    assert seen(*gone, *play(5000)).away == 0
    assert seen(*gone, [4900, "focus", None, {"has": False}], *play(5000)).away == 1


def test_a_play_that_went_away_with_its_page_earns_nothing() -> None:
    crashed = [[100, "play", "s1", {"at": 0}], [9000, "shown", None, {"again": True}]]
    assert seen(*crashed, [9500, "click", None, {}]).coverage == 0
    again = seen(*crashed, *play(9500))
    assert (again.coverage, again.whole_ms) == (1.0, seen(*play(9500)).whole_ms)


def test_an_answer_given_once_is_no_change_of_mind() -> None:
    evidence = read_playback(
        [
            [10, "change", "s1", {"question": "q1", "value": 3}], [20, "change", "s1", {"question": "q2", "value": 3}],
            [30, "change", "s1", {"question": "q1", "value": 4}], [40, "change", None, {"question": "q1"}],
            [50, "change", None, {"question": "q1"}],
        ],
        {"s1": 2000},
    )  # fmt: skip
    assert (evidence.slots["s1"].changes, evidence.page.changes) == (1, 1)


def test_the_page_tells_first_action_exits_leaves_and_screen() -> None:
    page = read_playback(
        [
            [0, "shown", None, {}], [420, "click", "s1", {"what": "play"}], [500, "fullscreen", None, {"on": True}],
            [600, "measure", None, {"viewport": [1280, 720], "screen": [1920, 1080], "dpr": 1.5, "skew_ms": 12}],
            [650, "measure", None, {"skew_ms": 4}], [700, "fullscreen", None, {"on": False}],
            [800, "visibility", None, {"hidden": True}], [801, "focus", None, {"has": False}],
            [900, "visibility", None, {"hidden": False}], [950, "focus", None, {"has": False}],
        ],
        {"s1": 2000},
    ).page  # fmt: skip
    assert (page.first_ms, page.exits, page.blurs, page.skew_ms) == (420, 1, 2, 12)
    assert (page.viewport, page.screen, page.dpr) == ([1280, 720], [1920, 1080], 1.5)


def test_the_evidence_is_stored_by_slot_and_for_the_page() -> None:
    stored = evidence_to_json(read_playback(whole(), {"s1": 2000}))
    assert sorted(stored) == ["page", "s1"]
    assert json.loads(json.dumps(stored)) == stored


def test_a_click_beside_controls_is_no_action_on_the_page() -> None:
    log: Json = [[100, "click", None, {"what": "beside", "on": "panel"}], [420, "click", None, {"what": "control"}]]
    assert read_playback(log, {}).page.first_ms == 420


def test_how_a_page_was_operated_is_kept_as_far_as_it_is_plausible() -> None:
    press: Json = {"by": "mouse", "moves": 3.2, "gone": 80, "off": None, "held": "long", "trusted": 0, "key": "a"}
    many: list[Json] = [[9, "press", None, press]] * 300
    log: list[Json] = [[5, "measure", None, {"driver": ["webdriver", 7]}], *many]
    assert operation_to_json(read_events(log)) == {
        "page": {"driver": ["webdriver"], "presses": [{"ms": 9, "by": "mouse", "moves": 3, "gone": 80}] * 200}
    }


def test_a_page_that_tells_nothing_of_it_has_no_entry_for_how_it_was_operated() -> None:
    assert operation_to_json([(9, "click", None, {})]) == {}
    page = evidence_to_json(read_playback(whole(), {"s1": 2000}))["page"]
    assert isinstance(page, dict)
    assert page.keys().isdisjoint({"presses", "driver"})


# The page and the server count alike

LENGTHS = {"s1": 6900, "s2": 6900, "s3": 4000}
AT = st.integers(0, 7000)
SLOT = st.sampled_from(sorted(LENGTHS))


def server_view(events: list[Any], trial: Any, passes: int = 1) -> dict[str, bool]:
    """Return which slots the server holds for watched so often, by a log and the trial as the page got it."""
    rule, together = trial["playback"]["watch"], trial["together"]
    slots = read_playback(events, LENGTHS, together=together).slots
    return {slot: is_watched(slots[slot], LENGTHS[slot], rule, passes) for slot in LENGTHS}


@settings(max_examples=50)
@given(
    events=st.lists(
        st.tuples(
            st.integers(0, 40_000),
            st.sampled_from(["play", "play", "pause", "ended", "seek", "stall", "rate", "frames", "error", "shown"]),
            st.sampled_from([*LENGTHS, "s9", None]),
            st.fixed_dictionaries(
                {"at": AT | st.none(), "width": st.just(1), "height": st.integers(0, 1)},
                optional={"total": st.integers(0, 9) | st.none(), "rate": st.sampled_from([1, 1.5, None, "x"]),
                          "loop": st.booleans(), "again": st.booleans()},
            ),
        ),
        max_size=30,
    ),
    is_sorted=st.booleans(),
    together=st.booleans(),
    watch=st.sampled_from(["whole", "start", "none"]),
)  # fmt: skip
def test_the_page_reads_any_log_as_the_server_does(
    pages: PlayedPages, events: list[Any], is_sorted: bool, together: bool, watch: str
) -> None:
    log = [list(event) for event in (sorted(events, key=lambda event: event[0]) if is_sorted else events)]
    log.append([50_000, "shown", None, {}])
    trial = shown_trial(LENGTHS, together=together, watch=watch)
    assert pages.count(trial, log) == server_view(log, trial)
    assert pages.count(trial, log, twice=True) == server_view(log, trial, 2)


DOING = st.lists(
    st.tuples(st.just("play"), SLOT)
    | st.tuples(st.just("restart"), SLOT)
    | st.tuples(st.just("wait"), st.integers(1, 9000))
    | st.tuples(st.sampled_from(["stall", "found"]), SLOT)
    | st.tuples(st.just("jump"), SLOT, AT)
    | st.tuples(st.just("region"), st.none() | st.tuples(st.integers(0, 1500), st.integers(2000, 3900)))
    | st.sampled_from([("pause",), ("reload",), ("crash",)]),
    min_size=2,
    max_size=14,
)


@settings(max_examples=30)
@given(
    doing=DOING,
    medium=st.sampled_from(["audio", "video", "image"]),
    switching=st.sampled_from(["keep", "restart"]),
    loop=st.sampled_from(["off", "after-first", "region"]),
    watch=st.sampled_from(["whole", "whole", "start"]),
)
def test_what_counts_on_the_page_counts_on_the_server_whatever_people_do(
    pages: PlayedPages, doing: list[Any], medium: str, switching: str, loop: str, watch: str
) -> None:
    trial = shown_trial(LENGTHS, medium, switching=switching, loop=loop, watch=watch)
    visit = pages.visit(trial, doing)
    assert visit["watched"] == server_view(visit["events"], trial)
    assert visit["isTwice"] == server_view(visit["events"], trial, 2)
    assert not visit["isTaken"], "what has counted stays"


def test_both_at_once_count_at_once(pages: PlayedPages) -> None:
    trial = shown_trial(LENGTHS, "video", together=True)
    visit = pages.visit(trial, [("together",), ("wait", 6800)])
    assert visit["watched"] == server_view(visit["events"], trial) == dict.fromkeys(LENGTHS, True)


def test_a_sound_that_was_joined_in_the_middle_counts_as_soon_as_all_of_it_was_heard(pages: PlayedPages) -> None:
    trial = shown_trial(LENGTHS, switching="keep", loop="region")
    visit = pages.visit(trial, [("play", "s1"), ("wait", 2000), ("play", "s2"), ("wait", 30_000)], until="s2")
    assert visit["first"]["s2"] - 2000 == pytest.approx(0.97 * 6900, abs=60), "and not with the end of the next round"
    assert server_view(visit["events"], trial)["s2"]


def test_a_page_takes_as_long_as_its_sounds_wherever_each_is_joined(pages: PlayedPages) -> None:
    trial = shown_trial(LENGTHS, switching="keep", loop="region")
    doing = [("play", "s1"), ("wait", 3000), ("play", "s2"), ("wait", 6900), ("play", "s1"), ("wait", 3900),
             ("play", "s3"), ("wait", 4000)]  # fmt: skip
    visit = pages.visit(trial, doing)
    assert visit["watched"] == server_view(visit["events"], trial) == dict.fromkeys(LENGTHS, True)
    assert max(visit["first"].values()) <= sum(LENGTHS.values()), "so estimates need no more than that for watching"


def test_a_start_counts_while_it_plays(pages: PlayedPages) -> None:
    visit = pages.visit(shown_trial(LENGTHS, "video", watch="start"), [("play", "s1"), ("wait", 200)], until="s1")
    assert visit["first"]["s1"] <= 50


def test_what_draws_no_frame_does_not_count_while_it_plays(pages: PlayedPages) -> None:
    trial = shown_trial(LENGTHS, "video")
    trial["slots"][0]["media"]["frames"] = 0
    visit = pages.visit(trial, [("play", "s1"), ("wait", 6850)])
    assert visit["watched"]["s1"] is False
    assert server_view(visit["events"], trial)["s1"] is False


def test_a_play_that_has_to_be_had_again_counts_for_nothing() -> None:
    assert seen(*whole(), [2200, "error", "s1", {"what": "no_frames", "again": True}]).coverage == 0
    assert seen(*whole(), [2200, "error", "s1", {"what": "no_frames"}]).coverage == 1


# Parts that are looped


def test_the_parts_that_were_played_on_and_on_are_kept_once_each_in_the_order_of_their_use() -> None:
    log: Json = [
        [0, "play", "s1", {"at": 0}], [2000, "ended", "s1", {"at": 2000}],
        [2100, "play", "s1", {"at": 500, "part": [500, 1500], "loop": True}], [3100, "pause", "s1", {"at": 1500}],
        [3100, "play", "s1", {"at": 500, "part": [500, 1500], "loop": True}], [3200, "pause", "s1", {"at": 600}],
        [3300, "play", "s1", {"at": 100, "part": [0, 1200], "loop": True}], [3500, "pause", "s1", {"at": 1200}],
    ]  # fmt: skip
    evidence = read_playback(log, {"s1": 2000})
    assert evidence.page.loops == [[500, 1500], [0, 1200]]
    assert evidence.slots["s1"].plays == 1, "rounds of a loop are no plays"
    stored: Any = evidence_to_json(evidence)
    assert stored["page"]["loops"] == [[500, 1500], [0, 1200]]


def test_a_page_without_a_looped_part_is_stored_as_before_there_were_any() -> None:
    stored: Any = evidence_to_json(read_playback([*whole()], {"s1": 2000}))
    assert "loops" not in stored["page"]


@pytest.mark.parametrize(
    "part",
    [None, True, "0-1", [], [1], [1, 2, 3], ["0", "1"], [500, 500], [900, 200], [-1, 900], [0, 2001], {"from": 1}],
)
def test_a_part_that_cannot_be_is_not_kept(part: Any) -> None:
    assert read_playback([[0, "play", "s1", {"at": 0, "part": part}]], {"s1": 2000}).page.loops == []


def test_a_log_of_very_many_parts_does_not_grow_the_evidence_without_end() -> None:
    log: Json = [[place, "play", "s1", {"at": 0, "part": [place, place + 500]}] for place in range(1000)]
    assert len(read_playback(log, {"s1": 2000}).page.loops) == 100


def test_a_looped_part_is_not_the_whole() -> None:
    rounds = [
        event
        for place in range(9)
        for event in (
            [place * 1000, "play", "s1", {"at": 500, "part": [500, 1500], "loop": place > 0}],
            [place * 1000 + 1000, "pause", "s1", {"at": 1500}],
        )
    ]
    result = seen(*rounds, [9000, "frames", "s1", FRAMES])
    assert result.coverage == 0.5
    assert not is_watched(result, 2000, "whole")
