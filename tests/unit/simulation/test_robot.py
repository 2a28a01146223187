"""Logs of robots: human response times, and every clip whole."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

import numpy as np

from beholder.server.playback import read_playback
from beholder.simulation.participants import Habits, habits_of
from beholder.simulation.robot import page_log
from support.slider_trials import board


def logged(habits: Habits, seed: int = 1, *, is_away: bool = False) -> tuple[Any, Mapping[str, Any], float]:
    page = board()
    answer = {"scores": {"q1": {slot["id"]: 40 for slot in page["slots"]}}}
    events = page_log(page, answer, habits, np.random.default_rng(seed), is_away=is_away)
    evidence = read_playback(events, {slot["id"]: slot["media"]["ms"] for slot in page["slots"]})
    return events, evidence.slots, events[-1][0]


def test_an_honest_log_shows_every_clip_whole_in_real_time_and_an_answer_to_each() -> None:
    events, slots, sent = logged(Habits(stall=0))
    assert all(slot.coverage > 0.99 and slot.plays == 1 and slot.blurs == 0 for slot in slots.values())
    assert all(4000 <= (slot.played_ms or 0) < 4400 for slot in slots.values())
    assert [event[2] for event in events if event[1] == "change"] == ["s1", "s2", "s3"]
    assert [event[0] for event in events] == sorted(event[0] for event in events)
    assert sent > 3 * 4000 + 3 * 1000


def test_sloppy_people_hurry_and_a_program_hurries_more() -> None:
    times = {
        kind: statistics.median(logged(habits_of(kind), seed)[2] for seed in range(40))
        for kind in ("honest", "sloppy", "careless", "fast")
    }
    assert times["honest"] > times["sloppy"] > times["careless"] > times["fast"]
    assert times["fast"] < 3 * 4000 + 600


def test_who_is_away_has_left_the_window_while_each_clip_played() -> None:
    _, slots, _ = logged(habits_of("away"), is_away=True)
    assert [slot.blurs for slot in slots.values()] == [1, 1, 1]
