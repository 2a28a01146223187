"""Rules over playback: time, frames and stalls, focus, and whether stimuli were watched."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from beholder.checks.contract import SessionEvidence, VerdictValue, Viewing
from beholder.checks.playback import Focus, Ratio, Smooth, WatchedRule, judge_viewing
from support.answered_trials import LENGTH, one, page, pair, session
from support.rule_verdicts import exclusions_of, parts_of, played_for
from support.session_evidence import WATCHED

RATIO = Ratio(Ratio.Options())

SMOOTH, FOCUS = Smooth(Smooth.Options()), Focus(Focus.Options())


@pytest.mark.parametrize(
    ("times", "say", "reason"),
    [(0.94, "fail", "short"), (0.951, "pass", ""), (1.0, "pass", ""), (1.5, "pass", ""), (1.51, "fail", "long")],
)
def test_a_trial_is_played_in_its_own_time(times: float, say: str, reason: str) -> None:
    verdict = RATIO.judge_trial(played_for(times))
    assert verdict is not None
    assert (verdict.verdict, verdict.reason, verdict.needed) == (say, reason, [0.95, 1.5])


def test_one_long_trial_costs_that_trial_and_a_long_session_all_of_it() -> None:
    looked = RATIO.evaluate(session([played_for(1.0)] * 9 + [played_for(1.8)]))
    assert parts_of(looked.verdict) == ("pass", "", 1.08)
    assert exclusions_of(looked) == [("trial:10", "ratio:long", None)]
    assert parts_of(RATIO.judge(session([played_for(1.16)] * 4))) == ("fail", "too_long", 1.16)
    assert parts_of(RATIO.judge(session([played_for(0.94)] * 4))) == ("fail", "too_short", 0.94)


def test_two_after_each_other_are_timed_with_the_gap_between_them_and_two_at_once_by_the_longer() -> None:
    stalled = {"whole_ms": 2 * LENGTH}
    assert parts_of(RATIO.judge_trial(pair(1, gap=2, played=stalled))) == ("fail", "long", 1.8)
    assert parts_of(RATIO.judge_trial(pair(1, gap=2))) == ("pass", "", 1.0)
    beside = pair(1, presentation="side-by-side", together=True)
    slower = {**beside.playback, "s2": {**beside.playback["s2"], "whole_ms": 5000}}
    assert parts_of(RATIO.judge_trial(replace(beside, playback=slower))) == ("pass", "", 1.25)


def test_on_a_board_each_slot_is_held_to_how_much_of_it_was_played_and_nothing_takes_too_long() -> None:
    half = page([1, 2, 3], slots={"s2": {"coverage": 0.5, "whole_ms": None}}, played={"whole_ms": 9 * LENGTH})
    assert parts_of(RATIO.judge_trial(half)) == ("fail", "short", 0.8333)
    looked = RATIO.evaluate(session([half, *[page([1, 2, 3])] * 9]))
    assert parts_of(looked.verdict) == ("pass", "", 0.9833)
    assert exclusions_of(looked) == [("trial:1", "ratio:short", ["s2"])]


def test_the_time_of_images_is_unknown_and_so_is_what_would_not_play() -> None:
    assert parts_of(RATIO.judge_trial(replace(one(), stills=frozenset({"s1"})))) == ("unknown", "still", None)
    gone = replace(pair(1), answer={"choices": {}, "missing": {"s1": "media_error"}}, judgements=())
    assert parts_of(RATIO.judge_trial(gone)) == ("unknown", "media_error", None)
    paused = one(played={"whole_ms": None})
    assert parts_of(RATIO.judge_trial(paused)) == ("unknown", "not_timed", None)


def test_where_nothing_has_to_be_watched_its_time_says_nothing() -> None:
    free = Ratio(Ratio.Options(), "none")
    assert free.judge_trial(played_for(0.1)) is None
    assert free.judge(session([played_for(0.1)] * 4)).reason == "not_met"


@pytest.mark.parametrize(
    ("played", "say", "reason"),
    [
        ({"dropped": 11, "frames": 100}, "pass", ""),
        ({"dropped": 12, "frames": 100}, "fail", "dropped"),
        ({"stalled_ms": 500}, "pass", ""),
        ({"stalled_ms": 501}, "fail", "stalled"),
        ({"stalled_ms": 501, "frames": None}, "fail", "stalled"),
        ({"frames": None}, "unknown", "not_counted"),
        ({"stalled_ms": None}, "unknown", "not_counted"),
    ],
)
def test_a_trial_may_drop_a_tenth_of_its_frames_and_stand_still_for_half_a_second(
    played: dict[str, Any], say: str, reason: str
) -> None:
    verdict = SMOOTH.judge_trial(one(played=played))
    assert verdict is not None
    assert (verdict.verdict, verdict.reason) == (say, reason)


def test_images_neither_drop_nor_stall() -> None:
    assert SMOOTH.judge_trial(replace(one(), stills=frozenset({"s1"}))) is None


def test_leaving_the_window_costs_the_slot_that_played() -> None:
    left = page([1, 2, 3], slots={"s3": {"away": 2}})
    assert parts_of(FOCUS.judge_trial(left)) == ("fail", "left", 2)
    assert exclusions_of(FOCUS.evaluate(session([left]))) == [("trial:1", "focus:left", ["s3"])]


@pytest.mark.parametrize(
    ("viewing", "say"),
    [
        (WATCHED, "pass"),
        (WATCHED._replace(coverage=0.97, furthest_ms=3500), "pass"),
        (WATCHED._replace(coverage=0.96), "fail"),
        (WATCHED._replace(coverage=0.98, furthest_ms=3400), "fail"),
        (WATCHED._replace(plays=0, coverage=0.0), "fail"),
        (WATCHED._replace(frames=0), "fail"),
        (WATCHED._replace(frames=None), "pass"),
        (WATCHED._replace(plays=None, coverage=None, furthest_ms=None), "unknown"),
        (WATCHED._replace(coverage=None), "unknown"),
        (WATCHED._replace(length_ms=None), "unknown"),
        (WATCHED._replace(plays=0, missing="media_error"), "pass"),
    ],
)
def test_watching_the_whole_means_97_percent_the_end_and_drawn_frames(viewing: Viewing, say: VerdictValue) -> None:
    assert judge_viewing(viewing, "whole") == say


def test_a_weaker_watch_rule_asks_for_less() -> None:
    begun = WATCHED._replace(coverage=0.1, furthest_ms=400)
    assert judge_viewing(begun, "start") == "pass"
    assert judge_viewing(begun._replace(plays=0), "start") == "fail"
    assert judge_viewing(begun._replace(plays=0), "none") == "pass"


def test_the_watched_verdict_names_every_slot_that_failed() -> None:
    bad = WATCHED._replace(slot="s2", coverage=0.2)
    verdict = WatchedRule().judge(SessionEvidence("completed", "whole", (WATCHED, bad)))
    assert (verdict.verdict, verdict.reason, verdict.measured) == ("fail", "not_watched", 0.5)
    assert verdict.evidence["failed"] == ["trial:1.s2"]


def test_watching_without_any_evidence_is_unknown() -> None:
    blank = WATCHED._replace(plays=None, coverage=None)
    assert WatchedRule().judge(SessionEvidence("completed", "whole", (blank,))).verdict == "unknown"
    assert WatchedRule().judge(SessionEvidence("completed", "whole")).reason == "no_evidence"
